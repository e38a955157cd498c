//! Publishing events to monitors. Nothing here is reached when nobody listens.

mod memory;
mod record;
mod sites;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use memory::{DataAccess, Does, Owner};
pub(super) use record::Memory;

use super::glance::{Glancing, UnderWay};
use super::panics::caught;
use super::task_set::TaskSet;
use super::{Engine, Runtime, Site};
use crate::report::{FindingDeed, NamedPlace};
use intermezzo_sdk as sdk;
use record::{Record, aggregate};
use sdk::{
    Context, EventAttribute, EventId, Execution, FindingKind, Interests, Monitor, PointKind, SchedulePoint,
    SyncVar, SyncVarOp, TaskId, UserEvent,
};
use view::View;

/// A finding of a monitor, in the execution that runs.
pub(crate) struct Reported {
    pub(crate) monitor: String,
    pub(crate) report: sdk::Report,
    /// The places that it names, in words: known at the end of the execution.
    pub(crate) places: Vec<NamedPlace>,
    /// What it is about and what is no event, in words: known at the end of the execution, too.
    pub(crate) deeds: Vec<FindingDeed>,
}

/// A monitor, and what it said of itself at the beginning.
struct Listener {
    monitor: Box<dyn Monitor>,
    name: String,
    interests: Interests,
    /// Whether it panicked: it hears of nothing any more.
    gone: bool,
}

/// The monitors, and what they need to be told in their own terms.
#[derive(Default)]
pub(crate) struct Listeners {
    monitors: Vec<Listener>,
    /// The execution so far, as monitors see it; made when first needed.
    record: Option<Box<Record>>,
    /// All of the last execution, as monitors see it; for the room.
    ended: Vec<sdk::SyncVarAccess>,
    /// Findings of the execution that runs.
    pub(crate) reported: Vec<Reported>,
    /// How objects are looked at, if they are; and the glance that is under way.
    pub(super) glancing: Option<Box<Glancing>>,
    pub(super) glance: Option<UnderWay>,
}

impl Listeners {
    pub(crate) fn new(monitors: Vec<Box<dyn Monitor>>) -> Listeners {
        let listener = |monitor: Box<dyn Monitor>| Listener {
            name: monitor.name().to_owned(),
            interests: monitor.interests(),
            gone: false,
            monitor,
        };
        Listeners {
            monitors: monitors.into_iter().map(listener).collect(),
            ..Listeners::default()
        }
    }

    /// What any of the monitors wants to hear.
    pub(crate) fn interests(&self) -> Interests {
        let there = self.monitors.iter().filter(|listener| !listener.gone);
        there.fold(self.glance_interests(), |all, listener| all | listener.interests)
    }

    fn record(&mut self) -> &mut Record {
        self.record.get_or_insert_default()
    }

    /// Forgets the last execution.
    pub(super) fn forget(&mut self) {
        self.record().clear();
    }

    /// The source place of that number.
    pub(super) fn site(&self, site: sdk::SiteId) -> Option<Site> {
        self.record.as_ref()?.site(site)
    }

    /// Whether there is any monitor, or anybody who looks.
    pub(crate) fn any(&self) -> bool {
        !self.monitors.is_empty() || self.glancing.is_some()
    }
}

impl Runtime {
    /// Calls each monitor that wants this, one after the other. One that panics is called no more; `callback` says for
    /// its finding where that was.
    fn tell(
        &mut self,
        wanted: Option<Interests>,
        callback: &str,
        mut call: impl FnMut(&mut dyn Monitor, &mut Context<'_>),
    ) {
        let mut listeners = std::mem::take(&mut self.listeners);
        let mut reports = Vec::new();
        listeners.record().catch_up(self.events.as_slice());
        let mut anybody_gone = false;
        for listener in &mut listeners.monitors {
            if listener.gone || wanted.is_some_and(|wanted| !listener.interests.intersects(wanted)) {
                continue;
            }
            let mut view = View {
                rt: self,
                record: listeners.record.get_or_insert_default(),
                reports: &mut reports,
            };
            let called = caught(|| call(&mut *listener.monitor, &mut Context::new(&mut view)));
            listeners
                .reported
                .extend(reports.drain(..).map(|report| Reported {
                    monitor: listener.name.clone(),
                    report,
                    places: Vec::new(),
                    deeds: Vec::new(),
                }));
            if let Err(panic) = called {
                (listener.gone, anybody_gone) = (true, true);
                listeners
                    .reported
                    .push(panicked(&listener.name, callback, &panic));
            }
        }
        if anybody_gone {
            self.listening = listeners.interests();
        }
        self.listeners = listeners;
    }

    pub(super) fn tell_begin(&mut self) {
        self.listeners.record().clear();
        self.listeners.reported.clear();
        let number = self.number;
        self.tell(None, "on_execution_begin", |monitor, _| {
            monitor.on_execution_begin(&Execution {
                number,
                accesses: &[],
                complete: false,
            });
        });
    }

    pub(super) fn tell_end(&mut self, complete: bool) {
        let number = self.number;
        let record = self.listeners.record();
        record.catch_up(self.events.as_slice());
        let mut accesses = std::mem::take(&mut self.listeners.ended);
        accesses.clear();
        accesses.extend_from_slice(self.listeners.record().accesses());
        self.tell(None, "on_execution_end", |monitor, cx| {
            let execution = Execution {
                number,
                accesses: &accesses,
                complete,
            };
            monitor.on_execution_end(&execution, cx);
        });
        self.listeners.ended = accesses;
    }

    pub(super) fn tell_shutdown(&mut self) {
        // The last execution may have been one that nobody heard of.
        self.listeners.forget();
        self.events.clear(0);
        self.tell(None, "on_shutdown", |monitor, cx| monitor.on_shutdown(cx));
    }

    /// Who could not go on at this moment.
    fn disabled(&self) -> TaskSet {
        let mut disabled = TaskSet::default();
        let present = (0..self.created).filter(|&task| self.is_present(task));
        present
            .filter(|&task| !self.enabled.contains(task))
            .for_each(|task| disabled.insert(task));
        disabled
    }

    #[cold]
    pub(super) fn tell_schedule_point(&mut self) {
        if self.listening.intersects(Interests::ENABLED_SETS) {
            let disabled = self.disabled();
            let enabled = self.enabled.clone();
            self.listeners.record().next_step(enabled, disabled);
        }
        if !self.listening.intersects(Interests::SCHEDULE_POINTS) {
            return;
        }
        let access = self.tasks[self.current as usize].pending.access;
        let next = SchedulePoint {
            kind: if access.op == SyncVarOp::Choice {
                PointKind::Choice
            } else {
                PointKind::Access
            },
            event: EventId {
                task: TaskId(self.current),
                index: self.tasks[self.current as usize].events + 1,
            },
            var: SyncVar(access.var),
            op: access.op,
            site: self.listeners.record().site_id(access.site),
        };
        let wanted = Some(Interests::SCHEDULE_POINTS);
        self.tell(wanted, "on_schedule_point", |monitor, cx| {
            monitor.on_schedule_point(&next, cx)
        });
    }

    #[cold]
    pub(super) fn tell_last_access(&mut self) {
        if self.listening.intersects(Interests::ENABLED_SETS) {
            let now = (self.enabled.clone(), self.disabled());
            self.listeners.record().step_taken(now);
        }
        if !self.listening.intersects(Interests::SYNC_ACCESSES) {
            return;
        }
        let record = self.listeners.record();
        record.catch_up(self.events.as_slice());
        let Some(&access) = record.accesses().last() else {
            return;
        };
        let wanted = Some(Interests::SYNC_ACCESSES);
        match aggregate(&access) {
            Some(vars) => self.tell(wanted, "on_aggregate_sync_var_access", |monitor, cx| {
                monitor.on_aggregate_sync_var_access(&access, &vars, cx)
            }),
            None => self.tell(wanted, "on_sync_var_access", |monitor, cx| {
                monitor.on_sync_var_access(&access, cx)
            }),
        }
    }
}

/// The finding that a monitor panicked.
fn panicked(monitor: &str, callback: &str, panic: &str) -> Reported {
    let message = format!(
        "the monitor `{monitor}` panicked in {callback} {panic}; it is told nothing more, so what it looks for may be missed"
    );
    Reported {
        monitor: "engine".into(),
        report: sdk::Report::new(FindingKind::Misuse, message),
        places: Vec::new(),
        deeds: Vec::new(),
    }
}

impl Engine {
    /// Publishes what the test says.
    pub(crate) fn user_event(self, text: &str) {
        if self.rt().listening.intersects(Interests::USER_EVENTS) && !self.in_teardown() {
            let after = self.last_event();
            self.rt()
                .tell(Some(Interests::USER_EVENTS), "on_user_event", |monitor, cx| {
                    monitor.on_user_event(&UserEvent { after, text }, cx);
                });
        }
    }

    /// Publishes what the test says of the current task's last event.
    pub(crate) fn attribute(self, name: &str, value: &str) {
        if self.rt().listening.intersects(Interests::ATTRIBUTES) && !self.in_teardown() {
            let event = self.last_event();
            self.rt().tell_attribute(&EventAttribute { event, name, value });
        }
    }
}

impl Runtime {
    fn tell_attribute(&mut self, attribute: &EventAttribute<'_>) {
        self.tell(
            Some(Interests::ATTRIBUTES),
            "on_event_attribute",
            |monitor, cx| monitor.on_event_attribute(attribute, cx),
        );
    }

    /// Tells what becomes of the operation that a task wants next.
    #[cold]
    pub(super) fn tell_status(&mut self, task: u32, status: &str) {
        let event = EventId {
            task: TaskId(task),
            index: self.tasks[task as usize].events + 1,
        };
        self.tell_attribute(&EventAttribute {
            event,
            name: "status",
            value: status,
        });
    }
}
