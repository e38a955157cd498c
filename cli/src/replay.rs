//! `replay`: repeats one schedule of a program of the corpus or of a test of the project.

use crate::args::ReplayArgs;
use crate::exit::Exit;
use crate::problem::Problem;
use crate::{corpus, project};
use intermezzo::Schedule;

/// Replays the schedule.
pub(crate) fn run(args: ReplayArgs) -> Result<Exit, Problem> {
    let schedule = Schedule::parse(&args.schedule).map_err(|error| Problem::usage(error.to_string()))?;
    match schedule.program.strip_prefix("corpus::") {
        // Otherwise it is a test or a program of a crate that happens to have that name.
        Some(program) if !program.contains("::") && !schedule.binary.is_program() => {
            args.around.refuse_for_test()?;
            corpus::replay::run(schedule, args)
        }
        _ => project::replay::run(schedule, args),
    }
}
