//! Data races: two accesses to the same memory by different tasks, at least one of which is a write and at least one of
//! which is not atomic, and which happens-before does not order.
//!
//! # Source
//!
//! FastTrack (Flanagan & Freund, PLDI 2009): an access is an *epoch*, which consists of a task and its clock. The access
//! happens before another one if the vector clock of the other's task contains the epoch. Vector clocks are joined only by
//! synchronisation, by C11's rules:
//!
//! - A releasing store or read-modify-write heads a release sequence. Read-modify-writes of any ordering continue it, and
//!   any other store ends it, as in C++20. A task that reads from the sequence and acquires joins the clocks of its heads.
//!   Fences release for the stores after them, and acquire for the loads before them. `SeqCst` adds nothing to this, and
//!   `Relaxed` orders nothing.
//! - A task that takes a lock joins the clocks of the tasks that released it before; a shared holder joins only those of
//!   exclusive holders. Waiting on a condition variable releases the mutex; a notification orders nothing.
//! - A task that receives a message joins the clock of its sender. A task that finds that all senders have left joins
//!   their clocks. The sender at a rendezvous joins the clock of its receiver. A task that passes a barrier joins the
//!   clocks of all tasks that arrived at it.
//! - The same holds for the creation and the beginning of a task, its end and its join, `unpark` and the `park` that it
//!   ends, a one-time initialisation and the check that finds it complete, and the drops of the other handles and that of
//!   the last `Arc`.
//!
//! # Where it differs
//!
//! FastTrack guarantees one race per location, which depends on the order of the accesses. Here the last epoch is kept for
//! each task, place and kind of access to a byte. So an execution shows all pairs of places that race in its trace, and
//! every execution of the trace shows the same pairs: the monitor is reduction compatible. Races are reported at the end,
//! each pair of places once, in words that do not depend on the schedule.
//!
//! Visible operations are processed late: only when an access might race with one of another task. An execution without
//! such accesses costs the monitor nothing.
//!
//! Most executions of a search begin like the previous one. So the changes by each access and operation are recorded. The
//! engine says how much of an execution is the same as in the previous one; the monitor undoes the rest and continues from
//! there. After a race it starts from nothing. The releases at the end of an execution are checked but not added; if
//! something follows them nevertheless, they are added then.
//!
//! An access becomes known to other tasks by an event of its task that comes *after* it. So the engine's own numbers of
//! events serve as FastTrack's clocks.
//!
//! # Blind spots
//!
//! - Memory without a look-alike: only cells, tracked blocks, and the look-alikes' own memory are seen.
//! - Without `stale_reads`, executions are sequentially consistent: a race that first needs a load of an older value is
//!   not seen.
//! - The creation of an atomic or a cell by `new` is not an access, so a relaxed store that publishes it shows no race,
//!   unless `intermezzo::ptr::write` wrote it into memory of `intermezzo::alloc`. The drop-in for loom shows the race.
//! - A write through a pointer of `UnsafeCell::get` that changes no byte, or comes after the task's next visible operation.
//! - The release of a block races with plain accesses to it, but not with accesses through an atomic variable in it.
//! - The drop of the only `Weak` counts like the drop of the last `Arc`, because events do not distinguish them.

mod changes;
mod clock;
mod explain;
mod report;
mod shadow;
#[cfg(test)]
mod tests;

use crate::arguments::{self, Argument, SWITCH, switch};
use changes::{Changes, NEVER, PLAIN, WHOLE};
use clock::Clock;
use intermezzo_sdk::{
    Allocation, Context, DataVarAccess, EventId, Execution, Interests, Location, MemoryDeed, MemoryEvent,
    MemoryOrder, Monitor, Release, SiteId, SyncVar, SyncVarAccess, SyncVarOp, Synchronisation, TaskId,
};
use shadow::{At, Deed, End, Epoch, History, Shadow};
use std::collections::HashSet;

/// Finds data races. See the [module](self).
#[derive(Debug, Default)]
pub struct DataRaces {
    first_only: bool,
    sync: Synchronisation<Clock>,
    /// Number of visible operations that `sync` has processed.
    taken_in: usize,
    /// By location.
    memory: Vec<Shadow>,
    memory_used: usize,
    /// Plain accesses to the memory of atomics, by variable; and whether there are any in this execution.
    plain: Vec<History>,
    any_plain: bool,
    races: Races,
    /// `true` if all of this belongs to the previous execution.
    is_old: bool,
    changes: Changes,
    /// Releases at the end of the first call of this execution that race with nothing. They were not added to the
    /// histories, because usually nothing follows.
    put_off: Vec<MemoryEvent>,
    /// The number of events before those, in this execution or in the previous one; `None` if there are none.
    added: Option<usize>,
}

/// The outcome of adding an access in the simplest way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Simply {
    /// It was added.
    Added,
    /// There may be a race.
    MayRace,
    /// The memory was not always accessed as a whole.
    NotWhole,
}

/// The memory of a race.
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
    /// Adds the race, unless there is an equal one.
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
    #[inline(always)]
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
        // What the task knew some operations ago, it knows now. Most often that is enough, or what it knows now is.
        let mut outcome = self.add_simply(at, bytes, now);
        if outcome == Simply::MayRace && self.taken_in < events.len() {
            self.catch_up(events);
            outcome = self.add_simply(at, bytes, now);
        }
        if outcome != Simply::Added {
            self.access_anyhow((location, bytes), now, after, events);
        }
    }

    /// Adds an access to memory that was always accessed as a whole, if it races with none by the current clock of its
    /// task. Other accesses are not added.
    #[inline(always)]
    fn add_simply(&mut self, at: usize, bytes: Option<(u64, u64)>, now: Epoch) -> Simply {
        let (shadow, known) = (&mut self.memory[at], self.sync.known(now.end.task));
        let (stretch, history, place) = match bytes {
            None => match shadow.untouched_whole() {
                Some((only, whole)) if !only.races(now.end, known) => (WHOLE, whole, At::End),
                Some(_) => return Simply::MayRace,
                None => return Simply::NotWhole,
            },
            Some(bytes) => match shadow.only(bytes) {
                Some(history) => match history.place_of(now.end, known) {
                    Some(place) => (0, history, place),
                    None => return Simply::MayRace,
                },
                None => return Simply::NotWhole,
            },
        };
        self.changes.add(at, stretch, history.put(place, now));
        Simply::Added
    }

    /// Like `access`, if there may be a race, or if the memory was not always accessed as a whole.
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
                Some((stretch, before)) => changes.add(at, stretch, before),
                None => changes.skip(),
            },
            None => changes.add(at, WHOLE, memory[at].add_to_whole(now)),
        }
    }

    #[inline(never)]
    fn make_room(&mut self, location: usize) {
        if self.memory.len() <= location {
            self.memory.resize_with(location + 1, Shadow::default);
        }
        self.memory_used = location + 1;
    }

    /// Adds a plain access to the memory of an atomic. It is compared with the atomic accesses until now, and recorded for
    /// those that follow.
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
            sync,
            plain,
            races,
            changes,
            ..
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
        let before = plain[var.index()].add(now);
        changes.add(var.index(), PLAIN, before);
    }

    #[inline(always)]
    fn data_var_access(&mut self, access: &DataVarAccess, events: &[SyncVarAccess]) {
        let deed = match (access.order, access.is_write) {
            (MemoryOrder::None, true) if access.by_pointer => Deed::Pointer,
            (MemoryOrder::None, true) if access.frees => Deed::Free,
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

    /// Adds memory events, which are numbered from `first` on; with `NEVER`, they have no numbers. `events` are all
    /// visible operations.
    #[inline]
    fn add_all(&mut self, memory: &[MemoryEvent], first: u32, events: &[SyncVarAccess]) {
        self.changes.now = first;
        for event in memory {
            let events = &events[..event.events];
            match &event.what {
                MemoryDeed::Access(access) => self.data_var_access(access, events),
                MemoryDeed::Allocation(allocation) => self.allocation(allocation, events),
                MemoryDeed::Release(release) => self.release(release, events),
            }
            if first != NEVER {
                self.changes.now += 1;
            }
        }
    }

    /// Adds the releases that were postponed, because something follows them nevertheless.
    #[inline(always)]
    fn add_put_off(&mut self, events: &[SyncVarAccess]) {
        if !self.put_off.is_empty() {
            let put_off = std::mem::take(&mut self.put_off);
            self.add_all(&put_off, NEVER, events);
        }
    }

    /// `true` if these releases, all by one task, race with nothing before them.
    fn are_ordered(&mut self, releases: &[MemoryEvent], events: &[SyncVarAccess]) -> bool {
        let Some(&MemoryEvent {
            what: MemoryDeed::Release(Release { after, .. }),
            ..
        }) = releases.first()
        else {
            return releases.is_empty();
        };
        let mut ordered = 0;
        while ordered < releases.len() {
            ordered += self.ordered_releases(&releases[ordered..], after.task);
            // Most often it is enough to know of the operations before the first.
            match releases.get(ordered) {
                Some(event) if self.taken_in < event.events => self.catch_up(&events[..event.events]),
                Some(_) => return false,
                None => {}
            }
        }
        true
    }

    /// Returns the number of releases, from the first, that are by this task and race with nothing by its current clock.
    #[inline(always)]
    fn ordered_releases(&mut self, releases: &[MemoryEvent], task: TaskId) -> usize {
        let known = &*self.sync.known(task);
        let memory = &mut self.memory[..self.memory_used];
        let mut is_ordered = |event: &MemoryEvent| {
            let MemoryDeed::Release(Release {
                after,
                location,
                site,
            }) = event.what
            else {
                return false;
            };
            let end = End {
                site,
                task,
                deed: Deed::Release,
            };
            let shadow = memory.get_mut(location.index()).filter(|_| after.task == task);
            let only = shadow.and_then(Shadow::untouched_whole);
            only.is_some_and(|(only, _)| !only.races(end, known))
        };
        let first = releases.iter().position(|event| !is_ordered(event));
        first.unwrap_or(releases.len())
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

    /// Forgets the previous execution, if the state still belongs to it.
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

    /// Returns to the state of the previous execution in which only the first `same` events of `memory` were processed.
    /// Returns `false` if that is not possible.
    fn go_back_to(&mut self, memory: &[MemoryEvent], same: usize) -> bool {
        let is_simple = self.changes.now != NEVER && self.races.known.is_empty();
        let Some(last) = memory[..same].last() else {
            return false;
        };
        let first = same as u32;
        if !is_simple || first < self.changes.first {
            return false;
        }
        while let Some(change) = self.changes.list.pop_if(|change| change.access >= first) {
            let (at, before) = (change.location as usize, change.before);
            match change.stretch {
                PLAIN => self.plain[at].take_back(before),
                WHOLE => self.memory[at].take_back(None, before),
                stretch => self.memory[at].take_back(Some(stretch), before),
            }
        }
        // The next access may come before later operations than that, but not before an earlier one.
        if last.events < self.taken_in {
            if self.sync.go_back_to(last.events) {
                self.taken_in = last.events;
            } else if self.any_plain {
                // Operations before a plain access would be compared with it as if they came after it.
                return false;
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
}

/// Returns the number of events before the releases at the end.
fn last_releases(memory: &[MemoryEvent]) -> usize {
    let is_other = |event: &MemoryEvent| !matches!(event.what, MemoryDeed::Release(_));
    memory.iter().rposition(is_other).map_or(0, |last| last + 1)
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

    fn follows_stale_reads(&self) -> bool {
        true
    }

    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        self.put_off.clear();
        if std::mem::replace(&mut self.is_old, true) {
            // The execution before had no memory events.
            self.forget();
        }
    }

    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
        self.begin();
        self.add_put_off(cx.accesses());
        self.data_var_access(access, cx.accesses());
    }

    fn on_allocation(&mut self, allocation: &Allocation, cx: &mut Context<'_>) {
        self.begin();
        self.add_put_off(cx.accesses());
        self.allocation(allocation, cx.accesses());
    }

    fn on_release(&mut self, release: &Release, cx: &mut Context<'_>) {
        self.begin();
        self.add_put_off(cx.accesses());
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
        let same = self.added.map_or(same, |added| added.min(same));
        if self.is_old && self.go_back_to(memory, same) {
            (self.is_old, from) = (false, same);
        }
        self.begin();
        let events = cx.accesses();
        self.add_put_off(events);
        self.added = None;
        let last = if is_first {
            from + last_releases(&memory[from..])
        } else {
            memory.len()
        };
        self.add_all(
            &memory[from..last],
            if is_first { from as u32 } else { NEVER },
            events,
        );
        if last == memory.len() {
            return;
        }
        if self.are_ordered(&memory[last..], events) {
            self.put_off.extend_from_slice(&memory[last..]);
            self.added = Some(last);
        } else {
            self.add_all(&memory[last..], last as u32, events);
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
