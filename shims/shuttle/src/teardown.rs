//! The end of an execution that leaves tasks unfinished: futures whose handles were dropped, for which it does not wait.
//!
//! It is a part of the execution, run by the test's own body once all other tasks have ended. So what goes wrong in a
//! destructor is found, and replayed, like anything else. Futures are dropped one after the other, in the order of their
//! creation, each as its own task. Those that are in the middle of a poll are held meanwhile, and afterwards their stacks are
//! unwound. A destructor that waits lets the next task go.
//!
//! Differs: the destructors of a stack that is unwound may wait, too.

use crate::left::{Abort, Left, Stage};
use crate::state::{self, with};
use crate::task_id::TaskId;
use intermezzo::thread::{Thread, current, park};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// Returns `true` if the execution is being torn down, or the last one was when it ended.
pub(crate) fn is_running() -> bool {
    with(|state| state.teardown.is_running)
}

/// Notes a future for which the execution does not wait.
pub(crate) fn leave(future: Arc<dyn Abort>) {
    let Some(task) = future.number() else { return };
    with(|state| {
        let left = &mut state.teardown.left;
        let at = left.partition_point(|other| other.task < task);
        let stage = match state.teardown.is_running {
            // It was aborted when it was created.
            true => Stage::Dropped,
            false => Stage::Running,
        };
        left.insert(at, Left { task, future, stage });
    });
}

/// Lets the other tasks go until each of them waits, or gives way as well.
pub(crate) fn give_way() {
    let round = with(|state| {
        state.teardown.giving_way.push(current());
        state.teardown.rounds
    });
    while with(|state| state.teardown.is_running && state.teardown.rounds == round) {
        park();
    }
}

/// Waits, in a task whose future is to be dropped, until those that were created before are.
pub(crate) fn await_turn() {
    let Some(me) = state::task() else { return };
    let has_to_wait = || {
        with(|state| {
            let mut left = state.teardown.left.iter();
            let is_next = |left: &Left| left.task == me && left.stage == Stage::Running;
            state.teardown.is_running && left.any(is_next)
        })
    };
    if has_to_wait() {
        with(|state| state.teardown.awaiting_turn.push((me, current())));
    }
    while has_to_wait() {
        park();
    }
}

/// Lets the tasks go that give way. Returns `true` if there are any.
fn next_round() -> bool {
    let tasks = with(|state| {
        state.teardown.rounds += 1;
        std::mem::take(&mut state.teardown.giving_way)
    });
    tasks.iter().for_each(Thread::unpark);
    !tasks.is_empty()
}

/// Calls a function of the test, as a task. Returns `None` if the task was withdrawn.
pub(crate) fn unless_withdrawn<T>(f: impl FnOnce() -> T) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(f));
    let was_withdrawn = intermezzo::end_withdrawal();
    match result {
        Ok(result) => Some(result),
        Err(payload) if was_withdrawn && intermezzo::is_withdrawal(&*payload) => None,
        Err(payload) => {
            state::note_payload(&*payload);
            resume_unwind(payload)
        }
    }
}

/// Returns the futures that have not ended.
fn unfinished() -> Vec<Left> {
    let all = with(|state| state.teardown.left.clone());
    all.into_iter()
        .filter(|left| !left.future.is_finished())
        .collect()
}

fn set_stage(task: TaskId, stage: Stage) {
    with(|state| {
        let left = state.teardown.left.iter_mut().find(|left| left.task == task);
        left.expect("it was left").stage = stage;
    });
}

/// Holds the futures in the middle of a poll, except for those that unwind: their panics count.
fn hold() {
    for Left { task, future, stage } in unfinished() {
        if stage == Stage::Running && future.is_polled() && intermezzo::hold(task.0 as u32) {
            set_stage(task, Stage::Held);
        }
    }
}

/// Drops the futures between two polls, one after the other. None of them runs on meanwhile.
fn abort() {
    let is_between = |left: &Left| left.stage == Stage::Running && !left.future.is_polled();
    let between: Vec<Left> = unfinished().into_iter().filter(is_between).collect();
    between.iter().for_each(|left| left.future.mark());
    for Left { task, future, .. } in between {
        set_stage(task, Stage::Dropped);
        let awaiting = with(|state| {
            let awaiting = &mut state.teardown.awaiting_turn;
            let at = awaiting.iter().position(|(other, _)| *other == task)?;
            Some(awaiting.swap_remove(at).1)
        });
        match awaiting {
            Some(awaiting) => awaiting.unpark(),
            None => future.wake(),
        }
        intermezzo::quiesce();
    }
}

/// Tears the execution down. Called at the end of the test's own body. Destructors that only yield may do so for this number
/// of rounds before a stack is unwound.
pub(crate) fn run(patience: usize) {
    // The body's end is a step of its own: futures that are left run until then.
    intermezzo::point();
    let has_work = with(|state| {
        let has_work = state.is_to_be_torn_down();
        state.teardown.later = (!has_work).then_some((finish, patience));
        has_work
    });
    if has_work {
        state::wait_for_attached();
        finish(patience);
    }
}

fn finish(patience: usize) {
    if with(|state| !state.teardown.left.is_empty()) {
        with(|state| {
            state.teardown.is_running = true;
            state.noted.set_torn_down(true);
        });
        drop_left(patience);
        with(|state| state.noted.set_torn_down(false));
    }
    state::drop_labels();
    with(|state| state.teardown.is_running = false);
}

fn drop_left(patience: usize) {
    let mut rounds = 0;
    loop {
        hold();
        abort();
        intermezzo::quiesce();
        // Those that have caught what they were unwinding from.
        hold();
        let left = unfinished();
        if left.is_empty() {
            // A task that has ended may still drop its thread-locals, or the payload of a panic.
            if next_round() {
                continue;
            }
            return;
        }
        if left
            .iter()
            .any(|left| left.stage == Stage::Running && !left.future.is_polled())
        {
            continue;
        }
        let any_gives_way = with(|state| !state.teardown.giving_way.is_empty());
        let held = left.iter().find(|left| left.stage == Stage::Held);
        if let Some(held) = held.filter(|_| !any_gives_way || rounds >= patience) {
            set_stage(held.task, Stage::Dropped);
            intermezzo::withdraw(held.task.0 as u32);
            rounds = 0;
        } else if next_round() {
            rounds += 1;
        } else {
            // None of them can continue: a deadlock, which is found here.
            park();
        }
    }
}
