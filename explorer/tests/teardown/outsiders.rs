//! Threads that are not controlled and use objects of an execution: they are named, and waited for before tasks that
//! cannot continue are judged.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use super::kinds;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, mpsc};
use intermezzo_explorer::{Coverage, Explorer, Verdict};
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
    // The thread may yet release the task: it is not said that the test deadlocks.
    assert_eq!(report.verdict(), Verdict::Inconclusive, "{report}");
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

/// The same by default, with all that follows a finding: replays, and attempts to make it smaller.
#[test]
fn a_deadlock_that_a_thread_of_std_may_end_is_inconclusive() {
    let test = || {
        let (sender, receiver) = mpsc::channel();
        let outsider = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            let _ = sender.send(1);
        });
        let received = receiver.recv();
        let _ = outsider.join();
        assert_eq!(received, Ok(1));
    };
    let report = Explorer::new().program("outsider").explore(test);
    assert_eq!(report.verdict(), Verdict::Inconclusive, "{report}");
    assert_eq!(kinds(&report), ["deadlock"], "{report}");
}

/// Tasks that wait for each other are in a deadlock, whatever other threads of the process do.
#[test]
fn a_deadlock_without_such_a_thread_is_one() {
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let other = std::thread::spawn(move || stopped.recv());
    let report = Explorer::new().explore(|| {
        let (sender, receiver) = mpsc::channel::<()>();
        let _ = receiver.recv();
        drop(sender);
    });
    assert_eq!(report.verdict(), Verdict::Fail, "{report}");
    drop(stop);
    other.join().unwrap().unwrap_err();
}
