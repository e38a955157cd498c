//! Real time, for things that an execution has started outside of itself: a child process makes progress in real time
//! only.
//!
//! As long as such a process runs, virtual time does not run ahead of real time: whenever virtual time passes, the same
//! amount of real time passes. Otherwise a task that polls a child and sleeps in between would find that no time-out
//! was long enough.
//!
//! A worker waits for this in the middle of a decision. So each wait takes at most half of the time after which the
//! watchdog ends a task.

use std::sync::OnceLock;
use std::time::Duration;

/// A function that lets this much time pass, or less if nothing that the execution with this number has started runs.
type Pass = fn(u64, Duration);

static PASS: OnceLock<Pass> = OnceLock::new();

/// Sets the function to call whenever virtual time passes in an execution. The first call in a process counts.
pub fn on_time_passing(pass: Pass) {
    PASS.get_or_init(|| pass);
}

/// The longest time to wait at once if the watchdog ends no task.
const LONGEST: Duration = Duration::from_secs(60);

/// The real time of a worker's executions.
pub(super) struct RealTime {
    /// The current execution.
    execution: u64,
    /// The longest time to wait at once.
    longest: Duration,
}

impl RealTime {
    /// Returns the state of a worker whose tasks may do nothing visible for this long.
    pub(super) fn new(hang: Option<Duration>) -> RealTime {
        RealTime {
            execution: 0,
            longest: hang.map_or(LONGEST, |hang| hang / 2),
        }
    }

    /// Begins the execution with this number.
    pub(super) fn begin(&mut self, execution: u64) {
        self.execution = execution;
    }

    /// Lets real time pass, because virtual time passes by this many nanoseconds.
    #[inline]
    pub(super) fn pass(&self, nanoseconds: u64) {
        if let Some(pass) = PASS.get()
            && nanoseconds > 0
        {
            pass(
                self.execution,
                Duration::from_nanos(nanoseconds).min(self.longest),
            );
        }
    }
}
