//! Tasks that an execution leaves unfinished: code that was not written to unwind while it waits stays sound.

use super::{OnDrop, kinds};
use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::{Explorer, Report, thread};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Two tasks that wait for each other, each in the middle of moving a value, when two copies exist.
fn moves_while_it_waits(moved: &'static AtomicUsize) {
    let cell = Arc::new((Mutex::new(()), Mutex::new(())));
    let cell_there = cell.clone();
    let task = thread::spawn(move || {
        let value = OnDrop(move || {
            moved.fetch_add(1, SeqCst);
        });
        // SAFETY: the copy is forgotten below; between the two nothing may unwind.
        let copy = unsafe { std::ptr::read(&value) };
        let _first = cell_there.0.lock();
        let _second = cell_there.1.lock();
        std::mem::forget(copy);
    });
    let _second = cell.1.lock();
    let _first = cell.0.lock();
    let _ = task.join();
}

/// Returns a counter that is independent of any copy of a value.
fn counter() -> &'static AtomicUsize {
    Box::leak(Box::default())
}

fn explore(explorer: Explorer, drops: &'static AtomicUsize) -> Report {
    explorer
        .keep_going(true)
        .minimise(0)
        .explore(move || moves_while_it_waits(drops))
}

#[test]
fn what_is_left_in_the_middle_is_forgotten() {
    // Each value is dropped once, if its task ended, or not at all.
    let drops = counter();
    let report = explore(Explorer::new(), drops);
    // One order, and the other.
    assert_eq!(kinds(&report), ["deadlock", "deadlock"], "{report}");
    let deadlocks: u64 = report.findings().iter().map(|finding| finding.count).sum();
    assert!(deadlocks > 0 && report.notes().iter().all(|note| !note.contains("unwound")));
    assert_eq!(drops.load(SeqCst) as u64, report.executions() - deadlocks);
    // When they are unwound, each unfinished task drops its value twice; and each finding is replayed once.
    let drops = counter();
    let report = explore(Explorer::new().set("stack", "forgotten=0"), drops);
    let replayed = 2 * report.findings().len() as u64;
    assert_eq!(
        drops.load(SeqCst) as u64,
        report.executions() + deadlocks + replayed
    );
    assert!(report.notes().iter().all(|note| !note.contains("unwound")));
}

#[test]
fn beyond_the_limit_tasks_are_unwound_and_a_note_says_so() {
    let drops = counter();
    let report = explore(Explorer::new().set("stack", "forgotten=1"), drops);
    assert_eq!(kinds(&report), ["deadlock", "deadlock"], "{report}");
    let notes = report.notes().iter().filter(|note| note.contains("were unwound"));
    assert_eq!(notes.count(), 1, "{report}");
    assert!(drops.load(SeqCst) as u64 > report.executions());
}

#[test]
fn statics_in_use_are_forgotten_and_fresh_again() {
    static SHARED: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let report = Explorer::new().keep_going(true).explore(|| {
        let mut shared = SHARED.lock().unwrap();
        assert_eq!(shared.len(), 0);
        shared.push("first".into());
        let task = thread::spawn(|| SHARED.lock().unwrap().push("second".into()));
        let ended = intermezzo_explorer::choose(2) == 1;
        if ended {
            drop(shared);
        }
        task.join().unwrap();
        assert!(ended);
    });
    assert_eq!(kinds(&report), ["deadlock"], "{report}");
    assert_eq!(report.findings()[0].count, 1, "{report}");
}
