//! The monitor that turns an execution into a [`Recording`].
//!
//! It uses nothing of the engine but the monitor contract, and mostly at the end, when everything is known. Its own
//! part is to make things small: direct predecessors instead of clocks, and sets of tasks only where they change.

use super::stacks::Stacks;
use super::{
    RECORDING_FORMAT, RecordedAccess, RecordedEvent, RecordedOperation, RecordedTask, RecordedVar, Recording,
    Said,
};
use hashbrown::HashMap;
use intermezzo_engine::described::values;
use intermezzo_sdk::{
    Context, DataVarAccess, EventAttribute, EventId, Execution, Interests, MemoryOrder, Monitor, SiteId,
    SyncVar, SyncVarAccess, SyncVarOp, TaskId, UserEvent, VectorClock,
};
use std::sync::{Arc, Mutex, PoisonError};

/// The attribute of a call's mark (see [`Operations`](crate::Operations)) that names the operation in a recording.
pub const OPERATION: &str = "operation";
/// The attribute with the result of the current operation; attached before its return is marked.
pub const RETURNED: &str = "returned";

/// The slot in which a recorder stores the last execution.
pub(super) type Recorded = Arc<Mutex<Option<Heard>>>;

/// A recorded execution whose stacks have no names yet.
pub(super) struct Heard {
    recording: Recording,
    stacks: Option<Stacks>,
}

impl Heard {
    /// Returns the recording, with the stacks of its events if they were noted.
    pub(super) fn finish(mut self) -> Recording {
        if let Some(stacks) = self.stacks {
            stacks.add_to(&mut self.recording);
        }
        self.recording
    }
}

/// A monitor that records every execution, and keeps the last.
pub(super) struct Recorder {
    recorded: Recorded,
    /// Each with the number of events before it, the name of its place, and its stack.
    data: Vec<(DataVarAccess, usize, String, Option<usize>)>,
    said: Vec<Said>,
    /// Calls and results in words, each with the number of events before it.
    operations: Vec<(usize, String)>,
    results: Vec<(TaskId, usize, String)>,
    preempting: Vec<usize>,
    /// The stacks of the execution, if they are noted.
    stacks: Option<Stacks>,
    /// The stack of each event.
    of: HashMap<EventId, usize>,
}

impl Recorder {
    /// Makes a recorder that stores its recording in `recorded`, without stacks.
    pub(super) fn new(recorded: &Recorded) -> Recorder {
        Recorder {
            recorded: Arc::clone(recorded),
            stacks: None,
            of: HashMap::new(),
            data: Vec::new(),
            said: Vec::new(),
            operations: Vec::new(),
            results: Vec::new(),
            preempting: Vec::new(),
        }
    }

    /// Makes a recorder that also notes the stack of each event. Noting one takes as long as several operations.
    pub(super) fn with_stacks(recorded: &Recorded) -> Recorder {
        Recorder {
            stacks: Some(Stacks::default()),
            ..Recorder::new(recorded)
        }
    }

    fn note_stack(&mut self, event: EventId) {
        if let Some(stack) = self.stacks.as_mut().and_then(Stacks::note) {
            self.of.insert(event, stack);
        }
    }
}

impl Monitor for Recorder {
    fn name(&self) -> &str {
        "recorder"
    }

    fn interests(&self) -> Interests {
        let stacks = match self.stacks {
            Some(_) => Interests::SYNC_ACCESSES,
            None => Interests::NONE,
        };
        stacks
            | Interests::ENABLED_SETS
            | Interests::DATA_ACCESSES
            | Interests::USER_EVENTS
            | Interests::ATTRIBUTES
    }

    fn reduction_compatible(&self) -> bool {
        true
    }

    fn follows_stale_reads(&self) -> bool {
        true
    }

    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        *self = match self.stacks {
            Some(_) => Recorder::with_stacks(&self.recorded),
            None => Recorder::new(&self.recorded),
        };
    }

    fn on_sync_var_access(&mut self, access: &SyncVarAccess, _: &mut Context<'_>) {
        self.note_stack(access.event);
    }

    fn on_aggregate_sync_var_access(&mut self, access: &SyncVarAccess, _: &[SyncVar], _: &mut Context<'_>) {
        self.note_stack(access.event);
    }

    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
        let name = cx.location_name(access.location);
        let stack = self.stacks.as_mut().and_then(Stacks::note);
        self.data.push((*access, cx.accesses().len(), name, stack));
    }

    fn on_event_attribute(&mut self, attribute: &EventAttribute<'_>, cx: &mut Context<'_>) {
        let at = cx.accesses().len();
        match (attribute.name, attribute.value) {
            // This attribute comes before the other task's step.
            ("status", "preempted") => self.preempting.push(at),
            ("status", _) => {}
            (OPERATION, text) => self.operations.push((at.saturating_sub(1), text.to_owned())),
            (RETURNED, text) => self.results.push((attribute.event.task, at, text.to_owned())),
            (name, value) => self.said.push(Said {
                task: attribute.event.task.index(),
                at,
                text: format!("{name}: {value}"),
            }),
        }
    }

    fn on_user_event(&mut self, event: &UserEvent<'_>, cx: &mut Context<'_>) {
        self.said.push(Said {
            task: event.after.task.index(),
            at: cx.accesses().len(),
            text: event.text.to_owned(),
        });
    }

    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        let mut tables = Tables::default();
        let mut events = events(execution.accesses, &self.preempting, &mut tables, cx);
        for (event, access) in events.iter_mut().zip(execution.accesses) {
            event.stack = self.of.get(&access.event).copied();
        }
        if execution.accesses.len() < cx.accesses().len() {
            // Rounds of loops at the end of the execution count for nothing.
            let counts = |at: usize| at < execution.accesses.len();
            self.data.retain(|(_, at, ..)| counts(*at));
            self.said.retain(|said| counts(said.at));
        }
        let operations = self.operations(execution.accesses);
        let data = std::mem::take(&mut self.data);
        let data = data
            .into_iter()
            .map(|(access, at, location, stack)| RecordedAccess {
                task: access.after.task.index(),
                at,
                location,
                is_write: access.is_write,
                by_pointer: access.by_pointer,
                offset: access.offset,
                size: access.size,
                site: Some(tables.site(access.site, cx)),
                stack,
            });
        let data = data.collect();
        let present = cx.enabled().into_iter().chain(cx.disabled());
        let forked = execution.accesses.iter().filter_map(SyncVarAccess::other_task);
        let created = present.chain(forked).map(|task| task.0 + 1).max().unwrap_or(1);
        let recording = Recording {
            format: RECORDING_FORMAT.into(),
            // Both are filled in by the replay.
            program: String::new(),
            schedule: String::new(),
            complete: execution.complete,
            tasks: (0..created)
                .map(|task| RecordedTask {
                    name: cx.task_name(TaskId(task)),
                    function: None,
                })
                .collect(),
            vars: tables.vars,
            sites: tables.sites,
            functions: Vec::new(),
            stacks: Vec::new(),
            events,
            data,
            operations,
            said: std::mem::take(&mut self.said),
        };
        let stacks = self.stacks.as_mut().map(std::mem::take);
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(Heard { recording, stacks });
    }
}

/// Names by index, and the index of each known name.
#[derive(Default)]
struct Tables {
    vars: Vec<RecordedVar>,
    var_places: HashMap<SyncVar, usize>,
    sites: Vec<String>,
    site_places: HashMap<SiteId, usize>,
    /// The numbers of addresses, in order of appearance: addresses themselves differ between processes.
    addresses: HashMap<u64, u64>,
}

impl Tables {
    fn var(&mut self, var: SyncVar, cx: &Context<'_>) -> Option<usize> {
        if var == SyncVar::NONE {
            return None;
        }
        Some(*self.var_places.entry(var).or_insert_with(|| {
            let name = cx.var_name(var);
            let kind = match name.split_once(' ') {
                Some((kind, number)) if number.starts_with(|c: char| c.is_ascii_digit()) => kind,
                _ => "task",
            };
            self.vars.push(RecordedVar {
                kind: kind.to_owned(),
                source_name: cx.given_name(var),
                name,
            });
            self.vars.len() - 1
        }))
    }

    fn site(&mut self, site: SiteId, cx: &Context<'_>) -> usize {
        *self.site_places.entry(site).or_insert_with(|| {
            self.sites.push(cx.site_name(site));
            self.sites.len() - 1
        })
    }

    fn value(&mut self, value: u64, is_address: bool) -> u64 {
        if !is_address || value == 0 {
            return value;
        }
        let next = self.addresses.len() as u64 + 1;
        *self.addresses.entry(value).or_insert(next)
    }
}

fn events(
    accesses: &[SyncVarAccess],
    preempting: &[usize],
    tables: &mut Tables,
    cx: &mut Context<'_>,
) -> Vec<RecordedEvent> {
    let places: HashMap<EventId, usize> = accesses.iter().map(|access| access.event).zip(0..).collect();
    let mut known: (Option<Vec<usize>>, Option<Vec<usize>>) = (None, None);
    let mut last: Vec<VectorClock> = Vec::new();
    let mut events = Vec::with_capacity(accesses.len());
    for (at, access) in accesses.iter().enumerate() {
        let var = tables.var(access.var, cx);
        let is_address = var.is_some_and(|var| tables.vars[var].kind == "pointer");
        let (read, written) = values(access.op, access.read, access.written);
        let task = access.event.task.index();
        if last.len() <= task {
            last.resize_with(task + 1, VectorClock::new);
        }
        let after = match cx.clock(access.event).cloned() {
            Some(clock) => {
                let direct = direct_predecessors(access.event, &clock, &last[task], cx);
                last[task] = clock;
                direct
            }
            None => Vec::new(),
        };
        let mut after: Vec<usize> = after.iter().filter_map(|id| places.get(id).copied()).collect();
        after.sort_unstable();
        let (enabled, disabled) = sets(at, access.event.task, cx);
        let own_end = matches!(access.op, SyncVarOp::TaskBegin | SyncVarOp::TaskEnd) && task == 0;
        events.push(RecordedEvent {
            task,
            index: access.event.index,
            op: access.op.to_string(),
            // `mark` adds them once the execution is over.
            effect: None,
            from: None,
            newer: Vec::new(),
            order: match access.order {
                MemoryOrder::None => None,
                order => Some(format!("{order:?}")),
            },
            var,
            read: read.map(|value| tables.value(value, is_address)),
            written: written.map(|value| tables.value(value, is_address)),
            site: (!own_end).then(|| tables.site(access.site, cx)),
            stack: None,
            enabled: changed(&mut known.0, enabled),
            disabled: changed(&mut known.1, disabled),
            preempts: preempting.binary_search(&at).is_ok(),
            after,
            concerned: false,
        });
    }
    events
}

/// Returns the tasks that could take a step, and those that could not. Steps that are no schedule points are reported
/// after the fact; the task that took one could.
fn sets(at: usize, task: TaskId, cx: &Context<'_>) -> (Option<Vec<TaskId>>, Option<Vec<TaskId>>) {
    let with = |mut enabled: Vec<TaskId>| {
        if let Err(place) = enabled.binary_search(&task) {
            enabled.insert(place, task);
        }
        enabled
    };
    let without = |mut disabled: Vec<TaskId>| {
        disabled.retain(|other| *other != task);
        disabled
    };
    (cx.enabled_at(at).map(with), cx.disabled_at(at).map(without))
}

/// Returns the set, if it differs from the one before.
fn changed(before: &mut Option<Vec<usize>>, now: Option<Vec<TaskId>>) -> Option<Vec<usize>> {
    let now: Vec<usize> = now?.into_iter().map(TaskId::index).collect();
    if before.as_ref() == Some(&now) {
        return None;
    }
    before.insert(now).clone().into()
}

/// Returns the direct predecessors of this event in other tasks: events that it knows, that its own task did not know
/// before, and that no other of them knows.
fn direct_predecessors(
    event: EventId,
    clock: &VectorClock,
    before: &VectorClock,
    cx: &mut Context<'_>,
) -> Vec<EventId> {
    let new = |known: &EventId| known.task != event.task && !before.knows(*known);
    let candidates: Vec<EventId> = clock.iter().filter(new).collect();
    let covered = |one: &EventId| {
        let mut others = candidates.iter().filter(|other| *other != one);
        others.any(|&other| cx.happens_before(*one, other))
    };
    let is_covered: Vec<bool> = candidates.iter().map(covered).collect();
    let direct = candidates.iter().zip(is_covered);
    direct
        .filter(|(_, covered)| !covered)
        .map(|(&event, _)| event)
        .collect()
}

impl Recorder {
    /// Returns the operations between the marks of calls and returns.
    fn operations(&self, accesses: &[SyncVarAccess]) -> Vec<RecordedOperation> {
        let mut operations: Vec<RecordedOperation> = Vec::new();
        let named: HashMap<usize, &String> = self.operations.iter().map(|(at, text)| (*at, text)).collect();
        for (at, access) in accesses.iter().enumerate() {
            let task = access.event.task;
            match access.op {
                SyncVarOp::OperationCall => operations.push(RecordedOperation {
                    task: task.index(),
                    name: named
                        .get(&at)
                        .map_or_else(|| format!("operation {}", access.written), |name| (*name).clone()),
                    result: None,
                    call: at,
                    ret: None,
                }),
                SyncVarOp::OperationReturn => {
                    let mut open = operations.iter_mut().rev();
                    let Some(open) = open.find(|open| open.task == task.index() && open.ret.is_none()) else {
                        continue;
                    };
                    let mut results = self.results.iter();
                    let result =
                        results.find(|(by, when, _)| *by == task && (open.call + 1..=at).contains(when));
                    open.ret = Some(at);
                    open.result = result.map(|(_, _, text)| text.clone());
                }
                _ => {}
            }
        }
        operations
    }
}
