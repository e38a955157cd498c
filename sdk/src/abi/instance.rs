//! The callbacks of a monitor in Rust that is a plugin: they translate arguments, and catch panics.

use super::data::{Allocated, Attribute, DataAccess, ExecutionInfo, Point, Released, Said, SyncAccess, Text};
use super::guest::Guest;
use super::panics;
use super::table::{Call, HostTable, MonitorTable, VERSION};
use crate::{
    Context, EventAttribute, Execution, FindingKind, Host, Monitor, MonitorFinding, SyncVar, UserEvent,
};
use std::cell::Cell;
use std::ffi::c_void;

/// A monitor behind a table.
pub(super) struct Instance<M> {
    monitor: M,
    host: HostTable,
    name: String,
    /// The accesses of the current execution that the monitor has queried.
    fetched: Cell<Vec<crate::SyncVarAccess>>,
    condition: Condition,
}

/// The state that decides if the monitor is called.
enum Condition {
    Sound,
    /// It panicked, so its state is unknown. The report is sent as soon as the engine can receive it.
    Panicked(MonitorFinding),
    /// It panicked, and that was reported.
    Silent,
}

impl<M: Monitor> Instance<M> {
    /// Returns the table of the monitor, which owns it.
    pub(super) fn table(monitor: M, host: HostTable, plugin_version: &'static str) -> MonitorTable {
        let interests = monitor.interests().bits();
        let reduction_compatible = monitor.reduction_compatible().into();
        let follows_stale_reads = monitor.follows_stale_reads().into();
        let name = monitor.name().to_owned();
        let instance = Box::into_raw(Box::new(Instance {
            monitor,
            host,
            name,
            fetched: Cell::default(),
            condition: Condition::Sound,
        }));
        // SAFETY: it has just been made.
        let name = Text::new(unsafe { &(*instance).name });
        MonitorTable {
            size: size_of::<MonitorTable>() as u32,
            version: VERSION,
            interests,
            reduction_compatible,
            name,
            plugin_version: Text::new(plugin_version),
            instance: instance.cast(),
            destroy: Some(destroy::<M>),
            on_execution_begin: Some(on_execution_begin::<M>),
            on_schedule_point: Some(on_schedule_point::<M>),
            on_sync_var_access: Some(on_sync_var_access::<M>),
            on_aggregate_sync_var_access: Some(on_aggregate_sync_var_access::<M>),
            on_data_var_access: Some(on_data_var_access::<M>),
            on_allocation: Some(on_allocation::<M>),
            on_release: Some(on_release::<M>),
            on_event_attribute: Some(on_event_attribute::<M>),
            on_user_event: Some(on_user_event::<M>),
            on_execution_end: Some(on_execution_end::<M>),
            on_shutdown: Some(on_shutdown::<M>),
            follows_stale_reads,
            reserved: 0,
        }
    }

    /// Calls the monitor, unless it has panicked. A panic is reported at once if the engine can receive a report, and
    /// otherwise in the next callback: after the beginning of an execution, its end follows.
    ///
    /// # Safety
    /// The call must be the engine's, or null; with null, the engine cannot receive a report.
    unsafe fn during(
        &mut self,
        call: *mut Call,
        callback: &str,
        tell: impl FnOnce(&mut M, &mut Context<'_>),
    ) {
        // SAFETY: the guest is gone when this returns.
        let mut guest = unsafe { Guest::new(&self.host, call, &self.fetched) };
        if let Condition::Sound = self.condition {
            let monitor = &mut self.monitor;
            let called = panics::caught(|| tell(monitor, &mut Context::new(&mut guest)));
            if let Err(panic) = called {
                let kind = FindingKind::Plugin(self.name.clone());
                let message = format!("the monitor `{}` panicked in `{callback}`: {panic}", self.name);
                let report = MonitorFinding::new(kind, message)
                    .suggest("fix the monitor; it is not called any more in this exploration");
                self.condition = Condition::Panicked(report);
            }
        }
        if !call.is_null()
            && let Condition::Panicked(report) = &self.condition
        {
            guest.report(report.clone());
            self.condition = Condition::Silent;
        }
    }
}

/// Returns the instance behind the pointer of a callback.
///
/// # Safety
/// It must be the pointer of a table of this monitor, which was not destroyed, and is in no other callback.
unsafe fn instance<'a, M>(instance: *mut c_void) -> &'a mut Instance<M> {
    // SAFETY: the caller guarantees it.
    unsafe { &mut *instance.cast::<Instance<M>>() }
}

/// Returns a text of an engine, which is valid and in UTF-8.
///
/// # Safety
/// It must be valid while it is used.
unsafe fn text<'a>(text: Text) -> &'a str {
    // SAFETY: the caller guarantees it.
    unsafe { text.read(usize::MAX >> 1) }
        .expect("the engine tells UTF-8")
        .unwrap_or_default()
}

unsafe extern "C" fn destroy<M: Monitor>(pointer: *mut c_void) {
    // SAFETY: the last call of all; the box was made by `table`.
    let instance = unsafe { Box::from_raw(pointer.cast::<Instance<M>>()) };
    // A panic here cannot be reported any more.
    let _ = panics::caught(|| drop(instance));
}

unsafe extern "C" fn on_execution_begin<M: Monitor>(pointer: *mut c_void, execution: *const ExecutionInfo) {
    // SAFETY: an engine keeps to the contract: the instance and the struct are there.
    unsafe {
        let instance = instance::<M>(pointer);
        instance.fetched.set(Vec::new());
        instance.during(std::ptr::null_mut(), "on_execution_begin", |monitor, _| {
            monitor.on_execution_begin(&Execution {
                number: (*execution).number,
                accesses: &[],
                complete: (*execution).complete != 0,
                prescribed: (*execution).prescribed,
                repeated: (*execution).repeated,
            });
        });
    }
}

unsafe extern "C" fn on_schedule_point<M: Monitor>(
    pointer: *mut c_void,
    next: *const Point,
    call: *mut Call,
) {
    // SAFETY: an engine keeps to the contract: the instance, the struct and the call are there.
    unsafe {
        instance::<M>(pointer).during(call, "on_schedule_point", |monitor, cx| {
            monitor.on_schedule_point(&(&*next).into(), cx);
        });
    }
}

unsafe extern "C" fn on_sync_var_access<M: Monitor>(
    pointer: *mut c_void,
    access: *const SyncAccess,
    call: *mut Call,
) {
    // SAFETY: an engine keeps to the contract: the instance, the struct and the call are there.
    unsafe {
        instance::<M>(pointer).during(call, "on_sync_var_access", |monitor, cx| {
            monitor.on_sync_var_access(&(&*access).into(), cx);
        });
    }
}

unsafe extern "C" fn on_aggregate_sync_var_access<M: Monitor>(
    pointer: *mut c_void,
    access: *const SyncAccess,
    vars: *const SyncVar,
    count: usize,
    call: *mut Call,
) {
    // SAFETY: an engine keeps to the contract: the instance, the struct, the variables and the call are there.
    unsafe {
        let vars = if count == 0 {
            &[]
        } else {
            std::slice::from_raw_parts(vars, count)
        };
        instance::<M>(pointer).during(call, "on_aggregate_sync_var_access", |monitor, cx| {
            monitor.on_aggregate_sync_var_access(&(&*access).into(), vars, cx);
        });
    }
}

unsafe extern "C" fn on_data_var_access<M: Monitor>(
    pointer: *mut c_void,
    access: *const DataAccess,
    call: *mut Call,
) {
    // SAFETY: an engine keeps to the contract: the instance, the struct and the call are there.
    unsafe {
        instance::<M>(pointer).during(call, "on_data_var_access", |monitor, cx| {
            monitor.on_data_var_access(&(&*access).into(), cx);
        });
    }
}

unsafe extern "C" fn on_allocation<M: Monitor>(
    pointer: *mut c_void,
    allocation: *const Allocated,
    call: *mut Call,
) {
    // SAFETY: an engine keeps to the contract: the instance, the struct and the call are there.
    unsafe {
        instance::<M>(pointer).during(call, "on_allocation", |monitor, cx| {
            monitor.on_allocation(&(&*allocation).into(), cx);
        });
    }
}

unsafe extern "C" fn on_release<M: Monitor>(pointer: *mut c_void, release: *const Released, call: *mut Call) {
    // SAFETY: an engine keeps to the contract: the instance, the struct and the call are there.
    unsafe {
        instance::<M>(pointer).during(call, "on_release", |monitor, cx| {
            monitor.on_release(&(&*release).into(), cx);
        });
    }
}

unsafe extern "C" fn on_event_attribute<M: Monitor>(
    pointer: *mut c_void,
    attribute: *const Attribute,
    call: *mut Call,
) {
    // SAFETY: an engine keeps to the contract: the instance, the struct, its texts and the call are there.
    unsafe {
        instance::<M>(pointer).during(call, "on_event_attribute", |monitor, cx| {
            let attribute = EventAttribute {
                event: (*attribute).event,
                name: text((*attribute).name),
                value: text((*attribute).value),
            };
            monitor.on_event_attribute(&attribute, cx);
        });
    }
}

unsafe extern "C" fn on_user_event<M: Monitor>(pointer: *mut c_void, said: *const Said, call: *mut Call) {
    // SAFETY: an engine keeps to the contract: the instance, the struct, its text and the call are there.
    unsafe {
        instance::<M>(pointer).during(call, "on_user_event", |monitor, cx| {
            let event = UserEvent {
                after: (*said).after,
                text: text((*said).text),
            };
            monitor.on_user_event(&event, cx);
        });
    }
}

unsafe extern "C" fn on_execution_end<M: Monitor>(
    pointer: *mut c_void,
    execution: *const ExecutionInfo,
    call: *mut Call,
) {
    // SAFETY: an engine keeps to the contract: the instance, the struct and the call are there.
    unsafe {
        instance::<M>(pointer).during(call, "on_execution_end", |monitor, cx| {
            // The accesses are lent to the monitor along with the context, which may be asked meanwhile.
            let accesses = cx.accesses().to_vec();
            let execution = Execution {
                number: (*execution).number,
                accesses: &accesses,
                complete: (*execution).complete != 0,
                prescribed: (*execution).prescribed,
                repeated: (*execution).repeated,
            };
            monitor.on_execution_end(&execution, cx);
        });
    }
}

unsafe extern "C" fn on_shutdown<M: Monitor>(pointer: *mut c_void, call: *mut Call) {
    // SAFETY: an engine keeps to the contract: the instance and the call are there.
    unsafe {
        instance::<M>(pointer).during(call, "on_shutdown", |monitor, cx| monitor.on_shutdown(cx));
    }
}
