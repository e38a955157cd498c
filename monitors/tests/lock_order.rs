//! Lock orders written by hand: each ring, and its fixed twin.

use intermezzo_monitors::LockOrder;
use intermezzo_sdk::testing::Script;
use intermezzo_sdk::{FindingKind, MemoryOrder, Severity, SyncVar, SyncVarOp, TaskId};

fn messages(script: &Script) -> Vec<String> {
    let reports = script.play(&mut LockOrder::new());
    for report in &reports {
        assert_eq!(
            (&report.kind, report.severity),
            (&FindingKind::LockOrder, Severity::Error)
        );
        assert!(report.suggestion.is_some() && !report.events.is_empty());
    }
    reports.into_iter().map(|report| report.message).collect()
}

/// Takes these locks in this order, and gives them back.
fn nest(script: &mut Script, task: TaskId, locks: &[SyncVar]) {
    for lock in locks {
        script.lock(task, *lock);
    }
    for lock in locks.iter().rev() {
        script.unlock(task, *lock);
    }
}

fn two_tasks() -> (Script, [TaskId; 2]) {
    let mut script = Script::new();
    let tasks = [script.fork(Script::MAIN), script.fork(Script::MAIN)];
    (script, tasks)
}

fn vars<const N: usize>(script: &mut Script, names: [&str; N]) -> [SyncVar; N] {
    names.map(|name| script.var(name))
}

#[test]
fn opposite_orders_are_a_ring_and_equal_ones_are_not() {
    let (mut script, [one, other]) = two_tasks();
    let [a, b] = vars(&mut script, ["a", "b"]);
    nest(&mut script, one, &[a, b]);
    let fixed = {
        let mut script = script.clone();
        nest(&mut script, other, &[a, b]);
        script
    };
    nest(&mut script, other, &[b, a]);
    assert_eq!(
        messages(&script),
        [
            "possible deadlock: task 1 holds a (taken at script:5) and takes b at script:6 (held by task 2); task 2 holds \
             b (taken at script:9) and takes a at script:10 (held by task 1)"
        ]
    );
    assert!(messages(&fixed).is_empty());
    // In a warning's words.
    let warned = script.play(&mut LockOrder::with_arguments("severity=warning").unwrap());
    assert_eq!(warned[0].severity, Severity::Warning);
    assert_eq!(
        LockOrder::with_arguments("severity=loud").unwrap_err(),
        "lock-order: severity=loud: give error or warning"
    );
    // A repetition is the same finding; each execution is judged by itself.
    nest(&mut script, one, &[a, b]);
    assert_eq!(messages(&script).len(), 2, "at two places");
    let both = Script::play_all([&fixed, &fixed], &mut LockOrder::new());
    assert!(both.is_empty());
}

#[test]
fn one_task_alone_cannot_deadlock_with_itself() {
    let (mut script, [one, _]) = two_tasks();
    let [a, b] = vars(&mut script, ["a", "b"]);
    nest(&mut script, one, &[a, b]);
    nest(&mut script, one, &[b, a]);
    assert!(messages(&script).is_empty());
}

#[test]
fn a_gate_lets_only_one_in() {
    let (mut script, [one, other]) = two_tasks();
    let [gate, a, b] = vars(&mut script, ["gate", "a", "b"]);
    nest(&mut script, one, &[gate, a, b]);
    nest(&mut script, other, &[gate, b, a]);
    assert!(messages(&script).is_empty());
    // But not one of which both have a share.
    let (mut script, tasks) = two_tasks();
    let [gate, a, b] = vars(&mut script, ["gate", "a", "b"]);
    for (task, locks) in tasks.into_iter().zip([[a, b], [b, a]]) {
        script.operation(task, SyncVarOp::SharedAcquire, gate);
        nest(&mut script, task, &locks);
        script.operation(task, SyncVarOp::SharedRelease, gate);
    }
    assert_eq!(messages(&script).len(), 1);
}

#[test]
fn what_is_ordered_by_anything_but_locks_does_not_meet() {
    let mut script = Script::new();
    let [a, b] = vars(&mut script, ["a", "b"]);
    let one = script.fork(Script::MAIN);
    nest(&mut script, one, &[a, b]);
    script.join(Script::MAIN, one);
    nest(&mut script, Script::MAIN, &[b, a]);
    assert!(messages(&script).is_empty(), "joined");

    let flagged = |order: MemoryOrder| {
        let (mut script, [one, other]) = two_tasks();
        let [a, b, flag] = vars(&mut script, ["a", "b", "flag"]);
        nest(&mut script, one, &[a, b]);
        script.store(one, flag, order, 1);
        script.load(other, flag, order, 1);
        nest(&mut script, other, &[b, a]);
        script
    };
    assert!(messages(&flagged(MemoryOrder::Release)).is_empty(), "seen");

    let (mut script, [one, other]) = two_tasks();
    let [a, b, flag] = vars(&mut script, ["a", "b", "flag"]);
    script.store(one, flag, MemoryOrder::SeqCst, 1);
    nest(&mut script, one, &[a, b]);
    script.load(other, flag, MemoryOrder::SeqCst, 1);
    nest(&mut script, other, &[b, a]);
    assert_eq!(messages(&script).len(), 1, "only what came before is seen");
}

#[test]
fn reference_counts_order_nothing() {
    let (mut script, [one, other]) = two_tasks();
    let [a, b, count] = vars(&mut script, ["a", "b", "count"]);
    nest(&mut script, one, &[a, b]);
    script.sync(one, SyncVarOp::CountDown, count, MemoryOrder::None, 2, 1);
    script.sync(other, SyncVarOp::CountDown, count, MemoryOrder::None, 1, 0);
    nest(&mut script, other, &[b, a]);
    assert_eq!(messages(&script).len(), 1);
}

#[test]
fn three_tasks_make_a_ring_of_three() {
    let (mut script, [one, other]) = two_tasks();
    let third = script.fork(Script::MAIN);
    let [a, b, c] = vars(&mut script, ["a", "b", "c"]);
    nest(&mut script, one, &[a, b]);
    nest(&mut script, other, &[b, c]);
    assert!(messages(&script).is_empty());
    nest(&mut script, third, &[c, a]);
    let [message] = &messages(&script)[..] else {
        panic!("one ring")
    };
    assert_eq!(message.matches("holds").count(), 3, "{message}");
}

#[test]
fn a_try_does_not_wait_but_what_it_takes_is_held() {
    let attempt = |first: SyncVarOp, second: SyncVarOp| {
        let (mut script, [one, other]) = two_tasks();
        let [a, b] = vars(&mut script, ["a", "b"]);
        nest(&mut script, one, &[a, b]);
        script.operation(other, first, b);
        script.operation(other, second, a);
        messages(&script).len()
    };
    assert_eq!(attempt(SyncVarOp::LockAcquire, SyncVarOp::LockTryAcquire), 0);
    assert_eq!(attempt(SyncVarOp::LockTryAcquire, SyncVarOp::LockAcquire), 1);
    assert_eq!(attempt(SyncVarOp::LockAcquire, SyncVarOp::LockTryFailed), 0);
}

#[test]
fn shares_keep_no_share_out() {
    let attempt = |ops: [SyncVarOp; 4]| {
        let (mut script, [one, other]) = two_tasks();
        let [a, b] = vars(&mut script, ["a", "b"]);
        script.operation(one, ops[0], a);
        script.operation(one, ops[1], b);
        let releases = ops.map(|op| match op {
            SyncVarOp::SharedAcquire => SyncVarOp::SharedRelease,
            _ => SyncVarOp::LockRelease,
        });
        script.operation(one, releases[1], b);
        script.operation(one, releases[0], a);
        script.operation(other, ops[2], b);
        script.operation(other, ops[3], a);
        messages(&script).len()
    };
    use SyncVarOp::{LockAcquire as Write, SharedAcquire as Read};
    assert_eq!(attempt([Read, Read, Read, Read]), 0);
    assert_eq!(attempt([Write, Read, Read, Write]), 0, "b is only read");
    assert_eq!(attempt([Read, Write, Read, Write]), 1);
    assert_eq!(attempt([Write, Write, Write, Write]), 1);
}

#[test]
fn the_mutex_is_taken_again_after_a_wait() {
    let script = |held_meanwhile: bool| {
        let (mut script, [one, other]) = two_tasks();
        let [a, mutex, condvar] = vars(&mut script, ["a", "mutex", "condvar"]);
        if held_meanwhile {
            script.lock(one, mutex);
            script.lock(one, a);
            script.sync(
                one,
                SyncVarOp::CondvarWait,
                condvar,
                MemoryOrder::None,
                0,
                mutex.0.into(),
            );
            script.operation(one, SyncVarOp::CondvarWake, condvar);
            script.lock(one, mutex);
        } else {
            nest(&mut script, one, &[mutex, a]);
        }
        nest(&mut script, other, &[mutex, a]);
        script
    };
    let [message] = &messages(&script(true))[..] else {
        panic!("one ring")
    };
    assert!(
        message.contains("task 1 holds a (taken at script:6) and takes mutex at script:9"),
        "{message}"
    );
    assert!(messages(&script(false)).is_empty());
}

/// The words are the same whichever task is first.
#[test]
fn both_orders_of_an_execution_say_the_same() {
    let script = |turned: bool| {
        let (mut script, [one, other]) = two_tasks();
        let [a, b] = vars(&mut script, ["a", "b"]);
        let mut parts = [(one, [a, b]), (other, [b, a])];
        if turned {
            parts.reverse();
        }
        for (task, locks) in parts {
            nest(&mut script, task, &locks);
        }
        script
    };
    let words = |script: Script| {
        let message = messages(&script).remove(0);
        // Places of a script are numbers of its entries, which do depend on the order.
        let mut words: Vec<String> = message.split(' ').map(str::to_owned).collect();
        words.retain(|word| !word.contains("script:"));
        words
    };
    assert_eq!(words(script(false)), words(script(true)));
}
