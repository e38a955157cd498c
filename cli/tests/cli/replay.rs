//! `replay` of programs of the corpus. `project.rs` has that of a project's tests.

use crate::{json, run, token};
use intermezzo::Schedule;
use intermezzo_corpus::parse_full_name;
use serde_json::Value;
use std::fs;

const BROKEN: [&str; 3] = ["corpus", "run", "work_stealing_queue"];

/// Returns the JSON text of a report's first finding.
fn finding(report: &Value) -> String {
    serde_json::to_string_pretty(&report["findings"][0]).unwrap()
}

#[test]
fn a_replayed_finding_is_the_same_byte_for_byte() {
    let found = json(1, &BROKEN);
    let schedule = Schedule::parse(&token(&found)).unwrap();

    let replayed = json(1, &["replay", &token(&found)]);
    assert_eq!(finding(&replayed), finding(&found));
    assert_eq!(replayed["executions"], 1);
    assert_eq!(replayed["coverage"]["kind"], "replayed");
    assert_eq!(replayed["coverage"]["as_recorded"], true);

    let (program, arguments) = parse_full_name(&schedule.program).unwrap();
    // The search and its replays begin at the same place, which a finding's first event names.
    let explored = |replay: Option<&Schedule>| {
        let explorer = program.explorer(program.settings(), &arguments);
        let explorer = match replay {
            Some(schedule) => explorer.replay(schedule.clone()),
            None => explorer,
        };
        serde_json::from_str(&explorer.explore(program.test(&arguments)).to_json()).unwrap()
    };
    let found_here = explored(None);
    assert_eq!(token(&found_here), token(&found));
    for _ in 0..100 {
        assert_eq!(finding(&explored(Some(&schedule))), finding(&found_here));
    }

    let text = run(&["replay", &token(&found)]).ends_with(1).stdout;
    assert!(
        text.contains("main panicked at") && text.contains(&token(&found)),
        "{text}"
    );
}

#[test]
fn a_schedule_file_is_replayed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("schedule.json");
    let path = path.to_str().unwrap();
    let found = json(1, &[&BROKEN[..], &["--schedule-out", path]].concat());
    assert_eq!(finding(&json(1, &["replay", path])), finding(&found));
}

#[test]
fn parameters_and_limits_are_replayed() {
    let counter = [
        "corpus",
        "run",
        "counter",
        "--set",
        "tasks=2",
        "--set",
        "increments=3",
    ];
    let found = json(1, &[&counter[..], &["--steps", "3"]].concat());
    let replayed = json(1, &["replay", &token(&found)]);
    assert_eq!(finding(&replayed), finding(&found));
    assert_eq!(replayed["program"], "corpus::counter,tasks=2,increments=3");
}

/// Returns the token of a report's schedule, with another program's name.
fn renamed(report: &Value, program: &str) -> String {
    let schedule = Schedule::parse(&token(report)).unwrap();
    Schedule {
        program: program.to_owned(),
        ..schedule
    }
    .token()
}

#[test]
fn a_schedule_that_does_not_fit_diverges() {
    let token = renamed(&json(1, &BROKEN), "corpus::counter,tasks=2,increments=1");
    let replayed = json(3, &["replay", &token]);
    assert_eq!(replayed["verdict"], "inconclusive");
    assert_eq!(replayed["findings"][0]["kind"], "divergence");
    assert_eq!(replayed["coverage"]["as_recorded"], false);
}

#[test]
fn schedules_of_unknown_programs_are_refused() {
    let found = json(1, &BROKEN);
    for (program, says) in [
        ("corpus::conter", "did you mean `counter`"),
        ("corpus::counter,task=1", "counter has no parameter `task`"),
        ("corpus::counter,tasks=3", "the schedule is of program"),
        ("counter", "is not the name of a test"),
        (
            "nowhere::tests::push",
            "in the crate \"nowhere\", and the project here has none of that name",
        ),
    ] {
        run(&["replay", &renamed(&found, program)]).refused(&[says]);
    }
    run(&["replay", &token(&found), "--", "--release"]).refused(&["without cargo"]);
}

#[test]
fn malformed_schedules_are_refused() {
    let token = token(&json(1, &BROKEN));
    let cut = &token[..token.len() - 3];
    let altered = token.replacen("imz1.A", "imz1.B", 1);
    for (schedule, says) in [
        (cut, "copy the whole token again"),
        (&altered, "the token"),
        ("imz1.", "the token ends too early"),
        ("imz1.&&&", "which is in no token"),
        ("imz9.AQAb", "newer intermezzo"),
        ("no-such-file.json", "cannot be read"),
        ("", "cannot be read"),
    ] {
        run(&["replay", schedule]).refused(&["error: ", says]);
    }

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("schedule.json");
    let text = Schedule::parse(&token).unwrap().to_json(None);
    for (text, says) in [
        (text.replacen("\"taken\":1", "\"taken\":0", 1), "checksum"),
        (text[..text.len() / 2].to_owned(), "not JSON"),
        (
            text.replace("intermezzo-schedule/1", "intermezzo-schedule/7"),
            "newer intermezzo",
        ),
        (
            "{\"format\": \"intermezzo-report/1\"}".to_owned(),
            "`intermezzo-schedule/1`, `/2` or `/3` is needed",
        ),
        ("my diary".to_owned(), "not JSON"),
        (String::new(), "not JSON"),
    ] {
        fs::write(&path, text).unwrap();
        run(&["replay", path.to_str().unwrap(), "--json"]).refused(&["schedule.json", says]);
    }
    run(&["replay", directory.path().to_str().unwrap()]).refused(&["cannot be read"]);
}

#[test]
fn a_replay_stops_before_a_step_and_shows_its_stack() {
    let found = json(1, &BROKEN);
    let events = found["findings"][0]["events"].as_array().unwrap();
    let at = events.iter().rposition(|event| event["op"] == "load").unwrap();
    let last = &events[at];
    let (number, site) = (at + 1, last["site"].as_str().unwrap());
    let (task, step) = (
        last["task"].as_str().unwrap(),
        last["id"].as_str().unwrap().split('.').next_back().unwrap(),
    );
    let by_step = format!("{task} step {step}");
    for at in [&*by_step, &format!("event {number}")] {
        let ran = run(&["replay", &token(&found), "--break", at]).ends_with(1);
        let says = [
            format!("stopped before event {number}, {by_step}: "),
            format!(" at {site}\n"),
            format!("event {}, ", number - 1),
            "enabled tasks: ".to_owned(),
            "intermezzo_corpus::programs::work_stealing_queue".to_owned(),
        ];
        for says in &says {
            assert!(ran.stderr.contains(says), "{says:?} is not in:\n{}", ran.stderr);
        }
        assert!(ran.stdout.contains("main panicked at"), "{}", ran.stdout);
    }
    let place = site.rsplit_once(':').unwrap().0;
    let ran = run(&["replay", &token(&found), "--break", place]).ends_with(1);
    assert!(ran.stderr.contains(&format!(" at {place}:")), "{}", ran.stderr);
    let ran = run(&["replay", &token(&found), "--break", "event 100000"]).ends_with(1);
    assert!(ran.stderr.contains("it has no event 100000"), "{}", ran.stderr);
    run(&["replay", &token(&found), "--break", "soon"]).refused(&["`soon` is not a step"]);
    run(&["replay", &token(&found), "--debugger", "gdb"]).refused(&["--break"]);
}

#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
#[test]
fn a_replay_stops_in_a_debugger() {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&paths).any(|path| path.join("gdb").is_file()) {
        eprintln!("skipped: gdb is not installed");
        return;
    }
    let found = json(1, &BROKEN);
    let mut gdb = crate::command(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")),
        &[
            "replay",
            &token(&found),
            "--break",
            "main step 2",
            "--debugger",
            "gdb",
        ],
    );
    gdb.stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut gdb = gdb.spawn().unwrap();
    std::io::Write::write_all(&mut gdb.stdin.take().unwrap(), b"backtrace\nkill\nquit\n").unwrap();
    let output = gdb.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let trouble = String::from_utf8_lossy(&output.stderr);
    if text.contains("ptrace: Operation not permitted") || trouble.contains("ptrace") {
        eprintln!("skipped: processes cannot be traced here");
        return;
    }
    assert!(text.contains("stopped_here"), "{text}\n{trouble}");
    assert!(text.contains("work_stealing_queue"), "{text}\n{trouble}");
}
