//! Priority functions, which determine the next unexplored prefix of a best-first search, and combinations of them.
//!
//! The built-in functions are those of CHESS's best-first search, as far as they make sense here. Others can implement
//! [`Priority`].

mod built_in;
mod spec;

pub use built_in::{BuiltIn, PriorityKind};
pub use spec::PrioritySpec;

use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::strategy::Operation;

/// An unexplored prefix of executions: the first choices of one that was run, with another alternative taken at the
/// last one.
#[derive(Clone, Copy, Debug)]
pub struct Prefix<'a> {
    /// The choices of the execution that was run, up to the point where the prefix branches off.
    pub before: &'a [Choice],
    /// The choice at which it branches off, with the alternative that it takes.
    pub last: Choice,
    /// The number of preemptions in these choices, including the last one.
    pub preemptions: u32,
    /// The number of context switches in the prefix, including one at the last choice.
    pub context_switches: u64,
    /// The operation of the task that the last choice takes; `None` if that choice is not about tasks.
    pub operation: Option<Operation>,
    /// The next operation of the task that ran before the last choice, if it is enabled and another task is taken.
    pub left: Option<Operation>,
    /// The number of other enabled tasks whose next operations conflict with `operation`: they access the same
    /// variable, and one of the two writes.
    pub conflicts: u32,
    /// A hash of the next operations of all enabled tasks and their places; 0 if the last choice is not about tasks.
    pub state: u64,
    /// `true` if the last choice preempts a task in a region in which the test prefers that (`preemptions_preferred`).
    pub preferred: bool,
}

impl Prefix<'_> {
    /// Returns the number of choices.
    pub fn depth(&self) -> usize {
        self.before.len() + 1
    }

    /// Returns the number of enabled tasks at its last choice; 1 if that choice is not about tasks.
    pub fn tasks(&self) -> u32 {
        match self.last.kind {
            ChoiceKind::Task => self.last.alternatives,
            _ => 1,
        }
    }
}

/// A priority function: the prefix with the lowest rank is explored first.
///
/// It determines only the order: whatever it returns, a search that ends by itself has run every execution.
pub trait Priority: Send {
    /// Returns the rank of the prefix. Lower ranks come first. It is called when the prefix is found, and again when it
    /// is the prefix's turn: if the rank has grown by then, the prefix goes back into the queue. A rank that has
    /// decreased is not noticed before that.
    fn rank(&self, prefix: &Prefix<'_>) -> i64;

    /// Notes that an execution has begun with this prefix, which is the first one to do so. The last choice is about
    /// tasks.
    fn learn(&mut self, prefix: &Prefix<'_>) {
        let _ = prefix;
    }

    /// Returns the name of the function in reports.
    fn name(&self) -> String;
}

/// Priority functions in order: the first one decides, and each further one among prefixes of equal rank. Each may be a
/// weighted sum.
pub struct Priorities {
    /// The sums. Neither the list nor any sum is empty.
    terms: Vec<Sum>,
}

/// Weighted priority functions.
type Sum = Vec<(i64, Box<dyn Priority>)>;

impl Priorities {
    /// Returns the order by one priority function.
    pub fn by(priority: impl Priority + 'static) -> Priorities {
        Priorities {
            terms: vec![vec![(1, Box::new(priority))]],
        }
    }

    /// Adds a function that decides where all before it give equal ranks.
    pub fn then(mut self, priority: impl Priority + 'static) -> Priorities {
        self.terms.push(vec![(1, Box::new(priority))]);
        self
    }

    /// Adds `weight` times the rank by this function to the last sum.
    pub fn plus(mut self, weight: i64, priority: impl Priority + 'static) -> Priorities {
        let last = self.terms.last_mut().expect("there is a first priority");
        last.push((weight, Box::new(priority)));
        self
    }

    /// Returns the ranks of a prefix, the deciding one first. Sums saturate.
    pub fn rank(&self, prefix: &Prefix<'_>) -> Box<[i64]> {
        let sum = |term: &Sum| {
            term.iter().fold(0_i64, |sum, (weight, priority)| {
                sum.saturating_add(weight.saturating_mul(priority.rank(prefix)))
            })
        };
        self.terms.iter().map(sum).collect()
    }

    /// Notes that an execution has begun with this prefix.
    pub fn learn(&mut self, prefix: &Prefix<'_>) {
        for (_, priority) in self.terms.iter_mut().flatten() {
            priority.learn(prefix);
        }
    }

    /// Returns the order as text, as in the parameters of `best-first`: `preemptions,2*rare+deepest`.
    pub fn name(&self) -> String {
        let factor = |(weight, priority): &(i64, Box<dyn Priority>)| match weight {
            1 => priority.name(),
            weight => format!("{weight}*{}", priority.name()),
        };
        let term = |term: &Sum| term.iter().map(factor).collect::<Vec<_>>().join("+");
        self.terms.iter().map(term).collect::<Vec<_>>().join(",")
    }
}
