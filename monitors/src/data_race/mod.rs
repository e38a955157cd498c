//! Data races: two accesses to the same memory by different tasks, one of them a write, one of them not atomic, and
//! neither before the other.
//!
//! # Source
//!
//! FastTrack (Flanagan & Freund, PLDI 2009): an access is an *epoch*, a task and a moment of it, and comes before another
//! if the other's task knows that moment. What tasks know comes from synchronisation alone, by C11's rules:
//!
//! - A store or read-modify-write that releases heads a release sequence, which read-modify-writes of any ordering go on with
//!   and any other store ends, as C++20 has it. Who reads from it and acquires knows what its heads knew. Fences release for
//!   the stores after them, and acquire for the loads before them. `SeqCst` adds nothing to this, `Relaxed` gives nothing.
//! - Who takes a lock knows what those knew who let go of it before; shared holders know that of exclusive ones only. Waiting
//!   on a condition variable lets go of the mutex; being notified tells nothing.
//! - Who receives a message knows what its sender knew; who learns that all senders have left knows what they knew; the
//!   sender at a rendezvous knows what its receiver knew. All who pass a barrier know what all knew who came to it.
//! - Creation and beginning of a task, its end and its join, `unpark` and the `park` that it ends, a one-time
//!   initialisation and the sight that it is complete, the other handles' ends and the end of the last `Arc`.
//!
//! # Where it differs
//!
//! FastTrack promises one race per location, and which one depends on the order in which accesses came. Here each task,
//! place and kind of access to a byte has its last epoch kept, so that an execution shows all pairs of places that race in its
//! trace, and every execution of the trace shows the same: what makes it reduction compatible. They are told at
//! the end, each pair of places once, in words that do not depend on the schedule.
//!
//! An access is published by an event of its task that comes *after* it; so the engine's own numbers of events serve as
//! FastTrack's clocks.
//!
//! # Blind spots
//!
//! - Memory that nobody tells of: only cells, tracked blocks, and what look-alikes say of their own.
//! - Executions are sequentially consistent: a race that needs a load of an older value first is not seen.
//! - Making an atomic is no access: an atomic published by a relaxed store shows no race of its beginning.
//! - A block that is given back races with plain accesses to it, not with accesses by way of an atomic variable in it.
//! - The end of a `Weak` that was the only one counts like that of the last `Arc`: events do not tell them apart.
//! - What a bounded channel makes its sender wait for is not promised to be known to the sender, and is not known here.

mod explain;
mod shadow;
mod sync;
#[cfg(test)]
mod tests;

use crate::arguments::{self, Argument, SWITCH, switch};
use intermezzo_sdk::{
    Allocation, Context, DataVarAccess, Deed as ToldDeed, EventId, Execution, FindingKind, Interests,
    Location, MemoryOrder, Monitor, Release, Report, SiteId, SyncVar, SyncVarAccess, SyncVarOp, VectorClock,
};
use shadow::{ALL, Deed, End, Epoch, History, Shadow};
use std::collections::{BTreeMap, HashSet};
use sync::Synchronisation;

/// Finds data races. See the [module](self).
#[derive(Debug, Default)]
pub struct DataRaces {
    first_only: bool,
    sync: Synchronisation<VectorClock>,
    /// By location.
    memory: Vec<Shadow>,
    memory_used: usize,
    /// Plain accesses to the memory of atomics, by variable.
    plain: Vec<History>,
    races: Races,
}

/// What is raced for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Subject {
    Location(Location),
    Var(SyncVar),
}

/// Two accesses that nothing orders.
#[derive(Clone, Copy, Debug)]
struct Race {
    subject: Subject,
    earlier: Epoch,
    later: End,
    /// The last event of the later one's task, itself if it is one.
    after: EventId,
    /// How many events there were by then.
    events: usize,
}

/// The races of the execution.
#[derive(Debug, Default)]
struct Races {
    found: Vec<Race>,
    known: HashSet<(Subject, End, End)>,
}

impl Races {
    /// Keeps it, unless there is one like it.
    #[cold]
    fn add(&mut self, race: Race) {
        let (a, b) = (race.earlier.end, race.later);
        if self.known.insert((race.subject, a.min(b), a.max(b))) {
            self.found.push(race);
        }
    }
}

const NAME: &str = "data-race";

/// What to do where a pointer counts as a write, and is none.
const ONLY_READ: &str = "; where a pointer is only to read, `UnsafeCell::with` says so";

const ARGUMENTS: [Argument<DataRaces>; 1] = [Argument {
    name: "first_only",
    values: SWITCH,
    set: |monitor, value| switch(&mut monitor.first_only, value),
}];

impl DataRaces {
    /// Reports all races of an execution, each pair of places once.
    pub fn new() -> DataRaces {
        DataRaces::default()
    }

    /// With options as text:
    ///
    /// | key | value |
    /// |---|---|
    /// | `first_only` | `true`: one race of each execution, the first by its words; `false`, the default: all |
    ///
    /// # Errors
    /// There is no such option, or its value cannot be.
    pub fn with_arguments(arguments: &str) -> Result<DataRaces, String> {
        arguments::with(DataRaces::new(), NAME, &ARGUMENTS, arguments)
    }

    /// Whether to report one race of each execution only: the first by its words. Default: all.
    pub fn first_only(mut self, first_only: bool) -> DataRaces {
        self.first_only = first_only;
        self
    }

    /// Memory is accessed plainly, or by an atomic operation that is no event, after this event of a task.
    fn access(
        &mut self,
        (location, bytes): (Location, (u64, u64)),
        (deed, site): (Deed, SiteId),
        after: EventId,
        cx: &Context<'_>,
    ) {
        if self.memory.len() <= location.index() {
            self.memory.resize_with(location.index() + 1, Shadow::default);
        }
        self.memory_used = self.memory_used.max(location.index() + 1);
        let DataRaces {
            sync, memory, races, ..
        } = self;
        let now = epoch_after(after, deed, site);
        memory[location.index()].access(bytes, now, sync.known(after.task), |earlier| {
            races.add(Race {
                subject: Subject::Location(location),
                earlier,
                later: now.end,
                after,
                events: cx.accesses().len(),
            });
        });
    }

    /// The memory of an atomic is accessed plainly: against the atomic accesses until now, and for those to come.
    #[cold]
    fn plain_access(&mut self, var: SyncVar, (deed, site): (Deed, SiteId), after: EventId, cx: &Context<'_>) {
        if self.plain.len() <= var.index() {
            self.plain.resize_with(var.index() + 1, History::default);
        }
        let DataRaces {
            sync, plain, races, ..
        } = self;
        let (now, known, events) = (
            epoch_after(after, deed, site),
            sync.known(after.task),
            cx.accesses(),
        );
        let subject = Subject::Var(var);
        let mut race = |earlier| {
            races.add(Race {
                subject,
                earlier,
                later: now.end,
                after,
                events: events.len(),
            })
        };
        let mut atomically = History::default();
        for access in events.iter().filter(|access| access.var == var) {
            if let Some(epoch) = atomic_epoch(access) {
                atomically.access(epoch, known, |_| ());
            }
        }
        atomically.check(now.end, known, &mut race);
        // Those that are plain race by their location.
        plain[var.index()].access(now, known, |_| ());
    }

    /// An atomic is accessed as it should be; somebody may have done so plainly.
    #[inline]
    fn atomic_access(&mut self, access: &SyncVarAccess, cx: &Context<'_>) {
        let DataRaces {
            sync, plain, races, ..
        } = self;
        let Some(history) = plain.get(access.var.index()).filter(|plain| !plain.is_empty()) else {
            return;
        };
        let Some(now) = atomic_epoch(access) else { return };
        history.check(now.end, sync.known(access.event.task), |earlier| {
            races.add(Race {
                subject: Subject::Var(access.var),
                earlier,
                later: now.end,
                after: access.event,
                events: cx.accesses().len(),
            });
        });
    }

    /// Puts the races of the execution into words: each pair of places once, by the first of its messages.
    #[cold]
    fn tell(&mut self, cx: &mut Context<'_>) {
        let mut by_places: BTreeMap<[SiteId; 2], (String, Race)> = BTreeMap::new();
        for race in self.races.found.drain(..) {
            let mut places = [race.earlier.end.site, race.later.site];
            places.sort();
            let message = message(&race, cx);
            let told = by_places.entry(places).or_insert_with(|| (message.clone(), race));
            if message < told.0 {
                *told = (message, race);
            }
        }
        let mut told: Vec<(String, Race)> = by_places.into_values().collect();
        told.sort_by(|(a, _), (b, _)| a.cmp(b));
        let most = if self.first_only { 1 } else { usize::MAX };
        for (message, race) in told.into_iter().take(most) {
            let known_by = EventId {
                task: race.earlier.end.task,
                index: race.earlier.index,
            };
            let events = &cx.accesses()[..race.events];
            let mut suggestion = explain::suggestion(known_by, race.later.task, events, cx);
            let unknown = |end: End| end.deed == Deed::Pointer;
            if unknown(race.earlier.end) || unknown(race.later) {
                suggestion.push_str(ONLY_READ);
            }
            let before = EventId {
                index: race.earlier.event,
                ..known_by
            };
            let subject = subject(&race, cx);
            let deeds = [(before, race.earlier.end), (race.after, race.later)].map(|(after, end)| ToldDeed {
                after,
                site: end.site,
                what: format!("{} {subject}", end.deed.name()),
            });
            let report = Report::new(FindingKind::DataRace, message);
            let sites = [race.earlier.end.site, race.later.site];
            cx.report(
                report
                    .events([race.after, before])
                    .sites(sites)
                    .deeds(deeds)
                    .suggest(suggestion),
            );
        }
    }
}

/// The same words for both orders of the two.
fn message(race: &Race, cx: &Context<'_>) -> String {
    let mut ends = [race.earlier.end, race.later].map(|End { task, deed, site }| {
        let (task, site) = (cx.task_name(task), cx.site_name(site));
        format!("{task} {} at {site}", deed.words())
    });
    ends.sort();
    let [one, other] = ends;
    let subject = subject(race, cx);
    format!("data race on {subject}: {one}, {other}, and nothing orders the two")
}

/// What is accessed.
fn subject(race: &Race, cx: &Context<'_>) -> String {
    match race.subject {
        Subject::Location(location) => cx.location_name(location),
        Subject::Var(var) => cx.var_name(var),
    }
}

/// The epoch of what a task does after an event and before its next one, by which alone it can become known.
fn epoch_after(after: EventId, deed: Deed, site: SiteId) -> Epoch {
    let task = after.task;
    Epoch {
        end: End { site, task, deed },
        event: after.index,
        index: after.index + 1,
    }
}

/// The epoch of an access to an atomic: the event itself. `None` for other events.
fn atomic_epoch(access: &SyncVarAccess) -> Option<Epoch> {
    let deed = match access.op {
        SyncVarOp::AtomicLoad | SyncVarOp::AtomicRmwFailed => Deed::AtomicRead,
        SyncVarOp::AtomicStore => Deed::AtomicWrite,
        SyncVarOp::AtomicRmw => Deed::AtomicUpdate,
        _ => return None,
    };
    let EventId { task, index } = access.event;
    Some(Epoch {
        end: End {
            site: access.site,
            task,
            deed,
        },
        event: index,
        index,
    })
}

impl Monitor for DataRaces {
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
        self.sync.forget();
        let used = std::mem::take(&mut self.memory_used);
        self.memory[..used].iter_mut().for_each(Shadow::forget);
        self.plain.iter_mut().for_each(History::forget);
        self.races.found.clear();
        self.races.known.clear();
    }

    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        let EventId { task, index } = access.event;
        self.sync.known(task).set(task, index);
        self.sync.observe(access);
        self.atomic_access(access, cx);
    }

    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
        let deed = match (access.order, access.is_write) {
            (MemoryOrder::None, true) if access.by_pointer => Deed::Pointer,
            (MemoryOrder::None, true) => Deed::Write,
            (MemoryOrder::None, false) => Deed::Read,
            (_, true) => Deed::AtomicWrite,
            (_, false) => Deed::AtomicRead,
        };
        let from = u64::from(access.offset);
        let bytes = (from, from + u64::from(access.size));
        let what = (deed, access.site);
        self.access((access.location, bytes), what, access.after, cx);
        if access.var != SyncVar::NONE {
            self.plain_access(access.var, what, access.after, cx);
        }
    }

    fn on_allocation(&mut self, allocation: &Allocation, cx: &mut Context<'_>) {
        let what = (Deed::Allocation, allocation.site);
        self.access((allocation.location, ALL), what, allocation.after, cx);
    }

    fn on_release(&mut self, release: &Release, cx: &mut Context<'_>) {
        let what = (Deed::Release, release.site);
        self.access((release.location, ALL), what, release.after, cx);
    }

    fn on_execution_end(&mut self, _: &Execution<'_>, cx: &mut Context<'_>) {
        if !self.races.found.is_empty() {
            self.tell(cx);
        }
    }
}
