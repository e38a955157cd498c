//! The outcome of an execution: in figures, and as text if there is something to report.

use super::crash::Crash;
use super::listen::Reported;
use super::scope::Scoping;
use super::{CutOffExecution, Layout, PanicNote, Stop};
use crate::described::{BreakpointFigures, FindingEvent};
use crate::memory_model::ExecutionGraph;
use crate::schedule::{Choice, Premises};
use crate::serial::{Deserialize, Serialize};
use crate::strategy::Operation;
use crate::trace::SoundReduction;
use intermezzo_sdk::SyncVarOp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The outcome of an execution, in the engine's own terms.
pub struct ExecutionOutcome {
    /// The number of steps.
    pub steps: u64,
    /// The number of switches between tasks.
    pub switches: u64,
    /// The number of tasks, the main one included.
    pub tasks: u32,
    /// The number of accesses to plain memory that look-alikes reported.
    pub plain_accesses: u64,
    /// `true` if two tasks used one object, in this execution or an earlier one.
    pub shares: bool,
    /// The strongest reduction that is sound for all executions so far.
    pub sound: SoundReduction,
    /// The fingerprint of its trace.
    pub fingerprint: u128,
    /// `true` if fairness excluded a schedule.
    pub unfair_left_out: bool,
    /// The actions that the environment's bounds prevented.
    pub capped: Capped,
    /// The effects of scoping.
    pub scoping: Scoping,
    /// The figures of the armed breakpoints.
    pub breakpoints: Vec<BreakpointFigures>,
    /// The number of times a task was parked after a failed round of its loop.
    pub parked: u32,
    /// The number of failed rounds during which a variable that they had read was written. Without these rounds the
    /// execution would have shown the same.
    pub failed_iterations: u32,
    /// `true` if parked tasks continued because of a change that is not observed.
    pub unseen_change: bool,
    /// `true` if unfinished tasks were unwound.
    pub unwound: bool,
    /// `true` if it departed from its prescribed choices, or from the execution before under the same choices.
    pub departed: bool,
    /// `true` if it justifies a new assumption: that a loop only waits, or that places race. The search has to restart
    /// with it.
    pub learned: bool,
    /// Set if it was cut off while it ran. It then does not count, and must be run again.
    pub cut_off: Option<Box<CutOffExecution>>,
    /// The name of an uncontrolled thread that used objects of the execution.
    pub toucher: Option<String>,
    /// The details, if there is something to report about how the execution ended. Boxed, because this is rare and
    /// large.
    pub trouble: Option<Box<Abnormal>>,
}

/// The actions that the environment's bounds prevented.
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
    /// An allocation that did not get the address of memory that was freed.
    #[serde(default)]
    pub address_reuse: bool,
    /// A read of a store once more after a newer one was there.
    #[serde(default)]
    pub stale_reads: bool,
    /// Without a memory model, an operation on an atomic with an ordering weaker than `SeqCst`.
    #[serde(default)]
    pub weaker_orders: bool,
    /// The ordering of all tasks by a barrier of the system, such as `membarrier`, which memory models do not know.
    #[serde(default)]
    pub barriers: bool,
    /// Processors on which a compiler fence after a read-modify-write does not act as a fence.
    #[serde(default)]
    pub compiler_fences: bool,
    /// Accesses of inline assembly to memory.
    #[serde(default)]
    pub assembly: bool,
    /// A panic payload that was not dropped by another task.
    #[serde(default)]
    pub payloads: bool,
    /// A writer that waits for a reader-writer lock and did not keep out a reader.
    #[serde(default)]
    pub waiting_writers: bool,
    /// Further rounds of tasks that the test has left running.
    #[serde(default)]
    pub left_over: bool,
    /// A first step of another task of a symmetric group.
    #[serde(default)]
    pub symmetric: bool,
    /// The same in a group whose tasks may differ.
    #[serde(default)]
    pub asymmetric: bool,
}

impl Capped {
    /// Adds the prevented actions of another execution.
    pub fn join(&mut self, other: Capped) {
        self.timeouts |= other.timeouts;
        self.spurious_wakeups |= other.spurious_wakeups;
        self.weak_failures |= other.weak_failures;
        self.try_lock_failures |= other.try_lock_failures;
        self.notify_any |= other.notify_any;
        self.address_reuse |= other.address_reuse;
        self.stale_reads |= other.stale_reads;
        self.weaker_orders |= other.weaker_orders;
        self.barriers |= other.barriers;
        self.compiler_fences |= other.compiler_fences;
        self.assembly |= other.assembly;
        self.payloads |= other.payloads;
        self.waiting_writers |= other.waiting_writers;
        self.left_over |= other.left_over;
        self.symmetric |= other.symmetric;
        self.asymmetric |= other.asymmetric;
    }
}

/// The details of an execution about which there is something to report.
pub struct Abnormal {
    /// The reason why the execution ended.
    pub stop: Stop,
    /// In a deadlock, the next operation of each task that has not ended.
    pub wanted: Vec<Operation>,
    /// The description of the execution at that moment.
    pub scene: FailureContext,
    /// `true` if the process may be damaged, so that nothing else should run.
    pub damaged: bool,
    /// A crash during the teardown of the execution.
    pub crash_cleared: Option<Crash>,
}

/// The data of an execution that a report needs, all as text, so that it outlives the execution.
#[derive(Default)]
pub struct FailureContext {
    /// The panics that ended their tasks, with their tasks' names.
    pub panics: Vec<(String, PanicNote)>,
    /// The tasks that had not ended, with the operations that they waited for.
    pub waiting: Vec<Waiting>,
    /// The reports of the monitors.
    pub reported: Vec<Reported>,
    /// The events, in order.
    pub events: Vec<FindingEvent>,
    /// The names that the test gave its variables, by their identities.
    pub given_names: BTreeMap<String, String>,
    /// The places of its variables in memory.
    pub layout: Layout,
    /// The execution graph, under a memory model.
    pub graph: Option<Arc<ExecutionGraph>>,
    /// The name of the task that ran last.
    pub current: String,
    /// The name of an uncontrolled thread that used objects of the execution.
    pub toucher: Option<String>,
    /// Possible reasons why the execution differs from the one it should repeat.
    pub unlike: Unlike,
    /// The decisions that led here.
    pub choices: Vec<Choice>,
    /// The assumptions of the execution.
    pub premises: Premises,
}

/// Possible reasons why an execution differs from the previous one under the same choices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unlike {
    /// It created hash tables of std, whose order is different each time.
    pub hash_tables: bool,
    /// Only the first execution of the exploration preceded it, which may have set up state that this one found.
    pub follows_first: bool,
    /// The exploration has run no other: an earlier one recorded its schedule, and the test may have changed.
    pub is_first: bool,
    /// The test was not written for intermezzo.
    pub unmodified: bool,
    /// It called the system: to read, to write or to wait.
    pub calls_system: bool,
}

/// A task that waits.
pub struct Waiting {
    /// The name of the task.
    pub task: String,
    /// The operation it waits for.
    pub op: SyncVarOp,
    /// The name of the variable.
    pub var: String,
    /// The place in the source where it waits, as `file:line:column`.
    pub site: String,
    /// The holder of the variable, and the place where it took it.
    pub owner: Option<(String, String)>,
    /// The variables that it waits for, if it waits in a loop.
    pub awaited: Vec<AwaitedVar>,
}

/// A variable that a loop waits for, as text.
pub struct AwaitedVar {
    /// The name of the variable.
    pub var: String,
    /// Its value, if it is a number.
    pub value: Option<u64>,
    /// The place in the source where it was read, as `file:line:column`.
    pub site: String,
}
