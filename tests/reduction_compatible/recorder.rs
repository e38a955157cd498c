//! A monitor that calls other monitors, and compares their reports in executions of one trace.

use crate::trace::{self, Trace};
use intermezzo::sdk::{
    Allocation, Context, DataVarAccess, EventAttribute, EventId, Execution, Host, Interests, Location,
    Monitor, MonitorFinding, Release, SchedulePoint, SiteId, SyncVar, SyncVarAccess, TaskId, UserEvent,
    VectorClock,
};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

/// The reports of an execution: monitor, kind and words.
type Findings = BTreeSet<String>;

/// The observations of a program.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) executions: usize,
    by_trace: HashMap<Trace, Findings>,
    /// The differences between executions of one trace, in words.
    pub(crate) differences: Vec<String>,
}

impl Seen {
    /// Returns the number of traces.
    pub(crate) fn traces(&self) -> usize {
        self.by_trace.len()
    }

    /// Returns the number of traces with findings.
    pub(crate) fn found(&self) -> usize {
        self.by_trace
            .values()
            .filter(|findings| !findings.is_empty())
            .count()
    }

    fn add(&mut self, trace: Trace, findings: Findings) {
        self.executions += 1;
        let known = self.by_trace.entry(trace).or_insert_with(|| findings.clone());
        if *known != findings {
            let only = |a: &Findings, b: &Findings| a.difference(b).cloned().collect::<Vec<_>>().join("\n  ");
            self.differences.push(format!(
                "of two executions of one trace, only the first has\n  {}\nonly the other has\n  {}",
                only(known, &findings),
                only(&findings, known)
            ));
        }
    }
}

/// The monitor.
pub(crate) struct Recorder {
    monitors: Vec<Box<dyn Monitor>>,
    findings: Findings,
    seen: Arc<Mutex<Seen>>,
}

impl Recorder {
    /// Makes a monitor that calls `monitors` and records their reports in `seen`.
    pub(crate) fn new(monitors: Vec<Box<dyn Monitor>>, seen: Arc<Mutex<Seen>>) -> Recorder {
        Recorder {
            monitors,
            findings: Findings::new(),
            seen,
        }
    }

    fn tell(
        &mut self,
        wanted: Interests,
        cx: &mut Context<'_>,
        mut call: impl FnMut(&mut dyn Monitor, &mut Context<'_>),
    ) {
        for monitor in &mut self.monitors {
            if !monitor.interests().intersects(wanted) {
                continue;
            }
            let mut listener = Listener {
                cx,
                reports: Vec::new(),
            };
            call(&mut **monitor, &mut Context::new(&mut listener));
            for report in listener.reports {
                let message = without_names(&report.message);
                self.findings
                    .insert(format!("{} {}: {message}", monitor.name(), report.kind));
            }
        }
    }
}

/// Kinds of variables.
const KINDS: [&str; 12] = [
    "atomic", "pointer", "mutex", "rwlock", "condvar", "once", "barrier", "channel", "count", "cell",
    "memory", "block",
];

/// Returns the message without the names that distinguish variables of one kind.
fn without_names(message: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in message.split(' ') {
        let named = words.last().is_some_and(|kind| KINDS.contains(kind));
        words.push(if named { "." } else { word });
    }
    words.join(" ")
}

/// The engine as seen by a monitor under test, whose reports are collected here.
struct Listener<'a, 'b> {
    cx: &'a mut Context<'b>,
    reports: Vec<MonitorFinding>,
}

impl Host for Listener<'_, '_> {
    fn report(&mut self, report: MonitorFinding) {
        self.reports.push(report);
    }
    fn task_name(&self, task: TaskId) -> String {
        self.cx.task_name(task)
    }
    fn var_name(&self, var: SyncVar) -> String {
        self.cx.var_name(var)
    }
    fn location_name(&self, location: Location) -> String {
        self.cx.location_name(location)
    }
    fn site_name(&self, site: SiteId) -> String {
        self.cx.site_name(site)
    }
    fn accesses(&self) -> &[SyncVarAccess] {
        self.cx.accesses()
    }
    fn enabled(&self) -> Vec<TaskId> {
        self.cx.enabled()
    }
    fn disabled(&self) -> Vec<TaskId> {
        self.cx.disabled()
    }
    fn enabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.cx.enabled_at(step)
    }
    fn disabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.cx.disabled_at(step)
    }
    fn happens_before(&mut self, a: EventId, b: EventId) -> bool {
        self.cx.happens_before(a, b)
    }
    fn clock(&mut self, event: EventId) -> Option<&VectorClock> {
        self.cx.clock(event)
    }
}

impl Monitor for Recorder {
    fn name(&self) -> &str {
        "recorder"
    }
    fn interests(&self) -> Interests {
        let all = self.monitors.iter().map(|monitor| monitor.interests());
        all.fold(Interests::NONE, |all, one| all | one)
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_execution_begin(&mut self, execution: &Execution<'_>) {
        self.findings.clear();
        for monitor in &mut self.monitors {
            monitor.on_execution_begin(execution);
        }
    }
    fn on_schedule_point(&mut self, next: &SchedulePoint, cx: &mut Context<'_>) {
        self.tell(Interests::SCHEDULE_POINTS, cx, |monitor, cx| {
            monitor.on_schedule_point(next, cx)
        });
    }
    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        self.tell(Interests::SYNC_ACCESSES, cx, |monitor, cx| {
            monitor.on_sync_var_access(access, cx)
        });
    }
    fn on_aggregate_sync_var_access(
        &mut self,
        access: &SyncVarAccess,
        vars: &[SyncVar],
        cx: &mut Context<'_>,
    ) {
        self.tell(Interests::SYNC_ACCESSES, cx, |monitor, cx| {
            monitor.on_aggregate_sync_var_access(access, vars, cx);
        });
    }
    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
        self.tell(Interests::DATA_ACCESSES, cx, |monitor, cx| {
            monitor.on_data_var_access(access, cx)
        });
    }
    fn on_allocation(&mut self, allocation: &Allocation, cx: &mut Context<'_>) {
        self.tell(Interests::ALLOCATIONS, cx, |monitor, cx| {
            monitor.on_allocation(allocation, cx)
        });
    }
    fn on_release(&mut self, release: &Release, cx: &mut Context<'_>) {
        self.tell(Interests::ALLOCATIONS, cx, |monitor, cx| {
            monitor.on_release(release, cx)
        });
    }
    fn on_event_attribute(&mut self, attribute: &EventAttribute<'_>, cx: &mut Context<'_>) {
        self.tell(Interests::ATTRIBUTES, cx, |monitor, cx| {
            monitor.on_event_attribute(attribute, cx)
        });
    }
    fn on_user_event(&mut self, event: &UserEvent<'_>, cx: &mut Context<'_>) {
        self.tell(Interests::USER_EVENTS, cx, |monitor, cx| {
            monitor.on_user_event(event, cx)
        });
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        self.tell(Interests::ALL, cx, |monitor, cx| {
            monitor.on_execution_end(execution, cx)
        });
        if execution.complete {
            let trace = trace::of(execution, cx);
            let findings = std::mem::take(&mut self.findings);
            self.seen
                .lock()
                .expect("nobody panics with it")
                .add(trace, findings);
        }
    }
}
