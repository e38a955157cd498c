//! The runs of a matrix, one after the other.

use super::matrix::{Matrix, Programs};
use super::run::Run;
use super::search::Search;
use super::store::Store;
use crate::problem::Problem;
use crate::project::{CargoTest, NOTHING_EXPLORED};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use intermezzo::{Settings, SpinLoops};
use intermezzo_corpus::parse_full_name;
use serde::{Deserialize, Serialize};
use std::io::{self, IsTerminal};
use std::time::Duration;

/// A unit of work: a program of the corpus, or the tests of a project, with one seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Item {
    /// The index of the program in the matrix; 0 for a project's tests.
    pub(crate) program: usize,
    /// The index of the search in the matrix.
    pub(crate) search: usize,
    pub(crate) seed: u64,
    /// The limit of executions.
    #[serde(default)]
    pub(crate) most: u64,
    /// The results: a run of each test.
    pub(crate) runs: Vec<Run>,
}

/// Returns the reason why a search of this matrix is refused, if it is.
pub(crate) fn refused(matrix: &Matrix, search: &Search) -> Option<String> {
    let settings = settings(matrix, Settings::default(), search, 0, matrix.executions);
    settings.check().err().map(|error| error.to_string())
}

/// Returns the settings of a run of the matrix. Of a program's own settings, the environment and the limits are kept.
fn settings(matrix: &Matrix, own: Settings, search: &Search, seed: u64, executions: u64) -> Settings {
    let mut settings = Settings {
        environment: own.environment,
        steps: own.steps,
        tasks: own.tasks,
        fair_yields: own.fair_yields,
        // Not every search of the matrix can be used with assumed loops.
        spin_loops: match own.spin_loops {
            SpinLoops::Assume => SpinLoops::Park,
            other => other,
        },
        // Findings are only counted.
        minimise: 0,
        ..Settings::default()
    };
    for (name, value) in &matrix.settings {
        settings.set(name, value).expect("settings were checked");
    }
    Settings {
        executions: Some(executions),
        seed,
        ..search.settings(settings)
    }
}

/// Runs everything that the store does not have yet, and returns all results, in the matrix's order.
///
/// # Errors
/// If a run cannot be carried out, or its result cannot be stored.
pub(crate) fn run(matrix: &Matrix, mut store: Store) -> Result<Vec<Item>, Problem> {
    let programs = match &matrix.programs {
        Programs::Corpus(names) => names.len(),
        Programs::Tests(_) => 1,
    };
    let mut wanted = Vec::new();
    for program in 0..programs {
        for (number, search) in matrix.searches.iter().enumerate() {
            if refused(matrix, search).is_none() {
                wanted.extend(matrix.seeds_of(search).map(|seed| (program, number, seed)));
            }
        }
    }
    let line = progress(wanted.len());
    let mut items = Vec::new();
    for (program, number, seed) in wanted {
        line.inc(1);
        if let Some(item) = store.take(program, number, seed, matrix.executions) {
            items.push(item);
            continue;
        }
        let search = &matrix.searches[number];
        line.set_message(match &matrix.programs {
            Programs::Corpus(names) => format!("{}: {}", names[program], search.label()),
            Programs::Tests(_) => search.label(),
        });
        let item = one(matrix, program, number, seed, matrix.executions, None)?;
        store.keep(&item)?;
        items.push(item);
    }
    line.finish_and_clear();
    Ok(items)
}

/// Runs a search of a program with a seed, within this limit of executions and, if given, this limit of time.
///
/// # Errors
/// If it cannot be carried out.
pub(crate) fn one(
    matrix: &Matrix,
    program: usize,
    number: usize,
    seed: u64,
    most: u64,
    time: Option<Duration>,
) -> Result<Item, Problem> {
    let search = &matrix.searches[number];
    let runs = match &matrix.programs {
        Programs::Corpus(names) => vec![explore(matrix, &names[program], search, (seed, most, time))?],
        Programs::Tests(cargo) => test(matrix, cargo, search, (seed, most, time))?,
    };
    Ok(Item {
        program,
        search: number,
        seed,
        most,
        runs,
    })
}

/// A seed, the limit of executions, and the limit of time.
type Limited = (u64, u64, Option<Duration>);

/// Explores a program of the corpus.
fn explore(
    matrix: &Matrix,
    name: &str,
    search: &Search,
    (seed, most, time): Limited,
) -> Result<Run, Problem> {
    let (program, arguments) = parse_full_name(name).expect("names were checked");
    let mut settings = settings(matrix, program.settings(), search, seed, most);
    if settings.monitors.is_empty() {
        // Searches are compared by the program's known failure. The program adds the monitor that finds it, if it needs
        // one.
        settings.set("monitors", "none").expect("a list of monitors");
    }
    settings.time = time.or(settings.time);
    let explorer = program.explorer(settings, &arguments);
    let report = crate::corpus::explore(program, &arguments, explorer)
        .map_err(|error| Problem::usage(format!("{name}: {error}")))?;
    Run::of_report(&report.to_json(), seed)
}

/// Runs the project's tests. They keep those of their own settings that the matrix does not set.
///
/// # Errors
/// If none of them explored anything, for another reason than settings that contradict the search.
fn test(
    matrix: &Matrix,
    cargo: &[String],
    search: &Search,
    (seed, most, time): Limited,
) -> Result<Vec<Run>, Problem> {
    let mut given: Vec<(&str, String)> = vec![
        ("minimise", "0".into()),
        ("executions", most.to_string()),
        ("seed", seed.to_string()),
    ];
    given.extend(time.map(|time| ("time", time.as_secs_f64().to_string())));
    let others = matrix
        .settings
        .iter()
        .map(|(name, value)| (name.as_str(), value.clone()));
    given.extend(others);
    given.extend(search.given());
    // Failing tests are expected, and must not keep the others from being explored.
    let arguments = ["--quiet", "--no-fail-fast"].into_iter().map(Into::into);
    let arguments = arguments.chain(cargo.iter().map(Into::into)).collect();
    let ran = CargoTest::new(arguments, true)?.silent().settings(&given).run()?;
    if ran.reports.is_empty() && ran.refused_none().is_ok() {
        return Err(Problem::usage(NOTHING_EXPLORED));
    }
    ran.reports
        .iter()
        .map(|report| Run::of_report(report.text.get(), seed))
        .collect()
}

/// Creates a progress line on stderr, if that is a terminal.
pub(crate) fn progress(runs: usize) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} [{bar:20}] run {pos} of {len}, {eta} left: {msg}")
        .expect("the template is well-formed")
        .progress_chars("=> ");
    ProgressBar::with_draw_target(Some(runs as u64), ProgressDrawTarget::stderr()).with_style(style)
}
