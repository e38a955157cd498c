//! Loops that wait without yielding, in tests that were not written for intermezzo: they have the same outcomes as loops
//! that yield.

#[path = "../../../tests/common/by_workers.rs"]
mod by_workers;
mod changes_nothing;

use by_workers::by_workers;
use intermezzo_explorer::sync::{Mutex, RwLock};
use intermezzo_explorer::{Environment, Explorer, Reduction, Report, TestBinary, Verdict, thread};
use intermezzo_lookalikes::sync::atomic::by_address::AtomicUsize;
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

/// The number of atomics.
const ATOMICS: usize = 3;

/// An action of a task on an atomic.
#[derive(Clone, Copy, Debug)]
enum Op {
    Add(usize),
    Store(usize, usize),
    /// Waits until it is not zero.
    Wait(usize),
    /// Takes a lock made of it, adds to the next atomic in two steps, and releases the lock.
    Locked(usize),
}

fn program(random: &mut Xoshiro256PlusPlus) -> Vec<Vec<Op>> {
    let mut op = |may_wait: bool| {
        let of = random.random_range(0..ATOMICS - 1);
        match random.random_range(0..6) {
            0 | 1 => Op::Add(of),
            2 => Op::Store(of, random.random_range(1..3)),
            3 | 4 if may_wait => Op::Wait(of),
            _ => Op::Locked(ATOMICS - 1),
        }
    };
    vec![vec![op(false), op(false)], vec![op(true), op(true)]]
}

fn perform(atomics: &[AtomicUsize; ATOMICS], op: Op, yields: bool) -> usize {
    let again = || {
        if yields {
            thread::yield_now();
        }
    };
    match op {
        Op::Add(of) => atomics[of].fetch_add(1, SeqCst),
        Op::Store(of, value) => {
            atomics[of].store(value, SeqCst);
            0
        }
        Op::Wait(of) => loop {
            match atomics[of].load(SeqCst) {
                0 => again(),
                seen => break seen,
            }
        },
        Op::Locked(of) => {
            while atomics[of].swap(1, SeqCst) == 1 {
                again();
            }
            let seen = atomics[0].load(SeqCst);
            atomics[0].store(seen + 1, SeqCst);
            atomics[of].store(0, SeqCst);
            seen
        }
    }
}

fn explore(explorer: Explorer, program: &[Vec<Op>], yields: bool) -> (Report, BTreeSet<Vec<usize>>) {
    let outcomes = std::sync::Mutex::new(BTreeSet::new());
    let report = explorer.set("steps", "2000").explore(|| {
        let atomics: Arc<[AtomicUsize; ATOMICS]> = Arc::default();
        let tasks: Vec<_> = program
            .iter()
            .map(|ops| {
                let (atomics, ops) = (atomics.clone(), ops.clone());
                thread::spawn(move || {
                    let perform = |op| perform(&atomics, op, yields);
                    ops.into_iter().map(perform).collect::<Vec<usize>>()
                })
            })
            .collect();
        let mut outcome: Vec<usize> = tasks.into_iter().flat_map(|task| task.join().unwrap()).collect();
        outcome.extend(atomics.iter().map(|atomic| atomic.load(SeqCst)));
        outcomes.lock().unwrap().insert(outcome);
    });
    (report, outcomes.into_inner().unwrap())
}

#[test]
fn loops_that_do_not_yield_find_the_same_outcomes() {
    let waited = by_workers(0..40, |seed| {
        let mut waited = 0;
        let program = program(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        for reduction in [Reduction::None, Reduction::SourceDpor, Reduction::Dpor] {
            let explorer = || Explorer::new().reduction(reduction).monitors("none");
            let (with, expected) = explore(explorer(), &program, true);
            let (without, found) = explore(
                explorer().binary(TestBinary::default().unmodified(false)),
                &program,
                false,
            );
            assert_eq!(found, expected, "{program:?} {reduction:?}\n{with}\n{without}");
            // If a task waits for something that never happens, both loops run for ever: one is a livelock, and the other
            // is not recognised.
            assert_eq!(
                with.verdict().is_pass(),
                without.verdict().is_pass(),
                "{program:?}\n{with}\n{without}"
            );
            waited += usize::from(without.executions() > 3 && without.verdict().is_pass());
        }
        waited
    });
    let waited: usize = waited.into_iter().sum();
    assert!(waited > 40, "{waited}");
}

#[test]
fn repeated_attempts_to_lock_end() {
    let report = Explorer::new()
        .binary(TestBinary::default().unmodified(false))
        .explore(|| {
            let locks = Arc::new((Mutex::new(0), RwLock::new(false)));
            let task = thread::spawn({
                let locks = locks.clone();
                move || {
                    *locks.0.lock().unwrap() += 1;
                    *locks.1.write().unwrap() = true;
                }
            });
            loop {
                if let Ok(mut n) = locks.0.try_lock() {
                    *n += 1;
                    break;
                }
            }
            while !*locks.1.read().unwrap() {}
            task.join().unwrap();
            assert_eq!(*locks.0.lock().unwrap(), 2);
        });
    assert!(report.verdict().is_pass(), "{report}");
    assert!(report.executions() > 10, "{report}");
}

#[test]
fn a_loop_that_waits_for_ever_is_inconclusive() {
    let waits = || {
        let flag = AtomicUsize::new(0);
        while flag.load(SeqCst) == 0 {}
    };
    let explorer = || Explorer::new().set("steps", "1000");
    let written_for_us = explorer().explore(waits);
    assert_eq!(written_for_us.verdict(), Verdict::Fail, "{written_for_us}");
    let unmodified = explorer()
        .binary(TestBinary::default().unmodified(false))
        .explore(waits);
    assert!(!unmodified.verdict().is_pass(), "{unmodified}");
}

/// A loop that repeats an action and counts its rounds in plain memory is not a livelock. A stress test has many.
#[test]
fn a_stress_test_that_reaches_the_limit_of_steps_is_long() {
    let flip = |of: &AtomicUsize, from: usize| {
        for _ in 0..100_000 {
            while of.compare_exchange(from, 1 - from, SeqCst, SeqCst).is_err() {
                thread::yield_now();
            }
        }
    };
    let report = |binary: TestBinary| {
        let explorer = Explorer::new().binary(binary).set("steps", "5000");
        explorer.explore(move || {
            let turn = AtomicUsize::new(0);
            thread::scope(|scope| {
                scope.spawn(|| flip(&turn, 0));
                scope.spawn(|| flip(&turn, 1));
            });
        })
    };
    let unmodified = report(TestBinary::default().unmodified(false));
    assert_eq!(unmodified.verdict(), Verdict::Inconclusive, "{unmodified}");
    assert_eq!(
        unmodified.findings()[0].kind.as_str(),
        "step_limit",
        "{unmodified}"
    );
    let written_for_it = report(TestBinary::default());
    assert_eq!(
        written_for_it.findings()[0].kind.as_str(),
        "livelock",
        "{written_for_it}"
    );
}

/// A loop that reads under a memory model yields like any other.
#[test]
fn loops_that_do_not_yield_end_under_a_memory_model() {
    type Wait = fn(&AtomicUsize);
    let loops: [(&str, Wait); 3] = [
        ("load", |flag| while flag.load(Acquire) == 0 {}),
        ("modify", |flag| while flag.fetch_or(0, Acquire) == 0 {}),
        ("exchange", |flag| {
            while flag.compare_exchange(1, 2, Acquire, Relaxed).is_err() {}
        }),
    ];
    for (name, wait) in loops {
        let explorer = Explorer::new().binary(TestBinary::default().unmodified(false));
        let explorer = explorer.environment(Environment {
            stale_reads: 1,
            ..Environment::calm()
        });
        let report = explorer.set("steps", "2000").explore(move || {
            let atomics: Arc<[AtomicUsize; 2]> = Arc::default();
            let task = thread::spawn({
                let atomics = atomics.clone();
                move || {
                    atomics[1].store(7, Relaxed);
                    atomics[0].store(1, Release);
                }
            });
            wait(&atomics[0]);
            assert_eq!(atomics[1].load(Relaxed), 7);
            task.join().unwrap();
        });
        assert_eq!(report.verdict(), Verdict::Pass, "{name}: {report}");
    }
}
