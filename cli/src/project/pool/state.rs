//! `pool status`: the runs of a pool, what was found in them, and the workers.

use super::connect;
use crate::args::PoolStatusArgs;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use intermezzo_pool::{Aside, Cover, Outcome, Status, WorkerEntry};
use serde::Serialize;
use std::fmt::Write as _;

#[derive(Serialize)]
struct StatusJson<'a> {
    runs: Vec<RunJson<'a>>,
    workers: Vec<WorkerJson<'a>>,
    aside: &'a [Aside],
    /// The number of items that belong to no run.
    stray: u64,
}

#[derive(Serialize)]
struct RunJson<'a> {
    run: &'a str,
    tests: usize,
    tests_done: usize,
    shares_done: usize,
    shares_open: usize,
    /// The completed part of the searches, from 0 to 1.
    done: f64,
    executions: u64,
    /// The test and the first line of each finding.
    findings: Vec<String>,
}

#[derive(Serialize)]
struct WorkerJson<'a> {
    name: &'a str,
    /// The test and the share that it explores.
    at: Option<String>,
    done: u64,
    refuses: &'a [(String, String)],
}

/// Shows the state of a pool.
pub(crate) fn status(args: &PoolStatusArgs) -> Result<Exit, Problem> {
    let pool = connect(&args.pool)?;
    let status = pool.status()?;
    let json = StatusJson {
        runs: status.runs.iter().map(of_run).collect(),
        workers: status
            .workers
            .iter()
            .map(|worker| of_worker(worker, &status))
            .collect(),
        aside: &status.aside,
        stray: status.stray,
    };
    match args.json {
        true => output::json(&json)?,
        false => output::text(&text(&json))?,
    }
    Ok(Exit::Pass)
}

fn of_run(cover: &Cover) -> RunJson<'_> {
    let progress = cover.progress();
    let mut findings = Vec::new();
    for (test, entry) in cover.run().tests.iter().enumerate() {
        for leaf in cover.leaves(test) {
            match leaf.outcome {
                Some(Outcome::Report { findings: found, .. }) => {
                    findings.extend(
                        found
                            .iter()
                            .map(|finding| format!("{}: {finding}", entry.program)),
                    );
                }
                Some(Outcome::Trouble { why, .. }) => {
                    let why = why.lines().next().unwrap_or_default();
                    findings.push(format!(
                        "{}: no report of share {}: {why}",
                        entry.program, leaf.share
                    ));
                }
                _ => {}
            }
        }
    }
    RunJson {
        run: &cover.run().id,
        tests: progress.tests,
        tests_done: progress.tests_done,
        shares_done: progress.done,
        shares_open: progress.open,
        done: progress.millionths as f64 / 1e6,
        executions: progress.executions,
        findings,
    }
}

fn of_worker<'a>(worker: &'a WorkerEntry, status: &Status) -> WorkerJson<'a> {
    let at = worker.item.as_ref().and_then(|item| {
        let cover = status.runs.iter().find(|cover| cover.run().id == item.run)?;
        let test = cover.run().tests.get(item.test)?;
        Some(format!("{}, share {}", test.program, item.share))
    });
    WorkerJson {
        name: &worker.name,
        at,
        done: worker.done,
        refuses: &worker.refuses,
    }
}

fn text(status: &StatusJson<'_>) -> String {
    let mut text = String::new();
    if status.runs.is_empty() {
        text.push_str("no run is open\n");
    }
    for run in &status.runs {
        let _ = writeln!(
            text,
            "run {}: {} of {} done, {} of the searches; {} with a result, {} open; {} so far",
            run.run,
            run.tests_done,
            output::count(run.tests as u64, "test"),
            format_args!("{:.0} %", run.done * 100.0),
            output::count(run.shares_done as u64, "share"),
            run.shares_open,
            output::count(run.executions, "execution"),
        );
        for finding in &run.findings {
            let _ = writeln!(text, "  found: {finding}");
        }
    }
    for worker in &status.workers {
        let at = worker.at.as_deref().unwrap_or("nothing to do");
        let _ = writeln!(
            text,
            "worker {}: {at}; {} done",
            worker.name,
            output::count(worker.done, "share")
        );
        for (run, why) in worker.refuses {
            let _ = writeln!(text, "  takes no part in run {run}: {why}");
        }
    }
    for aside in status.aside {
        let _ = writeln!(
            text,
            "set aside: {}: {}; it begins {:?}",
            aside.place, aside.why, aside.begins
        );
    }
    if status.stray > 0 {
        let _ = writeln!(text, "{} of no run", output::count(status.stray, "item"));
    }
    text
}
