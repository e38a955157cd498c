//! Stale reads and virtual time.

use super::explored;
use intermezzo::sync::Arc;
use intermezzo::sync::atomic::AtomicBool;
use intermezzo::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use intermezzo::{Verdict, thread};
use std::time::Duration;

/// A task that reads a stale value continues with its next read, which takes no time.
#[test]
fn no_time_passes_while_a_task_has_a_newer_value_to_see() {
    let report = explored(|| {
        let vars = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let (other, main) = (Arc::clone(&vars), thread::current());
        let task = thread::spawn(move || {
            let [is_busy, is_done] = &*other;
            // Spins like a lock that spins before it waits.
            for _ in 0..4 {
                if !is_busy.load(Relaxed) {
                    break;
                }
                thread::yield_now();
            }
            is_done.store(true, Release);
            main.unpark();
        });
        let [is_busy, is_done] = &*vars;
        is_busy.store(true, Relaxed);
        is_busy.store(false, Relaxed);
        thread::park_timeout(Duration::from_secs(3600));
        assert!(is_done.load(Acquire), "an hour has passed");
        task.join().unwrap();
    });
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
}
