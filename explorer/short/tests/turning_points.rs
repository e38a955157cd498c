//! Turning points of random programs, compared with all executions that begin like the failing one.

use intermezzo_explorer::schedule::Choice;
use intermezzo_explorer::search::{ChoicePoint, Plan, SoFar, Status, Strategy as Search};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::trace::Trace;
use intermezzo_explorer::{
    Coverage, Environment, Explorer, Finding, Reduction, Reversal, Schedule, Strategy, choose, thread,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::{Arc, Mutex};

/// Runs all executions that begin with these choices.
#[derive(Default)]
struct Beginning {
    choices: Vec<Choice>,
    begun: bool,
    /// The choices of each execution.
    ran: Arc<Mutex<Vec<Vec<Choice>>>>,
}

impl Search for Beginning {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        if !std::mem::replace(&mut self.begun, true) {
            plan.replace(&self.choices);
            return true;
        }
        self.ran.lock().unwrap().push(plan.choices().to_vec());
        for end in (self.choices.len() + 1..=plan.choices().len()).rev() {
            let choice = plan.choices()[end - 1];
            if choice.taken + 1 < choice.alternatives {
                plan.truncate(end);
                plan.take(end - 1, choice.taken + 1);
                return true;
            }
        }
        false
    }

    fn choose(&mut self, _: &ChoicePoint<'_>) -> Option<u32> {
        Some(0)
    }

    fn coverage(&self, _: bool) -> Coverage {
        Coverage::Exhaustive
    }

    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("beginning")
    }
}

/// A program: for each task its operations, each a variable and a value to store, or a load that adds to the sum.
type Program = Vec<Vec<(usize, Option<usize>)>>;

fn run(program: &Program, allowed: usize) {
    let vars = [const { AtomicUsize::new(0) }; 2];
    let sums = thread::scope(|scope| {
        let tasks: Vec<_> = program
            .iter()
            .map(|ops| {
                let vars = &vars;
                scope.spawn(move || {
                    let mut sum = 0;
                    for &(var, value) in ops {
                        match value {
                            Some(value) => vars[var].store(value, SeqCst),
                            None => sum += vars[var].load(SeqCst),
                        }
                    }
                    sum
                })
            })
            .collect();
        tasks.into_iter().map(|task| task.join().unwrap()).sum::<usize>()
    });
    assert!(sums % 3 != allowed, "the sum is {sums}");
}

fn explorer() -> Explorer {
    Explorer::new()
        .program("sums")
        .environment(Environment::calm())
        .reduction(Reduction::None)
        .minimise(0)
}

/// Returns `true` if all executions with this beginning fail.
fn all_fail(program: &Program, allowed: usize, choices: &[Choice]) -> bool {
    let search = Beginning {
        choices: choices.to_vec(),
        ..Beginning::default()
    };
    let explorer = explorer().strategy(Strategy::custom(search)).keep_going(true);
    let report = explorer.explore(|| run(program, allowed));
    let failed: u64 = report.findings().iter().map(|finding| finding.count).sum();
    failed == report.executions()
}

/// Returns `true` if no execution with this beginning fails in which one event comes before the other.
fn is_enough(
    program: &Program,
    allowed: usize,
    beginning: &[Choice],
    (finding, reversal): (&Finding, &Reversal),
) -> bool {
    let search = Beginning {
        choices: beginning.to_vec(),
        ..Beginning::default()
    };
    let ran = search.ran.clone();
    let all = explorer().strategy(Strategy::custom(search)).keep_going(true);
    all.explore(|| run(program, allowed));
    let ran = ran.lock().unwrap().clone();
    ran.into_iter().all(|choices| {
        let schedule = Schedule {
            choices,
            ..finding.schedule.clone()
        };
        let again = explorer().replay(schedule).explore(|| run(program, allowed));
        let at = |failing: &Finding, id: &str| failing.events.iter().position(|event| event.id == id);
        let has_it = |failing: &Finding| {
            let first = at(failing, &reversal.first);
            first.is_some_and(|first| at(failing, &reversal.before).is_none_or(|before| first < before))
        };
        !again.findings().iter().any(has_it)
    })
}

#[test]
fn turning_points_are_those_that_all_executions_have() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(21);
    let (mut found, mut always, mut reversals) = (0, 0, 0);
    for _ in 0..150 {
        let op = |rng: &mut Xoshiro256PlusPlus| {
            let value = rng.random_bool(0.5).then(|| rng.random_range(1..4));
            (rng.random_range(0..2), value)
        };
        let program: Program = (0..2)
            .map(|_| (0..rng.random_range(1..4)).map(|_| op(&mut rng)).collect())
            .collect();
        let allowed = rng.random_range(0..3);
        let report = explorer()
            .strategy(Strategy::random())
            .executions(20)
            .minimise(50)
            .explore(|| run(&program, allowed));
        let Some(finding) = report.findings().first() else {
            continue;
        };
        let point = report.turning_points().first().expect("the programs are small");
        let choices = &finding.schedule.choices;
        assert!(all_fail(&program, allowed, &choices[..point.choices]), "{report}");
        found += 1;
        match point.choices {
            0 => always += 1,
            some => assert!(!all_fail(&program, allowed, &choices[..some - 1]), "{report}"),
        }
        if let Some(reversal) = &point.passes_if {
            let at = |id: &str| position(finding, id);
            assert!(at(&reversal.first) > at(&reversal.before), "{report}");
            assert!(at(&reversal.before) >= at(&point.from), "{report}");
            let beginning = &choices[..point.choices - 1];
            assert!(
                is_enough(&program, allowed, beginning, (finding, reversal)),
                "{report}"
            );
            reversals += 1;
        }
    }
    assert!(
        found >= 60 && always >= 5 && reversals >= 20,
        "{found} {always} {reversals}"
    );
}

fn position(finding: &Finding, id: &str) -> usize {
    let mut events = finding.events.iter();
    events
        .position(|event| event.id == id)
        .expect("the event is one of the finding's")
}

/// `choose` and the environment act as in the failing execution: no order of the tasks is credited with what another
/// value does.
#[test]
fn other_values_are_not_taken_for_orders() {
    let chosen = || {
        let stored = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| stored.store(1, SeqCst));
            scope.spawn(|| stored.store(2, SeqCst));
        });
        assert_eq!(choose(3), 0, "whatever is stored");
    };
    let report = explorer().minimise(50).explore(chosen);
    let point = report.turning_points().first().expect("the program is small");
    assert_eq!((point.choices, point.passes_if.is_none()), (0, true), "{report}");

    // The weak exchange of one task fails. Otherwise nothing would.
    let weak = || {
        let words = [const { AtomicUsize::new(0) }; 2];
        thread::scope(|scope| {
            scope.spawn(|| words[0].store(1, SeqCst));
            scope.spawn(|| words[0].store(2, SeqCst));
            let exchanged = words[1].compare_exchange_weak(0, 1, SeqCst, SeqCst);
            assert!(exchanged.is_ok(), "it failed");
        });
    };
    let environment = Environment {
        weak_failures: 1,
        ..Environment::calm()
    };
    let report = explorer().environment(environment).minimise(50).explore(weak);
    let point = report.turning_points().first().expect("the program is small");
    assert_eq!((point.choices, point.passes_if.is_none()), (0, true), "{report}");
}
