//! Bugs of ordinary processes: rare without their breakpoint, and reproduced each time once it is armed.
//!
//! Each run is a process of its own: this executable, started for the one bug. `BREAKPOINT_RUNS` sets how often each
//! is run.

#![allow(clippy::print_stdout, reason = "figures, shown with `--nocapture`")]

mod bugs;

/// The libraries that the bugs use.
mod facade {
    pub(crate) use intermezzo_breakpoint as breakpoint;
    pub(crate) use std::{sync, thread};
}

use bugs::{BUGS, Bug};
use facade::breakpoint;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The bug that a process is to run, by name.
const BUG: &str = "BREAKPOINT_BUG";

/// The exit code of a process in which the bug showed.
const SHOWN: i32 = 42;

/// A process counts as stuck if it still runs this long after its breakpoint was hit, or after its start if it never
/// is: much longer than one that is not stuck takes.
const STUCK: Duration = Duration::from_secs(3);

/// The time that tasks wait for their partners, which come in all of these programs: a busy machine may make one
/// wait. The default is enough on an idle machine.
const LIMIT: &str = "20s";

/// Returns how often each bug is run.
fn runs() -> usize {
    let runs = std::env::var("BREAKPOINT_RUNS").ok();
    runs.map_or(10, |runs| runs.parse().expect("BREAKPOINT_RUNS is a number"))
}

/// Not a test of its own: the code of the processes that are started below.
#[test]
#[ignore = "other tests run it in processes of its own"]
fn one_run() {
    let name = std::env::var(BUG).expect("the variable names a bug");
    let bug = BUGS
        .iter()
        .find(|bug| bug.name == name)
        .expect("a bug of that name");
    let (done, ended) = std::sync::mpsc::channel();
    let (run, stalls) = (bug.run, bug.stalls);
    std::thread::spawn(move || done.send(std::panic::catch_unwind(run).is_err()));
    let mut last = std::time::Instant::now();
    let shown = loop {
        if let Ok(panicked) = ended.recv_timeout(Duration::from_millis(20)) {
            break panicked;
        }
        let figures = breakpoint::statistics();
        let on_its_way = figures
            .iter()
            .any(|figures| figures.visits > 0 && figures.hits + figures.timeouts == 0);
        if on_its_way {
            last = std::time::Instant::now();
        }
        if last.elapsed() > STUCK {
            break stalls;
        }
    };
    std::process::exit(if shown { SHOWN } else { 0 });
}

/// The outcome of several runs of a bug.
#[derive(Debug, Default)]
struct Outcome {
    shown: usize,
    /// Of those, the ones whose breakpoint was hit.
    hit: usize,
}

/// Runs a bug, with its breakpoint or without, several at a time where they only wait.
fn run(bug: &Bug, armed: bool, runs: usize) -> Outcome {
    let at_once = if bug.stalls { 10 } else { 2 };
    let mut outcome = Outcome::default();
    let mut left: Vec<usize> = (0..runs).collect();
    while !left.is_empty() {
        let batch: Vec<_> = left
            .drain(..left.len().min(at_once))
            .map(|number| {
                let log = log_file(bug, armed, number);
                let _ = std::fs::remove_file(&log);
                let mut command = Command::new(std::env::current_exe().unwrap());
                command
                    .args(["--ignored", "--exact", "one_run"])
                    .env(BUG, bug.name);
                command.stdout(Stdio::null()).stderr(Stdio::null());
                command.env("INTERMEZZO_BREAKPOINTS_LOG", &log);
                if armed {
                    command.env(
                        "INTERMEZZO_BREAKPOINTS",
                        format!("{} limit={}", bug.name, limit()),
                    );
                } else {
                    command.env_remove("INTERMEZZO_BREAKPOINTS");
                }
                (command.spawn().unwrap(), log)
            })
            .collect();
        for (mut process, log) in batch {
            let code = process.wait().unwrap().code();
            assert!(matches!(code, Some(0 | SHOWN)), "{}: {code:?}", bug.name);
            let told = std::fs::read_to_string(&log).unwrap_or_default();
            let hit = told.starts_with("hit ");
            if armed && (!hit || code != Some(SHOWN)) {
                println!("{}: {code:?}, {told:?}", bug.name);
            }
            let _ = std::fs::remove_file(&log);
            outcome.shown += usize::from(code == Some(SHOWN));
            outcome.hit += usize::from(code == Some(SHOWN) && hit);
        }
    }
    outcome
}

/// Returns the time that tasks wait: `BREAKPOINT_LIMIT`, or one that is enough on any machine.
fn limit() -> String {
    std::env::var("BREAKPOINT_LIMIT").unwrap_or_else(|_| LIMIT.into())
}

fn log_file(bug: &Bug, armed: bool, number: usize) -> PathBuf {
    let name = format!("{}-{armed}-{}-{number}.log", bug.name, std::process::id());
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn armed_each_bug_shows_in_each_run() {
    let runs = runs();
    let mut wrong = Vec::new();
    for bug in &BUGS {
        let outcome = run(bug, true, runs);
        println!("{}: {} of {runs} armed", bug.name, outcome.hit);
        // The allowance for a limit of real time on a busy machine: one in a hundred.
        if outcome.hit * 100 < runs * 99 {
            wrong.push(format!("{}: {outcome:?} of {runs}", bug.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn unarmed_each_bug_is_rare() {
    let runs = runs();
    let mut wrong = Vec::new();
    for bug in &BUGS {
        let outcome = run(bug, false, runs);
        println!("{}: {} of {runs} unarmed", bug.name, outcome.shown);
        if outcome.shown * 2 > runs {
            wrong.push(format!("{}: {outcome:?} of {runs}", bug.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
