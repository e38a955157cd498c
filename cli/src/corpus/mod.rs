//! The commands about programs with known verdicts.

pub(crate) mod list;
pub(crate) mod replay;
pub(crate) mod run;

use crate::output;
use crate::problem::Problem;
use intermezzo::settings::did_you_mean;
use intermezzo::{ExploreError, Explorer, ReplayedBy, Report, TextStyle, Verbosity};
use intermezzo_corpus::{ArgumentError, Arguments, Program, find, programs};

/// Returns the program of that name.
pub(crate) fn program(name: &str) -> Result<&'static Program, Problem> {
    find(name).ok_or_else(|| {
        let near = did_you_mean(name, programs().iter().map(|program| program.name));
        Problem::usage(format!(
            "there is no program {name:?}: {near}`cargo intermezzo corpus list` lists all"
        ))
    })
}

/// Returns the program of that name and its parameters: those in the name, as in `counter,tasks=2`, and those in `sets`.
pub(crate) fn program_with(name: &str, sets: &[String]) -> Result<(&'static Program, Arguments), Problem> {
    let mut parts = name.split(',');
    // The name first: an error in it matters more than one in the parameters.
    let program = program(parts.next().unwrap_or_default())?;
    let mut given: Vec<String> = parts.map(str::to_owned).collect();
    let problem = |whose: &str, error: ArgumentError| Problem::usage(format!("{whose}: {error}"));
    program.arguments(&given).map_err(|error| problem(name, error))?;
    given.extend_from_slice(sets);
    let arguments = program
        .arguments(&given)
        .map_err(|error| problem("--set", error))?;
    Ok((program, arguments))
}

/// Explores the program, or replays a schedule if the explorer is set to do that.
///
/// One function does both, because a finding's first event names the place where the exploration began, and a replay must
/// give the same bytes.
pub(crate) fn explore(
    program: &Program,
    arguments: &Arguments,
    explorer: Explorer,
) -> Result<Report, ExploreError> {
    explorer.try_explore(program.test(arguments))
}

/// Returns the style of reports of the corpus, whose programs are replayed by this command, not by environment variables.
pub(crate) fn style(detail: Verbosity) -> TextStyle {
    output::style()
        .detail(detail)
        .replayed_by(ReplayedBy::CommandLine)
}
