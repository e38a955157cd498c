//! Programs and their executions: by the engine, and with std in every order.

use crate::controlled::state::{Handles, Own, Shared};
use crate::ours::{self, Left, OwnExtra};
use crate::records::{Outcomes, Records, Take, record};
use crate::{Kind, controlled, plain};
use intermezzo_explorer::{Explorer, Report, thread};
use std::collections::BTreeSet;
use std::fmt;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};

/// The operations of each task, by their indices in the table of the kind.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) kind: Kind,
    pub(crate) tasks: Vec<Vec<usize>>,
}

impl Program {
    pub(crate) fn new(kind: Kind, tasks: Vec<Vec<usize>>) -> Program {
        Program { kind, tasks }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.kind)?;
        for task in &self.tasks {
            let names: Vec<_> = task.iter().map(|&at| controlled_op(self.kind, at).name).collect();
            write!(f, " [{}]", names.join("; "))?;
        }
        Ok(())
    }
}

fn controlled_op(kind: Kind, at: usize) -> &'static controlled::state::Op {
    let own = ours::of(kind);
    own.get(at)
        .unwrap_or_else(|| &controlled::tables::FLAG[at - own.len()])
}

fn plain_op(kind: plain::state::Kind, at: usize) -> &'static plain::state::Op {
    let own = plain::tables::of(kind);
    own.get(at)
        .unwrap_or_else(|| &plain::tables::FLAG[at - own.len()])
}

/// Explores a program. Returns the report, and the observations of its executions.
pub(crate) fn explore(program: &Program, explorer: Explorer) -> (Report, Outcomes) {
    let outcomes = Arc::new(Mutex::new(Outcomes::default()));
    let shared = outcomes.clone();
    let program = program.clone();
    let report = explorer
        .program("pairs")
        .monitor_with(move || Take(shared.clone()))
        .explore(move || execute(&program));
    let outcomes = outcomes.lock().unwrap().clone();
    (report, outcomes)
}

/// The operations of a program, and the objects that they use.
struct Running {
    program: Program,
    shared: Shared,
}

impl Running {
    /// Performs the operations of a task, and gives up what it has.
    fn perform(&self, task: usize, handles: Handles, extra: OwnExtra) {
        let mut own = Own::new(handles);
        own.extra = extra;
        for &at in &self.program.tasks[task] {
            let value = (controlled_op(self.program.kind, at).run)(&self.shared, &mut own);
            record(task, value);
        }
    }
}

fn execute(program: &Program) {
    let shared = Shared::new();
    let mut handles = Handles::of(program.kind, &shared, program.tasks.len());
    let running = Arc::new(Running {
        program: program.clone(),
        shared,
    });
    let known = thread::current();
    let others = handles.drain(1..).enumerate();
    let spawn = |(at, handles)| {
        let (running, other) = (running.clone(), Some(known.clone()));
        thread::spawn(move || {
            let result = Left::of_this_task();
            let extra = OwnExtra {
                other,
                ..OwnExtra::default()
            };
            running.perform(at + 1, handles, extra);
            result
        })
    };
    let mut tasks: Vec<_> = others.map(spawn).collect();
    let mut extra = OwnExtra {
        other: tasks.first().map(|task| task.thread().clone()),
        ..OwnExtra::default()
    };
    let joins = program.kind != Kind::Task;
    if !joins {
        extra.task = tasks.pop();
    }
    running.perform(0, handles.pop().expect("there is a first task"), extra);
    for task in tasks {
        // Its result is only for programs that give up handles.
        std::mem::forget(task.join().unwrap_or_else(|payload| resume_unwind(payload)));
    }
    if joins {
        for value in controlled::tables::left(&running.shared) {
            record(program.tasks.len(), value);
        }
    }
}

/// Returns the observations of all orders of the operations in which none waits. This thread alone runs them, with std. A
/// task gives up its objects in one step after its operations.
pub(crate) fn in_order(program: &Program) -> BTreeSet<Records> {
    let mut seen = BTreeSet::new();
    let lengths: Vec<usize> = program.tasks.iter().map(|ops| ops.len() + 1).collect();
    let mut order = Vec::new();
    orders(&mut lengths.clone(), &mut order, &mut |order| {
        seen.extend(perform_in_order(program, order))
    });
    seen
}

/// Calls a function with each order of this many steps of each task.
fn orders(left: &mut [usize], order: &mut Vec<usize>, tell: &mut impl FnMut(&[usize])) {
    if left.iter().all(|&left| left == 0) {
        return tell(order);
    }
    for task in 0..left.len() {
        if left[task] > 0 {
            left[task] -= 1;
            order.push(task);
            orders(left, order, tell);
            order.pop();
            left[task] += 1;
        }
    }
}

fn perform_in_order(program: &Program, order: &[usize]) -> Option<Records> {
    use plain::state::{Handles, Own, Shared};
    let kind = plain_kind(program.kind);
    let shared = Shared::new();
    let handles = Handles::of(kind, &shared, program.tasks.len());
    let mut owns: Vec<Option<Own<'_>>> = handles
        .into_iter()
        .map(|handles| Some(Own::new(handles)))
        .collect();
    let mut records = vec![Vec::new(); program.tasks.len() + 1];
    let mut next = vec![0; program.tasks.len()];
    for &task in order {
        match program.tasks[task].get(next[task]) {
            Some(&at) => {
                let own = owns[task].as_mut().expect("it has not ended");
                let op = plain_op(kind, at);
                if !(op.ready)(&shared, own) {
                    return None;
                }
                records[task].push((op.run)(&shared, own));
                next[task] += 1;
            }
            None => owns[task] = None,
        }
    }
    drop(owns);
    records[program.tasks.len()] = plain::tables::left(&shared);
    Some(records)
}

/// Returns the same kind of std's objects.
fn plain_kind(kind: Kind) -> plain::state::Kind {
    let same = plain::state::ALL
        .iter()
        .find(|same| format!("{same:?}") == format!("{kind:?}"));
    *same.expect("both have the same kinds")
}
