//! Vyukov's bounded queue for many producers and consumers: a ring of slots with sequence numbers.
//!
//! A slot whose number lags behind is taken for a full or an empty queue. But the task that claimed the slot may just
//! not have finished: slots after it may have been emptied, or filled, since. The corrected version looks at the
//! other end too, and waits if the slot is only being changed.

use super::{Against, Effort, Object, models, refuted};
use intermezzo::hint::spin_loop;
use intermezzo::refinement::{RefinementReport, fresh, refine};
use intermezzo::sync::atomic::{AtomicU8, AtomicUsize, Ordering::SeqCst};

const CAPACITY: usize = 2;

struct Slot {
    sequence: AtomicUsize,
    value: AtomicU8,
}

struct Queue {
    slots: [Slot; CAPACITY],
    /// The places of the next value to be put in and to be taken; never decreased.
    tail: AtomicUsize,
    head: AtomicUsize,
    /// `true` if the other end is checked before a queue counts as full, or as empty.
    looks_when_full: bool,
    looks_when_empty: bool,
}

impl Queue {
    fn new(looks_when_full: bool, looks_when_empty: bool) -> Queue {
        Queue {
            slots: std::array::from_fn(|sequence| Slot {
                sequence: AtomicUsize::new(sequence),
                value: AtomicU8::new(0),
            }),
            tail: AtomicUsize::new(0),
            head: AtomicUsize::new(0),
            looks_when_full,
            looks_when_empty,
        }
    }

    fn enqueue(&self, value: u8) -> bool {
        loop {
            let tail = self.tail.load(SeqCst);
            let slot = &self.slots[tail % CAPACITY];
            let sequence = slot.sequence.load(SeqCst);
            if sequence == tail {
                let claimed = self.tail.compare_exchange(tail, tail + 1, SeqCst, SeqCst);
                if claimed.is_ok() {
                    slot.value.store(value, SeqCst);
                    slot.sequence.store(tail + 1, SeqCst);
                    return true;
                }
            } else if sequence < tail {
                if !self.looks_when_full || self.head.load(SeqCst) + CAPACITY == tail {
                    return false;
                }
                spin_loop();
            }
        }
    }

    fn dequeue(&self) -> Option<u8> {
        loop {
            let head = self.head.load(SeqCst);
            let slot = &self.slots[head % CAPACITY];
            let sequence = slot.sequence.load(SeqCst);
            if sequence == head + 1 {
                let claimed = self.head.compare_exchange(head, head + 1, SeqCst, SeqCst);
                if claimed.is_ok() {
                    let value = slot.value.load(SeqCst);
                    slot.sequence.store(head + CAPACITY, SeqCst);
                    return Some(value);
                }
            } else if sequence <= head {
                if !self.looks_when_empty || self.tail.load(SeqCst) == head {
                    return None;
                }
                spin_loop();
            }
        }
    }
}

fn run(looks: (bool, bool), against: Against, effort: Effort) -> RefinementReport {
    let test = refine(move || Queue::new(looks.0, looks.1))
        .op("enqueue", fresh::<u8>(), |queue, value| queue.enqueue(value))
        .op("dequeue", (), |queue, ()| queue.dequeue())
        .threads(2..=2)
        .init(0..=2)
        .post(0..=0);
    let test = effort.of(60, test);
    match against {
        Against::Itself => test.run(),
        Against::Model => models::bounded_queue(test, CAPACITY).run(),
    }
}

/// It is not full, only its first slot is being changed.
pub(super) const FALSE_FULL: Object = Object {
    name: "vyukov_queue_false_full",
    about: "Vyukov's bounded queue, which takes a slot that is being emptied for a full queue",
    outcomes: &refuted(5),
    run: |against, effort| run((false, true), against, effort),
};

/// It is not empty, only its first slot is being changed.
pub(super) const FALSE_EMPTY: Object = Object {
    name: "vyukov_queue_false_empty",
    about: "Vyukov's bounded queue, which takes a slot that is being filled for an empty queue",
    outcomes: &refuted(3),
    run: |against, effort| run((true, false), against, effort),
};

/// It looks at the other end.
pub(super) const CORRECT: Object = Object {
    name: "vyukov_queue_correct",
    about: "Vyukov's bounded queue, which waits for slots that are under way",
    outcomes: super::CORRECT,
    run: |against, effort| run((true, true), against, effort),
};
