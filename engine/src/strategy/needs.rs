//! What a strategy needs of the engine.

use crate::trace::Analysis;

/// What a strategy needs of the engine.
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
    /// How much of each execution is analysed for `next`.
    pub analysis: Analysis,
    /// `true` if no choice is offered where the test or the settings turn preemptions off. `false` for a search that leaves
    /// executions out by the order of operations, and for a replay.
    pub scope: bool,
    /// `true` if executions come in order of their preemptions.
    pub in_order: bool,
    /// `true` if the search cannot go on past an execution that departed from its schedule each time.
    pub replays_exactly: bool,
    /// `true` if its plan cannot be relied on any more: a reduction that leaves out less takes over, from the beginning.
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
