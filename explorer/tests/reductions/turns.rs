//! The default search of a test, on random programs. It alternates exhaustive search and samples, by one worker
//! or several, as a whole or in parts. It has the outcomes of the model, and ends because one of the two exhaustive
//! searches does.

use crate::common::Directory;
use crate::program::{Family, Sample};
use crate::resumed::Dice;
use crate::{Expected, check_share, explore_by, explorer, interleavings_max, same_outcomes};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report, Strategy};
use quickcheck::TestResult;

/// The default number of random programs of all families that are compared.
const PROGRAMS: u64 = 120;

/// The maximum number of workers.
const JOBS_MAX: u64 = 3;

fn by_turns(bound: Option<u32>) -> Explorer {
    // The models have sequentially consistent memory.
    let strategy = Strategy::named("auto(stale_reads=0)").unwrap();
    explorer((Reduction::Auto, bound), Environment::calm()).strategy(strategy)
}

/// Compares the result of a search with the model.
fn judge(
    expected: &Expected,
    bound: Option<u32>,
    report: &Report,
    outcomes: &crate::Outcomes,
) -> Result<(), String> {
    same_outcomes(report, outcomes, &expected.outcomes(bound))?;
    let (_, complete) = expected.traces(bound);
    if report.traces() != Some(complete) {
        return Err(format!("{:?} traces of {complete}", report.traces()));
    }
    match (bound, report.coverage()) {
        (_, Coverage::Exhaustive) | (Some(_), Coverage::Bounded { reason: None, .. }) => Ok(()),
        (_, other) => Err(format!("it covered {other:?} only")),
    }
}

fn agrees<const FAMILY: usize>(Sample(program): Sample<FAMILY>) -> TestResult {
    let Some(expected) = Expected::of(&program, interleavings_max()) else {
        return TestResult::discard();
    };
    let mut dice = Dice::of(&program, 0);
    for bound in [None, Some(1)] {
        for jobs in [1, 2, 3] {
            let (report, outcomes, _) = explore_by(jobs, &program, by_turns(bound), false);
            if let Err(problem) = judge(&expected, bound, &report, &outcomes) {
                return TestResult::error(format!("{bound:?}, {jobs} workers: {problem}"));
            }
        }
        let directory = Directory::new("by-turns");
        let mut outcomes = crate::Outcomes::default();
        let mut limit = 0;
        loop {
            limit += dice.roll(20);
            let jobs = dice.roll(JOBS_MAX) as usize;
            let part = by_turns(bound).checkpoint(directory.file()).executions(limit);
            let (report, of_part, _) = explore_by(jobs, &program, part, false);
            outcomes.append(of_part);
            if report.executions() < limit {
                if let Err(problem) = judge(&expected, bound, &report, &outcomes) {
                    return TestResult::error(format!("{bound:?}, in parts: {problem}"));
                }
                break;
            }
        }
    }
    TestResult::passed()
}

/// Compares random programs of a family.
fn suite<const FAMILY: usize>(family: Family) {
    check_share(family, PROGRAMS, agrees::<FAMILY>);
}

for_each_family!(suite);
