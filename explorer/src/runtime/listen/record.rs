//! The execution that runs, in the words of the monitors.

use super::super::task_set::TaskSet;
use super::super::{Event, Site};
use super::sites::SiteNumbers;
use hashbrown::HashMap;
use intermezzo_sdk::{EventId, HappensBefore, Location, SiteId, SyncVar, SyncVarAccess, SyncVarOp, TaskId};
use std::collections::BTreeMap;

/// Plain memory that monitors are told about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Memory {
    /// What a variable holds: a cell's value, or an atomic's.
    Var(u32),
    /// A block.
    Block(u32),
    /// A piece of memory of which nobody told the engine, by its address.
    Granule(usize),
}

/// A location, and what its name needs.
#[derive(Clone, Copy)]
pub(super) struct Named {
    pub(super) memory: Memory,
    /// Who accessed it first, and the how-manieth piece of that task's it was: for what has no other name.
    pub(super) user: u32,
    pub(super) ordinal: u32,
}

/// Where a cell or an atomic was when it was last accessed.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) size: usize,
    pub(super) var: u32,
    pub(super) is_atomic: bool,
}

/// What happened in the execution that runs. Nothing is computed before somebody needs it.
#[derive(Default)]
pub(super) struct Record {
    sites: SiteNumbers,
    locations: HashMap<Memory, Location>,
    memories: Vec<Named>,
    /// How many pieces without a name each task accessed first.
    granules: HashMap<u32, u32>,
    /// Cells and atomics, by address; no two overlap.
    places: BTreeMap<usize, Place>,
    /// Where each of them is.
    placed: HashMap<u32, usize>,
    accesses: Vec<SyncVarAccess>,
    order: HappensBefore,
    /// Who could take each step, and who could not.
    enabled_sets: Vec<(TaskSet, TaskSet)>,
    /// The same of the step that comes next, if that is settled.
    next_sets: Option<(TaskSet, TaskSet)>,
}

impl Record {
    /// Begins the next execution. Source places keep their numbers.
    pub(super) fn clear(&mut self) {
        self.locations.clear();
        self.memories.clear();
        self.granules.clear();
        self.places.clear();
        self.placed.clear();
        self.accesses.clear();
        if !self.order.is_empty() {
            self.order.clear();
        }
        self.enabled_sets.clear();
        self.next_sets = None;
    }

    /// The number of a source place.
    #[inline]
    pub(super) fn site_id(&mut self, site: Site) -> SiteId {
        self.sites.number(site)
    }

    /// The source place of that number.
    pub(super) fn site(&self, site: SiteId) -> Option<Site> {
        self.sites.get(site)
    }

    /// The number of a piece of memory, which this task accesses.
    pub(super) fn location(&mut self, memory: Memory, user: u32) -> Location {
        *self.locations.entry(memory).or_insert_with(|| {
            let ordinal = match memory {
                Memory::Granule(_) => {
                    let count = self.granules.entry(user).or_default();
                    *count += 1;
                    *count
                }
                Memory::Var(_) | Memory::Block(_) => 0,
            };
            self.memories.push(Named {
                memory,
                user,
                ordinal,
            });
            Location(self.memories.len() as u32 - 1)
        })
    }

    /// The piece of memory of that number.
    pub(super) fn memory(&self, location: Location) -> Option<Named> {
        self.memories.get(location.index()).copied()
    }

    /// Notes where a cell or an atomic is; whatever was there before is no more.
    pub(super) fn put(&mut self, var: u32, address: usize, size: usize, is_atomic: bool) {
        if self.placed.get(&var) == Some(&address)
            && self.places.get(&address).is_some_and(|at| at.var == var)
        {
            return;
        }
        self.take_away(var);
        let end = address.saturating_add(size);
        let overlapping =
            |(&start, at): (&usize, &Place)| (start + at.size > address).then_some((start, at.var));
        while let Some((start, gone)) = self.places.range(..end).next_back().and_then(overlapping) {
            self.places.remove(&start);
            self.placed.remove(&gone);
        }
        self.placed.insert(var, address);
        if size > 0 {
            self.places.insert(address, Place { size, var, is_atomic });
        }
    }

    /// A cell or an atomic is not where it was. Whether it was known to be anywhere.
    pub(super) fn take_away(&mut self, var: u32) -> bool {
        let Some(address) = self.placed.remove(&var) else {
            return false;
        };
        if self.places.get(&address).is_some_and(|at| at.var == var) {
            self.places.remove(&address);
        }
        true
    }

    /// The cell or atomic in which an address lies, and where that begins.
    pub(super) fn place_at(&self, address: usize) -> Option<(usize, Place)> {
        let (&start, &place) = self.places.range(..=address).next_back()?;
        (address - start < place.size).then_some((start, place))
    }

    /// Where the next cell or atomic after this address begins.
    pub(super) fn next_place_after(&self, address: usize) -> Option<usize> {
        self.places.range(address + 1..).next().map(|(&start, _)| start)
    }

    /// Where in the source an event is.
    pub(super) fn last_site(&mut self, event: EventId) -> SiteId {
        let access = self.accesses.iter().rev().find(|access| access.event == event);
        access.map_or(SiteId(u32::MAX), |access| access.site)
    }

    /// Takes in what has happened since: `events` are all events of the execution.
    pub(super) fn catch_up(&mut self, events: &[Event]) {
        for event in &events[self.accesses.len()..] {
            let site = self.site_id(event.site);
            self.accesses.push(SyncVarAccess {
                event: EventId {
                    task: TaskId(event.task),
                    index: event.index,
                },
                var: SyncVar(event.var),
                op: event.op,
                order: event.order,
                read: event.read,
                written: event.written,
                site,
            });
        }
    }

    /// What has happened, as far as it was caught up with.
    pub(super) fn accesses(&self) -> &[SyncVarAccess] {
        &self.accesses
    }

    /// The order of all that.
    pub(super) fn order(&mut self) -> &HappensBefore {
        for access in &self.accesses[self.order.len()..] {
            self.order.add(access);
        }
        &self.order
    }

    /// Keeps who can take the next step and who cannot.
    pub(super) fn next_step(&mut self, enabled: TaskSet, disabled: TaskSet) {
        self.next_sets = Some((enabled, disabled));
    }

    /// A step was taken; if it was not announced, these could.
    pub(super) fn step_taken(&mut self, now: (TaskSet, TaskSet)) {
        let sets = self.next_sets.take().unwrap_or(now);
        self.enabled_sets.push(sets);
    }

    /// Who could take step `n`, if that was kept.
    pub(super) fn enabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.enabled_sets.get(step).map(|(enabled, _)| listed(enabled))
    }

    /// Who could not.
    pub(super) fn disabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.enabled_sets.get(step).map(|(_, disabled)| listed(disabled))
    }
}

fn listed(tasks: &TaskSet) -> Vec<TaskId> {
    tasks.iter().map(TaskId).collect()
}

/// Whether the operation works on a second variable, which monitors are told of as well.
pub(super) fn aggregate(access: &SyncVarAccess) -> Option<[SyncVar; 2]> {
    match access.op {
        SyncVarOp::CondvarWait => Some([access.var, access.other_var()]),
        _ => None,
    }
}
