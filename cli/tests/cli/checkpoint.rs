//! `--checkpoint`: searches that are killed and continued.

use crate::{command, json, run};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Returns the report of a run that must end with this code, without the parts that may differ. With a checkpoint
/// there is no estimate, and the execution that represents a trace depends on the pace of several workers. A kill may
/// be noted in the next run.
#[track_caller]
fn told(code: i32, arguments: &[&str]) -> Value {
    let mut report = json(code, arguments);
    let map = report.as_object_mut().unwrap();
    map.remove("elapsed_seconds");
    map.remove("estimate");
    let notes = map["notes"].as_array_mut().unwrap();
    notes.retain(|note| {
        !note
            .as_str()
            .unwrap()
            .starts_with("an earlier run of this test ended in the middle")
    });
    if arguments.contains(&"--reduction") {
        map.remove("context_switches");
    }
    report
}

/// Kills the search of these arguments `kills` times, each time a little later, and then lets it end. The moments are
/// drawn from `seed`; numbers of workers alternate.
#[track_caller]
fn killed_and_resumed(code: i32, arguments: &[&str], kills: u64, mut seed: u64) -> Value {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("search").to_str().unwrap().to_owned() + ",every=0.005";
    let kept = [arguments, &["--checkpoint", &file]].concat();
    let mut in_the_middle = 0;
    for kill in 0..kills {
        let jobs = ["1", "2", "3"][kill as usize % 3];
        let arguments = [&kept[..], &["--jobs", jobs]].concat();
        let mut child = command(directory.path(), &arguments)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // Knuth's generator. Any generator would do, as long as the moments differ.
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(20 + (seed >> 33) % 130));
        in_the_middle += u64::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(
        in_the_middle * 2 > kills,
        "{in_the_middle} of {kills} were killed in the middle"
    );
    told(code, &kept)
}

#[test]
fn a_search_that_is_killed_repeatedly_has_the_same_report() {
    let long = [
        "corpus",
        "run",
        "counter",
        "--set",
        "tasks=2",
        "--set",
        "increments=10",
        // Without a limit on time, because a machine may be slow.
        "--executions",
        "1000000",
    ];
    let whole = told(0, &long);
    assert_eq!(whole["executions"], 184_756);
    assert_eq!(killed_and_resumed(0, &long, 20, 1), whole);
}

/// Kills a reduced search, of a program with this number of traces, and lets it end.
#[track_caller]
fn reduced_and_killed(program: &[&str], traces: u64) -> (Value, Value) {
    let limits = ["--preemptions", "none", "--reduction", "dpor"];
    let reduced = [&["corpus", "run"], program, &limits].concat();
    let whole = told(0, &reduced);
    assert_eq!(
        (&whole["executions"], &whole["traces"]),
        (&traces.into(), &traces.into())
    );
    (killed_and_resumed(0, &reduced, 20, 3), whole)
}

#[test]
fn a_reduced_search_that_is_killed_has_the_same_report() {
    let program = ["counter", "--set", "tasks=5", "--set", "increments=2"];
    let (resumed, whole) = reduced_and_killed(&program, 113_400);
    assert_eq!(resumed, whole);
}

/// The same where variables are first used in an order that depends on the schedule. How often they cannot be
/// distinguished depends on the order of runs. Source sets take over then, which may run more executions, but show
/// the same.
#[test]
fn a_killed_search_with_variables_in_any_order_has_the_same_report() {
    let (mut resumed, mut whole) = reduced_and_killed(&["big0"], 69_112);
    if resumed["reduction"] != whole["reduction"] {
        assert_eq!(resumed["reduction"], "source-dpor");
        for of_the_search in ["reduction", "executions", "redundant", "steps", "notes"] {
            for report in [&mut resumed, &mut whole] {
                report.as_object_mut().unwrap().remove(of_the_search);
            }
        }
    }
    assert_eq!(resumed, whole);
}

#[test]
fn a_killed_search_with_a_bound_has_the_same_report() {
    let bounded = [
        "corpus",
        "run",
        "counter",
        "--set",
        "increments=5",
        "--preemptions",
        "6",
    ];
    let whole = told(0, &bounded);
    assert_eq!(killed_and_resumed(0, &bounded, 4, 2), whole);
}

#[test]
fn a_killed_search_with_findings_has_the_same_report() {
    let findings = [
        "corpus",
        "run",
        "work_stealing_queue",
        "--strategy",
        "random",
        "--keep-going",
        "--executions",
        "20000",
    ];
    let whole = told(1, &findings);
    assert_eq!(whole["executions"], 20_000);
    assert_eq!(killed_and_resumed(1, &findings, 4, 3), whole);
}

/// A search that can be neither saved nor divided is refused, with the reason.
#[test]
fn a_search_that_cannot_be_saved_or_divided_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let file = path.to_str().unwrap();
    for (search, kept, split) in [
        (
            "--strategy=dfs(delays=2)",
            "the search `dfs(delays=2)`",
            "the search `dfs(delays=2)`",
        ),
        ("--strategy=best-first", "`best-first(", "`best-first("),
        ("--strategy=dfs(depth=9)", "`dfs(depth=9)`", "`dfs(depth=9)`"),
        (
            "--reduction=ordered-atomics",
            "the search starts again",
            "the search starts again",
        ),
    ] {
        run(&["corpus", "run", "counter", search, "--checkpoint", file]).refused(&["`checkpoint`", kept]);
        run(&["corpus", "run", "counter", search, "--jobs", "2"]).refused(&["`jobs`", split]);
    }
    assert!(!path.exists());
}

#[test]
fn other_files_are_refused_as_checkpoints() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let file = path.to_str().unwrap();
    let kept = |program| run(&["corpus", "run", program, "--checkpoint", file]);
    std::fs::write(&path, "a letter").unwrap();
    kept("counter").refused(&["something else than a checkpoint", "left alone"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "a letter");
    std::fs::remove_file(&path).unwrap();
    kept("counter").ends_with(0);
    kept("balance2").refused(&["it is of \"corpus::counter\", not of \"corpus::balance2\""]);
    run(&["corpus", "run", "counter", "--checkpoint", file, "--seed", "1"])
        .refused(&["it was made with `seed` 0, not 1"]);
    run(&["corpus", "run", "--checkpoint", file]).refused(&["--checkpoint is for one program"]);
    assert!(!Path::new(&format!("{file}.partial")).exists());
}
