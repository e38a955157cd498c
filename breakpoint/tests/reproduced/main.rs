//! Bugs of ordinary processes: rare as they are, and there each time once their breakpoint is armed.
//!
//! Each run is a process of its own: this very executable, asked for the one bug. `BREAKPOINT_RUNS` says how often each is
//! run.

mod bugs;

/// What the bugs are written against.
mod facade {
    pub(crate) use intermezzo_breakpoint as breakpoint;
    pub(crate) use std::{sync, thread};
}

use bugs::{BUGS, Bug};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The bug that a process is to run, by name.
const BUG: &str = "BREAKPOINT_BUG";

/// What a process ends with in which the bug showed.
const SHOWN: i32 = 42;

/// After this time a process that goes on is taken to be stuck: much longer than any takes that is not.
const STUCK: Duration = Duration::from_secs(4);

/// How often each bug is run.
fn runs() -> usize {
    let runs = std::env::var("BREAKPOINT_RUNS").ok();
    runs.map_or(10, |runs| runs.parse().expect("BREAKPOINT_RUNS is a number"))
}

/// Not a test of its own: what the processes run that are started below.
#[test]
fn one_run() {
    let Ok(name) = std::env::var(BUG) else {
        return;
    };
    let bug = BUGS.iter().find(|bug| bug.name == name).expect("a bug of that name");
    let (done, ended) = std::sync::mpsc::channel();
    let (run, stalls) = (bug.run, bug.stalls);
    std::thread::spawn(move || done.send(std::panic::catch_unwind(run).is_err()));
    let shown = ended.recv_timeout(STUCK).unwrap_or(stalls);
    std::process::exit(if shown { SHOWN } else { 0 });
}

/// What came of so many runs of a bug.
#[derive(Debug, Default)]
struct Outcome {
    shown: usize,
    /// Of those, the ones whose breakpoint was hit.
    hit: usize,
}

/// Runs a bug, with its breakpoint or without, several at a time where they do nothing but wait.
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
                command.args(["--exact", "one_run"]).env(BUG, bug.name);
                command.stdout(Stdio::null()).stderr(Stdio::null());
                command.env("INTERMEZZO_BREAKPOINTS_LOG", &log);
                if armed {
                    command.env("INTERMEZZO_BREAKPOINTS", bug.name);
                } else {
                    command.env_remove("INTERMEZZO_BREAKPOINTS");
                }
                (command.spawn().unwrap(), log)
            })
            .collect();
        for (mut process, log) in batch {
            let code = process.wait().unwrap().code();
            assert!(matches!(code, Some(0 | SHOWN)), "{}: {code:?}", bug.name);
            let hit = std::fs::read_to_string(&log).is_ok_and(|text| text.starts_with("hit "));
            let _ = std::fs::remove_file(&log);
            outcome.shown += usize::from(code == Some(SHOWN));
            outcome.hit += usize::from(code == Some(SHOWN) && hit);
        }
    }
    outcome
}

fn log_file(bug: &Bug, armed: bool, number: usize) -> PathBuf {
    let name = format!("{}-{armed}-{}-{number}.log", bug.name, std::process::id());
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn armed_each_bug_shows_in_each_run() {
    if std::env::var_os(BUG).is_some() {
        return;
    }
    let runs = runs();
    let mut wrong = Vec::new();
    for bug in &BUGS {
        let outcome = run(bug, true, runs);
        println!("{}: {} of {runs} armed", bug.name, outcome.hit);
        // What a limit of real time allows on a machine that does something else: one in a hundred.
        if outcome.hit * 100 < runs * 99 {
            wrong.push(format!("{}: {outcome:?} of {runs}", bug.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn unarmed_each_bug_is_rare() {
    if std::env::var_os(BUG).is_some() {
        return;
    }
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
