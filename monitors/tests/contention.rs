//! Contending places: those whose operations are ordered by nothing but themselves.

use intermezzo_monitors::Contention;
use intermezzo_sdk::testing::Script;
use intermezzo_sdk::{MemoryOrder::Relaxed, Severity, SyncVarOp, TaskId};

const MAIN: TaskId = Script::MAIN;

/// Returns how many pairs are reported of this.
fn pairs(script: &Script) -> usize {
    let reports = Script::play_all([script], &mut Contention::new());
    for report in &reports {
        assert_eq!((report.severity, report.sites.len()), (Severity::Warning, 2));
        assert!(report.message.contains(" contend for "), "{}", report.message);
    }
    reports.len()
}

/// Two tasks, each of which does one of these.
fn two(ops: [SyncVarOp; 2]) -> Script {
    let mut script = Script::new();
    let x = script.var("x");
    let tasks = [script.fork(MAIN), script.fork(MAIN)];
    script.operation(tasks[0], ops[0], x);
    script.operation(tasks[1], ops[1], x);
    script
}

#[test]
fn operations_that_conflict_contend() {
    use SyncVarOp::{AtomicLoad, AtomicRmw, AtomicStore, LockAcquire, NotifyOne, SharedAcquire};
    for (ops, count) in [
        ([AtomicLoad, AtomicLoad], 0),
        ([AtomicLoad, AtomicStore], 1),
        ([AtomicRmw, AtomicRmw], 1),
        ([LockAcquire, LockAcquire], 1),
        ([SharedAcquire, SharedAcquire], 0),
        ([NotifyOne, NotifyOne], 1),
    ] {
        assert_eq!(pairs(&two(ops)), count, "{ops:?}");
    }
}

#[test]
fn what_something_else_orders_does_not_contend() {
    // Joined before.
    let mut script = Script::new();
    let x = script.var("x");
    let child = script.fork(MAIN);
    script.store(child, x, Relaxed, 1);
    script.join(MAIN, child);
    script.store(MAIN, x, Relaxed, 2);
    assert_eq!(pairs(&script), 0);
    // Within sections of one lock: the lock contends, and nothing in the sections.
    let mut script = Script::new();
    let (lock, x) = (script.var("lock"), script.var("x"));
    let tasks = [script.fork(MAIN), script.fork(MAIN)];
    for task in tasks {
        script.operation(task, SyncVarOp::LockAcquire, lock);
        script.store(task, x, Relaxed, 1);
        script.operation(task, SyncVarOp::LockRelease, lock);
    }
    assert_eq!(pairs(&script), 1);
}

#[test]
fn a_pair_is_reported_once() {
    let script = two([SyncVarOp::AtomicStore; 2]);
    let reports = Script::play_all([&script, &script], &mut Contention::new());
    assert_eq!(reports.len(), 1);
    assert_eq!(
        Contention::with_arguments("most=3").unwrap_err(),
        "contention: there is no argument `most`; it takes none"
    );
}
