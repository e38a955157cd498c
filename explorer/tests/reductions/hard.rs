//! Programs that are difficult for reductions, each for its own reason, with every reduction.

use crate::adversities;
use crate::program::Op::{self, *};
use crate::program::Program;
use crate::{Expected, compare_all};

/// The maximum numbers of interleavings of a program, and of executions in an adversarial environment. A few have more
/// there, and are left out.
const INTERLEAVINGS_MAX: u64 = 20_000;
const EXECUTIONS_MAX: u64 = 5_000;

fn failures(programs: &[&[&[Op]]]) -> Vec<String> {
    let mut failures = Vec::new();
    for tasks in programs {
        let program = Program(tasks.iter().map(|ops| ops.to_vec()).collect());
        let expected = Expected::of(&program, INTERLEAVINGS_MAX).expect("it is small");
        if let Err(problem) = compare_all(&program, &expected) {
            failures.push(format!("{program:?}: {problem}"));
        }
        if let Some(Err(problem)) = adversities::compare_all(&program, adversities::ADVERSE, EXECUTIONS_MAX) {
            failures.push(format!("{program:?}, in an adverse environment: {problem}"));
        }
    }
    failures
}

#[track_caller]
fn check(programs: &[&[&[Op]]]) {
    let failures = failures(programs);
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn values_are_chosen_in_steps() {
    check(&[
        // The value is chosen before the first decision about tasks.
        &[&[Spawn(1), Store(0, 1)], &[Choose, Store(1, 1)]],
        // The next operation of a task depends on a value that was chosen in a step of another.
        &[
            &[Spawn(1)],
            &[Spawn(2), Load(1)],
            &[Load(0), Choose, OnlyIf(1), Store(1, 0)],
        ],
        &[
            &[Spawn(1), IsFinished(1)],
            &[Spawn(2), Load(0), Choose, Store(0, 1)],
            &[Load(0)],
        ],
        // A sequence to be tried is valid for one of the values that its steps choose.
        &[
            &[Spawn(1), Spawn(2), Load(1)],
            &[Store(0, 1), Choose, Store(1, 1)],
            &[Load(1)],
        ],
        // Two values in one step, by two tasks: one joins the other.
        &[&[Spawn(1), Join(1), Choose, Store(0, 1)], &[Load(0), Choose]],
    ]);
}

#[test]
fn ends_are_checked() {
    check(&[
        &[
            &[Spawn(1), Spawn(2), IsFinished(2)],
            &[Load(1)],
            &[Load(0), Store(1, 1)],
        ],
        &[
            &[Spawn(1), Spawn(3), IsFinished(3)],
            &[Load(0)],
            &[],
            &[Send(0, 0), Store(0, 0)],
        ],
        // An end is part of the step before it, and other tasks may check it.
        &[&[Spawn(1), IsFinished(1)], &[Store(0, 1), Spawn(2)], &[NotifyAll]],
        &[&[Spawn(1), Spawn(2), IsFinished(2)], &[Park], &[Unpark(1)]],
        &[
            &[Spawn(1), Spawn(2), Load(0), IsFinished(2), IsFinished(1)],
            &[Store(0, 1), Exchange(0, 0, 2)],
            &[Store(1, 0)],
        ],
        // A task that ends in its creator's step.
        &[&[Store(0, 1), Spawn(1), IsFinished(1), Join(1)], &[]],
    ]);
}

#[test]
fn tasks_are_created_and_joined_in_steps() {
    check(&[
        // Tasks of one scope that are created concurrently: their order is unspecified.
        &[&[Spawn(2), Store(0, 1), Spawn(1)], &[], &[Lock(0), Spawn(3)], &[]],
        // A task begins in its creator's step, and a joining task continues in the step of the joined one.
        &[
            &[Spawn(2), Load(1), Spawn(1), Join(2)],
            &[Store(0, 1)],
            &[Store(1, 0), Store(0, 0)],
        ],
        &[
            &[Spawn(1), Store(0, 1), IsFinished(1)],
            &[Spawn(2), Store(1, 1), Join(2)],
            &[Load(0)],
        ],
        &[
            &[Spawn(1), Spawn(2), Load(1), Join(1)],
            &[Load(1)],
            &[Store(1, 1)],
        ],
        &[
            &[Spawn(1), Spawn(3), Load(0)],
            &[Spawn(2), Lock(0)],
            &[Lock(0)],
            &[Store(0, 1)],
        ],
    ]);
}

/// Two tasks that create one each: the number of each created task depends on the schedule. Within a bound it matters
/// which of them continues for free.
#[test]
fn tasks_are_created_by_several() {
    let ops = [Load(0), Store(0, 1), Store(1, 1)];
    let pairs: Vec<[Op; 2]> = ops.iter().flat_map(|&a| ops.map(|b| [a, b])).collect();
    let mut programs = Vec::new();
    for first in ops {
        for (number, one) in pairs.iter().enumerate() {
            let other = pairs[(number * 5 + 3) % pairs.len()];
            programs.push([
                vec![Spawn(1), first, Spawn(2)],
                vec![Load(1), Spawn(3)],
                one.to_vec(),
                other.to_vec(),
            ]);
        }
    }
    let programs: Vec<Vec<&[Op]>> = programs
        .iter()
        .map(|tasks| tasks.iter().map(|ops| &ops[..]).collect())
        .collect();
    let programs: Vec<&[&[Op]]> = programs.iter().map(|tasks| &tasks[..]).collect();
    check(&programs);
}

#[test]
fn waiters_are_woken() {
    check(&[
        &[
            &[Spawn(1), Spawn(2), NotifyAll],
            &[Lock(0)],
            &[Store(0, 0), Lock(0), NotifyOne],
        ],
        // The task that waits first is woken first.
        &[
            &[Spawn(1), Spawn(2), NotifyOne],
            &[Lock(0), Wait],
            &[Lock(1), Wait],
        ],
        // All are woken in one step, in an order without meaning: the numbers of the tasks depend on steps that
        // commute.
        &[
            &[Spawn(1), Store(0, 1), Spawn(2), Lock(1), NotifyAll],
            &[Store(1, 1), Spawn(3)],
            &[Lock(0), Wait],
            &[Lock(0), Wait],
        ],
        // Waiting releases the mutex: an attempt to lock it in between can observe that.
        &[&[Spawn(1), TryLock(0), Release, NotifyOne], &[Lock(0), Wait]],
    ]);
}

#[test]
fn tokens_are_left() {
    check(&[
        &[&[Spawn(1), Spawn(2), Unpark(1)], &[Park], &[Unpark(1)]],
        // Two tokens are one, unless it is taken in between.
        &[
            &[Spawn(1), Spawn(2), Unpark(1)],
            &[Park, Store(0, 1), Park],
            &[Unpark(1), Load(0)],
        ],
    ]);
}

#[test]
fn channels_close() {
    check(&[
        &[&[Spawn(1), Close(0)], &[Load(0), Receive(0)]],
        // The order of steps that otherwise commute decides which task is the last to close its sender.
        &[
            &[Spawn(1), Spawn(2), Receive(0)],
            &[Store(0, 1), Close(0)],
            &[Store(1, 1), Close(0)],
        ],
        // A sender is dropped in the step before.
        &[
            &[Spawn(1), Spawn(3), Spawn(2)],
            &[Store(1, 0), Close(1)],
            &[Send(1, 2)],
            &[Send(0, 2), Load(1)],
        ],
        &[
            &[Spawn(1), Send(1, 0), Spawn(2), Close(0)],
            &[TryReceive(1), Send(0, 2)],
            &[Load(0)],
        ],
        // Whether the receiver finds the channel empty or closed depends on the sender that has not closed yet.
        &[&[Spawn(1), Close(0)], &[Close(0), TryReceive(0)]],
        // A message goes in when another comes out.
        &[
            &[Spawn(1), Spawn(2), Receive(1)],
            &[Send(1, 1)],
            &[Send(1, 2), Send(1, 0)],
        ],
    ]);
}

#[test]
fn locks_are_tried() {
    check(&[
        &[&[Spawn(1), Spawn(2), IsFinished(2)], &[TryLock(1)], &[Lock(1)]],
        // Readers come and go together; a writer's attempt can observe whether one is there.
        &[
            &[Spawn(1), Spawn(2), TryWrite, Release],
            &[Read, Release],
            &[Read, Release],
        ],
        &[
            &[Spawn(1), Spawn(2), Write],
            &[Read, Load(0), Release],
            &[Read, Store(0, 1), Release],
        ],
        // A deadlock that shows in one order only, after steps that commute.
        &[
            &[Spawn(1), Spawn(2), Load(0)],
            &[Lock(0), Lock(1)],
            &[Lock(1), Lock(0)],
        ],
        // A writer that could have come before two reads of one task, but not between them.
        &[&[Spawn(1), Read, Read], &[Write]],
        &[&[Spawn(2), Spawn(3), IsFinished(2)], &[], &[Write], &[TryWrite]],
        // A task that waits for itself.
        &[&[Spawn(1), Write, Read], &[Read, Store(0, 1)]],
    ]);
}

#[test]
fn one_task_writes_and_others_read() {
    // With source sets alone, some executions of this program end asleep.
    check(&[
        &[
            &[Spawn(1), Spawn(2), Spawn(3), Load(0), OnlyIf(0), Load(1)],
            &[Store(0, 1)],
            &[Load(0), Store(1, 1)],
            &[Load(1), OnlyIf(1), Store(0, 2)],
        ],
        &[
            &[Spawn(1), Spawn(2), Spawn(3), Store(0, 1)],
            &[Load(1), Store(1, 1)],
            &[Load(0)],
            &[Load(0), OnlyIf(1), Store(1, 2)],
        ],
    ]);
}

#[test]
fn waits_end_early() {
    check(&[
        &[&[Spawn(2), Load(0)], &[], &[Park]],
        &[&[Spawn(1), Lock(0)], &[Lock(0), Wait]],
        &[&[Spawn(1), NotifyOne], &[Load(0), Lock(0), Wait]],
        &[&[Spawn(1), Store(0, 1)], &[Choose, Lock(0), Wait]],
        &[&[Spawn(1), Send(0, 1)], &[Load(0), Receive(0), TryReceive(0)]],
    ]);
}

#[test]
fn tasks_are_created_in_an_order_that_depends_on_the_schedule() {
    check(&[&[
        &[Spawn(1), Load(5), Spawn(3)],
        &[Store(2, 1), Spawn(2), Claim(2)],
        &[Claim(0), Claim(0)],
        &[],
    ]]);
}
