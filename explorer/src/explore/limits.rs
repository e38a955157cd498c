//! When an execution or the exploration ends, and what is made of the end, call by call.

use super::Explorer;
use std::time::Duration;

impl Explorer {
    /// Stops after this many executions. Default: no limit.
    pub fn executions(mut self, most: u64) -> Explorer {
        self.settings.executions = Some(most);
        self
    }

    /// Stops after this much time; the execution that runs is finished first. Default: no limit.
    pub fn time(mut self, most: Duration) -> Explorer {
        self.settings.time = Some(most);
        self
    }

    /// Which yields of a task count for fairness: every so manieth; 0 is taken for 1. Default: 1.
    pub fn fair_yields(mut self, every: u32) -> Explorer {
        self.settings.fair_yields = every.max(1);
        self
    }

    /// Whether a task whose loop only waits is disabled until what it waits for changes. Default: it is. Memory
    /// outside variables and the task's own stack is not compared: switch it off for a loop that ends
    /// because of a count in the heap.
    pub fn awaits(mut self, on: bool) -> Explorer {
        self.settings.awaits = on;
        self
    }

    /// Whether a loop that was once *seen* to only wait (a round of it came back to where it began, with nothing written)
    /// is *assumed* to from its first round on, wherever a task does the same operations at the same places. Its failed
    /// rounds then count as not having happened: there are fewer traces, and fewer executions. Default: off.
    ///
    /// A loop is seen to wait in an execution, and the search then starts anew with that known; executions until then are
    /// mentioned in a note, and counted nowhere else.
    ///
    /// What may be missed: what depends on how often such a loop went round *before* its state repeats (a back-off that
    /// grows up to a limit, a count that no variable holds); and, if a loop's rounds differ and one ends like another,
    /// changes of what only the longer one reads.
    pub fn assume_awaits(mut self, on: bool) -> Explorer {
        self.settings.assume_awaits = on;
        self
    }

    /// Whether an execution may end with tasks that wait for ever: it is then an end like any other, and no finding.
    /// Default: it may not.
    pub fn deadlocks_allowed(mut self, allowed: bool) -> Explorer {
        self.settings.deadlocks_allowed = allowed;
        self
    }

    /// Runs the test so many times before the search, unjudged, for what it sets up once and keeps: a static of
    /// `std`'s `OnceLock`, say, whose first use does more than the later ones. What could go wrong in that first use is
    /// not seen then. Of several workers each does so, one after the other. Default: 0.
    pub fn warm_up(mut self, executions: u32) -> Explorer {
        self.settings.warm_up = executions;
        self
    }

    /// How often an execution is tried again that departed from what was prescribed, because the test does something
    /// that the schedule does not determine. If none of the retries is as it should be, that is a finding, and the
    /// search ends; with [`Explorer::keep_going`] it goes on without what would have begun like that execution,
    /// and the coverage says so. Default: 2.
    pub fn retries(mut self, most: u32) -> Explorer {
        self.settings.retries = most;
        self
    }

    /// How many more executions may be run, for all findings together, to find the smallest ones that show the same: with the
    /// fewest preemptions, then the fewest context switches, then the fewest steps. A note says what came of it.
    /// They count neither as executions of the search nor against its limits; long ones count as several. 0 leaves
    /// the execution as it was found. Default: 1,000.
    pub fn minimise(mut self, executions: u64) -> Explorer {
        self.settings.minimise = executions;
        self
    }

    /// Goes on after a finding. Default: stop at the first.
    pub fn keep_going(mut self, keep_going: bool) -> Explorer {
        self.settings.keep_going = keep_going;
        self
    }

    /// Bytes of each task's stack, at least 32 KiB. Default: 256 KiB, of which untouched pages cost nothing.
    ///
    /// # Panics
    /// Fewer than 32 KiB, or more than 1 GiB.
    pub fn stack_bytes(mut self, bytes: usize) -> Explorer {
        self.settings
            .set("stack", &bytes.to_string())
            .unwrap_or_else(|error| panic!("{error}"));
        self
    }
}
