//! Progress: the check that operations return when others stop (Herlihy & Shavit, "On the nature of progress", 2011).
//!
//! From moments of executions with few preemptions, it makes *bounded solo runs*: one task continues alone, or one task
//! stops for ever and the others continue. Operations must return within a number of steps. The check shows that progress
//! is missing, or that it is not missing from these moments; it never proves progress.

mod search;
mod watch;

use crate::checked::Checked;
use crate::failure::{Failure, Why};
use crate::locks::held;
use crate::run::body::Body;
use crate::settings::{Progress, Settings};
use intermezzo_explorer::{Environment, Explorer, Finding, Schedule, Strategy};
use intermezzo_sdk::SyncVarOp;
use search::SoloRuns;
use std::sync::{Arc, Mutex};
use watch::{Failed, Progressing, Watch};

/// Events of a solo run that are shown; a run that does not end would fill pages.
const EVENTS_SHOWN_MAX: usize = 60;

/// Searches for an operation that cannot return, in a program of this name, or only in this execution of it. A failure
/// goes into `checked`.
pub(crate) fn check<T: Sync + 'static>(
    progress: Progress,
    body: &Body<'_, T>,
    names: &[String],
    settings: &Settings,
    (program, replay): (&str, Option<&Schedule>),
    checked: &mut Checked,
) {
    let watch = Arc::new(Mutex::new(Watch::new(progress, body.scenario, names)));
    let budget = settings.executions;
    let steps = settings.solo_steps;
    let search = match replay {
        Some(schedule) => SoloRuns::replaying(Arc::clone(&watch), steps, schedule.choices.clone()),
        None => SoloRuns::new(Arc::clone(&watch), steps, settings.solo_preemptions),
    };
    // A task that waits for a time continues alone when the time is up: so that must be possible at any time.
    let environment = Environment {
        timeouts: u32::MAX,
        ..Environment::calm()
    };
    let report = Explorer::new()
        .program(program)
        .environment(environment)
        // A task that yields continues all the same if no other task does.
        .set("spin_loops", format!("fair_yields={}", u32::MAX))
        .strategy(Strategy::custom(search))
        .executions(budget)
        .minimise(0)
        .set("deadlocks_allowed", true)
        .monitors("none")
        .monitor(Progressing::new(Arc::clone(&watch)))
        .explore(|| body.concurrent(false, false));
    let watch = held(&watch);
    checked.executions += report.executions();
    checked.solo_runs += watch.solo_runs;
    let mine = |finding: &&Finding| finding.monitor == watch::NAME;
    let findings = report.findings();
    checked.failure = match (findings.iter().find(mine), &watch.failed) {
        (Some(finding), Some(failed)) => Some(stuck(progress, finding, failed, body, names)),
        _ => findings.first().map(|finding| {
            let scenario = body.scenario.describe(names);
            Failure::new(finding, scenario, Why::default())
        }),
    };
    if checked.failure.is_none() && replay.is_none() && report.executions() >= budget {
        checked.short = checked
            .short
            .take()
            .or_else(|| Some(format!("stopped after {budget} executions that show progress")));
    }
}

/// Describes the failure, with the next operation of its task, or its last.
fn stuck<T>(
    progress: Progress,
    finding: &Finding,
    failed: &Failed,
    body: &Body<'_, T>,
    names: &[String],
) -> Failure {
    let mut finding = finding.clone();
    finding.events.truncate(failed.events);
    let task = format!("{}.", failed.task.0);
    let last = finding.events.iter().rfind(|event| event.id.starts_with(&task));
    let place = match (&failed.next, last) {
        (Some(next), _) => format!("; what it would do next: {} at {}", next.op, next.site),
        (None, Some(last)) => format!("; what it did last: {} at {}", last.op, last.site),
        (None, None) => String::new(),
    };
    let by_design = match failed.next.is_none_or(|next| waits_by_design(next.op)) {
        true => " (an operation that is meant to wait for others has no such progress)",
        false => "",
    };
    let why = format!("{}{place}{by_design}", failed.why);
    finding.say(format!("{}: {why}", failed.broken));
    let left_out = finding
        .events
        .len()
        .saturating_sub(failed.moment + EVENTS_SHOWN_MAX);
    finding.events.truncate(finding.events.len() - left_out);
    let scenario = body.scenario.describe(names);
    let mut failure = Failure::new(&finding, scenario, Why::default());
    failure.lines = vec![failed.broken.clone(), why];
    failure.progress = Some(progress);
    failure.steps_left_out = left_out;
    failure
}

/// `true` if a task that does this waits for another task's action, and not only for its turn.
fn waits_by_design(op: SyncVarOp) -> bool {
    use SyncVarOp::{BarrierPass, ChannelReceive, ChannelSend, CondvarWait, CondvarWake, Park, TaskJoin};
    matches!(
        op,
        BarrierPass | ChannelReceive | ChannelSend | CondvarWait | CondvarWake | Park | TaskJoin
    )
}
