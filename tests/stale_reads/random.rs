//! Random programs explored by the default search fail if the memory model allows the failure.

use super::auto::auto;
use intermezzo::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use intermezzo::sync::atomic::{AtomicUsize, Ordering};
use intermezzo::{Coverage, Environment, Explorer, thread};
use rand::{RngExt, SeedableRng, seq::IndexedRandom};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeSet;
use std::sync::Mutex as Kept;

#[derive(Clone, Copy, Debug)]
enum Step {
    Load(usize, Ordering),
    Store(usize, usize, Ordering),
    Add(usize, Ordering),
}

type Program = [Vec<Step>; 2];

fn random(rng: &mut Xoshiro256PlusPlus) -> Program {
    std::array::from_fn(|_| {
        let step = |_| {
            let var = rng.random_range(0..2);
            match rng.random_range(0..5) {
                0 | 1 => Step::Load(var, *[Relaxed, Relaxed, Acquire, SeqCst].choose(rng).unwrap()),
                2 | 3 => {
                    let order = *[Relaxed, Relaxed, Release, SeqCst].choose(rng).unwrap();
                    Step::Store(var, rng.random_range(1..3), order)
                }
                _ => Step::Add(var, *[Relaxed, AcqRel, SeqCst].choose(rng).unwrap()),
            }
        };
        (0..3).map(step).collect()
    })
}

/// Runs the program, and returns the value that each step read and the final values.
fn run(program: &Program) -> Vec<usize> {
    let vars = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let side = |steps: &[Step]| -> Vec<usize> {
        let step = |step: &Step| match *step {
            Step::Load(var, order) => vars[var].load(order),
            Step::Store(var, value, order) => {
                vars[var].store(value, order);
                9
            }
            Step::Add(var, order) => vars[var].fetch_add(1, order),
        };
        steps.iter().map(step).collect()
    };
    let mut read = thread::scope(|scope| {
        let other = scope.spawn(|| side(&program[1]));
        let mut read = side(&program[0]);
        read.extend(other.join().unwrap());
        read
    });
    read.extend(vars.iter().map(|var| var.load(SeqCst)));
    read
}

/// Every outcome that the model allows is found by the default search, and no other.
#[test]
fn random_programs_fail_by_default_if_the_model_allows_it() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut only_weak = 0;
    for number in 0..150 {
        let program = random(&mut rng);
        let outcomes = |stale_reads| {
            let seen = std::sync::Arc::new(Kept::new(BTreeSet::new()));
            let (keep, steps) = (std::sync::Arc::clone(&seen), program.clone());
            let environment = Environment {
                stale_reads,
                ..Environment::calm()
            };
            let report = Explorer::new().environment(environment).explore(move || {
                let outcome = run(&steps);
                keep.lock().unwrap().insert(outcome);
            });
            assert_eq!(report.coverage(), &Coverage::Exhaustive, "{report}");
            std::mem::take(&mut *seen.lock().unwrap())
        };
        let (sc, weak) = (outcomes(0), outcomes(1));
        assert!(weak.is_superset(&sc), "program {number}: {program:?}");
        only_weak += usize::from(weak.len() > sc.len());
        for wanted in weak.iter().chain([&vec![7; 8]]) {
            let (steps, outcome) = (program.clone(), wanted.clone());
            let explorer = auto().set("minimise", 0);
            let report = explorer.explore(move || assert_ne!(run(&steps), outcome));
            let fails = weak.contains(wanted);
            assert_eq!(
                report.verdict().is_fail(),
                fails,
                "program {number}, {wanted:?}: {program:?}"
            );
            let is_weak = report
                .findings()
                .iter()
                .any(|found| found.schedule.environment.stale_reads > 0);
            assert_eq!(
                is_weak,
                fails && !sc.contains(wanted),
                "program {number}, {wanted:?}: {program:?}"
            );
        }
    }
    assert!(only_weak > 10, "{only_weak}");
}
