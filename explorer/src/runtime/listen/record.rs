//! The execution that runs, in the words of the monitors.

use super::super::task_set::TaskSet;
use super::super::{Event, Site};
use intermezzo_sdk::{EventId, HappensBefore, Location, SiteId, SyncVar, SyncVarAccess, SyncVarOp, TaskId};
use std::collections::HashMap;

/// Plain memory that monitors are told about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Memory {
    /// What a variable holds: a cell's value, or an atomic's.
    Var(u32),
}

/// What happened in the execution that runs. Nothing is computed before somebody needs it.
#[derive(Default)]
pub(super) struct Record {
    sites: HashMap<Site, SiteId>,
    site_list: Vec<Site>,
    locations: HashMap<Memory, Location>,
    memories: Vec<Memory>,
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
        self.accesses.clear();
        if !self.order.is_empty() {
            self.order.clear();
        }
        self.enabled_sets.clear();
        self.next_sets = None;
    }

    /// The number of a source place.
    pub(super) fn site_id(&mut self, site: Site) -> SiteId {
        *self.sites.entry(site).or_insert_with(|| {
            self.site_list.push(site);
            SiteId(self.site_list.len() as u32 - 1)
        })
    }

    /// The source place of that number.
    pub(super) fn site(&self, site: SiteId) -> Option<Site> {
        self.site_list.get(site.0 as usize).copied()
    }

    /// The number of a piece of memory.
    pub(super) fn location(&mut self, memory: Memory) -> Location {
        *self.locations.entry(memory).or_insert_with(|| {
            self.memories.push(memory);
            Location(self.memories.len() as u32 - 1)
        })
    }

    /// The piece of memory of that number.
    pub(super) fn memory(&self, location: Location) -> Option<Memory> {
        self.memories.get(location.index()).copied()
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
