//! The engine as a monitor's `Host`.

use super::super::Runtime;
use super::super::naming::{lineage, site_name, task_name, var_name};
use super::Said;
use super::record::{Memory, Named, Record};
use super::source_names::{self, SourceName};
use crate::record::Status;
use crate::schedule;
use intermezzo_sdk::{
    Choice, ChoiceKind, EventId, EventStatus, HappensBefore, Host, Location, MonitorFinding, SiteId, SyncVar,
    SyncVarAccess, SyncVarOps, TaskId, VectorClock,
};

/// The engine, for the length of one call.
pub(super) struct View<'a> {
    pub(super) rt: &'a Runtime,
    pub(super) said: &'a mut Said,
}

impl View<'_> {
    /// Returns the execution so far.
    #[inline(always)]
    fn record(&self) -> &Record {
        let record = self.rt.monitors.listeners.record.as_deref();
        record.expect("it is made before the first call")
    }

    /// Returns the happens-before order of all accesses.
    fn caught_up_order(&mut self) -> &HappensBefore {
        let listeners = &self.rt.monitors.listeners;
        let order = &mut self.said.order;
        for access in &listeners.accesses()[order.len()..] {
            order.add(access);
        }
        order
    }

    /// Returns the name of a variable in the source.
    fn in_source(&self, var: SyncVar) -> SourceName {
        source_names::of(
            self.rt,
            self.record(),
            &self.rt.monitors.listeners.asked_names,
            var,
        )
    }
}

impl Host for View<'_> {
    fn report(&mut self, report: MonitorFinding) {
        self.said.reports.push(report);
    }

    fn task_name(&self, task: TaskId) -> String {
        task_name(self.rt, task.0)
    }

    fn var_name(&self, var: SyncVar) -> String {
        var_name(self.rt, var.0)
    }

    fn source_name(&self, var: SyncVar) -> String {
        self.given_name(var).unwrap_or_else(|| self.in_source(var).name)
    }

    fn given_name(&self, var: SyncVar) -> Option<String> {
        self.rt.objects.given_names.of(var.0).map(str::to_owned)
    }

    fn var_kind(&self, var: SyncVar) -> String {
        let vars = &self.rt.objects.vars;
        if var.index() >= vars.count() {
            return String::new();
        }
        vars[var.0].kind.name().to_owned()
    }

    fn made_at(&self, var: SyncVar) -> String {
        let vars = &self.rt.objects.vars;
        let known = (var.index() < vars.count()).then(|| &vars[var.0]);
        let first_use = || known?.first_site.map(site_name);
        self.in_source(var).made_at.or_else(first_use).unwrap_or_default()
    }

    fn location_name(&self, location: Location) -> String {
        let Some(Named {
            memory,
            user,
            ordinal,
        }) = self.record().memory(location)
        else {
            return String::new();
        };
        match memory {
            Memory::Var(var) => var_name(self.rt, var),
            Memory::Block(block) => self.rt.block_name(block),
            Memory::Granule(_) => format!("memory {}.{ordinal}", lineage(self.rt.tasks.with_earlier(), user)),
        }
    }

    fn is_held_by_static(&self, location: Location) -> bool {
        let memory = self.record().memory(location).map(|named| named.memory);
        matches!(memory, Some(Memory::Block(block)) if self.rt.end.held_by_statics.contains(&block))
    }

    fn site_name(&self, site: SiteId) -> String {
        self.record()
            .site(site)
            .map_or_else(|| "unknown".into(), site_name)
    }

    fn accesses(&self) -> &[SyncVarAccess] {
        self.record().accesses()
    }

    fn ops(&self) -> SyncVarOps {
        self.record().ops()
    }

    fn enabled(&self) -> Vec<TaskId> {
        self.rt.ready.enabled().iter().map(TaskId).collect()
    }

    fn disabled(&self) -> Vec<TaskId> {
        let present = self.rt.tasks.numbers().filter(|&task| self.rt.is_present(task));
        let stuck = present.filter(|&task| !self.rt.ready.is_enabled(task));
        stuck.map(TaskId).collect()
    }

    fn enabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.record().enabled_at(step)
    }

    fn disabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.record().disabled_at(step)
    }

    fn held_back_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.record().held_back_at(step)
    }

    fn point_of(&self, event: EventId) -> Option<usize> {
        self.record().point_of(event)
    }

    fn status(&self, event: EventId) -> Option<EventStatus> {
        let events = &self.rt.record.events;
        let task = event.task.0;
        if let Some(happened) = events.of(task, event.index) {
            return Some(match happened.elided {
                false => EventStatus::Committed,
                true => EventStatus::Redundant,
            });
        }
        let is_there = self.rt.tasks.numbers().any(|number| number == task) && self.rt.is_present(task);
        if !is_there || event.index != self.rt.tasks[task].events + 1 {
            return None;
        }
        Some(match self.rt.ready.is_enabled(task) {
            false => EventStatus::Blocked,
            true if events.is_preempted(task) => EventStatus::Preempted,
            true => EventStatus::Ready,
        })
    }

    fn prescribed(&self) -> Vec<Choice> {
        self.rt.decisions.prescribed().iter().map(choice).collect()
    }

    fn happens_before(&mut self, a: EventId, b: EventId) -> bool {
        self.caught_up_order().before(a, b)
    }

    fn clock(&mut self, event: EventId) -> Option<&VectorClock> {
        self.caught_up_order().clock(event)
    }
}

/// Returns a choice as monitors see it.
fn choice(choice: &schedule::Choice) -> Choice {
    use schedule::ChoiceKind::*;
    Choice {
        kind: match choice.kind {
            Task => ChoiceKind::Task,
            Value => ChoiceKind::Value,
            WeakExchange => ChoiceKind::WeakExchange,
            TryLock => ChoiceKind::TryLock,
            Waiter => ChoiceKind::Waiter,
            Wake => ChoiceKind::Wake,
            Rescue => unreachable!("it is a kind of older schedules, which are refused"),
            Ended => ChoiceKind::Ended,
        },
        preempts: choice.preempts,
        alternatives: choice.alternatives,
        taken: choice.taken,
    }
}

impl Runtime {
    /// Returns `true` if a task has been created and has not ended.
    pub(super) fn is_present(&self, task: u32) -> bool {
        self.tasks[task].status != Status::Ended
    }
}
