//! The requirements of a strategy on the engine.

use crate::trace::Analysis;

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
    /// `true` if `choose` is called before every step, even with one alternative.
    pub every_step: bool,
    /// The amount of analysis of each execution that `next` needs.
    pub analysis: Analysis,
    /// `true` if no choice is offered where the test or the settings turn preemptions off. `false` for a replay, and
    /// for a search that omits executions according to the order of operations.
    pub scope: bool,
    /// `true` if executions come in order of their preemptions.
    pub in_order: bool,
    /// `true` if the search cannot continue past an execution that departed from its schedule each time.
    pub replays_exactly: bool,
    /// `true` if its plan is no longer reliable. A weaker reduction, which leaves out less, then takes over from the
    /// beginning.
    pub fallback: bool,
}

impl Default for Needs {
    fn default() -> Needs {
        Needs {
            every_step: false,
            analysis: Analysis::Fingerprints,
            scope: true,
            in_order: false,
            replays_exactly: false,
            fallback: false,
        }
    }
}
