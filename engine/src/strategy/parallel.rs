//! A search that several workers share.

use super::{SearchPosition, Strategy};
use crate::schedule::Choice;

/// The prospect of work for an idle worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// There is work: the next call of [`Strategy::next`] may get it.
    Work,
    /// There is none at the moment: another worker may give some away.
    Nothing,
    /// There is none for any worker: the search is over.
    Over,
}

/// A search that several workers share. Together they run the executions that one worker would run, each of them once.
pub trait Parallel {
    /// Returns a strategy for another worker on the same search.
    fn split(&mut self) -> Box<dyn Strategy>;

    /// Waits for work that another worker may give away, after `next` has returned `false`. Returns `true` if `next`
    /// should be called again, and `false` if the search is over for all workers.
    fn wait(&mut self) -> bool;

    /// Returns without waiting whether there is work, after `next` has returned `false`. While there is none, the
    /// worker counts as waiting.
    fn idle(&mut self) -> Idle {
        Idle::Over
    }

    /// Discards this worker's remaining work, including an execution that was prepared but not run: all of it comes
    /// after a finding in search order, and so do later rounds. The other workers decide for themselves.
    ///
    /// If an execution was prepared, the next call of `next` gets a trace that it has already seen.
    fn discard(&mut self);

    /// Stops handing out work to any worker, and wakes all waiting workers so that they finish.
    fn stop(&mut self);

    /// Returns the position at which the work that `next` has acquired since the last call begins. Returns `None` if
    /// `next` continued its own work. The executions of such a segment are consecutive in search order.
    fn segment(&mut self) -> Option<SearchPosition> {
        None
    }

    /// Returns the position in search order of the execution that begins with these choices.
    fn position(&mut self, choices: &[Choice]) -> SearchPosition {
        SearchPosition::of_choices(0, choices)
    }
}
