//! Traces, identified without the engine: executions up to the order of operations that commute.
//!
//! A trace is written variable by variable, as the sequence of its touches in which commuting neighbours are in the
//! order of their tasks. It contains no names of variables: a variable is identified by its operations.

use intermezzo::sdk::{Context, EventId, Execution, SyncVar, SyncVarAccess, SyncVarOp, TaskId};
use std::collections::{BTreeMap, BTreeSet};

/// The trace of an execution.
pub(crate) type Trace = BTreeSet<Vec<Touch>>;

/// A touch of an operation's variable: its class, its task, its index in the task, and its value.
type Touch = (Class, String, u32, u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Class {
    Write,
    Read,
    Share,
    Add,
    /// The value that a task chose, which concerns no other task.
    Own,
}

fn class(access: &SyncVarAccess) -> Option<Class> {
    use SyncVarOp::*;
    Some(match access.op {
        Fence | Yield | Sleep => return None,
        Choice => Class::Own,
        SharedAcquire | SharedTryAcquire | SharedRelease => Class::Share,
        CountDown if access.written == 0 => Class::Write,
        CountUp | CountDown | Unpark | TaskEnd | ChannelClose => Class::Add,
        CondvarWake if access.read == 1 => Class::Write,
        TimeOut => Class::Write,
        BarrierPass | CondvarWake => Class::Read,
        op if op.is_write() => Class::Write,
        _ => Class::Read,
    })
}

/// An object of touches: a variable, the token of a task's `park`, or a task's own choices.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Thing {
    Var(SyncVar),
    Token(SyncVar),
    Own(TaskId),
}

/// Returns the trace of this execution.
pub(crate) fn of(execution: &Execution<'_>, cx: &Context<'_>) -> Trace {
    let mut things: BTreeMap<Thing, Vec<Touch>> = BTreeMap::new();
    for access in execution.accesses {
        let Some(class) = class(access) else { continue };
        let EventId { task, index } = access.event;
        let token = matches!(access.op, SyncVarOp::Park | SyncVarOp::Unpark);
        let chosen = if class == Class::Own { access.read } else { 0 };
        for var in [access.var, access.other_var()] {
            let thing = match (class, var) {
                (Class::Own, _) => Thing::Own(task),
                (_, SyncVar::NONE) => continue,
                _ if token => Thing::Token(var),
                _ => Thing::Var(var),
            };
            let touch = (class, cx.task_name(task), index, chosen);
            things.entry(thing).or_default().push(touch);
        }
    }
    let sorted = things.into_values().map(|mut touches| {
        for neighbours in touches.chunk_by_mut(|a, b| a.0 == b.0 && a.0 != Class::Write) {
            neighbours.sort();
        }
        touches
    });
    sorted.collect()
}
