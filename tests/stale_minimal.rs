//! Minimised findings under the memory model of C++20: their executions have only the stale operations that are needed.

use intermezzo::sync::Arc;
use intermezzo::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use intermezzo::sync::atomic::{AtomicU32, Ordering};
use intermezzo::{Environment, Explorer, Finding, OnFound, Reduction, Strategy, thread};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Mutex as StdMutex;

fn weak() -> Explorer {
    Explorer::new().environment(Environment {
        stale_reads: 2,
        ..Environment::calm()
    })
}

/// Returns the number of stale operations in a finding's execution.
fn stale(finding: &Finding) -> usize {
    let stale = finding.events.iter().filter(|event| !event.newer.is_empty());
    stale.count()
}

/// A step of a task: it loads a variable, stores a value to it, or adds 1.
#[derive(Clone, Copy, Debug)]
enum Step {
    Load(usize, Ordering),
    Store(usize, u32, Ordering),
    Add(usize, Ordering),
}

type Program = [[Step; 3]; 2];

/// Runs a program, and returns the value that each step read and the final values of the variables.
fn run(program: Program) -> Vec<u32> {
    let vars = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let perform = |vars: &[AtomicU32; 2], steps: [Step; 3]| {
        steps.map(|step| match step {
            Step::Load(var, order) => vars[var].load(order),
            Step::Store(var, value, order) => {
                vars[var].store(value, order);
                0
            }
            Step::Add(var, order) => vars[var].fetch_add(1, order),
        })
    };
    let others = Arc::clone(&vars);
    let task = thread::spawn(move || perform(&others, program[0]));
    let mut outcome = perform(&vars, program[1]).to_vec();
    outcome.extend(task.join().unwrap());
    outcome.extend(vars.iter().map(|var| var.load(Relaxed)));
    outcome
}

fn random_program(random: &mut Xoshiro256PlusPlus) -> Program {
    let mut step = || {
        let var = random.random_range(0..2);
        let strong = random.random_range(0..4);
        match random.random_range(0..7) {
            0..3 => Step::Load(var, [Relaxed, Relaxed, Acquire, SeqCst][strong]),
            3..6 => Step::Store(
                var,
                random.random_range(1..4),
                [Relaxed, Relaxed, Release, SeqCst][strong],
            ),
            _ => Step::Add(var, [Relaxed, Relaxed, AcqRel, SeqCst][strong]),
        }
    };
    [[step(), step(), step()], [step(), step(), step()]]
}

/// In random programs, a random outcome counts as a failure, which a sampler finds. The minimised execution has as few
/// stale operations as any that shows the failure: none if it can occur without them.
#[test]
fn minimised_executions_have_the_fewest_stale_operations() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut fewest_seen = [0; 3];
    for number in 0..60 {
        let program = random_program(&mut random);
        let outcomes = Arc::new(StdMutex::new(Vec::new()));
        let seen = Arc::clone(&outcomes);
        weak().explore(move || {
            let outcome = run(program);
            seen.lock().unwrap().push(outcome);
        });
        let outcomes = outcomes.lock().unwrap().clone();
        let failure = outcomes[random.random_range(0..outcomes.len())].clone();
        let failing = failure.clone();
        let fails = move || assert!(run(program) != failing, "the outcome");

        let fewest = Arc::new(StdMutex::new(usize::MAX));
        let least = Arc::clone(&fewest);
        let all = weak()
            .strategy(Strategy::dfs())
            .reduction(Reduction::None)
            .minimise(0)
            .on_finding(move |finding| {
                let mut least = least.lock().unwrap();
                *least = stale(finding).min(*least);
                OnFound::GoOn
            })
            .explore(fails.clone());
        assert_eq!(*all.coverage(), intermezzo::Coverage::Exhaustive);

        let report = weak()
            .strategy(Strategy::random())
            .seed(number)
            .minimise(20_000)
            .explore(fails);
        let Some(finding) = report.findings().first() else {
            // The sampler missed the outcome.
            continue;
        };
        let fewest = *fewest.lock().unwrap();
        assert_eq!(stale(finding), fewest, "{program:?} {failure:?} {report}");
        fewest_seen[fewest.min(2)] += 1;
        let notes = report.notes().join("\n");
        assert!(notes.contains("no smaller one shows it"), "{notes}");
        let counted = notes.contains("stale operation");
        assert!(counted || fewest == 0, "{notes}");
    }
    assert!(fewest_seen[0] >= 5 && fewest_seen[1] >= 5, "{fewest_seen:?}");
}

/// However small the budget, the minimised execution has only stale operations that are needed. In the long one, many are
/// not.
#[test]
fn each_stale_operation_is_needed_even_if_the_budget_is_small() {
    let test = || {
        let vars = Arc::new([AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0)]);
        let others = Arc::clone(&vars);
        let task = thread::spawn(move || {
            (1..9).for_each(|value| others[2].store(value, Relaxed));
            others[0].store(1, Relaxed);
            others[1].store(1, Relaxed);
        });
        (0..6).for_each(|_| _ = vars[2].load(Relaxed));
        assert!(
            vars[1].load(Relaxed) == 0 || vars[0].load(Relaxed) == 1,
            "the flag came first"
        );
        task.join().unwrap();
    };
    for seed in 0..5 {
        let explorer = weak().strategy(Strategy::random()).seed(seed);
        let found = explorer.executions(10_000).minimise(1).explore(test);
        let finding = &found.findings()[0];
        assert_eq!(stale(finding), 1, "{found}");
    }
}

/// A lost update needs no stale read, but an execution with one is found as well.
#[test]
fn a_failure_that_needs_no_stale_read_has_none() {
    for seed in 0..10 {
        let report = weak().strategy(Strategy::random()).seed(seed).explore(|| {
            let count = Arc::new(AtomicU32::new(0));
            let tasks = [0; 3].map(|_| {
                let count = Arc::clone(&count);
                thread::spawn(move || count.store(count.load(Acquire) + 1, Release))
            });
            tasks.into_iter().for_each(|task| task.join().unwrap());
            assert!(count.load(Relaxed) == 3, "an update is lost");
        });
        assert_eq!(stale(&report.findings()[0]), 0, "{report}");
    }
}
