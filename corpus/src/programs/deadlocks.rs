//! Locks that are taken in the wrong order, twice, or never given back.

use super::scaffold::twin;
use super::support::{CALM_2, CALM_3};
use crate::{Expected, Program};
use intermezzo::sync::{Condvar, Mutex, MutexGuard};
use intermezzo::thread;
use std::mem::forget;

/// Two locks, two orders.
pub(super) const DEADLOCK: Program = Program {
    name: "deadlock",
    about: "child locks 1 then 2, main locks 2 then 1 (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Fail("deadlock"),
    body: |_| {
        let [one, two] = [Mutex::new(()), Mutex::new(())];
        thread::scope(|scope| {
            scope.spawn(|| both(&one, &two));
            both(&two, &one);
        });
    },
};

/// The same, between two tasks that main waits for.
pub(super) const DEADLOCK01_BAD: Program = Program {
    name: "deadlock01_bad",
    about: "task 1 locks a, b; task 2 locks b, a (SCTBench CS.deadlock01_bad)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("deadlock"),
    body: |_| {
        let [a, b] = [Mutex::new(()), Mutex::new(())];
        thread::scope(|scope| {
            scope.spawn(|| both(&a, &b));
            scope.spawn(|| both(&b, &a));
        });
    },
};

/// Its twin, with one order.
pub(super) const DEADLOCK01_FIXED: Program = twin(
    &DEADLOCK01_BAD,
    "deadlock01_fixed",
    "deadlock01_bad, with both tasks locking a, then b",
    |_| {
        let [a, b] = [Mutex::new(()), Mutex::new(())];
        thread::scope(|scope| {
            scope.spawn(|| both(&a, &b));
            scope.spawn(|| both(&a, &b));
        });
    },
);

fn both(first: &Mutex<()>, second: &Mutex<()>) {
    let _first = first.lock().unwrap();
    let _second = second.lock().unwrap();
}

/// A lock that is never left.
pub(super) const SELF_DEADLOCK: Program = Program {
    name: "selfdeadlock",
    about: "child and main take one lock, which main never leaves: the original enters it twice (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Fail("deadlock"),
    body: |_| {
        let lock = Mutex::new(());
        thread::scope(|scope| {
            scope.spawn(|| drop(lock.lock().unwrap()));
            forget(lock.lock().unwrap());
        });
    },
};

/// The second section of each task never ends.
pub(super) const PHASE01_BAD: Program = Program {
    name: "phase01_bad",
    about: "two tasks lock x twice and leave it once, then want y: always a deadlock (SCTBench \
            CS.phase01_bad)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("deadlock"),
    body: |_| phases(|second| forget(second)),
};

/// Its twin, whose second section ends.
pub(super) const PHASE01_FIXED: Program = twin(
    &PHASE01_BAD,
    "phase01_fixed",
    "phase01_bad, with x left both times",
    |_| phases(|second| drop(second)),
);

/// Two tasks that lock x twice, the second time until `leave` is done with it, then y.
fn phases(leave: fn(MutexGuard<'_, ()>)) {
    let [x, y] = [Mutex::new(()), Mutex::new(())];
    let phases = || {
        drop(x.lock().unwrap());
        leave(x.lock().unwrap());
        drop(y.lock().unwrap());
    };
    thread::scope(|scope| {
        scope.spawn(phases);
        scope.spawn(phases);
    });
}

/// A condition that is never met.
pub(super) const SYNC01_BAD: Program = Program {
    name: "sync01_bad",
    about: "a producer waits for a slot that the consumer never frees: always a deadlock (SCTBench \
            CS.sync01_bad)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("deadlock"),
    body: |_| exchange(1, 1, 1, 0),
};

/// Its twin, whose consumer consumes.
pub(super) const SYNC01_FIXED: Program = twin(
    &SYNC01_BAD,
    "sync01_fixed",
    "sync01_bad, with a consumer that frees the slot",
    |_| exchange(1, 1, 1, 1),
);

/// One slot too few is freed.
pub(super) const SYNC02_BAD: Program = Program {
    name: "sync02_bad",
    about: "as sync01_bad with two items at start and two rounds: always a deadlock (SCTBench CS.sync02_bad)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("deadlock"),
    body: |_| exchange(2, 2, 2, 1),
};

/// Its twin, whose consumer continues until the producer can.
pub(super) const SYNC02_FIXED: Program = twin(
    &SYNC02_BAD,
    "sync02_fixed",
    "sync02_bad, with a round more for the consumer",
    |_| exchange(2, 2, 3, 1),
);

/// A producer that waits for emptiness a number of times, and a consumer that waits for an item and takes `taken` of
/// it.
fn exchange(items: u32, producing: u32, consuming: u32, taken: u32) {
    let (items, empty, full) = (Mutex::new(items), Condvar::new(), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..producing {
                *empty
                    .wait_while(items.lock().unwrap(), |items| *items > 0)
                    .unwrap() += 1;
                full.notify_one();
            }
        });
        scope.spawn(|| {
            for _ in 0..consuming {
                *full
                    .wait_while(items.lock().unwrap(), |items| *items == 0)
                    .unwrap() -= taken;
                empty.notify_one();
            }
        });
    });
}
