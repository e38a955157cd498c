//! Virtual time. It passes when a task reads the clock or sleeps, when no task can continue, and when all tasks that
//! can continue only yield. A wait whose deadline has been reached may time out, like anything else that is enabled. An
//! earlier time-out is an action of the environment.
//!
//! Reading the clock is a visible operation on the clock as a variable, so every order of clock reads, sleeps and
//! time-outs is explored. A sleep and a wait with a limit read the clock, too, when they compute their deadline.
//!
//! Each read moves the clock: by a microsecond the first time, and by twice as much with each further read by the same
//! task at the same place. If the task did something in between, the distance is a microsecond again, so that work
//! takes little time. It also is if the task slept, because the sleep has moved the clock: a loop that sleeps for a
//! millisecond between two checks, and gives up after a second, then leaves other tasks some steps. After some reads at
//! one place the distance doubles in any case, so that every loop that waits for time to pass ends. These late reads
//! move the clock so far that a wait with a limit may be over before it begins. So in unmodified code they give way to
//! other tasks, as a time-out does. The distance does not depend on other tasks. So their steps commute with a read,
//! unless they access the clock.

use super::at_rest::AT_REST;
use super::{Engine, Runtime};
use crate::record::{Access, Event, VarKind};
use crate::site::Site;
use crate::trace::{Class, Key, SoundReduction};
use intermezzo_sdk::SyncVarOp;
use std::time::Duration;

/// The virtual nanoseconds by which a first read moves the clock, and the largest distance of one read.
const TICK: u64 = 1_000;
const TICK_MAX: u64 = 1 << 40;

/// The number of reads by a task at one place after which each moves the clock by twice as much, whatever the task
/// does. A loop then takes some forty more rounds to wait for any length of time.
const LOOKS_SLOW: u32 = 64;

/// The most nanoseconds of real time that one read takes if its task does more than wait. Such a task's late reads move
/// virtual time by far more.
const REAL_MAX: u64 = 10_000_000;

/// The number of yields in a row after which a task is assumed to wait for time to pass. The longest pauses of
/// published locks have 64.
const LONGEST_PAUSE: u32 = 100;

/// The reads of the clock in an execution.
#[derive(Default)]
pub(super) struct Looks {
    /// The clock as a variable, once a task has read it.
    var: Option<u32>,
    places: Vec<Place>,
}

impl Looks {
    /// Forgets all reads, and keeps their memory.
    pub(super) fn clear(&mut self) {
        self.var = None;
        self.places.clear();
    }
}

/// The reads of the clock by a task at one place.
struct Place {
    task: u32,
    site: Site,
    count: u32,
    /// The number of events of the execution at the last read.
    events: usize,
    /// The distance by which the last read moved the clock, in nanoseconds.
    tick: u64,
}

/// The number of a task's events that are searched for its last store to a variable.
const STORES_LOOKED_AT: usize = 64;

/// Returns `true` if the event with this number shows that its task does more than wait.
fn does_something(events: &[Event], at: usize) -> bool {
    let event = &events[at];
    match event.op {
        SyncVarOp::AtomicRmw => event.read != event.written,
        SyncVarOp::AtomicStore => !is_repeated(events, at),
        // No message came.
        SyncVarOp::ChannelReceive => event.read != 0,
        // A loop may take and release a lock only to read what the lock guards.
        SyncVarOp::LockAcquire
        | SyncVarOp::LockTryAcquire
        | SyncVarOp::LockRelease
        | SyncVarOp::SharedAcquire
        | SyncVarOp::SharedTryAcquire
        | SyncVarOp::SharedRelease
        | SyncVarOp::CondvarWait
        | SyncVarOp::CondvarWake
        | SyncVarOp::Park => false,
        // A loop that only wakes other tasks again and again, or meets them at a barrier, does nothing else either.
        SyncVarOp::Unpark
        | SyncVarOp::NotifyOne
        | SyncVarOp::NotifyAll
        | SyncVarOp::BarrierArrive
        | SyncVarOp::BarrierPass
        | SyncVarOp::PoisonClear => false,
        _ => event.may_change(),
    }
}

/// Returns `true` if the task that performs this store has written the same value there before, and no other since.
/// The stores of other tasks do not count, because they may come in another order.
fn is_repeated(events: &[Event], at: usize) -> bool {
    let store = &events[at];
    let own = events[..at].iter().rev().filter(|event| event.task == store.task);
    let mut last = own.take(STORES_LOOKED_AT).filter(|event| event.var == store.var);
    let last = last.find(|event| event.op.is_write());
    last.is_some_and(|last| last.written == store.written)
}

/// Returns `true` if the event with this number does not show that its task does more than wait. A loop may also make a
/// handle only to read something through it.
pub(super) fn may_only_wait(events: &[Event], at: usize) -> bool {
    matches!(events[at].op, SyncVarOp::CountUp | SyncVarOp::CountDown) || !does_something(events, at)
}

impl Engine {
    /// Reads the clock, which moves it. Returns virtual time in nanoseconds since the execution began.
    pub fn look_at_clock(self, site: Site) -> u64 {
        self.read_clock(Class::Write, site);
        let (time, is_slow) = self.with(|rt| {
            let task = rt.tasks.current();
            let events = rt.record.events.as_slice();
            let same = |place: &&mut Place| place.task == task && place.site == site;
            let (tick, waits, is_slow) = match rt.world.looks.places.iter_mut().find(same) {
                Some(place) => {
                    let own = || (place.events..events.len()).filter(|&at| events[at].task == task);
                    let waits = !own().any(|at| does_something(events, at));
                    let sleeps = own().any(|at| events[at].op == SyncVarOp::Sleep);
                    place.count += 1;
                    place.events = events.len();
                    let is_late = place.count > LOOKS_SLOW;
                    place.tick = if waits && !sleeps || is_late {
                        place.tick.saturating_mul(2).min(TICK_MAX)
                    } else {
                        TICK
                    };
                    (place.tick, waits, is_late && rt.limits.unmodified)
                }
                None => {
                    rt.world.looks.places.push(Place {
                        task,
                        site,
                        count: 1,
                        events: events.len(),
                        tick: TICK,
                    });
                    (TICK, false, false)
                }
            };
            // A task that does more than wait reads the clock for another reason.
            let real = if waits { tick } else { tick.min(REAL_MAX) };
            rt.world
                .advance_time_by_look(tick, real, &mut rt.ready, &rt.tasks);
            if is_slow {
                rt.ready.give_way(task);
            }
            (rt.world.clock(), is_slow)
        });
        if is_slow {
            self.end_if_left_over();
        }
        time
    }

    /// Advances virtual time to `time`, unless it is already later.
    pub(super) fn advance_clock(self, time: u64) {
        self.add_to_footprint(Key::CLOCK, Class::Write);
        self.with(|rt| rt.world.advance_time(time, &mut rt.ready, &rt.tasks));
    }

    /// Performs a visible operation that reads the clock: other tasks may move it first.
    fn read_clock(self, class: Class, site: Site) {
        if self.in_teardown() {
            return;
        }
        let clock = self.with(|rt| {
            let vars = &mut rt.objects.vars;
            *(rt.world.looks.var).get_or_insert_with(|| vars.add(VarKind::Clock, 0, 0, 0))
        });
        let access = Access::new(SyncVarOp::DataRead, clock, site);
        self.enter(access);
        self.add_to_footprint(Key::CLOCK, class);
        self.commit(access, 0, 0);
        self.with(|rt| rt.world.sleepers.look(rt.tasks.current()));
    }

    /// Returns the virtual time at which a wait with this limit times out. The task reads the clock for it, which is a
    /// visible operation of its own. A limit of zero needs no read: such a wait times out at once at any time.
    pub fn deadline(self, limit: Duration, site: Site) -> u64 {
        if limit.is_zero() {
            return 0;
        }
        self.read_clock(Class::Read, site);
        self.after(limit)
    }

    /// Like `deadline`, for a wait that begins in the current step.
    pub fn deadline_in_step(self, limit: Duration) -> u64 {
        self.add_to_footprint(Key::CLOCK, Class::Read);
        self.with(|rt| rt.world.sleepers.look(rt.tasks.current()));
        self.after(limit)
    }

    /// Returns the virtual time after this limit.
    fn after(self, limit: Duration) -> u64 {
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        // It is before the time at which waits at rest end.
        self.with(|rt| rt.world.clock())
            .saturating_add(limit)
            .min(AT_REST - 1)
    }

    /// Notes that the operation waits with a limit for a gate that operations of other tasks may also close.
    ///
    /// If it times out, partial-order reductions do not see that it could have passed before the gate was closed: its
    /// step in that order is not a time-out. So happens-before caching takes over.
    pub fn may_find_gate_open(self, access: Access) {
        self.with(|rt| {
            let Access { op, site, .. } = access;
            rt.record.sound_only(SoundReduction::Caching, op, site);
        });
    }

    /// Records that the current task's operation timed out, which counts as a yield.
    pub fn timed_out(self, access: Access) {
        if access.op == SyncVarOp::Park {
            // Had the token come before, the task would have taken it.
            self.add_to_footprint(Key::of(access.op, access.var), Class::Write);
        }
        self.commit(
            Access {
                op: SyncVarOp::TimeOut,
                ..access
            },
            0,
            0,
        );
        self.with(|rt| rt.ready.give_way(rt.tasks.current()));
        self.end_if_left_over();
    }
}

impl Runtime {
    /// Lets time pass because the current task has yielded. If all tasks that can continue only yield, and some wait
    /// has a deadline, time advances to the first one. So a loop that waits for the effects of a time-out ends. A task
    /// that is parked at a breakpoint has then timed out.
    pub(super) fn time_passes_while_all_give_way(&mut self) {
        self.let_go_after_yields();
        self.note_pause();
        let time_ends_none = |rt: &Runtime| {
            let first = rt.ready.first_deadline(&rt.tasks);
            first.is_none_or(|deadline| deadline == AT_REST)
        };
        if time_ends_none(self) && self.constraints.breakpoints.is_none()
            || !self.ready.enabled().iter().all(|task| self.tasks[task].yielded)
        {
            return;
        }
        if self.is_one_behind() {
            return;
        }
        let current = self.tasks.current();
        let events = self.record.events.as_slice();
        let since = (0..events.len()).rev().skip(1);
        let since = since.take_while(|&at| may_only_wait(events, at));
        let own = since.map(|at| &events[at]).filter(|event| event.task == current);
        if seems_to_wait(own) {
            if time_ends_none(self) {
                self.let_go_while_all_give_way();
                return;
            }
            if self.reads_are_outdated() {
                return;
            }
            self.add_to_footprint(Key::CLOCK, Class::Write);
            self.world.pass_time(&mut self.ready, &mut self.tasks);
            self.world.sleepers.pass();
        }
    }

    /// Returns `true` if a task that can continue has yielded after a stale read. It will see the newer value without
    /// any time passing, because a place reads an outdated store only a limited number of times.
    fn is_one_behind(&mut self) -> bool {
        if !self.memory.has_model() {
            return false;
        }
        self.observe_by_model();
        let events = self.record.events.as_slice();
        self.ready.enabled().iter().any(|task| {
            let own = events.iter().enumerate().rev();
            let own = own.filter(|(_, event)| event.task == task);
            let mut round = own
                .skip_while(|(_, event)| gives_way(event))
                .take_while(|(_, event)| !gives_way(event));
            round.any(|(at, event)| !event.op.is_write() && self.memory.is_behind(at))
        })
    }

    /// Returns `true` if a task that can continue has read a value before its last yield that another task has replaced
    /// since. It has only to read again, and may then do more than yield. A task that sleeps is not meant: its time has
    /// to pass before it reads again.
    fn reads_are_outdated(&self) -> bool {
        if self.memory.has_model() {
            // The last store to happen need not be the newest one.
            return false;
        }
        let events = self.record.events.as_slice();
        self.ready.enabled().iter().any(|task| {
            let mut own = (0..events.len())
                .rev()
                .filter(|&at| events[at].task == task)
                .peekable();
            let yields = |at: &usize| events[*at].op == SyncVarOp::Yield;
            if !own.peek().is_some_and(yields) {
                return false;
            }
            let own = own.skip_while(yields);
            let mut round = own.take_while(|&at| !gives_way(&events[at]));
            round.any(|at| is_replaced(events, at))
        })
    }

    /// Notes the current task's yield or sleep if time may pass by it, as far as the task's own operations decide that.
    /// A sleep moves the clock by its own length in any case. The yield with which it begins may also move the clock to
    /// the first deadline of a wait.
    fn note_pause(&mut self) {
        if self.record.pause.is_some() || self.record.trace.sound() >= SoundReduction::Caching {
            return;
        }
        let current = self.tasks.current();
        let events = self.record.events.as_slice();
        let mut own = (0..events.len()).rev().filter(|&at| events[at].task == current);
        let Some(last) = own.next().map(|at| &events[at]).filter(|last| gives_way(last)) else {
            return;
        };
        let pause = (last.op, last.site);
        let own = own.take_while(|&at| may_only_wait(events, at));
        if seems_to_wait(own.map(|at| &events[at])) {
            self.record.pause = Some(pause);
            // The next decision reads it: see `note_waits_for_time`.
            self.ready.take_slow_path();
        }
    }

    /// Notes that partial-order reductions are not sound if a yield or a sleep may let time pass, and tasks wait with
    /// limits. Whether time passes depends on what other tasks have written since, and on which of them have ended.
    /// Those steps may commute with the yield. So happens-before caching takes over.
    #[inline(always)]
    pub(super) fn note_waits_for_time(&mut self) {
        if let Some((op, site)) = self.record.pause
            && self.ready.is_timed()
            && self.record.trace.sound() < SoundReduction::Caching
        {
            self.record.sound_only(SoundReduction::Caching, op, site);
        }
    }
}

/// Returns `true` if the event with this number only read an atomic, to which another task has written another value
/// since.
fn is_replaced(events: &[Event], at: usize) -> bool {
    let read = &events[at];
    if !matches!(read.op, SyncVarOp::AtomicLoad | SyncVarOp::AtomicRmwFailed) {
        return false;
    }
    let mut later = events[at + 1..]
        .iter()
        .rev()
        .filter(|event| event.var == read.var);
    let last = later.find(|event| event.may_change());
    last.is_some_and(|last| last.task != read.task && last.written != read.read)
}

fn gives_way(event: &Event) -> bool {
    matches!(event.op, SyncVarOp::Yield | SyncVarOp::Sleep)
}

/// Returns `true` if a task that now yields or sleeps seems to wait: it only read something between two yields, or it
/// has yielded very often. Several yields in a row are a pause before it reads again, unless there are too many. The
/// events are the task's own, the last first.
///
/// A task that also takes locks, say, may do what they guard in each round. So it counts as waiting only after as many
/// yields as in the longest pause. Sleeps do not count then: they move the clock themselves.
fn seems_to_wait<'a>(mut events: impl Iterator<Item = &'a Event>) -> bool {
    let (mut looked, mut may_change, mut yields) = (false, false, 0);
    events.any(|event| {
        if gives_way(event) {
            yields += u32::from(!may_change || event.op == SyncVarOp::Yield);
        } else {
            looked = true;
            may_change |= event.may_change();
        }
        looked && !may_change && gives_way(event) || yields == LONGEST_PAUSE
    })
}
