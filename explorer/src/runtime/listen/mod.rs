//! Publishing events to monitors. Nothing here is reached when nobody listens.

mod record;
mod view;

pub(crate) use record::Memory;

use super::task_set::TaskSet;
use super::{Engine, Runtime, Site};
use intermezzo_sdk as sdk;
use record::{Record, aggregate};
use sdk::{
    Context, DataVarAccess, EventId, Execution, Interests, MemoryOrder, Monitor, PointKind, SchedulePoint,
    SyncVar, SyncVarOp, TaskId, UserEvent,
};
use view::View;

/// A finding of a monitor, in the execution that runs.
pub(crate) struct Reported {
    pub(crate) monitor: String,
    pub(crate) report: sdk::Report,
}

/// The monitors, and what they need to be told in their own terms.
#[derive(Default)]
pub(crate) struct Listeners {
    monitors: Vec<Box<dyn Monitor>>,
    /// What each wants to hear.
    interests: Vec<Interests>,
    /// The execution so far, as monitors see it; made when first needed.
    record: Option<Box<Record>>,
    /// Findings of the execution that runs.
    pub(crate) reported: Vec<Reported>,
}

impl Listeners {
    pub(crate) fn new(monitors: Vec<Box<dyn Monitor>>) -> Listeners {
        let interests = monitors.iter().map(|monitor| monitor.interests()).collect();
        Listeners {
            monitors,
            interests,
            ..Listeners::default()
        }
    }

    /// What any of the monitors wants to hear.
    pub(crate) fn interests(&self) -> Interests {
        self.interests.iter().fold(Interests::NONE, |all, &one| all | one)
    }

    fn record(&mut self) -> &mut Record {
        self.record.get_or_insert_default()
    }

    /// Whether there is any monitor.
    pub(crate) fn any(&self) -> bool {
        !self.monitors.is_empty()
    }
}

impl Runtime {
    /// Calls each monitor that wants this, one after the other.
    fn tell(&mut self, wanted: Option<Interests>, call: impl FnMut(&mut dyn Monitor, &mut Context<'_>)) {
        self.listeners.record().catch_up(self.events.as_slice());
        self.tell_of_the_known(wanted, call);
    }

    /// As `tell`, with no news of the execution.
    fn tell_of_the_known(
        &mut self,
        wanted: Option<Interests>,
        mut call: impl FnMut(&mut dyn Monitor, &mut Context<'_>),
    ) {
        let mut listeners = std::mem::take(&mut self.listeners);
        let mut reports = Vec::new();
        for (monitor, interests) in listeners.monitors.iter_mut().zip(&listeners.interests) {
            if wanted.is_some_and(|wanted| !interests.intersects(wanted)) {
                continue;
            }
            let mut view = View {
                rt: self,
                record: listeners.record.get_or_insert_default(),
                reports: &mut reports,
            };
            call(&mut **monitor, &mut Context::new(&mut view));
            listeners
                .reported
                .extend(reports.drain(..).map(|report| Reported {
                    monitor: monitor.name().to_owned(),
                    report,
                }));
        }
        self.listeners = listeners;
    }

    pub(super) fn tell_begin(&mut self) {
        self.listeners.record().clear();
        self.listeners.reported.clear();
        let number = self.number;
        self.tell(None, |monitor, _| {
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
        let accesses = record.accesses().to_vec();
        self.tell(None, |monitor, cx| {
            let execution = Execution {
                number,
                accesses: &accesses,
                complete,
            };
            monitor.on_execution_end(&execution, cx);
        });
    }

    pub(super) fn tell_shutdown(&mut self) {
        // The last execution may be one that monitors did not hear of: a finding of somebody else's was made small.
        self.tell_of_the_known(None, |monitor, cx| monitor.on_shutdown(cx));
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
        self.tell(Some(Interests::SCHEDULE_POINTS), |monitor, cx| {
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
        self.tell(Some(Interests::SYNC_ACCESSES), |monitor, cx| {
            match aggregate(&access) {
                Some(vars) => monitor.on_aggregate_sync_var_access(&access, &vars, cx),
                None => monitor.on_sync_var_access(&access, cx),
            }
        });
    }
}

/// An access to tracked plain memory, as a look-alike tells of it.
pub(crate) struct DataAccess {
    pub(crate) memory: Memory,
    pub(crate) offset: usize,
    pub(crate) size: usize,
    pub(crate) is_write: bool,
    pub(crate) site: Site,
}

impl Engine {
    /// Publishes an access to tracked plain memory.
    #[inline]
    pub(crate) fn data_access(self, access: DataAccess) {
        if self.rt().listening.intersects(Interests::DATA_ACCESSES) && !self.in_teardown() {
            self.tell_data_access(access);
        }
    }

    #[cold]
    fn tell_data_access(self, access: DataAccess) {
        let after = self.last_event();
        let rt = self.rt();
        let record = rt.listeners.record();
        let access = DataVarAccess {
            after,
            location: record.location(access.memory),
            offset: access.offset as u32,
            size: access.size as u32,
            is_write: access.is_write,
            order: MemoryOrder::None,
            var: SyncVar::NONE,
            site: record.site_id(access.site),
        };
        rt.tell(Some(Interests::DATA_ACCESSES), |monitor, cx| {
            monitor.on_data_var_access(&access, cx)
        });
    }

    /// Publishes what the test says.
    pub(crate) fn user_event(self, text: &str) {
        if self.rt().listening.intersects(Interests::USER_EVENTS) && !self.in_teardown() {
            let after = self.last_event();
            self.rt().tell(Some(Interests::USER_EVENTS), |monitor, cx| {
                monitor.on_user_event(&UserEvent { after, text }, cx);
            });
        }
    }
}
