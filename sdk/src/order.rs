//! The happens-before order of an execution: program order, and the order of operations that do not commute.

use crate::{EventId, SyncVar, SyncVarAccess, SyncVarOp, TaskId, VectorClock};
use std::collections::HashMap;

/// The happens-before order of an execution, as it grows.
///
/// It holds the order of each task's own events, and that of any two operations on one variable of which at least one
/// writes: creation before beginning, end before join, release before acquisition. What all tasks did comes before
/// a [`Quiesce`](SyncVarOp::Quiesce). It is the order that the scheduler
/// saw, and not what a memory model promises: a relaxed store comes before a load that follows it. It may order more
/// than the traces of the search do, because the search also knows of operations that write and still commute.
#[derive(Debug, Default)]
pub struct HappensBefore {
    /// The clock of each event, in the order of execution.
    clocks: Vec<VectorClock>,
    /// The positions of each task's events in `clocks`.
    events: Vec<Vec<u32>>,
    /// The clock of each task's next event.
    tasks: Vec<VectorClock>,
    vars: HashMap<Key, Var>,
}

/// An ordered object: a variable, or one of the two aspects of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Var(SyncVar),
    Token(SyncVar),
}

#[derive(Debug, Default)]
struct Var {
    /// The clock of the last write, the write included.
    written: VectorClock,
    /// The joined clocks of all reads since the last write.
    read: VectorClock,
}

impl HappensBefore {
    /// Creates the order of no events.
    pub fn new() -> HappensBefore {
        HappensBefore::default()
    }

    /// Forgets all events.
    pub fn clear(&mut self) {
        *self = HappensBefore::default();
    }

    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.clocks.len()
    }

    /// `true` if there are no events.
    pub fn is_empty(&self) -> bool {
        self.clocks.is_empty()
    }

    /// Adds the next event of the execution.
    pub fn add(&mut self, access: &SyncVarAccess) {
        let task = access.event.task;
        let mut clock = std::mem::take(self.task(task));
        clock.set(task, access.event.index);
        let other = access.other_var();
        for var in [access.var, other]
            .into_iter()
            .filter(|var| *var != SyncVar::NONE)
        {
            // The token of `park` is separate from the life of its task.
            let token = matches!(access.op, SyncVarOp::Park | SyncVarOp::Unpark);
            let key = if token { Key::Token(var) } else { Key::Var(var) };
            let known = self.vars.entry(key).or_default();
            clock.join(&known.written);
            if access.op.is_write() {
                clock.join(&known.read);
                known.written.clone_from(&clock);
                known.read.clear();
            } else {
                known.read.join(&clock);
            }
        }
        match (access.op, access.other_task()) {
            (SyncVarOp::TaskFork, Some(child)) => self.task(child).join(&clock),
            (SyncVarOp::TaskJoin, Some(child)) => clock.join(&self.task(child).clone()),
            (SyncVarOp::Quiesce, _) => self.tasks.iter().for_each(|known| clock.join(known)),
            _ => {}
        }
        self.task(task).clone_from(&clock);
        self.events[task.index()].push(self.clocks.len() as u32);
        self.clocks.push(clock);
    }

    fn task(&mut self, task: TaskId) -> &mut VectorClock {
        if self.tasks.len() <= task.index() {
            self.tasks.resize_with(task.index() + 1, VectorClock::new);
            self.events.resize_with(task.index() + 1, Vec::new);
        }
        &mut self.tasks[task.index()]
    }

    /// Returns what an event knows, itself included; `None` if there is no such event.
    pub fn clock(&self, event: EventId) -> Option<&VectorClock> {
        let events = self.events.get(event.task.index())?;
        let at = events.get((event.index as usize).checked_sub(1)?)?;
        Some(&self.clocks[*at as usize])
    }

    /// `true` if `a` comes before `b`. An event does not come before itself, and a missing event comes before none.
    pub fn before(&self, a: EventId, b: EventId) -> bool {
        a != b && a.index > 0 && self.clock(b).is_some_and(|clock| clock.knows(a))
    }
}
