//! The words of a failure under the memory model, which say what order they show.

use crate::weak;
use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::atomic::{AtomicBool, AtomicU8, Ordering::*};
use intermezzo_explorer::thread::{self, ThreadId};
use intermezzo_refinement::{Failure, RefinementReport, refine};

/// A look keeps the value for a later read by the same task, and reads it too early: before the flag that says that it is
/// there.
#[derive(Default)]
struct Message {
    value: AtomicU8,
    is_there: AtomicBool,
    kept: Mutex<Option<(ThreadId, u8)>>,
}

fn failed() -> RefinementReport {
    refine(Message::default)
        .op("write", (), |message, ()| message.value.store(1, Relaxed))
        .op("announce", (), |message, ()| {
            message.is_there.store(true, Release)
        })
        .op("look", (), |message, ()| {
            let value = message.value.load(Relaxed);
            let is_there = message.is_there.load(Acquire);
            *message.kept.lock().unwrap() = Some((thread::current().id(), value));
            is_there
        })
        .op("read", (), |message, ()| {
            let kept = message.kept.lock().unwrap();
            kept.filter(|(looker, _)| *looker == thread::current().id())
                .map(|(_, value)| value)
        })
        .name("message")
        .pin(|scenario| {
            scenario
                .task(|task| task.op("write", ()).op("announce", ()))
                .task(|task| task.op("look", ()).op("read", ()))
        })
        .scenarios(0)
        .monitors("none")
        .explorer(weak(1))
        .run()
}

#[test]
fn a_failure_says_that_its_order_is_happens_before() {
    let report = failed();
    let text = report.to_string();
    for part in [
        "error[refinement]: no order of the operations that keeps happens-before explains what they returned",
        "write() of task 1 happens before read() of task 2",
        "what happened, from top to bottom; a stale load does not see the last store above it:",
        "histories by happens-before",
    ] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
    // The reference shows its beginning.
    let beginning: Vec<&str> = text.lines().take(3).collect();
    let reference = include_str!("../../../docs/REFINEMENT.md");
    assert!(reference.contains(&beginning.join("\n")), "{text}");
    // Intervals would show the order of the steps, and that is no time.
    assert!(!text.contains("when each began and ended"), "{text}");
    let failure: &Failure = report.failure.as_ref().unwrap();
    assert_eq!(
        (&failure.timeline, &failure.happens_before),
        (&None, &Some(vec![(0, 3)]))
    );
    let json: String = report.to_json().split_whitespace().collect();
    for part in ["\"by_happens_before\":true", "\"happens_before\":[[0,3]]"] {
        assert!(json.contains(part), "`{part}` is not in {json}");
    }
}

/// Each of two operations stores to a variable of its own, and loads that of the other.
#[derive(Default)]
struct Buffers([AtomicU8; 2]);

#[test]
fn a_stale_load_is_marked() {
    let both = |buffers: &Buffers, own: usize| {
        buffers.0[own].store(1, Relaxed);
        buffers.0[1 - own].load(Relaxed)
    };
    let report = refine(Buffers::default)
        .op("first", (), move |buffers, ()| both(buffers, 0))
        .op("second", (), move |buffers, ()| both(buffers, 1))
        .name("buffers")
        .pin(|scenario| {
            scenario
                .task(|task| task.op("first", ()))
                .task(|task| task.op("second", ()))
        })
        .scenarios(0)
        .monitors("none")
        .explorer(weak(1))
        .run();
    let text = report.to_string();
    // Without a stale load one of the two would see the other's store.
    assert_eq!(text.matches(": 0, stale").count(), 1, "{text}");
    let json: String = report.to_json().split_whitespace().collect();
    assert!(json.contains("\"effect\":\"stale\""), "{json}");
}
