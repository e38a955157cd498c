//! The requirements of a strategy on the engine.

use crate::serial::{Deserialize, Serialize};
use crate::trace::{Analysis, SoundReduction};
use std::fmt;

/// The requirements of a strategy on the engine.
///
/// ```
/// use intermezzo_engine::{strategy::Needs, trace::Analysis};
///
/// // A partial-order reduction sees every step, and the races of each execution.
/// let needs = Needs { every_step: true, analysis: Analysis::Races, scope: false, ..Needs::default() };
/// assert!(!needs.replays_exactly);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// `true` if `choose` must be called before every step, even if there is only one alternative.
    pub every_step: bool,
    /// The amount of analysis of each execution that `next` needs.
    pub analysis: Analysis,
    /// `true` if no choice is offered where the test or the settings turn preemptions off. `false` for a replay, and
    /// for a search that omits executions according to the order of operations.
    pub scope: bool,
    /// `true` if it draws its choices at random, so that repeating a decision may give another choice.
    pub draws: bool,
    /// `true` if each order of dependent steps is explored, without a bound on preemptions. Then a stale read is not
    /// offered if another order gives the same execution graph without it.
    pub explores_orders: bool,
    /// `true` if tasks that fairness holds back are alternatives, too. The search then decides which of them may go
    /// ([`ChoicePoint::holds`](super::ChoicePoint::holds)), and is responsible for executions to end.
    pub all_listed: bool,
    /// `true` if executions are run in order of their preemptions.
    pub in_order: bool,
    /// `true` if the search cannot continue after an execution that departed from its schedule in every attempt.
    pub replays_exactly: bool,
    /// The reason why the search must be replaced, if there is one: its plan is no longer reliable, or it does not end.
    /// A weaker reduction, which leaves out less, or a search with a bound then takes over.
    pub fallback: Option<FallbackReason>,
}

/// The reason why a reduction is replaced by a weaker one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FallbackReason {
    /// An execution failed or was cut short: the rest of it is unknown.
    CutShort,
    /// Different tasks have the same number in two executions.
    TasksOfOneNumber,
    /// Variables that were assumed to be different turned out to be the same.
    SameVariable,
    /// Fairness holds back the task that should go first.
    HeldBack,
    /// In a search within a bound, the cost of a switch depends on steps that commute: fairness holds back a task, or
    /// time ends the wait of the task that ran last while another can go, too.
    FairWithinBound,
    /// Fairness holds back a task, and virtual time passes. Both depend on the order of steps that commute.
    FairInTime,
    /// A planned sequence of steps cannot be compared with another.
    Incomparable,
    /// An execution that was planned to show something new has shown nothing new.
    NothingNew,
    /// There are too many traces without the bound that was requested.
    TooMany,
}

impl FallbackReason {
    /// Returns the strongest reduction that may take over.
    pub fn sound(self) -> SoundReduction {
        match self {
            // The effect of an operation, or its cost, then depends on more than the operations with which it shares an
            // object.
            FallbackReason::NothingNew | FallbackReason::FairWithinBound | FallbackReason::FairInTime => {
                SoundReduction::Caching
            }
            FallbackReason::CutShort
            | FallbackReason::HeldBack
            | FallbackReason::TasksOfOneNumber
            | FallbackReason::SameVariable
            | FallbackReason::Incomparable
            | FallbackReason::TooMany => SoundReduction::SourceSets,
        }
    }
}

impl fmt::Display for FallbackReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FallbackReason::CutShort => "an execution failed or was cut short",
            FallbackReason::TasksOfOneNumber => {
                "the tasks are not created in the same order in all executions"
            }
            FallbackReason::SameVariable => {
                "it cannot be said which variables of two executions are the same"
            }
            FallbackReason::HeldBack => "a task that should go first is held back, because it has yielded",
            FallbackReason::FairWithinBound => {
                "fairness holds back a task, or time ends several waits at once: the cost of a switch then depends on steps that commute"
            }
            FallbackReason::FairInTime => {
                "fairness holds back a task, and time passes: what can continue then depends on steps that commute"
            }
            FallbackReason::Incomparable => "it cannot be said which steps of two executions are the same",
            FallbackReason::TooMany => "the test has many executions without a bound",
            FallbackReason::NothingNew => {
                "an execution showed nothing new, so the order of two operations matters that share nothing"
            }
        })
    }
}

impl Default for Needs {
    fn default() -> Needs {
        Needs {
            every_step: false,
            analysis: Analysis::Fingerprints,
            scope: true,
            draws: false,
            explores_orders: false,
            all_listed: false,
            in_order: false,
            replays_exactly: false,
            fallback: None,
        }
    }
}
