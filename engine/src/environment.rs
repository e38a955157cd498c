//! The adversarial environment: the possible actions of a program's surroundings.
//!
//! A weak compare-exchange may fail, a condition variable may wake spuriously, a time-out may fire early. Each of these
//! is a recorded choice, so that a failure that it causes can be replayed. Each is bounded, because otherwise a retry
//! loop could fail for ever. The bounds are part of the coverage of a pass, and part of every schedule.
//!
//! The bounds are for each task. So only a task's own past decides if the environment may act in it, and operations of
//! different tasks on different variables commute. The exception is `Key::TIMEOUTS` in `trace/dependence.rs`.

use crate::serial::{Deserialize, Serialize};
use crate::words::plural;
use std::fmt;

/// The bounds on the environment's actions, and the seed of its randomness.
///
/// A bound of 0 switches the behaviour off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// The number of waits, in each task, that end without a notification (`Condvar::wait`, `park`). Default 1.
    pub spurious_wakeups: u32,
    /// The number of timed waits, in each task, that time out although another task could continue instead. When no
    /// task can continue, the earliest time-out fires whatever this bound. Default 1.
    pub timeouts: u32,
    /// The number of failures, in each task, of a weak compare-exchange that could have succeeded. Default 1.
    pub weak_failures: u32,
    /// The number of failures, in each task, of a `try_lock` of a free lock. Default 0, because std's own never fails
    /// so.
    pub try_lock_failures: u32,
    /// `true` if `notify_one` may wake any waiter; `false` if only the one that came first. Default true.
    pub notify_any: bool,
    /// `true` if reference counts of `Arc` are schedule points where another task could see them. Default true.
    pub arc_counts: bool,
    /// The number of allocations, in each task, that get the address of memory that was freed: for tests that were not
    /// written for intermezzo. Default 0.
    #[serde(default, skip_serializing_if = "is_none")]
    pub address_reuse: u32,
    /// The number of times that a place in each task reads the same store to an atomic after a newer one was there, as
    /// the memory model of C++20 allows it; see [`Cpp20`](crate::memory_model::Cpp20). The result of a stale
    /// read-modify-write counts as the store that it read. Default 0: executions are sequentially consistent.
    #[serde(default, skip_serializing_if = "is_none")]
    pub stale_reads: u32,
    /// The seed of the random numbers that the test itself draws. Default 0.
    pub seed: u64,
}

/// Returns `true` for a bound that is left out of files, because most executions have it.
fn is_none(bound: &u32) -> bool {
    *bound == 0
}

impl Default for Environment {
    fn default() -> Self {
        Environment {
            spurious_wakeups: 1,
            timeouts: 1,
            weak_failures: 1,
            try_lock_failures: 0,
            notify_any: true,
            arc_counts: true,
            address_reuse: 0,
            stale_reads: 0,
            seed: 0,
        }
    }
}

impl Environment {
    /// Returns an environment without actions: only the scheduler is adversarial. In this setting, counts of executions
    /// and traces are comparable with those of other tools.
    pub fn calm() -> Self {
        Environment {
            spurious_wakeups: 0,
            timeouts: 0,
            weak_failures: 0,
            try_lock_failures: 0,
            notify_any: false,
            arc_counts: true,
            address_reuse: 0,
            stale_reads: 0,
            seed: 0,
        }
    }

    /// Returns the name of the memory model: `sc` for sequential consistency, or `cpp20`.
    pub fn memory_model(&self) -> &'static str {
        match self.has_memory_model() {
            true => "cpp20",
            false => "sc",
        }
    }

    /// Returns `true` if operations on atomics read by a memory model, and are not sequentially consistent.
    pub fn has_memory_model(&self) -> bool {
        self.stale_reads > 0
    }
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Environment {
            spurious_wakeups,
            timeouts,
            weak_failures,
            try_lock_failures,
            notify_any,
            arc_counts,
            address_reuse,
            stale_reads,
            ..
        } = *self;
        write!(
            f,
            "in each task at most {spurious_wakeups} spurious {}, {timeouts} early {}, {weak_failures} weak compare-exchange \
             {}, {try_lock_failures} try_lock {}",
            plural(spurious_wakeups.into(), "wake-up"),
            plural(timeouts.into(), "time-out"),
            plural(weak_failures.into(), "failure"),
            plural(try_lock_failures.into(), "failure"),
        )?;
        if address_reuse > 0 {
            write!(
                f,
                ", {address_reuse} {} of freed memory",
                plural(address_reuse.into(), "reuse")
            )?;
        }
        if stale_reads > 0 {
            write!(
                f,
                ", at each place {stale_reads} {} of a store after a newer one",
                plural(stale_reads.into(), "read")
            )?;
        }
        f.write_str(if notify_any {
            "; notify_one wakes any waiter"
        } else {
            "; notify_one wakes the first waiter"
        })?;
        if !arc_counts {
            f.write_str("; reference counts are not schedule points")?;
        }
        Ok(())
    }
}
