//! A parameter that grows, and the growth of the cost of searches with it.

use super::cells::{Cell, Outcome};
use super::run::Ended;
use crate::problem::Problem;
use serde::Serialize;
use std::ops::RangeInclusive;

/// A parameter and its values.
#[derive(Debug)]
pub(crate) struct Growth {
    parameter: String,
    values: RangeInclusive<u64>,
}

/// The number of executions of a search at each value.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Grown {
    /// The program, without the parameter.
    pub(crate) program: String,
    pub(crate) search: String,
    pub(crate) parameter: String,
    /// Values and executions, as far as the search ended or failed.
    pub(crate) executions: Vec<(u64, f64)>,
    /// The factor of the executions from one value to the next: the geometric mean.
    pub(crate) factor: Option<f64>,
}

impl Growth {
    /// Parses `tasks=2..5`, both ends included.
    ///
    /// # Errors
    /// If it is not of that form, or the second value is not the larger.
    pub(crate) fn parse(text: &str) -> Result<Growth, Problem> {
        let parts = || {
            let (parameter, values) = text.split_once('=')?;
            let (from, to) = values.split_once("..")?;
            Some((parameter, from.parse::<u64>().ok()?, to.parse::<u64>().ok()?))
        };
        match parts() {
            Some((parameter, from, to)) if from < to => Ok(Growth {
                parameter: parameter.into(),
                values: from..=to,
            }),
            _ => Err(Problem::usage(format!(
                "--grow {text}: write NAME=FROM..TO, both included and the second the larger: tasks=2..5"
            ))),
        }
    }

    /// Returns the names of the program with each value.
    pub(crate) fn names(&self, program: &str) -> Vec<String> {
        let name = |value| format!("{program},{}={value}", self.parameter);
        self.values.clone().map(name).collect()
    }

    /// Returns the growth of the cost, for each search on each program. `cells` are in the order of the matrix: the
    /// values of one program follow each other, each with all searches.
    pub(crate) fn of(&self, cells: &[Cell], searches: usize) -> Vec<Grown> {
        let values = self.values.clone().count();
        let mut all = Vec::new();
        for program in cells.chunks(values * searches) {
            for at in 0..searches {
                let of_search = program.iter().skip(at).step_by(searches);
                let executions = self.values.clone().zip(of_search).filter_map(|(value, cell)| {
                    let Outcome::Ran(figures) = &cell.outcome else {
                        return None;
                    };
                    (figures.ended != Ended::Limit).then_some((value, figures.executions))
                });
                let executions: Vec<(u64, f64)> = executions.collect();
                all.push(Grown {
                    program: self.without_parameter(&program[at].program),
                    search: program[at].search.label(),
                    parameter: self.parameter.clone(),
                    factor: factor(&executions),
                    executions,
                });
            }
        }
        all
    }

    /// Returns the name without the parameter: `counter` for `counter,tasks=3`.
    fn without_parameter(&self, program: &str) -> String {
        let ours = format!("{}=", self.parameter);
        let parts: Vec<&str> = program
            .split(',')
            .filter(|part| !part.starts_with(&ours))
            .collect();
        parts.join(",")
    }
}

/// Returns the geometric mean of the factors from each value to the next, if there are two values.
fn factor(executions: &[(u64, f64)]) -> Option<f64> {
    let (&(from, least), &(to, most)) = (executions.first()?, executions.last()?);
    (to > from && least > 0.0).then(|| (most / least).powf(1.0 / (to - from) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_grow_are_parsed() {
        let growth = Growth::parse("tasks=2..4").unwrap();
        assert_eq!(
            growth.names("counter"),
            ["counter,tasks=2", "counter,tasks=3", "counter,tasks=4"]
        );
        assert_eq!(
            growth.without_parameter("counter,tasks=2,increments=7"),
            "counter,increments=7"
        );
        for wrong in ["tasks", "tasks=2", "tasks=4..2", "tasks=2..2", "tasks=a..b"] {
            assert!(
                Growth::parse(wrong)
                    .unwrap_err()
                    .to_string()
                    .contains("tasks=2..5")
            );
        }
    }

    #[test]
    fn factors_are_per_step() {
        assert_eq!(factor(&[(2, 6.0), (3, 60.0), (4, 600.0)]), Some(10.0));
        assert_eq!(factor(&[(2, 6.0), (4, 600.0)]), Some(10.0));
        assert_eq!(factor(&[(2, 6.0)]), None);
    }
}
