//! Small programs in which threads follow pointers to atomics, exchange them, and free those that they removed.

use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};
use std::thread;

/// Random numbers from a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

/// Two pointers, each to an atomic.
struct Slots([AtomicPtr<AtomicUsize>; 2]);

impl Slots {
    fn follow(&self, slot: usize) {
        let atomic = self.0[slot].load(SeqCst);
        // SAFETY: none if another thread frees it first, which is the bug that the test looks for.
        unsafe { &*atomic }.fetch_add(1, SeqCst);
    }

    fn exchange(&self, slot: usize) -> Box<AtomicUsize> {
        let new = Box::into_raw(Box::new(AtomicUsize::new(0)));
        // SAFETY: the pointer came from a box, and the swap removed it from the slot.
        unsafe { Box::from_raw(self.0[slot].swap(new, SeqCst)) }
    }

    fn act(&self, action: u64) {
        let slot = (action % 2) as usize;
        match action / 2 {
            0 | 1 => self.follow(slot),
            2 => drop(self.exchange(slot)),
            _ => std::mem::forget(self.exchange(slot)),
        }
    }
}

fn program(seed: u64) {
    let mut numbers = Numbers(seed);
    let fresh = || AtomicPtr::new(Box::into_raw(Box::new(AtomicUsize::new(0))));
    let slots = Arc::new(Slots([fresh(), fresh()]));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let actions = [numbers.below(8), numbers.below(8)];
            let slots = slots.clone();
            thread::spawn(move || actions.into_iter().for_each(|action| slots.act(action)))
        })
        .collect();
    slots.act(numbers.below(8));
    for thread in threads {
        thread.join().unwrap();
    }
}

macro_rules! programs {
    ($($name:ident = $seed:expr),*) => {
        $(#[test] fn $name() { program($seed); })*
    };
}

programs! {
    p00 = 0, p01 = 1, p02 = 2, p03 = 3, p04 = 4, p05 = 5, p06 = 6, p07 = 7, p08 = 8, p09 = 9, p10 = 10, p11 = 11,
    p12 = 12, p13 = 13, p14 = 14, p15 = 15, p16 = 16, p17 = 17, p18 = 18, p19 = 19, p20 = 20, p21 = 21, p22 = 22,
    p23 = 23, p24 = 24, p25 = 25, p26 = 26, p27 = 27, p28 = 28, p29 = 29, p30 = 30, p31 = 31, p32 = 32, p33 = 33,
    p34 = 34, p35 = 35, p36 = 36, p37 = 37, p38 = 38, p39 = 39
}
