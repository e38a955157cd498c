//! The seam between the engine and its searches: a [`Strategy`] prescribes the first choices of the next execution, and is
//! asked about those beyond.
//!
//! The engine knows strategies by this trait only. What they see of executions is here too: the choice to be made
//! ([`ChoicePoint`]), the next operation of a task ([`Operation`]), and the execution that is over ([`Past`]). So is what they
//! have covered ([`Coverage`]).

mod candidates;
mod coverage;
mod operation;
mod past;
mod plan;
mod point;
mod rank;
mod rank_bound;

pub use candidates::Candidates;
pub use coverage::Coverage;
pub use operation::Operation;
pub use past::Past;
pub use past::operations;
pub use plan::Plan;
pub use point::ChoicePoint;
pub use rank::Rank;
pub use rank_bound::{Arrays, Epsilon, RankBound};

use crate::schedule::Choice;
use crate::trace::Trace;

/// What is left of a search, in words of its own: to go on with it in another process, on any number of workers.
#[derive(Clone, Debug, Default)]
pub struct SearchState {
    /// What its hands share: see [`Strategy::save_shared`].
    pub shared: String,
    /// What each hand had at hand: see [`Strategy::save`].
    pub hands: Vec<String>,
}

/// The work that there is for a hand on a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Some, which the next call of [`Strategy::next`] may get.
    Work,
    /// None at the moment: other hands may yet give some.
    Nothing,
    /// None, for any hand: the search is over.
    Over,
}

/// A search over the executions of a test; or one worker's hand on it, if several share it.
///
/// A search of one worker needs the methods without a default only.
pub trait Strategy: Send {
    /// Prepares the next execution. `plan` holds the last execution's choices (none, before the first), and is
    /// left holding those that the next one must make first; `trace` is what the last execution was. False when
    /// the search is over, or when there is no work for this hand at the moment: see [`Strategy::wait`].
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool;

    /// Which alternative to take at a choice beyond the prescribed ones. `None` if there must be no such
    /// choice: the execution has departed from what it should have been.
    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32>;

    /// Whether to be asked before every step, even where there is but one alternative.
    fn asks_always(&self) -> bool {
        false
    }

    /// The same search from its beginning, of which it keeps what it knows; `None` if the settings can make it.
    ///
    /// Asked for where the engine has learned something, and all that was run before counts nowhere.
    fn anew(&mut self) -> Option<Box<dyn Strategy>> {
        None
    }

    /// The last execution departed from what was prescribed, because the test does not always do the same, and is
    /// run again with the same choices prescribed: what `choose` learned in it does not hold.
    ///
    /// Where it departs each time and the exploration goes on past it, `next` is called with a plan of just the
    /// prescribed choices, and a trace of nothing.
    fn again(&mut self) {}

    /// Whether the search can go on past an execution that departed each time.
    fn goes_past_departures(&self) -> bool {
        true
    }

    /// The execution that was prepared last is over, and was what it should have been.
    fn over(&mut self, past: &Past<'_>) {
        let _ = past;
    }

    /// Which share of what is to be run has been, after the last execution, as far as can be told: it made these
    /// choices. Between 0 and 1; `None` if there is no telling, or no end.
    fn share(&self, _choices: &[Choice]) -> Option<f64> {
        None
    }

    /// Whether executions come in order of their preemptions.
    fn is_in_order(&self) -> bool {
        false
    }

    /// How many of the executions so far showed nothing that another does not show as well.
    fn redundant(&self) -> u64 {
        0
    }

    /// How many of the executions so far had to be begun and showed nothing, because a loop waited in vain.
    fn blocked(&self) -> u64 {
        0
    }

    /// Whether what it plans cannot be relied on any more: then a reduction that plans less is to take over, from its
    /// beginning. Asked after each call of `next`.
    fn is_unsure(&self) -> bool {
        false
    }

    /// The reduction at work, for reports: `"none"`, `"dpor"`.
    fn reduction(&self) -> &'static str {
        "none"
    }

    /// Whether points at which the test or the settings turn preemptions off are kept from it. Not where it leaves
    /// executions out by the order of operations, and not where it replays all choices.
    fn heeds_scope(&self) -> bool {
        self.reduction() == "none"
    }

    /// What else a reader of the report should know.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// If the search is made up of several: which of them drew the execution that runs, or ran last.
    fn member(&self) -> Option<String> {
        None
    }

    /// If the search is made up of several: how many of the first so many executions each of them drew.
    fn shares(&self, executions: u64) -> Vec<(String, u64)> {
        let _ = executions;
        Vec::new()
    }

    /// What the executions so far cover. `finished` says whether `next` has returned false.
    fn coverage(&self, finished: bool) -> Coverage;

    /// The strategy and its parameters, for reports: `"dfs"`, `"random"`.
    fn name(&self) -> String;

    /// Another hand on the same search, for another worker. `None` if the search cannot be split.
    ///
    /// Hands together run what one alone runs, each execution once.
    fn fork(&mut self) -> Option<Box<dyn Strategy>> {
        None
    }

    /// Called when `next` has returned false: waits for work that other hands may have to give. True if `next` is to
    /// be asked again, false when the search is over for all hands.
    fn wait(&mut self) -> bool {
        false
    }

    /// Called when `next` has returned false: says if there is work that other hands may have to give, without waiting for
    /// it. While there is none the hand does something else, and counts as one that waits.
    fn idle(&mut self) -> Idle {
        Idle::Over
    }

    /// What is left of the work at hand is not wanted, nor is the execution that was prepared if it was not run: all of
    /// it comes after a finding in the order of the search. So does the next round, if there are rounds; what other
    /// hands are at is for them to say. If an execution was prepared, the trace that `next` gets next is one that it got
    /// before. Called on searches only that can be split, or saved.
    fn skip(&mut self) {}

    /// No work is handed out any more: hands that wait go home, also on other workers.
    fn stop(&mut self) {}

    /// Where the work begins in the order of the search that `next` took up since this was last asked; `None` if it
    /// goes on with what it had. What a hand does from there on is a part of that order without a gap.
    fn span(&mut self) -> Option<Rank> {
        None
    }

    /// The part of the search that the running execution belongs to, in words, for notes on what it shows: `None` if
    /// there are no parts.
    fn place(&self) -> Option<String> {
        None
    }

    /// The place in the order of the search of the execution that begins with these choices: the one that runs, or is
    /// to be run next.
    fn rank(&self, choices: &[Choice]) -> Rank {
        Rank::of_choices(0, choices)
    }

    /// Whether `save` is to be called once the next execution is prepared, with the choices prescribed for that, because
    /// what the last one showed is known only then. If there is none, `next` is asked again when the hand goes on.
    fn saves_ahead(&self) -> bool {
        false
    }

    /// What this hand has left to do, after an execution that made the choices in `plan`: one line of text. `None` if
    /// there is nothing but what [`Strategy::save_shared`] tells, or the search cannot be saved.
    fn save(&self, plan: &Plan) -> Option<String> {
        let _ = plan;
        None
    }

    /// Returns what [`Strategy::save`] does, where the execution that was prepared with the choices in `plan` is still to be
    /// run.
    fn save_prepared(&self, plan: &Plan) -> Option<String> {
        let _ = plan;
        None
    }

    /// The number of executions that were drawn, where some are drawn beside an exhaustive search: another search that takes
    /// over begins after these.
    fn drawn(&self) -> u64 {
        0
    }

    /// What hands share: one line of text. `None` if the search cannot be saved. All hands rest meanwhile.
    fn save_shared(&self) -> Option<String> {
        None
    }

    /// Goes on where a search of the same parameters was saved; called before the first `next`, and before `fork`. False
    /// if the state is none of this search.
    fn restore(&mut self, state: &SearchState) -> bool {
        let _ = state;
        false
    }
}
