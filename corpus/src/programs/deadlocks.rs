//! Locks that are taken in the wrong order, twice, or never given back.

use super::support::{CALM_2, CALM_3};
use crate::{Expected, Program};
use intermezzo::sync::{Condvar, Mutex};
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
    body: |_| {
        let [x, y] = [Mutex::new(()), Mutex::new(())];
        let phases = || {
            drop(x.lock().unwrap());
            forget(x.lock().unwrap());
            drop(y.lock().unwrap());
        };
        thread::scope(|scope| {
            scope.spawn(phases);
            scope.spawn(phases);
        });
    },
};

/// A condition that never comes true.
pub(super) const SYNC01_BAD: Program = Program {
    name: "sync01_bad",
    about: "a producer waits for a slot that the consumer never frees: always a deadlock (SCTBench \
            CS.sync01_bad)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("deadlock"),
    body: |_| exchange(1, 1, 0),
};

/// One slot too few is freed.
pub(super) const SYNC02_BAD: Program = Program {
    name: "sync02_bad",
    about: "as sync01_bad with two items at start and two rounds: always a deadlock (SCTBench CS.sync02_bad)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("deadlock"),
    body: |_| exchange(2, 2, 1),
};

/// A producer that waits for emptiness and a consumer that takes `taken` of each item, `rounds` times.
fn exchange(items: u32, rounds: u32, taken: u32) {
    let (items, empty, full) = (Mutex::new(items), Condvar::new(), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..rounds {
                *empty
                    .wait_while(items.lock().unwrap(), |items| *items > 0)
                    .unwrap() += 1;
                full.notify_one();
            }
        });
        scope.spawn(|| {
            for _ in 0..rounds {
                *full
                    .wait_while(items.lock().unwrap(), |items| *items == 0)
                    .unwrap() -= taken;
                empty.notify_one();
            }
        });
    });
}
