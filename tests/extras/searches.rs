//! Compares every search with a model, or with depth-first search in which every operation is a schedule point.

use crate::by_workers::by_workers;
use crate::program::{Program, execute};
use crate::records::{Outcomes, Take};
use crate::{model, records::Records};
use intermezzo::{Coverage, Environment, Explorer, Reduction, Strategy};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// The maximum number of executions of the reference.
const EXECUTIONS_MAX: u64 = 1_000;

fn explorer() -> Explorer {
    Explorer::new()
        .keep_going(true)
        .minimise(0)
        .environment(Environment::calm())
}

/// Returns the outcomes of a search, and the number of its executions; `None` if it was stopped at its limit.
fn explore(program: &Program, explorer: Explorer) -> (Option<Outcomes>, u64) {
    let outcomes = Arc::new(Mutex::new(Outcomes::default()));
    let (shared, program) = (outcomes.clone(), program.clone());
    let report = explorer
        .program("extras")
        .monitor_with(move || Take(shared.clone()))
        .explore(move || execute(&program));
    let all = match report.coverage() {
        Coverage::Exhaustive => true,
        Coverage::Bounded { preemptions, .. } => *preemptions == Some(1),
        _ => false,
    };
    let outcomes = outcomes.lock().unwrap().clone();
    (all.then_some(outcomes), report.executions())
}

fn difference(name: &str, found: &BTreeSet<Records>, wanted: &BTreeSet<Records>) -> Option<String> {
    let missed = wanted.difference(found).next();
    let odd = found.difference(wanted).next();
    (found != wanted).then(|| format!("{name}: misses {missed:?}, adds {odd:?}"))
}

/// Searches whose outcomes are to be those of the first, each with its name.
type Searches = Vec<(&'static str, Explorer)>;

fn with(explorer: impl Fn() -> Explorer) -> Searches {
    vec![
        ("caching", explorer().reduction(Reduction::Caching)),
        ("source-dpor", explorer().reduction(Reduction::SourceDpor)),
        ("dpor", explorer().reduction(Reduction::Dpor)),
    ]
}

/// Compares searches with outcomes. An execution that a reduction cuts short may look stuck, so of the stuck outcomes only
/// missing ones are errors.
fn compare(
    program: &Program,
    wanted: &Outcomes,
    searches: Searches,
    executions: &AtomicU64,
) -> Result<(), String> {
    for (name, search) in searches {
        let (found, ran) = explore(program, search);
        executions.fetch_add(ran, SeqCst);
        let found = found.ok_or_else(|| format!("{name} does not cover all"))?;
        if let Some(text) = difference(name, &found.complete, &wanted.complete) {
            return Err(text);
        }
        if let Some(missed) = wanted.stuck.difference(&found.stuck).next() {
            return Err(format!("{name} misses the deadlock {missed:?}"));
        }
    }
    Ok(())
}

/// Compares programs. Returns the number that were compared, and the number of executions for that.
fn all(programs: u64, compare: impl Fn(u64, &AtomicU64) -> Result<bool, String> + Sync) -> (u64, u64) {
    let executions = AtomicU64::new(0);
    let results = by_workers(0..programs, |number| {
        compare(number, &executions).map_err(|text| format!("program {number}: {text}"))
    });
    let differ: Vec<String> = results.iter().filter_map(|result| result.clone().err()).collect();
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    let compared = results.iter().filter(|result| **result == Ok(true)).count();
    (compared as u64, executions.into_inner())
}

#[test]
fn every_search_has_the_outcomes_of_the_model() {
    let (compared, executions) = all(1_000, |number, executions| {
        let program = Program::draw(number, false);
        let wanted = model::outcomes(&program);
        let told = |why| format!("{program:?}\n{why}");
        let mut searches = with(explorer);
        // These searches take most of the time, and the model has already shown the outcomes.
        if number.is_multiple_of(4) {
            searches.push(("auto", explorer().strategy(Strategy::auto())));
            let brute = explorer().every_operation(true).executions(EXECUTIONS_MAX);
            let (whole, ran) = explore(&program, brute);
            executions.fetch_add(ran, SeqCst);
            if let Some(whole) = whole {
                assert_eq!(whole, wanted, "{program:?}");
            }
        }
        compare(&program, &wanted, searches, executions).map_err(told)?;
        let (bounded, ran) = explore(&program, explorer().preemptions(1));
        executions.fetch_add(ran, SeqCst);
        let bounded = bounded.expect("it has no limit");
        let mut searches = with(|| explorer().preemptions(1));
        searches.retain(|(name, _)| *name != "source-dpor");
        compare_within(&program, &bounded, searches).map_err(told)?;
        Ok(true)
    });
    assert_eq!(compared, 1_000);
    assert!(executions > 25_000, "{executions}");
}

/// Checks that searches within a bound miss nothing: those that reduce may show more.
fn compare_within(program: &Program, wanted: &Outcomes, searches: Searches) -> Result<(), String> {
    for (name, search) in searches {
        let found = explore(program, search)
            .0
            .ok_or_else(|| format!("{name} does not cover all"))?;
        let missed = wanted.complete.difference(&found.complete).next();
        let missed = missed.or(wanted.stuck.difference(&found.stuck).next());
        if let Some(missed) = missed {
            return Err(format!("{name} within the bound misses {missed:?}"));
        }
    }
    Ok(())
}

#[test]
fn every_search_has_the_outcomes_of_the_reference_for_waits_with_limits() {
    let (compared, _) = all(300, |number, executions| {
        let program = Program::draw(number, true);
        for early in [0, 1] {
            let environment = Environment {
                timeouts: early,
                ..Environment::calm()
            };
            let explorer = || explorer().environment(environment);
            let brute = explorer().every_operation(true).executions(EXECUTIONS_MAX);
            let (Some(wanted), ran) = explore(&program, brute) else {
                return Ok(false);
            };
            executions.fetch_add(ran, SeqCst);
            compare(&program, &wanted, with(explorer), executions)
                .map_err(|why| format!("{early} early: {program:?}\n{why}"))?;
        }
        Ok(true)
    });
    assert!(compared > 100, "{compared}");
}
