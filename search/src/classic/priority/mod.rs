//! Which unexplored prefix comes next in a best-first search: priority functions, and how they are put together.
//!
//! The built-in ones are those of CHESS's best-first search as far as they make sense here; [`Priority`] is for others.

mod built_in;
mod spec;

pub use built_in::{BuiltIn, PriorityKind};
pub use spec::PrioritySpec;

use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::strategy::Operation;

/// An unexplored prefix of executions: the choices of one that was run, and then another alternative.
#[derive(Clone, Copy, Debug)]
pub struct Prefix<'a> {
    /// The choices of the execution that was run, up to where the prefix departs from it.
    pub before: &'a [Choice],
    /// The choice at which it departs, with the alternative that it takes.
    pub last: Choice,
    /// How many of the choices preempt, the last included.
    pub preemptions: u32,
    /// How many changes of task it makes, the last included.
    pub context_switches: u64,
    /// What goes next: the operation of the task that the last choice lets go; `None` if that is not about tasks.
    pub operation: Option<Operation>,
}

impl Prefix<'_> {
    /// How many choices it has.
    pub fn depth(&self) -> usize {
        self.before.len() + 1
    }

    /// How many tasks could have gone at its last choice; 1 if that is not about tasks.
    pub fn tasks(&self) -> u32 {
        match self.last.kind {
            ChoiceKind::Task => self.last.alternatives,
            _ => 1,
        }
    }
}

/// A priority function: the prefix of least rank is explored first.
///
/// It decides about the order only: whatever it says, a search that comes to its end has run every execution.
pub trait Priority: Send {
    /// Returns the prefix's rank; less is earlier. Asked when the prefix is found, and again when its turn comes: if
    /// the rank has grown by then, the prefix waits on. One that has become less is not noticed before its turn.
    fn rank(&self, prefix: &Prefix<'_>) -> i64;

    /// A task was let go into this operation, by a choice of an execution that was not made before.
    fn learn(&mut self, operation: &Operation) {
        let _ = operation;
    }

    /// Returns its name, for reports.
    fn name(&self) -> String;
}

/// Priority functions in order: the first decides, the next where that is equal. Each may be a weighted sum.
pub struct Priorities {
    /// Never empty, nor is any of the sums.
    terms: Vec<Sum>,
}

/// Weights and what they weigh.
type Sum = Vec<(i64, Box<dyn Priority>)>;

impl Priorities {
    /// Returns one priority function.
    pub fn by(priority: impl Priority + 'static) -> Priorities {
        Priorities {
            terms: vec![vec![(1, Box::new(priority))]],
        }
    }

    /// Where what there is so far gives equal ranks, by this one.
    pub fn then(mut self, priority: impl Priority + 'static) -> Priorities {
        self.terms.push(vec![(1, Box::new(priority))]);
        self
    }

    /// Adds `weight` times the rank of this one to the last rank so far.
    pub fn plus(mut self, weight: i64, priority: impl Priority + 'static) -> Priorities {
        let last = self.terms.last_mut().expect("there is a first priority");
        last.push((weight, Box::new(priority)));
        self
    }

    /// Returns the ranks of a prefix, the deciding one first. Sums that do not fit stay at the largest number.
    pub fn rank(&self, prefix: &Prefix<'_>) -> Box<[i64]> {
        let sum = |term: &Sum| {
            term.iter().fold(0_i64, |sum, (weight, priority)| {
                sum.saturating_add(weight.saturating_mul(priority.rank(prefix)))
            })
        };
        self.terms.iter().map(sum).collect()
    }

    /// Counts an operation that was made.
    pub fn learn(&mut self, operation: &Operation) {
        for (_, priority) in self.terms.iter_mut().flatten() {
            priority.learn(operation);
        }
    }

    /// As in the setting `priority`: `preemptions,2*rare+deepest`.
    pub fn name(&self) -> String {
        let factor = |(weight, priority): &(i64, Box<dyn Priority>)| match weight {
            1 => priority.name(),
            weight => format!("{weight}*{}", priority.name()),
        };
        let term = |term: &Sum| term.iter().map(factor).collect::<Vec<_>>().join("+");
        self.terms.iter().map(term).collect::<Vec<_>>().join(",")
    }
}
