//! A work-stealing deque, of which thieves take half of the tasks at once.
//!
//! The owner and a thief of one task meet only at the last task, so only there does the owner compare. A thief of
//! several may take tasks without comparing that the owner has taken in the meantime. In the corrected version they
//! take turns.

use super::{Against, Effort, Object, refuted};
use intermezzo::refinement::{RefinementReport, fresh, refine};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicU8, AtomicUsize, Ordering::SeqCst};
use std::collections::VecDeque;

/// More than the tasks of a scenario.
const SLOTS: usize = 16;

/// The initial tasks, the oldest first.
const AT_FIRST: [u8; 3] = [7, 8, 9];

struct Deque {
    slots: [AtomicU8; SLOTS],
    /// The oldest task: thieves take from here. Never decreased.
    top: AtomicUsize,
    /// The place for the owner's next task.
    bottom: AtomicUsize,
    turns: Mutex<()>,
    in_turn: bool,
}

impl Deque {
    fn new(in_turn: bool) -> Deque {
        let slots = std::array::from_fn(|slot| AtomicU8::new(AT_FIRST.get(slot).copied().unwrap_or(0)));
        Deque {
            slots,
            top: AtomicUsize::new(0),
            bottom: AtomicUsize::new(AT_FIRST.len()),
            turns: Mutex::new(()),
            in_turn,
        }
    }

    fn push(&self, task: u8) {
        let bottom = self.bottom.load(SeqCst);
        self.slots[bottom].store(task, SeqCst);
        self.bottom.store(bottom + 1, SeqCst);
    }

    fn pop(&self) -> Option<u8> {
        let _turn = self.in_turn.then(|| self.turns.lock().unwrap());
        let bottom = self.bottom.load(SeqCst).checked_sub(1)?;
        self.bottom.store(bottom, SeqCst);
        let top = self.top.load(SeqCst);
        if top < bottom {
            return Some(self.slots[bottom].load(SeqCst));
        }
        // The last one: thieves must notice.
        let taken = top == bottom && self.top.compare_exchange(top, top + 1, SeqCst, SeqCst).is_ok();
        self.bottom.store(bottom + 1, SeqCst);
        taken.then(|| self.slots[bottom].load(SeqCst))
    }

    fn steal_half(&self) -> Vec<u8> {
        let _turn = self.in_turn.then(|| self.turns.lock().unwrap());
        loop {
            let top = self.top.load(SeqCst);
            let bottom = self.bottom.load(SeqCst);
            let half = bottom.saturating_sub(top).div_ceil(2);
            let tasks = self.slots[top..top + half].iter().map(|slot| slot.load(SeqCst));
            let tasks: Vec<u8> = tasks.collect();
            let stolen = self.top.compare_exchange(top, top + half, SeqCst, SeqCst);
            if stolen.is_ok() {
                return tasks;
            }
        }
    }
}

fn run(in_turn: bool, against: Against, effort: Effort) -> RefinementReport {
    let test = refine(move || Deque::new(in_turn))
        .op("push", fresh::<u8>(), |deque: &Deque, task| deque.push(task))
        .op("pop", (), |deque, ()| deque.pop())
        .op("steal_half", (), |deque, ()| deque.steal_half())
        .exclusive("owner", ["push", "pop"])
        .threads(2..=2)
        .ops(1..=2)
        .init(0..=0)
        .post(0..=0);
    let test = effort.of(40, test);
    match against {
        Against::Itself => test.run(),
        Against::Model => test
            .spec(|| VecDeque::from(AT_FIRST))
            .means("push", |deque: &mut VecDeque<u8>, task: &u8| {
                deque.push_back(*task)
            })
            .means("pop", |deque, (): &()| deque.pop_back())
            .means("steal_half", |deque, (): &()| {
                deque.drain(..deque.len().div_ceil(2)).collect::<Vec<u8>>()
            })
            .run(),
    }
}

/// A task is taken twice.
pub(super) const BROKEN: Object = Object {
    name: "batch_stealing",
    about: "a work-stealing deque whose thieves take half of the tasks by one compare-exchange",
    outcomes: &refuted(3),
    run: |against, effort| run(false, against, effort),
};

/// One after the other.
pub(super) const CORRECT: Object = Object {
    name: "batch_stealing_correct",
    about: "a work-stealing deque whose owner and thieves take tasks in turn",
    outcomes: super::CORRECT,
    run: |against, effort| run(true, against, effort),
};
