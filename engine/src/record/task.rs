//! The engine's side of a task: its next operation, its creator, and its own state.

use super::var::Gates;
use crate::site::Site;
use intermezzo_sdk::{MemoryOrder, SyncVar, SyncVarOp};
use std::any::Any;
use std::num::NonZero;
use std::sync::Arc;

/// A visible operation: its kind, its variable, and its place in the source.
#[derive(Clone, Copy)]
pub struct Access {
    /// The operation.
    pub op: SyncVarOp,
    /// Its memory ordering.
    pub order: MemoryOrder,
    /// The variable, or `SyncVar::NONE.0`.
    pub var: u32,
    /// The place in the source where it was called.
    pub site: Site,
}

impl Access {
    /// Returns an operation on a variable, without a memory ordering.
    #[inline(always)]
    pub fn new(op: SyncVarOp, var: u32, site: Site) -> Access {
        Access {
            op,
            order: MemoryOrder::None,
            var,
            site,
        }
    }

    /// Returns an operation on no variable.
    pub fn nowhere(op: SyncVarOp, site: Site) -> Access {
        Access::new(op, SyncVar::NONE.0, site)
    }
}

/// The conditions under which an operation may stop waiting for its gate.
#[derive(Clone, Copy, Default)]
pub struct WaitLimits {
    /// The virtual time in nanoseconds at which the wait times out.
    pub deadline: Option<u64>,
    /// `true` if the wait could have ended spuriously when it began.
    pub may_end_spuriously: bool,
}

/// The reason why a waiting operation continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// A gate is open.
    Ready,
    /// Its time-out expired.
    TimedOut,
}

/// The next operation of a task.
#[derive(Clone, Copy)]
pub struct Pending {
    /// The operation that a report shows.
    pub access: Access,
    /// The variable at whose gates it waits; often the one it accesses.
    pub(crate) gate_var: u32,
    /// The gates one of which must be open for it to pass; 0 if it needs none.
    pub gates: Gates,
    /// `true` if there is a schedule point before it. An operation that commutes with all others needs none: it happens
    /// as soon as it can.
    pub visible: bool,
    /// `true` if it may also continue by a time-out.
    pub may_time_out: bool,
}

/// The wait of a task at an address.
#[derive(Clone, Copy)]
pub struct WaitsAt {
    /// The address.
    pub address: usize,
    /// The variable there.
    pub var: u32,
    /// It is woken by wake-ups with one of these bits.
    pub bits: u32,
    /// The number of events before the wait, which include the beginning of its task. Tasks that came first are woken
    /// first.
    pub since: NonZero<u32>,
}

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Created, but not yet run.
    Fresh,
    /// Running or suspended.
    Live,
    /// Ended.
    Ended,
}

/// A value of a thread-local key.
pub struct Local {
    /// The key, by its address.
    pub key: usize,
    /// `true` if dropping the value does anything.
    pub has_destructor: bool,
    /// The value; `None` once its destructor has begun.
    pub value: Option<Box<dyn Any>>,
}

/// The condition under which a wait with a limit may time out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimesOut {
    /// When its deadline is reached.
    #[default]
    InTime,
    /// At any time.
    Early,
    /// When its deadline is reached, because the environment's bound does not allow an early time-out.
    Capped,
    /// When no other task can do anything: no time passes.
    AtRest,
}

/// The environment's actions in a task so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Adversities {
    /// The number of weak compare-exchanges that failed although they could have succeeded.
    pub(crate) weak_exchanges: u32,
    /// The number of times that `try_lock` of a free lock failed.
    pub(crate) try_locks: u32,
    /// The number of waits that ended spuriously.
    pub(crate) spurious_wakeups: u32,
    /// The number of waits that may time out early, which is chosen when they begin.
    pub(crate) timeouts: u32,
    /// The number of allocations that got the address of memory that was freed.
    #[allow(dead_code, reason = "for the arena")]
    pub(crate) address_reuses: u32,
}

/// A task of the current execution. The next execution reuses the entries.
pub struct Task {
    /// The state of the task.
    pub status: Status,
    /// The operation that the task has announced.
    pub pending: Pending,
    /// The reason for its last wake-up.
    pub wake: Wake,
    /// The virtual time in nanoseconds at which its wait times out, if it does not time out early.
    pub deadline: u64,
    /// The step that opened the gate at which it waits or waited last.
    pub(crate) gate_opened: u32,
    /// The time at which its wait may time out.
    pub(crate) times_out: TimesOut,
    /// The number of its events so far.
    pub events: u32,
    /// The task's own variable, for its end, its park token and its notification.
    pub var: u32,
    /// The task that created it.
    pub parent: u32,
    /// Its index among its creator's tasks, from 1.
    pub ordinal: u32,
    /// The numbers of tasks that it created and of variables of which it was the first user.
    pub(crate) children: u32,
    pub(crate) first_uses: u32,
    /// The number of random sources that it created.
    pub random_sources: u32,
    /// The environment's actions in it so far.
    pub(crate) adversities: Adversities,
    /// The name that its creator gave it.
    pub name: Option<Arc<str>>,
    /// The address at which it waits, if it does.
    pub waits_at: Option<WaitsAt>,
    /// `true` if the operation that it has announced needs only the address of its object.
    pub needs_no_memory: bool,
    /// `true` if it has yielded and performed no visible operation since.
    pub yielded: bool,
    /// The number of its yields so far.
    pub yields: u32,
    /// The number of the step in which it yielded last.
    pub yielded_at: u32,
    /// The number of its yields, sleeps and time-outs since the test's own function has returned.
    pub(crate) rounds_left_over: u32,
    /// `true` if it has given itself its park token since its last park ended.
    pub(crate) unparked_itself: bool,
    /// The number of times that it has given itself the token since its last wait for it.
    pub(crate) own_unparks: u32,
    /// The number of waits in a row, up to the last one, that it ended by waking itself.
    pub(crate) own_wakes: u32,
    /// The number of those since it last wrote anything else.
    pub(crate) idle_wakes: u32,
    /// `true` if it may be preempted in its current region; `None` outside any region.
    pub(crate) preemptible: Option<bool>,
    /// `true` in a region in which its preemptions are preferred.
    pub(crate) preferred: bool,
    /// The number of panics that it was unwinding from when it was suspended or crashed.
    pub unwinding: u32,
    /// `true` if it is held: it takes no step unless it is withdrawn.
    pub(crate) held: bool,
    /// `true` if it was withdrawn: its next operation unwinds it.
    pub(crate) withdrawn: bool,
    /// `true` if teardown has unwound it.
    pub(crate) abandoned: bool,
    /// `true` if it must not unwind: its closure has returned and it is dropping its values, or it is in code that must
    /// not be unwound.
    pub(crate) finishing: bool,
    /// The number of events when its closure returned; `None` before.
    pub(crate) over_at: Option<NonZero<u32>>,
    /// `true` if a query found it ended.
    pub(crate) found_ended: bool,
    /// The number of times since its closure returned that time has passed because no task could continue, without
    /// those that were counted as early time-outs.
    pub(crate) passed_since_over: u32,
    /// `true` if it waits for tasks that borrow from it, so that it must not unwind before they end.
    pub(crate) pinned_by_scope: bool,
    /// The number of operations that it performed during teardown.
    pub(crate) operations_cleared: u32,
    /// `true` if no handle on it is left.
    pub(crate) detached: bool,
    /// `true` if it was created in a scope, which waits only for its closure.
    pub(crate) in_scope: bool,
    /// The task that drops its thread-local values in its place, if there is one.
    pub(crate) heir: Option<u32>,
    /// The task whose thread-local values or result it drops. In std both are one thread.
    pub(crate) heir_of: Option<u32>,
    /// The task that drops its result in its place, if there is one, and no scope has waited for that task yet.
    pub(crate) result_heir: Option<u32>,
    /// `true` if there were thread-local values when its closure returned.
    pub(crate) had_locals: bool,
    /// `true` if it is one of a group of symmetric tasks.
    pub(crate) symmetric: bool,
    /// `true` if it began although the task before it in its group had taken no step: its next operation is that
    /// task's.
    pub(crate) begun_at_rest: bool,
    /// The reader-writer locks that it holds to read, each as often as it has taken it.
    pub(crate) shares: Vec<u32>,
    /// `true` if it panicked, and the payload may have a destructor.
    pub(crate) payload_drops: bool,
    /// Its thread-local values, in order of initialisation.
    pub locals: Vec<Local>,
}

impl Task {
    /// Returns a fresh entry.
    pub fn new(site: Site) -> Task {
        let access = Access::nowhere(SyncVarOp::TaskBegin, site);
        let pending = Pending {
            access,
            gate_var: 0,
            gates: 0,
            visible: false,
            may_time_out: false,
        };
        Task {
            status: Status::Fresh,
            pending,
            wake: Wake::Ready,
            deadline: 0,
            gate_opened: 0,
            times_out: TimesOut::InTime,
            events: 0,
            var: 0,
            parent: 0,
            ordinal: 0,
            children: 0,
            first_uses: 0,
            random_sources: 0,
            adversities: Adversities::default(),
            name: None,
            waits_at: None,
            needs_no_memory: false,
            yielded: false,
            yields: 0,
            yielded_at: 0,
            rounds_left_over: 0,
            unparked_itself: false,
            own_unparks: 0,
            own_wakes: 0,
            idle_wakes: 0,
            preemptible: None,
            preferred: false,
            unwinding: 0,
            held: false,
            withdrawn: false,
            abandoned: false,
            finishing: false,
            over_at: None,
            found_ended: false,
            passed_since_over: 0,
            pinned_by_scope: false,
            operations_cleared: 0,
            detached: false,
            in_scope: false,
            heir: None,
            heir_of: None,
            result_heir: None,
            had_locals: false,
            symmetric: false,
            begun_at_rest: false,
            shares: Vec::new(),
            payload_drops: false,
            locals: Vec::new(),
        }
    }

    /// Turns this entry into a new task that is about to begin.
    #[inline(always)]
    pub(crate) fn renew(&mut self, begin: Access, parent: u32, ordinal: u32, name: Option<Arc<str>>) {
        self.status = Status::Fresh;
        self.pending = Pending {
            access: begin,
            gate_var: 0,
            gates: 0,
            visible: false,
            may_time_out: false,
        };
        self.wake = Wake::Ready;
        self.events = 0;
        self.var = begin.var;
        (self.parent, self.ordinal) = (parent, ordinal);
        self.children = 0;
        self.first_uses = 0;
        self.random_sources = 0;
        self.adversities = Adversities::default();
        self.name = name;
        self.waits_at = None;
        self.yielded = false;
        self.yields = 0;
        self.yielded_at = 0;
        self.rounds_left_over = 0;
        (self.unparked_itself, self.own_unparks) = (false, 0);
        (self.own_wakes, self.idle_wakes) = (0, 0);
        self.preemptible = None;
        self.preferred = false;
        self.unwinding = 0;
        (self.held, self.withdrawn, self.abandoned) = (false, false, false);
        self.finishing = false;
        self.over_at = None;
        self.found_ended = false;
        self.passed_since_over = 0;
        self.pinned_by_scope = false;
        self.operations_cleared = 0;
        self.detached = false;
        self.in_scope = false;
        (self.heir, self.heir_of, self.result_heir) = (None, None, None);
        self.had_locals = false;
        (self.symmetric, self.begun_at_rest) = (false, false);
        self.shares.clear();
        self.payload_drops = false;
        debug_assert!(
            self.locals.is_empty(),
            "a task's thread-locals are dropped at its end"
        );
    }
}

// An entry is found by its number with one shift.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Task>() == 256);

/// The gates of a task's own variable.
pub mod gate {
    use super::Gates;
    /// The task has ended.
    pub const ENDED: Gates = 1;
    /// Its park token is set.
    pub const TOKEN: Gates = 2;
    /// It was notified, or its waker was called.
    pub const NOTIFIED: Gates = 4;
    /// It may continue from a breakpoint.
    pub(crate) const PASSED: Gates = 8;
    /// It waits until no other task can do anything. This gate is never open.
    pub(crate) const QUIET: Gates = 16;
    /// It waits for something that never happens.
    pub const NEVER: Gates = 32;
}
