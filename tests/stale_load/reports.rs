//! The text of a finding in a report, and the replay of its schedule.

use crate::{is_stale, watched};
use intermezzo::sync::atomic::Ordering::{Acquire, Release};
use intermezzo::sync::atomic::{AtomicBool, Ordering};
use intermezzo::{Explorer, Reduction, thread};

/// Each task sets its flag and reads the other's.
fn dekker(store: Ordering) {
    let flags = [AtomicBool::new(false), AtomicBool::new(false)];
    let enter = |me: usize| {
        flags[me].store(true, store);
        flags[1 - me].load(Acquire);
    };
    thread::scope(|scope| {
        scope.spawn(|| enter(1));
        enter(0);
    });
}

/// Two tasks execute the one load in the source, and each may miss the other's store: each is reported once, in however
/// many executions.
#[test]
fn a_finding_is_reported_once_and_replays() {
    for reduction in [Reduction::None, Reduction::Dpor] {
        let report = watched(Explorer::new().reduction(reduction))
            .keep_going(true)
            .explore(|| dekker(Release));
        let [first, second] = report.findings() else {
            panic!("{report}")
        };
        assert_ne!(first.message, second.message);
        assert_eq!(
            (&*first.kind.as_str(), first.monitor.as_str()),
            ("stale_load", "stale-load")
        );
        let load = "the load of atomic 0.1 by task 1 at tests/stale_load/reports.rs:";
        let store = " may miss the store by main at tests/stale_load/reports.rs:";
        let end = ": store buffers let it return an older value, which no schedule explains";
        assert!(
            first.message.starts_with(load) && first.message.contains(store) && first.message.ends_with(end),
            "{}",
            first.message
        );
        for finding in [first, second] {
            let again = watched(Explorer::new().replay(finding.schedule.clone())).explore(|| dekker(Release));
            assert!(is_stale(&again), "{again}");
            assert_eq!(again.findings()[0].message, finding.message);
            assert_eq!(again.findings()[0].schedule, finding.schedule);
        }
    }
}

#[test]
fn seq_cst_stores_are_enough() {
    let report = watched(Explorer::new()).explore(|| dekker(Ordering::SeqCst));
    assert!(report.verdict().is_pass(), "{report}");
}
