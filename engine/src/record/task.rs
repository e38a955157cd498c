//! The engine's side of a task: what it is about to do, who created it, what it keeps for itself.

use super::var::Gates;
use intermezzo_sdk::{MemoryOrder, SyncVar, SyncVarOp};
use std::any::Any;
use std::panic::Location;
use std::sync::Arc;

/// A place in the source.
pub type Site = &'static Location<'static>;

/// A visible operation: what, on which variable, where.
#[derive(Clone, Copy)]
pub struct Access {
    /// The operation.
    pub op: SyncVarOp,
    /// Its memory order.
    pub order: MemoryOrder,
    /// The variable, or `SyncVar::NONE.0`.
    pub var: u32,
    /// Where in the source it was called.
    pub site: Site,
}

impl Access {
    /// An operation on a variable that has no memory order.
    #[inline(always)]
    pub fn new(op: SyncVarOp, var: u32, site: Site) -> Access {
        Access {
            op,
            order: MemoryOrder::None,
            var,
            site,
        }
    }

    /// An operation on no variable.
    pub fn nowhere(op: SyncVarOp, site: Site) -> Access {
        Access::new(op, SyncVar::NONE.0, site)
    }
}

/// How long, and how faithfully, an operation waits for its gate.
#[derive(Clone, Copy, Default)]
pub struct WaitLimits {
    /// The virtual time in nanoseconds at which it gives up.
    pub deadline: Option<u64>,
    /// Whether it may be woken for no reason.
    pub spurious: bool,
}

/// Why an operation that waited goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// A gate is open.
    Ready,
    /// Its time is up.
    TimedOut,
    /// For no reason.
    Spurious,
}

/// What a task does next.
#[derive(Clone, Copy)]
pub struct Pending {
    /// What a report says it is doing.
    pub access: Access,
    /// The variable at whose gates it waits; often the one it accesses.
    pub(crate) gate_var: u32,
    /// It passes when one of these is open; 0 if it needs none.
    pub gates: Gates,
    /// Whether there is a schedule point before it. An operation that commutes with all others needs
    /// none: once it can happen it does, at once.
    pub visible: bool,
    /// Whether it may go on although no gate opens: when its time is up, or for no reason.
    pub environment_wake: bool,
}

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Created, and never run.
    Fresh,
    /// Running or suspended.
    Live,
    /// Over.
    Ended,
}

/// A value of a thread-local key.
pub struct Local {
    /// The key, by its address.
    pub key: usize,
    /// Whether dropping the value does anything.
    pub has_destructor: bool,
    /// The value; `None` once its destructor has begun.
    pub value: Option<Box<dyn Any>>,
}

/// A task of the current execution. Entries are used again in the next one.
pub struct Task {
    /// Whether the task is ready, waits, or has ended.
    pub status: Status,
    /// The operation that the task has announced.
    pub pending: Pending,
    /// Why it was last woken.
    pub wake: Wake,
    /// When it gives up waiting, in virtual nanoseconds.
    pub deadline: u64,
    /// How many events it has had.
    pub events: u32,
    /// The task's own variable: its end, its park token, its notification.
    pub var: u32,
    /// Who created it, and the how-manieth of that task it is, from 1.
    pub parent: u32,
    /// Its place among its parent's children, from 1.
    pub ordinal: u32,
    /// How many tasks it created, and of how many variables it was the first user.
    pub(crate) children: u32,
    pub(crate) first_uses: u32,
    /// How many random sources it made.
    pub random_sources: u32,
    /// The name its creator gave it.
    pub name: Option<Arc<str>>,
    /// Whether it yielded, with nothing visible done since; and how often it has in all.
    pub yielded: bool,
    /// The number of its yields so far.
    pub yields: u32,
    /// Whether it may be preempted in the region that it is in; `None` outside any.
    pub(crate) preemptible: Option<bool>,
    /// Panics that it was unwinding from when it gave control away, or crashed.
    pub unwinding: u32,
    /// Whether its closure is over, and it drops what it left.
    pub(crate) finishing: bool,
    /// How many events there had been when its closure was over; `usize::MAX` before. And whether a look found it ended.
    pub(crate) over_at: usize,
    pub(crate) found_ended: bool,
    /// How often time has passed since because no task could go on, and no early time-out has accounted for it.
    pub(crate) passed_since_over: u32,
    /// Whether it waits for tasks that borrow from it, so that it must not unwind before their end.
    pub(crate) pinned_by_scope: bool,
    /// Operations it took while it was cleared away.
    pub(crate) operations_cleared: u32,
    /// Whether nobody has a handle on it any more.
    pub(crate) detached: bool,
    /// Its thread-local values, in order of initialisation.
    pub locals: Vec<Local>,
}

impl Task {
    /// An entry that was never used.
    pub fn new(site: Site) -> Task {
        let access = Access::nowhere(SyncVarOp::TaskBegin, site);
        let pending = Pending {
            access,
            gate_var: 0,
            gates: 0,
            visible: false,
            environment_wake: false,
        };
        Task {
            status: Status::Fresh,
            pending,
            wake: Wake::Ready,
            deadline: 0,
            events: 0,
            var: 0,
            parent: 0,
            ordinal: 0,
            children: 0,
            first_uses: 0,
            random_sources: 0,
            name: None,
            yielded: false,
            yields: 0,
            preemptible: None,
            unwinding: 0,
            finishing: false,
            over_at: usize::MAX,
            found_ended: false,
            passed_since_over: 0,
            pinned_by_scope: false,
            operations_cleared: 0,
            detached: false,
            locals: Vec::new(),
        }
    }

    /// Makes this entry a new task, which is about to begin.
    #[inline(always)]
    pub(crate) fn renew(&mut self, begin: Access, parent: u32, ordinal: u32, name: Option<Arc<str>>) {
        self.status = Status::Fresh;
        self.pending = Pending {
            access: begin,
            gate_var: 0,
            gates: 0,
            visible: false,
            environment_wake: false,
        };
        self.wake = Wake::Ready;
        self.events = 0;
        self.var = begin.var;
        (self.parent, self.ordinal) = (parent, ordinal);
        self.children = 0;
        self.first_uses = 0;
        self.random_sources = 0;
        self.name = name;
        self.yielded = false;
        self.yields = 0;
        self.preemptible = None;
        self.unwinding = 0;
        self.finishing = false;
        self.over_at = usize::MAX;
        self.found_ended = false;
        self.passed_since_over = 0;
        self.pinned_by_scope = false;
        self.operations_cleared = 0;
        self.detached = false;
        debug_assert!(
            self.locals.is_empty(),
            "a task's thread-locals are dropped at its end"
        );
    }
}

/// The gates of a task's own variable.
pub mod gate {
    use super::Gates;
    /// The task has ended.
    pub const ENDED: Gates = 1;
    /// Its park token is there.
    pub const TOKEN: Gates = 2;
    /// It was notified, or its waker was called.
    pub const NOTIFIED: Gates = 4;
    /// It may go on from a breakpoint.
    pub(crate) const PASSED: Gates = 8;
}
