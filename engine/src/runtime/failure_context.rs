//! A description of an execution, for reports.

use super::naming::{site_name, task_name, var_name};
use super::{FailureContext, Layout, Runtime, Waiting};
use crate::described::{Effect, FindingDeed, FindingEvent, NamedPlace, values};
use crate::memory_model::{ExecutionGraph, StaleOperation};
use crate::record::{Event, NO_TASK, Status, VarKind};
use crate::site::Site;
use crate::strategy::Operation;
use intermezzo_sdk::{Deed, EventId, MemoryOrder, SyncVar, SyncVarOp, TaskId};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Runtime {
    /// Returns the next operation of each task that has not ended.
    pub(super) fn wanted(&self) -> Vec<Operation> {
        let present = self.tasks.unfinished();
        let operation = |task: u32| {
            let access = self.tasks[task].pending.access;
            Operation {
                task: TaskId(task),
                op: access.op,
                var: SyncVar(access.var),
                site: access.site,
            }
        };
        present.map(operation).collect()
    }

    fn holds_address(&self, var: u32) -> bool {
        (var as usize) < self.objects.vars.count() && self.objects.vars[var].holds_address
    }

    /// Returns `true` if an event is an allocation that got memory that was freed before.
    fn reuses_memory(&self, event: &Event) -> bool {
        let known = (event.var as usize) < self.objects.vars.count();
        known && self.objects.vars[event.var].kind == VarKind::Heap && event.read > 0
    }

    /// Returns the task that holds this lock alone, and the place where it took it.
    fn owner(&self, var: u32) -> Option<(u32, Site)> {
        let known = (var as usize) < self.objects.vars.count();
        let entry = known.then(|| &self.objects.vars[var])?;
        (entry.owner != NO_TASK).then(|| (entry.owner, entry.owned_at.unwrap_or(Site::NOWHERE)))
    }

    /// Returns a task that holds this lock for reading, and the place where it took it. Prefers the task `waits`, then
    /// tasks that have not ended. Returns `None` if a task dropped a guard that it had not acquired.
    fn reader(&self, var: u32, waits: u32) -> Option<(u32, Site)> {
        let mut taken: BTreeMap<u32, Vec<Site>> = BTreeMap::new();
        for event in self.record.events.as_slice() {
            match event.op {
                _ if event.var != var => {}
                SyncVarOp::SharedAcquire | SyncVarOp::SharedTryAcquire => {
                    taken.entry(event.task).or_default().push(event.site);
                }
                SyncVarOp::SharedRelease => {
                    // Its place is the one where the guard was taken.
                    let places = taken.get_mut(&event.task)?;
                    let at = places.iter().rposition(|site| site.is_same_word(event.site))?;
                    places.remove(at);
                }
                _ => {}
            }
        }
        let readers = taken
            .iter()
            .filter_map(|(&task, places)| Some((task, *places.last()?)));
        readers.min_by_key(|&(task, _)| (task != waits, self.tasks[task].status == Status::Ended))
    }

    /// Returns the description of the execution.
    pub(super) fn scene(&mut self) -> FailureContext {
        self.observe_by_model();
        let mut reported = std::mem::take(&mut self.monitors.listeners.reported);
        for reported in &mut reported {
            let sites = reported.report.sites.iter();
            let sites = sites.filter_map(|&site| self.monitors.listeners.site(site));
            let place = |site| NamedPlace {
                site: site_name(site),
                what: "object".into(),
            };
            reported.places = sites.map(place).collect();
            let deeds = std::mem::take(&mut reported.report.deeds).into_iter();
            let deed = |deed: Deed| FindingDeed {
                after: deed.after.to_string(),
                task: task_name(self, deed.after.task.0),
                what: deed.what,
                site: self
                    .monitors
                    .listeners
                    .site(deed.site)
                    .map(site_name)
                    .unwrap_or_default(),
            };
            reported.deeds = deeds.map(deed).collect();
        }
        let named = |task: u32| task_name(self, task);
        let panics = self
            .end
            .panics
            .iter()
            .filter(|note| note.escaped || note.unwinding || note.passed_on)
            .map(|note| (named(note.task), note.clone()))
            .collect();
        let waiting = self
            .tasks
            .numbers()
            .filter(|&task| self.tasks[task].status != Status::Ended)
            .map(|task| {
                let mut access = self.tasks[task].pending.access;
                if let Some(at) = self.tasks[task].waits_at {
                    // It waits at its own variable, like a task that parks; the report shows the futex's variable.
                    (access.op, access.var) = (SyncVarOp::AtomicRmw, at.var);
                }
                let owner = self.owner(access.var).or_else(|| self.reader(access.var, task));
                Waiting {
                    task: named(task),
                    op: access.op,
                    var: var_name(self, access.var),
                    site: site_name(access.site),
                    owner: owner.map(|(owner, since)| (named(owner), site_name(since))),
                    awaited: self.awaited_in_words(task),
                }
            })
            .collect();
        // Addresses differ between processes, so they are numbered in order of appearance. Not a hash table, because
        // the number of hash tables that were created shows whether the test created one.
        let mut addresses: BTreeMap<u64, u64> = BTreeMap::from([(0, 0)]);
        let mut plain = |event: &Event, value: u64| {
            if !self.holds_address(event.var) {
                return value;
            }
            let next = addresses.len() as u64;
            *addresses.entry(value).or_insert(next)
        };
        let stores = self.memory.event_stores();
        let graph = self.memory.graph(self.record.events.as_slice());
        let stale = graph.iter().flat_map(ExecutionGraph::stale_operations);
        let mut stale: BTreeMap<EventId, StaleOperation> = stale.collect();
        let events = self
            .telling_events()
            .iter()
            .enumerate()
            .map(|(at, event)| {
                let id = EventId {
                    task: TaskId(event.task),
                    index: event.index,
                };
                let StaleOperation { from, newer } = stale.remove(&id).unwrap_or_default();
                let (read, written) = values(event.op, plain(event, event.read), plain(event, event.written));
                FindingEvent {
                    id: id.to_string(),
                    task: named(event.task),
                    op: event.op.name().into(),
                    effect: match event.op {
                        SyncVarOp::CondvarWake | SyncVarOp::Park if event.read == 1 => Some(Effect::Spurious),
                        SyncVarOp::AtomicRmwFailed if event.written == 1 => Some(Effect::Spurious),
                        SyncVarOp::DataWrite if self.reuses_memory(event) => Some(Effect::Reused),
                        _ if event.elided => Some(Effect::Elided),
                        _ => stores.and_then(|stores| stores.get(at)?.effect),
                    },
                    from: from.map(|event| event.to_string()),
                    newer: newer.iter().map(EventId::to_string).collect(),
                    order: match event.order {
                        MemoryOrder::None => None,
                        order => Some(format!("{order:?}")),
                    },
                    var: var_name(self, event.var),
                    read,
                    written,
                    // The test's own body has no place of creation in the source.
                    site: match event.op {
                        SyncVarOp::TaskBegin | SyncVarOp::TaskEnd if event.task == 0 => String::new(),
                        _ => site_name(event.site),
                    },
                    preempts: self.record.events.preempts(at),
                    concerned: false,
                }
            })
            .collect();
        let given = self.objects.given_names.iter();
        let given_names = given.map(|(var, name)| (var_name(self, var), name.to_owned()));
        let given_names = given_names.collect();
        let vars = (0..self.objects.vars.count() as u32).filter_map(|var| {
            let (address, size) = self.objects.vars[var].memory?;
            Some((var_name(self, var), address, size))
        });
        let layout = Layout::new(vars);
        let current = named(self.tasks.current());
        let choices = self.decisions.with_closed();
        FailureContext {
            panics,
            waiting,
            reported,
            events,
            given_names,
            layout,
            graph: graph.map(Arc::new),
            current,
            toucher: None,
            unlike: self.decisions.alike.told(self.limits.unmodified),
            choices,
            // If fairness left nothing out, the alternatives were the same.
            premises: self
                .constraints
                .premises(self.ready.lists_all() && self.ready.unfair_left_out()),
        }
    }
}
