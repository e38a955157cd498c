//! Searches of random programs with std's types, and with published crates, find each outcome that real threads show.
//!
//! `REAL_OUTCOMES=1000` runs 1,000 programs instead of 100, and `REAL_OUTCOMES_FROM=500` begins with seed 500.

use crate::unmodified::{project_of, run_with};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

const PROGRAMS: &str = include_str!("real_outcomes/programs.rs");
const CRATES: &str = include_str!("real_outcomes/crates.rs");
const RUNS: &str = include_str!("real_outcomes/runs.rs");

/// The number of runs of each program, and the greatest number of its outcomes that are searched for.
const RUNS_OF_EACH: u64 = 300;
const OUTCOMES_MAX: u64 = 3;

fn number(variable: &str, otherwise: u64) -> u64 {
    env::var(variable).map_or(otherwise, |number| number.parse().unwrap())
}

/// Makes a project of these programs, and runs it to write a test for each outcome that real threads show.
fn write_tests(project: &Path, name: &str, from: u64, to: u64) {
    let runs = RUNS.replace("real_outcomes", name);
    for (file, text) in [("src/bin/runs.rs", &runs[..]), ("tests/found.rs", "")] {
        let path = project.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let arguments = [from, to, RUNS_OF_EACH, OUTCOMES_MAX].map(|number| number.to_string());
    let status = Command::new(env!("CARGO"))
        .args(["run", "--release", "--bin", "runs", "--"])
        .args(arguments)
        .current_dir(project)
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-target")),
        )
        .status()
        .unwrap();
    assert!(status.success());
}

/// Explores the project's tests. On real threads, a wait with a limit may end early.
fn explored(project: &Path) -> serde_json::Value {
    let arguments = [
        "test",
        "--unmodified",
        "--json",
        "--test",
        "found",
        "--environment",
        "timeouts=1",
    ];
    let limits = [("INTERMEZZO_EXECUTIONS", "100000"), ("INTERMEZZO_TIME", "60")];
    run_with(project, &arguments, &limits).ends_with(1).json()
}

fn is_found(report: &serde_json::Value) -> bool {
    let mut findings = report["findings"].as_array().unwrap().iter();
    findings.any(|finding| finding["kind"] == "assertion")
}

#[test]
#[ignore = "it takes minutes: it runs programs on real threads, and explores them"]
fn outcomes_of_real_threads_are_found() {
    let from = number("REAL_OUTCOMES_FROM", 1);
    let to = from + number("REAL_OUTCOMES", 100);
    let project = project_of("real_outcomes", "", PROGRAMS);
    write_tests(&project, "real_outcomes", from, to);
    let all = explored(&project);
    let reports = all["reports"].as_array().unwrap();
    assert!(reports.len() as u64 >= to - from, "each program has an outcome");
    for report in reports {
        assert!(is_found(report), "not found: {report:#}");
    }
}

/// The crates of the programs.
const DEPENDENCIES: &str = "[dependencies]\narc-swap = \"1\"\nconcurrent-queue = \"2\"\ncrossbeam-channel = \"0.5\"\n\
    crossbeam-deque = \"0.8\"\ncrossbeam-queue = \"0.3\"\ndashmap = \"6\"\nflume = \"0.12\"\nkanal = \"0.1\"\n\
    once_cell = \"1\"\nparking_lot = \"0.13\"\nspin = \"0.12\"\nthingbuf = \"0.1\"\n";

/// An outcome is missed only if the search did not end, and few are.
#[test]
#[ignore = "it takes minutes, and crates from the registry: it runs programs on real threads, and explores them"]
fn outcomes_of_published_crates_are_found() {
    let from = number("REAL_OUTCOMES_FROM", 1);
    let to = from + number("REAL_OUTCOMES", 100);
    let project = project_of("crate_outcomes", DEPENDENCIES, CRATES);
    write_tests(&project, "crate_outcomes", from, to);
    let all = explored(&project);
    let reports = all["reports"].as_array().unwrap();
    assert!(reports.len() as u64 >= to - from, "each program has an outcome");
    let missed: Vec<_> = reports.iter().filter(|report| !is_found(report)).collect();
    for report in &missed {
        let is_passed = report["verdict"] == "pass" && report["coverage"]["kind"] != "exhaustive";
        assert!(is_passed, "not found: {report:#}");
    }
    assert!(missed.len() * 20 <= reports.len(), "{missed:#?}");
}
