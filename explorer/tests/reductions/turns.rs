//! The search of a test that names none, on random programs: what exhaustive search and samples by turns show, by one worker or
//! several, whole or in parts, is what the model says; and that it ended because one of the two exhaustive searches did.

use crate::common::Directory;
use crate::program::{Family, Sample};
use crate::resumed::Dice;
use crate::{Expected, check_share, explore_by, explorer, interleavings_max, same_outcomes};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report, Strategy};
use quickcheck::TestResult;

/// How many random programs of all families are compared, unless said otherwise.
const PROGRAMS: u64 = 2_000;

/// Most workers.
const JOBS_MAX: u64 = 3;

fn by_turns(bound: Option<u32>) -> Explorer {
    explorer((Reduction::Auto, bound), Environment::calm()).strategy(Strategy::auto())
}

/// Compares what a search came to with what the model says.
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
