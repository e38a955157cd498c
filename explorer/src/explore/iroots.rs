//! How an explorer is set up to measure iRoots, and to search for them.

use super::Explorer;
use std::path::PathBuf;

impl Explorer {
    /// Measures which iRoots the executions expose, whatever the search ([`Report::iroots`](crate::Report::iroots)). The search
    /// [`coverage`](crate::Strategy::coverage) does so anyway, and so does any with a memo. Default: off.
    pub fn iroots(mut self, on: bool) -> Explorer {
        self.settings.iroots = on;
        self
    }

    /// How many events of a task two accesses of an iRoot are at most apart. Default: 20.
    pub fn iroot_window(mut self, events: u32) -> Explorer {
        self.settings.iroot_window = events;
        self
    }

    /// How often the search [`coverage`](crate::Strategy::coverage) tries in vain to expose an iRoot, in all explorations that share
    /// a memo, before it is let be. Default: 2.
    pub fn iroot_attempts(mut self, most: u32) -> Explorer {
        self.settings.iroot_attempts = most;
        self
    }

    /// Keeps in this file which iRoots were exposed, and which were tried in vain: the search
    /// [`coverage`](crate::Strategy::coverage) does not try these again. Explorations of any tests, in any processes, can share it;
    /// what it says holds as long as the source files are as they were. One that finds an error adds nothing more to it, so
    /// that the error is found again. Written at the end, and as often as [`Explorer::checkpoint_every`] says.
    pub fn memo(mut self, file: impl Into<PathBuf>) -> Explorer {
        self.settings.memo = Some(file.into());
        self
    }
}
