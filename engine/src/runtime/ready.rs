//! The tasks that can take the next step.

use super::fair::Fairness;
use crate::record::TaskSet;

/// The tasks that can take the next step, and those that wait.
pub(super) struct Ready {
    /// The tasks whose next operation is possible.
    pub(super) enabled: TaskSet,
    /// The tasks to run up to their next visible operation before anything is decided.
    pub(super) must_run: TaskSet,
    /// The waiting tasks that a time-out may wake, and those that may wake spuriously.
    pub(super) timed_waiters: TaskSet,
    pub(super) spurious_waiters: TaskSet,
    /// The tasks of `timed_waiters` whose deadline has passed: they are enabled, whatever their gates.
    pub(super) expired: TaskSet,
    /// The task that took the last visible step: continuing with it is the default.
    pub(super) last: u32,
    /// `true` if it has yielded since.
    pub(super) yielded: bool,
    /// `true` if a decision may need more than one word of tasks: after a yield, under fairness, with more than 64
    /// tasks, or if points may be closed.
    pub(super) slow_path: bool,
    /// `true` if fairness held back a task that could have continued.
    pub(super) unfair_left_out: bool,
    pub(super) fair: Fairness,
    /// The alternatives of a decision, if they are not simply the enabled tasks.
    pub(super) candidates: Vec<u32>,
}

impl Ready {
    /// Returns the initial state, in which every `fair_yields`-th yield of a task counts for fairness.
    pub(super) fn new(fair_yields: u32) -> Ready {
        Ready {
            enabled: TaskSet::default(),
            must_run: TaskSet::default(),
            timed_waiters: TaskSet::default(),
            spurious_waiters: TaskSet::default(),
            expired: TaskSet::default(),
            last: 0,
            yielded: false,
            slow_path: false,
            unfair_left_out: false,
            fair: Fairness::new(fair_yields),
            candidates: Vec::new(),
        }
    }

    /// Resets the state for a new execution, in which decisions take the slow path if that `is_scoped`.
    pub(super) fn begin(&mut self, is_scoped: bool) {
        self.enabled.clear();
        self.must_run.clear();
        self.timed_waiters.clear();
        self.spurious_waiters.clear();
        self.expired.clear();
        self.last = 0;
        self.yielded = false;
        self.slow_path = is_scoped;
        self.unfair_left_out = false;
        self.fair.reset();
    }
}
