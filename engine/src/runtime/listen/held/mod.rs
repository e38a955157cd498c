//! Accesses by address that are held back: those to memory that one task alone has used so far in the execution.
//!
//! Most memory is used by one task. Its accesses race with none, so monitors need not be notified of them. When a
//! second task accesses the memory, the first one's accesses are published late, before the second one's, each as of
//! the event that it followed. Monitors keep the last access of each task, place and kind, and so does this module, so
//! the delay makes no difference to them. An access that repeats one since the task's last event is not published
//! twice.
//!
//! Memory is divided into pieces of eight bytes, as elsewhere (`chunk`). An access to much memory is kept once for all
//! of its pieces that are not accessed in any other way (`wide`). So the time that it takes depends on what was accessed
//! there in small parts, and not on its size.
//!
//! From the first use of an atomic in a piece, accesses to it are no longer held back but published at once. Earlier
//! plain accesses to the atomic's bytes, such as those that initialised it, are published as accesses to the atomic.
//!
//! The accesses of the first task before it creates another one come before everything that others do, so they are not
//! kept.

mod chunk;
mod list;
mod wide;

use super::super::{Engine, Runtime};
use super::memory::{DataAccess, Does, GRANULE};
use super::record::Memory;
use crate::site::Site;
use chunk::{ATOMIC, CHUNK, Chunk, Kept, PUBLISHED, Steps};
use hashbrown::HashMap;
use intermezzo_sdk::{DataVarAccess, EventId, Location, MemoryDeed, MemoryOrder, SyncVar, TaskId};
use list::{Held, List};
use std::ops::Range;
use wide::{Wide, whole_chunks};

/// The number of chunks that are found without a search; a power of two.
const RECENT: usize = 64;

/// The number of chunks that stay allocated for the next execution.
const CHUNKS_KEPT: usize = 4 << 10;

/// The number of bytes of a freed block that a step accesses, each piece of which is a variable.
const FREED_MAX: usize = 4 << 10;

/// All bytes of a piece.
const ALL: u8 = u8::MAX;

/// The accesses that are held back.
pub(in super::super) struct HeldBack {
    /// The chunks; those from `used` on belong to an earlier execution.
    #[allow(
        clippy::vec_box,
        reason = "a chunk is large, and should not move when the list grows"
    )]
    chunks: Vec<Box<Chunk>>,
    used: usize,
    /// The indices of the chunks by their addresses.
    index: HashMap<usize, u32>,
    /// Some of them. No chunk has the address 1.
    recent: Box<[(usize, u32); RECENT]>,
    steps: Steps,
    wide: Wide,
    /// `true` if an access was announced that may be held back, in whichever execution.
    is_in_use: bool,
}

impl Default for HeldBack {
    fn default() -> HeldBack {
        HeldBack {
            chunks: Vec::new(),
            used: 0,
            index: HashMap::new(),
            recent: Box::new([(1, 0); RECENT]),
            steps: Steps::default(),
            wide: Wide::default(),
            is_in_use: false,
        }
    }
}

impl HeldBack {
    /// Resets the state for a new execution.
    pub(super) fn begin(&mut self) {
        if self.used > 0 {
            self.used = 0;
            self.chunks.truncate(CHUNKS_KEPT);
            match self.index.capacity() > 8 * CHUNKS_KEPT {
                true => self.index = HashMap::new(),
                false => self.index.clear(),
            }
            *self.recent = [(1, 0); RECENT];
        }
        self.wide.clear();
    }

    /// Returns the chunk of a piece, if it was accessed in small parts.
    fn known(&self, piece: usize) -> Option<&Chunk> {
        let &number = self.index.get(&(piece & !(CHUNK - 1)))?;
        Some(&self.chunks[number as usize])
    }

    /// Returns the index of the chunk of a piece.
    #[inline(always)]
    fn chunk(&mut self, piece: usize) -> usize {
        let address = piece & !(CHUNK - 1);
        let (known, number) = self.recent[address / CHUNK % RECENT];
        match known == address {
            true => number as usize,
            false => self.find(address),
        }
    }

    #[inline(never)]
    fn find(&mut self, address: usize) -> usize {
        let number = match self.index.get(&address) {
            Some(&number) => number,
            None => {
                if self.chunks.len() == self.used {
                    self.chunks.push(Box::new(Chunk::new()));
                }
                let nothing = List::new();
                let list = self.wide.list_at(address).unwrap_or(&nothing);
                self.chunks[self.used].begin(address, list, &mut self.steps);
                self.index.insert(address, self.used as u32);
                self.used += 1;
                self.used as u32 - 1
            }
        };
        self.recent[address / CHUNK % RECENT] = (address, number);
        number as usize
    }

    /// Returns the addresses of the chunks in this memory that were accessed in small parts.
    fn chunks_in(&self, memory: &Range<usize>) -> Vec<usize> {
        if memory.len() / CHUNK < self.used {
            let all = memory.clone().step_by(CHUNK);
            return all.filter(|address| self.index.contains_key(address)).collect();
        }
        let all = self.chunks[..self.used].iter().map(|chunk| chunk.address);
        let mut list: Vec<usize> = all.filter(|address| memory.contains(address)).collect();
        list.sort_unstable();
        list
    }

    /// Keeps an access to a piece, if it needs not be published.
    #[inline(always)]
    fn keep(&mut self, piece: usize, access: &Held) -> Kept {
        let number = self.chunk(piece);
        self.chunks[number].keep(piece, access, &mut self.steps)
    }

    /// Returns the accesses that are held back for a piece; `None` if there are none.
    fn held(&self, piece: usize) -> Option<&List> {
        let list = match self.known(piece) {
            Some(chunk) if chunk.flags(piece) == 0 => chunk.list(piece),
            Some(_) => return None,
            None => self.wide.list_at(piece)?,
        };
        (!list.is_empty()).then_some(list)
    }

    /// Forgets the accesses to this memory.
    #[cfg(feature = "unmodified")]
    fn forget(&mut self, memory: Range<usize>) {
        let inner = whole_chunks(&memory);
        let outer = memory.start & !(CHUNK - 1)..memory.end.next_multiple_of(CHUNK);
        // The rest of a chunk at a border keeps the accesses of its part.
        for border in [memory.start, memory.end].map(|border| border & !(CHUNK - 1)) {
            if !inner.contains(&border) && self.wide.list_at(border).is_some() {
                self.chunk(border);
            }
        }
        for address in self.chunks_in(&outer) {
            let pieces = address.max(memory.start & !(GRANULE - 1))..memory.end.min(address + CHUNK);
            let number = self.chunk(address);
            self.chunks[number].forget(pieces);
        }
        if !inner.is_empty() {
            self.wide.forget(inner);
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
        let mut step = access;
        if access.does == Does::Free {
            step.size = step.size.min(FREED_MAX);
        }
        self.take_step(&step);
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
    pub(in super::super) fn forget_accesses(&mut self, memory: Range<usize>) {
        if self.hears_of_memory() {
            self.settle_log();
            self.monitors.listeners.record().forget(memory.clone());
            self.monitors.held_back.forget(memory);
        }
    }

    /// Returns `true` if accesses are held back. They are not if a monitor is notified of each at once.
    #[inline]
    fn holds_back(&self) -> bool {
        let listeners = &self.monitors.listeners;
        listeners.keeps_log && !listeners.tells_at_once && !self.objects.blocks.any()
    }

    /// Returns an access as it is kept, for no bytes.
    #[inline]
    fn held(&self, does: Does, site: Site) -> Held {
        let last = self.last_of_current();
        Held {
            site,
            task: last.task.0,
            after: last.index,
            bytes: 0,
            is_write: does.is_write(),
            frees: does == Does::Free,
        }
    }

    /// Publishes an access by address that is about to happen, unless its task alone has used the memory so far.
    fn tell_or_hold(&mut self, access: &DataAccess) {
        if !self.holds_back() {
            return self.tell_pieces(access);
        }
        self.monitors.held_back.is_in_use = true;
        if self.tasks.created() > 1 {
            self.hold_or_tell(access);
        }
    }

    /// Holds an access back, or publishes it.
    #[inline]
    fn hold_or_tell(&mut self, access: &DataAccess) {
        let held = self.held(access.does, access.site);
        let memory = access.address..access.address.saturating_add(access.size);
        let inner = whole_chunks(&memory);
        if inner.is_empty() {
            return self.hold_pieces(access, held, memory);
        }
        self.hold_pieces(access, held, memory.start..inner.start);
        self.hold_whole_chunks(access, held, inner.clone());
        self.hold_pieces(access, held, inner.end..memory.end);
    }

    /// Holds an access back for each piece of this memory, or publishes it.
    #[inline]
    fn hold_pieces(&mut self, access: &DataAccess, held: Held, memory: Range<usize>) {
        let mut at = memory.start;
        while at < memory.end {
            let piece = at & !(GRANULE - 1);
            let to = memory.end.min(piece + GRANULE);
            let bytes = (ALL << (at - piece)) & (ALL >> (piece + GRANULE - to));
            if !self.holds(piece, &Held { bytes, ..held }) {
                self.tell_pieces(&DataAccess {
                    address: at,
                    size: to - at,
                    ..*access
                });
            }
            at = to;
        }
    }

    /// Does the same for whole chunks.
    fn hold_whole_chunks(&mut self, access: &DataAccess, held: Held, memory: Range<usize>) {
        for address in self.monitors.held_back.chunks_in(&memory) {
            self.hold_pieces(access, held, address..address + CHUNK);
        }
        let held = Held { bytes: ALL, ..held };
        for begin in self.monitors.held_back.wide.parts_of(memory.clone()) {
            match self.monitors.held_back.wide.keep(begin, &held) {
                Kept::Held | Kept::InAtomic => {}
                Kept::New => self.publish_to_part(begin, &held),
                Kept::NeedsOthers => {
                    self.publish_part(begin);
                    self.monitors.held_back.wide.keep(begin, &held);
                    self.publish_to_part(begin, &held);
                }
            }
        }
        self.monitors.held_back.wide.fill(memory, &held);
    }

    /// Holds an access back, or publishes it. Returns `false` if there is an atomic in the piece.
    #[inline(always)]
    fn holds(&mut self, piece: usize, access: &Held) -> bool {
        match self.monitors.held_back.keep(piece, access) {
            Kept::Held => true,
            kept => self.holds_or_publishes(piece, access, kept),
        }
    }

    #[inline(never)]
    fn holds_or_publishes(&mut self, piece: usize, access: &Held, kept: Kept) -> bool {
        let location = match kept {
            Kept::Held => return true,
            Kept::InAtomic => return false,
            Kept::New => {
                let record = self.monitors.listeners.record();
                record.location(Memory::Granule(piece), access.task)
            }
            Kept::NeedsOthers => {
                let location = self.publish_held(piece);
                self.monitors.held_back.keep(piece, access);
                location
            }
        };
        self.publish(location, access);
        true
    }

    /// Publishes the accesses to a piece that one task has used.
    #[cold]
    #[inline(never)]
    fn publish_held(&mut self, piece: usize) -> Location {
        self.settle_log();
        let held_back = &mut self.monitors.held_back;
        let number = held_back.chunk(piece);
        held_back.chunks[number].set_flags(piece, PUBLISHED);
        let list = held_back.chunks[number].list(piece).clone();
        let user = list.first().map_or(self.tasks.current(), |access| access.task);
        let record = self.monitors.listeners.record();
        let location = record.location(Memory::Granule(piece), user);
        for access in &list {
            self.publish(location, access);
        }
        location
    }

    /// Publishes the accesses to a part that one task has used, as accesses to a location of its own.
    #[cold]
    #[inline(never)]
    fn publish_part(&mut self, begin: usize) {
        self.settle_log();
        let list = self.monitors.held_back.wide.get(begin).list.clone();
        let user = list.first().map_or(self.tasks.current(), |access| access.task);
        let location = self.monitors.listeners.record().new_part(begin, user);
        self.monitors.held_back.wide.set_location(begin, location);
        for access in &list {
            self.publish_to_part(begin, access);
        }
    }

    /// Publishes an access to all of a part that has a location.
    fn publish_to_part(&mut self, begin: usize, access: &Held) {
        self.settle_log();
        let part = self.monitors.held_back.wide.get(begin);
        let Some((location, base)) = part.location else {
            return;
        };
        let (from, to) = ((begin - base) as u32, (part.end - base) as u32);
        let told = self.told(location, access, from..to);
        self.tell_memory(MemoryDeed::Access(told));
    }

    /// Publishes the accesses to a piece that are held back, if there are any, because it is accessed without being held
    /// back.
    #[inline]
    pub(super) fn publish_filled(&mut self, piece: usize) {
        let held_back = &self.monitors.held_back;
        if held_back.used > 0 || !held_back.wide.is_empty() {
            self.publish_before(piece);
        }
    }

    #[inline(never)]
    fn publish_before(&mut self, piece: usize) {
        if let Some(list) = self.monitors.held_back.held(piece)
            && !self.monitors.listeners.record().knows_piece(piece)
        {
            let list = list.clone();
            let record = self.monitors.listeners.record();
            let location = record.location(Memory::Granule(piece), list[0].task);
            for access in &list {
                self.publish(location, access);
            }
        }
    }

    #[inline]
    fn publish(&mut self, location: Location, access: &Held) {
        self.settle_log();
        for (from, to) in access.runs() {
            let told = self.told(location, access, from..to);
            self.tell_memory(MemoryDeed::Access(told));
        }
    }

    /// Publishes an access to some bytes of an atomic.
    #[cold]
    fn publish_of_atomic(&mut self, var: u32, bytes: Range<usize>, access: &Held) {
        self.settle_log();
        let record = self.monitors.listeners.record();
        let location = record.location(Memory::Var(var), access.task);
        let told = DataVarAccess {
            var: SyncVar(var),
            ..self.told(location, access, bytes.start as u32..bytes.end as u32)
        };
        self.tell_memory(MemoryDeed::Access(told));
    }

    #[inline]
    fn told(&mut self, location: Location, access: &Held, bytes: Range<u32>) -> DataVarAccess {
        DataVarAccess {
            after: EventId {
                task: TaskId(access.task),
                index: access.after,
            },
            location,
            offset: bytes.start,
            size: bytes.end - bytes.start,
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
        let held_back = &self.monitors.held_back;
        if !held_back.is_in_use && held_back.used == 0 && held_back.wide.is_empty() {
            return;
        }
        let end = address + size;
        for piece in (address & !(GRANULE - 1)..end).step_by(GRANULE) {
            let held_back = &mut self.monitors.held_back;
            let number = held_back.chunk(piece);
            let (flags, list) = {
                let chunk = &held_back.chunks[number];
                (chunk.flags(piece), chunk.list(piece).clone())
            };
            let (from, to) = (address.saturating_sub(piece), (end - piece).min(GRANULE));
            let own = (ALL << from) & (ALL >> (GRANULE - to));
            if flags == 0 && list.iter().any(|held| held.bytes & !own != 0) {
                self.publish_held(piece);
            }
            for held in &list {
                let held = Held {
                    bytes: held.bytes & own,
                    ..*held
                };
                for (first, last) in held.runs() {
                    let bytes = piece + first as usize - address..piece + last as usize - address;
                    self.publish_of_atomic(var, bytes, &held);
                }
            }
            self.monitors.held_back.chunks[number].set_flags(piece, ATOMIC);
        }
    }
}

#[cfg(feature = "unmodified")]
impl Runtime {
    /// Notes that the allocator has written this memory, for the current task and at this place.
    #[allow(dead_code, reason = "for systems on which memory is watched")]
    pub(in super::super) fn note_filled(
        &mut self,
        memory: Range<usize>,
        site: impl FnOnce(&super::super::tasks::Tasks) -> Option<Site>,
    ) {
        if memory.is_empty() || !self.hears_of_memory() || self.tasks.created() == 1 {
            return;
        }
        let Some(site) = site(&self.tasks) else { return };
        let access = DataAccess {
            owner: super::Owner::Unknown,
            address: memory.start,
            size: memory.len(),
            does: Does::Write,
            site,
        };
        // Nothing was accessed there before. If accesses are not held back, this one is published when another one
        // follows.
        self.hold_or_tell(&access);
    }
}
