//! The engine's side of the objects through which tasks synchronise: their gates, and the tasks that wait at them.
//!
//! All blocking operations follow one rule: *an operation passes when one of its gates is open*. The front end that
//! owns an object opens and closes its gates as part of the operations it performs. A free lock has its gate open; an
//! empty channel has its receiving gate closed. The engine updates the set of enabled tasks, and needs to know nothing
//! else about locks, channels or barriers.

use super::task_set::TaskSet;
use crate::site::Site;

/// The gates of a variable, as bits. The owner defines the meaning of each.
pub type Gates = u8;

/// The number of bits of an identity that hold the variable's number; the others hold the execution's epoch.
pub(crate) const VAR_BITS: u32 = 22;

/// The maximum number of variables in one execution: more would not fit an identity.
pub(crate) const VARS_MAX: usize = 1 << VAR_BITS;

/// No task: the variable has no owner.
pub(crate) const NO_TASK: u32 = u32::MAX;

/// The kind of object that a variable is, for its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VarKind {
    /// A task: its beginning and its end.
    Task,
    /// An atomic.
    Atomic,
    /// An atomic that holds an address.
    Pointer,
    /// A mutex.
    Mutex,
    /// A readers-writer lock.
    RwLock,
    /// A condition variable.
    Condvar,
    /// A `Once` or a lazily initialised value.
    Once,
    /// A barrier.
    Barrier,
    /// A channel.
    Channel,
    /// The reference counts of an `Arc`.
    Count,
    /// A cell: plain memory.
    Cell,
    /// A waker of a future.
    Waker,
    /// An object whose operations are named by the test itself.
    Operations,
    /// Freed memory of one size, which allocations may get.
    Heap,
    /// Virtual time.
    Clock,
    /// A synchronisation primitive of the test's own, with the name that the test gives its kind.
    Primitive(&'static str),
    /// The schedule points that the test announces.
    Points,
}

impl VarKind {
    /// Returns the name of the kind in reports.
    pub fn name(self) -> &'static str {
        match self {
            VarKind::Task => "task",
            VarKind::Atomic => "atomic",
            VarKind::Pointer => "pointer",
            VarKind::Mutex => "mutex",
            VarKind::RwLock => "rwlock",
            VarKind::Condvar => "condvar",
            VarKind::Once => "once",
            VarKind::Barrier => "barrier",
            VarKind::Channel => "channel",
            VarKind::Count => "count",
            VarKind::Cell => "cell",
            VarKind::Waker => "waker",
            VarKind::Operations => "operations",
            VarKind::Heap => "heap",
            VarKind::Clock => "clock",
            VarKind::Primitive(kind) => kind,
            VarKind::Points => "point",
        }
    }
}

/// A variable in the current execution.
pub struct Var {
    pub kind: VarKind,
    /// `true` if its values are addresses, which differ between processes and are not shown.
    pub(crate) holds_address: bool,
    /// The open gates, now and at first.
    pub gates: Gates,
    pub initial: Gates,
    /// The tasks whose next operation waits at a gate of this variable, open or not.
    pub(crate) watchers: TaskSet,
    /// The first user, and the index of this variable among those that the task used first: its stable name.
    pub first_user: u32,
    pub ordinal: u32,
    /// The place of its first use; `None` if that is not known, or if it is a task's own variable.
    pub first_site: Option<Site>,
    /// The object's address and size at its first use; `None` if they are not known.
    pub(crate) memory: Option<(usize, usize)>,
    /// The holder of a lock, and the place where it was locked: for reports of deadlocks.
    pub owner: u32,
    pub(crate) owned_at: Option<Site>,
    /// The uses of a reader-writer lock.
    pub(crate) reading: Reading,
}

// An entry is found by its number with one shift.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Var>() == 128);

/// The uses of a reader-writer lock in an execution.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    /// `true` if a task has taken it to write and would have waited for it.
    pub awaited: bool,
    /// `true` if a task took it to read that could not, or perhaps could not, have done so while a writer waited.
    pub passed: bool,
    /// `true` if a task waited for something while it held the lock to read.
    pub held: bool,
    /// A task that took the lock to read.
    pub reader: Option<u32>,
    /// `true` if another task took it to read, too.
    pub several: bool,
}

impl Reading {
    /// Returns `true` if it may make a difference whether a waiting writer keeps out readers.
    pub(crate) fn depends_on_priority(self) -> bool {
        self.awaited && (self.passed || self.held && self.several)
    }
}

/// The variables of an execution. The next execution reuses the entries.
#[derive(Default)]
pub struct Vars {
    list: Vec<Var>,
    used: usize,
}

impl Vars {
    /// Forgets all variables, and keeps their memory.
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// Returns the number of variables.
    pub fn count(&self) -> usize {
        self.used
    }

    /// Adds a variable with these gates open.
    #[inline]
    pub fn add(&mut self, kind: VarKind, gates: Gates, first_user: u32, ordinal: u32) -> u32 {
        let at = self.used;
        self.used += 1;
        if at == self.list.len() {
            self.list.push(Var {
                kind,
                holds_address: kind == VarKind::Pointer,
                gates,
                initial: gates,
                watchers: TaskSet::default(),
                first_user,
                ordinal,
                first_site: None,
                memory: None,
                owner: NO_TASK,
                owned_at: None,
                reading: Reading::default(),
            });
        } else {
            let var = &mut self.list[at];
            var.kind = kind;
            var.holds_address = kind == VarKind::Pointer;
            (var.gates, var.initial) = (gates, gates);
            var.watchers.clear();
            var.first_user = first_user;
            var.ordinal = ordinal;
            var.first_site = None;
            var.memory = None;
            var.owner = NO_TASK;
            var.reading = Reading::default();
        }
        at as u32
    }
}

impl std::ops::Index<u32> for Vars {
    type Output = Var;
    #[inline(always)]
    fn index(&self, var: u32) -> &Var {
        &self.list[var as usize]
    }
}

impl std::ops::IndexMut<u32> for Vars {
    #[inline(always)]
    fn index_mut(&mut self, var: u32) -> &mut Var {
        &mut self.list[var as usize]
    }
}
