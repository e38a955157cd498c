//! `corpus list` and `corpus run`.

use crate::{Ran, command, json, run, run_in, token};
use intermezzo::Schedule;
use intermezzo_corpus::{Expected, find, programs};
use std::fs;

/// Returns the kind of finding of the broken deque.
fn deque_kind() -> &'static str {
    match find("work_stealing_queue").unwrap().expected {
        Expected::Fail(kind) => kind,
        Expected::Pass => panic!("the deque is broken"),
    }
}

#[test]
fn programs_are_listed() {
    let text = run(&["corpus", "list"]).ends_with(0).stdout;
    let counter = text.lines().find(|line| line.starts_with("counter ")).unwrap();
    for says in ["tasks=3 increments=2", "  pass  ", "increments one SeqCst atomic"] {
        assert!(counter.contains(says), "{counter}");
    }
    assert_eq!(text.lines().count(), 1 + programs().len());

    let list = json(0, &["corpus", "list"]);
    let names: Vec<&str> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|program| program["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        programs().iter().map(|program| program.name).collect::<Vec<_>>()
    );
    let counter = list
        .as_array()
        .unwrap()
        .iter()
        .find(|program| program["name"] == "counter")
        .unwrap();
    assert_eq!(counter["parameters"][0]["name"], "tasks");
    assert_eq!(counter["parameters"][0]["default"], 3);
    assert_eq!(counter["expected"], "pass");
}

#[test]
fn a_broken_program_fails() {
    let ran = run(&["corpus", "run", "work_stealing_queue"]).ends_with(1);
    for says in [
        &format!("error[{}]: main panicked at [1]: ", deque_kind()),
        "173 | ",
        "could have continued, but ",
        "replay it; ",
        "corpus::work_stealing_queue failed",
        "cargo intermezzo replay",
    ] {
        assert!(ran.stdout.contains(says), "{}", ran.stdout);
    }
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_correct_program_passes() {
    let ran = run(&["corpus", "run", "work_stealing_queue_fixed"]).ends_with(0);
    assert!(
        ran.stdout.starts_with("corpus::work_stealing_queue_fixed passed"),
        "{}",
        ran.stdout
    );
    let words: Vec<&str> = ran.stdout.split_whitespace().collect();
    assert!(
        words
            .join(" ")
            .contains("every schedule with at most 2 preemptions was run"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_report_has_the_documented_fields() {
    let report = json(1, &["corpus", "run", "work_stealing_queue"]);
    assert_eq!(report["format"], "intermezzo-report/1");
    assert_eq!(report["program"], "corpus::work_stealing_queue");
    assert_eq!(report["verdict"], "fail");
    assert_eq!(report["coverage"]["kind"], "bounded");
    assert_eq!(report["first_failure"], report["executions"]);
    assert_eq!(
        report["strategy"].as_str().map(|name| name.starts_with("dfs")),
        Some(true),
        "{}",
        report["strategy"]
    );
    for field in [
        "redundant",
        "blocked",
        "traces",
        "steps",
        "max_steps",
        "max_tasks",
        "context_switches",
        "elapsed_seconds",
        "reduction",
        "memory_model",
        "seed",
        "notes",
    ] {
        assert!(report.get(field).is_some(), "{field}");
    }
    let finding = &report["findings"][0];
    assert_eq!(finding["kind"], deque_kind());
    for field in ["monitor", "message", "tasks", "events", "schedule"] {
        assert!(finding.get(field).is_some(), "{field}");
    }
    assert!(finding["schedule"].as_str().unwrap().starts_with("imz1."));
}

/// Every order of the increments is an execution: 4! / (2! 2!) for two tasks of two each.
#[test]
fn parameters_are_set() {
    for (tasks, increments, executions) in [(1, 1, 1), (2, 1, 2), (2, 2, 6), (3, 2, 90)] {
        let (tasks, increments) = (format!("tasks={tasks}"), format!("increments={increments}"));
        let report = json(
            0,
            &["corpus", "run", "counter", "--set", &tasks, "--set", &increments],
        );
        assert_eq!(report["executions"], executions);
        assert_eq!(report["coverage"]["kind"], "exhaustive");
        // The name has the arguments that differ from the defaults, 3 and 2.
        let differs = [(tasks, "tasks=3"), (increments, "increments=2")]
            .into_iter()
            .filter(|(set, default)| set != default);
        let name: String = differs.map(|(set, _)| format!(",{set}")).collect();
        assert_eq!(report["program"], format!("corpus::counter{name}"));
    }
}

/// Documents and reports have parameters after the name.
#[test]
fn parameters_may_be_in_the_name() {
    let counter = |arguments: &[&str]| run(&[&["corpus", "run"], arguments].concat());
    for arguments in [
        &["counter,tasks=2,increments=1", "--json"][..],
        &["counter,tasks=2", "--set", "increments=1", "--json"],
        &["counter,tasks=4,increments=1", "--set", "tasks=2", "--json"],
    ] {
        let report = counter(arguments).ends_with(0).json();
        assert_eq!(report["program"], "corpus::counter,tasks=2,increments=1");
        assert_eq!(report["executions"], 2);
    }
    counter(&["countre,tasks=2"]).refused(&["there is no program \"countre\"", "counter"]);
    counter(&["counter,task=2"]).refused(&["counter,task=2: counter has no parameter `task`"]);
    counter(&["counter,tasks=0"]).refused(&["give a number from"]);
    counter(&["counter,"]).refused(&["write name=value"]);
}

#[test]
fn limits_are_respected() {
    let report = json(0, &["corpus", "run", "counter", "--executions", "10"]);
    assert_eq!(report["executions"], 10);
    assert_eq!(report["coverage"]["kind"], "bounded");

    let many = [
        "corpus",
        "run",
        "counter",
        "--set",
        "tasks=8",
        "--set",
        "increments=100",
        "--time",
        "0.2",
    ];
    let report = json(0, &many);
    let seconds = report["elapsed_seconds"].as_f64().unwrap();
    assert!((0.2..20.0).contains(&seconds), "{seconds}");

    let report = json(1, &["corpus", "run", "counter", "--steps", "3"]);
    assert_eq!(report["findings"][0]["kind"], "step_limit");
    let report = json(3, &["corpus", "run", "counter", "--executions", "0"]);
    assert_eq!(report["verdict"], "inconclusive");
}

#[test]
fn flags_override_the_programs_own_settings() {
    let report = json(0, &["corpus", "run", "work_stealing_queue", "--preemptions", "0"]);
    assert_eq!(report["coverage"]["preemptions"], 0);

    let random = [
        "corpus",
        "run",
        "counter",
        "--strategy",
        "random",
        "--executions",
        "7",
        "--seed",
        "3",
    ];
    let report = json(0, &random);
    assert_eq!(
        report["coverage"],
        serde_json::json!({ "kind": "sampled", "executions": 7 })
    );
    assert_eq!(report["seed"], 3);

    let report = json(
        1,
        &[
            "corpus",
            "run",
            "work_stealing_queue",
            "--keep-going",
            "--executions",
            "2000",
        ],
    );
    assert!(report["executions"].as_u64() > report["first_failure"].as_u64());

    let calm = [
        "--environment",
        "timeouts=5,notify_any=false,arc_counts=false,seed=9,spurious_wakeups=0",
    ];
    let report = json(0, &[&["corpus", "run", "counter"][..], &calm].concat());
    let environment = serde_json::json!({
        "spurious_wakeups": 0, "timeouts": 5, "weak_failures": 1, "try_lock_failures": 0, "notify_any": false,
        "arc_counts": false, "seed": 9,
    });
    assert_eq!(report["environment"], environment);
}

#[test]
fn all_programs_have_the_expected_verdict() {
    let text = run(&["corpus", "run", "--time", "60"]).ends_with(0).stdout;
    assert_eq!(text.lines().count(), programs().len());
    assert!(text.lines().all(|line| line.starts_with("met ")), "{text}");

    // One execution finds nothing in the deque, which is expected to fail.
    let all = json(1, &["corpus", "run", "--executions", "1"]);
    assert_eq!(all.as_array().unwrap().len(), programs().len());
    let of = |name: &str| {
        all.as_array()
            .unwrap()
            .iter()
            .find(|ran| ran["name"] == name)
            .unwrap()
    };
    let (deque, counter) = (of("work_stealing_queue"), of("counter"));
    assert_eq!(
        (&deque["met"], &deque["expected"]),
        (&false.into(), &format!("fail: {}", deque_kind()).into())
    );
    assert_eq!(
        (&counter["met"], &counter["expected"]),
        (&true.into(), &"pass".into())
    );
    assert_eq!(deque["report"]["executions"], 1);
    assert_eq!(deque["report"]["verdict"], "pass");
}

#[test]
fn the_schedule_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("schedule.json");
    let out = path.to_str().unwrap();
    // The second run overwrites the schedule of the first.
    for _ in 0..2 {
        let report = json(
            1,
            &["corpus", "run", "work_stealing_queue", "--schedule-out", out],
        );
        assert_eq!(Schedule::read(&path).unwrap().token(), crate::token(&report));
        assert!(
            fs::read_to_string(&path)
                .unwrap()
                .contains(&format!("\"kind\": \"{}\"", deque_kind()))
        );
    }
    let passes = ["corpus", "run", "counter", "--schedule-out"];
    let ran = run(&[&passes[..], &[out]].concat()).ends_with(0);
    assert!(ran.stderr.contains("nothing was found"), "{}", ran.stderr);

    fs::write(&path, "my diary").unwrap();
    run(&[&passes[..], &[out]].concat()).refused(&["schedule.json", "left alone"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "my diary");
    run(&[&passes[..], &[directory.path().to_str().unwrap()]].concat()).refused(&["left alone"]);
}

/// `intermezzo.toml` applies to the tests of a package. Flags and variables set the level of detail, as in a replay.
#[test]
fn settings_files_are_ignored() {
    let directory = tempfile::tempdir().unwrap();
    let settings = "detail = \"quiet\"\nexecutions = 1\n";
    fs::write(directory.path().join("intermezzo.toml"), settings).unwrap();
    let ran = run_in(directory.path(), &["corpus", "run", "abba", "--json"]).ends_with(1);
    let token = token(&ran.json());
    for arguments in [&["corpus", "run", "abba"][..], &["replay", &token]] {
        let told = |detail: Option<&str>| {
            let mut command = command(directory.path(), arguments);
            command.envs(detail.map(|detail| ("INTERMEZZO_DETAIL", detail)));
            Ran::of(&mut command).ends_with(1).stdout
        };
        assert!(told(None).contains("what happened"), "{arguments:?}");
        assert!(!told(Some("quiet")).contains("what happened"), "{arguments:?}");
    }
}

/// Progress is printed in lines on stderr, on a terminal or not, from the given execution on.
#[test]
fn progress_is_printed_as_often_as_requested() {
    let told = |progress: &str| {
        let ran = run(&[
            "corpus",
            "run",
            "counter",
            "--set",
            "tasks=3",
            "--set",
            "increments=3",
            "--strategy",
            "dfs",
            "--progress",
            progress,
        ]);
        ran.ends_with(0).stderr.matches(" executions, ").count()
    };
    assert!(told("0") > 1);
    assert_eq!(told("0,from=1000000000"), 0);
    assert_eq!(told("none"), 0);
    run(&["corpus", "run", "counter", "--progress", "soon"]).refused(&["--progress", "`soon` is not a time"]);
}

#[test]
fn the_variable_that_replays_tests_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = command(directory.path(), &["corpus", "run", "counter"]);
    command.env("INTERMEZZO_REPLAY", "imz1.abc");
    Ran::of(&mut command).refused(&["INTERMEZZO_REPLAY", "`cargo intermezzo replay imz1.abc`"]);
}
