//! The cells of a comparison: the results of all runs of one search on one program.

use super::matrix::{Matrix, Programs};
use super::run::{Ended, Run};
use super::search::Search;
use super::work::{Item, refused};
use serde::Serialize;
use std::collections::BTreeSet;

/// A search on a program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Cell {
    pub(crate) program: String,
    #[serde(flatten)]
    pub(crate) search: Search,
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
}

/// The result of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// It was not run, for this reason: most often, its settings contradict each other.
    Refused(String),
    /// It was run.
    #[serde(untagged)]
    Ran(Figures),
}

/// The figures of some runs: means where there are several.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Figures {
    pub(crate) runs: u64,
    /// The number of runs that failed.
    pub(crate) found: u64,
    /// Executions to the first failure, over the runs that failed.
    pub(crate) to_failure: Option<f64>,
    /// Executions to the first failure in the run that failed soonest, and in the one that failed latest.
    pub(crate) failures: Option<(u64, u64)>,
    pub(crate) executions: f64,
    /// Different traces; `None` where they were not distinguished.
    pub(crate) traces: Option<f64>,
    /// The share of executions that showed nothing new, from 0 to 1.
    pub(crate) redundant: f64,
    /// The end of the runs: the greatest value of any of them.
    pub(crate) ended: Ended,
    /// The time of all runs together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) traces_per_second: Option<f64>,
}

impl Figures {
    /// Returns the figures of these runs; `None` if there are none.
    pub(crate) fn of(runs: &[&Run], times: bool) -> Option<Figures> {
        let ended = runs.iter().map(|run| run.ended).max()?;
        let failures: Vec<u64> = runs.iter().filter_map(|run| run.failure).collect();
        let executions = sum(runs, |run| run.executions);
        let all_traces: Option<Vec<u64>> = runs.iter().map(|run| run.traces).collect();
        let traces = all_traces.map(|traces| traces.iter().sum::<u64>() as f64);
        let seconds: f64 = runs.iter().map(|run| run.seconds).sum();
        let count = runs.len() as f64;
        Some(Figures {
            runs: runs.len() as u64,
            found: failures.len() as u64,
            to_failure: (!failures.is_empty())
                .then(|| failures.iter().sum::<u64>() as f64 / failures.len() as f64),
            failures: failures.iter().min().copied().zip(failures.iter().max().copied()),
            executions: executions / count,
            traces: traces.map(|traces| traces / count),
            redundant: sum(runs, |run| run.redundant) / executions.max(1.0),
            ended,
            seconds: times.then_some(seconds),
            traces_per_second: traces
                .filter(|_| times && seconds > 0.0)
                .map(|traces| traces / seconds),
        })
    }
}

fn sum(runs: &[&Run], number: impl Fn(&Run) -> u64) -> f64 {
    runs.iter().map(|run| number(run)).sum::<u64>() as f64
}

/// Returns the cells of a matrix, in its order: program by program, and search by search.
pub(crate) fn of(matrix: &Matrix, items: &[Item], times: bool) -> Vec<Cell> {
    let programs: Vec<&str> = match &matrix.programs {
        Programs::Corpus(names) => names.iter().map(String::as_str).collect(),
        Programs::Tests(_) => {
            let runs = items.iter().flat_map(|item| &item.runs);
            let names: BTreeSet<&str> = runs.map(|run| run.program.as_str()).collect();
            names.into_iter().collect()
        }
    };
    let mut cells = Vec::new();
    for (place, &program) in programs.iter().enumerate() {
        let is_of_program = |item: &Item, run: &Run| match &matrix.programs {
            Programs::Corpus(_) => item.program == place,
            Programs::Tests(_) => run.program == program,
        };
        for (number, search) in matrix.searches.iter().enumerate() {
            let here = items.iter().filter(|item| item.search == number);
            let runs = here.flat_map(|item| item.runs.iter().filter(|run| is_of_program(item, run)));
            let runs: Vec<&Run> = runs.collect();
            let outcome = match (refused(matrix, search), Figures::of(&runs, times)) {
                (Some(reason), _) => Outcome::Refused(reason),
                (None, Some(figures)) => Outcome::Ran(figures),
                (None, None) if matrix.halving => Outcome::Refused("not run: the time was up".into()),
                (None, None) => Outcome::Refused("the test wrote no report with these settings".into()),
            };
            cells.push(Cell {
                program: program.to_owned(),
                search: search.clone(),
                outcome,
            });
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(failure: Option<u64>, executions: u64, ended: Ended) -> Run {
        Run {
            program: "p".into(),
            seed: 0,
            failure,
            kind: failure.map(|_| "panic".into()),
            executions,
            traces: Some(10),
            redundant: 5,
            ended,
            seconds: 2.0,
        }
    }

    #[test]
    fn figures_are_means() {
        let runs = [
            run(Some(3), 3, Ended::Failure),
            run(Some(4), 4, Ended::Failure),
            run(None, 43, Ended::Limit),
        ];
        let figures = Figures::of(&runs.iter().collect::<Vec<_>>(), true).unwrap();
        assert_eq!(
            (figures.runs, figures.found, figures.to_failure),
            (3, 2, Some(3.5))
        );
        assert_eq!(figures.executions, 50.0 / 3.0);
        assert_eq!((figures.traces, figures.redundant), (Some(10.0), 0.3));
        assert_eq!((figures.ended, figures.seconds), (Ended::Limit, Some(6.0)));
        assert_eq!(figures.traces_per_second, Some(5.0));
        assert_eq!(Figures::of(&[], true), None);
    }
}
