//! What is never given back, given back twice, or used afterwards.
//!
//! **Source.** The definitions; there is no paper. Memory is that of the look-alikes that tell of it: blocks asked of
//! the allocator, what an `Arc` holds, values tracked by themselves, cells.
//!
//! **What is computed.** Each execution is judged by itself.
//! - *Leaks*, at the end of a complete execution: blocks that nobody gave back.
//! - *Double free*: a block given back more than once.
//! - *Use after free*: an access to what has been given back, or one that nothing orders before that (program order and
//!   operations that do not commute, as the scheduler saw them). The second is a race for the data-race monitor, too.
//! - *Values left in channels*, as a warning: of some channel fewer messages came out than went in. What is still in it is
//!   dropped with its receiver, which is often meant. `channels=false` switches it off.
//! - *Tasks never joined*, with `tasks=true`, as a warning, at the end of a complete execution.
//!
//! **Misses.** Memory that no look-alike tells of (`std`'s own `Box`); what is dropped with the statics at the end of an
//! execution is not held against anybody.
//!
//! **Reduction compatible**: what is given back and what has come out of a channel is the same on all executions of a
//! trace, and use after free is judged by the order of the trace, not by who came first.

use crate::arguments::{self, Argument, SWITCH, switch};
use crate::order::TraceOrder;
use intermezzo_sdk::{
    Allocation, BlockKind, Context, DataVarAccess, EventId, Execution, FindingKind, Interests, Location,
    Monitor, Release, Report, SiteId, SyncVar, SyncVarAccess, SyncVarOp, TaskId, VectorClock,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

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

/// Finds what is never given back, given back twice, or used afterwards. See the [module](self).
#[derive(Debug)]
pub struct Leaks {
    channels: bool,
    tasks: bool,
    order: TraceOrder,
    blocks: BTreeMap<Location, Block>,
    /// Messages that went into each channel and did not come out, by their numbers; when and where they went in.
    messages: BTreeMap<SyncVar, BTreeMap<u64, (EventId, SiteId)>>,
    /// Tasks created and not joined, by whom and where.
    unjoined: BTreeMap<TaskId, (EventId, SiteId)>,
    /// What was said of the execution that runs.
    told: BTreeSet<String>,
}

/// A block, or a cell.
#[derive(Debug, Default)]
struct Block {
    allocation: Option<Allocation>,
    releases: Vec<(Release, VectorClock)>,
    /// By task, source place and what it does, in words: the last visible operation before the last such access.
    accesses: HashMap<(TaskId, SiteId, &'static str), EventId>,
}

/// What is done with a block, in words.
fn uses(access: &DataVarAccess) -> &'static str {
    match (access.is_write, access.by_pointer) {
        (false, _) => "reads",
        (true, false) => "writes",
        (true, true) => "gets a pointer to",
    }
}

/// Whether what follows this event in its task comes before what somebody does who knows this.
fn ordered(after: EventId, clock: &VectorClock) -> bool {
    clock.get(after.task) > after.index
}

impl Default for Leaks {
    fn default() -> Self {
        Leaks::new()
    }
}

impl Leaks {
    /// Looks for all but tasks never joined.
    pub fn new() -> Leaks {
        Leaks {
            channels: true,
            tasks: false,
            order: TraceOrder::default(),
            blocks: BTreeMap::new(),
            messages: BTreeMap::new(),
            unjoined: BTreeMap::new(),
            told: BTreeSet::new(),
        }
    }

    /// With arguments: `channels=false`, `tasks=true`.
    ///
    /// # Errors
    /// There is no such argument, or it cannot have that value.
    pub fn with_arguments(arguments: &str) -> Result<Leaks, String> {
        arguments::with(Leaks::new(), NAME, &ARGUMENTS, arguments)
    }

    /// A message goes in, or comes out.
    fn pass_message(&mut self, access: &SyncVarAccess) {
        let left = self.messages.entry(access.var).or_default();
        match (access.op, access.read, access.written) {
            (SyncVarOp::ChannelReceive, number, _) => {
                left.remove(&number);
            }
            // Refused. If the sender laid it on the table of a rendezvous just before, it has it back. (A message sent
            // right before from the same place, and lost with the receiver, is taken for that.)
            (_, 0, 0) => left.retain(|_, (event, site)| {
                let just_before = event.task == access.event.task && event.index + 1 == access.event.index;
                !(just_before && *site == access.site)
            }),
            // The sender of a rendezvous hears that its message was taken.
            (_, _, 0) => {}
            (_, _, number) => {
                left.insert(number, (access.event, access.site));
            }
        }
    }

    /// Reports this once in an execution.
    fn tell(&mut self, report: Report, cx: &mut Context<'_>) {
        if self.told.insert(report.message.clone()) {
            cx.report(report);
        }
    }

    /// An access and a release of one block.
    fn judge(
        &mut self,
        (after, site, uses): (EventId, SiteId, &str),
        (release, released): &(Release, VectorClock),
        cx: &mut Context<'_>,
    ) {
        let user = after.task;
        let releaser = release.after.task;
        if user != releaser && ordered(after, released) {
            return;
        }
        let clock = self.order.known_to(user);
        let is_later = user == releaser || ordered(release.after, &clock);
        let what = format!(
            "{} {} {} at {}",
            cx.task_name(user),
            uses,
            cx.location_name(release.location),
            cx.site_name(site),
        );
        let by = format!("{} at {}", cx.task_name(releaser), cx.site_name(release.site));
        let (message, suggestion) = if is_later {
            (
                format!("{what} after it was given back by {by}"),
                "give it back when nobody needs it any more",
            )
        } else {
            (
                format!("{what}, and nothing orders that before it is given back by {by}"),
                "synchronise the last use with giving it back",
            )
        };
        let report = Report::new(FindingKind::Leak, format!("use after free: {message}"));
        self.tell(report.events([after, release.after]).suggest(suggestion), cx);
    }

    fn tell_unreleased(&mut self, cx: &mut Context<'_>) {
        let kept = self.blocks.iter().filter(|(_, block)| block.releases.is_empty());
        let kept: Vec<Allocation> = kept.filter_map(|(_, block)| block.allocation).collect();
        for allocation in kept {
            let name = cx.location_name(allocation.location);
            let what = match allocation.kind {
                BlockKind::Heap => "memory",
                BlockKind::Shared => "a shared value",
                _ => "a value",
            };
            let message = format!(
                "{what} of {} bytes is never given back: {name}, made by {} at {}",
                allocation.size,
                cx.task_name(allocation.after.task),
                cx.site_name(allocation.site),
            );
            let report = match allocation.kind {
                BlockKind::Shared => Report::new(
                    FindingKind::Leak,
                    format!("{message}; a share of it is left, held by a cycle or forgotten"),
                )
                .suggest("let one side of the cycle hold a `Weak`, and forget no share"),
                _ => Report::new(FindingKind::Leak, message)
                    .suggest("give it back on every way out, or let something own it that does"),
            };
            self.tell(report.events([allocation.after]), cx);
        }
    }

    fn tell_unjoined(&mut self, cx: &mut Context<'_>) {
        for (task, (fork, site)) in std::mem::take(&mut self.unjoined) {
            let message = format!(
                "{} is never joined, created by {} at {}",
                cx.task_name(task),
                cx.task_name(fork.task),
                cx.site_name(site)
            );
            let report = Report::new(FindingKind::Leak, message).warning().events([fork]);
            self.tell(report.suggest("join it, or use a scope"), cx);
        }
    }

    fn tell_messages(&mut self, cx: &mut Context<'_>) {
        for (channel, left) in std::mem::take(&mut self.messages) {
            if !left.is_empty() {
                let message = format!("messages sent to {} are never received", cx.var_name(channel));
                let sent = left.values().map(|(event, _)| *event);
                let report = Report::new(FindingKind::Leak, message).warning().events(sent);
                self.tell(
                    report.suggest("receive until the senders are gone, before the receiver is dropped"),
                    cx,
                );
            }
        }
    }
}

impl Monitor for Leaks {
    fn name(&self) -> &str {
        NAME
    }

    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES | Interests::DATA_ACCESSES | Interests::ALLOCATIONS
    }

    fn reduction_compatible(&self) -> bool {
        true
    }

    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        self.order.clear();
        self.blocks.clear();
        self.messages.clear();
        self.unjoined.clear();
        self.told.clear();
    }

    fn on_sync_var_access(&mut self, access: &SyncVarAccess, _: &mut Context<'_>) {
        self.order.add(access);
        match access.op {
            SyncVarOp::ChannelSend | SyncVarOp::ChannelReceive if self.channels => self.pass_message(access),
            SyncVarOp::TaskFork if self.tasks => {
                let created = access.other_task();
                self.unjoined
                    .extend(created.map(|task| (task, (access.event, access.site))));
            }
            SyncVarOp::TaskJoin => {
                let joined = access.other_task();
                self.unjoined.retain(|task, _| Some(*task) != joined);
            }
            _ => {}
        }
    }

    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
        let block = self.blocks.entry(access.location).or_default();
        let uses = uses(access);
        let place = (access.after.task, access.site, uses);
        block.accesses.insert(place, access.after);
        for release in block.releases.clone() {
            self.judge((access.after, access.site, uses), &release, cx);
        }
    }

    fn on_allocation(&mut self, allocation: &Allocation, _: &mut Context<'_>) {
        let block = self.blocks.entry(allocation.location).or_default();
        block.allocation = Some(*allocation);
    }

    fn on_release(&mut self, release: &Release, cx: &mut Context<'_>) {
        let clock = self.order.known_to(release.after.task);
        let block = self.blocks.entry(release.location).or_default();
        let before = block.releases.clone();
        block.releases.push((*release, clock.clone()));
        let accesses: Vec<_> = block
            .accesses
            .iter()
            .filter(|((task, ..), after)| *task != release.after.task && !ordered(**after, &clock))
            .map(|((_, site, uses), after)| (*after, *site, *uses))
            .collect();
        for access in accesses {
            self.judge(access, &(*release, clock.clone()), cx);
        }
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
                "double free: {} is given back {} and {}",
                cx.location_name(release.location),
                both[0],
                both[1]
            );
            let report = Report::new(FindingKind::Leak, message).events([release.after, earlier.after]);
            self.tell(report.suggest("let one owner give it back, once"), cx);
        }
    }

    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        if execution.complete {
            self.tell_unreleased(cx);
            self.tell_unjoined(cx);
            self.tell_messages(cx);
        }
    }
}
