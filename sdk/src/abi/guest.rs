//! The plugin's side of the boundary during a callback: a [`Host`] over the engine's table of functions.

use super::data::{Finding, FindingDeed, PrescribedChoice, SyncAccess, Text, status};
use super::table::{Call, HostTable, NONE};
use crate::{
    Choice, EventId, EventStatus, Host, Location, MonitorFinding, SiteId, SyncVar, SyncVarAccess, TaskId,
    VectorClock,
};
use std::cell::{Cell, OnceCell};
use std::ffi::c_char;

/// Room for a name at the first attempt: names are short.
const NAME_BYTES: usize = 64;

/// Room for a list at the first attempt: tests have few tasks.
const ITEMS: usize = 16;

/// An engine on the other side of the boundary.
pub(super) struct Guest<'a> {
    host: &'a HostTable,
    call: *mut Call,
    /// The accesses of this execution that earlier callbacks fetched.
    fetched: &'a Cell<Vec<SyncVarAccess>>,
    /// All of them, once this callback has fetched them.
    accesses: OnceCell<Vec<SyncVarAccess>>,
    /// The last clock that was queried.
    clock: VectorClock,
}

impl<'a> Guest<'a> {
    /// Creates a guest that queries the engine with this call. With a null call no queries are possible.
    ///
    /// # Safety
    /// Table and call must be the engine's, and the guest must be dropped when the callback returns.
    pub(super) unsafe fn new(
        host: &'a HostTable,
        call: *mut Call,
        fetched: &'a Cell<Vec<SyncVarAccess>>,
    ) -> Guest<'a> {
        Guest {
            host,
            call,
            fetched,
            accesses: OnceCell::new(),
            clock: VectorClock::new(),
        }
    }

    fn name(&self, write: impl Fn(*mut c_char, usize) -> usize) -> String {
        let mut bytes = vec![0u8; NAME_BYTES];
        loop {
            let length = write(bytes.as_mut_ptr().cast(), bytes.len());
            if length < bytes.len() {
                bytes.truncate(length);
                return String::from_utf8_lossy(&bytes).into_owned();
            }
            bytes.resize(length + 1, 0);
        }
    }

    fn list<T: Clone>(&self, zero: T, write: impl Fn(*mut T, usize) -> usize) -> Option<Vec<T>> {
        let mut items = vec![zero.clone(); ITEMS];
        loop {
            let length = write(items.as_mut_ptr(), items.len());
            if length == NONE {
                return None;
            }
            if length <= items.len() {
                items.truncate(length);
                return Some(items);
            }
            items.resize(length, zero.clone());
        }
    }

    /// Returns all accesses of the execution, those fetched earlier first.
    fn fetch(&self) -> Vec<SyncVarAccess> {
        let mut accesses = self.fetched.take();
        // SAFETY: the contract of `Guest::new`; no room is asked for.
        let new = unsafe { (self.host.accesses)(self.call, accesses.len(), std::ptr::null_mut(), 0) };
        let mut room: Vec<SyncAccess> = Vec::with_capacity(new);
        // SAFETY: the contract of `Guest::new`; there is room for `new` items, and no more are written.
        unsafe {
            let written = (self.host.accesses)(self.call, accesses.len(), room.as_mut_ptr(), new);
            room.set_len(written.min(new));
        }
        accesses.extend(room.iter().map(SyncVarAccess::from));
        accesses
    }
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        if let Some(accesses) = self.accesses.take() {
            self.fetched.set(accesses);
        }
    }
}

impl Host for Guest<'_> {
    fn report(&mut self, report: MonitorFinding) {
        let kind = report.kind.as_str();
        let deeds = report.deeds.iter().map(|deed| FindingDeed {
            size: size_of::<FindingDeed>() as u32,
            site: deed.site,
            after: deed.after,
            what: Text::new(&deed.what),
        });
        let deeds: Vec<FindingDeed> = deeds.collect();
        let finding = Finding {
            size: size_of::<Finding>() as u32,
            severity: report.severity as u32,
            kind: Text::new(&kind),
            message: Text::new(&report.message),
            suggestion: report.suggestion.as_deref().map_or(Text::NULL, Text::new),
            events: report.events.as_ptr(),
            event_count: report.events.len(),
            sites: report.sites.as_ptr(),
            site_count: report.sites.len(),
            deeds: deeds.as_ptr(),
            deed_count: deeds.len(),
        };
        // SAFETY: the contract of `Guest::new`; the finding is there until the function returns. If the finding is
        // malformed, the engine has told the user, as the return value says.
        unsafe { (self.host.report)(self.call, &finding) };
    }

    fn task_name(&self, task: TaskId) -> String {
        // SAFETY: the contract of `Guest::new`, and there is the room that is said.
        self.name(|room, capacity| unsafe { (self.host.task_name)(self.call, task, room, capacity) })
    }

    fn var_name(&self, var: SyncVar) -> String {
        // SAFETY: the contract of `Guest::new`, and there is the room that is said.
        self.name(|room, capacity| unsafe { (self.host.var_name)(self.call, var, room, capacity) })
    }

    fn source_name(&self, var: SyncVar) -> String {
        // SAFETY: the contract of `Guest::new`, and there is the room that is said.
        self.name(|room, capacity| unsafe { (self.host.source_name)(self.call, var, room, capacity) })
    }

    fn var_kind(&self, var: SyncVar) -> String {
        // SAFETY: the contract of `Guest::new`, and there is the room that is said.
        self.name(|room, capacity| unsafe { (self.host.var_kind)(self.call, var, room, capacity) })
    }

    fn made_at(&self, var: SyncVar) -> String {
        // SAFETY: the contract of `Guest::new`, and there is the room that is said.
        self.name(|room, capacity| unsafe { (self.host.made_at)(self.call, var, room, capacity) })
    }

    fn location_name(&self, location: Location) -> String {
        // SAFETY: the contract of `Guest::new`, and there is the room that is said.
        self.name(|room, capacity| unsafe { (self.host.location_name)(self.call, location, room, capacity) })
    }

    fn is_held_by_static(&self, location: Location) -> bool {
        // SAFETY: the contract of `Guest::new`.
        unsafe { (self.host.is_held_by_static)(self.call, location) != 0 }
    }

    fn site_name(&self, site: SiteId) -> String {
        // SAFETY: the contract of `Guest::new`, and there is the room that is said.
        self.name(|room, capacity| unsafe { (self.host.site_name)(self.call, site, room, capacity) })
    }

    fn accesses(&self) -> &[SyncVarAccess] {
        self.accesses.get_or_init(|| self.fetch())
    }

    fn enabled(&self) -> Vec<TaskId> {
        // SAFETY: the contract of `Guest::new`, and there is the room that is said.
        self.list(TaskId(0), |room, capacity| unsafe {
            (self.host.enabled)(self.call, room, capacity)
        })
        .unwrap_or_default()
    }

    fn disabled(&self) -> Vec<TaskId> {
        // SAFETY: the contract of `Guest::new`, and there is the room that is said.
        self.list(TaskId(0), |room, capacity| unsafe {
            (self.host.disabled)(self.call, room, capacity)
        })
        .unwrap_or_default()
    }

    fn enabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.list(TaskId(0), |room, capacity| {
            // SAFETY: the contract of `Guest::new`, and there is the room that is said.
            unsafe { (self.host.enabled_at)(self.call, step, room, capacity) }
        })
    }

    fn disabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.list(TaskId(0), |room, capacity| {
            // SAFETY: the contract of `Guest::new`, and there is the room that is said.
            unsafe { (self.host.disabled_at)(self.call, step, room, capacity) }
        })
    }

    fn held_back_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.list(TaskId(0), |room, capacity| {
            // SAFETY: the contract of `Guest::new`, and there is the room that is said.
            unsafe { (self.host.held_back_at)(self.call, step, room, capacity) }
        })
    }

    fn point_of(&self, event: EventId) -> Option<usize> {
        // SAFETY: the contract of `Guest::new`.
        let point = unsafe { (self.host.point_of)(self.call, event) };
        (point != NONE).then_some(point)
    }

    fn status(&self, event: EventId) -> Option<EventStatus> {
        // SAFETY: the contract of `Guest::new`.
        status(unsafe { (self.host.status)(self.call, event) })
    }

    fn prescribed(&self) -> Vec<Choice> {
        let zero = PrescribedChoice {
            size: 0,
            kind: 0,
            preempts: 0,
            alternatives: 0,
            taken: 0,
        };
        let choices = self.list(zero, |room, capacity| {
            // SAFETY: the contract of `Guest::new`, and there is the room that is said.
            unsafe { (self.host.prescribed)(self.call, room, capacity) }
        });
        choices.unwrap_or_default().iter().map(Choice::from).collect()
    }

    fn happens_before(&mut self, a: EventId, b: EventId) -> bool {
        // SAFETY: the contract of `Guest::new`.
        unsafe { (self.host.happens_before)(self.call, a, b) != 0 }
    }

    fn clock(&mut self, event: EventId) -> Option<&VectorClock> {
        let indices = self.list(0, |room, capacity| {
            // SAFETY: the contract of `Guest::new`, and there is the room that is said.
            unsafe { (self.host.clock)(self.call, event, room, capacity) }
        })?;
        self.clock = indices.into_iter().collect();
        Some(&self.clock)
    }
}
