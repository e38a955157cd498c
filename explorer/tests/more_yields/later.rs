//! The searches that follow have the settings of the first one: they warn, ask, show their progress and keep to limits.

use super::{Lock, auto, both_hold_on, is_fair};
use crate::common::{Directory, told};
use intermezzo_explorer::sync::atomic::AtomicUsize;
use intermezzo_explorer::sync::atomic::Ordering::{AcqRel, SeqCst};
use intermezzo_explorer::{Coverage, Expected, Explorer, Finding, OnFound, Report, Verdict, thread};
use intermezzo_sdk::{Context, FindingKind, Interests, Monitor, MonitorFinding, SyncVarAccess, SyncVarOp};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A monitor that warns of each store of one of these values.
struct Stores(&'static [u64]);

impl Monitor for Stores {
    fn name(&self) -> &str {
        "stores"
    }

    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES
    }

    fn reduction_compatible(&self) -> bool {
        true
    }

    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        if access.op == SyncVarOp::AtomicStore && self.0.contains(&access.written) {
            let kind = FindingKind::Plugin("store".into());
            let what = format!("a store of {}", access.written);
            cx.report(MonitorFinding::new(kind, what).events([access.event]).warning());
        }
    }
}

/// A task of two stores a 7 while it holds the lock, and the other one an 8 once it has made this many attempts.
fn stores_after(attempts: usize, end: usize) {
    let lock = Lock::default();
    let gave_up = AtomicUsize::new(0);
    thread::scope(|s| {
        s.spawn(|| lock.with(usize::MAX, |_| (), |data| data.store(7, SeqCst)));
        for made in 1..=end {
            if !lock.held.load(SeqCst) {
                break;
            }
            if made == attempts {
                gave_up.store(8, SeqCst);
            }
            thread::yield_now();
        }
    });
}

/// Returns the message of each finding, with the number of yields of its schedule.
fn found(report: &Report) -> Vec<(&str, u32)> {
    let found = report.findings().iter();
    found
        .map(|finding| (&*finding.message, finding.schedule.fair_yields))
        .collect()
}

#[test]
fn warnings_are_kept_once() {
    let warned = |options: &str, values: &'static [u64], attempts, end| {
        auto(options)
            .monitor_with(move || Stores(values))
            .explore(|| stores_after(attempts, end))
    };
    // The loop ends by itself, so the last search has every schedule.
    let report = warned("", &[7, 8], 6, 8);
    assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
    let mut all = found(&report);
    all.sort_unstable();
    assert_eq!(all, [("a store of 7", 4), ("a store of 8", 4)], "{report}");
    let of_seven = report
        .findings()
        .iter()
        .find(|finding| finding.message.contains('7'));
    assert_eq!(of_seven.unwrap().count, report.executions(), "{report}");
    // A search that ends with an error has those of the searches before it, too.
    let report = auto("").monitor_with(|| Stores(&[7])).explore(|| {
        let lock = Lock::default();
        thread::scope(|s| {
            s.spawn(|| lock.with(6, |_| thread::yield_now(), |data| data.store(7, SeqCst)));
            lock.with(6, |_| thread::yield_now(), |_| ());
        });
        assert_eq!(lock.gave_up.load(SeqCst), 0);
    });
    assert_eq!(report.verdict(), Verdict::Fail, "{report}");
    let is_seven = |finding: &&Finding| finding.message == "a store of 7";
    let sevens: Vec<_> = report.findings().iter().filter(is_seven).collect();
    assert_eq!(sevens.len(), 1, "{report}");
    assert!(
        sevens[0].count <= report.executions(),
        "{} {report}",
        sevens[0].count
    );
}

/// A search that a limit ends has warned of something that was not found before.
#[test]
fn warnings_of_a_search_that_does_not_end_are_kept() {
    let warned = |options: &str, executions: u64| {
        auto(options)
            .monitor_with(|| Stores(&[7, 8]))
            .executions(executions)
            .explore(|| {
                let (lock, other) = (Lock::default(), AtomicUsize::new(0));
                thread::scope(|s| {
                    for _ in 0..2 {
                        s.spawn(|| {
                            lock.with(usize::MAX, |_| thread::yield_now(), |data| data.store(7, SeqCst))
                        });
                    }
                    let mut made = 0;
                    while lock.held.load(SeqCst) {
                        made += 1;
                        if made == 12 {
                            other.store(8, SeqCst);
                        }
                        thread::yield_now();
                    }
                });
            })
    };
    let first = warned("(fair_yields=1)", 100_000);
    assert_eq!(found(&first), [("a store of 7", 1)], "{first}");
    let report = warned("", first.executions() + 2_000);
    assert!(is_fair(&report, 1), "{report}");
    assert_eq!(report.executions(), first.executions());
    assert_eq!(
        found(&report),
        [("a store of 7", 1), ("a store of 8", 4)],
        "{report}"
    );
    assert_eq!(report.findings()[0].count, first.findings()[0].count);
}

#[test]
fn on_finding_is_asked_about_a_later_failure() {
    let test = || both_hold_on(6, |_| thread::yield_now());
    for answer in [OnFound::Stop, OnFound::Settle] {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let asks = Arc::clone(&asked);
        let report = auto("")
            .on_finding(move |finding| {
                asks.lock().unwrap().push(finding.clone());
                answer
            })
            .executions(1_000)
            .explore(test);
        let asked = asked.lock().unwrap();
        assert!(
            asked.iter().all(|finding| finding.schedule.fair_yields > 1),
            "{report}"
        );
        for finding in asked.iter() {
            let again = Explorer::new().replay(finding.schedule.clone()).explore(test);
            assert_eq!(again.findings()[0].message, finding.message, "{again}");
            if answer == OnFound::Settle {
                break;
            }
        }
        if answer == OnFound::Settle {
            assert!(report.findings().is_empty() && !asked.is_empty(), "{report}");
            assert!(report.verdict().is_pass(), "{report}");
            continue;
        }
        assert_eq!((asked.len(), report.findings().len()), (1, 1), "{report}");
        assert_eq!(report.findings()[0].message, asked[0].message);
        let token = report.findings()[0].schedule.token();
        let printed = report.to_string();
        assert!(printed.contains(&token), "{printed}");
        let schedule = intermezzo_explorer::Schedule::from_token(&token).unwrap();
        let again = Explorer::new().replay(schedule).explore(test);
        assert_eq!(again.findings()[0].message, asked[0].message, "{again}");
    }
}

/// An execution that does not end with more yields is no failure, so there is nothing to decide. Other failures are found
/// where the search continues after it.
#[test]
fn on_finding_is_not_asked_about_more_rounds() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let asks = Arc::clone(&asked);
    let report = auto("")
        .steps_per_execution(150)
        .executions(3_000)
        .on_finding(move |finding| {
            asks.lock().unwrap().push(finding.kind.clone());
            OnFound::GoOn
        })
        .explore(|| super::long_rounds(usize::MAX));
    assert!(report.verdict().is_pass() && is_fair(&report, 1), "{report}");
    assert_eq!(*asked.lock().unwrap(), [], "{report}");
    let asks = Arc::clone(&asked);
    let report = auto("")
        .steps_per_execution(110)
        .executions(6_000)
        .on_finding(move |finding| {
            asks.lock().unwrap().push(finding.kind.clone());
            OnFound::GoOn
        })
        .explore(|| super::long_rounds(60));
    let asked = asked.lock().unwrap();
    assert!(
        asked.iter().all(|kind| *kind == FindingKind::Assertion),
        "{asked:?} {report}"
    );
    assert_eq!(report.findings().len(), 1, "{report}");
    let noted = report
        .notes()
        .iter()
        .find(|note| note.contains("an execution did not end ("));
    assert!(noted.is_some(), "{report}");
}

#[test]
fn several_workers_find_the_same() {
    let passing: fn() = || super::waits_after(10);
    let failing: fn() = || both_hold_on(6, |_| thread::yield_now());
    for test in [passing, failing] {
        let reports = [1, 2, 3].map(|jobs| auto("").program("later").jobs(jobs).explore(test));
        for report in &reports[1..] {
            assert_eq!(report.verdict(), reports[0].verdict(), "{report}");
            if report.verdict().is_pass() {
                // Until the first finding, the executions depend on the workers.
                assert_eq!(report.coverage(), reports[0].coverage(), "{report}");
            }
            assert_eq!(report.limits(), reports[0].limits(), "{report}");
            assert_eq!(found(report), found(&reports[0]), "{report}");
            let noted = |report: &Report| {
                report
                    .notes()
                    .iter()
                    .any(|note| note.contains("`fair_yields=1` no error"))
            };
            assert_eq!(noted(report), noted(&reports[0]), "{report}");
            for finding in report.findings() {
                let again = Explorer::new().program("later").replay(finding.schedule.clone());
                let again = again.explore(test);
                assert_eq!(again.findings()[0].message, finding.message, "{again}");
            }
        }
    }
}

#[test]
fn progress_rises_over_all_searches() {
    let shown = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&shown);
    let report = auto("")
        .monitor_with(|| Stores(&[7]))
        .executions(3_000)
        .on_progress(move |now| keep.lock().unwrap().push(*now))
        .explore(|| {
            let lock = Lock::default();
            thread::scope(|s| {
                for _ in 0..2 {
                    s.spawn(|| lock.with(3, |_| thread::yield_now(), |data| data.store(7, SeqCst)));
                }
            });
        });
    let shown = shown.lock().unwrap();
    let executions: Vec<u64> = shown.iter().map(|now| now.executions).collect();
    assert!(executions.is_sorted(), "{executions:?}");
    assert!(
        *executions.last().unwrap() > report.executions(),
        "{executions:?} {report}"
    );
    assert!(*executions.last().unwrap() <= 3_000, "{executions:?} {report}");
    assert!(shown.is_sorted_by_key(|now| now.elapsed), "{shown:?}");
    let findings: Vec<usize> = shown.iter().map(|now| now.findings).collect();
    assert!(findings.is_sorted(), "{findings:?}");
    for now in shown.iter() {
        if let Some(estimate) = now.estimate {
            assert!(now.executions <= estimate.executions_expected + 1, "{now:?}");
        }
    }
}

/// A search that continues in another process has a limit of time of its own, and so have those that follow.
#[test]
fn a_limit_of_time_is_that_of_a_process() {
    let slow = AtomicBool::new(true);
    let test = || {
        if slow.load(Relaxed) {
            std::thread::sleep(Duration::from_millis(100));
        }
        let lock = Lock::default();
        let weaker = AtomicUsize::new(0);
        thread::scope(|s| {
            s.spawn(|| {
                lock.with(3, |_| thread::yield_now(), |_| ());
                weaker.fetch_add(1, AcqRel);
            });
            lock.with(3, |_| thread::yield_now(), |_| ());
            weaker.fetch_add(1, AcqRel);
        });
    };
    let directory = Directory::new("time");
    let explorer = || auto("").program("later").checkpoint(directory.file());
    explorer().executions(28).explore(test);
    slow.store(false, Relaxed);
    // Three quarters of this limit are for the searches before the part under weak memory.
    let report = explorer().time(Duration::from_secs(2)).explore(test);
    assert!(report.elapsed() >= Duration::from_millis(1_500), "{report}");
    let gone_on = |note: &String| note.contains("with `fair_yields=4`") && note.contains("executions");
    assert!(
        !is_fair(&report, 1) || report.notes().iter().any(gone_on),
        "{report}"
    );
}

#[test]
fn a_search_stopped_in_a_later_one_continues() {
    let passing: fn() = || super::waits_after(10);
    let failing: fn() = || both_hold_on(10, |_| thread::yield_now());
    for test in [passing, failing] {
        let explorer = || auto("").program("later");
        let whole = explorer().explore(test);
        let first = auto("(fair_yields=1)").explore(test);
        let directory = Directory::new("later");
        let stopped = explorer()
            .checkpoint(directory.file())
            .executions(first.executions() + 5)
            .explore(test);
        assert!(is_fair(&stopped, 1) && stopped.findings().is_empty(), "{stopped}");
        assert!(
            stopped
                .notes()
                .iter()
                .any(|note| note.contains("`fair_yields=4`")),
            "{stopped}"
        );
        for _ in 0..2 {
            let report = explorer().checkpoint(directory.file()).explore(test);
            assert_eq!(told(&report), told(&whole));
        }
    }
}

#[test]
fn an_expected_failure_may_be_found_later() {
    let test = || both_hold_on(6, |_| thread::yield_now());
    let report = auto("").should_panic("left == right").explore(test);
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(report.findings().len(), 1, "{report}");
    let report = auto("(fair_yields=1)").should_panic("").explore(test);
    assert!(report.verdict().is_fail(), "{report}");
    // Something else is no pass.
    let report = auto("")
        .expect(Expected::named("deadlock", "").unwrap())
        .explore(test);
    assert!(report.verdict().is_fail(), "{report}");
    let report = auto("")
        .steps_per_execution(150)
        .expect(Expected::named("livelock", "").unwrap())
        .explore(|| super::long_rounds(usize::MAX));
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(report.findings().len(), 1, "{report}");
}
