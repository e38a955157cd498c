//! Memory that tasks share, and dozens of places in the source, so that each access of a program has its own.

use intermezzo::cell::{ByPointer, UnsafeCell};
use intermezzo::ptr;
use intermezzo::sync::atomic::{AtomicU8, Ordering};

/// The number of places for each way to access memory.
pub(crate) const SLOTS: usize = 24;

/// A cell that is shared without any synchronisation, for a monitor to notice.
#[derive(Default)]
pub(crate) struct Shared(UnsafeCell<u8>);

// SAFETY: all tasks of an exploration take turns on one thread.
unsafe impl Sync for Shared {}

type OfCell = fn(&UnsafeCell<u8>);

impl Shared {
    /// Writes at the place with this number.
    pub(crate) fn write(&self, slot: usize) {
        WRITES[slot](&self.0);
    }

    /// Reads at the place with this number.
    pub(crate) fn read(&self, slot: usize) {
        READS[slot](&self.0);
    }

    /// Writes at the place with this number, by a pointer of `get`.
    pub(crate) fn write_by_pointer(&self, slot: usize) {
        WRITES_BY_POINTER[slot](&self.0);
    }

    /// Reads at the place with this number, by a pointer of `get`.
    pub(crate) fn read_by_pointer(&self, slot: usize) {
        READS_BY_POINTER[slot](&self.0);
    }
}

/// An atomic that is also accessed plainly.
#[derive(Default)]
pub(crate) struct Racy(std::cell::UnsafeCell<AtomicU8>);

// SAFETY: as above.
unsafe impl Sync for Racy {}

type OfAtomic = fn(&mut AtomicU8);

impl Racy {
    fn get(&self) -> &AtomicU8 {
        // SAFETY: no reference of `plainly` exists at the same time: a task that has one runs alone.
        unsafe { &*self.0.get() }
    }

    /// Writes the current value, plainly, at the place with this number.
    pub(crate) fn write_plainly(&self, slot: usize) {
        // SAFETY: the reference lives for this call, in which no other task runs.
        WRITES_OF_ATOMIC[slot](unsafe { &mut *self.0.get() });
    }

    /// Reads plainly at the place with this number.
    pub(crate) fn read_plainly(&self, slot: usize) {
        // SAFETY: as above.
        READS_OF_ATOMIC[slot](unsafe { &mut *self.0.get() });
    }

    /// Loads, at the only place for loads.
    pub(crate) fn load(&self, order: Ordering) -> u8 {
        LOADS(self.get(), order)
    }

    /// Stores, at the only place for stores.
    pub(crate) fn store(&self, value: u8, order: Ordering) {
        STORES(self.get(), value, order);
    }

    /// Adds 1, at the only place for additions.
    pub(crate) fn add(&self, order: Ordering) -> u8 {
        ADDS(self.get(), order)
    }

    /// Replaces 1 by 2, at the only place for exchanges.
    pub(crate) fn exchange(&self, success: Ordering, failure: Ordering) -> Result<u8, u8> {
        EXCHANGES(self.get(), success, failure)
    }
}

/// The places of atomic operations, after all others.
pub(crate) const LOAD: usize = SLOTS;
pub(crate) const STORE: usize = SLOTS + 1;
pub(crate) const ADD: usize = SLOTS + 2;
pub(crate) const EXCHANGE: usize = SLOTS + 3;

/// Returns the number of the place on this line.
pub(crate) fn slot_of(line: usize) -> usize {
    let belows = [
        WRITES_BELOW,
        READS_BELOW,
        WRITES_BY_POINTER_BELOW,
        READS_BY_POINTER_BELOW,
        WRITES_OF_ATOMIC_BELOW,
        READS_OF_ATOMIC_BELOW,
    ];
    let below = belows.into_iter().filter(|below| (*below as usize) < line).max();
    match below {
        // The line of the list itself is in between.
        Some(below) => line - below as usize - 2,
        None => SLOTS + line - ATOMICALLY_BELOW as usize - 1,
    }
}

/// Adds 1 to the value at the pointer.
fn increment(value: *mut u8) {
    // SAFETY: the pointer leads into a live cell and is used at once, while no other task runs.
    unsafe { *value = (*value).wrapping_add(1) };
}

/// Reads the value at the pointer.
fn look(value: *const u8) {
    // SAFETY: as above.
    std::hint::black_box(unsafe { *value });
}

#[track_caller]
fn read_plainly(atomic: &AtomicU8) {
    // SAFETY: as above, of an atomic.
    std::hint::black_box(unsafe { ptr::read(atomic.as_ptr()) });
}

type Exchange = fn(&AtomicU8, Ordering, Ordering) -> Result<u8, u8>;

const ATOMICALLY_BELOW: u32 = line!();
const LOADS: fn(&AtomicU8, Ordering) -> u8 = |atomic, order| atomic.load(order);
const STORES: fn(&AtomicU8, u8, Ordering) = |atomic, value, order| atomic.store(value, order);
const ADDS: fn(&AtomicU8, Ordering) -> u8 = |atomic, order| atomic.fetch_add(1, order);
const EXCHANGES: Exchange = |atomic, success, failure| atomic.compare_exchange(1, 2, success, failure);

const WRITES_BELOW: u32 = line!();
const WRITES: [OfCell; SLOTS] = [
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
    |cell| cell.with_mut(increment),
];

const READS_BELOW: u32 = line!();
const READS: [OfCell; SLOTS] = [
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
    |cell| cell.with(look),
];

const WRITES_BY_POINTER_BELOW: u32 = line!();
const WRITES_BY_POINTER: [OfCell; SLOTS] = [
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
    |cell| increment(cell.get()),
];

const READS_BY_POINTER_BELOW: u32 = line!();
const READS_BY_POINTER: [OfCell; SLOTS] = [
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
    |cell| look(cell.get()),
];

const WRITES_OF_ATOMIC_BELOW: u32 = line!();
const WRITES_OF_ATOMIC: [OfAtomic; SLOTS] = [
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
    |atomic| *atomic.get_mut() |= 0,
];

const READS_OF_ATOMIC_BELOW: u32 = line!();
const READS_OF_ATOMIC: [OfAtomic; SLOTS] = [
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
    |atomic| read_plainly(atomic),
];
