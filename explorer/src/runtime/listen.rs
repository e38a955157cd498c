//! Publishing events to monitors. Nothing here is reached when nobody listens.

use super::naming::{site_name, task_name, var_name};
use super::{Engine, Runtime, Site};
use intermezzo_sdk as sdk;
use sdk::{
    Context, DataVarAccess, EventId, Execution, Host, Interests, Location, Monitor, PointKind, SchedulePoint,
    SiteId, SyncVar, SyncVarAccess, SyncVarOp, TaskId, UserEvent,
};
use std::collections::HashMap;

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
    sites: HashMap<Site, SiteId>,
    site_list: Vec<Site>,
    /// Findings of the execution that runs.
    pub(crate) reported: Vec<Reported>,
    /// Data locations of the execution that runs, by address.
    locations: HashMap<usize, Location>,
    /// The execution so far, as monitors see it.
    accesses: Vec<SyncVarAccess>,
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

    /// Whether there is any monitor.
    pub(crate) fn any(&self) -> bool {
        !self.monitors.is_empty()
    }

    fn site(&mut self, site: Site) -> SiteId {
        *self.sites.entry(site).or_insert_with(|| {
            self.site_list.push(site);
            SiteId(self.site_list.len() as u32 - 1)
        })
    }
}

/// The engine as a monitor sees it.
struct View<'a> {
    rt: &'a Runtime,
    sites: &'a [Site],
    reported: &'a mut Vec<Reported>,
    monitor: &'a str,
}

impl Host for View<'_> {
    fn report(&mut self, report: sdk::Report) {
        self.reported.push(Reported {
            monitor: self.monitor.to_owned(),
            report,
        });
    }
    fn task_name(&self, task: TaskId) -> String {
        task_name(self.rt, task.0)
    }
    fn var_name(&self, var: SyncVar) -> String {
        var_name(self.rt, var.0)
    }
    fn site_name(&self, site: SiteId) -> String {
        self.sites
            .get(site.0 as usize)
            .map_or_else(|| "unknown".into(), |site| site_name(site))
    }
    fn enabled(&self) -> Vec<TaskId> {
        self.rt.enabled.iter().map(TaskId).collect()
    }
}

impl Runtime {
    /// Calls each monitor that wants this, one after the other.
    fn tell(
        &mut self,
        wanted: Option<Interests>,
        mut call: impl FnMut(&mut dyn Monitor, &[SyncVarAccess], &mut Context<'_>),
    ) {
        let mut listeners = std::mem::take(&mut self.listeners);
        for (monitor, interests) in listeners.monitors.iter_mut().zip(&listeners.interests) {
            if wanted.is_none_or(|wanted| interests.intersects(wanted)) {
                let name = monitor.name().to_owned();
                let mut view = View {
                    rt: self,
                    sites: &listeners.site_list,
                    reported: &mut listeners.reported,
                    monitor: &name,
                };
                call(&mut **monitor, &listeners.accesses, &mut Context::new(&mut view));
            }
        }
        self.listeners = listeners;
    }

    pub(super) fn tell_begin(&mut self) {
        self.listeners.accesses.clear();
        self.listeners.locations.clear();
        self.listeners.reported.clear();
        let number = self.number;
        self.tell(None, |monitor, _, _| {
            monitor.on_execution_begin(&Execution {
                number,
                accesses: &[],
                complete: false,
            });
        });
    }

    pub(super) fn tell_end(&mut self, complete: bool) {
        let number = self.number;
        self.tell(None, |monitor, accesses, cx| {
            monitor.on_execution_end(
                &Execution {
                    number,
                    accesses,
                    complete,
                },
                cx,
            );
        });
    }

    pub(super) fn tell_shutdown(&mut self) {
        self.tell(None, |monitor, _, cx| monitor.on_shutdown(cx));
    }

    #[cold]
    pub(super) fn tell_schedule_point(&mut self) {
        let access = self.tasks[self.current as usize].pending.access;
        let site = self.listeners.site(access.site);
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
            site,
        };
        self.tell(Some(Interests::SCHEDULE_POINTS), |monitor, _, cx| {
            monitor.on_schedule_point(&next, cx)
        });
    }

    #[cold]
    pub(super) fn tell_last_access(&mut self) {
        let Some(&event) = self.events.as_slice().last() else {
            return;
        };
        let access = SyncVarAccess {
            event: EventId {
                task: TaskId(event.task),
                index: event.index,
            },
            var: SyncVar(event.var),
            op: event.op,
            order: event.order,
            read: event.read,
            written: event.written,
            site: self.listeners.site(event.site),
        };
        self.listeners.accesses.push(access);
        self.tell(Some(Interests::SYNC_ACCESSES), |monitor, _, cx| {
            monitor.on_sync_var_access(&access, cx)
        });
    }
}

impl Engine {
    /// Publishes an access to tracked plain memory.
    #[inline]
    pub(crate) fn data_access(self, address: usize, size: usize, is_write: bool, site: Site) {
        if self.rt().listening.intersects(Interests::DATA_ACCESSES) && !self.in_teardown() {
            self.tell_data_access(address, size, is_write, site);
        }
    }

    #[cold]
    fn tell_data_access(self, address: usize, size: usize, is_write: bool, site: Site) {
        let after = self.last_event();
        let rt = self.rt();
        let next = Location(rt.listeners.locations.len() as u32);
        let location = *rt.listeners.locations.entry(address).or_insert(next);
        let site = rt.listeners.site(site);
        let access = DataVarAccess {
            after,
            location,
            size: size as u32,
            is_write,
            site,
        };
        rt.tell(Some(Interests::DATA_ACCESSES), |monitor, _, cx| {
            monitor.on_data_var_access(&access, cx)
        });
    }

    /// Publishes what the test says.
    pub(crate) fn user_event(self, text: &str) {
        if self.rt().listening.intersects(Interests::USER_EVENTS) && !self.in_teardown() {
            let after = self.last_event();
            self.rt().tell(Some(Interests::USER_EVENTS), |monitor, _, cx| {
                monitor.on_user_event(&UserEvent { after, text }, cx);
            });
        }
    }
}
