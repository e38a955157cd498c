//! Memory that is never released, released twice, or used after its release.
//!
//! **Source.** The definitions; there is no paper. Memory is that of the look-alikes that report it: blocks from the
//! allocator, contents of an `Arc`, values tracked by themselves, cells.
//!
//! **What is computed.** Each execution is judged by itself.
//! - *Leaks*, at the end of a complete execution: blocks that were not released.
//! - *Double free*: a block given back more than once.
//! - *Use after free*: an access to released memory, or one that nothing orders before the release (by program order
//!   and operations that do not commute, as the scheduler saw them). The second is a race for the data-race monitor,
//!   too.
//! - *Values left in channels*, as a warning: fewer messages came out of a channel than went in. The rest is dropped
//!   with its receiver, which is often intended. `channels=false` switches it off.
//! - *Tasks never joined*, with `tasks=true`, as a warning, at the end of a complete execution.
//!
//! **Misses.** Memory that no look-alike reports (`std`'s own `Box`), except in tests that were not written for
//! intermezzo: there the engine reports memory that an execution leaves behind and that nothing leads to.
//!
//! **No leak** is memory that a static holds at the end of an execution, because statics live until the process ends.
//!
//! **Too strict** for a static that is no look-alike's, such as a `OnceLock` that a crate wrote itself. Memory that
//! only such a static holds counts as a leak, though it is meant to live for ever. `monitors = "-leak"` is for such a
//! test.
//!
//! **Reduction compatible**: releases, and the messages that came out of a channel, are the same on all executions of
//! a trace. Use after free is judged by the order of the trace, not by time.

mod joins;

use crate::arguments::{self, Argument, SWITCH, switch};
use crate::order::TraceOrder;
use intermezzo_sdk::{
    Allocation, BlockKind, Context, DataVarAccess, EventId, Execution, FindingKind, Interests, Location,
    MemoryDeed, MemoryEvent, Monitor, MonitorFinding, Release, SiteId, SyncVar, SyncVarAccess, SyncVarOp,
    SyncVarOps, TaskId, VectorClock,
};
use joins::{Early, Joins};
use std::collections::{BTreeMap, BTreeSet};

const NAME: &str = "leak";

const ARGUMENTS: [Argument<Leaks>; 2] = [
    Argument {
        name: "channels",
        values: SWITCH,
        set: |to, value| switch(&mut to.channels, value),
    },
    Argument {
        name: "tasks",
        values: SWITCH,
        set: |to, value| switch(&mut to.tasks, value),
    },
];

/// Finds memory that is never released, released twice, or used after its release. See the [module](self).
#[derive(Debug)]
pub struct Leaks {
    channels: bool,
    tasks: bool,
    order: TraceOrder,
    /// Number of visible operations that `order` has processed.
    ordered: usize,
    joins: Joins,
    /// By location; from `blocks_used` on they are of earlier executions, kept for their memory.
    blocks: Vec<Block>,
    blocks_used: usize,
    /// Number of memory events before the first release, in the first call of this execution or of the one before; and
    /// the allocations among them.
    early: usize,
    allocations: Vec<(usize, Allocation)>,
    /// Memory events that the first call of an execution began with, this one or an earlier one; and `true` if those of
    /// this execution were not needed so far.
    first_call: Vec<MemoryEvent>,
    is_put_off: bool,
    /// `true` if the current execution had no memory events yet.
    is_first: bool,
    /// The messages of the current execution.
    told: BTreeSet<String>,
}

/// A block, or a cell.
#[derive(Debug, Default)]
struct Block {
    allocation: Option<Allocation>,
    /// Releases, each with the number of visible operations before it.
    releases: Vec<(Release, usize)>,
    /// The last access of each task, place and kind.
    accesses: Vec<Use>,
}

/// Accesses of one task, at one place, that do the same.
#[derive(Clone, Copy, Debug)]
struct Use {
    /// The last visible operation before the last of them.
    after: EventId,
    site: SiteId,
    /// A description.
    does: &'static str,
}

impl Use {
    fn of(access: &DataVarAccess) -> Use {
        Use {
            after: access.after,
            site: access.site,
            does: uses(access),
        }
    }
}

impl Block {
    fn forget(&mut self) {
        self.allocation = None;
        self.releases.clear();
        self.accesses.clear();
    }

    #[inline]
    fn add(&mut self, new: Use) {
        let same = |old: &&mut Use| {
            old.after.task == new.after.task && old.site == new.site && std::ptr::eq(old.does, new.does)
        };
        match self.accesses.iter_mut().find(same) {
            Some(old) => *old = new,
            None => self.accesses.push(new),
        }
    }
}

/// Returns the task that makes these events, and the number of visible operations before the first, if they are
/// releases by one task, each of another location.
fn by_one_task(memory: &[MemoryEvent]) -> Option<(TaskId, usize)> {
    let first = memory.first()?;
    let MemoryDeed::Release(Release { after, .. }) = first.what else {
        return None;
    };
    let mut next = 0;
    for event in memory {
        let MemoryDeed::Release(release) = &event.what else {
            return None;
        };
        // In most programs they are in order.
        if release.after.task != after.task || release.location.index() < next {
            return None;
        }
        next = release.location.index() + 1;
    }
    Some((after.task, first.events))
}

/// Messages that went into each channel and did not come out, by their numbers, with the event and place of the send.
type Messages = BTreeMap<SyncVar, BTreeMap<u64, (EventId, SiteId)>>;

/// The operations without which no message is left.
const SENDS: SyncVarOps = SyncVarOps::of(&[SyncVarOp::ChannelSend]);

/// Returns the verb for an access to a block.
fn uses(access: &DataVarAccess) -> &'static str {
    if access.is_write { "writes" } else { "reads" }
}

/// `true` if what follows this event in its task comes before the actions of a task with this clock.
fn ordered(after: EventId, clock: &VectorClock) -> bool {
    clock.get(after.task) > after.index
}

impl Default for Leaks {
    fn default() -> Self {
        Leaks::new()
    }
}

impl Leaks {
    /// Creates a monitor that looks for everything except tasks never joined.
    pub fn new() -> Leaks {
        Leaks {
            channels: true,
            tasks: false,
            order: TraceOrder::default(),
            ordered: 0,
            joins: Joins::default(),
            blocks: Vec::new(),
            blocks_used: 0,
            early: 0,
            allocations: Vec::new(),
            first_call: Vec::new(),
            is_put_off: false,
            is_first: true,
            told: BTreeSet::new(),
        }
    }

    /// Creates the monitor with arguments: `channels=false`, `tasks=true`.
    ///
    /// # Errors
    /// If there is no such argument, or it cannot have that value.
    pub fn with_arguments(arguments: &str) -> Result<Leaks, String> {
        arguments::with(Leaks::new(), NAME, &ARGUMENTS, arguments)
    }

    #[inline]
    fn block(&mut self, location: Location) -> &mut Block {
        let at = location.index();
        if at >= self.blocks_used {
            if at >= self.blocks.len() {
                self.blocks.resize_with(at + 1, Block::default);
            }
            self.blocks[self.blocks_used..=at]
                .iter_mut()
                .for_each(Block::forget);
            self.blocks_used = at + 1;
        }
        &mut self.blocks[at]
    }

    /// Returns the number of events before the first release, whose allocations it processes. The first `same` are as
    /// in the execution before.
    fn first_release(&mut self, memory: &[MemoryEvent], same: usize) -> usize {
        let known = self.early.min(same);
        while self.allocations.pop_if(|(at, _)| *at >= known).is_some() {}
        let mut first = known;
        for event in &memory[known..] {
            match &event.what {
                MemoryDeed::Access(_) => {}
                MemoryDeed::Allocation(allocation) => self.allocations.push((first, *allocation)),
                MemoryDeed::Release(_) => break,
            }
            first += 1;
        }
        self.early = first;
        for at in 0..self.allocations.len() {
            let (_, allocation) = self.allocations[at];
            self.block(allocation.location).allocation = Some(allocation);
        }
        first
    }

    /// Keeps an access that comes before the first release.
    #[inline]
    fn keep(&mut self, event: &MemoryEvent) {
        if let MemoryDeed::Access(access) = &event.what {
            self.block(access.location).add(Use::of(access));
        }
    }

    /// Processes a memory event. The execution's later events may be known already.
    fn take_in(&mut self, event: &MemoryEvent, cx: &mut Context<'_>) {
        match &event.what {
            MemoryDeed::Access(access) => self.data_var_access(access, event.events, cx),
            MemoryDeed::Allocation(allocation) => {
                self.block(allocation.location).allocation = Some(*allocation);
            }
            MemoryDeed::Release(release) => self.release(release, event.events, cx),
        }
    }

    /// Keeps the first of these events, for the case that there will be another call. Most of them are there already.
    fn put_off(&mut self, memory: &[MemoryEvent]) {
        self.first_call.truncate(memory.len());
        let known = self.first_call.len();
        self.first_call.extend_from_slice(&memory[known..]);
        self.is_put_off = true;
    }

    #[cold]
    fn take_in_put_off(&mut self, cx: &mut Context<'_>) {
        let put_off = std::mem::take(&mut self.first_call);
        for event in &put_off {
            match event.what {
                // They are before all releases so far.
                MemoryDeed::Access(_) | MemoryDeed::Allocation(_) => self.keep(event),
                MemoryDeed::Release(_) => self.take_in(event, cx),
            }
        }
    }

    /// Notes that memory events of this execution come at once.
    fn begin_at_once(&mut self) {
        if std::mem::take(&mut self.is_first) {
            self.joins.go_back_to(0);
        }
    }

    /// Processes an access after this number of visible operations.
    #[inline]
    fn data_var_access(&mut self, access: &DataVarAccess, events: usize, cx: &mut Context<'_>) {
        let used = Use::of(access);
        let block = self.block(access.location);
        block.add(used);
        if !block.releases.is_empty() {
            for release in block.releases.clone() {
                self.judge(used, release, events, cx);
            }
        }
    }

    /// Processes a release after this number of visible operations.
    fn release(&mut self, release: &Release, events: usize, cx: &mut Context<'_>) {
        let releaser = release.after.task;
        let block = self.block(release.location);
        block.releases.push((*release, events));
        if block.accesses.is_empty() && block.releases.len() == 1 {
            return;
        }
        if block.accesses.iter().any(|used| used.after.task != releaser) {
            self.joins.look_at(&cx.accesses()[..events]);
            let at = release.location.index();
            for number in 0..self.blocks[at].accesses.len() {
                let used = self.blocks[at].accesses[number];
                if used.after.task != releaser {
                    self.judge(used, (*release, events), events, cx);
                }
            }
        }
        let releases = &self.block(release.location).releases;
        if releases.len() == 1 {
            return;
        }
        let before = releases[..releases.len() - 1].to_vec();
        for (earlier, _) in before {
            let by = |release: &Release, cx: &Context<'_>| {
                format!(
                    "by {} at {}",
                    cx.task_name(release.after.task),
                    cx.site_name(release.site)
                )
            };
            let mut both = [by(&earlier, cx), by(release, cx)];
            both.sort();
            let message = format!(
                "double free: {} is freed {} and {}",
                cx.location_name(release.location),
                both[0],
                both[1]
            );
            let report =
                MonitorFinding::new(FindingKind::Leak, message).events([release.after, earlier.after]);
            self.tell(report.suggest("let one owner free it, once"), cx);
        }
    }

    /// Returns the task's knowledge after this number of visible operations.
    fn known_at(&mut self, task: TaskId, events: &[SyncVarAccess]) -> VectorClock {
        if self.ordered > events.len() {
            self.order.clear();
            self.ordered = 0;
        }
        events[self.ordered..]
            .iter()
            .for_each(|access| self.order.add(access));
        self.ordered = events.len();
        self.order.known_to(task)
    }

    /// Reports this once in an execution.
    fn tell(&mut self, report: MonitorFinding, cx: &mut Context<'_>) {
        if self.told.insert(report.message.clone()) {
            cx.report(report);
        }
    }

    /// Judges an access and a release of one block, which `events` visible operations precede. There are `now` of
    /// them by now.
    fn judge(&mut self, used: Use, (release, events): (Release, usize), now: usize, cx: &mut Context<'_>) {
        let Use { after, site, does } = used;
        let user = after.task;
        let releaser = release.after.task;
        if user != releaser
            && (self.joins.order(after, releaser)
                || ordered(after, &self.known_at(releaser, &cx.accesses()[..events])))
        {
            return;
        }
        let is_later =
            user == releaser || ordered(release.after, &self.known_at(user, &cx.accesses()[..now]));
        let what = format!(
            "{} {} {} at {}",
            cx.task_name(user),
            does,
            cx.location_name(release.location),
            cx.site_name(site),
        );
        let by = format!("{} at {}", cx.task_name(releaser), cx.site_name(release.site));
        let (message, suggestion) = if is_later {
            (
                format!("{what} after it was freed by {by}"),
                "free it when no task needs it any more",
            )
        } else {
            (
                format!("{what}, and nothing orders that before it is freed by {by}"),
                "make the last use happen before the free",
            )
        };
        let report = MonitorFinding::new(FindingKind::Leak, format!("use after free: {message}"));
        self.tell(report.events([after, release.after]).suggest(suggestion), cx);
    }

    fn tell_unreleased(&mut self, cx: &mut Context<'_>) {
        let blocks = self.blocks[..self.blocks_used].iter();
        let kept = blocks.filter(|block| block.releases.is_empty());
        let kept = kept.filter_map(|block| block.allocation);
        let kept = kept.filter(|allocation| !cx.is_held_by_static(allocation.location));
        // Most often nothing, and then nothing is allocated.
        for allocation in kept.collect::<Vec<_>>() {
            let name = cx.location_name(allocation.location);
            let what = match allocation.kind {
                BlockKind::Heap => "memory",
                BlockKind::Shared => "an `Arc`",
                _ => "a value",
            };
            // The counts of an `Arc` may be used long after it was made.
            let in_source = match allocation.kind {
                BlockKind::Shared => cx.made_at(allocation.var),
                _ => String::new(),
            };
            let place = match in_source.is_empty() {
                true => cx.site_name(allocation.site),
                false => in_source,
            };
            let message = format!(
                "{what} of {} bytes is never freed: {name}, made by {} at {place}",
                allocation.size,
                cx.task_name(allocation.after.task),
            );
            let report = match allocation.kind {
                BlockKind::Shared if allocation.var == SyncVar::NONE => MonitorFinding::new(
                    FindingKind::Leak,
                    format!("{message}; its only handle was forgotten, or is a pointer"),
                )
                .suggest("drop the handle, or turn the pointer into a handle again"),
                BlockKind::Shared => MonitorFinding::new(
                    FindingKind::Leak,
                    format!("{message}; a clone of it is left, in a cycle or forgotten"),
                )
                .suggest("let one side of the cycle hold a `Weak`, and forget no clone"),
                _ => MonitorFinding::new(FindingKind::Leak, message)
                    .suggest("free it on every path, or let something own it that does"),
            };
            self.tell(report.events([allocation.after]), cx);
        }
    }

    fn tell_unjoined(&mut self, events: &[SyncVarAccess], cx: &mut Context<'_>) {
        let mut unjoined = BTreeMap::new();
        for access in events {
            match (access.op, access.other_task()) {
                (SyncVarOp::TaskFork, Some(task)) => {
                    unjoined.insert(task, (access.event, access.site));
                }
                (SyncVarOp::TaskJoin, Some(task)) => {
                    unjoined.remove(&task);
                }
                _ => {}
            }
        }
        for (task, (fork, site)) in unjoined {
            let message = format!(
                "{} is never joined, created by {} at {}",
                cx.task_name(task),
                cx.task_name(fork.task),
                cx.site_name(site)
            );
            let report = MonitorFinding::new(FindingKind::Leak, message)
                .warning()
                .events([fork]);
            self.tell(report.suggest("join it, or use a scope"), cx);
        }
    }

    fn tell_messages(&mut self, events: &[SyncVarAccess], cx: &mut Context<'_>) {
        let mut messages = Messages::new();
        let passing =
            |access: &&SyncVarAccess| matches!(access.op, SyncVarOp::ChannelSend | SyncVarOp::ChannelReceive);
        for access in events.iter().filter(passing) {
            pass_message(&mut messages, access);
        }
        for (channel, left) in messages {
            if !left.is_empty() {
                let message = format!("messages sent to {} are never received", cx.var_name(channel));
                let sent = left.values().map(|(event, _)| *event);
                let report = MonitorFinding::new(FindingKind::Leak, message)
                    .warning()
                    .events(sent);
                self.tell(
                    report.suggest("receive until the senders are gone, before the receiver is dropped"),
                    cx,
                );
            }
        }
    }
}

/// Records a send or a receive.
fn pass_message(messages: &mut Messages, access: &SyncVarAccess) {
    let left = messages.entry(access.var).or_default();
    match (access.op, access.read, access.written) {
        (SyncVarOp::ChannelReceive, number, _) => {
            left.remove(&number);
        }
        // Refused. If the sender offered it at a rendezvous just before, it has it back. (A message sent right before
        // from the same place, and lost with the receiver, is taken for that.)
        (_, 0, 0) => left.retain(|_, (event, site)| {
            let just_before = event.task == access.event.task && event.index + 1 == access.event.index;
            !(just_before && *site == access.site)
        }),
        // The sender of a rendezvous learns that its message was taken.
        (_, _, 0) => {}
        (_, _, number) => {
            left.insert(number, (access.event, access.site));
        }
    }
}

impl Monitor for Leaks {
    fn name(&self) -> &str {
        NAME
    }

    fn interests(&self) -> Interests {
        // Visible operations are examined when a block is judged, and at the end.
        Interests::DATA_ACCESSES | Interests::ALLOCATIONS
    }

    fn reduction_compatible(&self) -> bool {
        true
    }

    fn follows_stale_reads(&self) -> bool {
        true
    }

    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        if self.ordered > 0 {
            self.order.clear();
            self.ordered = 0;
        }
        self.blocks_used = 0;
        self.is_put_off = false;
        self.is_first = true;
        self.told.clear();
    }

    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
        self.begin_at_once();
        self.data_var_access(access, cx.accesses().len(), cx);
    }

    fn on_allocation(&mut self, allocation: &Allocation, _: &mut Context<'_>) {
        self.begin_at_once();
        self.block(allocation.location).allocation = Some(*allocation);
    }

    fn on_release(&mut self, release: &Release, cx: &mut Context<'_>) {
        self.begin_at_once();
        self.release(release, cx.accesses().len(), cx);
    }

    fn memory_afterwards(&self) -> bool {
        true
    }

    fn on_memory(&mut self, memory: &[MemoryEvent], cx: &mut Context<'_>) {
        self.on_memory_again(memory, 0, cx);
    }

    fn on_memory_again(&mut self, memory: &[MemoryEvent], same: usize, cx: &mut Context<'_>) {
        if !std::mem::take(&mut self.is_first) {
            // There was more than fits into one call, and it may have contained releases.
            if std::mem::take(&mut self.is_put_off) {
                self.take_in_put_off(cx);
            }
            return memory.iter().for_each(|event| self.take_in(event, cx));
        }
        let same_operations = memory[..same].last().map_or(0, |event| event.events);
        self.joins.go_back_to(same_operations);
        self.first_call.truncate(same);
        let first = self.first_release(memory, same);
        let mut early = Early {
            memory: &memory[..first],
            joiner: None,
        };
        let releases = &memory[first..];
        if self.allocations.is_empty()
            && let Some((task, events)) = by_one_task(releases)
            && early.are_before(task, &mut self.joins, &cx.accesses()[..events])
        {
            // Most often nothing follows.
            return self.put_off(memory);
        }
        let mut early = Some(early);
        for event in &memory[first..] {
            let are_needed = |accesses: &mut Early<'_>| match &event.what {
                MemoryDeed::Access(_) => true,
                MemoryDeed::Allocation(_) => false,
                MemoryDeed::Release(release) => {
                    let events = &cx.accesses()[..event.events];
                    !accesses.are_before(release.after.task, &mut self.joins, events)
                }
            };
            if let Some(accesses) = early.take_if(are_needed) {
                accesses.memory.iter().for_each(|event| self.keep(event));
            }
            self.take_in(event, cx);
        }
        if let Some(accesses) = early {
            self.put_off(accesses.memory);
        }
    }

    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        if execution.complete {
            self.tell_unreleased(cx);
            if self.tasks {
                self.tell_unjoined(execution.accesses, cx);
            }
            if self.channels && cx.ops().intersects(SENDS) {
                self.tell_messages(execution.accesses, cx);
            }
        }
    }
}
