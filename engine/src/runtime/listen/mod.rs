//! Publishing of events to monitors. None of this runs when there are no listeners.

mod held;
mod log;
mod memory;
mod monitors;
mod pointers;
mod record;
mod repeated;
mod sets;
mod sites;
mod source_names;
mod view;

pub(super) use held::HeldBack;
pub use memory::{DataAccess, Does, Owner};
pub(super) use monitors::Monitors;
pub(super) use pointers::{Pointers, probe};
pub(super) use record::Memory;
pub use source_names::{SourceName, SourceNames};

use super::inspection::{Inspector, UnderWay};
use super::panics::caught;
use super::{Access, Engine, Runtime};
use crate::described::{FindingDeed, NamedPlace};
use crate::record::Status;
use crate::site::Site;
use intermezzo_sdk as sdk;
use log::Log;
use record::{Record, aggregate};
use sdk::{
    Context, EventAttribute, EventId, Execution, FindingKind, Interests, MemoryDeed, MemoryEvent, Monitor,
    PointKind, SchedulePoint, SyncVar, SyncVarOp, TaskId, UserEvent,
};
use source_names::AskedNames;
use std::cell::RefCell;
use view::View;

/// A finding of a monitor, in the current execution.
pub struct Reported {
    /// The name of the monitor.
    pub monitor: String,
    /// Its report.
    pub report: sdk::MonitorFinding,
    /// The places that it names, as text; filled in at the end of the execution.
    pub places: Vec<NamedPlace>,
    /// The operations that it concerns and that are not events, as text; also filled in at the end of the execution.
    pub deeds: Vec<FindingDeed>,
}

/// A monitor, and its declarations at the beginning.
struct Listener {
    monitor: Box<dyn Monitor>,
    name: String,
    /// Its interests; `NONE` once it has panicked.
    interests: Interests,
    /// `true` if it is notified of plain memory when the execution has ended.
    afterwards: bool,
    /// `true` if it panicked: it is not called any more.
    gone: bool,
}

/// The interests that can be served after the execution.
const MEMORY: Interests = Interests::DATA_ACCESSES.and(Interests::ALLOCATIONS);

/// The maximum number of events of plain memory that are kept before monitors are notified.
const LOG_MAX: usize = 1 << 16;

impl Listener {
    /// Returns `true` if it must be notified of this at once.
    #[inline]
    fn wants(&self, what: Interests) -> bool {
        self.interests.intersects(what) && !(self.afterwards && MEMORY.intersects(what))
    }

    /// Returns `true` if it has not panicked.
    fn is_there(&self) -> bool {
        !self.gone
    }

    /// Returns `true` if it wants to be notified of plain memory afterwards.
    fn wants_log(&self) -> bool {
        self.afterwards && self.interests.intersects(MEMORY)
    }
}

/// The monitors, and their reports during a call.
struct Audience {
    list: Vec<Listener>,
    said: Said,
    /// After a call that was interrupted: the number of monitors that it had reached, and the panic of the last of them
    /// if it panicked.
    told: usize,
    panic: Option<String>,
}

/// The reports of the monitors during a call, and the answers that were computed for them.
#[derive(Default)]
struct Said {
    reports: Vec<sdk::MonitorFinding>,
    /// The happens-before order of the execution, computed up to the last request for it.
    order: sdk::HappensBefore,
}

/// The monitors, and the data to notify them in their own terms.
#[derive(Default)]
pub struct Listeners {
    /// `None` if there are none, and during a call.
    monitors: Option<Box<Audience>>,
    /// The execution so far, as monitors see it; created when first needed.
    record: Option<Box<Record>>,
    /// The operations on plain memory that monitors were not notified of yet.
    log: Log,
    /// `true` if a monitor wants the log when the execution has ended.
    keeps_log: bool,
    /// `true` if a monitor wants to be notified of plain memory at once.
    tells_at_once: bool,
    /// `true` if a monitor has panicked in the current call.
    any_gone: bool,
    /// The findings of the current execution.
    pub reported: Vec<Reported>,
    /// The names of variables that monitors have asked for.
    asked_names: RefCell<AskedNames>,
    /// The functions for inspections, if those are requested; and the inspection in progress.
    pub(super) inspector: Option<Box<Inspector>>,
    pub(super) inspect: Option<UnderWay>,
}

impl Listeners {
    /// Makes listeners of these monitors.
    pub fn new(monitors: Vec<Box<dyn Monitor>>) -> Listeners {
        let listener = |monitor: Box<dyn Monitor>| Listener {
            name: monitor.name().to_owned(),
            interests: monitor.interests(),
            afterwards: monitor.memory_afterwards(),
            gone: false,
            monitor,
        };
        let list: Vec<Listener> = monitors.into_iter().map(listener).collect();
        Listeners {
            keeps_log: list.iter().any(Listener::wants_log),
            tells_at_once: list.iter().any(|listener| listener.wants(MEMORY)),
            monitors: (!list.is_empty()).then(|| {
                Box::new(Audience {
                    list,
                    said: Said::default(),
                    told: 0,
                    panic: None,
                })
            }),
            ..Listeners::default()
        }
    }

    /// Returns the interests of all monitors.
    pub fn interests(&self) -> Interests {
        let there = self.monitors.iter().flat_map(|audience| &audience.list);
        there.fold(self.inspection_interests(), |all, listener| {
            all | listener.interests
        })
    }

    #[inline(always)]
    fn record(&mut self) -> &mut Record {
        if self.record.is_none() {
            self.make_record();
        }
        self.record.as_mut().expect("it was made")
    }

    #[cold]
    #[inline(never)]
    fn make_record(&mut self) {
        self.record = Some(Box::default());
    }

    /// Forgets the last execution.
    pub(super) fn forget(&mut self) {
        self.record().clear();
        if let Some(audience) = &mut self.monitors
            && !audience.said.order.is_empty()
        {
            audience.said.order.clear();
        }
    }

    /// Returns the visible operations so far, as monitors see them.
    fn accesses(&self) -> &[sdk::SyncVarAccess] {
        self.record.as_deref().map_or(&[], Record::accesses)
    }

    /// Returns the source place with that number.
    pub(super) fn site(&self, site: sdk::SiteId) -> Option<Site> {
        self.record.as_ref()?.site(site)
    }

    /// Puts the monitors back after a call.
    #[inline(always)]
    fn put_back(&mut self, audience: Box<Audience>) {
        // The slot was empty, so there is no old value to drop.
        std::mem::forget(self.monitors.replace(audience));
    }

    /// Keeps the reports of a monitor, and its panic if it panicked.
    #[cold]
    fn hear(&mut self, audience: &mut Audience, which: usize, callback: &str, panic: Option<String>) {
        let Audience { list, said, .. } = audience;
        let listener = &mut list[which];
        self.reported
            .extend(said.reports.drain(..).map(|report| Reported {
                monitor: listener.name.clone(),
                report,
                places: Vec::new(),
                deeds: Vec::new(),
            }));
        if let Some(panic) = panic {
            (listener.gone, listener.interests) = (true, Interests::NONE);
            self.any_gone = true;
            self.reported.push(panicked(&listener.name, callback, &panic));
        }
    }

    /// Returns `true` if there is any monitor, or if inspections are requested.
    pub fn any(&self) -> bool {
        self.monitors.is_some() || self.inspector.is_some()
    }
}

impl Runtime {
    /// Adds all visible operations so far to the record.
    #[inline(always)]
    fn catch_up(&mut self) {
        if self.memory.event_stores().is_some() {
            return self.catch_up_by_model();
        }
        let Runtime { record, monitors, .. } = self;
        let events = &record.events;
        let known = monitors.listeners.record();
        known.catch_up(events.as_slice(), events.alike());
    }

    /// Calls each monitor that wants this, one after the other. A monitor that panics is not called any more;
    /// `callback` is named in its finding.
    #[inline]
    fn tell(
        &mut self,
        wants: impl Fn(&Listener) -> bool,
        callback: &str,
        mut call: impl FnMut(&mut dyn Monitor, &mut Context<'_>, &Listeners),
    ) {
        let Some(mut audience) = self.monitors.listeners.monitors.take() else {
            return;
        };
        self.catch_up();
        let is_new = audience.told == 0;
        let is_told = is_new
            && self.tell_quickly(&mut audience, &wants, |monitor, cx| {
                call(monitor, cx, &self.monitors.listeners)
            });
        if is_told {
            return self.monitors.listeners.put_back(audience);
        }
        let mut next = std::mem::take(&mut audience.told);
        if next > 0 {
            let panic = audience.panic.take();
            self.monitors
                .listeners
                .hear(&mut audience, next - 1, callback, panic);
        }
        loop {
            let rt = &*self;
            // One handler catches panics for all of them together: the monitor called last is the one that panicked.
            let called = caught(|| {
                let Audience { list, said, .. } = &mut *audience;
                while said.reports.is_empty()
                    && let Some(listener) = list.get_mut(next)
                {
                    next += 1;
                    if wants(listener) {
                        let mut view = View { rt, said };
                        call(
                            &mut *listener.monitor,
                            &mut Context::new(&mut view),
                            &rt.monitors.listeners,
                        );
                    }
                }
            });
            if called.is_ok() && audience.said.reports.is_empty() {
                break;
            }
            self.monitors
                .listeners
                .hear(&mut audience, next - 1, callback, called.err());
        }
        self.monitors.listeners.put_back(audience);
        if self.monitors.listeners.any_gone {
            self.monitors.listeners.any_gone = false;
            self.monitors.listening = self.monitors.listeners.interests();
        }
    }

    pub(super) fn tell_begin(&mut self) {
        self.monitors.listeners.forget();
        self.monitors.listeners.reported.clear();
        self.monitors.listeners.log.begin();
        let number = self.decisions.alike.number;
        let (prescribed, repeated) = self.decisions.prefix();
        self.tell(Listener::is_there, "on_execution_begin", |monitor, _, _| {
            monitor.on_execution_begin(&Execution {
                number,
                accesses: &[],
                complete: false,
                prescribed,
                repeated,
            });
        });
    }

    /// Publishes an operation on plain memory, at once or when the execution has ended.
    #[inline]
    fn tell_memory(&mut self, what: MemoryDeed) {
        if self.monitors.listeners.keeps_log {
            let events = self.record.events.len();
            let log = &mut self.monitors.listeners.log;
            log.add_event(MemoryEvent { events, what });
            if log.len() >= LOG_MAX {
                self.flush_log();
            }
        }
        if self.monitors.listeners.tells_at_once {
            self.tell_memory_at_once(&what);
        }
    }

    #[inline(never)]
    fn tell_memory_at_once(&mut self, what: &MemoryDeed) {
        match what {
            MemoryDeed::Access(access) => self.tell(
                |listener| listener.wants(Interests::DATA_ACCESSES),
                "on_data_var_access",
                |monitor, cx, _| monitor.on_data_var_access(access, cx),
            ),
            MemoryDeed::Allocation(allocation) => self.tell(
                |listener| listener.wants(Interests::ALLOCATIONS),
                "on_allocation",
                |monitor, cx, _| monitor.on_allocation(allocation, cx),
            ),
            MemoryDeed::Release(release) => self.tell(
                |listener| listener.wants(Interests::ALLOCATIONS),
                "on_release",
                |monitor, cx, _| monitor.on_release(release, cx),
            ),
        }
    }

    /// Publishes the operations on plain memory since the last time.
    #[inline(never)]
    fn tell_log(&mut self) {
        self.settle_events();
        let Listeners { log, record, .. } = &self.monitors.listeners;
        let memory = log.as_slice();
        if memory.is_empty() {
            return;
        }
        // An access is unchanged if all accesses before it are.
        let alike = record.as_ref().map_or(0, |record| record.same_accesses());
        let mut same = log.same();
        if same > 0 && memory[same - 1].events > alike {
            same = memory[..same].partition_point(|event| event.events <= alike);
        }
        self.tell(Listener::wants_log, "on_memory", |monitor, cx, listeners| {
            monitor.on_memory_again(listeners.log.as_slice(), same, cx)
        });
    }

    pub(super) fn tell_end(&mut self, complete: bool) {
        if self.hears_of_blocks() && self.objects.blocks.any() {
            self.tell_untold_blocks();
        }
        if self.monitors.listeners.keeps_log {
            self.tell_log();
            let Listeners { record, log, .. } = &mut self.monitors.listeners;
            log.end(record.get_or_insert_default());
        }
        let number = self.decisions.alike.number;
        let (prescribed, repeated) = self.decisions.prefix();
        self.catch_up();
        self.monitors.listeners.record().end();
        let counted = self.constraints.spins.counted_events();
        self.tell(
            Listener::is_there,
            "on_execution_end",
            |monitor, cx, listeners| {
                let execution = Execution {
                    number,
                    accesses: counted
                        .map_or(listeners.accesses(), |counted| &listeners.accesses()[..counted]),
                    complete,
                    prescribed,
                    repeated,
                };
                monitor.on_execution_end(&execution, cx);
            },
        );
    }

    pub(super) fn tell_shutdown(&mut self) {
        // The last execution may have been one without listeners.
        self.monitors.listeners.forget();
        self.record.events.clear(0);
        self.decisions.forget_prescribed();
        self.tell(Listener::is_there, "on_shutdown", |monitor, cx, _| {
            monitor.on_shutdown(cx)
        });
    }

    /// Notes the tasks that can take the next step, and those that cannot although they have not ended. With
    /// `at_point`, the step is at a schedule point.
    fn note_sets(&mut self, at_point: bool) {
        let Runtime {
            monitors,
            ready,
            tasks,
            ..
        } = self;
        let sets = monitors.listeners.record().sets.next(at_point);
        sets.enabled.copy_from(ready.enabled());
        sets.disabled.clear();
        for (task, number) in tasks.as_slice().iter().zip(0..) {
            if task.status != Status::Ended {
                sets.disabled.insert(number);
            }
        }
        sets.disabled.subtract(&sets.enabled);
        // The last decision was about this step. The next step has none yet, unless there is another schedule point.
        sets.held_back.copy_from(ready.held_back());
        ready.forget_held_back();
    }

    #[inline(never)]
    pub(super) fn tell_schedule_point(&mut self) {
        let current = self.tasks.current();
        self.tell_point_before(self.tasks[current].pending.access);
    }

    /// Notifies the monitors that the current task is about to perform this operation.
    pub(super) fn tell_point_before(&mut self, access: Access) {
        if self.monitors.listening.intersects(Interests::ENABLED_SETS) {
            self.note_sets(true);
        }
        if !self.monitors.listening.intersects(Interests::SCHEDULE_POINTS) {
            return;
        }
        let Some(mut audience) = self.monitors.listeners.monitors.take() else {
            return;
        };
        self.catch_up();
        let current = self.tasks.current();
        let next = SchedulePoint {
            kind: if access.op == SyncVarOp::Choice {
                PointKind::Choice
            } else {
                PointKind::Access
            },
            event: EventId {
                task: TaskId(current),
                index: self.tasks[current].events + 1,
            },
            var: SyncVar(access.var),
            op: access.op,
            site: self.monitors.listeners.record().site_id(access.site),
        };
        let wants = |listener: &Listener| listener.wants(Interests::SCHEDULE_POINTS);
        let is_told = self.tell_quickly(&mut audience, wants, |monitor, cx| {
            monitor.on_schedule_point(&next, cx)
        });
        self.monitors.listeners.put_back(audience);
        if !is_told {
            self.tell_point_further(&next);
        }
    }

    /// Notifies the remaining monitors of a schedule point, after one of them reported something or panicked.
    #[cold]
    #[inline(never)]
    fn tell_point_further(&mut self, next: &SchedulePoint) {
        let wanted = |listener: &Listener| listener.wants(Interests::SCHEDULE_POINTS);
        self.tell(wanted, "on_schedule_point", |monitor, cx, _| {
            monitor.on_schedule_point(next, cx)
        });
    }

    #[inline(always)]
    pub(super) fn tell_last_access(&mut self) {
        if self.monitors.listening.intersects(Interests::ENABLED_SETS) {
            self.note_step();
        }
        if !self.monitors.listening.intersects(Interests::SYNC_ACCESSES) {
            return;
        }
        if self.memory.event_stores().is_some() {
            self.catch_up_by_model();
        }
        let Some(mut audience) = self.monitors.listeners.monitors.take() else {
            return;
        };
        let Runtime { record, monitors, .. } = self;
        let events = &record.events;
        let known = monitors.listeners.record();
        let is_told = match &known.catch_up_with_last(events.as_slice(), events.alike()) {
            Some(access) if aggregate(access).is_none() => {
                let wants = |listener: &Listener| listener.wants(Interests::SYNC_ACCESSES);
                self.tell_quickly(&mut audience, wants, |monitor, cx| {
                    monitor.on_sync_var_access(access, cx)
                })
            }
            _ => false,
        };
        self.monitors.listeners.put_back(audience);
        if !is_told {
            self.tell_access_otherwise();
        }
    }

    /// Calls each monitor that wants this. If one of them panics or reports something, returns `false`; `told` in the
    /// audience is then the number of the monitors that were called or need no call.
    #[inline(always)]
    fn tell_quickly(
        &self,
        audience: &mut Audience,
        wants: impl Fn(&Listener) -> bool,
        mut call: impl FnMut(&mut dyn Monitor, &mut Context<'_>),
    ) -> bool {
        let Audience { list, said, .. } = audience;
        let mut reached = 0;
        let called = caught(|| {
            for listener in list {
                reached += 1;
                if wants(listener) {
                    let mut view = View { rt: self, said };
                    call(&mut *listener.monitor, &mut Context::new(&mut view));
                    if !said.reports.is_empty() {
                        return;
                    }
                }
            }
        });
        let is_done = called.is_ok() && audience.said.reports.is_empty();
        if !is_done {
            (audience.told, audience.panic) = (reached, called.err());
        }
        is_done
    }

    /// Notifies the monitors of an access to two variables. For an access to one variable, notifies the remaining
    /// monitors after one of them reported something or panicked.
    #[cold]
    #[inline(never)]
    fn tell_access_otherwise(&mut self) {
        let Some(&access) = self.monitors.listeners.accesses().last() else {
            return;
        };
        let wanted = |listener: &Listener| listener.wants(Interests::SYNC_ACCESSES);
        match aggregate(&access) {
            Some(vars) => self.tell(wanted, "on_aggregate_sync_var_access", |monitor, cx, _| {
                monitor.on_aggregate_sync_var_access(&access, &vars, cx)
            }),
            None => self.tell(wanted, "on_sync_var_access", |monitor, cx, _| {
                monitor.on_sync_var_access(&access, cx)
            }),
        }
    }

    /// Notes the tasks that could take the step that was just taken.
    #[inline(never)]
    fn note_step(&mut self) {
        if !self.monitors.listeners.record().sets.is_noted() {
            self.note_sets(false);
        }
        self.monitors.listeners.record().sets.step_taken();
    }
}

/// Returns the finding for a monitor that panicked.
fn panicked(monitor: &str, callback: &str, panic: &str) -> Reported {
    let message = format!(
        "the monitor `{monitor}` panicked in {callback} {panic}; it is not called any more, so findings of its kind may be missed"
    );
    Reported {
        monitor: "engine".into(),
        report: sdk::MonitorFinding::new(FindingKind::Misuse, message),
        places: Vec::new(),
        deeds: Vec::new(),
    }
}

impl Engine {
    /// Publishes a message of the test.
    pub fn user_event(self, text: &str) {
        self.with(|rt| {
            if rt.monitors.listening.intersects(Interests::USER_EVENTS) && !rt.end.teardown {
                let after = rt.last_of_current();
                rt.tell(
                    |listener| listener.wants(Interests::USER_EVENTS),
                    "on_user_event",
                    |monitor, cx, _| {
                        monitor.on_user_event(&UserEvent { after, text }, cx);
                    },
                );
            }
        });
    }

    /// Publishes an attribute that the test gives the current task's last event.
    pub fn attribute(self, name: &str, value: &str) {
        self.with(|rt| {
            if rt.monitors.listening.intersects(Interests::ATTRIBUTES) && !rt.end.teardown {
                let event = rt.last_of_current();
                rt.tell_attribute(&EventAttribute { event, name, value });
            }
        });
    }
}

impl Runtime {
    fn tell_attribute(&mut self, attribute: &EventAttribute<'_>) {
        self.tell(
            |listener| listener.wants(Interests::ATTRIBUTES),
            "on_event_attribute",
            |monitor, cx, _| monitor.on_event_attribute(attribute, cx),
        );
    }

    /// Publishes the status of the operation that a task wants to perform next.
    #[cold]
    pub(super) fn tell_status(&mut self, task: u32, status: &str) {
        let event = EventId {
            task: TaskId(task),
            index: self.tasks[task].events + 1,
        };
        self.tell_attribute(&EventAttribute {
            event,
            name: "status",
            value: status,
        });
    }
}
