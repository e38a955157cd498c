//! Threads that are not controlled and use objects of an execution: they are named.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use super::kinds;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, mpsc};
use intermezzo_explorer::{Coverage, Explorer};
use std::time::Duration;

#[test]
fn a_thread_of_std_that_would_end_a_deadlock_is_named() {
    let report = Explorer::new().minimise(0).explore(|| {
        let (sender, receiver) = mpsc::channel();
        let n = Arc::new(AtomicUsize::new(0));
        n.fetch_add(1, SeqCst);
        let seen = n.clone();
        let outsider = std::thread::Builder::new().name("outsider".into());
        let send = move || {
            std::thread::sleep(Duration::from_millis(20));
            seen.load(SeqCst);
            std::mem::forget((sender, seen));
        };
        outsider.spawn(send).unwrap();
        receiver.recv().unwrap_or(());
    });
    assert_eq!(kinds(&report), ["deadlock"], "{report}");
    let says = "; meanwhile the thread `outsider`, which is not controlled, used what this execution uses: a task may wait for it";
    assert!(report.findings()[0].message.ends_with(says), "{report}");
}

#[test]
fn a_pass_says_that_a_thread_was_not_controlled() {
    let report = Explorer::new().explore(|| {
        let n = Arc::new(AtomicUsize::new(0));
        n.fetch_add(1, SeqCst);
        let seen = n.clone();
        let outsider = std::thread::spawn(move || {
            seen.load(SeqCst);
            std::mem::forget(seen);
        });
        outsider.join().unwrap();
    });
    assert_eq!(kinds(&report).len(), 0, "{report}");
    let Coverage::Bounded {
        reason: Some(reason), ..
    } = report.coverage()
    else {
        panic!("{report}");
    };
    assert_eq!(
        reason,
        "a thread without a name used objects of executions, and when is not controlled"
    );
}
