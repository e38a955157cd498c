//! Partial-order reductions by several workers have the result of a single one. Without a bound they have as many
//! executions as it has; within a bound, as many as any other number of workers.
//!
//! The distribution of executions over workers is not the same each time. So a program that fails may have to be run
//! repeatedly to fail again.

use crate::program::{Family, Program, Sample};
use crate::{Case, Expected, Tally, check_share, compare, explorer, interleavings_max, is_offered, name};
use intermezzo_explorer::{Environment, Reduction};
use quickcheck::TestResult;
use std::sync::{Mutex, PoisonError};

/// The default number of random programs of all families that are compared.
const PROGRAMS: u64 = 120;

/// The searches.
pub(crate) const SEARCHES: [Case; 4] = [
    (Reduction::Dpor, None),
    (Reduction::SourceDpor, None),
    (Reduction::Dpor, Some(1)),
    (Reduction::Dpor, Some(2)),
];

/// The numbers of workers, in addition to a single one.
const JOBS: [usize; 3] = [2, 3, 4];

/// The counts by search and number of workers, a single worker first.
type Tallies = [[Tally; 1 + JOBS.len()]; SEARCHES.len()];

const NOTHING: Tallies = [[Tally::NOTHING; 1 + JOBS.len()]; SEARCHES.len()];

/// The counts of each family.
static TALLIES: [Mutex<Tallies>; Family::ALL.len()] = [const { Mutex::new(NOTHING) }; Family::ALL.len()];

/// Compares the results of several workers with the model, and with those of a single worker.
fn compare_all(program: &Program, expected: &Expected) -> Result<Tallies, String> {
    let mut tallies = NOTHING;
    for (search, tallies) in SEARCHES.into_iter().zip(&mut tallies) {
        if !is_offered(search) {
            continue;
        }
        let told = |jobs, problem| format!("{}, {jobs} workers: {problem}", name(search));
        tallies[0] = compare(program, expected, search, 1).map_err(|problem| told(1, problem))?;
        let single = tallies[0];
        // Within a bound a single one remembers states, and so runs others than several, which all run the same.
        let mut wanted = search.1.is_none().then_some(single);
        for (jobs, tally) in JOBS.into_iter().zip(&mut tallies[1..]) {
            *tally = compare(program, expected, search, jobs).map_err(|problem| told(jobs, problem))?;
            let shown = |tally: &Tally| tally.executions - tally.redundant;
            // Several workers do not use wakeup trees if values are chosen.
            if !tally.is_weaker && !single.is_weaker {
                let as_many = wanted.get_or_insert(*tally);
                if shown(tally) != shown(as_many) {
                    let (found, others) = (shown(tally), shown(as_many));
                    let problem = format!("{found} executions, others {others}");
                    return Err(told(jobs, problem));
                }
            }
            first_finding(program, expected, search, jobs).map_err(|problem| told(jobs, problem))?;
        }
    }
    Ok(tallies)
}

/// If the search ends with the first finding, it finds something if there is something to find.
fn first_finding(program: &Program, expected: &Expected, search: Case, jobs: usize) -> Result<(), String> {
    let explorer = explorer(search, Environment::calm()).keep_going(false);
    let (report, ..) = crate::run::explore_by(jobs, program, explorer, false);
    let wanted = usize::from(!expected.outcomes(search.1).stuck.is_empty());
    if report.findings().len() == wanted && report.first_failure().is_some() == (wanted > 0) {
        Ok(())
    } else {
        Err(format!(
            "{wanted} findings are wanted, and this was found:\n{report}"
        ))
    }
}

fn agrees<const FAMILY: usize>(Sample(program): Sample<FAMILY>) -> TestResult {
    let Some(expected) = Expected::of(&program, interleavings_max()) else {
        return TestResult::discard();
    };
    let tallies = match compare_all(&program, &expected) {
        Ok(tallies) => tallies,
        Err(problem) => return TestResult::error(problem),
    };
    let mut all = TALLIES[FAMILY].lock().unwrap_or_else(PoisonError::into_inner);
    for (all, one) in all.iter_mut().flatten().zip(tallies.iter().flatten()) {
        all.add(one);
    }
    TestResult::passed()
}

/// Compares random programs of a family.
#[allow(clippy::print_stdout, reason = "figures for whoever runs the test by hand")]
fn suite<const FAMILY: usize>(family: Family) {
    check_share(family, PROGRAMS, agrees::<FAMILY>);
    let all = TALLIES[FAMILY].lock().unwrap_or_else(PoisonError::into_inner);
    for (search, tallies) in SEARCHES.iter().zip(&*all) {
        for (jobs, tally) in [1].iter().chain(&JOBS).zip(tallies) {
            println!(
                "{family:?}, {}, {jobs} workers: {} executions, {} redundant; by several: {}",
                name(*search),
                tally.executions,
                tally.redundant,
                tally.by_several
            );
        }
        if is_offered(*search) {
            let by_several: u64 = tallies.iter().map(|tally| tally.by_several).sum();
            // Of few executions, one worker may run all before another begins.
            let executions: u64 = tallies.iter().map(|tally| tally.executions).sum();
            assert!(
                by_several > 0 || executions < 1_000,
                "{family:?}, {}: one worker ran everything",
                name(*search)
            );
        }
    }
}

for_each_family!(suite);
