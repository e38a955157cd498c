//! The work-stealing deque of Cilk (the THE protocol), as CHESS tested it, with a bug in its growth: with a
//! mutex, and with a spin lock.

use crate::{Expected, Parameter, Program};
use intermezzo::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::SeqCst};
use intermezzo::sync::{Mutex, MutexGuard};
use intermezzo::thread;
use std::time::Duration;

/// Capacity to begin with: so small that the second push is the interesting one.
const CAPACITY: usize = 2;
/// Items pushed.
const ITEMS: usize = 4;
/// Room for the array to grow.
const CAPACITY_MAX: usize = 8;

/// A lock that thieves and a contended owner take in turn.
trait Lock: Default + Sync {
    type Held<'a>
    where
        Self: 'a;
    /// Waits for the lock, which is released when the result is dropped.
    fn enter(&self) -> Self::Held<'_>;
}

impl Lock for Mutex<()> {
    type Held<'a> = MutexGuard<'a, ()>;
    fn enter(&self) -> MutexGuard<'_, ()> {
        self.lock().unwrap()
    }
}

/// A lock of one exchange, with a sleep after each that fails.
#[derive(Default)]
struct SpinLock {
    taken: AtomicBool,
}

impl Lock for SpinLock {
    type Held<'a> = SpinGuard<'a>;
    fn enter(&self) -> SpinGuard<'_> {
        while self.taken.swap(true, SeqCst) {
            thread::sleep(Duration::ZERO);
        }
        SpinGuard(self)
    }
}

struct SpinGuard<'a>(&'a SpinLock);

impl Drop for SpinGuard<'_> {
    fn drop(&mut self) {
        self.0.taken.store(false, SeqCst);
    }
}

/// A double-ended queue: its owner pushes and pops at the tail, thieves steal at the head.
struct Deque<L> {
    head: AtomicI64,
    tail: AtomicI64,
    mask: AtomicI64,
    elements: [AtomicUsize; CAPACITY_MAX],
    lock: L,
    /// The items beyond `mask` to which the array may fill before a push takes the lock: 0 is right, 1 loses items.
    slack: i64,
}

impl<L: Lock> Deque<L> {
    fn new(slack: i64) -> Deque<L> {
        Deque {
            head: AtomicI64::new(0),
            tail: AtomicI64::new(0),
            mask: AtomicI64::new(CAPACITY as i64 - 1),
            elements: [const { AtomicUsize::new(0) }; CAPACITY_MAX],
            lock: L::default(),
            slack,
        }
    }

    fn element(&self, at: i64) -> &AtomicUsize {
        &self.elements[(at & self.mask.load(SeqCst)) as usize]
    }

    fn push(&self, item: usize) {
        let tail = self.tail.load(SeqCst);
        if tail < self.head.load(SeqCst) + self.mask.load(SeqCst) + self.slack {
            self.element(tail).store(item, SeqCst);
            self.tail.store(tail + 1, SeqCst);
            return;
        }
        let _held = self.lock.enter();
        // Normalise, so that the items are at 0 ..count, and grow if they fill the array.
        let head = self.head.load(SeqCst);
        let count = tail - head;
        let items: Vec<usize> = (head..tail).map(|at| self.element(at).load(SeqCst)).collect();
        self.head.store(0, SeqCst);
        self.tail.store(count, SeqCst);
        let mask = self.mask.load(SeqCst);
        if count >= mask {
            let grown = mask * 2 + 1;
            assert!(
                (grown as usize) < CAPACITY_MAX,
                "the test pushes no more than fits"
            );
            self.mask.store(grown, SeqCst);
        }
        for (at, &item) in (0..).zip(&items) {
            self.element(at).store(item, SeqCst);
        }
        self.element(count).store(item, SeqCst);
        self.tail.store(count + 1, SeqCst);
    }

    fn pop(&self) -> Option<usize> {
        let tail = self.tail.load(SeqCst) - 1;
        self.tail.store(tail, SeqCst);
        if self.head.load(SeqCst) <= tail {
            return Some(self.element(tail).load(SeqCst));
        }
        // The last item may be contended: again, under the lock.
        self.tail.store(tail + 1, SeqCst);
        let _held = self.lock.enter();
        let tail = self.tail.load(SeqCst) - 1;
        self.tail.store(tail, SeqCst);
        let head = self.head.load(SeqCst);
        if head <= tail {
            return Some(self.element(tail).load(SeqCst));
        }
        // Empty.
        self.head.store(0, SeqCst);
        self.tail.store(0, SeqCst);
        None
    }

    fn steal(&self) -> Option<usize> {
        let _held = self.lock.enter();
        let head = self.head.load(SeqCst);
        self.head.store(head + 1, SeqCst);
        if head < self.tail.load(SeqCst) {
            return Some(self.element(head).load(SeqCst));
        }
        self.head.store(head, SeqCst);
        None
    }
}

/// Counts that an item was taken.
fn take(taken: &[AtomicUsize; ITEMS], item: Option<usize>) {
    if let Some(item) = item {
        taken[item].fetch_add(1, SeqCst);
    }
}

fn run<L: Lock>(slack: i64, values: &[u64]) {
    let &[thieves, attempts] = values else {
        unreachable!("two parameters")
    };
    let deque = Deque::<L>::new(slack);
    let taken = [const { AtomicUsize::new(0) }; ITEMS];
    thread::scope(|scope| {
        for _ in 0..thieves {
            scope.spawn(|| (0..attempts).for_each(|_| take(&taken, deque.steal())));
        }
        for pair in 0..ITEMS / 2 {
            deque.push(2 * pair);
            deque.push(2 * pair + 1);
            take(&taken, deque.pop());
        }
        take(&taken, deque.pop());
        take(&taken, deque.pop());
    });
    for (item, count) in taken.into_iter().enumerate() {
        assert_eq!(count.into_inner(), 1, "how often item {item} was taken");
    }
}

/// The published program has two thieves; one suffices for the bug, and is explored in seconds.
const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "thieves",
        default: 1,
        range: (1, 3),
        about: "tasks that steal",
    },
    Parameter {
        name: "attempts",
        default: 2,
        range: (1, 4),
        about: "attempts of each to steal",
    },
];

/// An item is lost, or taken twice.
pub(super) const BROKEN: Program = Program {
    name: "work_stealing_queue",
    about: "Cilk's work-stealing deque, whose push overwrites an item when a thief is in between \
            (CHESS; SCTBench chess.WSQ with two thieves)",
    parameters: PARAMETERS,
    settings: &[("preemptions", "2")],
    expected: Expected::Fail("assertion"),
    body: |values| run::<Mutex<()>>(1, values),
};

/// Its twin with the right test in `push`.
pub(super) const FIXED: Program = Program {
    name: "work_stealing_queue_fixed",
    about: "the same deque, corrected",
    parameters: PARAMETERS,
    settings: &[("preemptions", "2")],
    expected: Expected::Pass,
    body: |values| run::<Mutex<()>>(0, values),
};

/// The same with a lock that is polled.
pub(super) const SPINNING_BROKEN: Program = Program {
    name: "spinning_work_stealing_queue",
    about: "the same deque with a spin lock that sleeps (SCTBench chess.IWSQ with two thieves)",
    parameters: PARAMETERS,
    settings: &[("preemptions", "2")],
    expected: Expected::Fail("assertion"),
    body: |values| run::<SpinLock>(1, values),
};

/// Its twin with the right test in `push`.
pub(super) const SPINNING_FIXED: Program = Program {
    name: "spinning_work_stealing_queue_fixed",
    about: "the same deque with a spin lock, corrected",
    parameters: PARAMETERS,
    settings: &[("preemptions", "2")],
    expected: Expected::Pass,
    body: |values| run::<SpinLock>(0, values),
};
