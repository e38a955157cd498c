//! Objects that have no room for an identity: their variables are found by their addresses, in a table of the
//! execution.
//!
//! Code that was not written for intermezzo relies on the layout of std's atomics: it transmutes them, creates them by
//! zeroing memory, or makes one from a pointer. So an object may have [`ByAddress`] as its identity, which takes no
//! room. It is the same variable as every other object at its address, and becomes another variable if it is moved:
//!
//! - **Memory that is used again** within an execution, as on the stack of a task, keeps its variable. A later object
//!   there has the name of the first one, and operations on the two count as dependent, which is sound. Its values are
//!   not shown if those of the first one were addresses. A memory model also offers the stores to the first one, and a
//!   monitor of plain memory may report a race with an access to it.
//! - **Freed memory** in which an object was used keeps no variable: a later use is a finding. If the environment gives
//!   the memory out again, a later object there is another variable.
//! - **Overlapping objects** are the same variable if they begin at the same address, whatever their sizes. Otherwise
//!   they are different variables, and the dependence of operations on them is missed.
//! - **An object that was carried into the execution** is not recognised.

use super::object::{Body, Identity, Object};
use super::{Engine, VarKind};
use crate::record::VAR_BITS;
use std::sync::atomic::AtomicU64;

/// The identity of an object that has no room for one. It takes no room, and aligns the object as an `A`.
pub struct ByAddress<A = ()>([A; 0]);

impl<A> Identity for ByAddress<A> {
    const UNUSED: ByAddress<A> = ByAddress([]);

    #[inline(always)]
    fn word(&self) -> Option<&AtomicU64> {
        None
    }

    #[inline(always)]
    fn var_of<B: Body + ?Sized>(object: &Object<B, Self>, engine: Engine) -> Option<u32> {
        engine.var_at_home(Key::of(object))
    }

    fn find<B: Body + ?Sized>(object: &Object<B, Self>, engine: Engine) -> Option<u32> {
        engine.var_at(Key::of(object))
    }

    fn bind<B: Body + ?Sized>(object: &Object<B, Self>, engine: Engine, var: u32) -> u64 {
        let key = Key::of(object);
        engine.with(|rt| {
            rt.objects.by_address.add(key, rt.objects.epoch(), var);
            rt.objects.by_address.note(key);
        });
        0
    }
}

impl Engine {
    /// Returns the variable of an object, if it is in the first slot of its probe sequence.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline(always))]
    fn var_at_home(self, key: Key) -> Option<u32> {
        self.quick(|rt| rt.objects.by_address.find_at_home(key, rt.objects.epoch()))
    }

    /// Returns the variable of an object.
    fn var_at(self, key: Key) -> Option<u32> {
        self.with(|rt| {
            let epoch = rt.objects.epoch();
            let table = &mut rt.objects.by_address;
            if let Some(var) = table.find(key, epoch) {
                return Some(var);
            }
            let var = table.find(key.of_other_kind(), epoch)?;
            table.add(key, epoch, var);
            rt.objects.vars[var].holds_address = true;
            Some(var)
        })
    }
}

/// The address of an object, with a bit that is set if the object holds an address.
///
/// The values of such variables are not shown. Because of the bit, the first use of an address as the other kind is
/// noticed, at no cost for later uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key(u64);

impl Key {
    /// The bit; no address of a program has it.
    const POINTER: u64 = 1 << 63;

    /// The bit of a reference count of std's at an address.
    #[allow(dead_code, reason = "for the feature `unmodified`")]
    const COUNT: u64 = 1 << 62;

    /// The key of no object.
    const NONE: Key = Key(u64::MAX);

    #[inline(always)]
    fn of<B: Body + ?Sized, I: Identity>(object: &Object<B, I>) -> Key {
        const {
            // Both kinds have no gates, so that one can take over the other's variable.
            assert!(matches!(B::KIND, VarKind::Atomic | VarKind::Pointer));
        }
        let bit = match B::KIND {
            VarKind::Pointer => Key::POINTER,
            _ => 0,
        };
        Key(object.body_address() as u64 | bit)
    }

    /// Returns the key of a reference count of std's at this address.
    #[allow(dead_code, reason = "for the feature `unmodified`")]
    fn of_count(address: usize) -> Key {
        Key(address as u64 | Key::COUNT)
    }

    /// Returns the key of an object of the other kind at the same address.
    fn of_other_kind(self) -> Key {
        Key(self.0 ^ Key::POINTER)
    }
}

/// A place in the table.
#[derive(Clone, Copy)]
struct Slot {
    key: Key,
    /// The epoch of the execution, and the variable: in the form of an embedded identity. If the epoch is not the
    /// current one, the slot is free.
    id: u64,
}

/// The variables of objects without an identity of their own, by address: open addressing, with linear probing.
///
/// Nothing is cleared between two executions. Within one, an object whose memory is freed loses its key, and its slot
/// stays in use.
pub(super) struct ByAddressTable {
    /// At most half of them are in use, and their number is a power of two.
    slots: Box<[Slot]>,
    /// The number of low bits of a hash that are shifted out to get an index.
    shift: u32,
    /// The number of slots of this execution.
    used: usize,
    /// The addresses of objects of this execution, and of those whose memory was freed, in order.
    addresses: Vec<usize>,
    freed: Vec<usize>,
}

/// The logarithm of the smallest number of slots.
const SLOTS_LOG: u32 = 8;

impl ByAddressTable {
    pub(super) fn new() -> ByAddressTable {
        ByAddressTable::of_size(SLOTS_LOG)
    }

    fn of_size(log: u32) -> ByAddressTable {
        // No execution has epoch 0.
        let free = Slot { key: Key(0), id: 0 };
        ByAddressTable {
            slots: vec![free; 1 << log].into_boxed_slice(),
            shift: u64::BITS - log,
            used: 0,
            addresses: Vec::new(),
            freed: Vec::new(),
        }
    }

    /// Resets the state for a new execution, which has another epoch.
    pub(super) fn begin(&mut self) {
        self.used = 0;
        self.addresses.clear();
        self.freed.clear();
    }

    /// Returns `true` if an object in this memory is used.
    #[cfg(feature = "unmodified")]
    pub(super) fn any_in(&self, memory: &std::ops::Range<usize>) -> bool {
        let first = self.addresses.partition_point(|&address| address < memory.start);
        self.addresses
            .get(first)
            .is_some_and(|address| memory.contains(address))
    }

    /// Notes that memory is freed, which removes the objects in it, but not the counts. Calls the closure with the
    /// variable of each.
    #[cfg(feature = "unmodified")]
    pub(super) fn free(&mut self, memory: std::ops::Range<usize>, epoch: u64, mut each: impl FnMut(u32)) {
        let first = self.addresses.partition_point(|&address| address < memory.start);
        while let Some(&address) = self.addresses.get(first).filter(|at| memory.contains(at)) {
            self.addresses.remove(first);
            insert(&mut self.freed, address);
            let key = Key(address as u64);
            for key in [key, key.of_other_kind()] {
                if let Some(var) = self.find(key, epoch) {
                    each(var);
                    self.forget(key, epoch);
                }
            }
            self.count_at(address, epoch).into_iter().for_each(&mut each);
        }
    }

    /// Removes the key from the slot that has it. The slot stays in use, so that the keys after it are still found.
    #[cfg(feature = "unmodified")]
    fn forget(&mut self, key: Key, epoch: u64) {
        let mut at = self.home(key);
        while self.slots[at].id >> VAR_BITS == epoch {
            if self.slots[at].key == key {
                self.slots[at].key = Key::NONE;
                return;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Notes that memory that was freed is given out again: what is there now is new.
    #[cfg(feature = "unmodified")]
    #[allow(dead_code, reason = "for systems with an arena")]
    pub(super) fn use_again(&mut self, memory: std::ops::Range<usize>, epoch: u64) {
        let first = self.freed.partition_point(|&address| address < memory.start);
        let last = self.freed.partition_point(|&address| address < memory.end);
        // The addresses of counts are among them.
        let gone: Vec<usize> = self.freed.drain(first..last).collect();
        for address in gone {
            self.forget(Key::of_count(address), epoch);
        }
    }

    /// Returns `true` if an object at this address was used before its memory was freed.
    pub(super) fn is_freed(&self, address: usize) -> bool {
        self.freed.binary_search(&address).is_ok()
    }

    /// Returns the index of the first slot in the probe sequence of this key (Fibonacci hashing: Knuth, volume 3,
    /// section 6.4).
    #[inline(always)]
    fn home(&self, key: Key) -> usize {
        (key.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// Returns the variable of an object, if it is in the first slot of its probe sequence. Most are, and the others
    /// are left to [`Self::find`], so that the code at each operation is small.
    #[inline(always)]
    fn find_at_home(&self, key: Key, epoch: u64) -> Option<u32> {
        // SAFETY: the hash was shifted, so it is less than the number of slots.
        let slot = unsafe { self.slots.get_unchecked(self.home(key)) };
        if slot.key == key && slot.id >> VAR_BITS == epoch {
            Some(var_of(slot.id))
        } else {
            None
        }
    }

    /// Returns the variable of an object.
    fn find(&self, key: Key, epoch: u64) -> Option<u32> {
        let mut at = self.home(key);
        loop {
            let slot = &self.slots[at];
            if slot.id >> VAR_BITS != epoch {
                return None;
            }
            if slot.key == key {
                return Some(var_of(slot.id));
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Adds the variable of an object that has none.
    fn add(&mut self, key: Key, epoch: u64, var: u32) {
        if self.used == self.slots.len() / 2 {
            self.grow(epoch);
        }
        let mut at = self.home(key);
        while self.slots[at].id >> VAR_BITS == epoch {
            assert!(self.slots[at].key != key, "an address has one variable");
            at = (at + 1) & (self.slots.len() - 1);
        }
        let id = epoch << VAR_BITS | u64::from(var);
        self.slots[at] = Slot { key, id };
        self.used += 1;
    }

    /// Returns the variable of a reference count of std's at this address.
    #[allow(dead_code, reason = "for the feature `unmodified`")]
    pub(super) fn count_at(&self, address: usize, epoch: u64) -> Option<u32> {
        self.find(Key::of_count(address), epoch)
    }

    /// Adds the variable of a count that has none.
    #[allow(dead_code, reason = "for the feature `unmodified`")]
    pub(super) fn add_count(&mut self, address: usize, epoch: u64, var: u32) {
        self.add(Key::of_count(address), epoch, var);
        insert(&mut self.addresses, address);
    }

    /// Notes the address of an object that is used first.
    fn note(&mut self, key: Key) {
        insert(&mut self.addresses, (key.0 & !Key::POINTER) as usize);
    }

    #[cold]
    fn grow(&mut self, epoch: u64) {
        let larger = ByAddressTable::of_size(u64::BITS - self.shift + 1);
        let smaller = std::mem::replace(self, larger);
        (self.addresses, self.freed) = (smaller.addresses, smaller.freed);
        let is_in_use = |slot: &&Slot| slot.id >> VAR_BITS == epoch && slot.key != Key::NONE;
        for slot in smaller.slots.iter().filter(is_in_use) {
            self.add(slot.key, epoch, var_of(slot.id));
        }
    }
}

/// Inserts an address into a sorted list.
fn insert(addresses: &mut Vec<usize>, address: usize) {
    let at = addresses.partition_point(|&known| known < address);
    if addresses.get(at) != Some(&address) {
        addresses.insert(at, address);
    }
}

/// Returns the variable in an identity.
#[inline(always)]
fn var_of(id: u64) -> u32 {
    (id & ((1 << VAR_BITS) - 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use std::collections::HashMap;

    const EPOCH: u64 = 5;

    /// Returns a key whose search begins at this slot of a table of the smallest size.
    fn key_at(home: usize, after: u64) -> Key {
        let table = ByAddressTable::new();
        (after + 1..)
            .map(Key)
            .find(|&key| table.home(key) == home)
            .unwrap()
    }

    #[test]
    fn an_identity_by_address_takes_no_room() {
        assert_eq!(size_of::<ByAddress>(), 0);
        assert_eq!(align_of::<ByAddress>(), 1);
        assert_eq!(size_of::<ByAddress<u64>>(), 0);
        assert_eq!(align_of::<ByAddress<u64>>(), align_of::<u64>());
    }

    #[test]
    fn keys_that_collide_are_distinguished() {
        let mut table = ByAddressTable::new();
        // The last slot: the search continues at the first one.
        let last = (1 << SLOTS_LOG) - 1;
        let mut keys = vec![key_at(last, 0)];
        for _ in 1..5 {
            keys.push(key_at(last, keys.last().unwrap().0));
        }
        for (var, &key) in (0..).zip(&keys) {
            assert_eq!(table.find(key, EPOCH), None);
            table.add(key, EPOCH, var);
        }
        for (var, &key) in (0..).zip(&keys) {
            assert_eq!(table.find(key, EPOCH), Some(var));
            assert_eq!(table.find_at_home(key, EPOCH), (var == 0).then_some(0));
        }
        assert_eq!(table.find(key_at(last, keys[4].0), EPOCH), None);
        // The search for a key of its own slot passes those that did not fit theirs.
        let displaced = key_at(1, 0);
        table.add(displaced, EPOCH, 7);
        assert_eq!(table.find(displaced, EPOCH), Some(7));
    }

    #[test]
    fn the_entries_of_an_earlier_execution_are_free() {
        let mut table = ByAddressTable::new();
        let (a, b) = (key_at(3, 0), key_at(3, key_at(3, 0).0));
        table.add(a, EPOCH, 1);
        table.add(b, EPOCH, 2);
        table.begin();
        assert_eq!(table.find(a, EPOCH + 1), None);
        assert_eq!(table.find_at_home(a, EPOCH + 1), None);
        // It takes the slot of the other, which is no longer found.
        table.add(b, EPOCH + 1, 1);
        assert_eq!(table.find(b, EPOCH + 1), Some(1));
        assert_eq!(table.find(a, EPOCH + 1), None);
        // Executions are not counted together.
        for execution in 2..100 {
            table.begin();
            for n in 0..100 {
                table.add(Key(n * 8), EPOCH + execution, n as u32);
            }
        }
        assert_eq!(table.slots.len(), 1 << SLOTS_LOG);
    }

    #[test]
    fn the_table_grows_when_it_is_half_full() {
        let mut table = ByAddressTable::new();
        table.add(Key(4), EPOCH - 1, 0);
        table.begin();
        for n in 0..128 {
            table.add(Key(0x7fff_0000 + n * 8), EPOCH, n as u32);
        }
        assert_eq!(table.slots.len(), 256);
        table.add(Key(1), EPOCH, 128);
        assert_eq!(table.slots.len(), 512);
        for n in 0..128 {
            assert_eq!(table.find(Key(0x7fff_0000 + n * 8), EPOCH), Some(n as u32));
        }
        assert_eq!(table.find(Key(1), EPOCH), Some(128));
        assert_eq!(table.find(Key(4), EPOCH), None);
        assert_eq!(table.used, 129);
    }

    #[cfg(feature = "unmodified")]
    #[test]
    fn objects_in_freed_memory_are_forgotten() {
        let mut table = ByAddressTable::new();
        for n in 0..100 {
            table.add(Key(n * 8), EPOCH, n as u32);
            table.note(Key(n * 8));
        }
        let mut freed = Vec::new();
        table.free(80..161, EPOCH, |var| freed.push(var));
        freed.sort_unstable();
        assert_eq!(freed, (10..=20).collect::<Vec<u32>>());
        for n in 100..300 {
            table.add(Key(n * 8), EPOCH, n as u32);
        }
        for n in 0..300 {
            let is_freed = (10..=20).contains(&n);
            assert_eq!(table.is_freed(n as usize * 8), is_freed);
            assert_eq!(table.find(Key(n * 8), EPOCH), (!is_freed).then_some(n as u32));
        }
        table.begin();
        assert!(!table.is_freed(80));
    }

    #[test]
    fn the_table_is_a_map() {
        for seed in 0..100 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut table = ByAddressTable::new();
            for epoch in 1..6 {
                table.begin();
                let mut map = HashMap::new();
                for _ in 0..random.random_range(0..2000) {
                    // Neighbours, of both kinds.
                    let address = 0x5555_0000 + random.random_range(0..1000) * 4;
                    let key = Key(address | if random.random() { Key::POINTER } else { 0 });
                    assert_eq!(table.find(key, epoch), map.get(&key.0).copied(), "seed {seed}");
                    let at_home = table.find_at_home(key, epoch);
                    assert!(
                        at_home.is_none() || at_home == map.get(&key.0).copied(),
                        "seed {seed}"
                    );
                    if let std::collections::hash_map::Entry::Vacant(entry) = map.entry(key.0) {
                        let var = table.used as u32;
                        entry.insert(var);
                        table.add(key, epoch, var);
                    }
                }
                assert_eq!(table.used, map.len());
            }
        }
    }
}
