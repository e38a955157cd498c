//! Vyukov's bounded queue for many producers and consumers, and a common wrong version of it.

use crate::{Expected, Program};
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::thread;

/// So small that the ring is full with two items.
const CAPACITY: usize = 2;

/// A first in, first out queue of bounded size.
trait Ring: Sync {
    /// Appends a value, unless the ring is full.
    fn push(&self, value: usize) -> bool;
    /// Takes the first value, unless the ring is empty.
    fn pop(&self) -> Option<usize>;
}

/// Checks for room, then takes it: right with one producer and one consumer (Lamport).
#[derive(Default)]
struct CheckThenAct {
    head: AtomicUsize,
    tail: AtomicUsize,
    values: [AtomicUsize; CAPACITY],
}

impl Ring for CheckThenAct {
    fn push(&self, value: usize) -> bool {
        let tail = self.tail.load(SeqCst);
        if tail - self.head.load(SeqCst) == CAPACITY {
            return false;
        }
        self.values[tail % CAPACITY].store(value, SeqCst);
        self.tail.store(tail + 1, SeqCst);
        true
    }

    fn pop(&self) -> Option<usize> {
        let head = self.head.load(SeqCst);
        if head == self.tail.load(SeqCst) {
            return None;
        }
        let value = self.values[head % CAPACITY].load(SeqCst);
        self.head.store(head + 1, SeqCst);
        Some(value)
    }
}

/// A ring whose slots say whose turn it is; a place is taken by an exchange.
struct Vyukov {
    head: AtomicUsize,
    tail: AtomicUsize,
    slots: [Slot; CAPACITY],
}

struct Slot {
    /// The place of the next push, or of the next pop plus 1.
    sequence: AtomicUsize,
    value: AtomicUsize,
}

impl Default for Vyukov {
    fn default() -> Vyukov {
        let slot = |at| Slot {
            sequence: AtomicUsize::new(at),
            value: AtomicUsize::new(0),
        };
        Vyukov {
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            slots: std::array::from_fn(slot),
        }
    }
}

impl Ring for Vyukov {
    fn push(&self, value: usize) -> bool {
        let mut tail = self.tail.load(SeqCst);
        loop {
            let slot = &self.slots[tail % CAPACITY];
            let sequence = slot.sequence.load(SeqCst);
            if sequence < tail {
                return false;
            }
            if sequence > tail {
                tail = self.tail.load(SeqCst);
                continue;
            }
            match self.tail.compare_exchange(tail, tail + 1, SeqCst, SeqCst) {
                Ok(_) => {
                    slot.value.store(value, SeqCst);
                    slot.sequence.store(tail + 1, SeqCst);
                    return true;
                }
                Err(now) => tail = now,
            }
        }
    }

    fn pop(&self) -> Option<usize> {
        let mut head = self.head.load(SeqCst);
        loop {
            let slot = &self.slots[head % CAPACITY];
            let sequence = slot.sequence.load(SeqCst);
            if sequence < head + 1 {
                return None;
            }
            if sequence > head + 1 {
                head = self.head.load(SeqCst);
                continue;
            }
            match self.head.compare_exchange(head, head + 1, SeqCst, SeqCst) {
                Ok(_) => {
                    let value = slot.value.load(SeqCst);
                    slot.sequence.store(head + CAPACITY, SeqCst);
                    return Some(value);
                }
                Err(now) => head = now,
            }
        }
    }
}

/// Two tasks push an item and pop one; main pops the rest.
fn run<R: Ring + Default>() {
    let ring = R::default();
    let mut values = Vec::new();
    thread::scope(|scope| {
        let tasks = [1, 2].map(|value| {
            let ring = &ring;
            scope.spawn(move || {
                // There is room for both.
                assert!(ring.push(value));
                ring.pop()
            })
        });
        values.extend(tasks.into_iter().filter_map(|task| task.join().unwrap()));
    });
    values.extend(std::iter::from_fn(|| ring.pop()).take(CAPACITY));
    values.sort_unstable();
    assert_eq!(values, [1, 2], "what comes out");
}

/// Two producers take the same place.
pub(super) const BROKEN: Program = Program {
    name: "bounded_ring",
    about: "a ring that checks for room, then takes it, with two producers and consumers",
    parameters: &[],
    settings: &[("preemptions", "2")],
    expected: Expected::Fail("assertion"),
    body: |_| run::<CheckThenAct>(),
};

/// Its twin by Vyukov.
pub(super) const FIXED: Program = Program {
    name: "bounded_ring_fixed",
    about: "Vyukov's ring, whose slots have sequence numbers, in the same use",
    parameters: &[],
    settings: &[("preemptions", "3")],
    expected: Expected::Pass,
    body: |_| run::<Vyukov>(),
};
