//! Data races: two accesses to the same memory by different tasks, one of them a write, one of them not atomic, and
//! neither before the other.
//!
//! # Source
//!
//! FastTrack (Flanagan & Freund, PLDI 2009): an access is an *epoch*, a task and a moment of it, and comes before
//! another if the other's task knows that moment. Tasks learn of each other by synchronisation alone, by C11's rules:
//!
//! - A store or read-modify-write that releases heads a release sequence. Read-modify-writes of any ordering continue
//!   it, and any other store ends it, as in C++20. A task that reads from the sequence and acquires knows what its
//!   heads knew. Fences release for the stores after them, and acquire for the loads before them. `SeqCst` adds
//!   nothing to this, `Relaxed` gives nothing.
//! - A task that takes a lock knows what the tasks knew that released it before; shared holders know that of
//!   exclusive ones only. Waiting on a condition variable releases the mutex; a notification passes on no knowledge.
//! - A task that receives a message knows what its sender knew. A task that finds that all senders have left knows
//!   what they knew. The sender at a rendezvous knows what its receiver knew. A task that passes a barrier knows what
//!   all tasks knew that arrived at it.
//! - Creation and beginning of a task, its end and its join, `unpark` and the `park` that it ends, a one-time
//!   initialisation and the check that finds it complete, the other handles' ends and the end of the last `Arc`.
//!
//! # Where it differs
//!
//! FastTrack promises one race per location, and the race depends on the order of the accesses. Here the last epoch
//! is kept for each task, place and kind of access to a byte. An execution therefore shows all pairs of places that
//! race in its trace, and every execution of the trace shows the same; so the monitor is reduction compatible. Races
//! are reported at the end, each pair of places once, in words that do not depend on the schedule.
//!
//! Visible operations are processed late: when an access meets one of another task with which it might race. An
//! execution without such accesses costs the monitor nothing.
//!
//! Most executions of a search begin like the one before. So the changes of each access and operation are kept. Where
//! the engine says how far an execution was as before, the monitor takes back what came after that and continues from
//! there. Where a race was found, or an atomic was accessed plainly, it starts again from nothing.
//!
//! An access is published by an event of its task that comes *after* it; so the engine's own numbers of events serve
//! as FastTrack's clocks.
//!
//! # Blind spots
//!
//! - Memory without a look-alike: only cells, tracked blocks, and the look-alikes' own memory are seen.
//! - Executions are sequentially consistent: a race that needs a load of an older value first is not seen.
//! - Making an atomic by `new` is no access: an atomic published by a relaxed store shows no race of its beginning, unless
//!   it was put there by `intermezzo::ptr::write` into memory of `intermezzo::alloc`.
//! - A write by a pointer of `UnsafeCell::get` that changes no byte, or comes after the task's next visible operation.
//! - A block that is given back races with plain accesses to it, not with accesses by way of an atomic variable in it.
//! - The end of a `Weak` that was the only one counts like that of the last `Arc`: events do not distinguish them.
//! - A sender that waits for room in a bounded channel is not promised to learn anything by that, and learns nothing
//!   here.

mod explain;
mod shadow;
mod sync;
#[cfg(test)]
mod tests;

use crate::arguments::{self, Argument, SWITCH, switch};
use intermezzo_sdk::{
    Allocation, Context, DataVarAccess, Deed as ToldDeed, EventId, Execution, FindingKind, Interests,
    Location, MemoryDeed, MemoryEvent, MemoryOrder, Monitor, MonitorFinding, Release, SiteId, SyncVar,
    SyncVarAccess, SyncVarOp, VectorClock,
};
use shadow::{At, Before, Deed, End, Epoch, History, Shadow};
use std::collections::{BTreeMap, HashSet};
use sync::Synchronisation;

/// Finds data races. See the [module](self).
#[derive(Debug, Default)]
pub struct DataRaces {
    first_only: bool,
    sync: Synchronisation<VectorClock>,
    /// Number of visible operations that `sync` has processed.
    taken_in: usize,
    /// By location.
    memory: Vec<Shadow>,
    memory_used: usize,
    /// Plain accesses to the memory of atomics, by variable; and whether there are any in this execution.
    plain: Vec<History>,
    any_plain: bool,
    races: Races,
    /// `true` if all this belongs to the execution before the current one.
    is_old: bool,
    changes: Changes,
}

/// The changes of accesses to the memory's histories, to be taken back.
#[derive(Debug, Default)]
struct Changes {
    list: Vec<Change>,
    /// The number of the current access; `None` if those of this execution cannot be taken back.
    now: Option<usize>,
    /// No access before this one can be taken back.
    first: usize,
}

/// The change of one access.
#[derive(Debug)]
struct Change {
    access: usize,
    location: usize,
    /// The index of the changed stretch; `None` if the access changed all of the location.
    stretch: Option<u32>,
    before: Before,
}

impl Changes {
    #[inline]
    fn add(&mut self, location: usize, stretch: Option<u32>, before: Before) {
        if let Some(access) = self.now {
            self.list.push(Change {
                access,
                location,
                stretch,
                before,
            });
        }
    }

    /// Marks the current access as one that cannot be taken back.
    #[cold]
    fn skip(&mut self) {
        if let Some(access) = self.now {
            self.list.clear();
            self.first = access + 1;
        }
    }

    fn forget(&mut self) {
        self.list.clear();
        (self.now, self.first) = (None, 0);
    }
}

/// The memory that a race is about.
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
    /// The last event of the later access's task, or the access itself if it is an event.
    after: EventId,
    /// The number of events so far.
    events: usize,
}

/// The races of the execution.
#[derive(Debug, Default)]
struct Races {
    found: Vec<Race>,
    known: HashSet<(Subject, End, End)>,
}

impl Races {
    /// Keeps the race, unless there is one like it.
    #[cold]
    fn add(&mut self, race: Race) {
        let (a, b) = (race.earlier.end, race.later);
        if self.known.insert((race.subject, a.min(b), a.max(b))) {
            self.found.push(race);
        }
    }
}

const NAME: &str = "data-race";

/// All bytes of a location.
const ALL: (u64, u64) = (0, u64::MAX);

const ARGUMENTS: [Argument<DataRaces>; 1] = [Argument {
    name: "first_only",
    values: SWITCH,
    set: |monitor, value| switch(&mut monitor.first_only, value),
}];

impl DataRaces {
    /// Creates a monitor that reports all races of an execution, each pair of places once.
    pub fn new() -> DataRaces {
        DataRaces::default()
    }

    /// Creates the monitor with options as text:
    ///
    /// | key | value |
    /// |---|---|
    /// | `first_only` | `true`: one race of each execution, the first by its words; `false`, the default: all |
    ///
    /// # Errors
    /// If there is no such option, or its value is invalid.
    pub fn with_arguments(arguments: &str) -> Result<DataRaces, String> {
        arguments::with(DataRaces::new(), NAME, &ARGUMENTS, arguments)
    }

    /// Sets whether to report only one race of each execution: the first by its words. Default: all.
    pub fn first_only(mut self, first_only: bool) -> DataRaces {
        self.first_only = first_only;
        self
    }

    /// Adds an access to memory, plain or by an atomic operation that is no event, after this event of a task. With
    /// `None` as `bytes`, it accesses all bytes. `events` are all visible operations so far.
    #[inline]
    fn access(
        &mut self,
        (location, bytes): (Location, Option<(u64, u64)>),
        (deed, site): (Deed, SiteId),
        after: EventId,
        events: &[SyncVarAccess],
    ) {
        let at = location.index();
        if self.memory_used <= at {
            self.make_room(at);
        }
        let now = epoch_after(after, deed, site);
        let touched = bytes.unwrap_or(ALL);
        if touched.0 == touched.1 {
            return;
        }
        // What the task knew some operations ago, it knows now: most often that is enough.
        let (shadow, known) = (&mut self.memory[at], self.sync.known(after.task));
        if bytes.is_none() {
            if let Some(whole) = shadow.untouched_whole(now.end, known) {
                return self.changes.add(at, None, whole.put(At::End, now));
            }
        } else if let Some(history) = shadow.only(touched)
            && let Some(place) = history.place_of(now.end, known)
        {
            return self.changes.add(at, Some(0), history.put(place, now));
        }
        self.access_anyhow((location, bytes), now, after, events);
    }

    /// Like `access`, where there may be a race, or the memory was not always accessed as a whole.
    #[inline(never)]
    fn access_anyhow(
        &mut self,
        (location, bytes): (Location, Option<(u64, u64)>),
        now: Epoch,
        after: EventId,
        events: &[SyncVarAccess],
    ) {
        let at = location.index();
        let touched = bytes.unwrap_or(ALL);
        if self.memory[at].races(touched, now.end, self.sync.known(after.task)) {
            self.catch_up(events);
            let DataRaces {
                sync, memory, races, ..
            } = self;
            memory[at].check(touched, now.end, sync.known(after.task), |earlier| {
                races.add(Race {
                    subject: Subject::Location(location),
                    earlier,
                    later: now.end,
                    after,
                    events: events.len(),
                });
            });
        }
        let DataRaces { memory, changes, .. } = self;
        match bytes {
            Some(bytes) => match memory[at].add(bytes, now) {
                Some((stretch, before)) => changes.add(at, Some(stretch), before),
                None => changes.skip(),
            },
            None => changes.add(at, None, memory[at].add_to_whole(now)),
        }
    }

    #[inline(never)]
    fn make_room(&mut self, location: usize) {
        if self.memory.len() <= location {
            self.memory.resize_with(location + 1, Shadow::default);
        }
        self.memory_used = location + 1;
    }

    /// Adds a plain access to the memory of an atomic: against the atomic accesses until now, and for those that
    /// follow.
    #[cold]
    fn plain_access(
        &mut self,
        var: SyncVar,
        (deed, site): (Deed, SiteId),
        after: EventId,
        events: &[SyncVarAccess],
    ) {
        if self.plain.len() <= var.index() {
            self.plain.resize_with(var.index() + 1, History::default);
        }
        self.catch_up(events);
        self.any_plain = true;
        let DataRaces {
            sync, plain, races, ..
        } = self;
        let (now, known) = (epoch_after(after, deed, site), sync.known(after.task));
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
                atomically.add(epoch);
            }
        }
        atomically.check(now.end, known, &mut race);
        // Those that are plain race by their location.
        plain[var.index()].add(now);
    }

    #[inline]
    fn data_var_access(&mut self, access: &DataVarAccess, events: &[SyncVarAccess]) {
        let deed = match (access.order, access.is_write) {
            (MemoryOrder::None, true) if access.by_pointer => Deed::Pointer,
            (MemoryOrder::None, true) => Deed::Write,
            (MemoryOrder::None, false) if access.by_pointer => Deed::GetPointer,
            (MemoryOrder::None, false) => Deed::Read,
            (_, true) => Deed::AtomicWrite,
            (_, false) => Deed::AtomicRead,
        };
        let from = u64::from(access.offset);
        let bytes = (from, from + u64::from(access.size));
        let what = (deed, access.site);
        self.access((access.location, Some(bytes)), what, access.after, events);
        if access.var != SyncVar::NONE {
            self.plain_access(access.var, what, access.after, events);
        }
    }

    fn allocation(&mut self, allocation: &Allocation, events: &[SyncVarAccess]) {
        let what = (Deed::Allocation, allocation.site);
        self.access((allocation.location, None), what, allocation.after, events);
    }

    fn release(&mut self, release: &Release, events: &[SyncVarAccess]) {
        let what = (Deed::Release, release.site);
        self.access((release.location, None), what, release.after, events);
    }

    /// Processes the visible operations since the last time: `events` are all so far.
    fn catch_up(&mut self, events: &[SyncVarAccess]) {
        let first = self.taken_in;
        for (access, at) in events[first..].iter().zip(first..) {
            self.sync.take_in(access);
            if self.any_plain {
                self.atomic_access(access, at + 1);
            }
        }
        self.taken_in = events.len();
    }

    /// Forgets the execution before, if the state still belongs to that.
    #[inline]
    fn begin(&mut self) {
        if std::mem::take(&mut self.is_old) {
            self.forget();
        }
    }

    /// Forgets the execution.
    fn forget(&mut self) {
        if self.taken_in > 0 {
            self.sync.forget();
            self.taken_in = 0;
        }
        let used = std::mem::take(&mut self.memory_used);
        self.memory[..used].iter_mut().for_each(Shadow::forget);
        if self.any_plain {
            self.plain.iter_mut().for_each(History::forget);
            self.any_plain = false;
        }
        if !self.races.known.is_empty() {
            self.races.found.clear();
            self.races.known.clear();
        }
        self.changes.forget();
    }

    /// Returns to the state in which only the first `same` events of `memory` were processed, in the execution
    /// before. `false` if it cannot.
    fn go_back_to(&mut self, memory: &[MemoryEvent], same: usize) -> bool {
        let is_simple = self.changes.now.is_some() && !self.any_plain && self.races.known.is_empty();
        let Some(last) = memory[..same].last() else {
            return false;
        };
        if !is_simple || same < self.changes.first {
            return false;
        }
        while let Some(Change {
            location,
            stretch,
            before,
            ..
        }) = self.changes.list.pop_if(|change| change.access >= same)
        {
            self.memory[location].take_back(stretch, before);
        }
        // The next access may come before later operations than that, but not before an earlier one.
        if last.events < self.taken_in {
            if self.sync.go_back_to(last.events) {
                self.taken_in = last.events;
            } else {
                self.sync.forget();
                self.taken_in = 0;
            }
        }
        true
    }

    /// Adds a regular access to an atomic that may have been accessed plainly. There are `events` by now.
    fn atomic_access(&mut self, access: &SyncVarAccess, events: usize) {
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
                events,
            });
        });
    }

    /// Reports the races of the execution: each pair of places once, by the first of its messages.
    #[cold]
    fn tell(&mut self, cx: &mut Context<'_>) {
        let mut by_places: BTreeMap<[SiteId; 2], (usize, String, Race)> = BTreeMap::new();
        for race in self.races.found.drain(..) {
            let ends = [race.earlier.end, race.later];
            let mut places = ends.map(|end| end.site);
            places.sort();
            // A place that reads and writes is reported by its writes.
            let reads = ends.iter().filter(|end| !end.deed.is_write()).count();
            let message = message(&race, cx);
            let told = by_places
                .entry(places)
                .or_insert_with(|| (reads, message.clone(), race));
            if (reads, &message) < (told.0, &told.1) {
                *told = (reads, message, race);
            }
        }
        let told = by_places.into_values();
        let mut told: Vec<(String, Race)> = told.map(|(_, message, race)| (message, race)).collect();
        told.sort_by(|(a, _), (b, _)| a.cmp(b));
        let most = if self.first_only { 1 } else { usize::MAX };
        for (message, race) in told.into_iter().take(most) {
            let known_by = EventId {
                task: race.earlier.end.task,
                index: race.earlier.index,
            };
            let events = &cx.accesses()[..race.events];
            let suggestion = explain::suggestion(known_by, race.later.task, events, cx);
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
            let report = MonitorFinding::new(FindingKind::DataRace, message);
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

/// Returns the message: the same for both orders of the two, and whichever of two pointers changed a byte. The other
/// pointer may have written the value that was there already.
fn message(race: &Race, cx: &Context<'_>) -> String {
    let (earlier, later) = (race.earlier.end, race.later);
    let mut ends = [(earlier, later), (later, earlier)].map(|(End { task, deed, site }, other)| {
        let (task, site) = (cx.task_name(task), cx.site_name(site));
        let words = match deed {
            Deed::Pointer if !other.deed.is_write() && !other.deed.is_by_pointer() => {
                "writes it by a pointer"
            }
            deed => deed.words(),
        };
        format!("{task} {words} at {site}")
    });
    ends.sort();
    let [one, other] = ends;
    let subject = subject(race, cx);
    let writes = match earlier.deed.is_by_pointer() && later.deed.is_by_pointer() {
        true => "at least one of them to write, ",
        false => "",
    };
    format!("data race on {subject}: {one}, {other}, {writes}and nothing orders the two")
}

/// Returns the name of the accessed memory.
fn subject(race: &Race, cx: &Context<'_>) -> String {
    match race.subject {
        Subject::Location(location) => cx.location_name(location),
        Subject::Var(var) => cx.var_name(var),
    }
}

/// Returns the epoch of an action of a task after an event and before its next one. Only the next event can make it
/// known.
fn epoch_after(after: EventId, deed: Deed, site: SiteId) -> Epoch {
    let task = after.task;
    Epoch {
        end: End { site, task, deed },
        event: after.index,
        index: after.index + 1,
    }
}

/// Returns the epoch of an access to an atomic: the event itself. `None` for other events.
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
        // Visible operations are processed when an access to memory needs their order: most never do.
        Interests::DATA_ACCESSES | Interests::ALLOCATIONS
    }

    fn reduction_compatible(&self) -> bool {
        true
    }

    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        if std::mem::replace(&mut self.is_old, true) {
            // The execution before had no memory events.
            self.forget();
        }
    }

    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
        self.begin();
        self.data_var_access(access, cx.accesses());
    }

    fn on_allocation(&mut self, allocation: &Allocation, cx: &mut Context<'_>) {
        self.begin();
        self.allocation(allocation, cx.accesses());
    }

    fn on_release(&mut self, release: &Release, cx: &mut Context<'_>) {
        self.begin();
        self.release(release, cx.accesses());
    }

    fn memory_afterwards(&self) -> bool {
        true
    }

    fn on_memory(&mut self, memory: &[MemoryEvent], cx: &mut Context<'_>) {
        self.on_memory_again(memory, 0, cx);
    }

    fn on_memory_again(&mut self, memory: &[MemoryEvent], same: usize, cx: &mut Context<'_>) {
        let (mut from, is_first) = (0, self.is_old);
        if self.is_old && self.go_back_to(memory, same) {
            (self.is_old, from) = (false, same);
        }
        self.begin();
        let events = cx.accesses();
        for (number, event) in memory.iter().enumerate().skip(from) {
            // Numbers are those of the first call.
            self.changes.now = is_first.then_some(number);
            let events = &events[..event.events];
            match &event.what {
                MemoryDeed::Access(access) => self.data_var_access(access, events),
                MemoryDeed::Allocation(allocation) => self.allocation(allocation, events),
                MemoryDeed::Release(release) => self.release(release, events),
            }
        }
    }

    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        if self.is_old {
            return;
        }
        if self.any_plain {
            self.catch_up(execution.accesses);
        }
        if !self.races.found.is_empty() {
            self.tell(cx);
        }
    }
}
