//! A simple stack in an array, under a lock; and one that releases the lock before it reads the popped value.

use super::{Against, Effort, Object, models, refuted};
use intermezzo::refinement::{RefinementReport, fresh, refine};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicU8, Ordering::SeqCst};

/// More than the values of a scenario.
const SLOTS: usize = 16;

struct Stack {
    /// The number of values.
    top: Mutex<usize>,
    slots: [AtomicU8; SLOTS],
    reads_late: bool,
}

impl Stack {
    fn new(reads_late: bool) -> Stack {
        Stack {
            top: Mutex::new(0),
            slots: [const { AtomicU8::new(0) }; SLOTS],
            reads_late,
        }
    }

    fn push(&self, value: u8) {
        let mut top = self.top.lock().unwrap();
        self.slots[*top].store(value, SeqCst);
        *top += 1;
    }

    fn pop(&self) -> Option<u8> {
        let mut top = self.top.lock().unwrap();
        *top = top.checked_sub(1)?;
        let slot = &self.slots[*top];
        if self.reads_late {
            drop(top);
        }
        Some(slot.load(SeqCst))
    }
}

fn run(reads_late: bool, against: Against, effort: Effort) -> RefinementReport {
    let test = refine(move || Stack::new(reads_late))
        .op("push", fresh::<u8>(), |stack, value| stack.push(value))
        .op("pop", (), |stack, ()| stack.pop())
        .threads(2..=2);
    let test = effort.of(60, test);
    match against {
        Against::Itself => test.run(),
        Against::Model => models::stack(test, &[]).run(),
    }
}

/// A pop returns a value that was pushed in the meantime.
pub(super) const READS_LATE: Object = Object {
    name: "array_stack_reads_late",
    about: "a stack in an array that decrements its top, releases the lock, and then reads",
    outcomes: &refuted(4),
    run: |against, effort| run(true, against, effort),
};

/// All under the lock.
pub(super) const CORRECT: Object = Object {
    name: "array_stack_correct",
    about: "a stack in an array that decrements its top and reads under one lock",
    outcomes: super::CORRECT,
    run: |against, effort| run(false, against, effort),
};
