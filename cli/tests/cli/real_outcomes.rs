//! Searches of random programs with std's types find each outcome that real threads show.
//!
//! `REAL_OUTCOMES=1000` runs 1,000 programs instead of 100, and `REAL_OUTCOMES_FROM=500` begins with seed 500.

use crate::unmodified::{project_of, run_with};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

const PROGRAMS: &str = include_str!("real_outcomes/programs.rs");
const RUNS: &str = include_str!("real_outcomes/runs.rs");

/// The number of runs of each program, and the greatest number of its outcomes that are searched for.
const RUNS_OF_EACH: u64 = 300;
const OUTCOMES_MAX: u64 = 3;

fn number(variable: &str, otherwise: u64) -> u64 {
    env::var(variable).map_or(otherwise, |number| number.parse().unwrap())
}

/// Makes a project of these programs, and runs it to write a test for each outcome that real threads show.
fn write_tests(project: &Path, from: u64, to: u64) {
    for (file, text) in [("src/bin/runs.rs", RUNS), ("tests/found.rs", "")] {
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
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("real-outcomes-target"),
        )
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
#[ignore = "it takes minutes: it runs programs on real threads, and explores them"]
fn outcomes_of_real_threads_are_found() {
    let from = number("REAL_OUTCOMES_FROM", 1);
    let to = from + number("REAL_OUTCOMES", 100);
    let project = project_of("real_outcomes", "", PROGRAMS);
    write_tests(&project, from, to);
    // With real threads, a wait with a time limit may end early.
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
    let all = run_with(&project, &arguments, &limits).ends_with(1).json();
    let reports = all["reports"].as_array().unwrap();
    assert!(reports.len() as u64 >= to - from, "each program has an outcome");
    for report in reports {
        let mut findings = report["findings"].as_array().unwrap().iter();
        assert!(
            findings.any(|finding| finding["kind"] == "assertion"),
            "not found: {report:#}"
        );
    }
}
