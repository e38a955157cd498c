//! Loops in ordinary crates, with and without optimisation: those that wait are recognised, and others are not taken for
//! waiting.
//!
//! `WAITS=1000` compares 1,000 random programs with the model instead of 20.

use crate::unmodified::{project_of, report, run_with};
use programs::{Dice, Outcome, model};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

#[path = "../../../explorer/tests/awaits_model/programs.rs"]
#[allow(dead_code, reason = "the programs are run in a crate of their own")]
mod programs;

/// The types that the programs use.
mod alike {
    pub(super) use std::sync::atomic::AtomicUsize;
    pub(super) use std::{hint, thread};
}

const SHAPES: &str = include_str!("waits/shapes.rs");

/// The programs, and the beginning of a crate that runs them.
const PROGRAMS: &str = include_str!("../../../explorer/tests/awaits_model/programs.rs");
const RUNS: &str = include_str!("waits/runs.rs");

/// More executions than a test of a waiting loop takes: test-and-test-and-set locks have 1,112 with three
/// threads.
const EXECUTIONS_MAX: u64 = 3_000;

/// Explores the tests of this project with `filter` in their names, with this optimisation level.
fn explore(project: &Path, level: &str, code: i32, filter: &str, variables: &[(&str, &str)]) -> Value {
    let arguments = ["test", "--unmodified", "--json", "--lib", filter];
    let arguments = &arguments[..arguments.len() - usize::from(filter.is_empty())];
    let level = [("CARGO_PROFILE_DEV_OPT_LEVEL", level)];
    let all = [&level[..], variables].concat();
    run_with(project, arguments, &all).ends_with(code).json()
}

/// Returns the tests in this module, with their reports.
fn in_module<'a>(all: &'a Value, module: &str) -> Vec<(&'a str, &'a Value)> {
    let start = format!("waiting_loops::{module}::");
    let reports = all["reports"].as_array().unwrap().iter();
    let named = reports.map(|report| (report["program"].as_str().unwrap(), report));
    named.filter(|(name, _)| name.starts_with(&start)).collect()
}

/// `true` if the report names this limit.
fn has_limit(report: &Value, kind: &str) -> bool {
    let limits = report["limits"].as_array().unwrap();
    limits.iter().any(|limit| limit["kind"] == kind)
}

#[test]
fn loops_that_only_wait_are_recognised_however_they_are_compiled() {
    let project = project_of("waiting-loops", "", SHAPES);
    for level in ["0", "1", "3"] {
        // With fewer counted yields, fairness leaves out no round of a loop that has an effect.
        let fair = [
            ("INTERMEZZO_SPIN_LOOPS", "fair_yields=100"),
            ("INTERMEZZO_TIME", "20"),
        ];
        let counted = explore(&project, level, 1, "counted::", &fair);
        let all = explore(&project, level, 1, "", &fair[1..]);
        for module in ["two", "three"] {
            let tests = in_module(&all, module);
            assert_eq!(tests.len(), 11);
            for (name, report) in tests {
                let context = format!("{name} at {level}: {report:#}");
                assert_eq!(report["verdict"], "pass", "{context}");
                assert_eq!(report["coverage"]["kind"], "exhaustive", "{context}");
                assert!(has_limit(report, "awaits"), "{context}");
                assert!(
                    report["executions"].as_u64().unwrap() <= EXECUTIONS_MAX,
                    "{context}"
                );
            }
        }
        let tests = in_module(&all, "fair");
        assert_eq!(tests.len(), 7);
        for (name, report) in tests {
            let context = format!("{name} at {level}: {report:#}");
            assert_eq!(report["verdict"], "pass", "{context}");
            // A pass names the schedules that fairness left out.
            let is_whole = report["coverage"]["kind"] == "exhaustive";
            assert_eq!(is_whole, !has_limit(report, "fairness"), "{context}");
        }
        let tests = in_module(&all, "endless");
        assert_eq!(tests.len(), 3);
        for (name, report) in tests {
            let kind = &report["findings"][0]["kind"];
            assert_eq!(kind, "livelock", "{name} at {level}: {report:#}");
        }
        let tests = in_module(&counted, "counted");
        assert_eq!(tests.len(), 8);
        for (name, report) in tests {
            let context = format!("{name} at {level}: {report:#}");
            assert_eq!(report["verdict"], "fail", "{context}");
            assert_eq!(report["findings"][0]["kind"], "assertion", "{context}");
        }
    }
}

/// Random programs, explored as they are, have the outcomes of a model that runs each round of each loop; and a livelock if
/// it has one.
#[test]
fn random_loops_have_the_outcomes_of_the_model_without_optimisation() {
    let programs = env::var("WAITS").map_or(20, |number| number.parse().unwrap());
    // Longer programs take long, because intermezzo is not optimised either.
    let is_short = |number: &u64| drawn(*number).iter().map(Vec::len).sum::<usize>() <= 3;
    let numbers: Vec<u64> = (0..).filter(is_short).take(programs).collect();
    let mut library = format!("{RUNS}\nmod programs {{\n");
    // Inner doc comments are only allowed at the beginning of a file.
    library.extend(
        PROGRAMS
            .lines()
            .filter(|line| !line.starts_with("//!"))
            .flat_map(|line| [line, "\n"]),
    );
    library += "}\n";
    for number in &numbers {
        library += &format!("#[test]\nfn of_{number}() {{ run({number}) }}\n");
    }
    let project = project_of("random_waits", "", &library);
    let outcomes = project.join("outcomes");
    if outcomes.exists() {
        fs::remove_dir_all(&outcomes).unwrap();
    }
    fs::create_dir(&outcomes).unwrap();
    // Without fairness, which would leave out steps of a task that never leaves its loop.
    let settings = [
        ("INTERMEZZO_SPIN_LOOPS", "fair_yields=4294967295"),
        ("INTERMEZZO_KEEP_GOING", "true"),
        ("INTERMEZZO_MINIMISE", "0"),
        ("INTERMEZZO_STRATEGY", "dfs"),
        ("INTERMEZZO_TIME", "5"),
        ("OUTCOMES", outcomes.to_str().unwrap()),
    ];
    let all = explore(&project, "0", 1, "of_", &settings);
    let (mut compared, mut livelocks, mut several) = (0, 0, 0);
    for number in numbers {
        let report = report(&all, &format!("random_waits::of_{number}"));
        if report["coverage"]["kind"] != "exhaustive" {
            continue;
        }
        let program = drawn(number);
        let (expected, livelock) = model(&program);
        let context = format!("{number}: {program:?}: {report:#}");
        let findings = report["findings"].as_array().unwrap();
        assert!(
            findings.iter().all(|finding| finding["kind"] == "livelock"),
            "{context}"
        );
        assert_eq!(!findings.is_empty(), livelock, "{context}");
        // A program that never ends has no outcomes.
        let written = fs::read_to_string(outcomes.join(number.to_string())).unwrap_or_default();
        let found = written.lines().map(|line| serde_json::from_str(line).unwrap());
        assert_eq!(found.collect::<BTreeSet<Outcome>>(), expected, "{context}");
        compared += 1;
        livelocks += usize::from(livelock);
        several += usize::from(expected.len() > 1);
    }
    assert!(
        4 * compared > 3 * programs && 5 * livelocks > programs && 5 * several > programs,
        "{compared} {livelocks} {several} of {programs}"
    );
}

/// Returns the program with this number, which the crate draws, too.
fn drawn(number: u64) -> programs::Program {
    Dice::of(number).program(true)
}
