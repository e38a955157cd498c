//! The engine's side of the boundary during a callback: its table of functions, over a [`Context`].

use super::data::{Finding, FindingDeed, PrescribedChoice, SyncAccess, Text, severity};
use super::table::{Call, FAILED, HostTable, NONE, OK, VERSION};
use crate::{Context, Deed, EventId, FindingKind, Location, MonitorFinding, SiteId, SyncVar, TaskId};
use std::any::Any;
use std::cell::Cell;
use std::ffi::c_char;
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The largest number of bytes of a text in a finding, and of events or places. A larger number is not a valid finding.
const TEXT_BYTES_MAX: usize = 1 << 20;
const ITEMS_MAX: usize = 1 << 16;

/// The object behind a plugin's [`Call`]. It lives as long as the monitor. So a call after the callback has returned is
/// refused, instead of reading unrelated memory.
pub(super) struct Line {
    /// The monitor's name.
    name: String,
    /// Null between callbacks.
    cx: Cell<*mut Context<'static>>,
    /// A panic of the engine's own, which must not pass through the plugin.
    panic: Cell<Option<Box<dyn Any + Send>>>,
}

impl Line {
    pub(super) fn new(name: &str) -> Line {
        Line {
            name: name.to_owned(),
            cx: Cell::new(std::ptr::null_mut()),
            panic: Cell::new(None),
        }
    }

    /// Calls the plugin, which may query this context during the call.
    ///
    /// # Panics
    /// If the engine panicked during a query.
    pub(super) fn during(&self, cx: &mut Context<'_>, callback: impl FnOnce(*mut Call)) {
        self.cx.set(std::ptr::from_mut(cx).cast());
        callback(std::ptr::from_ref(self).cast_mut().cast());
        self.cx.set(std::ptr::null_mut());
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
    }
}

/// The table that plugins of this version receive.
static HOST: HostTable = HostTable {
    size: size_of::<HostTable>() as u32,
    version: VERSION,
    report,
    task_name,
    var_name,
    source_name,
    var_kind,
    made_at,
    location_name,
    is_held_by_static,
    site_name,
    accesses,
    enabled,
    disabled,
    enabled_at,
    disabled_at,
    happens_before,
    clock,
    held_back_at,
    point_of,
    status,
    prescribed,
};

/// The table that plugins of version 6 receive: that of this version.
static HOST_6: HostTable = HostTable { version: 6, ..HOST };

/// The table that plugins of version 5 receive: that of this version up to `clock`.
static HOST_5: HostTable = HostTable {
    size: offset_of!(HostTable, held_back_at) as u32,
    version: 5,
    ..HOST
};

/// Returns the table that plugins of this version receive; `None` if there is none.
pub(super) fn host(version: u32) -> Option<&'static HostTable> {
    let mut hosts = [&HOST, &HOST_6, &HOST_5].into_iter();
    hosts.find(|host| host.version == version)
}

/// Queries the engine. Returns `otherwise` if queries are not possible now, or if the engine panics.
///
/// # Safety
/// The call must be null or belong to a [`Line`] that still exists, on the thread of its callback.
unsafe fn ask<T>(call: *mut Call, otherwise: T, ask: impl FnOnce(&Line, &mut Context<'_>) -> T) -> T {
    if call.is_null() {
        return otherwise;
    }
    // SAFETY: a call points to a line that is still there.
    let line = unsafe { &*call.cast::<Line>() };
    let cx = line.cx.get();
    if cx.is_null() {
        return otherwise;
    }
    // SAFETY: between the two `set` of `during` the context is borrowed by it and used only by this function, which
    // does not call the plugin.
    let cx = unsafe { &mut *cx };
    catch_unwind(AssertUnwindSafe(|| ask(line, cx))).unwrap_or_else(|panic| {
        line.panic.set(Some(panic));
        otherwise
    })
}

/// Writes as much of the text as there is room for, and returns its full length.
///
/// # Safety
/// There must be room for `capacity` bytes.
pub(super) unsafe fn give_text(text: &str, room: *mut c_char, capacity: usize) -> usize {
    if !room.is_null() && capacity > 0 {
        let length = text.floor_char_boundary(capacity - 1);
        // SAFETY: no more than `capacity` bytes are written.
        unsafe {
            room.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), length);
            room.add(length).write(0);
        }
    }
    text.len()
}

/// Writes as many items as there is room for, and returns the number of all items.
///
/// # Safety
/// There must be room for `capacity` items.
unsafe fn give<T>(items: impl ExactSizeIterator<Item = T>, room: *mut T, capacity: usize) -> usize {
    let all = items.len();
    if !room.is_null() {
        for (at, item) in items.take(capacity).enumerate() {
            // SAFETY: no more than `capacity` items are written.
            unsafe { room.add(at).write(item) };
        }
    }
    all
}

unsafe extern "C" fn report(call: *mut Call, finding: *const Finding) -> u32 {
    // SAFETY: both are what the contract says.
    unsafe {
        ask(call, FAILED, |line, cx| match read_finding(finding) {
            Ok(report) => {
                cx.report(report);
                OK
            }
            Err(problem) => {
                let kind = FindingKind::Plugin(line.name.clone());
                let message = format!("the monitor `{}` reported something, but {problem}", line.name);
                cx.report(MonitorFinding::new(kind, message).suggest("fix the plugin"));
                FAILED
            }
        })
    }
}

/// Reads a finding of a plugin.
///
/// # Safety
/// It must be null, or its texts and events must be valid.
unsafe fn read_finding(finding: *const Finding) -> Result<MonitorFinding, String> {
    if finding.is_null() {
        return Err("the finding is a null pointer".into());
    }
    // SAFETY: every finding begins with its size.
    let size = unsafe { *finding.cast::<u32>() };
    if size as usize != size_of::<Finding>() {
        return Err(format!(
            "the struct says that it has {size} bytes, where it has {} here: set `size` to `sizeof(IntermezzoFinding)`",
            size_of::<Finding>()
        ));
    }
    // SAFETY: it is as long as it should be.
    let finding = unsafe { &*finding };
    let text = |text: Text, what: &str| {
        // SAFETY: the plugin's texts are there until it gets its answer.
        unsafe { text.read(TEXT_BYTES_MAX) }.map_err(|problem| format!("its {what} is {problem}"))
    };
    let kind = text(finding.kind, "kind")?.ok_or("its kind is a null pointer")?;
    let message = text(finding.message, "message")?.ok_or("its message is a null pointer")?;
    let kind = FindingKind::from_name(kind).ok_or_else(|| {
        format!("`{kind}` is not a kind of finding: give one of the kinds in reports, or `plugin/{kind}` for your own")
    })?;
    let mut report = MonitorFinding::new(kind, message);
    report.severity =
        severity(finding.severity).ok_or_else(|| format!("{} is not a severity", finding.severity))?;
    report.suggestion = text(finding.suggestion, "suggestion")?.map(str::to_owned);
    // SAFETY: the plugin's events and places are there until it gets its answer.
    unsafe {
        report.events = read_list(finding.events, finding.event_count, "events")?;
        report.sites = read_list(finding.sites, finding.site_count, "places")?;
        let deeds = read_list(finding.deeds, finding.deed_count, "deeds")?;
        report.deeds = deeds
            .iter()
            .map(|deed| read_deed(deed))
            .collect::<Result<_, _>>()?;
    }
    Ok(report)
}

/// Reads a deed of a finding.
///
/// # Safety
/// Its text must be valid.
unsafe fn read_deed(deed: &FindingDeed) -> Result<Deed, String> {
    if deed.size as usize != size_of::<FindingDeed>() {
        return Err(format!(
            "a deed says that it has {} bytes, where it has {} here: set `size` to `sizeof(IntermezzoFindingDeed)`",
            deed.size,
            size_of::<FindingDeed>()
        ));
    }
    // SAFETY: the caller guarantees it.
    let what = unsafe { deed.what.read(TEXT_BYTES_MAX) }.map_err(|problem| format!("a deed is {problem}"))?;
    Ok(Deed {
        after: deed.after,
        site: deed.site,
        what: what.ok_or("a deed is a null pointer")?.to_owned(),
    })
}

/// Reads a list of a finding.
///
/// # Safety
/// It must be null, or point to `count` items.
unsafe fn read_list<T: Clone>(items: *const T, count: usize, what: &str) -> Result<Vec<T>, String> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if items.is_null() || count > ITEMS_MAX {
        return Err(format!("its {count} {what} cannot be there"));
    }
    // SAFETY: the caller guarantees it.
    Ok(unsafe { std::slice::from_raw_parts(items, count) }.to_vec())
}

unsafe extern "C" fn task_name(call: *mut Call, task: TaskId, text: *mut c_char, capacity: usize) -> usize {
    // SAFETY: the call and the room are what the contract says.
    unsafe { ask(call, 0, |_, cx| give_text(&cx.task_name(task), text, capacity)) }
}

unsafe extern "C" fn var_name(call: *mut Call, var: SyncVar, text: *mut c_char, capacity: usize) -> usize {
    // SAFETY: the call and the room are what the contract says.
    unsafe { ask(call, 0, |_, cx| give_text(&cx.var_name(var), text, capacity)) }
}

unsafe extern "C" fn source_name(call: *mut Call, var: SyncVar, text: *mut c_char, capacity: usize) -> usize {
    // SAFETY: the call and the room are what the contract says.
    unsafe { ask(call, 0, |_, cx| give_text(&cx.source_name(var), text, capacity)) }
}

unsafe extern "C" fn var_kind(call: *mut Call, var: SyncVar, text: *mut c_char, capacity: usize) -> usize {
    // SAFETY: the call and the room are what the contract says.
    unsafe { ask(call, 0, |_, cx| give_text(&cx.var_kind(var), text, capacity)) }
}

unsafe extern "C" fn made_at(call: *mut Call, var: SyncVar, text: *mut c_char, capacity: usize) -> usize {
    // SAFETY: the call and the room are what the contract says.
    unsafe { ask(call, 0, |_, cx| give_text(&cx.made_at(var), text, capacity)) }
}

unsafe extern "C" fn location_name(
    call: *mut Call,
    location: Location,
    text: *mut c_char,
    capacity: usize,
) -> usize {
    // SAFETY: the call and the room are what the contract says.
    unsafe {
        ask(call, 0, |_, cx| {
            give_text(&cx.location_name(location), text, capacity)
        })
    }
}

unsafe extern "C" fn is_held_by_static(call: *mut Call, location: Location) -> u32 {
    // SAFETY: the call is what the contract says.
    unsafe { ask(call, 0, |_, cx| cx.is_held_by_static(location).into()) }
}

unsafe extern "C" fn site_name(call: *mut Call, site: SiteId, text: *mut c_char, capacity: usize) -> usize {
    // SAFETY: the call and the room are what the contract says.
    unsafe { ask(call, 0, |_, cx| give_text(&cx.site_name(site), text, capacity)) }
}

unsafe extern "C" fn accesses(
    call: *mut Call,
    first: usize,
    room: *mut SyncAccess,
    capacity: usize,
) -> usize {
    // SAFETY: the call and the room are what the contract says.
    unsafe {
        ask(call, 0, |_, cx| {
            let accesses = cx.accesses().get(first..).unwrap_or_default();
            give(accesses.iter().map(SyncAccess::from), room, capacity)
        })
    }
}

unsafe extern "C" fn enabled(call: *mut Call, tasks: *mut TaskId, capacity: usize) -> usize {
    // SAFETY: the call and the room are what the contract says.
    unsafe { ask(call, 0, |_, cx| give(cx.enabled().into_iter(), tasks, capacity)) }
}

unsafe extern "C" fn disabled(call: *mut Call, tasks: *mut TaskId, capacity: usize) -> usize {
    // SAFETY: the call and the room are what the contract says.
    unsafe { ask(call, 0, |_, cx| give(cx.disabled().into_iter(), tasks, capacity)) }
}

unsafe extern "C" fn enabled_at(call: *mut Call, step: usize, tasks: *mut TaskId, capacity: usize) -> usize {
    // SAFETY: the call and the room are what the contract says.
    unsafe {
        ask(call, NONE, |_, cx| match cx.enabled_at(step) {
            Some(enabled) => give(enabled.into_iter(), tasks, capacity),
            None => NONE,
        })
    }
}

unsafe extern "C" fn disabled_at(call: *mut Call, step: usize, tasks: *mut TaskId, capacity: usize) -> usize {
    // SAFETY: the call and the room are what the contract says.
    unsafe {
        ask(call, NONE, |_, cx| match cx.disabled_at(step) {
            Some(disabled) => give(disabled.into_iter(), tasks, capacity),
            None => NONE,
        })
    }
}

unsafe extern "C" fn happens_before(call: *mut Call, a: EventId, b: EventId) -> u32 {
    // SAFETY: the call is what the contract says.
    unsafe { ask(call, 0, |_, cx| cx.happens_before(a, b).into()) }
}

unsafe extern "C" fn clock(call: *mut Call, event: EventId, indices: *mut u32, capacity: usize) -> usize {
    // SAFETY: the call and the room are what the contract says.
    unsafe {
        ask(call, NONE, |_, cx| match cx.clock(event) {
            Some(clock) => give(clock.as_slice().iter().copied(), indices, capacity),
            None => NONE,
        })
    }
}

unsafe extern "C" fn held_back_at(
    call: *mut Call,
    step: usize,
    tasks: *mut TaskId,
    capacity: usize,
) -> usize {
    // SAFETY: the call and the room are what the contract says.
    unsafe {
        ask(call, NONE, |_, cx| match cx.held_back_at(step) {
            Some(held_back) => give(held_back.into_iter(), tasks, capacity),
            None => NONE,
        })
    }
}

unsafe extern "C" fn point_of(call: *mut Call, event: EventId) -> usize {
    // SAFETY: the call is what the contract says.
    unsafe { ask(call, NONE, |_, cx| cx.point_of(event).unwrap_or(NONE)) }
}

unsafe extern "C" fn status(call: *mut Call, event: EventId) -> u32 {
    // SAFETY: the call is what the contract says.
    unsafe {
        ask(call, 0, |_, cx| {
            cx.status(event).map_or(0, |status| status as u32)
        })
    }
}

unsafe extern "C" fn prescribed(call: *mut Call, choices: *mut PrescribedChoice, capacity: usize) -> usize {
    // SAFETY: the call and the room are what the contract says.
    unsafe {
        ask(call, 0, |_, cx| {
            let prescribed = cx.prescribed();
            give(prescribed.iter().map(PrescribedChoice::from), choices, capacity)
        })
    }
}
