//! Pages and exports of real reports, and of 2,000 that were tampered with.

mod formats;
mod mutations;

use super::load;
use super::model::Shown;
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::sync::{Arc, Mutex};
use intermezzo::{Explorer, thread};

/// The report of a deadlock, as JSON, with its executions recorded or not.
fn deadlock(record: bool) -> String {
    let report = Explorer::new()
        .program("store::tests::two <locks> & \"one\" cycle")
        .record(record)
        .explore(|| {
            let locks = Arc::new((Mutex::new(()), Mutex::new(())));
            let other = {
                let locks = locks.clone();
                thread::spawn(move || {
                    let _second = locks.1.lock();
                    let _first = locks.0.lock();
                })
            };
            {
                let _first = locks.0.lock();
                let _second = locks.1.lock();
            }
            other.join().unwrap();
        });
    assert!(report.verdict().is_fail(), "{report}");
    report.to_json()
}

/// The report of a lost update, whose message has several lines and what no XML may hold.
fn lost_update() -> String {
    let report = Explorer::new()
        .program("store::tests::count")
        .record(true)
        .explore(|| {
            let n = AtomicUsize::new(0);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
                }
            });
            assert_eq!(n.load(SeqCst), 2, "]]> \u{1} <lost>");
        });
    report.to_json()
}

/// A report in which nothing was found.
fn pass() -> String {
    Explorer::new()
        .program("store::tests::nothing")
        .explore(|| ())
        .to_json()
}

fn shown(reports: &[String]) -> Shown {
    load::all(reports.iter().map(String::as_str)).unwrap()
}

fn both() -> Shown {
    shown(&[deadlock(true), lost_update(), pass()])
}
