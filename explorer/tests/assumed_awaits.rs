//! Loops that were seen to only wait, and are assumed to from their first round on: what is counted, told, and replayed.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report, Schedule, hint, thread};

fn explorer() -> Explorer {
    Explorer::new()
        .program("assumed")
        .environment(Environment::calm())
        .assume_awaits(true)
}

/// Each of two tasks counts under a lock of its own making; if `checked`, the first must come first.
fn locked(checked: bool) {
    let (lock, count) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for task in 0..2 {
            let (lock, count) = (&lock, &count);
            scope.spawn(move || {
                while lock.compare_exchange(0, 1, SeqCst, SeqCst).is_err() {
                    hint::spin_loop();
                }
                let before = count.load(SeqCst);
                count.store(before + 1, SeqCst);
                lock.store(0, SeqCst);
                assert!(!checked || before == task, "{task} comes as number {before}");
            });
        }
    });
}

fn says(report: &Report, what: &str) -> bool {
    report.notes().iter().any(|note| note.contains(what))
}

#[test]
fn failed_rounds_make_no_traces() {
    for (_, reduction) in Reduction::ALL {
        let mut explorer = explorer().reduction(reduction);
        if reduction == Reduction::Bpor {
            explorer = explorer.preemptions(9);
        }
        let report = explorer.explore(|| locked(false));
        assert_eq!(report.traces(), Some(2), "{reduction:?}: {report}");
        assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
        assert!(says(&report, "the search started anew once, after"), "{report}");
        if matches!(reduction, Reduction::SourceDpor | Reduction::Dpor) {
            let told = report.executions() - report.blocked();
            assert_eq!((told, report.redundant()), (2, 0), "{report}");
            assert!(report.blocked() > 0, "{report}");
            assert!(report.to_json().contains("\"blocked\""));
        }
    }
    // Without that, a first round in vain is a trace of its own.
    let report = explorer().assume_awaits(false).explore(|| locked(false));
    assert_eq!(report.traces(), Some(4), "{report}");
}

/// What is found once loops are known needs them known in a replay.
#[test]
fn schedules_carry_the_loops() {
    for reduction in [Reduction::None, Reduction::SourceDpor] {
        let report = explorer()
            .reduction(reduction)
            .keep_going(true)
            .explore(|| locked(true));
        let found = &report.findings()[0];
        assert!(
            !found.schedule.known_loops.is_empty(),
            "found after the search started anew"
        );
        for schedule in [
            Schedule::from_token(&found.schedule.token()).unwrap(),
            Schedule::from_json(&found.schedule.to_json(None)).unwrap(),
        ] {
            assert_eq!(schedule, found.schedule);
            let replayed = Explorer::new()
                .program("assumed")
                .replay(schedule)
                .explore(|| locked(true));
            assert_eq!(replayed.findings()[0].message, found.message, "{replayed}");
            assert_eq!(
                replayed.findings()[0].events.len(),
                found.events.len(),
                "{replayed}"
            );
        }
    }
}

/// The task that waits is let go by the second of two changes only; the failed rounds before are in the schedule's way,
/// unless its loops are known.
#[test]
fn a_replay_parks_where_the_search_did() {
    fn wait_for(flag: &AtomicUsize, value: usize) {
        while flag.load(SeqCst) != value {
            hint::spin_loop();
        }
    }
    let test = || {
        let (flag, turns) = (AtomicUsize::new(0), AtomicUsize::new(0));
        // The loop is known after the first execution.
        thread::scope(|scope| {
            scope.spawn(|| wait_for(&flag, 9));
            scope.spawn(|| {
                (0..8).for_each(|_| thread::yield_now());
                flag.store(9, SeqCst);
            });
        });
        thread::scope(|scope| {
            scope.spawn(|| {
                wait_for(&flag, 2);
                turns.store(5, SeqCst);
            });
            scope.spawn(|| {
                turns.fetch_add(1, SeqCst);
                flag.store(1, SeqCst);
                turns.fetch_add(1, SeqCst);
                flag.store(2, SeqCst);
                assert_ne!(turns.load(SeqCst), 5, "the first task was faster");
            });
        });
    };
    let report = explorer().explore(test);
    let found = &report.findings()[0];
    assert!(!found.schedule.known_loops.is_empty(), "{report}");
    let replay = |schedule| Explorer::new().program("assumed").replay(schedule).explore(test);
    let replayed = replay(found.schedule.clone());
    assert_eq!(replayed.findings()[0].message, found.message, "{replayed}");
    let without = Schedule {
        known_loops: Vec::new(),
        ..found.schedule.clone()
    };
    assert_ne!(
        replay(without).findings().first().map(|found| &found.message),
        Some(&found.message)
    );
}
