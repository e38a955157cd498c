//! A model of semaphores and events: each operation is one step, and programs run in every order of their steps.

use crate::program::{OBJECTS, Op, Program};
use crate::records::{Outcomes, Records};
use std::collections::HashSet;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Moment {
    objects: [u8; OBJECTS],
    records: Records,
}

/// Returns the outcomes of all orders of the operations.
pub(crate) fn outcomes(program: &Program) -> Outcomes {
    let (mut outcomes, mut seen) = (Outcomes::default(), HashSet::new());
    let mut left = vec![Moment {
        objects: program.begin,
        records: vec![Vec::new(); program.tasks.len()],
    }];
    while let Some(moment) = left.pop() {
        if !seen.insert(moment.clone()) {
            continue;
        }
        let (mut stuck, mut ended) = (true, true);
        for (task, ops) in program.tasks.iter().enumerate() {
            let Some(op) = ops.get(moment.records[task].len()) else {
                continue;
            };
            ended = false;
            let mut next = moment.clone();
            if let Some(value) = perform(&mut next.objects, op) {
                stuck = false;
                next.records[task].push(value);
                left.push(next);
            }
        }
        // A task that is stuck in its first operation has no record, nor have those after it.
        let mut records = moment.records;
        if ended {
            outcomes.complete.insert(records);
        } else if stuck {
            while records.last().is_some_and(Vec::is_empty) {
                records.pop();
            }
            outcomes.stuck.insert(records);
        }
    }
    outcomes
}

/// Performs an operation and returns its value; `None` if it has to wait.
fn perform(objects: &mut [u8; OBJECTS], op: &Op) -> Option<u8> {
    let take = |objects: &mut [u8; OBJECTS], at: usize| match at % 3 {
        0 | 1 => objects[at] -= 1,
        _ => {}
    };
    match op {
        Op::Wait(at) => {
            (objects[*at] > 0).then(|| take(objects, *at))?;
        }
        Op::Try(at) => {
            let free = objects[*at] > 0;
            free.then(|| take(objects, *at));
            return Some(free.into());
        }
        Op::Put(at) if at % 3 == 0 => objects[*at] += 1,
        Op::Put(at) => objects[*at] = 1,
        Op::Reset(at) => objects[*at] = 0,
        Op::Look(at) => return Some(objects[*at]),
        Op::Any(list) => {
            let first = list.iter().position(|&at| objects[at] > 0)?;
            take(objects, list[first]);
            return Some(first as u8);
        }
        Op::All(list) => {
            list.iter().all(|&at| objects[at] > 0).then_some(())?;
            list.iter().for_each(|&at| take(objects, at));
        }
        Op::WaitWithin(_) | Op::AnyWithin(_) | Op::AllWithin(_) => unreachable!("the model has no time"),
    }
    Some(1)
}
