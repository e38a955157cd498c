//! The same input gives the same bytes in each process: whatever the size of its environment, which moves its stacks,
//! whatever other threads it has, and whatever it has explored before.

use super::{objects, reports, style};
use intermezzo::Explorer;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use std::{env, fs, thread};

/// The variable with the file to which a child process writes its reports.
const WRITE_TO: &str = "TELLING_WRITE_TO";

/// A variable that only makes the environment larger.
const PADDING: &str = "TELLING_PADDING";

/// Removes the only value that depends on real time.
fn without_time(mut json: Value) -> Value {
    match &mut json {
        Value::Object(fields) => {
            fields.remove("elapsed_seconds");
            fields
                .values_mut()
                .for_each(|value| *value = without_time(value.take()));
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| *value = without_time(value.take())),
        _ => {}
    }
    json
}

/// Returns all reports as texts and as JSON.
fn all_reports() -> String {
    let mut all = String::new();
    let mut add = |name: &str, text: &str, json: &str| {
        let json = without_time(serde_json::from_str(json).unwrap());
        all.push_str(&format!("{name}\n{text}\n{json:#}\n"));
    };
    for (case, report) in reports() {
        add(case.name, &report.text(&style()), &report.to_json());
    }
    for (name, report) in objects::reports() {
        add(name, &report.text(&style()), &report.to_json());
    }
    all
}

#[test]
fn each_process_writes_the_same_reports() {
    if let Some(file) = env::var_os(WRITE_TO) {
        return fs::write(file, all_reports()).unwrap();
    }
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("telling-{}", std::process::id()));
    let mut first: Option<String> = None;
    for padding in [0, 17, 1_003, 4_099, 40_001, 90_000] {
        let mut child = Command::new(env::current_exe().unwrap());
        child.args(["processes::each_process_writes_the_same_reports", "--exact"]);
        child.env(WRITE_TO, &file).env(PADDING, "x".repeat(padding));
        let output = child.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let reports = fs::read_to_string(&file).unwrap();
        let expected = first.get_or_insert_with(|| reports.clone());
        let differs = reports
            .lines()
            .zip(expected.lines())
            .find(|(one, other)| one != other);
        assert_eq!(differs, None, "padding: {padding}");
        assert_eq!(reports.len(), expected.len());
    }
    fs::remove_file(&file).unwrap();
}

/// Two tasks wait in loops for a flag that is never set, while a thread that is not controlled lives for this long.
fn the_flag_is_never_set(others_live: Option<Duration>) {
    if let Some(lifetime) = others_live {
        thread::spawn(move || thread::sleep(lifetime));
    }
    let flag = intermezzo::sync::atomic::AtomicBool::new(false);
    let waits = || {
        let plain = intermezzo::cell::Cell::new(false);
        while !flag.load(SeqCst) && !plain.get() {
            intermezzo::thread::yield_now();
        }
    };
    intermezzo::thread::scope(|scope| {
        scope.spawn(waits);
        waits();
    });
}

/// A new thread of the process may end a loop, so loops run more rounds while there is one. How many depends on
/// real time; reports and recordings do not.
#[test]
fn a_livelock_is_the_same_among_new_threads() {
    let explored = |others_live: Option<Duration>| {
        let body = move || the_flag_is_never_set(others_live);
        let explorer = || {
            Explorer::new()
                .program("telling::livelock")
                .steps_per_execution(500)
        };
        let report = explorer().executions(20).explore(body);
        let schedule = report.findings()[0].schedule.clone();
        let replay = explorer().record(true).replay(schedule).explore(body);
        let json = without_time(serde_json::from_str(&report.to_json()).unwrap());
        (format!("{json:#}"), format!("{:?}", replay.recordings()))
    };
    let (report, recording) = explored(None);
    assert!(report.contains("livelock"), "{report}");
    assert!(!report.contains("\"seen\": 0"), "{report}");
    for milliseconds in [1, 10, 1_000] {
        let again = explored(Some(Duration::from_millis(milliseconds)));
        assert_eq!(again.0, report, "with a thread for {milliseconds} ms");
        assert_eq!(again.1, recording, "with a thread for {milliseconds} ms");
    }
}

/// An execution is run again if an earlier one has left something on its stack that may decide where loops are parked.
/// Monitors count such executions, and what else the process has explored does not change how many there are.
#[test]
fn earlier_explorations_do_not_change_what_monitors_count() {
    let explored = || {
        let explorer = Explorer::new().monitors("statistics");
        let report = explorer.explore(|| {
            let flag = intermezzo::sync::atomic::AtomicBool::new(false);
            intermezzo::thread::scope(|scope| {
                scope.spawn(|| {
                    while !flag.load(SeqCst) {
                        intermezzo::thread::yield_now();
                    }
                });
                flag.store(true, SeqCst);
            });
        });
        report.text(&style())
    };
    let first = explored();
    assert!(first.contains("statistics"), "{first}");
    for _ in 0..3 {
        assert_eq!(explored(), first);
    }
}
