//! Both identities give the same executions, event by event, and the same reports.
//!
//! These environment variables change what is compared: `EXPLORED_PROGRAMS` is the number of programs, and
//! `EXPLORED_SEED` the seed of the first one; the others have the seeds after it.

use crate::program::{Family, Outcome, Place, Program, execute};
use intermezzo_engine::runtime::{ByAddress, Embedded};
use intermezzo_explorer::{Explorer, Reduction, Report};
use intermezzo_sdk::{Context, Execution, Interests, Monitor, SyncVarAccess};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::{Arc, Mutex};

/// The default number of programs.
const PROGRAMS: u64 = 600;

/// The most executions of a program that are compared.
const EXECUTIONS: u64 = 3_000;

/// The visible operations of each execution.
type Executions = Arc<Mutex<Vec<Vec<SyncVarAccess>>>>;

/// A monitor that keeps all visible operations.
struct Keep(Executions);

impl Monitor for Keep {
    fn name(&self) -> &str {
        "keep"
    }
    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, _: &mut Context<'_>) {
        self.0.lock().unwrap().push(execution.accesses.to_vec());
    }
}

/// All that is known of an exploration.
#[derive(Debug, PartialEq)]
struct Explored {
    executions: Vec<Vec<SyncVarAccess>>,
    outcomes: Vec<Outcome>,
    report: serde_json::Value,
}

fn explore<I: Family>(program: &Program, reduction: Reduction) -> (Explored, Report) {
    let (executions, outcomes) = (Executions::default(), Mutex::default());
    let report = Explorer::new()
        .program("by_address")
        .executions(EXECUTIONS)
        .reduction(reduction)
        .monitor(Keep(executions.clone()))
        .explore(|| execute::<I>(program, &outcomes));
    let mut json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    let map = json.as_object_mut().unwrap();
    for of_time in ["elapsed_seconds", "estimate"] {
        map.remove(of_time);
    }
    let explored = Explored {
        executions: std::mem::take(&mut executions.lock().unwrap()),
        outcomes: outcomes.into_inner().unwrap(),
        report: json,
    };
    (explored, report)
}

/// Compares programs with these seeds, and returns the number of executions and of failures, for each place.
fn compare(seeds: impl Iterator<Item = u64>) -> [(u64, u64); 3] {
    let mut counts = [(0, 0); 3];
    for seed in seeds {
        let program = Program::draw(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        for reduction in [
            Reduction::None,
            Reduction::Caching,
            Reduction::SourceDpor,
            Reduction::Dpor,
        ] {
            let (embedded, report) = explore::<Embedded>(&program, reduction);
            let (by_address, _) = explore::<ByAddress>(&program, reduction);
            assert!(
                embedded == by_address,
                "seed {seed}, {reduction:?}: {program:?}\n{}\n\n{}",
                embedded.report,
                by_address.report,
            );
            let count = &mut counts[[Place::Heap, Place::Stack, Place::Static]
                .iter()
                .position(|&place| place == program.place)
                .unwrap()];
            count.0 += report.executions();
            count.1 += u64::from(report.verdict().is_fail());
        }
    }
    counts
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |given| given.parse().unwrap())
}

#[test]
fn both_identities_give_the_same_executions() {
    let (programs, seed) = (number("EXPLORED_PROGRAMS", PROGRAMS), number("EXPLORED_SEED", 0));
    // On two threads at the same time, and on each in sequence.
    let [even, odd] = std::thread::scope(|scope| {
        let halves =
            [0, 1].map(|first| scope.spawn(move || compare((seed + first..seed + programs).step_by(2))));
        halves.map(|half| half.join().unwrap())
    });
    for (even, odd) in even.into_iter().zip(odd) {
        let (executions, failures) = (even.0 + odd.0, even.1 + odd.1);
        assert!(
            programs < PROGRAMS || executions > 10_000 && failures > 10,
            "a place is hardly tested: {executions} executions, {failures} failures"
        );
    }
}
