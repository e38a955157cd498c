//! The matrix of a comparison: programs by searches, and the run of each cell.

use super::grow::Growth;
use super::halving;
use super::search::{self, Search};
use crate::args::TuneArgs;
use crate::corpus;
use crate::problem::Problem;
use intermezzo_corpus::parse_full_name;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;

/// The programs of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Programs {
    /// Programs of the corpus, by their names with parameters, as they were given.
    Corpus(Vec<String>),
    /// The tests of a project, by the arguments of `cargo test`.
    Tests(Vec<String>),
}

impl Programs {
    /// `true` if they are tests of a project.
    pub(crate) fn are_tests(&self) -> bool {
        matches!(self, Programs::Tests(_))
    }
}

/// A comparison to run. It has only the settings that decide the results, because stored results are identified by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Matrix {
    pub(crate) programs: Programs,
    pub(crate) searches: Vec<Search>,
    /// The number of seeds of each search that draws at random.
    pub(crate) seeds: u64,
    /// The maximum number of executions of each run.
    pub(crate) executions: u64,
    /// Settings of all searches.
    pub(crate) settings: Vec<(String, String)>,
    /// `true` if searches that fall behind are dropped.
    #[serde(default)]
    pub(crate) halving: bool,
}

/// The strategies that are compared unless others are given.
const STRATEGIES: &[&str] = &["auto", "dfs", "pos", "surw"];

impl Matrix {
    /// Returns the matrix that the flags ask for, on these programs.
    ///
    /// # Errors
    /// If a strategy does not exist.
    pub(crate) fn new(args: &TuneArgs, programs: Programs, strategies: &[&str]) -> Result<Matrix, Problem> {
        if args.is_open() {
            return Ok(Matrix {
                programs,
                searches: halving::searches(),
                seeds: args.seeds,
                executions: args.executions,
                settings: args.settings.clone(),
                halving: true,
            });
        }
        let strategies = args
            .strategies
            .as_deref()
            .map_or(strategies.to_vec(), search::list);
        let mut searches: Vec<Search> = Vec::new();
        for strategy in strategies {
            Search::check_strategy(strategy)?;
            // Without given reductions, `auto` chooses its own, and the other strategies use none.
            let own = vec![if strategy == "auto" { "auto" } else { "none" }.to_owned()];
            let none = vec!["none".to_owned()];
            for reduction in given_or(&args.reductions, &own) {
                for preemptions in given_or(&args.preemptions, &none) {
                    for cache_bytes in budgets(args) {
                        let search = Search {
                            strategy: strategy.into(),
                            reduction: reduction.clone(),
                            preemptions: preemptions.clone(),
                            cache_bytes,
                        };
                        if searches.contains(&search) {
                            return Err(Problem::usage(format!(
                                "`{}` is given twice: give it once",
                                search.label()
                            )));
                        }
                        searches.push(search);
                    }
                }
            }
        }
        Ok(Matrix {
            programs,
            searches,
            seeds: args.seeds,
            executions: args.executions,
            settings: args.settings.clone(),
            halving: false,
        })
    }

    /// Returns the matrix on the named programs, each with each value of the parameter that grows.
    ///
    /// # Errors
    /// If there is no such program, parameter or strategy.
    pub(crate) fn of_programs(args: &TuneArgs, growth: Option<&Growth>) -> Result<Matrix, Problem> {
        let mut programs = Vec::new();
        for name in &args.programs {
            let with_sets = [std::slice::from_ref(name), &args.sets].concat().join(",");
            match growth {
                None => programs.push(with_sets),
                Some(growth) => programs.extend(growth.names(&with_sets)),
            }
        }
        let mut full_names: Vec<String> = Vec::new();
        for name in &programs {
            // The name first: an error in it matters more than one in the parameters.
            corpus::program(name.split(',').next().unwrap_or_default())?;
            let (program, arguments) =
                parse_full_name(name).map_err(|error| Problem::usage(format!("{name}: {error}")))?;
            let full_name = program.full_name(&arguments);
            if full_names.contains(&full_name) {
                return Err(Problem::usage(format!("{name} is given twice: give it once")));
            }
            full_names.push(full_name);
        }
        Matrix::new(args, Programs::Corpus(programs), STRATEGIES)
    }

    /// Returns the matrix on this project's tests.
    ///
    /// # Errors
    /// If there is no such strategy.
    pub(crate) fn of_tests(args: &TuneArgs, cargo: &[OsString]) -> Result<Matrix, Problem> {
        let cargo = cargo
            .iter()
            .map(|argument| argument.to_string_lossy().into_owned());
        Matrix::new(args, Programs::Tests(cargo.collect()), STRATEGIES)
    }

    /// Returns the seeds of a search's runs.
    pub(crate) fn seeds_of(&self, search: &Search) -> std::ops::Range<u64> {
        if search.draws_at_random() {
            0..self.seeds
        } else {
            0..1
        }
    }
}

fn given_or<'a>(given: &'a [String], otherwise: &'a [String]) -> &'a [String] {
    if given.is_empty() { otherwise } else { given }
}

fn budgets(args: &TuneArgs) -> Vec<Option<String>> {
    match &args.cache_bytes[..] {
        [] => vec![None],
        given => given.iter().cloned().map(Some).collect(),
    }
}
