//! Locks and condition variables used in wrong ways, written by hand; and the fixed twins.

use intermezzo_monitors::Misuses;
use intermezzo_sdk::testing::Script;
use intermezzo_sdk::{FindingKind, MemoryOrder, MonitorFinding, Severity, SyncVar, SyncVarOp, TaskId};

const MAIN: TaskId = Script::MAIN;

fn reports(script: &Script) -> Vec<MonitorFinding> {
    let reports = script.play(&mut Misuses::new());
    assert!(reports.iter().all(|report| report.kind == FindingKind::Misuse));
    reports
}

fn messages(script: &Script) -> Vec<String> {
    reports(script).into_iter().map(|report| report.message).collect()
}

fn wait(script: &mut Script, task: TaskId, condvar: SyncVar, mutex: SyncVar) {
    script.sync(
        task,
        SyncVarOp::CondvarWait,
        condvar,
        MemoryOrder::None,
        0,
        mutex.0.into(),
    );
}

/// Ends a wait, with or without a cause.
fn wake(script: &mut Script, task: TaskId, condvar: SyncVar, uncaused: bool) {
    script.sync(
        task,
        SyncVarOp::CondvarWake,
        condvar,
        MemoryOrder::None,
        uncaused.into(),
        0,
    );
}

#[test]
fn a_condition_variable_has_one_mutex() {
    let script = |two: bool| {
        let mut script = Script::new();
        let [a, b, condvar] = ["a", "b", "condvar"].map(|name| script.var(name));
        let child = script.fork(MAIN);
        let other = if two { b } else { a };
        for (task, mutex) in [(MAIN, a), (child, other)] {
            script.lock(task, mutex);
            wait(&mut script, task, condvar, mutex);
        }
        script
    };
    let found = reports(&script(true));
    assert_eq!(
        found[0].message,
        "condvar is used with two mutexes: with a at script:4, and with b at script:6"
    );
    assert_eq!((found.len(), found[0].severity), (1, Severity::Error));
    assert!(messages(&script(false)).is_empty());
}

#[test]
fn only_who_holds_a_lock_gives_it_back() {
    let mut script = Script::new();
    let lock = script.var("lock");
    let child = script.fork(MAIN);
    script.lock(child, lock);
    let fixed = {
        let mut script = script.clone();
        script.unlock(child, lock);
        script
    };
    script.unlock(MAIN, lock);
    let found = reports(&script);
    assert_eq!(
        found[0].message,
        "main releases lock at script:4, but does not hold it: task 1 holds it"
    );
    assert_eq!((found.len(), found[0].severity), (1, Severity::Error));
    assert!(messages(&fixed).is_empty());
    let mut twice = fixed.clone();
    twice.unlock(child, lock);
    assert_eq!(
        messages(&twice),
        ["task 1 releases lock at script:5, but does not hold it: no task holds it"]
    );
    // A share is not the lock.
    let mut script = Script::new();
    let lock = script.var("lock");
    script.operation(MAIN, SyncVarOp::SharedAcquire, lock);
    script.operation(MAIN, SyncVarOp::SharedRelease, lock);
    assert!(messages(&script).is_empty());
    script.operation(MAIN, SyncVarOp::SharedAcquire, lock);
    script.unlock(MAIN, lock);
    assert_eq!(messages(&script).len(), 1);
}

#[test]
fn nothing_is_held_while_a_task_waits_for_something_else() {
    use SyncVarOp::*;
    for op in [Park, Sleep, TaskJoin, ChannelReceive, BarrierArrive] {
        let script = |held: bool| {
            let mut script = Script::new();
            let [lock, other] = ["lock", "other"].map(|name| script.var(name));
            script.lock(MAIN, lock);
            if !held {
                script.unlock(MAIN, lock);
            }
            script.operation(MAIN, op, other);
            script
        };
        let found = reports(&script(true));
        let expected = format!("main holds lock (taken at script:1) while it waits at script:2 ({op})");
        assert_eq!(found[0].message, expected);
        assert_eq!((found.len(), found[0].severity), (1, Severity::Warning));
        assert!(messages(&script(false)).is_empty());
        let silent = &mut Misuses::with_arguments("held=false").unwrap();
        assert!(script(true).play(silent).is_empty());
    }
    // The mutex of a wait is released; another is not.
    let mut script = Script::new();
    let [lock, mutex, condvar] = ["lock", "mutex", "condvar"].map(|name| script.var(name));
    script.lock(MAIN, mutex);
    wait(&mut script, MAIN, condvar, mutex);
    assert!(messages(&script).is_empty());
    wake(&mut script, MAIN, condvar, false);
    script.lock(MAIN, mutex);
    script.lock(MAIN, lock);
    wait(&mut script, MAIN, condvar, mutex);
    assert_eq!(messages(&script).len(), 1);
}

/// The end of a wait, and the task's actions afterwards.
#[derive(Clone, Copy, Default)]
struct Case {
    caused: bool,
    /// Another task takes the mutex meanwhile.
    taken: bool,
    /// The task looks at an atomic afterwards.
    looks: bool,
    /// The task waits again.
    waits_again: bool,
}

impl Case {
    fn warnings(self) -> Vec<MonitorFinding> {
        let mut script = Script::new();
        let [mutex, condvar, flag] = ["mutex", "condvar", "flag"].map(|name| script.var(name));
        let child = script.fork(MAIN);
        script.lock(MAIN, mutex);
        wait(&mut script, MAIN, condvar, mutex);
        if self.taken {
            script.lock(child, mutex);
            script.unlock(child, mutex);
        }
        wake(&mut script, MAIN, condvar, !self.caused);
        script.lock(MAIN, mutex);
        if self.looks {
            script.load(MAIN, flag, MemoryOrder::SeqCst, 1);
        }
        if self.waits_again {
            wait(&mut script, MAIN, condvar, mutex);
            wake(&mut script, MAIN, condvar, false);
            script.lock(MAIN, mutex);
        }
        script.unlock(MAIN, mutex);
        let silent = &mut Misuses::with_arguments("loops=false").unwrap();
        assert!(script.play(silent).is_empty());
        reports(&script)
    }
}

#[test]
fn a_wait_that_nobody_ended_is_waited_again_unless_something_changed() {
    let found = Case::default().warnings();
    assert_eq!(
        found[0].message,
        "main continues after a wait on condvar at script:4 that ended without a notification, although its condition \
         cannot have changed"
    );
    assert_eq!((found.len(), found[0].severity), (1, Severity::Warning));
    let fine = [
        Case {
            caused: true,
            ..Case::default()
        },
        Case {
            taken: true,
            ..Case::default()
        },
        Case {
            looks: true,
            ..Case::default()
        },
        Case {
            waits_again: true,
            ..Case::default()
        },
    ];
    for case in fine {
        assert!(case.warnings().is_empty());
    }
}
