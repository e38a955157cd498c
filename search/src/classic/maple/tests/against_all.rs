//! The profiler's predictions from one execution, compared with the iRoots that all executions expose.

use super::super::access::Places;
use super::super::predict::Predictor;
use super::super::profile::Profiler;
use super::program::Program;
use super::{Recorded, accesses, all, record};
use hashbrown::HashSet;
use intermezzo_explorer::{Coverage, Reduction};
use std::collections::BTreeSet;

const WINDOW: u32 = 20;

fn predicted_by(recorded: &Recorded) -> BTreeSet<String> {
    let (mut profiler, mut places) = (Profiler::default(), Places::default());
    for event in &recorded.events {
        let accesses = accesses(event, &mut places);
        profiler.add(&event.0, &accesses, WINDOW);
    }
    profiler.finish();
    let (predicted, whole) = Predictor::default().predict(&profiler, WINDOW, &mut HashSet::new(), usize::MAX);
    assert!(whole);
    predicted.iter().map(|iroot| iroot.name(&places)).collect()
}

/// Returns the iRoots that all executions together expose, of the idioms that are searched for.
fn exposed_by_all(program: &Program, reduction: Reduction) -> BTreeSet<String> {
    let report = all(program, reduction);
    assert_eq!(report.coverage(), &Coverage::Exhaustive);
    let names = report.iroots().expect("they are measured").names();
    let searched = names.iter().filter(|name| !name.starts_with("6:"));
    searched.cloned().collect()
}

/// Returns the number of each idiom.
fn by_idiom<'a>(names: impl Iterator<Item = &'a String>) -> [usize; 5] {
    let mut counts = [0; 5];
    names.for_each(|name| counts[usize::from(name.as_bytes()[0] - b'1')] += 1);
    counts
}

/// The iRoots depend on the trace alone.
#[test]
fn reductions_hide_none() {
    for number in 0..60 {
        let program = Program::random(number, number % 2 == 0, 3);
        let every = exposed_by_all(&program, Reduction::None);
        for reduction in [Reduction::Dpor, Reduction::Caching] {
            assert_eq!(exposed_by_all(&program, reduction), every, "{program:?}");
        }
    }
}

/// If the operations of tasks do not depend on the order, any complete execution predicts all iRoots. Some predictions
/// do not come true, which is counted for each idiom.
#[test]
fn one_execution_of_a_straight_program_predicts_all() {
    let (mut predictions, mut empty) = ([0; 5], [0; 5]);
    let mut programs = 0;
    for number in 0..400 {
        let program = Program::random(number, true, 4);
        let recorded = record(&program, number, 4);
        let Some(complete) = recorded.iter().find(|recorded| recorded.complete) else {
            continue;
        };
        let promised = predicted_by(complete);
        let exposed = exposed_by_all(&program, Reduction::Dpor);
        let missed: Vec<&String> = exposed.difference(&promised).collect();
        assert!(missed.is_empty(), "{program:?} {complete:?}: {missed:?}");
        let (all, vain) = (by_idiom(promised.iter()), by_idiom(promised.difference(&exposed)));
        for idiom in 0..5 {
            predictions[idiom] += all[idiom];
            empty[idiom] += vain[idiom];
        }
        programs += 1;
    }
    assert_eq!(programs, 400);
    // The numbers are by idiom. Each of two dependencies may be possible, but not both.
    assert_eq!(predictions, [2229, 507, 153, 229, 48]);
    assert_eq!(empty, [0, 0, 1, 3, 0]);
}

/// If the operations of tasks depend on the order, a few executions together predict nearly all iRoots.
#[test]
fn few_executions_of_other_programs_predict_most() {
    let (mut there, mut missed) = ([0; 5], [0; 5]);
    for number in 0..200 {
        let program = Program::random(number, false, 4);
        let promised: BTreeSet<String> = record(&program, number, 4)
            .iter()
            .flat_map(predicted_by)
            .collect();
        let exposed = exposed_by_all(&program, Reduction::Caching);
        let (all, without) = (by_idiom(exposed.iter()), by_idiom(exposed.difference(&promised)));
        for idiom in 0..5 {
            there[idiom] += all[idiom];
            missed[idiom] += without[idiom];
        }
    }
    assert_eq!(there, [922, 183, 41, 116, 25]);
    assert_eq!(missed, [37, 17, 1, 2, 0]);
}
