//! Tasks that wait in loops of their own: spin locks, a sequence lock, polite tasks, a spin with a bound.

use crate::{Expected, Program};
use intermezzo::hint::spin_loop;
use intermezzo::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use intermezzo::thread;

/// Two tasks increment a counter under a lock, by a load and a store.
fn increment_under<L: Sync>(lock: &L, acquire: fn(&L), release: fn(&L)) {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                acquire(lock);
                n.store(n.load(SeqCst) + 1, SeqCst);
                release(lock);
            });
        }
    });
    assert_eq!(n.load(SeqCst), 2);
}

/// Swaps until it was free.
pub(super) const TEST_AND_SET: Program = Program {
    name: "spin_test_and_set",
    about: "two tasks increment under a test-and-set lock that waits in a loop; without a bound",
    parameters: &[],
    settings: &[],
    expected: Expected::Pass,
    body: |_| {
        let acquire = |lock: &AtomicBool| {
            while lock.swap(true, SeqCst) {
                spin_loop();
            }
        };
        increment_under(&AtomicBool::new(false), acquire, |lock| lock.store(false, SeqCst));
    },
};

/// Looks until it is free, then swaps.
pub(super) const TEST_AND_TEST_AND_SET: Program = Program {
    name: "spin_test_and_test_and_set",
    about: "as spin_test_and_set, but loads before it swaps",
    parameters: &[],
    settings: &[],
    expected: Expected::Pass,
    body: |_| {
        let acquire = |lock: &AtomicBool| {
            loop {
                while lock.load(SeqCst) {
                    spin_loop();
                }
                if !lock.swap(true, SeqCst) {
                    break;
                }
            }
        };
        increment_under(&AtomicBool::new(false), acquire, |lock| lock.store(false, SeqCst));
    },
};

/// Looks, and takes it for free by a store.
pub(super) const TEST_AND_TEST_AND_SET_BROKEN: Program = Program {
    name: "spin_test_and_test_and_set_broken",
    about: "as spin_test_and_test_and_set, but takes what it saw free with a store",
    parameters: &[],
    settings: &[],
    expected: Expected::Fail("assertion"),
    body: |_| {
        let acquire = |lock: &AtomicBool| {
            while lock.load(SeqCst) {
                spin_loop();
            }
            lock.store(true, SeqCst);
        };
        increment_under(&AtomicBool::new(false), acquire, |lock| lock.store(false, SeqCst));
    },
};

/// Draws a number and waits until it is called.
pub(super) const TICKET: Program = Program {
    name: "spin_ticket",
    about: "two tasks increment under a ticket lock that waits in a loop; without a bound",
    parameters: &[],
    settings: &[],
    expected: Expected::Pass,
    body: |_| {
        type Ticket = (AtomicUsize, AtomicUsize);
        let acquire = |(next, serving): &Ticket| {
            let ticket = next.fetch_add(1, SeqCst);
            while serving.load(SeqCst) != ticket {
                spin_loop();
            }
        };
        let release = |(_, serving): &Ticket| {
            serving.fetch_add(1, SeqCst);
        };
        increment_under(&(AtomicUsize::new(0), AtomicUsize::new(0)), acquire, release);
    },
};

/// A reader that tries again when a writer came in between.
fn sequence_lock(looks_again: bool) {
    let (sequence, a, b) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            sequence.fetch_add(1, SeqCst);
            a.store(1, SeqCst);
            b.store(1, SeqCst);
            sequence.fetch_add(1, SeqCst);
        });
        scope.spawn(|| {
            loop {
                let before = sequence.load(SeqCst);
                let read = (a.load(SeqCst), b.load(SeqCst));
                if before.is_multiple_of(2) && (!looks_again || sequence.load(SeqCst) == before) {
                    break assert_eq!(read.0, read.1);
                }
                spin_loop();
            }
        });
    });
}

/// Reads both values of one writer.
pub(super) const SEQUENCE_LOCK: Program = Program {
    name: "seqlock",
    about: "one task writes two variables under a sequence lock, another reads them; without a bound",
    parameters: &[],
    settings: &[],
    expected: Expected::Pass,
    body: |_| sequence_lock(true),
};

/// Reads them half written.
pub(super) const SEQUENCE_LOCK_BROKEN: Program = Program {
    name: "seqlock_broken",
    about: "as seqlock, but the reader does not load the sequence number again",
    parameters: &[],
    settings: &[],
    expected: Expected::Fail("assertion"),
    body: |_| sequence_lock(false),
};

/// Each lets the other go first, for ever.
pub(super) const POLITE: Program = Program {
    name: "polite_tasks",
    about: "two tasks raise a flag each, and lower it and yield when the other's is up: a livelock if they \
            keep step",
    parameters: &[],
    settings: &[("steps", "400")],
    expected: Expected::Fail("livelock"),
    body: |_| {
        let flags = [AtomicBool::new(false), AtomicBool::new(false)];
        let pass = |me: usize| {
            flags[me].store(true, SeqCst);
            while flags[1 - me].load(SeqCst) {
                flags[me].store(false, SeqCst);
                thread::yield_now();
                flags[me].store(true, SeqCst);
            }
            flags[me].store(false, SeqCst);
        };
        thread::scope(|scope| {
            scope.spawn(|| pass(0));
            scope.spawn(|| pass(1));
        });
    },
};

/// Gives up too early.
pub(super) const BOUNDED: Program = Program {
    name: "bounded_spin",
    about: "main checks twice whether a task has set a flag, with yields, and then assumes that it has; if each \
            yield counts for fairness, it cannot be that fast",
    parameters: &[],
    settings: &[("spin_loops", "fair_yields=2")],
    expected: Expected::Fail("assertion"),
    body: |_| {
        let (x, done) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                x.store(1, SeqCst);
                done.store(true, SeqCst);
            });
            for _ in 0..2 {
                if done.load(SeqCst) {
                    break;
                }
                thread::yield_now();
            }
            assert_eq!(x.load(SeqCst), 1);
        });
    },
};
