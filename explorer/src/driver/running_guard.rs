//! The registration of a worker as running.

use super::shared::{End, Shared};

/// The registration of a worker as running. A panic of the worker ends the exploration for the others too.
pub(super) struct RunningGuard<'a> {
    common: &'a Shared<'a>,
    inside: bool,
}

impl<'a> RunningGuard<'a> {
    /// Returns the registration of a worker that does not run yet.
    pub(super) fn new(common: &'a Shared<'a>) -> RunningGuard<'a> {
        RunningGuard {
            common,
            inside: false,
        }
    }

    pub(super) fn enter(&mut self) {
        self.common.gate.enter();
        self.inside = true;
    }

    pub(super) fn leave(&mut self) {
        self.inside = false;
        self.common.gate.leave();
    }
}

impl Drop for RunningGuard<'_> {
    fn drop(&mut self) {
        if self.inside {
            // The worker panicked: its unfinished work is lost.
            self.common.end(End::Panic);
            self.leave();
        }
    }
}
