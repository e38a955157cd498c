//! Histories recorded by other tools: the meaning of their operations, and the check that they are linearizable.

mod meaning;
mod object;

pub use object::Object;

use crate::check::Verdict;
use crate::check::general::Checker;
use crate::check::long::{CheckLong, Long};
use crate::history::formats::{Answer, FormatError, Named, Recorded, Value};
use crate::history::{History, Operation};
use crate::specification::Specification;
use crate::specs::counter::Counter;
use crate::specs::key_value::KeyValue;
use crate::specs::priority_queue::PriorityQueue;
use crate::specs::queue::Queue;
use crate::specs::register::Register;
use crate::specs::set::Set;
use crate::specs::stack::Stack;
use std::time::Instant;

/// A history and the judgement of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The operations that count: without those that did not happen.
    pub history: History<Named, Answer>,
    /// The verdict.
    pub outcome: Outcome,
    /// `true` if a check for long histories decided, and not the general checker.
    pub fast: bool,
}

/// The verdict about a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is.
    Linearizable,
    /// It is not.
    NotLinearizable(Refutation),
    /// Too many states were examined.
    Unknown {
        /// The number of states.
        states: u64,
    },
}

/// The reason why a history is not linearizable. Operations are places in [`Judgement::history`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refutation {
    /// A description, if there is one; `#3` is the operation at place 3.
    pub why: Option<String>,
    /// The largest part of `concerned` that has an order.
    pub longest: Vec<usize>,
    /// The operations of which one must be the next, but none can be.
    pub stuck: Vec<usize>,
    /// The operations that have no order, even without the others.
    pub concerned: Vec<usize>,
}

/// The default maximum number of states.
pub const STATES_MAX: u64 = Checker::<Counter>::STATES_MAX;

/// Judges a history as one of this object, which begins empty: a register with nil, a counter with 0. Gives up after
/// `states_max` states, of each part if the object has parts, and at the given moment, if there is one.
///
/// # Errors
/// If the object has no such operation, or it does not return such a value.
pub fn judge(
    recorded: &Recorded,
    object: Object,
    states_max: u64,
    until: Option<Instant>,
) -> Result<Judgement, FormatError> {
    let limits = (states_max, until);
    match object {
        Object::Register => fast(recorded, &Register(Value::Nil), meaning::register, limits),
        Object::Queue => fast(recorded, &Queue::unbounded(), meaning::queue, limits),
        Object::Stack => fast(recorded, &Stack::new(), meaning::stack, limits),
        Object::PriorityQueue => fast(recorded, &PriorityQueue::new(), meaning::priority_queue, limits),
        Object::Set => fast(recorded, &Set::new(), meaning::set, limits),
        Object::Counter => fast(recorded, &Counter::default(), meaning::counter, limits),
        Object::KeyValue => {
            let Typed { kept, typed } = meant(recorded, meaning::key_value)?;
            let verdict = Checker::new(&KeyValue::new())
                .states_max(states_max)
                .until(until)
                .check(&typed);
            Ok(Judgement {
                history: kept,
                outcome: outcome(verdict),
                fast: false,
            })
        }
    }
}

fn fast<S: CheckLong>(
    recorded: &Recorded,
    specification: &S,
    meaning: meaning::Meaning<S::Call, S::Return>,
    (states_max, until): (u64, Option<Instant>),
) -> Result<Judgement, FormatError>
where
    S::Call: Clone,
    S::Return: Clone,
{
    let Typed { kept, typed } = meant(recorded, meaning)?;
    let long = specification.check_long(&typed);
    let fast = !matches!(long, Long::NotApplicable(_));
    let outcome = match long {
        Long::Linearizable => Outcome::Linearizable,
        Long::Violation(violation) => Outcome::NotLinearizable(Refutation {
            why: Some(violation.why),
            ..stuck(specification, &typed, violation.operations)
        }),
        Long::NotApplicable(_) => outcome(
            Checker::new(specification)
                .states_max(states_max)
                .until(until)
                .check(&typed),
        ),
    };
    Ok(Judgement {
        history: kept,
        outcome,
        fast,
    })
}

fn outcome<S>(verdict: Verdict<S>) -> Outcome {
    match verdict {
        Verdict::Allowed { .. } => Outcome::Linearizable,
        Verdict::Violation(violation) => Outcome::NotLinearizable(Refutation {
            why: None,
            longest: violation.longest,
            stuck: violation.stuck,
            concerned: violation.part,
        }),
        Verdict::Unknown { states } => Outcome::Unknown { states },
    }
}

/// Returns the longest order of the operations concerned.
fn stuck<S: Specification>(
    specification: &S,
    history: &History<S::Call, S::Return>,
    concerned: Vec<usize>,
) -> Refutation
where
    S::Call: Clone,
    S::Return: Clone,
{
    // Enough for the few operations of most violations. Beyond it, the violation's description has to do.
    const STATES_ALONE_MAX: u64 = 100_000;
    let operations = concerned.iter().map(|&at| history.operations()[at].clone());
    let alone = History::new(operations.collect()).expect("a part of a history is one");
    let verdict = Checker::new(specification)
        .states_max(STATES_ALONE_MAX)
        .check(&alone);
    let places = |own: Vec<usize>| own.into_iter().map(|at| concerned[at]).collect();
    match outcome(verdict) {
        Outcome::NotLinearizable(refuted) => Refutation {
            longest: places(refuted.longest),
            stuck: places(refuted.stuck),
            why: None,
            concerned,
        },
        _ => Refutation {
            concerned,
            ..Refutation::default()
        },
    }
}

/// A history, and its meaning.
struct Typed<C, R> {
    kept: History<Named, Answer>,
    typed: History<C, R>,
}

/// Returns the meaning of the operations that happened.
fn meant<C, R>(recorded: &Recorded, meaning: meaning::Meaning<C, R>) -> Result<Typed<C, R>, FormatError> {
    let mut kept = Vec::new();
    let mut typed = Vec::new();
    for operation in recorded.history.operations() {
        let Some((call, returned)) = meaning(&operation.call, operation.returned.as_ref())? else {
            continue;
        };
        kept.push(operation.clone());
        typed.push(Operation {
            process: operation.process,
            call,
            returned,
            called_at: operation.called_at,
            returned_at: operation.returned_at,
        });
    }
    Ok(Typed {
        kept: History::new(kept).expect("a part of a history is one"),
        typed: History::new(typed).expect("the times are those of a history"),
    })
}
