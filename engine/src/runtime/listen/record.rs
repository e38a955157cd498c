//! The current execution in the terms of monitors.

#[cfg(feature = "unmodified")]
use super::memory::GRANULE;
use super::repeated::Repeated;
use super::sets::Sets;
use super::sites::SiteNumbers;
use crate::record::{Event, TaskSet};
use crate::runtime::Runtime;
use crate::runtime::memory::{EventStore, sync_var_access};
use crate::site::Site;
use hashbrown::HashMap;
use intermezzo_sdk::{
    DataVarAccess, EventId, Location, SiteId, SyncVar, SyncVarAccess, SyncVarOp, SyncVarOps, TaskId,
};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Plain memory that monitors are notified of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Memory {
    /// The memory of a variable: a cell's value, or an atomic's.
    Var(u32),
    /// A block.
    Block(u32),
    /// A piece of memory that the engine does not know, by its address.
    Granule(usize),
}

/// A location, and the data for its name.
#[derive(Clone, Copy)]
pub(super) struct Named {
    pub(super) memory: Memory,
    /// The task that accessed it first, and its index among that task's pieces: for locations without another name.
    pub(super) user: u32,
    pub(super) ordinal: u32,
}

/// The position of a cell or an atomic at its last access.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) size: usize,
    pub(super) var: u32,
    pub(super) is_atomic: bool,
}

/// The memory of a variable. Data from an earlier execution does not count.
#[derive(Clone, Copy, Default)]
struct VarMemory {
    /// The execution in which it was put there; 0 if it is no longer there.
    placed_in: u64,
    address: usize,
    size: usize,
    is_atomic: bool,
    /// `true` if `places` has it at its address, whatever execution that entry belongs to.
    is_indexed: bool,
}

/// The location of a block, and the execution in which it got its number.
#[derive(Clone, Copy)]
struct Numbered {
    in_execution: u64,
    location: Location,
}

/// The location of a cell or an atomic. It counts if the location is in use and is this variable's.
#[derive(Clone, Copy, Default)]
struct VarLocation {
    location: u32,
    /// The last execution in which the cell was dropped, unless it was accessed later.
    dropped_in: u64,
}

/// The locations of an execution, in the order in which they were accessed first.
#[derive(Default)]
struct Memories {
    /// The locations. Those from `used` on belong to the execution before, until one is added.
    list: Vec<Named>,
    used: usize,
    /// The number of locations that were added, in all executions.
    added: u64,
}

impl Memories {
    #[inline(always)]
    fn add(&mut self, named: Named) {
        self.list.truncate(self.used);
        self.list.push(named);
        self.used += 1;
        self.added += 1;
    }

    /// Returns `true` if this location is in use and is this variable's.
    #[inline(always)]
    fn is_of(&self, location: u32, var: u32) -> bool {
        let at = location as usize;
        let is_var = |named: &Named| matches!(named.memory, Memory::Var(of) if of == var);
        at < self.used && self.list.get(at).is_some_and(is_var)
    }
}

/// The last event of a task before some moment: its index and its place in the source.
#[derive(Clone, Copy)]
pub(super) struct LastEvent {
    pub(super) index: u32,
    pub(super) site: SiteId,
}

impl Default for Numbered {
    fn default() -> Numbered {
        Numbered {
            in_execution: 0,
            location: Location(0),
        }
    }
}

/// A plain access by address to the allocator's memory.
#[derive(Clone, Copy)]
pub(super) struct Raw {
    pub(super) address: usize,
    pub(super) size: usize,
    pub(super) told: DataVarAccess,
}

/// The events of the current execution as monitors see them. Everything is computed only when needed.
#[derive(Default)]
pub(super) struct Record {
    sites: SiteNumbers,
    /// The number of executions before the current one.
    executions: u64,
    vars: Vec<VarMemory>,
    /// The locations of variables, and of blocks.
    var_locations: Vec<VarLocation>,
    blocks: Vec<Numbered>,
    pieces: HashMap<usize, Location>,
    memories: Memories,
    /// The number of unnamed pieces that each task accessed first.
    granules: HashMap<u32, u32>,
    /// The variables of cells and atomics, by address; no two overlap. Those of earlier executions stay, because in
    /// most executions every object is at the same address as in the one before.
    places: BTreeMap<usize, u32>,
    /// The atomics that came into use and are not yet among `places`: address, size, and variable.
    pub(super) atomics: Vec<(usize, usize, u32)>,
    /// Plain accesses by address, for atomics that are not in use yet.
    pub(super) raw: Vec<Raw>,
    accesses: Repeated<SyncVarAccess>,
    /// For each access, its kind and those of all accesses before it. The list is extended on request; entries for
    /// accesses that equal those of the previous execution are kept.
    ops: RefCell<Vec<SyncVarOps>>,
    /// The tasks that could take each step.
    pub(super) sets: Sets,
}

impl Record {
    /// Begins the next execution. Source places keep their numbers.
    pub(super) fn clear(&mut self) {
        self.executions += 1;
        self.pieces.clear();
        self.granules.clear();
        self.memories.used = 0;
        self.atomics.clear();
        self.raw.clear();
        self.accesses.begin();
        let kept = self.accesses.expected_entries().len();
        self.ops.get_mut().truncate(kept);
        self.sets.clear();
    }

    /// Returns the number of the current execution, from 1.
    #[inline]
    fn execution(&self) -> u64 {
        self.executions + 1
    }

    /// Returns the number of a source place.
    #[inline]
    pub(super) fn site_id(&mut self, site: Site) -> SiteId {
        self.sites.number(site)
    }

    /// Returns the source place with that number.
    pub(super) fn site(&self, site: SiteId) -> Option<Site> {
        self.sites.get(site)
    }

    /// Returns the number of a piece of memory, which this task accesses.
    #[inline(always)]
    pub(super) fn location(&mut self, memory: Memory, user: u32) -> Location {
        let known = match memory {
            Memory::Var(var) => return self.access_var(var, user),
            Memory::Block(block) => *entry(&mut self.blocks, block),
            Memory::Granule(_) => Numbered::default(),
        };
        if known.in_execution == self.execution() {
            return known.location;
        }
        self.new_location(memory, user)
    }

    /// Returns `true` if this piece of memory that the engine does not know has a number.
    pub(super) fn knows_piece(&self, start: usize) -> bool {
        self.pieces.contains_key(&start)
    }

    #[inline(never)]
    fn new_location(&mut self, memory: Memory, user: u32) -> Location {
        let location = Location(self.memories.used as u32);
        let numbered = Numbered {
            in_execution: self.execution(),
            location,
        };
        match memory {
            Memory::Var(var) => return self.new_var_location(var, user),
            Memory::Block(block) => *entry(&mut self.blocks, block) = numbered,
            Memory::Granule(start) => {
                if let Some(&known) = self.pieces.get(&start) {
                    return known;
                }
                self.pieces.insert(start, location);
                self.add_unnamed(memory, user);
                return location;
            }
        }
        self.memories.add(Named {
            memory,
            user,
            ordinal: 0,
        });
        location
    }

    /// Adds a location for memory that begins at this address, and that this task accessed first. Its pieces may have
    /// locations of their own.
    pub(super) fn new_part(&mut self, begin: usize, user: u32) -> Location {
        let location = Location(self.memories.used as u32);
        self.add_unnamed(Memory::Granule(begin), user);
        location
    }

    /// Adds a location without a name of its own.
    fn add_unnamed(&mut self, memory: Memory, user: u32) {
        let count = self.granules.entry(user).or_default();
        *count += 1;
        let ordinal = *count;
        self.memories.add(Named {
            memory,
            user,
            ordinal,
        });
    }

    /// Returns the location of a cell or an atomic that this task accesses.
    #[inline(always)]
    pub(super) fn access_var(&mut self, var: u32, user: u32) -> Location {
        if let Some(known) = self.var_locations.get_mut(var as usize)
            && self.memories.is_of(known.location, var)
        {
            known.dropped_in = 0;
            return Location(known.location);
        }
        entry(&mut self.var_locations, var);
        self.new_var_location(var, user)
    }

    /// Gives a cell or an atomic that has no location the next one.
    #[inline(always)]
    fn new_var_location(&mut self, var: u32, user: u32) -> Location {
        let location = self.memories.used as u32;
        self.var_locations[var as usize] = VarLocation {
            location,
            dropped_in: 0,
        };
        self.memories.add(Named {
            memory: Memory::Var(var),
            user,
            ordinal: 0,
        });
        Location(location)
    }

    /// Notes that a task accesses a cell or an atomic, and returns `true`; `false` if its location is not this one.
    #[inline(always)]
    pub(super) fn is_accessed_at(&mut self, var: u32, location: Location, user: u32) -> bool {
        let known = entry(&mut self.var_locations, var);
        if self.memories.is_of(known.location, var) {
            known.dropped_in = 0;
            return known.location == location.0;
        }
        let is_next = location.index() == self.memories.used;
        if is_next {
            self.new_var_location(var, user);
        }
        is_next
    }

    /// Returns the number of locations so far, and the number of those that were ever added.
    #[inline(always)]
    pub(super) fn locations(&self) -> (usize, u64) {
        (self.memories.used, self.memories.added)
    }

    /// Reuses this many of the first locations of the previous execution. None must be in use, and none may have been
    /// added since.
    pub(super) fn take_locations_again(&mut self, locations: usize) {
        debug_assert!(self.memories.used == 0 && locations <= self.memories.list.len());
        self.memories.used = locations;
    }

    /// Notes the end of a cell that is at this location, and returns `true`; `false` if it is not there.
    #[inline(always)]
    pub(super) fn is_dropped_at(&mut self, var: u32, location: Location) -> bool {
        let execution = self.execution();
        let known = entry(&mut self.var_locations, var);
        let is_there = known.location == location.0
            && known.dropped_in != execution
            && self.memories.is_of(known.location, var);
        if is_there {
            known.dropped_in = execution;
        }
        is_there
    }

    /// Notes the end of a cell, and returns its location; `None` if it has none.
    #[inline(always)]
    pub(super) fn drop_cell(&mut self, var: u32) -> Option<Location> {
        let execution = self.execution();
        let known = self.var_locations.get_mut(var as usize)?;
        let is_there = known.dropped_in != execution && self.memories.is_of(known.location, var);
        is_there.then(|| {
            known.dropped_in = execution;
            Location(known.location)
        })
    }

    #[inline]
    fn var(&mut self, var: u32) -> &mut VarMemory {
        entry(&mut self.vars, var)
    }

    /// Returns the piece of memory with that number.
    pub(super) fn memory(&self, location: Location) -> Option<Named> {
        let used = &self.memories.list[..self.memories.used];
        used.get(location.index()).copied()
    }

    /// Notes the position of a cell or an atomic; objects that were there before are gone.
    #[inline(always)]
    pub(super) fn put(&mut self, var: u32, address: usize, size: usize, is_atomic: bool) {
        let execution = self.execution();
        let known = self.var(var);
        if known.is_indexed && (known.address, known.size) == (address, size) {
            // Nothing has been put there since, in whichever execution.
            (known.placed_in, known.is_atomic) = (execution, is_atomic);
        } else {
            self.move_to(var, address, size, is_atomic);
        }
    }

    #[inline(never)]
    fn move_to(&mut self, var: u32, address: usize, size: usize, is_atomic: bool) {
        let before = *self.var(var);
        if before.is_indexed {
            self.places.remove(&before.address);
        }
        let end = address.saturating_add(size);
        while let Some((&start, &there)) = self.places.range(..end).next_back()
            && start + self.vars[there as usize].size > address
        {
            self.places.remove(&start);
            let gone = self.var(there);
            (gone.is_indexed, gone.placed_in) = (false, 0);
        }
        if size > 0 {
            self.places.insert(address, var);
        }
        let placed_in = self.execution();
        let known = self.var(var);
        *known = VarMemory {
            placed_in,
            address,
            size,
            is_atomic,
            is_indexed: size > 0,
        };
    }

    /// Forgets what was in memory that is used again: its pieces get new locations.
    #[cfg(feature = "unmodified")]
    pub(super) fn forget(&mut self, memory: std::ops::Range<usize>) {
        self.settle_atomics();
        if self.pieces.len() < memory.len() / GRANULE {
            self.pieces.retain(|start, _| !memory.contains(start));
        } else {
            for start in memory.clone().step_by(GRANULE) {
                self.pieces.remove(&start);
            }
        }
        while let Some((&start, &there)) = self.places.range(..memory.end).next_back()
            && start + self.vars[there as usize].size > memory.start
        {
            self.places.remove(&start);
            let gone = self.var(there);
            (gone.is_indexed, gone.placed_in) = (false, 0);
        }
    }

    /// Enters the positions of the atomics that came into use.
    pub(super) fn settle_atomics(&mut self) {
        let mut atomics = std::mem::take(&mut self.atomics);
        for (address, size, var) in atomics.drain(..) {
            self.put(var, address, size, true);
        }
        self.atomics = atomics;
    }

    /// Returns the address and the size of a cell or an atomic.
    pub(super) fn extent(&self, var: u32) -> Option<(usize, usize)> {
        let known = self.vars.get(var as usize)?;
        (known.placed_in == self.execution()).then_some((known.address, known.size))
    }

    /// Notes that a cell or an atomic is no longer at its address. Returns `true` if an address was known.
    pub(super) fn take_away(&mut self, var: u32) -> bool {
        let execution = self.execution();
        let known = self.var(var);
        let was_there = known.placed_in == execution;
        known.placed_in = 0;
        was_there
    }

    /// Returns the object at this entry of `places`, if it was put there in this execution.
    fn place(&self, var: u32) -> Option<Place> {
        let known = &self.vars[var as usize];
        (known.placed_in == self.execution()).then_some(Place {
            size: known.size,
            var,
            is_atomic: known.is_atomic,
        })
    }

    /// Returns the cell or atomic in which an address lies, and the address at which it begins.
    pub(super) fn place_at(&self, address: usize) -> Option<(usize, Place)> {
        let (&start, &var) = self.places.range(..=address).next_back()?;
        let place = self.place(var)?;
        (address - start < place.size).then_some((start, place))
    }

    /// Returns the address at which the next cell or atomic after this address begins.
    pub(super) fn next_place_after(&self, address: usize) -> Option<usize> {
        let mut next = self.places.range(address + 1..);
        next.find_map(|(&start, &var)| self.place(var).map(|_| start))
    }

    /// Returns the last of the first `events` events that is this task's.
    pub(super) fn last_event(&self, events: u32, task: u32) -> LastEvent {
        let before = self.accesses.as_slice()[..events as usize].iter().rev();
        let mut own = before.filter(|access| access.event.task.0 == task);
        let last = own.next();
        LastEvent {
            index: last.map_or(0, |access| access.event.index),
            site: last.map_or(SiteId(u32::MAX), |access| access.site),
        }
    }

    /// Adds the events since the last call. `events` are all events of the execution. The first `alike` of them are
    /// like those of the execution before, except for the values read and written.
    #[inline]
    pub(super) fn catch_up(&mut self, events: &[Event], alike: usize) {
        if self.accesses.len() < events.len() {
            self.take_in(events, alike);
        }
    }

    /// Does the same, most often for a single event, and returns the last access; `None` if there is none.
    #[inline(always)]
    pub(super) fn catch_up_with_last(&mut self, events: &[Event], alike: usize) -> Option<SyncVarAccess> {
        let at = self.accesses.len();
        let last = at + 1 == events.len();
        if let Some(event) = events.get(at)
            && last
        {
            match self.accesses.expected() {
                Some(known) if at < alike && (known.read, known.written) == (event.read, event.written) => {
                    let known = *known;
                    self.accesses.push_expected(1);
                    return Some(known);
                }
                None if at >= alike => {
                    let access = access(&mut self.sites, event);
                    self.accesses.push_new(access);
                    return Some(access);
                }
                _ => {}
            }
        }
        self.catch_up(events, alike);
        self.accesses.as_slice().last().copied()
    }

    #[inline(never)]
    fn take_in(&mut self, events: &[Event], alike: usize) {
        let first = self.accesses.len();
        if let Some(alike) = events.get(first..alike) {
            let known = self.accesses.expected_entries();
            let both = known.len().min(alike.len());
            let (known, alike) = (&known[..both], &alike[..both]);
            let differ =
                |&at: &usize| (known[at].read, known[at].written) != (alike[at].read, alike[at].written);
            let same = (0..both).find(differ).unwrap_or(both);
            self.accesses.push_expected(same);
        }
        let mut rest = events[self.accesses.len()..].iter();
        for event in rest.by_ref() {
            let access = access(&mut self.sites, event);
            if !self.accesses.push(access) {
                self.ops.get_mut().truncate(self.accesses.len() - 1);
                break;
            }
        }
        let sites = &mut self.sites;
        self.accesses.push_all_new(rest.map(|event| access(sites, event)));
    }

    /// Does the same under a memory model; `stores` are the numbers of their stores.
    pub(super) fn catch_up_by_model(&mut self, events: &[Event], stores: &[EventStore]) {
        let first = self.accesses.len();
        for (event, store) in events.iter().zip(stores).skip(first) {
            let access = sync_var_access(event, self.sites.number(event.site), store.number);
            if !self.accesses.push(access) {
                self.ops.get_mut().truncate(self.accesses.len() - 1);
            }
        }
    }

    /// Returns the kinds of the accesses that have been added.
    pub(super) fn ops(&self) -> SyncVarOps {
        let accesses = self.accesses.as_slice();
        let mut known = self.ops.borrow_mut();
        if let Some(last) = accesses.len().checked_sub(1)
            && let Some(&ops) = known.get(last)
        {
            return ops;
        }
        let first = known.len().min(accesses.len());
        let mut ops = known[..first].last().copied().unwrap_or_default();
        known.extend(accesses[first..].iter().map(|access| {
            ops = ops.with(access.op);
            ops
        }));
        ops
    }

    /// Returns the accesses that have been added.
    pub(super) fn accesses(&self) -> &[SyncVarAccess] {
        self.accesses.as_slice()
    }

    /// Returns the number of accesses, from the first, that are as in the execution before.
    pub(super) fn same_accesses(&self) -> usize {
        self.accesses.same()
    }

    /// Notes that the execution has ended, and that all of it has been added.
    pub(super) fn end(&mut self) {
        self.accesses.end();
    }

    /// Returns the tasks that could take step `n`, if they were noted.
    pub(super) fn enabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.sets.of(step).map(|sets| listed(&sets.enabled))
    }

    /// Returns the tasks that could not take step `n`, if they were noted.
    pub(super) fn disabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.sets.of(step).map(|sets| listed(&sets.disabled))
    }

    /// Returns the tasks that could take step `n` and that fairness held back, if they were noted.
    pub(super) fn held_back_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.sets.of(step).map(|sets| listed(&sets.held_back))
    }

    /// Returns the number of the schedule point right before an event, from 1, if there was one and it was noted.
    pub(super) fn point_of(&self, event: EventId) -> Option<usize> {
        let accesses = self.accesses.as_slice();
        let step = accesses.iter().rposition(|access| access.event == event)?;
        let point = self.sets.of(step)?.point;
        (point > 0).then_some(point)
    }
}

impl Runtime {
    /// Adds all events so far to the monitors' record, with their stores.
    #[cold]
    #[inline(never)]
    pub(super) fn catch_up_by_model(&mut self) {
        self.observe_by_model();
        let known = self.monitors.listeners.record();
        let stores = self.memory.event_stores().unwrap_or_default();
        known.catch_up_by_model(self.record.events.as_slice(), stores);
    }
}

/// Returns an event as monitors see it, without a memory model.
#[inline(always)]
fn access(sites: &mut SiteNumbers, event: &Event) -> SyncVarAccess {
    sync_var_access(event, sites.number(event.site), 0)
}

/// Returns the entry with that number, which is created if it is missing.
#[inline(always)]
fn entry<T: Clone + Default>(list: &mut Vec<T>, number: u32) -> &mut T {
    let at = number as usize;
    if at >= list.len() {
        make_entry(list, at);
    }
    &mut list[at]
}

#[cold]
#[inline(never)]
fn make_entry<T: Clone + Default>(list: &mut Vec<T>, at: usize) {
    list.resize(at + 1, T::default());
}

fn listed(tasks: &TaskSet) -> Vec<TaskId> {
    tasks.iter().map(TaskId).collect()
}

/// Returns both variables of an operation on two variables, of which monitors are notified as well.
pub(super) fn aggregate(access: &SyncVarAccess) -> Option<[SyncVar; 2]> {
    match access.op {
        SyncVarOp::CondvarWait => Some([access.var, access.other_var()]),
        _ => None,
    }
}
