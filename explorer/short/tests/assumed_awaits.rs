//! Loops that were seen to only wait, and are assumed to do so from their first round on: counts, reports and replays.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, RwLock, mpsc};
use intermezzo_explorer::{
    Coverage, Environment, ExploreError, Explorer, Limit, Reduction, Report, Schedule, Verdict, choose, hint,
    thread,
};
use std::sync::atomic::AtomicU64 as StdAtomicU64;

fn explorer() -> Explorer {
    Explorer::new()
        .program("assumed")
        .environment(Environment::calm())
        .set("spin_loops", "assume")
}

/// Two tasks that each count under a lock of their own making. If `checked`, the first must come first.
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
        if reduction == Reduction::OrderedAtomics {
            continue;
        }
        let report = explorer().reduction(reduction).explore(|| locked(false));
        assert_eq!(report.traces(), Some(2), "{reduction:?}: {report}");
        assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
        assert!(says(&report, "the search restarted once, after"), "{report}");
        if matches!(reduction, Reduction::SourceDpor | Reduction::Dpor) {
            let told = report.executions() - report.blocked();
            assert_eq!((told, report.redundant()), (2, 0), "{report}");
            assert!(report.blocked() > 0, "{report}");
            assert!(report.to_json().contains("\"blocked\""));
        }
    }
    // Without the assumption, a failed first round is a trace of its own.
    let report = explorer().set("spin_loops", "park").explore(|| locked(false));
    assert_eq!(report.traces(), Some(4), "{report}");
}

/// A failure that is found once loops are known needs them to be known in a replay.
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
            "found after the search restarted"
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

/// The waiting task continues only after the second of two changes. The failed rounds before it do not fit the schedule
/// unless the loops are known.
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

/// A task that waits for a flag without limit, or for a few rounds that it counts. The task that sets the flag takes
/// its time.
fn waiting(as_long: bool) {
    let (flag, other) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut left = 3;
            while flag.load(SeqCst) == 0 && left > 0 {
                left -= usize::from(!as_long);
                hint::spin_loop();
            }
            other.fetch_add(1, SeqCst);
        });
        scope.spawn(|| {
            for _ in 0..3 {
                other.fetch_add(1, SeqCst);
                thread::yield_now();
            }
            flag.store(1, SeqCst);
        });
    });
}

/// Loops that an execution shows are not assumed to wait if the execution is retried.
#[test]
fn loops_of_departed_executions_are_not_believed() {
    let mut departures = 0;
    for (name, reduction) in Reduction::ALL {
        if reduction == Reduction::OrderedAtomics {
            continue;
        }
        let explorer = || explorer().reduction(reduction);
        let sure = explorer().explore(|| waiting(false));
        for odd in 2..=sure.executions() {
            let calls = StdAtomicU64::new(0);
            let report = explorer().explore(|| waiting(calls.fetch_add(1, SeqCst) + 1 == odd));
            assert!(!report.verdict().is_fail(), "{name}, {odd}: {report}");
            if says(&report, "each was as prescribed") {
                departures += 1;
                assert!(!says(&report, "spin_loops=assume:"), "{name}, {odd}: {report}");
                assert_eq!(report.traces(), sure.traces(), "{name}, {odd}: {report}");
                assert_ne!(
                    *report.coverage(),
                    Coverage::Exhaustive,
                    "{name}, {odd}: {report}"
                );
            }
        }
    }
    assert!(departures > 10, "{departures}");
}

/// An execution that departs is retried also if loops are known, and if the search has restarted.
#[test]
fn what_departs_is_tried_again_with_known_loops() {
    let mut departures = 0;
    for (name, reduction) in Reduction::ALL {
        if reduction == Reduction::OrderedAtomics {
            continue;
        }
        let explorer = || explorer().reduction(reduction);
        let sure = explorer().explore(|| locked(false));
        for odd in 1..2 * sure.executions() {
            let calls = StdAtomicU64::new(0);
            let report = explorer().explore(|| {
                if calls.fetch_add(1, SeqCst) + 1 == odd {
                    waiting(true);
                } else {
                    locked(false);
                }
            });
            assert!(!report.verdict().is_fail(), "{name}, {odd}: {report}");
            if says(&report, "each was as prescribed") {
                departures += 1;
                assert_eq!(report.traces(), Some(2), "{name}, {odd}: {report}");
            }
        }
    }
    assert!(departures > 10, "{departures}");
}

/// An execution that departs on every attempt ends the search, or is left out.
#[test]
fn what_departs_each_time_is_lost_with_known_loops() {
    for keep_going in [false, true] {
        let calls = StdAtomicU64::new(0);
        let report = explorer().keep_going(keep_going).explore(|| {
            locked(false);
            if choose(3) == 1 {
                choose(2 + calls.fetch_add(1, SeqCst) as usize % 5);
            }
        });
        assert_eq!(report.verdict(), Verdict::Inconclusive, "{report}");
        assert_ne!(*report.coverage(), Coverage::Exhaustive, "{report}");
        assert_eq!(
            says(&report, "spin_loops=assume: one loop"),
            keep_going,
            "{report}"
        );
    }
}

/// A program with a name.
type Named = (&'static str, fn());

/// `true` if a task writes. The function has a frame of its own, so that the undefined bytes of a failed attempt are
/// not on the stack of the loop that waits.
#[inline(never)]
fn is_taken(shared: &RwLock<usize>) -> bool {
    shared.try_read().is_err()
}

/// Programs with waiting loops, and a channel or a shared lock: source sets suit them.
fn reduced() -> Vec<Named> {
    vec![
        ("a channel that is looked at again and again", || {
            let (sender, receiver) = mpsc::channel();
            let turn = AtomicUsize::new(0);
            thread::scope(|scope| {
                let turn = &turn;
                scope.spawn(move || {
                    turn.fetch_add(1, SeqCst);
                    sender.send(1).unwrap();
                    turn.fetch_add(1, SeqCst);
                });
                scope.spawn(move || {
                    while receiver.try_recv().is_err() {
                        hint::spin_loop();
                    }
                    turn.fetch_add(1, SeqCst);
                });
            });
        }),
        ("a shared lock beside a lock that spins", || {
            let (shared, lock) = (RwLock::new(0), AtomicUsize::new(0));
            thread::scope(|scope| {
                for task in 0..2 {
                    let (shared, lock) = (&shared, &lock);
                    scope.spawn(move || {
                        while lock.swap(1, SeqCst) == 1 {
                            thread::yield_now();
                        }
                        if task == 0 {
                            *shared.write().unwrap() += 1;
                        } else {
                            _ = *shared.read().unwrap();
                        }
                        lock.store(0, SeqCst);
                    });
                }
                scope.spawn(|| *shared.read().unwrap());
            });
        }),
        ("a shared lock that is tried", || {
            let (shared, turn) = (RwLock::new(0), AtomicUsize::new(0));
            thread::scope(|scope| {
                scope.spawn(|| {
                    let mut inside = shared.write().unwrap();
                    (0..4).for_each(|value| turn.store(value, SeqCst));
                    *inside += 1;
                });
                scope.spawn(|| {
                    while is_taken(&shared) {
                        thread::yield_now();
                    }
                    turn.fetch_add(1, SeqCst);
                });
            });
        }),
    ]
}

/// Programs with waiting loops for which wakeup trees and source sets are not sound.
fn falling_back() -> Vec<Named> {
    vec![
        ("the end of a task", || {
            let n = Arc::new(AtomicUsize::new(0));
            let task = thread::spawn({
                let n = n.clone();
                move || {
                    n.store(1, SeqCst);
                    n.store(2, SeqCst);
                }
            });
            while !task.is_finished() {
                thread::yield_now();
            }
            n.fetch_add(1, SeqCst);
            task.join().unwrap();
        }),
        ("the ends of two tasks, and a flag", || {
            let flag = AtomicUsize::new(0);
            thread::scope(|scope| {
                let tasks = [0, 1].map(|_| scope.spawn(|| flag.fetch_add(1, SeqCst)));
                while flag.load(SeqCst) == 0 || !tasks[1].is_finished() {
                    hint::spin_loop();
                }
                flag.store(9, SeqCst);
            });
        }),
    ]
}

/// `true` if nothing is missing, except that a task that yields twice may find another task's end any time later.
fn covers_what_is_fair(coverage: &Coverage) -> bool {
    match coverage {
        Coverage::Exhaustive => true,
        Coverage::Bounded {
            reason: Some(reason), ..
        } => reason.starts_with("fair scheduling"),
        _ => false,
    }
}

/// A search without reduction finds the same traces, also if caching takes over: the known loops stay known.
#[test]
fn loops_are_assumed_to_wait_after_a_fall_back() {
    let all_reduced = reduced().into_iter().map(|named| (named, false));
    let all = all_reduced.chain(falling_back().into_iter().map(|named| (named, true)));
    for ((name, test), falls_back) in all {
        let all = explorer().explore(test);
        assert!(covers_what_is_fair(all.coverage()), "{name}: {all}");
        assert!(all.verdict().is_pass(), "{name}: {all}");
        assert!(says(&all, "spin_loops=assume:"), "{name}: {all}");
        let without = explorer().set("spin_loops", "park").explore(test);
        assert!(all.traces() <= without.traces(), "{name}: {all} {without}");
        for reduction in [Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor] {
            let report = explorer().reduction(reduction).explore(test);
            assert_eq!(
                report.reduction() == "caching",
                falls_back || reduction == Reduction::Caching,
                "{name}, {reduction:?}: {report}"
            );
            assert!(
                covers_what_is_fair(report.coverage()),
                "{name}, {reduction:?}: {report}"
            );
            assert!(
                says(&report, "spin_loops=assume:"),
                "{name}, {reduction:?}: {report}"
            );
            assert_eq!(report.traces(), all.traces(), "{name}, {reduction:?}: {report}");
            assert!(
                report.executions() <= all.executions(),
                "{name}, {reduction:?}: {report}"
            );
        }
    }
}

/// Adversities of the environment lead to a fallback too.
#[test]
fn loops_are_assumed_to_wait_beside_adversities() {
    let test = || {
        let lock = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while lock.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_err() {
                        hint::spin_loop();
                    }
                    lock.store(0, SeqCst);
                });
            }
        });
    };
    let explorer = || explorer().environment(Environment::default());
    let all = explorer().explore(test);
    assert!(says(&all, "spin_loops=assume:"), "{all}");
    // A round may have failed spuriously, although the condition is met already.
    let narrowed = |report: &Report| report.limits().contains(&Limit::Awaits { seen: true });
    assert!(narrowed(&all) && *all.coverage() != Coverage::Exhaustive, "{all}");
    for reduction in [Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor] {
        let report = explorer().reduction(reduction).explore(test);
        assert_eq!(report.traces(), all.traces(), "{reduction:?}: {report} {all}");
        assert_eq!(report.coverage(), all.coverage(), "{report}");
    }
}

/// Loops that executions before the search show are not assumed to wait either.
#[test]
fn loops_of_a_warm_up_are_not_believed() {
    for (name, reduction) in Reduction::ALL {
        if reduction == Reduction::OrderedAtomics {
            continue;
        }
        let explorer = || explorer().reduction(reduction);
        let sure = explorer().explore(|| waiting(true));
        let warm = explorer().set("warm_up", 2).explore(|| waiting(true));
        let counted = |report: &Report| (report.executions(), report.traces(), report.coverage().clone());
        assert_eq!(counted(&warm), counted(&sure), "{name}: {warm}");
        assert!(says(&warm, "the search restarted once"), "{name}: {warm}");
        // A loop that waits only in the first execution.
        let calls = StdAtomicU64::new(0);
        let report = explorer()
            .set("warm_up", 1)
            .explore(|| waiting(calls.fetch_add(1, SeqCst) == 0));
        let sure = explorer().explore(|| waiting(false));
        assert_eq!(counted(&report), counted(&sure), "{name}: {report}");
        assert!(!says(&report, "spin_loops=assume:"), "{name}: {report}");
    }
}

#[test]
fn what_would_have_to_start_anew_together_is_refused() {
    let nowhere = std::env::temp_dir().join("never-written.imzc");
    for (explorer, setting, says) in [
        (
            explorer().jobs(2),
            "jobs",
            "several workers cannot do that together",
        ),
        (
            explorer().checkpoint(&nowhere),
            "checkpoint",
            "a checkpoint does not keep that",
        ),
        (
            explorer().reduction(Reduction::OrderedAtomics),
            "spin_loops",
            "starts the search again",
        ),
    ] {
        let error = explorer.try_explore(|| locked(false)).unwrap_err();
        assert!(
            matches!(&error, ExploreError::Setting(error) if error.name == setting),
            "{error}"
        );
        assert!(error.to_string().contains(says), "{error}");
    }
    assert!(!nowhere.exists());
}
