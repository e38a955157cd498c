//! The work-stealing deque of Chase and Lev (SPAA 2005), on an array that does not grow, with the orderings of
//! Lê, Pop, Cohen and Zappa Nardelli (PPoPP 2013).

use super::scaffold::{in_tasks, zeros};
use super::support::CALM_2;
use crate::{Expected, Program};
use intermezzo::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use intermezzo::sync::atomic::{AtomicI64, AtomicUsize, fence};

/// Room for all pushed items.
const SIZE: usize = 4;
/// Items pushed.
const ITEMS: usize = 3;

/// The code between the owner's claim and its load of the items that thieves have taken.
type Between = fn();

struct Deque {
    /// In `pop`.
    between: Between,
    top: AtomicI64,
    bottom: AtomicI64,
    items: [AtomicUsize; SIZE],
}

impl Deque {
    fn push(&self, item: usize) {
        let bottom = self.bottom.load(Relaxed);
        assert!(bottom - self.top.load(Acquire) < SIZE as i64, "all fits");
        self.items[bottom as usize % SIZE].store(item, Relaxed);
        self.bottom.store(bottom + 1, Release);
    }

    fn pop(&self) -> Option<usize> {
        let bottom = self.bottom.load(Relaxed) - 1;
        self.bottom.store(bottom, Relaxed);
        (self.between)();
        let top = self.top.load(Relaxed);
        if top > bottom {
            self.bottom.store(bottom + 1, Relaxed);
            return None;
        }
        let item = self.items[bottom as usize % SIZE].load(Relaxed);
        if top < bottom {
            return Some(item);
        }
        // The last one: thieves may want it as well.
        let won = self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok();
        self.bottom.store(bottom + 1, Relaxed);
        won.then_some(item)
    }

    fn steal(&self) -> Option<usize> {
        let top = self.top.load(Acquire);
        fence(SeqCst);
        if top >= self.bottom.load(Acquire) {
            return None;
        }
        let item = self.items[top as usize % SIZE].load(Relaxed);
        let won = self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok();
        won.then_some(item)
    }
}

/// One owner, two thieves.
pub(super) const DEQUE: Program = Program {
    name: "dq",
    about: "Chase and Lev's deque: its owner pushes twice, pops and pushes; one thief steals twice, another \
            once; no item is taken twice",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |_| run(|| fence(SeqCst)),
};

/// The same without the owner's fence: with store buffers, a thief may take what the owner has claimed.
pub(super) const UNFENCED: Program = Program {
    name: "dq_unfenced",
    about: "the same without the fence in pop: right under sequential consistency, wrong with store buffers",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |_| run(|| ()),
};

fn run(between: Between) {
    let deque = Deque {
        between,
        top: AtomicI64::new(0),
        bottom: AtomicI64::new(0),
        items: zeros(),
    };
    let taken = zeros::<ITEMS>();
    let take = |item: Option<usize>| {
        if let Some(item) = item {
            assert_eq!(taken[item].fetch_add(1, Relaxed), 0, "item {item} is taken twice");
        }
    };
    in_tasks([
        &|| {
            deque.push(0);
            deque.push(1);
            take(deque.pop());
            deque.push(2);
        },
        &|| {
            take(deque.steal());
            take(deque.steal());
        },
        &|| take(deque.steal()),
    ]);
}
