//! Regions with preemptions off.

use super::{PROGRAMS, explored, on_second};
use crate::common::counted;
use crate::interleavings::{Held, Interleaving, Objects, Op, Program, check_programs, enumerate, run_with};
use crate::{once_each, preemptions};
use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Explorer, preemptions_off, preemptions_on, thread};
use quickcheck::TestResult;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Performs the operation, with preemptions off if it is on the second atomic or lock.
fn perform<'a>(objects: &'a Objects, op: Op, held: &mut Held<'a>) {
    if on_second(op, &Objects::held_locks(held)) {
        preemptions_off(|| objects.perform(op, held));
    } else {
        objects.perform(op, held);
    }
}

/// `true` if no task is preempted before an operation on the second atomic or lock.
pub(super) fn within_scope(interleaving: &Interleaving) -> bool {
    let closed = |at: usize| {
        let step = &interleaving[at];
        step.next_of_last
            .is_some_and(|op| on_second(op, &step.locks_of_last))
    };
    (0..interleaving.len()).all(|at| !(interleaving[at].preempts() && closed(at)))
}

fn agrees(program: Program) -> TestResult {
    let Some(all) = enumerate(&program) else {
        return TestResult::discard();
    };
    let (seen, report) = explored("", || run_with(&program, perform));
    assert_eq!(counted(&seen), once_each(&all, within_scope), "{program:?}");
    let left_out = all.iter().any(|one| !within_scope(one));
    let noted = report
        .notes()
        .iter()
        .any(|note| note.starts_with("preemptions_off: schedules are left out"));
    assert_eq!(noted, left_out, "{program:?}: {report}");
    let (seen, _) = explored("preemptions=1", || run_with(&program, perform));
    let within = |one: &Interleaving| within_scope(one) && preemptions(one) <= 1;
    assert_eq!(counted(&seen), once_each(&all, within), "{program:?}");
    TestResult::passed()
}

#[test]
fn no_preemption_in_a_region() {
    check_programs(PROGRAMS, agrees);
}

/// Returns the number of executions of two tasks that run `body` on an atomic.
fn executions(body: impl Fn(&AtomicUsize) + Send + Sync) -> u64 {
    let report = Explorer::new().explore(|| {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| body(&n));
            scope.spawn(|| body(&n));
        });
    });
    assert!(report.verdict().is_pass(), "{report}");
    report.executions()
}

fn step(n: &AtomicUsize) {
    n.fetch_add(1, SeqCst);
}

#[test]
fn regions_nest_and_end() {
    // Blocks of operations that are not interleaved: C(2k, k) orders of k blocks each.
    assert_eq!(executions(|n| (0..3).for_each(|_| step(n))), 20);
    assert_eq!(
        executions(|n| preemptions_off(|| (0..3).for_each(|_| step(n)))),
        2
    );
    assert_eq!(
        executions(|n| preemptions_off(|| {
            step(n);
            preemptions_on(|| step(n));
            step(n);
        })),
        6
    );
    assert_eq!(
        executions(|n| {
            preemptions_off(|| preemptions_off(|| step(n)));
            step(n);
            step(n);
        }),
        20
    );
    // The region returns the value of its closure, and a panic leaves it.
    assert_eq!(preemptions_off(|| 5), 5);
    assert_eq!(
        executions(|n| {
            let panic = catch_unwind(AssertUnwindSafe(|| {
                preemptions_off(|| std::panic::resume_unwind(Box::new(1)))
            }));
            assert!(panic.is_err());
            step(n);
            step(n);
        }),
        6
    );
}

#[test]
fn a_region_belongs_to_one_task() {
    // Tasks that are created inside are preempted as usual.
    let report = Explorer::new().explore(|| {
        let n = AtomicUsize::new(0);
        preemptions_off(|| {
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        step(&n);
                        step(&n);
                    });
                }
            });
        });
    });
    assert_eq!(report.executions(), 6, "{report}");
}

#[test]
fn a_task_that_blocks_in_a_region_lets_others_go() {
    let report = Explorer::new().explore(|| {
        let lock = Mutex::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *lock.lock().unwrap() += 1);
            scope.spawn(|| preemptions_off(|| *lock.lock().unwrap() += 1));
        });
        assert_eq!(*lock.lock().unwrap(), 2);
    });
    assert!(report.verdict().is_pass(), "{report}");
}

/// A schedule that was found with closed points is complete: it replays whether they are closed or not.
#[test]
fn findings_replay() {
    let test = || {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    preemptions_off(|| (0..3).for_each(|_| step(&n)));
                    let read = n.load(SeqCst);
                    n.store(read + 1, SeqCst);
                });
            }
        });
        assert_eq!(n.load(SeqCst), 8);
    };
    let report = Explorer::new().program("regions").explore(test);
    assert_eq!(report.findings().len(), 1, "{report}");
    let found = &report.findings()[0];
    let again = Explorer::new()
        .program("regions")
        .replay(found.schedule.clone())
        .explore(test);
    assert_eq!(again.findings(), report.findings());
}
