//! Publishing of operations on plain memory: accesses, allocations, releases.
//!
//! An access is to a *location*. In the allocator's memory the location is the block, whatever it contains. Elsewhere a
//! cell or an atomic is its own location, even if it is moved. The value of an `Arc` is in the location of its block.
//! All other memory, which the engine does not know, is divided into pieces of eight bytes. An access by address alone
//! that crosses a border between two locations is published piece by piece.

use super::super::blocks::Block;
use super::super::{Engine, Runtime};
use super::log::Entry;
use super::record::{Memory, Raw, Record};
use super::{LOG_MAX, Listeners, MEMORY};
use crate::record::{Access, VarKind};
use crate::site::Site;
use crate::trace::{Class, Key};
use intermezzo_sdk::{
    Allocation, DataVarAccess, EventId, Interests, MemoryDeed, MemoryOrder, Release, SyncVar, SyncVarOp,
    TaskId,
};
use smallvec::SmallVec;

/// The size in bytes of a piece of memory that the engine does not know.
pub(super) const GRANULE: usize = 8;

/// An access to plain memory, as a look-alike reports it.
#[derive(Clone, Copy)]
pub struct DataAccess {
    /// The owner of the memory, if it is a cell or an atomic.
    pub owner: Owner,
    /// The address of the first byte.
    pub address: usize,
    /// The number of bytes.
    pub size: usize,
    /// The kind of access.
    pub does: Does,
    /// The place in the source where it was made.
    pub site: Site,
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A read that gives out a pointer, which is watched for writes through it.
    GivePointer,
    /// A write through a pointer that was given out.
    WriteByPointer,
    /// A deallocation, which counts as a write.
    Free,
}

impl Does {
    pub(super) fn is_write(self) -> bool {
        matches!(self, Does::Write | Does::WriteByPointer | Does::Free)
    }
}

/// The owner of accessed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A cell, by its variable; the access covers all of it.
    Cell(u32),
    /// An atomic, by its variable; the access covers all of it.
    Atomic(u32),
    /// Whatever is at the address.
    Unknown,
}

impl Owner {
    /// Returns the variable of a cell or an atomic, and the variable as an atomic's, which is `NONE` for a cell.
    #[inline(always)]
    fn var(self) -> Option<(u32, SyncVar)> {
        match self {
            Owner::Cell(var) => Some((var, SyncVar::NONE)),
            Owner::Atomic(var) => Some((var, SyncVar(var))),
            Owner::Unknown => None,
        }
    }
}

/// The pieces of an access: one, unless it is by address alone.
type Pieces = SmallVec<[Piece; 2]>;

/// A part of an access that lies in one location.
struct Piece {
    memory: Memory,
    offset: usize,
    size: usize,
    var: SyncVar,
}

impl Runtime {
    /// Returns the piece of an access by address that begins at `address` and ends no later than `end`.
    fn piece(&self, record: &Record, address: usize, end: usize) -> Piece {
        if let Some(block) = self.objects.blocks.heap_at(address) {
            let at = self.objects.blocks.get(block);
            // An atomic in the block is a piece of its own.
            let (var, until) = match record.place_at(address) {
                Some((start, place)) if place.is_atomic => (SyncVar(place.var), start + place.size),
                _ => (
                    SyncVar::NONE,
                    record.next_place_after(address).unwrap_or(usize::MAX),
                ),
            };
            return Piece {
                memory: Memory::Block(block),
                offset: address - at.start,
                size: end.min(at.start + at.size).min(until) - address,
                var,
            };
        }
        let (memory, start, size, var) = if let Some((start, place)) = record.place_at(address) {
            let var = if place.is_atomic {
                SyncVar(place.var)
            } else {
                SyncVar::NONE
            };
            (Memory::Var(place.var), start, place.size, var)
        } else {
            let start = address & !(GRANULE - 1);
            let nexts = [
                self.objects.blocks.next_after(address),
                record.next_place_after(address),
            ];
            let next = nexts.into_iter().flatten().min().unwrap_or(usize::MAX);
            match self.objects.blocks.shared_at(address) {
                Some(block) => {
                    let at = self.objects.blocks.get(block);
                    let size = at.size.min(next.saturating_sub(at.start));
                    (Memory::Block(block), at.start, size, SyncVar::NONE)
                }
                None => {
                    let size = GRANULE.min(next.saturating_sub(start));
                    (Memory::Granule(start), start, size, SyncVar::NONE)
                }
            }
        };
        Piece {
            memory,
            offset: address - start,
            size: end.min(start + size) - address,
            var,
        }
    }

    /// Returns the piece for a cell or an atomic, which is accessed as a whole. `own` is the variable of an atomic.
    #[inline(always)]
    fn whole_piece(&mut self, access: &DataAccess, var: u32, own: SyncVar) -> Piece {
        let (memory, offset) = match self.objects.blocks.heap_at(access.address) {
            Some(block) => (
                Memory::Block(block),
                access.address - self.objects.blocks.get(block).start,
            ),
            None => {
                let record = self.monitors.listeners.record();
                record.put(var, access.address, access.size, own != SyncVar::NONE);
                (Memory::Var(var), 0)
            }
        };
        Piece {
            memory,
            offset,
            size: access.size,
            var: own,
        }
    }

    /// Returns `true` if accesses to plain memory have to be handled at all.
    pub(in super::super) fn watches_memory(&self) -> bool {
        self.monitors.listening.intersects(MEMORY) || self.constraints.data_points.is_some()
    }

    /// Returns the variable of memory that is accessed as a visible operation.
    fn var_of_memory(&mut self, memory: Memory) -> u32 {
        if let Memory::Var(var) = memory {
            return var;
        }
        let known = |rt: &Runtime| Some(*rt.constraints.data_points.as_ref()?.vars.get(&memory)?);
        known(self).unwrap_or_else(|| {
            let var = self.add_var(VarKind::Cell, 0);
            if let Some(points) = &mut self.constraints.data_points {
                points.vars.insert(memory, var);
            }
            var
        })
    }

    /// Returns `true` if accesses to cells and atomics are logged as they are announced. They are not if there are
    /// blocks, which may have other addresses in each execution, or if a monitor is notified at once anyway.
    #[inline(always)]
    fn logs_announced(&self) -> bool {
        let listeners = &self.monitors.listeners;
        listeners.keeps_log && !listeners.tells_at_once && !self.objects.blocks.any_heap()
    }

    /// Returns `true` if accesses only have to be logged as they are announced.
    pub(in super::super) fn logs_only(&self) -> bool {
        let points = self.constraints.data_points.as_ref();
        self.monitors.watches_memory && self.logs_announced() && points.is_none_or(|points| points.are_none())
    }

    /// Logs an access to a cell or an atomic, as it is announced. Returns `false` if it cannot.
    #[inline(always)]
    fn log(&mut self, access: &DataAccess) -> bool {
        let Some((var, own)) = access.owner.var() else {
            return false;
        };
        if access.size > u32::MAX as usize || !self.monitors.listeners.log.has_room() {
            return false;
        }
        let entry = Entry::access(
            access,
            var,
            own != SyncVar::NONE,
            self.record.events.len(),
            self.tasks.current(),
        );
        self.monitors.listeners.log.add(entry);
        true
    }

    /// Makes room in the log for one more entry.
    #[cold]
    #[inline(never)]
    fn make_room_in_log(&mut self) {
        if self.monitors.listeners.log.len() >= LOG_MAX {
            self.flush_log();
        }
        if !self.monitors.listeners.log.has_room() {
            self.monitors.listeners.log.make_room();
        }
    }

    /// Publishes the whole log, and empties it.
    pub(super) fn flush_log(&mut self) {
        self.tell_log();
        let Listeners { record, log, .. } = &mut self.monitors.listeners;
        log.settle_places(record.get_or_insert_default());
        log.drop_all();
    }

    /// Makes the events of the log's entries, and records the positions of their objects. Needed before anything that
    /// reads locations or positions.
    pub(in super::super) fn settle_log(&mut self) {
        if self.monitors.listeners.log.len() > 0 {
            self.settle_events();
            let Listeners { record, log, .. } = &mut self.monitors.listeners;
            log.settle_places(record.get_or_insert_default());
        }
    }

    /// Makes the events of the log's entries.
    pub(super) fn settle_events(&mut self) {
        self.catch_up();
        let Listeners { record, log, .. } = &mut self.monitors.listeners;
        log.settle(record.get_or_insert_default());
    }

    /// Publishes an access to a cell or an atomic, as a whole.
    #[inline(never)]
    fn tell_whole(&mut self, access: &DataAccess, var: u32, own: SyncVar) {
        if self.logs_announced() {
            if !self.monitors.listeners.log.has_room() {
                self.make_room_in_log();
            }
            if self.log(access) {
                return;
            }
        }
        self.settle_log();
        let piece = self.whole_piece(access, var, own);
        self.tell_piece(access, piece);
    }

    /// Returns the last event of the current task.
    #[inline(always)]
    pub(in super::super) fn last_of_current(&self) -> EventId {
        EventId {
            task: TaskId(self.tasks.current()),
            index: self.tasks[self.tasks.current()].events,
        }
    }

    /// Publishes an access to a piece of memory.
    #[inline(always)]
    fn tell_piece(&mut self, access: &DataAccess, piece: Piece) {
        let current = self.tasks.current();
        let after = self.last_of_current();
        let record = self.monitors.listeners.record();
        let told = DataVarAccess {
            after,
            location: record.location(piece.memory, current),
            offset: piece.offset as u32,
            size: piece.size as u32,
            is_write: access.does.is_write(),
            by_pointer: matches!(access.does, Does::GivePointer | Does::WriteByPointer),
            frees: access.does == Does::Free,
            order: MemoryOrder::None,
            var: piece.var,
            site: record.site_id(access.site),
        };
        if access.owner == Owner::Unknown
            && let Memory::Block(block) = piece.memory
        {
            self.keep_raw(block, &piece, told);
        }
        self.tell_memory(MemoryDeed::Access(told));
    }

    /// Keeps an access by address, in case an atomic is used there later.
    fn keep_raw(&mut self, block: u32, piece: &Piece, told: DataVarAccess) {
        let address = self.objects.blocks.get(block).start + piece.offset;
        let size = piece.size;
        self.monitors
            .listeners
            .record()
            .raw
            .push(Raw { address, size, told });
    }

    /// Returns `true` if accesses to memory are handled now.
    #[inline]
    pub(super) fn hears_of_memory(&self) -> bool {
        self.monitors.watches_memory && !self.end.teardown
    }

    /// Returns `true` if a listener wants blocks.
    pub(in super::super) fn hears_of_blocks(&self) -> bool {
        self.monitors.listening.intersects(Interests::ALLOCATIONS) && !self.end.teardown
    }

    /// Returns the pieces of memory that an access covers.
    fn pieces(&mut self, access: &DataAccess) -> Pieces {
        let mut pieces = Pieces::new();
        self.settle_log();
        if let Some((var, own)) = access.owner.var() {
            pieces.push(self.whole_piece(access, var, own));
            return pieces;
        }
        // The box is taken out, and not only borrowed, because `piece` also borrows the runtime.
        let mut record = self.monitors.listeners.record.take().unwrap_or_default();
        self.objects.blocks.settle();
        record.settle_atomics();
        let (mut at, end) = (access.address, access.address.saturating_add(access.size));
        while at < end {
            let piece = self.piece(&record, at, end);
            at += piece.size;
            pieces.push(piece);
        }
        self.monitors.listeners.record = Some(record);
        pieces
    }

    /// Publishes an access, piece by piece.
    #[inline]
    pub(super) fn tell_pieces(&mut self, access: &DataAccess) {
        match access.owner.var() {
            Some((var, own)) => self.tell_whole(access, var, own),
            None => self.tell_each_piece(access),
        }
    }

    #[inline(never)]
    fn tell_each_piece(&mut self, access: &DataAccess) {
        for piece in self.pieces(access) {
            if let Memory::Granule(start) = piece.memory {
                self.publish_filled(start);
            }
            self.tell_piece(access, piece);
        }
    }

    /// Publishes an access that is about to happen. If it gives out a pointer, the pointer is watched from now on.
    #[inline(always)]
    fn tell_and_watch(&mut self, access: DataAccess) {
        self.tell_pieces(&access);
        if access.does == Does::GivePointer {
            if self.monitors.pointers.are_full() {
                self.look_at_pointers();
            }
            self.monitors.pointers.watch(access);
            self.monitors.pointers_out = true;
        }
    }

    fn tell_release(&mut self, release: impl FnOnce(TaskId, EventId, &mut Record) -> Release) {
        self.settle_events();
        let after = self.last_of_current();
        let release = release(after.task, after, self.monitors.listeners.record());
        self.tell_memory(MemoryDeed::Release(release));
    }

    /// Notes the first use of an atomic. The earlier plain accesses to its bytes are published once more, as accesses
    /// to the atomic. This applies only to the allocator's memory, because other memory may have held another object
    /// then.
    #[cold]
    pub(in super::super) fn atomic_in_use(&mut self, var: u32, address: usize, size: usize) {
        if !self.hears_of_memory() {
            return;
        }
        let current = self.tasks.current();
        self.hold_no_more(var, address, size);
        let record = self.monitors.listeners.record();
        record.atomics.push((address, size, var));
        if record.raw.is_empty() {
            return;
        }
        self.settle_log();
        let record = self.monitors.listeners.record();
        let overlaps = |raw: &&Raw| raw.address < address + size && address < raw.address + raw.size;
        let before: Vec<Raw> = record.raw.iter().filter(overlaps).copied().collect();
        let location = record.location(Memory::Var(var), current);
        for raw in before {
            let from = raw.address.max(address);
            let told = DataVarAccess {
                location,
                offset: (from - address) as u32,
                size: ((raw.address + raw.size).min(address + size) - from) as u32,
                var: SyncVar(var),
                ..raw.told
            };
            self.tell_memory(MemoryDeed::Access(told));
        }
    }

    #[cold]
    #[inline(never)]
    fn cell_dropped(&mut self, var: u32) {
        if self.monitors.pointers_out {
            self.settle_log();
            if let Some((address, size)) = self.monitors.listeners.record().extent(var) {
                self.look_at_pointers_to(address, size);
            }
        }
        let (current, events) = (self.tasks.current(), self.record.events.len());
        if self.logs_announced() {
            self.make_room_in_log();
            self.monitors.listeners.log.add(Entry::drop(var, events, current));
            return;
        }
        let record = self.monitors.listeners.record();
        // A cell that was never accessed, or that lies in a block, has no location of its own.
        if record.take_away(var) {
            let location = record.location(Memory::Var(var), current);
            self.tell_release(|_, after, record| Release {
                after,
                location,
                site: record.last_event(events as u32, current).site,
            });
        }
    }

    /// Publishes that a block is in use, which was allocated after this event.
    pub(in super::super) fn block_allocated(&mut self, block: u32, var: SyncVar, site: Site, after: EventId) {
        if !self.objects.blocks.tell(block) {
            return;
        }
        self.settle_events();
        let at = self.objects.blocks.get(block);
        let record = self.monitors.listeners.record();
        let allocation = Allocation {
            after,
            location: record.location(Memory::Block(block), after.task.0),
            kind: at.kind,
            size: at.size as u64,
            var,
            site: record.site_id(site),
        };
        self.tell_memory(MemoryDeed::Allocation(allocation));
    }
}

impl Runtime {
    /// Publishes the shared blocks whose reference counts were never used by a step. They have no variable.
    #[cold]
    #[inline(never)]
    pub(super) fn tell_untold_blocks(&mut self) {
        for block in self.objects.blocks.untold() {
            let Block {
                user, site, after, ..
            } = self.objects.blocks.get(block);
            let after = EventId {
                task: TaskId(user),
                index: after,
            };
            self.block_allocated(block, SyncVar::NONE, site, after);
        }
    }
}

impl Engine {
    /// Returns `true` if a listener wants blocks.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn hears_of_blocks(self) -> bool {
        self.with(|rt| rt.hears_of_blocks())
    }

    /// Publishes an access to plain memory that is about to happen.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn data_access(self, access: DataAccess) {
        let is_told = self.with(|rt| {
            let is_counted = !rt.end.teardown;
            rt.monitors.plain_accesses += u64::from(is_counted);
            if !is_counted || !rt.monitors.watches_memory {
                return true;
            }
            let is_simple =
                rt.monitors.logs_only && !rt.monitors.pointers_out && access.does != Does::GivePointer;
            is_simple && rt.log(&access)
        });
        if !is_told {
            self.tell_data_access(access);
        }
    }

    #[inline(never)]
    fn tell_data_access(self, access: DataAccess) {
        let is_point = self.with(|rt| {
            if rt.monitors.pointers_out {
                rt.look_at_pointers_to(access.address, access.size);
            }
            let points = rt.constraints.data_points.as_mut();
            points.is_some_and(|points| points.is_point(access.site))
        });
        if is_point {
            self.take_step(&access);
        }
        self.with(|rt| rt.tell_and_watch(access));
    }

    /// Waits for permission to make this access, which is a schedule point, and records it.
    pub(super) fn take_step(self, access: &DataAccess) {
        let vars = self.with(|rt| {
            let pieces = rt.pieces(access);
            let mut vars: Vec<u32> = pieces
                .iter()
                .map(|piece| rt.var_of_memory(piece.memory))
                .collect();
            vars.dedup();
            vars
        });
        let Some((&first, others)) = vars.split_first() else {
            return;
        };
        let (op, class) = match access.does {
            Does::Read => (SyncVarOp::DataRead, Class::Read),
            // The access may write through the pointer, as part of the step.
            _ => (SyncVarOp::DataWrite, Class::Write),
        };
        let step = Access::new(op, first, access.site);
        self.enter(step);
        for &other in others {
            self.add_to_footprint(Key::of(op, other), class);
        }
        self.commit(step, 0, 0);
    }

    /// Notes the position of a cell or an atomic when a pointer to a part of it is given out.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn lies_at(self, owner: Owner, address: usize, size: usize) {
        self.with(|rt| {
            if !rt.hears_of_memory() {
                return;
            }
            let in_block = rt.objects.blocks.heap_at(address).is_some();
            rt.settle_log();
            if let Owner::Cell(var) = owner
                && rt.logs_announced()
            {
                let task = rt.tasks.current();
                rt.monitors.listeners.record().access_var(var, task);
            }
            match owner {
                Owner::Cell(var) if !in_block => {
                    rt.monitors.listeners.record().put(var, address, size, false)
                }
                Owner::Atomic(var) if !in_block => {
                    rt.monitors.listeners.record().put(var, address, size, true)
                }
                _ => {}
            }
        });
    }

    /// Notes that a cell of this execution is dropped.
    #[inline]
    pub fn cell_dropped(self, var: u32) {
        self.with(|rt| {
            if !rt.hears_of_memory() {
                return;
            }
            if !rt.monitors.logs_only || rt.monitors.pointers_out || !rt.monitors.listeners.log.has_room() {
                return rt.cell_dropped(var);
            }
            let entry = Entry::drop(var, rt.record.events.len(), rt.tasks.current());
            rt.monitors.listeners.log.add(entry);
        });
    }

    /// Publishes that a block is in use, once; `var` is the variable of its counts, if it is shared.
    pub fn block_allocated(self, block: u32, var: SyncVar, site: Site) {
        self.with(|rt| {
            if rt.hears_of_blocks() {
                let after = rt.last_of_current();
                rt.block_allocated(block, var, site, after);
            }
        });
    }

    /// Publishes that a block was released.
    pub fn block_released(self, block: u32, site: Site) {
        self.with(|rt| {
            if rt.end.drops_statics {
                rt.end.held_by_statics.push(block);
            } else if rt.hears_of_blocks() {
                rt.tell_release(|task, after, record| Release {
                    after,
                    location: record.location(Memory::Block(block), task.0),
                    site: record.site_id(site),
                });
            }
        });
    }
}
