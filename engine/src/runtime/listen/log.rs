//! A log of operations on plain memory, for monitors that are notified of them when the execution has ended.
//!
//! An access to a cell or an atomic is written as it is announced. Its event is made when something asks for it, most
//! often at the end of the execution. Entries that are as in the execution before need none: their events are still
//! there.

use super::memory::{DataAccess, Does};
use super::record::{LastEvent, Record};
use super::repeated::Repeated;
use crate::record::VAR_BITS;
use crate::site::Site;
use intermezzo_sdk::{
    DataVarAccess, EventId, MemoryDeed, MemoryEvent, MemoryOrder, Release, SyncVar, TaskId,
};

/// The operations on plain memory.
#[derive(Default)]
pub(super) struct Log {
    /// The operations of this execution, as they were announced, and those of the execution before.
    entries: Vec<Entry>,
    before: Vec<Entry>,
    /// The events of the first of them.
    told: Repeated<MemoryEvent>,
    /// The number of entries whose addresses the record knows.
    placed: usize,
}

/// An operation as it was announced.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    site: Site,
    address: usize,
    /// The variable of the cell or the atomic, and the bits below.
    key: u32,
    size: u32,
    /// The number of visible operations before it, of all tasks.
    events: u32,
    task: u32,
}

/// The bits of a key above the variable.
mod bits {
    use super::VAR_BITS;

    pub(super) const VAR: u32 = (1 << VAR_BITS) - 1;
    pub(super) const WRITE: u32 = 1 << VAR_BITS;
    pub(super) const POINTER: u32 = 2 << VAR_BITS;
    pub(super) const ATOMIC: u32 = 4 << VAR_BITS;
    /// The cell is dropped.
    pub(super) const DROP: u32 = 8 << VAR_BITS;
    /// Only the event says more.
    pub(super) const OTHER: u32 = 16 << VAR_BITS;
}

impl Entry {
    /// Returns the entry of an access to all of a cell, or of an atomic.
    #[inline(always)]
    pub(super) fn access(access: &DataAccess, var: u32, is_atomic: bool, events: usize, task: u32) -> Entry {
        let does = match access.does {
            Does::Read => 0,
            Does::Write => bits::WRITE,
            Does::GivePointer => bits::POINTER,
            Does::WriteByPointer => bits::WRITE | bits::POINTER,
        };
        Entry {
            site: access.site,
            address: access.address,
            key: var | does | if is_atomic { bits::ATOMIC } else { 0 },
            size: access.size as u32,
            events: events as u32,
            task,
        }
    }

    /// Returns the entry of the end of a cell.
    #[inline(always)]
    pub(super) fn drop(var: u32, events: usize, task: u32) -> Entry {
        Entry {
            site: Site::NOWHERE,
            address: 0,
            key: var | bits::DROP,
            size: 0,
            events: events as u32,
            task,
        }
    }

    #[inline(always)]
    fn var(&self) -> u32 {
        self.key & bits::VAR
    }

    #[inline(always)]
    fn is_drop(&self) -> bool {
        self.key & bits::DROP != 0
    }

    /// `true` if an operation with the same events before it has the same event. The address is not part of that.
    #[inline(always)]
    fn is_like(&self, other: &Entry) -> bool {
        self.site.is_same_word(other.site)
            && (self.key, self.size) == (other.key, other.size)
            && (self.events, self.task) == (other.events, other.task)
            && self.key & bits::OTHER == 0
    }
}

impl Log {
    /// Begins the next execution.
    pub(super) fn begin(&mut self) {
        std::mem::swap(&mut self.entries, &mut self.before);
        self.entries.clear();
        self.placed = 0;
        self.told.begin();
    }

    /// `true` if there is room for one more entry.
    #[inline(always)]
    pub(super) fn has_room(&self) -> bool {
        self.entries.len() < self.entries.capacity()
    }

    /// Makes room for more entries.
    #[cold]
    pub(super) fn make_room(&mut self) {
        // Exactly, so that the largest number is met.
        self.entries.reserve_exact(self.entries.len().max(64));
    }

    /// Adds an access, or the end of a cell.
    #[inline(always)]
    pub(super) fn add(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Adds an operation whose event is known. All events before it must have been made.
    pub(super) fn add_event(&mut self, event: MemoryEvent) {
        debug_assert_eq!(self.told.len(), self.entries.len());
        if !self.has_room() {
            self.make_room();
        }
        self.entries.push(Entry {
            site: Site::NOWHERE,
            address: 0,
            key: bits::OTHER,
            size: 0,
            events: event.events as u32,
            task: 0,
        });
        self.told.push(event);
    }

    /// Makes the events of all entries. The record must have all visible operations.
    pub(super) fn settle(&mut self, record: &mut Record) {
        if self.told.len() < self.entries.len() {
            self.repeat(record);
            if self.told.len() < self.entries.len() {
                self.make(record);
            }
        }
    }

    /// Takes the events from the execution before, as far as they are the same.
    fn repeat(&mut self, record: &mut Record) {
        let first = self.told.len();
        // The events of an entry say more than the entry, unless all visible operations before it are the same.
        let alike = record.same_accesses();
        let expected = self.told.expected_entries();
        let entries = self.entries[first..].iter();
        let before = self.before.get(first..).unwrap_or_default();
        let mut same = 0;
        for ((entry, before), event) in entries.zip(before).zip(expected) {
            let is_same = entry.is_like(before)
                && event.events <= alike
                && match &event.what {
                    MemoryDeed::Access(access) => {
                        record.is_accessed_at(entry.var(), access.location, entry.task)
                    }
                    MemoryDeed::Release(release) => record.is_dropped_at(entry.var(), release.location),
                    MemoryDeed::Allocation(_) => false,
                };
            if !is_same {
                break;
            }
            same += 1;
        }
        self.told.push_expected(same);
    }

    /// Makes the events of the other entries.
    fn make(&mut self, record: &mut Record) {
        let first = self.told.len();
        let mut kept = first;
        let mut last = LastEvent::NONE;
        let mut site = None;
        self.told.differ();
        for at in first..self.entries.len() {
            let entry = &self.entries[at];
            let Entry {
                key,
                size,
                events,
                task,
                ..
            } = *entry;
            if (last.events, last.task) != (events, task) {
                last = record.last_event(events, task);
            }
            let after = EventId {
                task: TaskId(task),
                index: last.index,
            };
            let what = if entry.is_drop() {
                // A cell that was never accessed is no location.
                let Some(location) = record.drop_cell(entry.var()) else {
                    continue;
                };
                MemoryDeed::Release(Release {
                    after,
                    location,
                    site: last.site,
                })
            } else {
                // Cells are often accessed in a loop.
                let number = match site {
                    Some((of, number)) if entry.site.is_same_word(of) => number,
                    _ => record.site_id(entry.site),
                };
                site = Some((entry.site, number));
                let is_atomic = key & bits::ATOMIC != 0;
                MemoryDeed::Access(DataVarAccess {
                    after,
                    location: record.access_var(entry.var(), task),
                    offset: 0,
                    size,
                    is_write: key & bits::WRITE != 0,
                    by_pointer: key & bits::POINTER != 0,
                    order: MemoryOrder::None,
                    var: if is_atomic {
                        SyncVar(entry.var())
                    } else {
                        SyncVar::NONE
                    },
                    site: number,
                })
            };
            self.told.push_new(MemoryEvent {
                events: events as usize,
                what,
            });
            if kept < at {
                self.entries[kept] = self.entries[at];
            }
            kept += 1;
        }
        self.entries.truncate(kept);
    }

    /// Enters the positions of the cells and atomics that were accessed since the last time.
    pub(super) fn settle_places(&mut self, record: &mut Record) {
        for entry in &self.entries[self.placed..] {
            if entry.is_drop() {
                record.take_away(entry.var());
            } else if entry.key & bits::OTHER == 0 {
                let is_atomic = entry.key & bits::ATOMIC != 0;
                record.put(entry.var(), entry.address, entry.size as usize, is_atomic);
            }
        }
        self.placed = self.entries.len();
    }

    /// Notes that the execution has ended.
    pub(super) fn end(&mut self) {
        self.told.end();
    }

    /// Drops the log, because it takes too much memory.
    #[cold]
    pub(super) fn drop_all(&mut self) {
        self.told.drop_all();
        self.entries.clear();
        self.before.clear();
        self.placed = 0;
    }

    /// Returns the events that have been made.
    pub(super) fn as_slice(&self) -> &[MemoryEvent] {
        self.told.as_slice()
    }

    /// Returns the number of operations so far.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the number of events, from the first, that are as in the execution before.
    pub(super) fn same(&self) -> usize {
        self.told.same()
    }
}
