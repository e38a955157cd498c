//! A search needs no memory for executions that are over, except for the traces that it counts and those within
//! `cache_bytes`.
//!
//! `EXPLORED_MEMORY_EXECUTIONS`, a number, sets how many executions each search runs.
#![cfg(target_os = "linux")]

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Environment, Explorer, Reduction, Report, Settings, thread};

/// The default number of executions of a search: at most as many as the program below has.
const EXECUTIONS: u64 = 200_000;

/// The number of executions after which a search has allocated all the memory that it needs.
const WARM: u64 = 1_000;

/// The memory that the rest of the process may use meanwhile, and the allocator may keep.
const GROWTH_MAX: u64 = 8 << 20;

/// Bytes for each trace that is counted: a fingerprint in a table that is at least half full.
const TRACE_BYTES: u64 = 40;

/// Four tasks with three increments each: 12! / (3!)^4, or 369,600, schedules, each of another trace. If more are
/// needed, four increments: 63 million.
fn counter(increments: usize) {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..increments {
                    n.fetch_add(1, SeqCst);
                }
            });
        }
    });
}

/// Returns the largest amount of memory that the process has had in use, in bytes.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.unwrap().trim().strip_suffix("kB").unwrap();
    kilobytes.trim().parse::<u64>().unwrap() << 10
}

/// Resets the peak to the memory in use. If the system does not allow that, the peak stays. The searches run in order
/// of the memory they may use, so they can still be distinguished.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn explore(reduction: Reduction, cache_bytes: usize, executions: u64) -> Report {
    let settings = Settings {
        reduction,
        cache_bytes,
        executions: Some(executions),
        environment: Environment::calm(),
        ..Settings::default()
    };
    let increments = if executions > 369_600 { 4 } else { 3 };
    let report = Explorer::with_settings(settings).explore(|| counter(increments));
    assert_eq!(report.executions(), executions, "{report}");
    report
}

/// One test, because the peak belongs to the process: concurrent searches would share it.
#[test]
fn executions_that_are_over_take_no_memory() {
    let executions = match std::env::var("EXPLORED_MEMORY_EXECUTIONS") {
        Ok(text) => text.parse().expect("EXPLORED_MEMORY_EXECUTIONS is a number"),
        Err(_) => EXECUTIONS,
    };
    let growth_of = |reduction, cache_bytes, executions| {
        explore(reduction, cache_bytes, WARM);
        forget_peak();
        let before = peak_bytes();
        let report = explore(reduction, cache_bytes, executions);
        (peak_bytes().saturating_sub(before), report)
    };
    for reduction in [Reduction::None, Reduction::Dpor] {
        let (growth, report) = growth_of(reduction, 0, executions);
        assert_eq!(
            report.traces(),
            None,
            "with no room for them no traces are counted"
        );
        assert!(growth < GROWTH_MAX, "{reduction:?}: grew by {growth} bytes");
    }
    // Half of the memory for caching is for traces.
    let (room, executions) = (1 << 20, executions / 4);
    for reduction in [Reduction::SourceDpor, Reduction::Caching] {
        let (growth, report) = growth_of(reduction, room, executions);
        assert_eq!(
            report.traces(),
            None,
            "the room does not do for all: {reduction:?}"
        );
        assert!(
            growth < GROWTH_MAX + room as u64,
            "{reduction:?}: grew by {growth} bytes"
        );
    }
    let (growth, report) = growth_of(Reduction::Dpor, Settings::default().cache_bytes, executions);
    assert_eq!(report.traces(), Some(executions));
    let most = GROWTH_MAX + TRACE_BYTES * executions;
    assert!(
        growth < most,
        "with all traces: grew by {growth} bytes, not {most}"
    );
}
