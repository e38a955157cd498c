//! Tasks that wait for one another in loops which only read: spin locks, barriers, and some that wait for ever.
//!
//! A plain access of the original is a relaxed atomic here.

use super::scaffold::{in_numbered_tasks, in_tasks, number, tasks, wait_until, zeros};
use super::support::CALM_2;
use crate::{Expected, Program};
use intermezzo::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use intermezzo::sync::atomic::{AtomicUsize, Ordering};

/// Executions that will not end are abandoned soon.
const SHORT: &[(&str, &str)] = &[("preemptions", "2"), ("steps", "200")];

/// Each waits for the other once.
pub(super) const AWAIT: Program = Program {
    name: "await",
    about: "x=1; wait for y || wait for x; y=1",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |_| {
        let [x, y] = zeros();
        in_tasks([
            &|| {
                x.store(1, Release);
                wait_until(|| y.load(Acquire) == 1);
            },
            &|| {
                wait_until(|| x.load(Acquire) == 1);
                y.store(1, Release);
            },
        ]);
    },
};

/// By turns.
pub(super) const PINGPONG: Program = Program {
    name: "pingpong",
    about: "two tasks increment x by turns, `rounds` times each",
    parameters: &[number("rounds", 2, (1, 100), "increments of each")],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |values| {
        let [x] = zeros();
        in_numbered_tasks(0..2, |task| {
            for _ in 0..values[0] {
                let mut seen = 0;
                wait_until(|| {
                    seen = x.load(Acquire);
                    seen % 2 == task
                });
                x.store(seen + 1, Release);
            }
        });
        assert_eq!(x.into_inner() as u64, 2 * values[0]);
    },
};

/// A lock of one exchange.
pub(super) const CASLOCK: Program = Program {
    name: "caslock",
    about: "each task increments plain data under a lock that is one exchange",
    parameters: &[tasks(2, 8)],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |values| increments_under_exchange(values[0], Acquire, Release),
};

/// The same without order: a data race in relaxed models.
pub(super) const CASLOCK_RLX: Program = Program {
    name: "caslock-rlx",
    about: "as caslock, with relaxed orderings",
    parameters: &[tasks(2, 8)],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |values| increments_under_exchange(values[0], Relaxed, Relaxed),
};

fn increments_under_exchange(tasks: u64, lock: Ordering, unlock: Ordering) {
    let [locked, data] = zeros();
    in_numbered_tasks(0..tasks, |_| {
        wait_until(|| locked.compare_exchange(0, 1, lock, Relaxed).is_ok());
        data.store(data.load(Relaxed) + 1, Relaxed);
        locked.store(0, unlock);
    });
    assert_eq!(data.into_inner() as u64, tasks);
}

/// A lock that loads before it tries.
pub(super) const SPINLOCK: Program = Program {
    name: "spinlock",
    about: "each task stores and reads plain data under a lock that is read until it is free, then exchanged",
    parameters: &[tasks(2, 8)],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |values| {
        let [locked, data] = zeros();
        in_numbered_tasks(0..values[0], |task| {
            loop {
                wait_until(|| locked.load(Relaxed) == 0);
                if locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
                    break;
                }
            }
            data.store(task, Relaxed);
            assert_eq!(data.load(Relaxed), task);
            locked.store(0, Release);
        });
    },
};

/// A lock in order of arrival.
pub(super) const TICKETLOCK: Program = Program {
    name: "ticketlock",
    about: "each task stores and reads plain data when its ticket comes up",
    parameters: &[tasks(2, 8)],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |values| {
        let [next, owner, data] = zeros();
        in_numbered_tasks(0..values[0], |task| {
            let ticket = next.fetch_add(1, Relaxed);
            wait_until(|| owner.load(Acquire) == ticket);
            data.store(task, Relaxed);
            assert_eq!(data.load(Relaxed), task);
            owner.store(owner.load(Relaxed) + 1, Release);
        });
    },
};

/// All wait until all are there.
pub(super) const BARRIER1: Program = Program {
    name: "barrier1",
    about: "tasks count themselves, and wait for the count to be complete",
    parameters: &[tasks(2, 8)],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |values| {
        let [arrived] = zeros();
        in_numbered_tasks(0..values[0], |_| {
            arrived.fetch_add(1, AcqRel);
            wait_until(|| arrived.load(Acquire) as u64 == values[0]);
        });
    },
};

/// A barrier that can be used again.
pub(super) const BARRIER: Program = Program {
    name: "barrier",
    about: "one task writes plain data before a barrier, another reads it behind",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |_| {
        const TASKS: usize = 2;
        let [step, arrived, data] = zeros();
        let barrier = || {
            let before = step.load(Acquire);
            if arrived.fetch_add(1, AcqRel) + 1 == TASKS {
                arrived.store(0, Relaxed);
                step.store(before + 1, Release);
            } else {
                wait_until(|| step.load(Acquire) != before);
            }
        };
        in_tasks([
            &|| {
                data.store(1, Relaxed);
                barrier();
            },
            &|| {
                barrier();
                assert_eq!(data.load(Relaxed), 1);
            },
        ]);
    },
};

/// Two spin locks, two orders.
pub(super) const LOCK_DEADLOCK: Program = Program {
    name: "lock-deadlock",
    about: "two tasks take two locks of one exchange each, in opposite orders",
    parameters: &[],
    settings: SHORT,
    expected: Expected::Fail("livelock"),
    body: |_| {
        let [one, two] = zeros();
        let lock = |lock: &AtomicUsize| wait_until(|| lock.compare_exchange(0, 1, Acquire, Relaxed).is_ok());
        let both = |first: &AtomicUsize, second: &AtomicUsize| {
            lock(first);
            lock(second);
            second.store(0, Release);
            first.store(0, Release);
        };
        in_tasks([&|| both(&one, &two), &|| both(&two, &one)]);
    },
};

/// A task that checks too early.
pub(super) const SIMPLE_LIVELOCK: Program = Program {
    name: "simple-livelock",
    about: "y=1; wait for x || if y, x=1",
    parameters: &[],
    settings: SHORT,
    expected: Expected::Fail("livelock"),
    body: |_| {
        let [x, y] = zeros();
        in_tasks([
            &|| {
                y.store(1, Release);
                wait_until(|| x.load(Acquire) == 1);
            },
            &|| {
                if y.load(Acquire) == 1 {
                    x.store(1, Release);
                }
            },
        ]);
    },
};

/// A task that waits for itself.
pub(super) const SPINLOOP_LIVELOCK: Program = Program {
    name: "spinloop-livelock",
    about: "wait for x; x=1",
    parameters: &[],
    settings: SHORT,
    expected: Expected::Fail("livelock"),
    body: |_| {
        let [x] = zeros();
        wait_until(|| x.load(Acquire) != 0);
        x.store(1, Release);
    },
};
