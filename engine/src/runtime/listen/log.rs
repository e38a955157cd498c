//! A log of operations on plain memory, for monitors that are notified of them when the execution has ended.
//!
//! An access to a cell or an atomic is logged when it is announced. Its event is made when it is needed, most often at
//! the end of the execution. Entries that are the same as in the previous execution reuse the events made there.

use super::memory::{DataAccess, Does};
use super::record::Record;
use super::repeated::Repeated;
use crate::record::VAR_BITS;
use crate::site::Site;
use intermezzo_sdk::{
    DataVarAccess, EventId, Location, MemoryDeed, MemoryEvent, MemoryOrder, Release, SiteId, SyncVar, TaskId,
};

/// The operations on plain memory.
#[derive(Default)]
pub(super) struct Log {
    /// The operations of this execution, as they were announced. `before` has those of the previous execution.
    entries: Vec<Entry>,
    before: Vec<Entry>,
    /// The events of the first of them.
    told: Repeated<MemoryEvent>,
    /// The number of entries whose addresses the record knows.
    placed: usize,
    /// For each access of the leading run of accesses among the events, the number of locations that were in use after
    /// it. `MIXED` if other operations have numbered locations, too. Those from `told.len()` on belong to the previous
    /// execution.
    locations: Vec<u32>,
    /// The number of locations that this execution's logged operations have numbered.
    numbered: usize,
    /// The number of locations that the record had ever added when the last execution ended.
    added_before: u64,
}

/// The value in place of a number of locations that cannot be used.
const MIXED: u32 = u32::MAX;

/// An operation as it was announced.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    site: Site,
    address: usize,
    /// The variable of the cell or the atomic, with the bits below, and from bit 32 on the size.
    what: u64,
    /// The task, and from bit 32 on the number of visible operations before it, of all tasks.
    when: u64,
}

/// Returns two numbers as one word, so that one comparison compares both.
#[inline(always)]
fn both(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
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
    /// An operation that is described only by its event.
    pub(super) const OTHER: u32 = 16 << VAR_BITS;
}

impl Entry {
    /// Returns the entry of an access to all of a cell, or of an atomic.
    #[inline(always)]
    pub(super) fn access(access: &DataAccess, var: u32, is_atomic: bool, events: usize, task: u32) -> Entry {
        let does = match access.does {
            Does::Read => 0,
            Does::Write | Does::Free => bits::WRITE,
            Does::GivePointer => bits::POINTER,
            Does::WriteByPointer => bits::WRITE | bits::POINTER,
        };
        Entry {
            site: access.site,
            address: access.address,
            what: both(
                var | does | if is_atomic { bits::ATOMIC } else { 0 },
                access.size as u32,
            ),
            when: both(task, events as u32),
        }
    }

    /// Returns the entry of the end of a cell.
    #[inline(always)]
    pub(super) fn drop(var: u32, events: usize, task: u32) -> Entry {
        Entry {
            site: Site::NOWHERE,
            address: 0,
            what: both(var | bits::DROP, 0),
            when: both(task, events as u32),
        }
    }

    #[inline(always)]
    fn key(&self) -> u32 {
        self.what as u32
    }

    #[inline(always)]
    fn size(&self) -> u32 {
        (self.what >> 32) as u32
    }

    #[inline(always)]
    fn var(&self) -> u32 {
        self.key() & bits::VAR
    }

    #[inline(always)]
    fn task(&self) -> u32 {
        self.when as u32
    }

    #[inline(always)]
    fn events(&self) -> u32 {
        (self.when >> 32) as u32
    }

    #[inline(always)]
    fn is_drop(&self) -> bool {
        self.key() & bits::DROP != 0
    }

    /// Returns `true` if it is an access, and the other one is the same.
    #[inline(always)]
    fn is_same_access(&self, other: &Entry) -> bool {
        self.site.is_same_word(other.site)
            && self.what == other.what
            && self.when == other.when
            && self.key() & (bits::DROP | bits::OTHER) == 0
    }

    /// Returns `true` if the two have equal events, provided that the events before them are the same. The address does
    /// not matter.
    #[inline(always)]
    fn is_like(&self, other: &Entry) -> bool {
        self.site.is_same_word(other.site)
            && self.what == other.what
            && self.when == other.when
            && self.key() & bits::OTHER == 0
    }
}

/// Returns the number of locations, or `MIXED` if operations other than the log's, which numbered `numbered`, have
/// numbered some.
#[inline(always)]
fn locations_now(record: &Record, numbered: usize) -> u32 {
    let (locations, _) = record.locations();
    if locations == numbered {
        locations as u32
    } else {
        MIXED
    }
}

/// Returns the event of an access, which follows this event.
#[inline(always)]
fn access(entry: &Entry, after: EventId, location: Location, site: SiteId) -> DataVarAccess {
    let key = entry.key();
    DataVarAccess {
        after,
        location,
        offset: 0,
        size: entry.size(),
        is_write: key & bits::WRITE != 0,
        by_pointer: key & bits::POINTER != 0,
        // No cell is freed in this way, nor an atomic.
        frees: false,
        order: MemoryOrder::None,
        var: if key & bits::ATOMIC != 0 {
            SyncVar(entry.var())
        } else {
            SyncVar::NONE
        },
        site,
    }
}

/// Returns the number of events before accesses at this moment, and the event of their task that they follow, with its
/// site.
#[inline(always)]
fn followed(when: u64, record: &mut Record) -> (u32, EventId, SiteId) {
    let (task, events) = (when as u32, (when >> 32) as u32);
    let last = record.last_event(events, task);
    let after = EventId {
        task: TaskId(task),
        index: last.index,
    };
    (events, after, last.site)
}

/// Makes the events of a run of accesses that follow the same event, beginning with entry `first`. Returns the index of
/// the entry after the run. Entries are moved to the indices of their events. It is a separate function so that the
/// compiler knows that the lists do not overlap.
#[inline(never)]
fn make_accesses(
    entries: &mut [Entry],
    first: usize,
    told: &mut Vec<MemoryEvent>,
    record: &mut Record,
    locations: &mut Vec<u32>,
    numbered: &mut usize,
) -> usize {
    let when = entries[first].when;
    let (events, after, _) = followed(when, record);
    let mut at = first;
    let mut site = None;
    while let Some(&entry) = entries.get(at)
        && entry.when == when
        && !entry.is_drop()
    {
        // Cells are often accessed in a loop.
        let number = match site {
            Some((of, number)) if entry.site.is_same_word(of) => number,
            _ => record.site_id(entry.site),
        };
        site = Some((entry.site, number));
        let (before, _) = record.locations();
        let location = record.access_var(entry.var(), after.task.0);
        *numbered += record.locations().0 - before;
        if locations.len() == told.len() {
            locations.push(locations_now(record, *numbered));
        }
        if told.len() < at {
            entries[told.len()] = entry;
        }
        told.push(MemoryEvent {
            events: events as usize,
            what: MemoryDeed::Access(access(&entry, after, location, number)),
        });
        at += 1;
    }
    at
}

/// Does the same for the ends of cells.
#[inline(never)]
fn make_releases(
    entries: &mut [Entry],
    first: usize,
    told: &mut Vec<MemoryEvent>,
    record: &mut Record,
) -> usize {
    let when = entries[first].when;
    let (events, after, last_site) = followed(when, record);
    let mut at = first;
    while let Some(entry) = entries.get(at)
        && entry.when == when
        && entry.is_drop()
    {
        // A cell that was never accessed has no location.
        if let Some(location) = record.drop_cell(entry.var()) {
            if told.len() < at {
                entries[told.len()] = entries[at];
            }
            told.push(MemoryEvent {
                events: events as usize,
                what: MemoryDeed::Release(Release {
                    after,
                    location,
                    site: last_site,
                }),
            });
        }
        at += 1;
    }
    at
}

impl Log {
    /// Begins the next execution.
    pub(super) fn begin(&mut self) {
        std::mem::swap(&mut self.entries, &mut self.before);
        self.entries.clear();
        (self.placed, self.numbered) = (0, 0);
        self.told.begin();
    }

    /// Returns `true` if there is room for one more entry.
    #[inline(always)]
    pub(super) fn has_room(&self) -> bool {
        self.entries.len() < self.entries.capacity()
    }

    /// Makes room for more entries.
    #[cold]
    pub(super) fn make_room(&mut self) {
        // Exactly, so that the capacity doubles up to `LOG_MAX` and not beyond.
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
            what: both(bits::OTHER, 0),
            when: both(0, event.events as u32),
        });
        let at = self.told.len();
        self.told.push(event);
        self.locations.truncate(at);
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

    /// Reuses the events of the previous execution, as far as they are the same.
    fn repeat(&mut self, record: &mut Record) {
        if self.repeat_first_accesses(record) {
            return;
        }
        let first = self.told.len();
        // An equal entry has an equal event only if all visible operations before it are the same.
        let alike = record.same_accesses();
        let expected = self.told.expected_entries();
        let entries = self.entries[first..].iter();
        let before = self.before.get(first..).unwrap_or_default();
        let mut same = 0;
        for ((entry, before), event) in entries.zip(before).zip(expected) {
            let (locations, _) = record.locations();
            let is_same = entry.is_like(before)
                && event.events <= alike
                && match &event.what {
                    MemoryDeed::Access(access) => {
                        record.is_accessed_at(entry.var(), access.location, entry.task())
                    }
                    MemoryDeed::Release(release) => record.is_dropped_at(entry.var(), release.location),
                    MemoryDeed::Allocation(_) => false,
                };
            if !is_same {
                break;
            }
            self.numbered += record.locations().0 - locations;
            if let Some(locations) = self.locations.get_mut(first + same) {
                *locations = locations_now(record, self.numbered);
            }
            same += 1;
        }
        self.told.push_expected(same);
    }

    /// Reuses the first events if they are accesses, and if only such accesses have numbered locations, in this
    /// execution and the previous one. Then the first locations are the same as there. Returns `true` if the next entry
    /// differs, so that no more can be reused.
    fn repeat_first_accesses(&mut self, record: &mut Record) -> bool {
        if self.told.len() > 0 || record.locations() != (0, self.added_before) {
            return false;
        }
        let expected = self.told.expected_entries().len();
        let length = self.entries.len().min(self.before.len()).min(expected);
        let (entries, before) = (&self.entries[..length], &self.before[..length]);
        let mut same = (0..length)
            .find(|&at| !entries[at].is_same_access(&before[at]))
            .unwrap_or(length);
        let alike = record.same_accesses();
        while same > 0 && entries[same - 1].events() as usize > alike {
            same -= 1;
        }
        let last = same.checked_sub(1).and_then(|last| self.locations.get(last));
        let Some(&locations) = last.filter(|locations| **locations != MIXED) else {
            return false;
        };
        let locations = locations as usize;
        record.take_locations_again(locations);
        self.numbered = locations;
        let differs = same < length && !entries[same].is_like(&before[same]);
        self.told.push_expected(same);
        differs
    }

    /// Makes the events of the remaining entries.
    fn make(&mut self, record: &mut Record) {
        let first = self.told.len();
        self.locations.truncate(first);
        let Log {
            entries,
            told,
            locations,
            numbered,
            ..
        } = self;
        let told = told.new_entries();
        let mut at = first;
        while let Some(entry) = entries.get(at) {
            at = if entry.is_drop() {
                make_releases(entries, at, told, record)
            } else {
                make_accesses(entries, at, told, record, locations, numbered)
            };
        }
        entries.truncate(told.len());
        self.told.count_new();
    }

    /// Enters the positions of the cells and atomics that were accessed since the last time.
    pub(super) fn settle_places(&mut self, record: &mut Record) {
        for entry in &self.entries[self.placed..] {
            if entry.is_drop() {
                record.take_away(entry.var());
            } else if entry.key() & bits::OTHER == 0 {
                let is_atomic = entry.key() & bits::ATOMIC != 0;
                record.put(entry.var(), entry.address, entry.size() as usize, is_atomic);
            }
        }
        self.placed = self.entries.len();
    }

    /// Notes that the execution has ended.
    pub(super) fn end(&mut self, record: &Record) {
        self.told.end();
        (_, self.added_before) = record.locations();
    }

    /// Drops the log, because it takes too much memory.
    #[cold]
    pub(super) fn drop_all(&mut self) {
        self.told.drop_all();
        self.entries.clear();
        self.before.clear();
        self.locations.clear();
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
