//! `replay` of a program of the corpus, in this process.

use crate::args::ReplayArgs;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::view;
use intermezzo::Schedule;
use intermezzo_corpus::parse_full_name;

/// Replays the schedule.
pub(crate) fn run(schedule: Schedule, args: ReplayArgs) -> Result<Exit, Problem> {
    let full_name = schedule.program.clone();
    if !args.cargo.is_empty() {
        return Err(Problem::usage(format!(
            "{full_name:?} is a program of the corpus, which is replayed without cargo: leave out `--`"
        )));
    }
    // The name alone first, because its error suggests similar names.
    let name = full_name
        .trim_start_matches("corpus::")
        .split(',')
        .next()
        .unwrap_or_default();
    super::program(name)?;
    let (program, arguments) = parse_full_name(&full_name)
        .map_err(|error| Problem::usage(format!("the schedule's program {full_name:?}: {error}")))?;
    if let Some(debugger) = args.debugger {
        let code = debugger.run_this_command()?;
        return Ok(if code == 0 { Exit::Pass } else { Exit::Findings });
    }
    let mut settings = program.settings();
    args.limits.apply(&mut settings);
    let style = super::style(args.limits.detail()?);
    view::check_may_write(args.view.as_ref())?;
    let explorer = program.explorer(settings, &arguments).replay(schedule);
    let mut explorer = explorer.record(view::records(args.view.as_ref()));
    if let Some(at) = args.stop {
        explorer = explorer.stop_before(at, |stopped| output::complain(stopped.to_string().trim_end()));
    }
    let report = super::explore(program, &arguments, explorer);
    let report = report.map_err(|error| Problem::usage(error.to_string()))?;
    if args.json {
        output::raw(&report.to_json())?;
    } else {
        output::text(&report.text(&style))?;
    }
    view::write_page_of(args.view.as_ref(), &report)?;
    Ok(report.verdict().into())
}
