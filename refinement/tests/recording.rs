//! Failures of objects with their executions recorded: operations by name, with what they returned.

use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_refinement::{fresh, refine};
use std::collections::VecDeque;
use std::path::Path;

fn ticket(record: bool) -> intermezzo_refinement::RefinementReport {
    refine(|| AtomicUsize::new(0))
        .op("take", (), |next, ()| {
            let ticket = next.load(SeqCst);
            next.store(ticket + 1, SeqCst);
            ticket
        })
        .record(record)
        .run()
}

#[test]
fn a_failure_is_recorded_with_its_operations() {
    let report = ticket(true).failure.unwrap().report.unwrap();
    let recorded = &report.recordings()[0];
    let execution = recorded.execution.as_ref().unwrap();
    let operations: Vec<(&str, Option<&str>)> = execution
        .operations
        .iter()
        .map(|operation| (operation.name.as_str(), operation.result.as_deref()))
        .collect();
    assert_eq!(operations, [("take()", Some("0")), ("take()", Some("0"))]);
    // Both overlap, or it would be a sequential bug.
    let [first, second] = &execution.operations[..] else {
        panic!("{operations:?}")
    };
    assert!(second.call < first.ret.unwrap() && first.call < second.ret.unwrap());
    let passes = recorded.nearest_pass.as_ref().unwrap();
    let mut results: Vec<&str> = passes
        .operations
        .iter()
        .filter_map(|operation| operation.result.as_deref())
        .collect();
    results.sort_unstable();
    assert_eq!(results, ["0", "1"]);
}

#[test]
fn nothing_is_recorded_unless_asked_for() {
    assert!(ticket(false).failure.unwrap().report.is_none());
}

/// A queue that checks that it is not empty, releases the lock, and then takes.
#[test]
fn a_report_is_written_for_the_command_line() {
    let report = refine(|| Mutex::new(VecDeque::new()))
        .op("push", fresh::<u8>(), |queue, value| {
            queue.lock().unwrap().push_back(value)
        })
        .op("pop", (), |queue, ()| {
            let first = queue.lock().unwrap().front().copied();
            if first.is_some() {
                queue.lock().unwrap().pop_front();
            }
            first
        })
        .record(true)
        .run();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recorded-reports");
    let _ = std::fs::remove_dir_all(&directory);
    report.failure.unwrap().report.unwrap().write_into(&directory);
    // Named after the scenario.
    let file = std::fs::read_dir(&directory).unwrap().next().unwrap().unwrap();
    assert!(file.file_name().to_string_lossy().starts_with("refinement-"));
    let text = std::fs::read_to_string(file.path()).unwrap();
    for says in ["\"intermezzo-recording/1\"", "\"pop()\"", "\"Some("] {
        assert!(text.contains(says), "{says}");
    }
}
