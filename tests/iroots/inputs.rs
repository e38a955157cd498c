//! A memo saves test runs across inputs.

use intermezzo::{Report, Settings};
use intermezzo_corpus::{Program, find};
use std::path::Path;

/// Programs without a bug, each with eight inputs.
const PROGRAMS: [(&str, [&str; 8]); 3] = [
    (
        "work_stealing_queue_fixed",
        [
            "thieves=1 attempts=1",
            "thieves=1 attempts=2",
            "thieves=1 attempts=3",
            "thieves=1 attempts=4",
            "thieves=2 attempts=1",
            "thieves=2 attempts=2",
            "thieves=2 attempts=3",
            "thieves=2 attempts=4",
        ],
    ),
    (
        "treiber_stack_pushers",
        [
            "pushers=1 poppers=1",
            "pushers=2 poppers=1",
            "pushers=3 poppers=1",
            "pushers=1 poppers=2",
            "pushers=2 poppers=2",
            "pushers=3 poppers=2",
            "pushers=2 poppers=3",
            "pushers=3 poppers=3",
        ],
    ),
    (
        "SharedPtr",
        [
            "reads=1", "reads=2", "reads=3", "reads=4", "reads=5", "reads=6", "reads=7", "reads=8",
        ],
    ),
];

fn explore(program: &Program, input: &str, memo: Option<&Path>) -> Report {
    let mut settings: Settings = program.settings();
    let search = match memo {
        None => "maple".to_owned(),
        Some(path) => format!("maple(memo={})", path.display()),
    };
    for (name, value) in [
        ("strategy", search.as_str()),
        ("preemptions", "none"),
        ("reduction", "none"),
    ] {
        settings
            .set(name, value)
            .unwrap_or_else(|error| panic!("{error}"));
    }
    let sets: Vec<&str> = input.split(' ').collect();
    let arguments = program.arguments(&sets).unwrap_or_else(|error| panic!("{error}"));
    program
        .explorer(settings, &arguments)
        .monitors("none")
        .explore(program.test(&arguments))
}

/// Returns the number of executions that tried to expose an iRoot.
fn test_runs(report: &Report) -> u64 {
    let iroots = report.iroots().expect("they are measured");
    iroots.attempts().expect("they are searched for")
}

/// Returns a number as documents write it, with a comma.
fn thousands(count: f64) -> String {
    if count < 1_000.0 {
        format!("{count}")
    } else {
        format!("{},{:03}", (count / 1_000.0).floor(), count % 1_000.0)
    }
}

#[test]
fn a_memo_saves_test_runs_across_inputs() {
    let mut told = Vec::new();
    for (name, inputs) in PROGRAMS {
        let program = find(name).unwrap_or_else(|| panic!("{name} is in the corpus"));
        let directory = std::env::temp_dir().join(format!("intermezzo-inputs-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let memo = directory.join("memo");
        let runs = |memo: Option<&Path>| inputs.map(|input| test_runs(&explore(program, input, memo)));
        let (without, with) = (runs(None), runs(Some(&memo)));
        std::fs::remove_dir_all(&directory).unwrap();
        let sum = |runs: [u64; 8]| runs.iter().sum::<u64>() as f64;
        told.push(format!("{} instead of {}", sum(with), thousands(sum(without))));
        // The first input is included, although the memo was empty then.
        let saved = 1.0 - sum(with) / sum(without);
        assert!(
            saved >= 0.8,
            "{name}: {saved:.3} saved: {with:?} instead of {without:?}"
        );
    }
    let told = told.join(", ");
    assert!(
        include_str!("../../docs/IROOTS.md").contains(&told),
        "docs/IROOTS.md does not say: {told}"
    );
}
