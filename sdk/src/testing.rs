//! Executions written by hand, for tests of monitors without an engine.

use crate::{
    Allocation, BlockKind, Choice, Context, DataVarAccess, EventAttribute, EventId, EventStatus, Execution,
    HappensBefore, Host, Interests, Location, MemoryOrder, Monitor, MonitorFinding, PointKind, Release,
    SchedulePoint, SiteId, SyncVar, SyncVarAccess, SyncVarOp, TaskId, UserEvent, VectorClock,
};

/// One thing that happens in a [`Script`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A visible operation: delivered as a schedule point, and then as an access.
    Sync(SyncVarAccess),
    /// An access to plain memory.
    Data(DataVarAccess),
    /// An allocation of memory.
    Allocation(Allocation),
    /// A release of memory.
    Release(Release),
    /// A message from the test.
    User {
        /// The last visible operation of the same task.
        after: EventId,
        /// The text.
        text: String,
    },
    /// An attribute of an event.
    Attribute {
        /// The event.
        event: EventId,
        /// The attribute.
        name: String,
        /// Its value.
        value: String,
    },
}

/// An execution, written down event by event. It can be played to any number of monitors.
///
/// It is not checked: a lock can be taken twice. At first there is one task, [`Script::MAIN`]; all others are created
/// by [`fork`](Script::fork). A source place is named by the index of its entry in the script.
#[derive(Clone, Debug)]
pub struct Script {
    events: Vec<Event>,
    /// The number of visible operations of each task, and `true` if it has ended.
    tasks: Vec<(u32, bool)>,
    vars: Vec<String>,
    locations: Vec<String>,
    held_by_statics: Vec<Location>,
    held_back: Vec<TaskId>,
    prescribed: Vec<Choice>,
    complete: bool,
}

impl Default for Script {
    fn default() -> Self {
        Script::new()
    }
}

impl Script {
    /// The task that runs the test's body.
    pub const MAIN: TaskId = TaskId(0);

    /// Creates an execution in which the test's body has begun and nothing else.
    pub fn new() -> Script {
        let mut script = Script {
            events: Vec::new(),
            tasks: Vec::new(),
            vars: Vec::new(),
            locations: Vec::new(),
            held_by_statics: Vec::new(),
            held_back: Vec::new(),
            prescribed: Vec::new(),
            complete: true,
        };
        script.begin();
        script
    }

    /// Adds a new task's first event. The task's variable is created with it. Only for the first task do the two have
    /// the same index in their tables.
    fn begin(&mut self) -> TaskId {
        let task = TaskId(self.tasks.len() as u32);
        self.tasks.push((0, false));
        let var = self.task_var(task);
        self.sync(task, SyncVarOp::TaskBegin, var, MemoryOrder::None, 0, 0);
        task
    }

    fn task_var(&mut self, task: TaskId) -> SyncVar {
        let name = format!("task {}", task.0);
        match self.vars.iter().position(|known| *known == name) {
            Some(at) => SyncVar(at as u32),
            None => self.var(&name),
        }
    }

    /// Creates a variable of that name, which is also its name in the source. Its first operation determines its kind; a
    /// lock that is taken exclusively first is a mutex.
    pub fn var(&mut self, name: &str) -> SyncVar {
        self.vars.push(name.to_owned());
        SyncVar(self.vars.len() as u32 - 1)
    }

    /// Creates a cell of that name.
    pub fn location(&mut self, name: &str) -> Location {
        self.locations.push(name.to_owned());
        Location(self.locations.len() as u32 - 1)
    }

    /// Returns the last visible operation of the task.
    pub fn last(&self, task: TaskId) -> EventId {
        let (index, _) = self.tasks[task.index()];
        EventId { task, index }
    }

    /// Returns the place of the next entry.
    fn here(&self) -> SiteId {
        SiteId(self.events.len() as u32)
    }

    /// Adds any visible operation. [`SyncVarAccess`] gives the meaning of `read` and `written`.
    ///
    /// # Panics
    /// If there is no such task.
    pub fn sync(
        &mut self,
        task: TaskId,
        op: SyncVarOp,
        var: SyncVar,
        order: MemoryOrder,
        read: u64,
        written: u64,
    ) -> EventId {
        self.tasks[task.index()].0 += 1;
        let event = self.last(task);
        self.events.push(Event::Sync(SyncVarAccess {
            event,
            var,
            op,
            order,
            read,
            written,
            site: self.here(),
            store: 0,
        }));
        event
    }

    /// Adds a load of an atomic, and the value it returns.
    pub fn load(&mut self, task: TaskId, var: SyncVar, order: MemoryOrder, read: u64) -> EventId {
        self.sync(task, SyncVarOp::AtomicLoad, var, order, read, 0)
    }

    /// Adds a store to an atomic.
    pub fn store(&mut self, task: TaskId, var: SyncVar, order: MemoryOrder, written: u64) -> EventId {
        self.sync(task, SyncVarOp::AtomicStore, var, order, 0, written)
    }

    /// Adds a read-modify-write of an atomic.
    pub fn rmw(
        &mut self,
        task: TaskId,
        var: SyncVar,
        order: MemoryOrder,
        read: u64,
        written: u64,
    ) -> EventId {
        self.sync(task, SyncVarOp::AtomicRmw, var, order, read, written)
    }

    /// Adds a fence.
    pub fn fence(&mut self, task: TaskId, order: MemoryOrder) -> EventId {
        self.sync(task, SyncVarOp::Fence, SyncVar::NONE, order, 0, 0)
    }

    /// Adds an operation without values or ordering, for example of a lock.
    pub fn operation(&mut self, task: TaskId, op: SyncVarOp, var: SyncVar) -> EventId {
        self.sync(task, op, var, MemoryOrder::None, 0, 0)
    }

    /// Adds the acquisition of a lock.
    pub fn lock(&mut self, task: TaskId, var: SyncVar) -> EventId {
        self.operation(task, SyncVarOp::LockAcquire, var)
    }

    /// Adds the release of a lock.
    pub fn unlock(&mut self, task: TaskId, var: SyncVar) -> EventId {
        self.operation(task, SyncVarOp::LockRelease, var)
    }

    /// Adds the creation of a task, which begins at once.
    pub fn fork(&mut self, task: TaskId) -> TaskId {
        let child = TaskId(self.tasks.len() as u32);
        let var = self.task_var(child);
        let number = u64::from(child.0);
        self.sync(task, SyncVarOp::TaskFork, var, MemoryOrder::None, number, 0);
        self.begin()
    }

    /// Adds the end of a task.
    pub fn end(&mut self, task: TaskId) -> EventId {
        let var = self.task_var(task);
        let event = self.operation(task, SyncVarOp::TaskEnd, var);
        self.tasks[task.index()].1 = true;
        event
    }

    /// Adds a join of a task, which ends now if it has not.
    pub fn join(&mut self, task: TaskId, child: TaskId) -> EventId {
        if !self.tasks[child.index()].1 {
            self.end(child);
        }
        let var = self.task_var(child);
        self.sync(
            task,
            SyncVarOp::TaskJoin,
            var,
            MemoryOrder::None,
            u64::from(child.0),
            0,
        )
    }

    fn data(&mut self, task: TaskId, location: Location, bytes: (u32, u32), is_write: bool) -> &mut Self {
        let access = DataVarAccess {
            after: self.last(task),
            location,
            offset: bytes.0,
            size: bytes.1,
            is_write,
            by_pointer: false,
            frees: false,
            order: MemoryOrder::None,
            var: SyncVar::NONE,
            site: self.here(),
        };
        self.push(Event::Data(access))
    }

    /// Adds a request for a pointer to the first eight bytes of a cell: a read, as far as is known.
    pub fn get_pointer(&mut self, task: TaskId, location: Location) -> &mut Self {
        self.read(task, location).by_pointer()
    }

    /// Adds a write to the first eight bytes of a cell by a pointer that was obtained here.
    pub fn write_by_pointer(&mut self, task: TaskId, location: Location) -> &mut Self {
        self.write(task, location).by_pointer()
    }

    fn by_pointer(&mut self) -> &mut Self {
        let Some(Event::Data(access)) = self.events.last_mut() else {
            unreachable!("it was accessed just now")
        };
        access.by_pointer = true;
        self
    }

    /// Adds a read of the first eight bytes of a cell.
    pub fn read(&mut self, task: TaskId, location: Location) -> &mut Self {
        self.data(task, location, (0, 8), false)
    }

    /// Adds a write to the first eight bytes of a cell.
    pub fn write(&mut self, task: TaskId, location: Location) -> &mut Self {
        self.data(task, location, (0, 8), true)
    }

    /// Adds a read of `size` bytes of a cell, from `offset` on.
    pub fn read_part(&mut self, task: TaskId, location: Location, offset: u32, size: u32) -> &mut Self {
        self.data(task, location, (offset, size), false)
    }

    /// Adds a write to `size` bytes of a cell, from `offset` on.
    pub fn write_part(&mut self, task: TaskId, location: Location, offset: u32, size: u32) -> &mut Self {
        self.data(task, location, (offset, size), true)
    }

    /// Adds the allocation of a block of that name and size.
    pub fn allocate(&mut self, task: TaskId, name: &str, kind: BlockKind, size: u64) -> Location {
        let location = self.location(name);
        let allocation = Allocation {
            after: self.last(task),
            location,
            kind,
            size,
            var: SyncVar::NONE,
            site: self.here(),
        };
        self.push(Event::Allocation(allocation));
        location
    }

    /// Adds the release of a block or cell.
    pub fn release(&mut self, task: TaskId, location: Location) -> &mut Self {
        let release = Release {
            after: self.last(task),
            location,
            site: self.here(),
        };
        self.push(Event::Release(release))
    }

    /// Lets a static hold a block at the end: [`Context::is_held_by_static`].
    pub fn hold_by_static(&mut self, location: Location) -> &mut Self {
        self.held_by_statics.push(location);
        self
    }

    /// Lets fairness hold a task back, in every step before which it exists: [`Context::held_back_at`].
    pub fn hold_back(&mut self, task: TaskId) -> &mut Self {
        self.held_back.push(task);
        self
    }

    /// Adds a choice to those with which the execution began: [`Context::prescribed`]. The events of the script need not
    /// follow from them.
    pub fn prescribe(&mut self, choice: Choice) -> &mut Self {
        self.prescribed.push(choice);
        self
    }

    /// Adds a message from the test.
    pub fn say(&mut self, task: TaskId, text: &str) -> &mut Self {
        let after = self.last(task);
        self.push(Event::User {
            after,
            text: text.to_owned(),
        })
    }

    /// Adds any entry.
    pub fn push(&mut self, event: Event) -> &mut Self {
        self.events.push(event);
        self
    }

    /// Marks the execution as incomplete: not every task ended.
    pub fn incomplete(&mut self) -> &mut Self {
        self.complete = false;
        self
    }

    /// Returns the first operation on a variable.
    fn first_access(&self, var: SyncVar) -> Option<&SyncVarAccess> {
        self.events.iter().find_map(|event| match event {
            Event::Sync(access) if access.var == var => Some(access),
            _ => None,
        })
    }

    /// Returns the entries so far.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Plays the script to a monitor as the only execution. Returns the monitor's reports, in order.
    pub fn play(&self, monitor: &mut dyn Monitor) -> Vec<MonitorFinding> {
        Script::play_all([self], monitor)
    }

    /// Plays executions to a monitor one after the other, and shuts it down. Returns the monitor's reports, in order.
    pub fn play_all<'a>(
        scripts: impl IntoIterator<Item = &'a Script>,
        monitor: &mut dyn Monitor,
    ) -> Vec<MonitorFinding> {
        let mut reports = Vec::new();
        let nothing = Script::new();
        for (script, number) in scripts.into_iter().zip(1..) {
            Stage::new(script, &mut reports).play(monitor, number);
        }
        monitor.on_shutdown(&mut Context::new(&mut Stage::new(&nothing, &mut reports)));
        reports
    }
}

/// Returns the kind of the variables that have such operations.
fn kind(op: SyncVarOp) -> &'static str {
    use SyncVarOp::*;
    match op {
        AtomicLoad | AtomicStore | AtomicRmw | AtomicRmwFailed => "atomic",
        LockAcquire | LockTryAcquire | LockTryFailed | LockRelease | PoisonCheck | PoisonClear => "mutex",
        SharedAcquire | SharedTryAcquire | SharedRelease => "rwlock",
        CondvarWait | CondvarWake | NotifyOne | NotifyAll => "condvar",
        ChannelSend | ChannelReceive | ChannelTryFailed | ChannelClose => "channel",
        BarrierArrive | BarrierPass => "barrier",
        OnceBegin | OnceEnd | OnceCheck => "once",
        TaskFork | TaskBegin | TaskEnd | TaskJoin | TaskCheck | Park | Unpark => "task",
        CountUp | CountDown | CountRead => "count",
        OperationCall | OperationReturn => "operations",
        PrimitiveRead | PrimitiveChange => "primitive",
        SchedulePoint => "point",
        _ => "",
    }
}

/// A script as it is played: the engine's part.
struct Stage<'a> {
    script: &'a Script,
    reports: &'a mut Vec<MonitorFinding>,
    has_ended: bool,
    accesses: Vec<SyncVarAccess>,
    /// The tasks that exist now, and those that existed before each access.
    now: Vec<TaskId>,
    before: Vec<Vec<TaskId>>,
    order: HappensBefore,
}

impl<'a> Stage<'a> {
    fn new(script: &'a Script, reports: &'a mut Vec<MonitorFinding>) -> Stage<'a> {
        Stage {
            script,
            reports,
            has_ended: false,
            accesses: Vec::new(),
            now: vec![Script::MAIN],
            before: Vec::new(),
            order: HappensBefore::new(),
        }
    }

    fn play(mut self, monitor: &mut dyn Monitor, number: u64) {
        let interests = monitor.interests();
        monitor.on_execution_begin(&Execution {
            number,
            accesses: &[],
            complete: false,
            prescribed: self.script.prescribed.len() as u64,
            repeated: 0,
        });
        for event in &self.script.events {
            self.tell(monitor, interests, event);
        }
        let accesses = self.accesses.clone();
        let execution = Execution {
            number,
            accesses: &accesses,
            complete: self.script.complete,
            prescribed: self.script.prescribed.len() as u64,
            repeated: 0,
        };
        self.has_ended = true;
        monitor.on_execution_end(&execution, &mut Context::new(&mut self));
    }

    fn tell(&mut self, monitor: &mut dyn Monitor, interests: Interests, event: &Event) {
        let wants = |interest| interests.intersects(interest);
        match event {
            Event::Sync(access) => self.perform(monitor, interests, access),
            Event::Data(access) if wants(Interests::DATA_ACCESSES) => {
                monitor.on_data_var_access(access, &mut Context::new(self));
            }
            Event::Allocation(allocation) if wants(Interests::ALLOCATIONS) => {
                monitor.on_allocation(allocation, &mut Context::new(self));
            }
            Event::Release(release) if wants(Interests::ALLOCATIONS) => {
                monitor.on_release(release, &mut Context::new(self));
            }
            Event::User { after, text } if wants(Interests::USER_EVENTS) => {
                let event = UserEvent { after: *after, text };
                monitor.on_user_event(&event, &mut Context::new(self));
            }
            Event::Attribute { event, name, value } if wants(Interests::ATTRIBUTES) => {
                let attribute = EventAttribute {
                    event: *event,
                    name,
                    value,
                };
                monitor.on_event_attribute(&attribute, &mut Context::new(self));
            }
            _ => {}
        }
    }

    fn perform(&mut self, monitor: &mut dyn Monitor, interests: Interests, access: &SyncVarAccess) {
        let choice = access.op == SyncVarOp::Choice;
        let next = SchedulePoint {
            kind: if choice {
                PointKind::Choice
            } else {
                PointKind::Access
            },
            event: access.event,
            var: access.var,
            op: access.op,
            site: access.site,
        };
        if interests.intersects(Interests::SCHEDULE_POINTS) {
            monitor.on_schedule_point(&next, &mut Context::new(self));
        }
        self.before.push(self.now.clone());
        match (access.op, access.other_task()) {
            (SyncVarOp::TaskFork, Some(child)) => self.now.push(child),
            (SyncVarOp::TaskEnd, _) => self.now.retain(|task| *task != access.event.task),
            _ => {}
        }
        self.accesses.push(*access);
        if interests.intersects(Interests::SYNC_ACCESSES) {
            let mut cx = Context::new(self);
            match access.other_var() {
                SyncVar::NONE => monitor.on_sync_var_access(access, &mut cx),
                other => monitor.on_aggregate_sync_var_access(access, &[access.var, other], &mut cx),
            }
        }
    }

    fn ordered(&mut self) -> &HappensBefore {
        for access in &self.accesses[self.order.len()..] {
            self.order.add(access);
        }
        &self.order
    }
}

impl Host for Stage<'_> {
    fn report(&mut self, report: MonitorFinding) {
        self.reports.push(report);
    }
    fn task_name(&self, task: TaskId) -> String {
        match task {
            Script::MAIN => "main".into(),
            other => format!("task {}", other.0),
        }
    }
    fn var_name(&self, var: SyncVar) -> String {
        let known = self.script.vars.get(var.index());
        known.cloned().unwrap_or_else(|| "no variable".into())
    }
    fn source_name(&self, var: SyncVar) -> String {
        let known = self.script.vars.get(var.index());
        known
            .filter(|_| self.var_kind(var) != "task")
            .cloned()
            .unwrap_or_default()
    }
    fn var_kind(&self, var: SyncVar) -> String {
        let first = self.script.first_access(var);
        first.map_or("", |access| kind(access.op)).to_owned()
    }
    fn made_at(&self, var: SyncVar) -> String {
        let first = self.script.first_access(var);
        first.map_or(String::new(), |access| self.site_name(access.site))
    }
    fn location_name(&self, location: Location) -> String {
        let known = self.script.locations.get(location.index());
        known.cloned().unwrap_or_else(|| "unknown memory".into())
    }
    fn is_held_by_static(&self, location: Location) -> bool {
        self.has_ended && self.script.complete && self.script.held_by_statics.contains(&location)
    }
    fn site_name(&self, site: SiteId) -> String {
        format!("script:{}", site.0)
    }
    fn accesses(&self) -> &[SyncVarAccess] {
        &self.accesses
    }
    fn enabled(&self) -> Vec<TaskId> {
        self.now.clone()
    }
    fn disabled(&self) -> Vec<TaskId> {
        Vec::new()
    }
    fn enabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.before.get(step).cloned()
    }
    fn disabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.before.get(step).map(|_| Vec::new())
    }
    fn held_back_at(&self, step: usize) -> Option<Vec<TaskId>> {
        let is_held_back = |task: &TaskId| self.script.held_back.contains(task);
        let enabled = self.before.get(step)?.iter().copied();
        Some(enabled.filter(is_held_back).collect())
    }
    fn point_of(&self, event: EventId) -> Option<usize> {
        let at = self.accesses.iter().position(|access| access.event == event)?;
        Some(at + 1)
    }
    fn status(&self, event: EventId) -> Option<EventStatus> {
        let own = self
            .accesses
            .iter()
            .filter(|access| access.event.task == event.task);
        let last = own.map(|access| access.event.index).max().unwrap_or(0);
        match event.index {
            0 => None,
            index if index <= last => Some(EventStatus::Committed),
            index if index == last + 1 && self.now.contains(&event.task) => Some(EventStatus::Ready),
            _ => None,
        }
    }
    fn prescribed(&self) -> Vec<Choice> {
        self.script.prescribed.clone()
    }
    fn happens_before(&mut self, a: EventId, b: EventId) -> bool {
        self.ordered().before(a, b)
    }
    fn clock(&mut self, event: EventId) -> Option<&VectorClock> {
        self.ordered();
        self.order.clock(event)
    }
}

#[cfg(test)]
mod tests;
