//! A search that several workers share.

use super::{SearchPosition, Strategy};
use crate::schedule::Choice;

/// Whether there is work for a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// There is, and the next call of [`Strategy::next`] may get it.
    Work,
    /// There is none at the moment: another worker may give some away.
    Nothing,
    /// There is none for any worker: the search is over.
    Over,
}

/// A search that several workers share. Together they run what one alone would run, each execution once.
pub trait Parallel {
    /// Makes the strategy of another worker on the same search.
    fn split(&mut self) -> Box<dyn Strategy>;

    /// Waits for work that another worker may give away, after `next` has returned `false`. Returns `true` if `next` is to be
    /// called again, and `false` if the search is over for all workers.
    fn wait(&mut self) -> bool;

    /// Says whether there is work, without waiting, after `next` has returned `false`. While there is none, the worker counts
    /// as waiting.
    fn idle(&mut self) -> Idle {
        Idle::Over
    }

    /// Drops this worker's remaining work, and the execution that was prepared if it has not run: all of it comes after a
    /// finding in the order of the search, and so does the next round. The other workers decide for themselves.
    ///
    /// If an execution was prepared, the next trace that `next` gets is one that it has seen.
    fn discard(&mut self);

    /// Ends the search for all workers: no more work is handed out, and workers that wait return.
    fn stop(&mut self);

    /// Returns the position at which the work begins that `next` has taken up since the last call; `None` if it went on with
    /// its own work. All executions of such a segment are consecutive in the order of the search.
    fn segment(&mut self) -> Option<SearchPosition> {
        None
    }

    /// Returns the position in the order of the search of the execution that begins with these choices.
    fn position(&mut self, choices: &[Choice]) -> SearchPosition {
        SearchPosition::of_choices(0, choices)
    }
}
