//! What an execution was: in figures, and in words if there is something to report.

use super::crash::Crash;
use super::listen::Reported;
use super::scope::Scoping;
use super::{PanicNote, Stop};
use crate::described::BreakpointFigures;
use crate::schedule::{Choice, Premises};
use crate::strategy::Operation;
use crate::trace::SoundReduction;
use intermezzo_sdk::{EventId, MemoryOrder, SyncVarOp};
use serde::{Deserialize, Serialize};

/// What an execution was, in the engine's own terms.
pub struct ExecutionOutcome {
    /// The number of steps.
    pub steps: u64,
    /// The number of switches between tasks.
    pub switches: u64,
    /// The number of tasks, the main one included.
    pub tasks: u32,
    /// Accesses to plain memory that look-alikes told of.
    pub plain_accesses: u64,
    /// The strongest reduction that suits what was seen so far.
    pub sound: SoundReduction,
    /// What tells its trace from others.
    pub fingerprint: u128,
    /// `true` if fairness kept a schedule out.
    pub unfair_left_out: bool,
    /// What bounds of the environment kept it from.
    pub capped: Capped,
    /// `true` if scoping did.
    pub scoping: Scoping,
    /// What became of the armed breakpoints.
    pub breakpoints: Vec<BreakpointFigures>,
    /// The number of times a task was parked because its loop waited in vain.
    pub parked: u32,
    /// How many rounds of loops came back to where they began, having only read, while a variable that they
    /// read was written: without them the execution would have shown the same.
    pub failed_iterations: u32,
    /// `true` if parked tasks went on because of what is not compared.
    pub unseen_change: bool,
    /// `true` if tasks that it left in the middle were unwound.
    pub unwound: bool,
    /// `true` if it did something else than was prescribed, or than the execution before under the same choices.
    pub departed: bool,
    /// `true` if it showed something that is to be taken for granted, that a loop only waits or that places race, and
    /// can be believed: the search has to start anew with that known.
    pub learned: bool,
    /// A thread that is not controlled and used objects of the execution.
    pub toucher: Option<String>,
    /// What there is to say if not every task just came to its end. Boxed, because it is rare, and large.
    pub trouble: Option<Box<Abnormal>>,
}

/// What the environment could have done, had its bounds been larger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capped {
    /// A wait that did not time out.
    pub timeouts: bool,
    /// A wait that did not wake spuriously.
    pub spurious_wakeups: bool,
    /// A weak exchange that did not fail spuriously.
    pub weak_failures: bool,
    /// A `try_lock` of a free lock that did not fail.
    pub try_lock_failures: bool,
    /// A `notify_one` that did not wake another waiter than the first.
    pub notify_any: bool,
}

impl Capped {
    /// Adds what another execution was kept from.
    pub fn join(&mut self, other: Capped) {
        self.timeouts |= other.timeouts;
        self.spurious_wakeups |= other.spurious_wakeups;
        self.weak_failures |= other.weak_failures;
        self.try_lock_failures |= other.try_lock_failures;
        self.notify_any |= other.notify_any;
    }
}

/// An execution that did not just end well.
pub struct Abnormal {
    /// Why the execution ended.
    pub stop: Stop,
    /// In a deadlock, what each task wants that has not ended.
    pub wanted: Vec<Operation>,
    /// What the tasks were doing then.
    pub scene: FailureContext,
    /// `true` if the process may be damaged, so that nothing should follow.
    pub damaged: bool,
    /// A crash while the execution was cleared away.
    pub crash_cleared: Option<Crash>,
}

/// What a report needs of an execution: all in words, so that it outlives it.
pub struct FailureContext {
    /// Panics that ended their tasks, with their tasks' names.
    pub panics: Vec<(String, PanicNote)>,
    /// Tasks that had not ended and what each was waiting for.
    pub waiting: Vec<Waiting>,
    /// What the monitors reported.
    pub reported: Vec<Reported>,
    /// The events, in order.
    pub events: Vec<EventLine>,
    /// The name of the task that ran last.
    pub current: String,
    /// A thread that is not controlled and used objects of the execution.
    pub toucher: Option<String>,
    /// Where the execution differs from the one it was to repeat.
    pub unlike: Unlike,
    /// The decisions that led here.
    pub choices: Vec<Choice>,
    /// What was taken for granted.
    pub premises: Premises,
}

/// Why an execution may do something else than the one before it did under the same choices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unlike {
    /// It made hash tables of std, whose order is another each time.
    pub hash_tables: bool,
    /// Only the first execution of the exploration came before it: that one may have set up what it finds ready.
    pub follows_first: bool,
    /// The exploration has run no other: its schedule was recorded by an earlier one, and the test may have changed.
    pub is_first: bool,
}

/// A task that waits.
pub struct Waiting {
    /// The name of the task.
    pub task: String,
    /// The operation it waits for.
    pub op: SyncVarOp,
    /// The name of the variable.
    pub var: String,
    /// Where in the source it waits, as `file:line:column`.
    pub site: String,
    /// Who holds the variable, and since where.
    pub owner: Option<(String, String)>,
    /// What it waits for in a loop, if that is what it does.
    pub awaited: Vec<AwaitedVar>,
}

/// A variable that a loop waits for, in words.
pub struct AwaitedVar {
    /// The name of the variable.
    pub var: String,
    /// The value it has, if it is a number.
    pub value: Option<u64>,
    /// Where in the source it was read, as `file:line:column`.
    pub site: String,
}

/// An event in words.
pub struct EventLine {
    /// The task, and which of its events this is.
    pub id: EventId,
    /// The name of the task.
    pub task: String,
    /// The operation.
    pub op: SyncVarOp,
    /// Its memory order.
    pub order: MemoryOrder,
    /// The name of the variable.
    pub var: String,
    /// The value read, or 0.
    pub read: u64,
    /// The value written, or 0.
    pub written: u64,
    /// Where in the source it was called, as `file:line:column`.
    pub site: String,
    /// `true` if it counts as not having happened.
    pub elided: bool,
    /// `true` if the task of the event before was preempted.
    pub preempts: bool,
}
