//! What an execution was: in figures, and in words if there is something to report.

use super::crash::Crash;
use super::listen::Reported;
use super::scope::Scoping;
use super::{PanicNote, Stop};
use crate::described::BreakpointFigures;
use crate::schedule::{Choice, Premises};
use crate::strategy::Operation;
use crate::trace::Suits;
use intermezzo_sdk::{EventId, MemoryOrder, SyncVarOp};
use serde::{Deserialize, Serialize};

/// What an execution was, in the engine's own terms.
pub(crate) struct Executed {
    pub(crate) steps: u64,
    pub(crate) switches: u64,
    pub(crate) tasks: u32,
    /// Accesses to plain memory that look-alikes told of.
    pub(crate) plain_accesses: u64,
    /// The strongest reduction that suits what was seen so far.
    pub(crate) suits: Suits,
    /// What tells its trace from others.
    pub(crate) fingerprint: u128,
    /// Whether fairness kept a schedule out.
    pub(crate) unfair_left_out: bool,
    /// What bounds of the environment kept it from.
    pub(crate) capped: Capped,
    /// Whether scoping did.
    pub(crate) scoping: Scoping,
    /// What became of the armed breakpoints.
    pub(crate) breakpoints: Vec<BreakpointFigures>,
    /// How often a task was parked because its loop waited in vain.
    pub(crate) parked: u32,
    /// How many rounds of loops came back to where they began, having only read, while a variable that they
    /// read was written: without them the execution would have shown the same.
    pub(crate) failed_iterations: u32,
    /// Whether parked tasks went on because of what is not compared.
    pub(crate) unseen_change: bool,
    /// `true` if tasks that it left in the middle were unwound.
    pub(crate) unwound: bool,
    /// Whether it did something else than was prescribed, or than the execution before under the same choices.
    pub(crate) departed: bool,
    /// Whether it showed something that is to be taken for granted, that a loop only waits or that places race, and can be
    /// believed: the search has to start anew with that known.
    pub(crate) learned: bool,
    /// A thread that is not controlled and used objects of the execution.
    pub(crate) toucher: Option<String>,
    /// What there is to say if not every task just came to its end. Boxed, because it is rare, and large.
    pub(crate) trouble: Option<Box<Trouble>>,
}

/// What the environment could have done, had its bounds been larger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Capped {
    pub(crate) timeouts: bool,
    pub(crate) spurious_wakeups: bool,
    pub(crate) weak_failures: bool,
    pub(crate) try_lock_failures: bool,
    pub(crate) notify_any: bool,
}

impl Capped {
    /// Adds what another execution was kept from.
    pub(crate) fn join(&mut self, other: Capped) {
        self.timeouts |= other.timeouts;
        self.spurious_wakeups |= other.spurious_wakeups;
        self.weak_failures |= other.weak_failures;
        self.try_lock_failures |= other.try_lock_failures;
        self.notify_any |= other.notify_any;
    }
}

/// An execution that did not just end well.
pub(crate) struct Trouble {
    pub(crate) stop: Stop,
    /// In a deadlock, what each task wants that has not ended.
    pub(crate) wanted: Vec<Operation>,
    pub(crate) scene: Scene,
    /// Whether the process may be damaged, so that nothing should follow.
    pub(crate) damaged: bool,
    /// A crash while the execution was cleared away.
    pub(crate) crash_cleared: Option<Crash>,
}

/// What a report needs of an execution: all in words, so that it outlives it.
pub(crate) struct Scene {
    /// Panics that ended their tasks, with their tasks' names.
    pub(crate) panics: Vec<(String, PanicNote)>,
    /// Tasks that had not ended and what each was waiting for.
    pub(crate) waiting: Vec<Waiting>,
    pub(crate) reported: Vec<Reported>,
    pub(crate) events: Vec<EventLine>,
    pub(crate) current: String,
    /// A thread that is not controlled and used objects of the execution.
    pub(crate) toucher: Option<String>,
    pub(crate) unlike: Unlike,
    pub(crate) choices: Vec<Choice>,
    /// What was taken for granted.
    pub(crate) premises: Premises,
}

/// Why an execution may do something else than the one before it did under the same choices.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unlike {
    /// It made hash tables of std, whose order is another each time.
    pub(crate) hash_tables: bool,
    /// Only the first execution of the exploration came before it: that one may have set up what it finds ready.
    pub(crate) follows_first: bool,
    /// The exploration has run no other: its schedule was recorded by an earlier one, and the test may have changed.
    pub(crate) is_first: bool,
}

/// A task that waits.
pub(crate) struct Waiting {
    pub(crate) task: String,
    pub(crate) op: SyncVarOp,
    pub(crate) var: String,
    pub(crate) site: String,
    /// Who holds the variable, and since where.
    pub(crate) owner: Option<(String, String)>,
    /// What it waits for in a loop, if that is what it does.
    pub(crate) awaited: Vec<AwaitedVar>,
}

/// A variable that a loop waits for, in words.
pub(crate) struct AwaitedVar {
    pub(crate) var: String,
    /// The value it has, if it is a number.
    pub(crate) value: Option<u64>,
    pub(crate) site: String,
}

/// An event in words.
pub(crate) struct EventLine {
    pub(crate) id: EventId,
    pub(crate) task: String,
    pub(crate) op: SyncVarOp,
    pub(crate) order: MemoryOrder,
    pub(crate) var: String,
    pub(crate) read: u64,
    pub(crate) written: u64,
    pub(crate) site: String,
    /// Whether it counts as not having happened.
    pub(crate) void: bool,
    /// Whether the task of the event before was preempted.
    pub(crate) preempts: bool,
}
