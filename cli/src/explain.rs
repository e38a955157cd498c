//! `explain`: what a kind of finding means, why it is one, and what to do about it.

use crate::args::ExplainArgs;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use intermezzo::report::lines;
use intermezzo::sdk::FindingKind;
use serde::Serialize;

/// An explanation in JSON.
#[derive(Serialize)]
struct ExplainJson {
    kind: String,
    meaning: &'static str,
    why: &'static str,
    next: &'static str,
}

/// Explains a kind of finding, or lists all.
pub(crate) fn run(args: &ExplainArgs) -> Result<Exit, Problem> {
    let all = FindingKind::ALL.iter().map(explanation);
    let Some(wanted) = &args.kind else {
        let all: Vec<ExplainJson> = all.collect();
        match args.json {
            true => output::json(&all)?,
            false => {
                let rows = all
                    .iter()
                    .map(|one| vec![one.kind.clone(), one.meaning.to_owned()]);
                output::text(&output::table(&rows.collect::<Vec<_>>()))?;
            }
        }
        return Ok(Exit::Pass);
    };
    let word = wanted.replace('-', "_");
    let Some(kind) = FindingKind::from_name(&word).filter(|kind| FindingKind::ALL.contains(kind)) else {
        let known: Vec<String> = FindingKind::ALL
            .iter()
            .map(|kind| kind.as_str().into_owned())
            .collect();
        return Err(Problem::usage(format!(
            "there is no kind of finding {wanted:?}: give one of {}; the kinds of plugins are explained by their authors",
            known.join(", ")
        )));
    };
    let told = explanation(&kind);
    if args.json {
        output::json(&told)?;
        return Ok(Exit::Pass);
    }
    let style = output::style();
    let mut text = format!("{}: {}\n", told.kind, told.meaning);
    for part in [told.why, told.next] {
        text.push('\n');
        text.push_str(&lines::wrap(part, style.columns(), 0, 0).join("\n"));
        text.push('\n');
    }
    output::text(&text)?;
    Ok(Exit::Pass)
}

fn explanation(kind: &FindingKind) -> ExplainJson {
    let (meaning, why, next) = words(kind);
    ExplainJson {
        kind: kind.as_str().into_owned(),
        meaning,
        why,
        next,
    }
}

/// Returns the meaning of the kind, why it is a finding, and what to do.
fn words(kind: &FindingKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        FindingKind::Assertion => (
            "an assertion of the test or of the code failed",
            "The asserted condition does not hold under some order of the tasks' operations, or under weak memory after a load \
             of an older value.",
            "Read the turning point: it names two operations that pass in the other order. Make them one step (a lock around \
             both, a compare-exchange instead of a load and a store), or correct the assertion if both orders are right. \
             Under weak memory there is no turning point: `stale` says which load returned an older value, and `help` which \
             orderings fix it.",
        ),
        FindingKind::Panic => (
            "a task panicked, but not because of an assertion",
            "In this order of operations an `unwrap`, an index or an arithmetic operation fails.",
            "Look at the place of the panic and at what happened before it: the last operations of the other tasks wrote the \
             value that caused it. If the panic is intended, declare it: `#[intermezzo::test(expect(panic))]`.",
        ),
        FindingKind::Deadlock => (
            "no task can continue",
            "Each task that has not ended waits for something that only a waiting task could do.",
            "For locks: take them in the same order everywhere, or hold one at a time. For a condition variable or a park: \
             look for the notification that came before the wait began, and check the condition under the lock in a loop.",
        ),
        FindingKind::Livelock => (
            "tasks loop for ever, although each gives way",
            "Each task keeps waiting for another one or undoing its work, so none makes progress.",
            "Let one of the tasks win: an order of priorities, a back-off that differs between them, or a lock.",
        ),
        FindingKind::UnfairSpin => (
            "a loop waits without yielding",
            "The loop ends only if another task runs, but it never gives way, so it depends on a fair scheduler.",
            "Call `std::hint::spin_loop` or `thread::yield_now` in the loop, or block instead.",
        ),
        FindingKind::DataRace => (
            "two accesses to the same memory, at least one a write, with no order between them",
            "This is undefined behaviour in Rust, whatever the values are: no synchronisation orders the two accesses.",
            "Order them: release and acquire on the atomic that publishes the data, a lock, or a join. A `Relaxed` store and \
             load order nothing.",
        ),
        FindingKind::StaleLoad => (
            "a load could return an older value on a machine with store buffers",
            "Executions here are sequentially consistent. On x86 and ARM a store may become visible after a later load of \
             the same task, so two tasks can both miss the other's store.",
            "Use `SeqCst` for both the stores and the loads, or a `SeqCst` fence between store and load in each task.",
        ),
        FindingKind::Atomicity => (
            "another task's operation comes within a block of operations, with no equivalent serial order",
            "The code looks as if the block were one step, but it is not.",
            "Hold one lock for the whole block, or use one atomic operation. If the interruption is harmless, leave the \
             monitor `atomicity` out for this test.",
        ),
        FindingKind::LockOrder => (
            "locks are taken in an order that has a cycle",
            "Two tasks that take these locks at the same time can wait for each other for ever, even if no execution here did.",
            "Take the locks in one order everywhere.",
        ),
        FindingKind::Leak => (
            "something was never released",
            "When the execution ends, there is memory, a lock or a task that nothing can release any more.",
            "Look for the handle that was not dropped: often a cycle of `Arc`s, or a `ManuallyDrop` or raw pointer that no task \
             owns in this order.",
        ),
        FindingKind::Refinement => (
            "an object did something that its specification does not allow",
            "The concurrent operations returned results that they cannot return one at a time, in any order.",
            "Read the timeline: operations that overlap may come in either order, others may not. The execution below it \
             shows the steps inside the operations.",
        ),
        FindingKind::NondeterministicSpec => (
            "the specification has two outcomes for one call",
            "A specification is run one call at a time and must give one result for the same calls.",
            "Remove the cause of the difference: random numbers, the clock, the order of a hash map; or compare with a model that \
             allows both.",
        ),
        FindingKind::Determinism => (
            "a deterministic test returned different values",
            "The result depends on the order of the tasks' operations. Both values are right only if the test may return \
             either.",
            "Replay both schedules of the failure, and find where the executions diverge: the turning point names the two \
             operations whose order decides. If the order is allowed to decide, return a value that does not depend on it, such \
             as a sum or a sorted list.",
        ),
        FindingKind::Crash => (
            "a signal ended the execution: a segmentation fault, an abort, a stack overflow",
            "Unsafe code used memory that is not there or not its own, or the program called abort.",
            "Replay it with the schedule, under a debugger if need be. For a stack overflow without deep recursion, raise \
             the setting `stack`.",
        ),
        FindingKind::Divergence => (
            "an execution departed from its schedule",
            "The test did something else under the same choices: it was changed since, or depends on something that is not \
             controlled (time, random numbers, addresses, the order of a hash map, real threads).",
            "Run the search again if the code was changed. Otherwise replace the uncontrolled part by intermezzo's types, or \
             remove it from the test.",
        ),
        FindingKind::StepLimit => (
            "an execution longer than its limit of steps",
            "The test does not end within the limit `steps`, so there is no verdict on it.",
            "Make the test smaller, or raise `steps`. If a loop waits for another task, let it yield.",
        ),
        FindingKind::Misuse => (
            "a use of the tool, or of a synchronisation primitive, that cannot work",
            "The message names the call and the reason.",
            "Change the call as the message says.",
        ),
        FindingKind::Hang => (
            "a task runs for too long without a visible operation, or is blocked by something uncontrolled; or the execution \
             takes longer than it may",
            "The explorer controls operations of intermezzo's types only. A real lock, a real channel or a system call \
             blocks the whole execution.",
            "Replace the `std` type that it waits for by intermezzo's, or raise the setting `hang` for a long computation \
             (for a whole execution, its member `execution`).",
        ),
        kind => unreachable!("{kind} is not one of intermezzo's own kinds"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kind without an explanation would panic.
    #[test]
    fn every_kind_is_explained_in_sentences() {
        for kind in &FindingKind::ALL {
            let told = explanation(kind);
            assert!(!told.meaning.ends_with('.'), "{}", told.kind);
            assert!(
                told.why.ends_with('.') && told.next.ends_with('.'),
                "{}",
                told.kind
            );
        }
    }
}
