//! Accesses by address that are held back: those to memory that one task alone has used so far in the execution.
//!
//! Most memory is used by one task. Its accesses race with none, so monitors need not be notified of them. When a
//! second task accesses the memory, the first one's accesses are published late, before the second one's, each as of
//! the event that it followed. Monitors keep the last access of each task, place and kind, and so does this module, so
//! the delay makes no difference to them. An access that repeats one since the task's last event is not published
//! twice.
//!
//! Memory is divided into pieces of eight bytes, as elsewhere, and each piece has a slot in a table of the execution.
//! From the first use of an atomic in a piece, accesses to it are no longer held back but published at once. Earlier
//! plain accesses to the atomic's bytes, such as those that initialised it, are published as accesses to the atomic.
//!
//! A write of the allocator (`filled`) is the first access that is held back for a piece.

use super::super::{Engine, Runtime};
use super::filled::Filled;
use super::memory::{DataAccess, Does, GRANULE};
use super::record::Memory;
use crate::site::Site;
use intermezzo_sdk::{DataVarAccess, EventId, Location, MemoryDeed, MemoryOrder, SyncVar, TaskId};
use smallvec::SmallVec;

/// The number of accesses that are held back for a piece.
const HELD_MAX: usize = 4;

/// The logarithm of the smallest number of slots.
const SLOTS_LOG: u32 = 8;

/// An access to some bytes of a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) site: Site,
    pub(super) task: u32,
    /// The last event of its task.
    pub(super) after: u32,
    /// The number of accesses in the execution, with this one.
    pub(super) when: u64,
    pub(super) from: u8,
    pub(super) to: u8,
    pub(super) is_write: bool,
    pub(super) frees: bool,
}

impl Held {
    /// Returns `true` if the two differ at most in when they happened.
    fn is_like(&self, other: &Held) -> bool {
        self.task == other.task
            && self.site.is_same_word(other.site)
            && (self.from, self.to, self.is_write, self.frees)
                == (other.from, other.to, other.is_write, other.frees)
    }
}

/// The use of a piece so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// By one task: its accesses are held back.
    OneTask(u32),
    /// By several tasks. The kept accesses have been published.
    Shared(Location),
    /// An atomic is in it.
    Atomic,
}

/// A piece of memory.
#[derive(Clone, Copy)]
struct Slot {
    address: usize,
    /// The epoch of the execution that used the slot. If that is not the current one, the slot is free.
    epoch: u64,
    used_by: Use,
    count: u8,
    /// The index in `accesses` of the entry to overwrite next when all are in use.
    oldest: u8,
    accesses: [Held; HELD_MAX],
}

impl Slot {
    /// Keeps an access. Returns `false` if one like it was kept since the same event.
    fn keep(&mut self, access: Held) -> bool {
        let kept = &mut self.accesses[..usize::from(self.count)];
        if let Some(known) = kept.iter_mut().find(|known| known.is_like(&access)) {
            let is_new = known.after != access.after;
            (known.after, known.when) = (access.after, access.when);
            return is_new;
        }
        if usize::from(self.count) < HELD_MAX {
            self.accesses[usize::from(self.count)] = access;
            self.count += 1;
        } else {
            self.accesses[usize::from(self.oldest)] = access;
            self.oldest = (self.oldest + 1) % HELD_MAX as u8;
        }
        true
    }

    /// Returns the kept accesses in the order in which they happened. They must be published in this order, because the
    /// later of two alike accesses to a byte is the one that counts.
    fn in_order(&self) -> SmallVec<[Held; HELD_MAX]> {
        let mut kept: SmallVec<[Held; HELD_MAX]> =
            SmallVec::from_slice(&self.accesses[..usize::from(self.count)]);
        kept.sort_unstable_by_key(|access| access.when);
        kept
    }

    /// Returns `true` if a further access can be kept without losing one.
    fn has_room_for(&self, access: &Held) -> bool {
        let kept = &self.accesses[..usize::from(self.count)];
        kept.len() < HELD_MAX || kept.iter().any(|known| known.is_like(access))
    }
}

/// The pieces of memory that were accessed in the execution, by address: open addressing, with linear probing. Nothing
/// is removed within an execution, and nothing is cleared between two.
pub(in super::super) struct HeldBack {
    /// At most half of them are in use, and their number is a power of two.
    slots: Box<[Slot]>,
    /// The number of low bits of a hash that are shifted out to get an index.
    shift: u32,
    /// The number of slots of this execution.
    used: usize,
    /// The blocks that the allocator has written.
    pub(super) filled: Filled,
}

impl Default for HeldBack {
    fn default() -> HeldBack {
        HeldBack {
            slots: Box::default(),
            shift: u64::BITS - SLOTS_LOG + 1,
            used: 0,
            filled: Filled::default(),
        }
    }
}

impl HeldBack {
    /// Resets the state for a new execution, which has another epoch.
    pub(super) fn begin(&mut self) {
        self.used = 0;
        self.filled.clear();
    }

    /// Returns the slot of a piece, which is new if the piece has none: `first` uses it first, unless the allocator has
    /// written it before.
    #[inline]
    fn slot(&mut self, address: usize, epoch: u64, first: &Held) -> &mut Slot {
        if self.used * 2 >= self.slots.len() {
            self.grow(epoch, first);
        }
        let at = self.find(address, epoch);
        let slot = &mut self.slots[at];
        if slot.epoch != epoch {
            (slot.address, slot.epoch) = (address, epoch);
            slot.used_by = Use::OneTask(first.task);
            (slot.count, slot.oldest) = (0, 0);
            self.used += 1;
        }
        if slot.count == 0
            && matches!(slot.used_by, Use::OneTask(_))
            && let Some(write) = self.filled.write_of(address)
        {
            slot.used_by = Use::OneTask(write.task);
            slot.keep(write);
        }
        slot
    }

    /// Forgets the accesses to memory that is used again, by this task first.
    #[cfg(feature = "unmodified")]
    fn forget(&mut self, memory: std::ops::Range<usize>, epoch: u64, task: u32) {
        self.filled.forget(memory.clone());
        if self.used == 0 {
            return;
        }
        for piece in memory.step_by(GRANULE) {
            let at = self.find(piece, epoch);
            let slot = &mut self.slots[at];
            if slot.epoch == epoch {
                slot.used_by = Use::OneTask(task);
                (slot.count, slot.oldest) = (0, 0);
            }
        }
    }

    /// Returns the index of the slot of a piece, or of the free one that it would have.
    #[inline]
    fn find(&self, address: usize, epoch: u64) -> usize {
        // Fibonacci hashing: Knuth, volume 3, section 6.4.
        let hash = (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut at = (hash >> self.shift) as usize;
        while self.slots[at].epoch == epoch && self.slots[at].address != address {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    #[cold]
    fn grow(&mut self, epoch: u64, any: &Held) {
        self.shift -= 1;
        // No execution has epoch 0.
        let free = Slot {
            address: 0,
            epoch: 0,
            used_by: Use::Atomic,
            count: 0,
            oldest: 0,
            accesses: [*any; HELD_MAX],
        };
        let larger = vec![free; 1 << (u64::BITS - self.shift)].into_boxed_slice();
        let smaller = std::mem::replace(&mut self.slots, larger);
        for slot in smaller.iter().filter(|slot| slot.epoch == epoch) {
            let at = self.find(slot.address, epoch);
            self.slots[at] = *slot;
        }
    }
}

impl Engine {
    /// Publishes an access by address that is about to happen, or holds it back while its task alone uses the memory.
    /// Otherwise the same as `data_access`.
    pub fn access_by_address(self, access: DataAccess) {
        let is_point =
            self.with(|rt| rt.monitors.watches_memory && !rt.end.teardown && rt.is_point_or_is_told(&access));
        if is_point {
            self.access_at_point(access);
        }
    }

    /// Waits for permission to make an access that is a schedule point.
    #[cold]
    pub(in super::super) fn access_at_point(self, access: DataAccess) {
        self.take_step(&access);
        self.with(|rt| {
            if rt.hears_of_memory() {
                rt.tell_or_hold(&access);
            }
        });
    }
}

impl Runtime {
    /// Returns `true` if an access by address is a schedule point. Otherwise publishes it, or holds it back.
    #[inline]
    pub(in super::super) fn is_point_or_is_told(&mut self, access: &DataAccess) -> bool {
        self.monitors.plain_accesses += 1;
        let points = self.constraints.data_points.as_mut();
        if points.is_some_and(|points| points.is_point(access.site)) {
            return true;
        }
        if self.hears_of_memory() {
            self.tell_or_hold(access);
        }
        false
    }

    /// Forgets the accesses to memory that the current task uses again: they do not race with later ones.
    #[cfg(feature = "unmodified")]
    #[allow(dead_code, reason = "for systems with an arena")]
    pub(in super::super) fn forget_accesses(&mut self, memory: std::ops::Range<usize>) {
        if self.hears_of_memory() {
            self.settle_log();
            self.monitors.listeners.record().forget(memory.clone());
            let (epoch, task) = (self.objects.epoch(), self.tasks.current());
            self.monitors.held_back.forget(memory, epoch, task);
        }
    }

    /// Publishes an access by address that is about to happen, unless its task alone has used the memory so far.
    fn tell_or_hold(&mut self, access: &DataAccess) {
        let listeners = &self.monitors.listeners;
        if !listeners.keeps_log || listeners.tells_at_once || self.objects.blocks.any() {
            self.publish_all_held();
            return self.tell_pieces(access);
        }
        let last = self.last_of_current();
        let end = access.address.saturating_add(access.size);
        let mut at = access.address;
        while at < end {
            let piece = at & !(GRANULE - 1);
            let to = end.min(piece + GRANULE);
            let held = Held {
                site: access.site,
                task: last.task.0,
                after: last.index,
                when: self.monitors.plain_accesses,
                from: (at - piece) as u8,
                to: (to - piece) as u8,
                is_write: access.does.is_write(),
                frees: access.does == Does::Free,
            };
            if !self.holds(piece, held) {
                self.tell_pieces(&DataAccess {
                    address: at,
                    size: to - at,
                    ..*access
                });
            }
            at = to;
        }
    }

    /// Holds an access back, or publishes it. Returns `false` if there is an atomic in the piece.
    #[inline]
    fn holds(&mut self, piece: usize, access: Held) -> bool {
        let epoch = self.objects.epoch();
        let slot = self.monitors.held_back.slot(piece, epoch, &access);
        match slot.used_by {
            Use::Atomic => return false,
            Use::OneTask(task) if task == access.task && slot.has_room_for(&access) => {
                slot.keep(access);
            }
            Use::OneTask(_) => {
                let location = self.publish_held(piece);
                self.publish(location, &access);
                let slot = self.monitors.held_back.slot(piece, epoch, &access);
                slot.keep(access);
            }
            Use::Shared(location) => {
                if slot.keep(access) {
                    self.publish(location, &access);
                }
            }
        }
        true
    }

    /// Publishes the accesses to a piece that one task has used.
    #[cold]
    #[inline(never)]
    fn publish_held(&mut self, piece: usize) -> Location {
        self.settle_log();
        let at = self.monitors.held_back.find(piece, self.objects.epoch());
        let slot = self.monitors.held_back.slots[at];
        let user = match slot.used_by {
            Use::OneTask(task) => task,
            Use::Shared(_) | Use::Atomic => self.tasks.current(),
        };
        let location = self
            .monitors
            .listeners
            .record()
            .location(Memory::Granule(piece), user);
        for access in &slot.in_order() {
            self.publish(location, access);
        }
        self.monitors.held_back.slots[at].used_by = Use::Shared(location);
        location
    }

    /// Publishes all accesses that are held back, because from now on none is.
    fn publish_all_held(&mut self) {
        let epoch = self.objects.epoch();
        if self.monitors.held_back.used == 0 {
            return;
        }
        let is_held = |slot: &&Slot| slot.epoch == epoch && matches!(slot.used_by, Use::OneTask(_));
        let slots = self.monitors.held_back.slots.iter().filter(is_held);
        let mut pieces: Vec<usize> = slots.map(|slot| slot.address).collect();
        pieces.sort_unstable();
        for piece in pieces {
            self.publish_held(piece);
        }
        self.monitors.held_back.used = 0;
    }

    /// Publishes the allocator's write of a piece that was not accessed before, if there is one.
    #[inline]
    pub(super) fn publish_filled(&mut self, piece: usize) {
        if let Some(write) = self.monitors.held_back.filled.write_of(piece)
            && !self.monitors.listeners.record().knows_piece(piece)
        {
            let record = self.monitors.listeners.record();
            let location = record.location(Memory::Granule(piece), write.task);
            self.publish(location, &write);
        }
    }

    #[inline]
    fn publish(&mut self, location: Location, access: &Held) {
        self.settle_log();
        let told = self.told(location, access);
        self.tell_memory(MemoryDeed::Access(told));
    }

    /// Publishes an access to some bytes of an atomic.
    #[cold]
    fn publish_of_atomic(&mut self, var: u32, offset: usize, size: usize, access: &Held) {
        self.settle_log();
        let record = self.monitors.listeners.record();
        let location = record.location(Memory::Var(var), access.task);
        let told = DataVarAccess {
            offset: offset as u32,
            size: size as u32,
            var: SyncVar(var),
            ..self.told(location, access)
        };
        self.tell_memory(MemoryDeed::Access(told));
    }

    #[inline]
    fn told(&mut self, location: Location, access: &Held) -> DataVarAccess {
        DataVarAccess {
            after: EventId {
                task: TaskId(access.task),
                index: access.after,
            },
            location,
            offset: u32::from(access.from),
            size: u32::from(access.to - access.from),
            is_write: access.is_write,
            by_pointer: false,
            frees: access.frees,
            order: MemoryOrder::None,
            var: SyncVar::NONE,
            site: self.monitors.listeners.record().site_id(access.site),
        }
    }

    /// Notes that an atomic is first used, at this address. Earlier accesses to its bytes are published as plain
    /// accesses to the atomic, and those to the rest of its pieces as accesses to other memory.
    pub(super) fn hold_no_more(&mut self, var: u32, address: usize, size: usize) {
        let epoch = self.objects.epoch();
        let held_back = &self.monitors.held_back;
        if held_back.slots.is_empty() && held_back.filled.is_empty() {
            return;
        }
        let end = address + size;
        let nothing = Held {
            site: Site::caller(),
            task: self.tasks.current(),
            after: 0,
            when: 0,
            from: 0,
            to: 0,
            is_write: false,
            frees: false,
        };
        for piece in (address & !(GRANULE - 1)..end).step_by(GRANULE) {
            let slot = *self.monitors.held_back.slot(piece, epoch, &nothing);
            let (used_by, mut accesses) = (slot.used_by, slot.in_order());
            if used_by == Use::Atomic {
                // Another atomic in the piece was used first. The kept accesses were published with it.
                accesses.clear();
                accesses.extend(self.monitors.held_back.filled.write_of(piece));
            }
            let (from, to) = (address.saturating_sub(piece), (end - piece).min(GRANULE));
            let is_beyond = |held: &Held| usize::from(held.from) < from || usize::from(held.to) > to;
            if matches!(used_by, Use::OneTask(_)) && accesses.iter().any(is_beyond) {
                self.publish_held(piece);
            }
            for held in &accesses {
                let (first, last) = (usize::from(held.from).max(from), usize::from(held.to).min(to));
                if first < last {
                    self.publish_of_atomic(var, piece + first - address, last - first, held);
                }
            }
            self.monitors.held_back.slot(piece, epoch, &nothing).used_by = Use::Atomic;
        }
    }
}
