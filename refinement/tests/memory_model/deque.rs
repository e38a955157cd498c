//! The work-stealing deque of Chase and Lev (SPAA 2005), with the orderings of Lê, Pop, Cohen and Zappa Nardelli (PPoPP 2013).

use crate::known::{Orderings, ROOM, check, small};
use intermezzo_explorer::sync::atomic::{AtomicI64, AtomicU8, Ordering::*};
use intermezzo_refinement::{fresh, refine};
use std::array::from_fn;
use std::collections::VecDeque;

struct Deque {
    top: AtomicI64,
    bottom: AtomicI64,
    items: [AtomicU8; ROOM],
    orderings: Orderings,
}

/// The result of a thief.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stolen {
    Item(u8),
    Empty,
    /// Another task was faster.
    Retry,
}

impl Deque {
    fn new(orderings: Orderings) -> Deque {
        Deque {
            top: AtomicI64::new(0),
            bottom: AtomicI64::new(0),
            items: from_fn(|_| AtomicU8::new(0)),
            orderings,
        }
    }

    fn push(&self, item: u8) {
        let bottom = self.bottom.load(Relaxed);
        self.items[bottom as usize].store(item, Relaxed);
        self.bottom.store(bottom + 1, self.orderings.of(0, Release));
    }

    fn pop(&self) -> Option<u8> {
        let bottom = self.bottom.load(Relaxed) - 1;
        self.bottom.store(bottom, Relaxed);
        self.orderings.fence(1, SeqCst);
        let top = self.top.load(Relaxed);
        if top > bottom {
            self.bottom.store(bottom + 1, Relaxed);
            return None;
        }
        let item = self.items[bottom as usize].load(Relaxed);
        if top < bottom {
            return Some(item);
        }
        let won = self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok();
        self.bottom.store(bottom + 1, Relaxed);
        won.then_some(item)
    }

    fn steal(&self) -> Stolen {
        let top = self.top.load(Acquire);
        self.orderings.fence(2, SeqCst);
        if top >= self.bottom.load(self.orderings.of(3, Acquire)) {
            return Stolen::Empty;
        }
        let item = self.items[top as usize].load(Relaxed);
        match self.top.compare_exchange(top, top + 1, SeqCst, Relaxed) {
            Ok(_) => Stolen::Item(item),
            Err(_) => Stolen::Retry,
        }
    }
}

#[test]
fn a_chase_lev_deque() {
    check(4, |orderings, configure| {
        let test = refine(move || Deque::new(orderings))
            .op("push", fresh::<u8>(), |deque, item| deque.push(item))
            .op("pop", (), |deque, ()| deque.pop())
            .op("steal", (), |deque, ()| deque.steal())
            .exclusive("owner", ["push", "pop"])
            // The thief takes both items. The owner does not see that, and takes the second one, too.
            .pin(|scenario| {
                scenario
                    .init("push", 1u8)
                    .init("push", 2u8)
                    .task(|task| task.op("pop", ()))
                    .task(|task| task.op("steal", ()).op("steal", ()))
            });
        small(test, configure)
            .scenarios(6)
            .spec(VecDeque::new)
            .means("push", |items: &mut VecDeque<u8>, item: &u8| {
                items.push_back(*item)
            })
            .means("pop", |items: &mut VecDeque<u8>, (): &()| items.pop_back())
            .may("steal", |items: &VecDeque<u8>, (): &()| {
                let mut left = items.clone();
                let stolen = left.pop_front().map_or(Stolen::Empty, Stolen::Item);
                vec![(left, stolen), (items.clone(), Stolen::Retry)]
            })
            .run()
    });
}
