//! Programs of the CHESS release over semaphores and events, and a bounded buffer.

use super::scaffold::{twin, wait_until};
use super::support::{CALM_2, CALM_3, Event, Reset, Semaphore, wait_any};
use crate::{Expected, Program};
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::sync::{Condvar, Mutex};
use intermezzo::thread;
use std::collections::VecDeque;

/// Each waits for the other.
pub(super) const SEMAPHORE: Program = Program {
    name: "semaphore",
    about: "child releases s1 and waits for s2, main waits for s1 and releases s2 (CHESS; semaphores of one \
            permit here)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| signal_each_other(Reset::Automatic, Reset::Automatic),
};

fn signal_each_other(first: Reset, second: Reset) {
    let (first, second) = (Event::new(first), Event::new(second));
    thread::scope(|scope| {
        scope.spawn(|| {
            first.set();
            second.wait();
        });
        first.wait();
        second.set();
    });
}

/// Two workers let in at once: the second row of that name in the published table.
pub(super) const SEMAPHORE2: Program = Program {
    name: "semaphore2",
    about: "two workers wait, yield and release; main yields and releases 2 (CHESS, its second `semaphore`)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| {
        let semaphore = Semaphore::new(0);
        let work = || {
            semaphore.wait();
            thread::yield_now();
            semaphore.release(1);
        };
        thread::scope(|scope| {
            scope.spawn(work);
            scope.spawn(work);
            thread::yield_now();
            semaphore.release(2);
        });
    },
};

/// Each waits for the other.
pub(super) const EVENTS: Program = Program {
    name: "events",
    about: "as semaphore, with a manual and an automatic event (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| signal_each_other(Reset::Manual, Reset::Automatic),
};

/// Waits for any of several.
pub(super) const MANUAL_RESET_EVENTS: Program = Program {
    name: "mretest",
    about: "two tasks set a manual event each, a third waits for any; main waits for all three tasks (CHESS)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| {
        let events = [const { Event::new(Reset::Manual) }; 2];
        thread::scope(|scope| {
            scope.spawn(|| events[0].set());
            scope.spawn(|| events[1].set());
            scope.spawn(|| assert!(wait_any(&events) < 2));
        });
    },
};

/// Main counts too, then waits for one child after the other.
pub(super) const INTERLOCK4: Program = Program {
    name: "interlock4",
    about: "main and two children increment once each; main waits for any child, then for the other (CHESS; \
            main sees from the count how many are done)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| n.fetch_add(1, SeqCst));
            scope.spawn(|| n.fetch_add(1, SeqCst));
            n.fetch_add(1, SeqCst);
            wait_until(|| n.load(SeqCst) >= 2);
            wait_until(|| n.load(SeqCst) == 3);
        });
    },
};

/// A bounded buffer in its textbook form.
pub(super) const MONITOR2: Program = Program {
    name: "monitor2",
    about: "a queue of 2 with waits and pulses under its lock; one producer, one consumer, 3 items (CHESS, \
            whose waits take more steps)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| {
        const CAPACITY: usize = 2;
        const ITEMS: usize = 3;
        let (queue, changed) = (Mutex::new(VecDeque::new()), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                for item in 0..ITEMS {
                    let mut queue = changed
                        .wait_while(queue.lock().unwrap(), |queue| queue.len() == CAPACITY)
                        .unwrap();
                    queue.push_back(item);
                    changed.notify_one();
                }
            });
            scope.spawn(|| {
                for item in 0..ITEMS {
                    let mut queue = changed
                        .wait_while(queue.lock().unwrap(), |queue| queue.is_empty())
                        .unwrap();
                    assert_eq!(queue.pop_front(), Some(item));
                    changed.notify_one();
                }
            });
        });
    },
};

/// A producer and a consumer with a wrong assertion about their sum.
pub(super) const ARITHMETIC_PROG_BAD: Program = Program {
    name: "arithmetic_prog_bad",
    about: "one slot, 3 items, signals after the lock is left; the final assertion never holds \
            (SCTBench CS.arithmetic_prog_bad)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("assertion"),
    body: |_| assert_ne!(summed_through_a_slot(3), 1 + 2 + 3),
};

/// Its twin, which asserts the right sum.
pub(super) const ARITHMETIC_PROG_FIXED: Program = twin(
    &ARITHMETIC_PROG_BAD,
    "arithmetic_prog_fixed",
    "arithmetic_prog_bad, with the sum in its assertion",
    |_| assert_eq!(summed_through_a_slot(3), 1 + 2 + 3),
);

/// Returns the sum of the items from 1, which a consumer gets from a producer one by one.
fn summed_through_a_slot(items: u32) -> u32 {
    let (slot, empty, full) = (Mutex::new(None), Condvar::new(), Condvar::new());
    let total = Mutex::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for item in 1..=items {
                *empty
                    .wait_while(slot.lock().unwrap(), |slot| slot.is_some())
                    .unwrap() = Some(item);
                full.notify_one();
            }
        });
        scope.spawn(|| {
            for _ in 0..items {
                let item = full
                    .wait_while(slot.lock().unwrap(), |slot| slot.is_none())
                    .unwrap()
                    .take();
                empty.notify_one();
                *total.lock().unwrap() += item.expect("waited for");
            }
        });
    });
    total.into_inner().unwrap()
}
