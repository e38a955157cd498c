//! Compares the reduction `ordered-atomics` with plain depth-first search: fewer executions have the same outcomes and
//! traces.

use super::PROGRAMS;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::mpsc::channel;
use intermezzo_explorer::sync::{Arc, Mutex};
use intermezzo_explorer::{
    Coverage, Environment, Explorer, Reduction, Report, any_bool, preemptions_off, thread,
};
use quickcheck::{Arbitrary, Gen, QuickCheck, TestResult};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// One operation on the atomic with this index.
#[derive(Clone, Copy, Debug)]
enum Access {
    Load(usize),
    Add(usize),
    /// Fails unless the value is 1.
    Exchange(usize),
}

/// A part of a task.
#[derive(Clone, Debug)]
enum Block {
    /// Under the lock with this index.
    Locked(usize, Vec<Access>),
    Free(Access),
    /// Only if the second atomic was seen set, so that few executions show the access.
    If(usize, Access),
}

#[derive(Clone, Debug)]
struct Program(Vec<Vec<Block>>);

/// Atomics 0 and 1 mostly belong to the locks with these indices; all tasks use 2.
fn access(g: &mut Gen, at: usize) -> Access {
    match u8::arbitrary(g) % 3 {
        0 => Access::Load(at),
        1 => Access::Add(at),
        _ => Access::Exchange(at),
    }
}

impl Arbitrary for Program {
    fn arbitrary(g: &mut Gen) -> Program {
        let block = |g: &mut Gen| {
            let at = usize::arbitrary(g) % 2;
            match u8::arbitrary(g) % 16 {
                0..10 => Block::Locked(
                    at,
                    (0..1 + usize::arbitrary(g) % 2).map(|_| access(g, at)).collect(),
                ),
                10..12 => Block::Locked(1 - at, vec![access(g, at)]),
                12..14 => Block::Free(access(g, 2)),
                14 => Block::Free(access(g, at)),
                _ => Block::If(2, access(g, at)),
            }
        };
        let tasks = 2 + usize::arbitrary(g) % 2;
        let blocks = if tasks == 2 { 3 } else { 2 };
        let task = |g: &mut Gen| (0..1 + usize::arbitrary(g) % blocks).map(|_| block(g)).collect();
        Program((0..tasks).map(|_| task(g)).collect())
    }
}

/// All values that the tasks of an execution read.
type Outcome = Vec<Vec<usize>>;

/// Returns the outcomes of all executions, and the report.
fn outcomes(program: &Program, explorer: Explorer) -> (BTreeSet<Outcome>, Report) {
    let seen = std::sync::Mutex::new(BTreeSet::new());
    let report = explorer
        .environment(Environment::calm())
        .keep_going(true)
        .explore(|| {
            let atomics = [const { AtomicUsize::new(0) }; 3];
            let locks = [const { Mutex::new(()) }; 2];
            let perform = |access: Access| match access {
                Access::Load(at) => atomics[at].load(SeqCst),
                Access::Add(at) => atomics[at].fetch_add(1, SeqCst),
                Access::Exchange(at) => atomics[at]
                    .compare_exchange(1, 5, SeqCst, SeqCst)
                    .unwrap_or_else(|found| 10 + found),
            };
            let mut outcome: Outcome = thread::scope(|scope| {
                let run = |blocks: &Vec<Block>| {
                    let read = RefCell::new(Vec::new());
                    let note = |value| read.borrow_mut().push(value);
                    for block in blocks {
                        match block {
                            Block::Locked(lock, accesses) => {
                                let _guard = locks[*lock].lock().unwrap();
                                accesses.iter().for_each(|access| note(perform(*access)));
                            }
                            Block::Free(access) => note(perform(*access)),
                            Block::If(flag, access) => {
                                if perform(Access::Load(*flag)) > 0 {
                                    note(perform(*access));
                                }
                            }
                        }
                    }
                    read.into_inner()
                };
                let tasks: Vec<_> = program
                    .0
                    .iter()
                    .map(|blocks| scope.spawn(move || run(blocks)))
                    .collect();
                tasks.into_iter().map(|task| task.join().unwrap()).collect()
            });
            outcome.push(atomics.iter().map(|atomic| atomic.load(SeqCst)).collect());
            seen.lock().unwrap().insert(outcome);
        });
    assert!(report.findings().is_empty(), "{report}");
    (seen.into_inner().unwrap(), report)
}

/// The maximum number of executions of a program.
const EXECUTIONS_MAX: u64 = 4_000;

fn agrees(program: Program) -> TestResult {
    let plain = |most: Option<u32>| {
        let explorer = Explorer::new().executions(EXECUTIONS_MAX);
        most.map_or(explorer, |most| Explorer::new().preemptions(most))
    };
    let (all, report) = outcomes(&program, plain(None));
    if *report.coverage() != Coverage::Exhaustive {
        return TestResult::discard();
    }
    for most in [None, Some(0), Some(1), Some(2)] {
        let (expected, plain) = most.map_or_else(
            || (all.clone(), report.clone()),
            |most| outcomes(&program, plain(Some(most))),
        );
        let quiet = most.map_or_else(Explorer::new, |most| Explorer::new().preemptions(most));
        let (found, quiet) = outcomes(&program, quiet.reduction(Reduction::OrderedAtomics));
        assert_eq!(found, expected, "{most:?} preemptions of {program:?}");
        assert!(quiet.traces().is_some(), "{quiet}");
        assert_eq!(
            quiet.traces(),
            plain.traces(),
            "{most:?} preemptions of {program:?}"
        );
    }
    TestResult::passed()
}

#[test]
fn no_outcome_and_no_trace_is_lost() {
    QuickCheck::new()
        .rng(Gen::from_size_and_seed(8, 2026))
        .tests(PROGRAMS)
        .max_tests(40 * PROGRAMS)
        .min_tests_passed(PROGRAMS)
        .quickcheck(agrees as fn(Program) -> TestResult);
}

/// Two tasks that take two locks in turn, each around some accesses to an atomic.
fn locked(accesses: usize) -> Program {
    let through = |lock| Block::Locked(lock, vec![Access::Add(lock); accesses]);
    Program(vec![vec![through(0), through(1)]; 2])
}

#[test]
fn accesses_under_a_lock_cost_nothing() {
    for accesses in [1, 3] {
        let (_, report) = outcomes(
            &locked(accesses),
            Explorer::new().reduction(Reduction::OrderedAtomics),
        );
        let (_, without) = outcomes(&locked(0), Explorer::new());
        assert_eq!(report.executions(), without.executions(), "{accesses}: {report}");
        assert_eq!(
            (report.redundant(), report.coverage()),
            (0, &Coverage::Exhaustive)
        );
        assert_eq!(
            report.notes(),
            ["ordered-atomics: no atomic needs schedule points"]
        );
    }
    let (_, plain) = outcomes(&locked(3), Explorer::new());
    let (_, without) = outcomes(&locked(0), Explorer::new());
    assert!(plain.executions() > without.executions(), "{plain}");
}

#[test]
fn only_an_atomic_that_orders_another_has_schedule_points() {
    // A task passes a message: only the flag orders the accesses to the data.
    let report = Explorer::new().reduction(Reduction::OrderedAtomics).explore(|| {
        let (data, flag) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                data.store(7, SeqCst);
                flag.store(1, SeqCst);
            });
            scope.spawn(|| {
                if flag.load(SeqCst) == 1 {
                    assert_eq!(data.load(SeqCst), 7);
                }
            });
        });
    });
    assert!(report.verdict().is_pass(), "{report}");
    // The flag is the first atomic that the second task uses, before its first step.
    assert_eq!(
        report.notes(),
        [
            "ordered-atomics: schedule points only at atomic 2.1; the search restarted once, for the last time after \
             execution 1"
        ]
    );
}

#[test]
fn a_race_shown_late_is_still_explored() {
    // The second task skips the lock depending on a value that only some executions have.
    let test = || {
        let (turn, n, lock) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(()));
        let add = || n.store(n.load(SeqCst) + 1, SeqCst);
        thread::scope(|scope| {
            scope.spawn(|| {
                turn.store(1, SeqCst);
                let _guard = lock.lock().unwrap();
                add();
            });
            scope.spawn(|| {
                let _guard = (turn.load(SeqCst) == 0).then(|| lock.lock().unwrap());
                add();
            });
        });
        assert_eq!(n.load(SeqCst), 2);
    };
    let report = Explorer::new()
        .program("late")
        .reduction(Reduction::OrderedAtomics)
        .explore(test);
    assert!(report.verdict().is_fail(), "{report}");
    let schedule = report.findings()[0].schedule.clone();
    let again = Explorer::new().program("late").replay(schedule).explore(test);
    assert_eq!(again.findings(), report.findings());
}

#[test]
fn regions_and_quiet_atomics_do_not_mix() {
    let report = Explorer::new().reduction(Reduction::OrderedAtomics).explore(|| {
        let lock = Mutex::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| preemptions_off(|| *lock.lock().unwrap() += 1));
            }
        });
    });
    assert!(
        report.notes()[0].starts_with("preemptions_off: ignored"),
        "{report}"
    );
    assert_eq!(*report.coverage(), Coverage::Exhaustive);
}

#[test]
fn a_search_of_the_callers_own_cannot_start_over() {
    let mine = intermezzo_explorer::Strategy::custom(intermezzo_explorer::search::DepthFirst::new());
    let refused = Explorer::new()
        .strategy(mine)
        .reduction(Reduction::OrderedAtomics)
        .try_explore(|| {});
    assert!(refused.is_err_and(|error| error.to_string().contains("a strategy of your own cannot")));
}

/// Returns the values that the second task's `store` leaves for the first task's `swap`, and the other way round: by
/// plain depth-first search, and with quiet atomics.
fn orders(test: fn(&AtomicUsize, &std::sync::Mutex<BTreeSet<usize>>), counts: bool) -> [BTreeSet<usize>; 2] {
    [false, true].map(|quiet| {
        let seen = std::sync::Mutex::new(BTreeSet::new());
        let environment = Environment {
            arc_counts: counts,
            ..Environment::calm()
        };
        let report = Explorer::new()
            .environment(environment)
            .reduction(if quiet {
                Reduction::OrderedAtomics
            } else {
                Reduction::None
            })
            .explore(|| test(&AtomicUsize::new(0), &seen));
        assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
        assert!(report.verdict().is_pass(), "{report}");
        let departed = report.notes().iter().any(|note| note.contains("same"));
        assert!(!departed, "{report}");
        seen.into_inner().unwrap()
    })
}

#[test]
fn a_sender_that_closes_before_another_orders_nothing() {
    let orders = orders(
        |n, seen| {
            let (sender, _receiver) = channel::<()>();
            let other = sender.clone();
            thread::scope(|scope| {
                scope.spawn(move || {
                    seen.lock().unwrap().insert(n.swap(1, SeqCst));
                    drop(sender);
                });
                scope.spawn(move || {
                    drop(other);
                    n.store(2, SeqCst);
                });
            });
        },
        true,
    );
    assert_eq!(orders, [[0, 2].into(), [0, 2].into()]);
}

#[test]
fn the_close_of_a_sender_is_ordered_before_a_failed_receive() {
    let report = Explorer::new().reduction(Reduction::OrderedAtomics).explore(|| {
        let (sender, receiver) = channel::<()>();
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                n.store(1, SeqCst);
                drop(sender);
            });
            assert!(receiver.recv().is_err());
            assert_eq!(n.load(SeqCst), 1);
        });
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(
        report.notes(),
        ["ordered-atomics: no atomic needs schedule points"]
    );
}

#[test]
fn counts_that_are_left_out_order_nothing() {
    let orders = orders(
        |n, seen| {
            let one = Arc::new(());
            let other = one.clone();
            thread::scope(|scope| {
                scope.spawn(move || {
                    seen.lock().unwrap().insert(n.swap(1, SeqCst));
                    drop(one);
                });
                scope.spawn(move || {
                    drop(other);
                    n.store(2, SeqCst);
                });
            });
        },
        false,
    );
    assert_eq!(orders, [[0, 2].into(), [0, 2].into()]);
}

#[test]
fn a_check_that_does_not_find_a_task_ended_orders_nothing() {
    let orders = orders(
        |n, seen| {
            thread::scope(|scope| {
                let task = scope.spawn(|| {
                    seen.lock().unwrap().insert(n.swap(1, SeqCst));
                });
                if !task.is_finished() {
                    n.store(2, SeqCst);
                }
            });
        },
        true,
    );
    assert_eq!(orders, [[0, 2].into(), [0, 2].into()]);
}

#[test]
fn starting_over_is_not_a_departure() {
    // The first execution has a step before its first choice in which later executions have a decision.
    let report = Explorer::new().reduction(Reduction::OrderedAtomics).explore(|| {
        let n = Arc::new(AtomicUsize::new(0));
        let theirs = n.clone();
        let task = thread::spawn(move || theirs.load(SeqCst));
        n.fetch_max(1, SeqCst);
        n.store(2, SeqCst);
        any_bool();
        task.join().unwrap();
    });
    assert!(report.verdict().is_pass(), "{report}");
    let departed = report.notes().iter().any(|note| note.contains("same"));
    assert!(!departed, "{report}");
}

/// Adds to an atomic when its task ends.
struct AddsAtEnd(RefCell<Option<std::sync::Arc<AtomicUsize>>>);

impl Drop for AddsAtEnd {
    fn drop(&mut self) {
        if let Some(n) = self.0.take() {
            n.fetch_add(1, SeqCst);
        }
    }
}

thread::thread_local! {
    static AT_END: AddsAtEnd = const { AddsAtEnd(RefCell::new(None)) };
}

/// A program of the fuzzer showed this bug, number 115,982.
#[test]
fn a_task_may_not_be_found_ended_before_its_thread_locals_are_dropped() {
    let outcomes = [Reduction::None, Reduction::OrderedAtomics].map(|reduction| {
        let outcomes = std::sync::Mutex::new(BTreeSet::new());
        let report = Explorer::new().reduction(reduction).explore(|| {
            // Handles of intermezzo's `Arc` would make more schedule points.
            let lock = std::sync::Arc::new(Mutex::new(0));
            let n = std::sync::Arc::new(AtomicUsize::new(0));
            let other = thread::spawn({
                let (lock, n) = (lock.clone(), n.clone());
                move || {
                    AT_END.with(|at_end| *at_end.0.borrow_mut() = Some(n));
                    lock.try_lock().is_ok_and(|mut entered| {
                        *entered += 1;
                        true
                    })
                }
            });
            let entered = *lock.lock().unwrap();
            let was_ended = other.is_finished();
            let did_enter = other.join().unwrap();
            outcomes.lock().unwrap().insert((entered, was_ended, did_enter));
        });
        assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
        outcomes.into_inner().unwrap()
    });
    assert!(outcomes[0].contains(&(1, false, true)));
    assert_eq!(outcomes[0], outcomes[1]);
}
