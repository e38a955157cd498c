//! The second part of the default search, which explores a test under the memory model if it passed without.

use super::store_buffer;
use intermezzo::cell::{ByPointer as _, UnsafeCell};
use intermezzo::sdk::{Interests, Monitor};
use intermezzo::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use intermezzo::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use intermezzo::sync::{Arc, Mutex, OnceLock};
use intermezzo::{Coverage, Environment, Explorer, Limit, OnFound, Report, Strategy, Verdict, thread};
use std::sync::Mutex as Kept;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

pub(super) fn auto() -> Explorer {
    Explorer::new()
        .environment(Environment::calm())
        .strategy(Strategy::auto())
}

/// Returns the memory model whose weaker behaviours the report says were not explored, if it says so.
pub(super) fn not_explored(report: &Report) -> Option<&str> {
    report.limits().iter().find_map(|limit| match limit {
        Limit::Memory { model } => Some(model.as_str()),
        _ => None,
    })
}

/// Adds in two tasks.
fn count(order: Ordering) {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| n.fetch_add(1, order));
        }
    });
    assert_eq!(n.load(order), 2);
}

#[test]
fn a_test_with_weaker_orderings_is_explored_under_the_model_as_well() {
    for jobs in [1, 2] {
        let report = auto().jobs(jobs).explore(|| store_buffer(SeqCst, SeqCst, false));
        assert_eq!(
            (report.weak_memory(), not_explored(&report)),
            (None, None),
            "{report}"
        );
        let report = auto().jobs(jobs).explore(|| {
            let n = AtomicUsize::new(0);
            thread::scope(|scope| {
                scope.spawn(|| n.store(1, Release));
                n.load(Acquire);
            });
        });
        assert_eq!(report.verdict(), Verdict::Pass, "{report}");
        let part = report.weak_memory().expect("it has `Acquire`");
        assert_eq!(
            (part.stale_reads, &part.coverage),
            (1, &Coverage::Exhaustive),
            "{report}"
        );
        assert_eq!(not_explored(&report), Some("cpp20"), "{report}");
        let words = format!(
            "every schedule was run; under weak memory: {} executions, every schedule was run; not explored: ",
            part.executions
        );
        assert!(
            report.to_string().replace("\n  ", " ").contains(&words),
            "{report}"
        );
    }
}

/// The guide shows this report.
#[test]
fn a_pass_says_what_both_parts_covered() {
    let report = auto().program("ring::hand_over").explore(|| {
        let (slot, full) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                slot.store(7, Relaxed);
                full.store(true, Release);
                full.load(Relaxed)
            });
            assert!(!full.load(Acquire) || slot.load(Relaxed) == 7);
            full.store(false, Release);
        });
    });
    let text = report.to_string();
    let shown = text.split("\n  environment: ").next().unwrap();
    let guide = include_str!("../../docs/guide/src/memory.md");
    assert!(
        guide.contains(&format!("```text\n{shown}\n```\n")),
        "the guide does not show:\n{text}"
    );
}

#[test]
fn a_failure_that_only_weak_memory_has_is_found_by_default() {
    for jobs in [1, 2] {
        let test = || store_buffer(Release, Acquire, false);
        let report = auto().jobs(jobs).explore(test);
        assert_eq!(report.verdict(), Verdict::Fail, "{report}");
        let finding = &report.findings()[0];
        assert_eq!(finding.schedule.environment.stale_reads, 1);
        assert!(!finding.stale_operations().is_empty());
        assert_eq!(report.orderings().len(), 1, "{report}");
        let passes = "with sequentially consistent memory no error was found: ";
        assert!(
            report.notes().iter().any(|note| note.starts_with(passes)),
            "{report}"
        );
        let again = auto().replay(finding.schedule.clone()).explore(test);
        assert_eq!(again.findings()[0].message, finding.message);
        let recorded = auto().jobs(jobs).record(true).explore(test);
        let recorded = &recorded.recordings()[0];
        assert!(recorded.execution.is_some() && recorded.nearest_pass.is_some());
    }
}

#[test]
fn a_failure_without_weak_memory_is_shown_without_it() {
    let report = auto().explore(|| {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| n.store(n.load(Relaxed) + 1, Relaxed));
            }
        });
        assert_eq!(n.load(Relaxed), 2);
    });
    assert_eq!(report.verdict(), Verdict::Fail);
    assert_eq!(
        report.findings()[0].schedule.environment.stale_reads,
        0,
        "{report}"
    );
}

#[test]
fn memory_has_no_limit_where_no_ordering_is_weaker() {
    let locked = auto().explore(|| {
        let n = Arc::new(Mutex::new(0));
        let task = thread::spawn({
            let n = Arc::clone(&n);
            move || *n.lock().unwrap() += 1
        });
        *n.lock().unwrap() += 1;
        task.join().unwrap();
    });
    let alone = auto().explore(|| {
        AtomicUsize::new(0).fetch_add(1, Relaxed);
    });
    for report in [locked, alone, auto().explore(|| count(SeqCst))] {
        assert_eq!(
            (report.weak_memory(), not_explored(&report)),
            (None, None),
            "{report}"
        );
    }
    // The failure ordering of an exchange counts, too.
    let failing = auto().explore(|| {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| n.compare_exchange(0, 1, SeqCst, Relaxed));
            _ = n.compare_exchange(0, 1, SeqCst, Relaxed);
        });
    });
    assert!(failing.weak_memory().is_some(), "{failing}");
}

struct Counts;

impl Monitor for Counts {
    fn name(&self) -> &str {
        "counts"
    }

    fn interests(&self) -> Interests {
        Interests::NONE
    }

    fn reduction_compatible(&self) -> bool {
        true
    }
}

#[test]
fn settings_that_exclude_the_model_are_reported() {
    let named = |name: &str| Strategy::named(name).unwrap();
    for (why, explorer) in [
        ("off", auto().strategy(named("auto(stale_reads=0)"))),
        ("another search", auto().strategy(Strategy::dfs())),
        ("an attached monitor", auto().monitor(Counts)),
        (
            "a monitor that needs the last stores",
            auto().monitor_with(|| Counts),
        ),
        ("a shipped monitor", auto().monitors("atomicity")),
        (
            "loops that are assumed to wait",
            auto().set("spin_loops", "assume"),
        ),
        ("iRoots", auto().set("iroots", true)),
        ("a share", auto().set("reduction", "dpor").set("partition", "1/2")),
    ] {
        let report = explorer.explore(|| count(Relaxed));
        assert_eq!(report.weak_memory(), None, "{why}: {report}");
        assert_eq!(not_explored(&report), Some("sc"), "{why}: {report}");
        assert_eq!(report.verdict(), Verdict::Pass, "{why}: {report}");
    }
    // The whole search is already under the model.
    let report = auto()
        .set("environment", "stale_reads=2")
        .explore(|| count(Relaxed));
    assert_eq!(
        (report.weak_memory(), not_explored(&report)),
        (None, Some("cpp20"))
    );
}

/// Four tasks with four steps, in 63,063,000 orders.
fn large(order: Ordering) {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for task in 0..4 {
            let n = &n;
            scope.spawn(move || (0..4).for_each(|_| _ = n.swap(task + 1, order)));
        }
    });
}

#[test]
fn a_quarter_of_the_limits_is_reserved_for_weak_memory() {
    for jobs in [1, 2] {
        let report = auto().jobs(jobs).executions(400).explore(|| large(AcqRel));
        assert_eq!(report.executions(), 300, "{report}");
        let part = report.weak_memory().unwrap();
        assert_eq!(part.executions, 100, "{report}");
        let words = report.to_string().replace("\n  ", " ");
        // With several workers, their speed decides if the report has a reason.
        let reason = "300 of 400 executions that the limit allows were run; the rest is for weak memory";
        assert!(jobs > 1 || words.contains(reason), "{report}");
        assert!(words.contains("under weak memory: 100 "), "{report}");
        let report = auto().jobs(jobs).executions(400).explore(|| large(SeqCst));
        assert_eq!(
            (report.executions(), report.weak_memory()),
            (400, None),
            "{report}"
        );
        let reason = "the limit of 400 executions was reached";
        assert!(
            jobs > 1 || report.to_string().replace("\n  ", " ").contains(reason),
            "{report}"
        );
    }
    let report = auto().executions(1).explore(|| large(AcqRel));
    assert_eq!((report.executions(), report.weak_memory()), (1, None), "{report}");
    for part in ["under weak memory", "for weak memory"] {
        assert!(!report.to_string().contains(part), "{report}");
    }
    // A single task does not need it.
    let alone = auto().executions(8).explore(|| {
        AtomicUsize::new(0).store(intermezzo::choose(100), Relaxed);
    });
    assert_eq!(
        (alone.executions(), alone.limits()),
        (8, &[Limit::OneTask][..]),
        "{alone}"
    );
    assert_eq!(not_explored(&report), Some("sc"));
}

#[test]
fn nothing_is_reserved_for_weak_memory_after_a_failure() {
    let fails = || {
        large(AcqRel);
        assert_eq!(intermezzo::choose(2), 0);
    };
    let report = auto().keep_going(true).executions(40).explore(fails);
    assert_eq!(report.executions(), 40, "{report}");
}

#[test]
fn a_search_that_continues_from_a_checkpoint_keeps_time_for_weak_memory() {
    let file = std::env::temp_dir().join(format!("intermezzo-weak-{}.checkpoint", std::process::id()));
    for _ in 0..2 {
        let explorer = auto().set("time", "0.8").checkpoint(&file);
        let report = explorer.explore(|| large(AcqRel));
        assert!(report.weak_memory().is_some(), "{report}");
    }
    std::fs::remove_file(file).unwrap();
}

/// Stores and loads in three tasks: there are many more executions under the model.
fn stores_and_loads() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for task in 0..3 {
            let n = &n;
            scope.spawn(move || {
                (0..3).for_each(|store| n.store(3 * task + store, Relaxed));
                (0..6).for_each(|_| _ = n.load(Relaxed));
            });
        }
    });
}

#[test]
fn weak_memory_takes_no_more_executions_than_the_search_before_or_a_thousand() {
    for reduction in ["auto", "caching"] {
        let report = auto()
            .set("preemptions", 0)
            .set("reduction", reduction)
            .explore(stores_and_loads);
        assert!(report.executions() < 1_000, "{report}");
        assert_eq!(report.weak_memory().unwrap().executions, 1_000, "{report}");
        let words = report.to_string().replace("\n  ", " ");
        let reason = match reduction {
            "auto" => "under weak memory: 1000 schedules sampled",
            _ => "1000 executions were run; `stale_reads=1` in the `environment` explores further",
        };
        assert!(words.contains(reason), "{report}");
    }
    let report = auto()
        .set("preemptions", 1)
        .executions(100_000)
        .explore(|| large(AcqRel));
    let part = report.weak_memory().unwrap();
    assert!(part.executions <= report.executions().max(1_000), "{report}");
}

/// Performs an operation after this many milliseconds of real time.
fn pause(n: &AtomicUsize, millis: u64) {
    std::thread::sleep(Duration::from_millis(millis));
    n.load(Relaxed);
}

#[test]
fn an_execution_that_runs_is_cut_off_where_the_time_for_weak_memory_begins() {
    let report = auto().set("time", 2).explore(|| {
        count(Relaxed);
        if intermezzo::choose(2) == 1 {
            let n = AtomicUsize::new(0);
            (0..10_000).for_each(|_| pause(&n, 1));
        }
    });
    // Otherwise it would take the whole time, and the second part another quarter.
    assert!(report.elapsed() < Duration::from_millis(2_250), "{report}");
    assert!(report.weak_memory().is_some(), "{report}");
}

#[test]
fn a_limit_of_time_holds_for_long_executions() {
    let explored = || {
        let began = Instant::now();
        let report = auto().set("time", 1).explore(|| {
            let n = AtomicUsize::new(0);
            thread::scope(|scope| {
                for task in 0..4 {
                    let n = &n;
                    scope.spawn(move || (0..4_000).for_each(|_| _ = n.swap(task, SeqCst)));
                }
                n.load(Relaxed);
            });
        });
        (began.elapsed(), report)
    };
    // On a busy machine it may take longer, but not each time.
    let mut shown = String::new();
    let holds = (0..5).any(|_| {
        let (elapsed, report) = explored();
        shown += &format!("{elapsed:?}: {report}\n");
        elapsed < Duration::from_secs(2)
    });
    assert!(holds, "{shown}");
}

#[test]
fn a_report_says_so_if_no_execution_under_weak_memory_ended() {
    let report = auto().set("time", 1).explore(|| {
        count(Relaxed);
        let n = AtomicUsize::new(0);
        (0..200).for_each(|_| pause(&n, 2));
    });
    assert_eq!(
        (report.verdict(), report.weak_memory()),
        (Verdict::Pass, None),
        "{report}"
    );
    assert_eq!(not_explored(&report), Some("sc"), "{report}");
    let begins = "weak memory was not explored: no execution under it came to its end; an execution was cut off after ";
    assert!(
        report.notes().iter().any(|note| note.starts_with(begins)),
        "{report}"
    );
}

#[test]
fn a_failure_of_an_execution_that_was_cut_off_is_named() {
    let report = auto().set("time", 1).explore(|| {
        let vars = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let other = Arc::clone(&vars);
        let task = thread::spawn(move || {
            other[0].store(1, Relaxed);
            other[1].load(Relaxed)
        });
        vars[1].store(1, Relaxed);
        if vars[0].load(Relaxed) + task.join().unwrap() == 0 {
            let failing = thread::spawn(|| panic!("both read 0"));
            while !failing.is_finished() {
                thread::yield_now();
            }
            (0..10_000).for_each(|_| pause(&vars[0], 1));
        }
    });
    assert_eq!(report.verdict(), Verdict::Inconclusive, "{report}");
    let begins = "under weak memory: an execution was cut off after ";
    let note = report.notes().iter().find(|note| note.starts_with(begins));
    assert!(note.is_some_and(|note| note.contains("both read 0")), "{report}");
}

#[test]
fn each_limit_is_listed_once() {
    let report = auto().monitors("-data-race").explore(|| {
        let (n, cell) = (AtomicUsize::new(0), UnsafeCell::new(0));
        thread::scope(|scope| {
            scope.spawn(|| n.store(1, Release));
            if n.load(Acquire) == 0 {
                cell.with_mut(|_| {});
            }
        });
    });
    assert!(report.weak_memory().is_some(), "{report}");
    let of_memory = |limit: &&Limit| matches!(limit, Limit::PlainMemory { .. });
    assert_eq!(report.limits().iter().filter(of_memory).count(), 1, "{report}");
}

#[test]
fn the_reason_for_a_weaker_reduction_with_several_workers_is_true() {
    let report = auto().jobs(2).set("environment", "stale_reads=1").explore(|| {
        let (left, right) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for [own, other] in [[&left, &right], [&right, &left]] {
                scope.spawn(move || {
                    own.store(1, Relaxed);
                    other.load(Relaxed);
                    own.load(Relaxed);
                });
            }
        });
    });
    let reason = "loads may read older stores, and several workers explore the test";
    let is_said = report.notes().iter().any(|note| note.contains(reason));
    assert!(
        is_said && !report.to_string().contains("chooses values"),
        "{report}"
    );
}

#[test]
fn weak_memory_takes_no_more_executions_than_were_asked_for() {
    let at_most = |executions: u64| {
        let strategy = Strategy::named(&format!("auto(weak_executions={executions})")).unwrap();
        auto().strategy(strategy).set("reduction", "dpor")
    };
    for most in [1, 20] {
        let report = at_most(most).set("preemptions", 0).explore(|| large(AcqRel));
        assert_eq!(report.weak_memory().unwrap().executions, most, "{report}");
        let words = report.to_string().replace("\n  ", " ");
        let reason = format!("the limit `weak_executions={most}` was reached");
        assert!(words.contains(&reason), "{report}");
    }
    // The limit is larger than the first part, and than 1,000.
    let report = at_most(6_000).set("preemptions", 0).explore(stores_and_loads);
    assert!(report.executions() < 6_000, "{report}");
    assert_eq!(report.weak_memory().unwrap().executions, 6_000, "{report}");
    // No more than that is reserved.
    let report = at_most(20).executions(400).explore(|| large(AcqRel));
    assert_eq!(
        (report.executions(), report.weak_memory().unwrap().executions),
        (380, 20),
        "{report}"
    );
    let reason = "380 of 400 executions that the limit allows were run; the rest is for weak memory";
    assert!(
        report.to_string().replace("\n  ", " ").contains(reason),
        "{report}"
    );
    let refused = Strategy::named("auto(weak_executions=0)").err().unwrap();
    assert!(refused.to_string().contains("not a number in range"), "{refused}");
}

#[test]
fn failures_of_the_second_part_are_passed_to_on_finding() {
    let seen = std::sync::Arc::new(AtomicU64::new(0));
    let asked = std::sync::Arc::clone(&seen);
    let report = auto()
        .on_finding(move |finding| {
            asked.fetch_add(1 + u64::from(finding.schedule.environment.stale_reads), SeqCst);
            OnFound::Settle
        })
        .explore(|| store_buffer(Relaxed, Relaxed, false));
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    assert!(seen.load(SeqCst) >= 2, "{report}");
    let told = |note: &String| note.starts_with("on_finding: ") && note.contains(" under weak memory w");
    assert!(report.notes().iter().any(told), "{report}");
}

#[test]
fn progress_continues_in_the_second_part() {
    let told = std::sync::Arc::new(Kept::new(Vec::new()));
    let keep = std::sync::Arc::clone(&told);
    let report = auto()
        .executions(2_000)
        .on_progress(move |now| keep.lock().unwrap().push((now.executions, now.elapsed)))
        .explore(|| large(AcqRel));
    let told = told.lock().unwrap();
    assert!(told.is_sorted(), "{told:?}");
    assert!(told.last().unwrap().0 > report.executions(), "{told:?}");
}

#[test]
fn the_bound_is_a_parameter_of_the_strategy() {
    let strategy = Strategy::named("auto(stale_reads=2)").unwrap();
    let report = auto().strategy(strategy).explore(|| count(Relaxed));
    assert_eq!(report.weak_memory().unwrap().stale_reads, 2);
}

/// The guide names these operations as limits: in std they are loads, relaxed or with `Acquire`.
#[test]
fn checks_of_objects_are_never_stale() {
    let set = auto().explore(|| {
        let cells = Arc::new([OnceLock::new(), OnceLock::new()]);
        let other = Arc::clone(&cells);
        let task = thread::spawn(move || {
            other[0].set(()).unwrap();
            other[1].get().is_some()
        });
        cells[1].set(()).unwrap();
        let seen = cells[0].get().is_some();
        assert!(task.join().unwrap() || seen);
    });
    let counted = auto().explore(|| {
        let (handle, flag) = (Arc::new(0), Arc::new(AtomicBool::new(false)));
        let (other, raised) = (Arc::clone(&handle), Arc::clone(&flag));
        let task = thread::spawn(move || {
            drop(other);
            raised.store(true, Relaxed);
        });
        if flag.load(Relaxed) {
            assert_eq!(Arc::strong_count(&handle), 1);
        }
        task.join().unwrap();
    });
    let ended = auto().explore(|| {
        let value = Arc::new(AtomicUsize::new(0));
        let stored = Arc::clone(&value);
        let task = thread::spawn(move || stored.store(1, SeqCst));
        if task.is_finished() {
            task.join().unwrap();
            assert_eq!(value.load(SeqCst), 1);
        }
    });
    for report in [set, counted, ended] {
        assert_eq!(
            (report.verdict(), report.coverage()),
            (Verdict::Pass, &Coverage::Exhaustive),
            "{report}"
        );
    }
}
