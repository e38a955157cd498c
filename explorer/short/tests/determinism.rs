//! Tests that return the same in every execution: a value that differs is a finding with both values and both schedules,
//! whichever search finds it, and a replay shows it again.

#[path = "../../tests/common/mod.rs"]
mod common;

use intermezzo_explorer::sync::atomic::{AtomicU32, Ordering::SeqCst};
use intermezzo_explorer::sync::{Mutex, mpsc};
use intermezzo_explorer::{
    Coverage, Environment, Expected, Explorer, FindingDetail, Reduction, Report, Schedule, Strategy, Verdict,
    choose, thread,
};
use intermezzo_sdk::FindingKind;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeSet;
use std::sync::Mutex as Kept;

fn explorer() -> Explorer {
    Explorer::new().program("determinism")
}

fn lost_update() -> u32 {
    let n = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
        scope.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
    });
    n.load(SeqCst)
}

fn sum() -> u32 {
    let n = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| n.fetch_add(1, SeqCst));
        scope.spawn(|| n.fetch_add(2, SeqCst));
    });
    n.load(SeqCst)
}

/// Returns the values and the schedules of the only finding: this execution's, and those of the default execution.
#[track_caller]
fn results(report: &Report) -> [String; 4] {
    let [finding] = report.findings() else {
        panic!("{report}")
    };
    assert_eq!(finding.kind, FindingKind::Determinism, "{report}");
    let FindingDetail::Results {
        returned,
        by_default,
        default_schedule,
    } = &finding.detail
    else {
        panic!("{report}")
    };
    assert_eq!(
        finding.message,
        format!("the test returned {returned}, and {by_default} in its default execution")
    );
    [
        returned.clone(),
        by_default.clone(),
        finding.schedule.token(),
        default_schedule.clone(),
    ]
}

#[test]
fn a_lost_update_is_two_results() {
    let report = explorer().explore_deterministic(lost_update);
    let [returned, by_default, schedule, default_schedule] = results(&report);
    assert_eq!((returned.as_str(), by_default.as_str()), ("1", "2"));
    assert!(report.verdict().is_fail());
    assert_eq!(report.monitors(), ["determinism"]);
    // Each of the two shows its value again, on its own.
    let again = |token: &str| {
        let schedule = Schedule::parse(token).unwrap();
        explorer().replay(schedule).explore_deterministic(lost_update)
    };
    assert_eq!(again(&schedule).findings(), report.findings());
    let default = again(&default_schedule);
    assert!(
        default.verdict().is_pass() && default.coverage() == &Coverage::Replayed { as_recorded: true },
        "{default}"
    );
    let value = Kept::new(0);
    let plain = explorer()
        .replay(Schedule::parse(&default_schedule).unwrap())
        .explore(|| *value.lock().unwrap() = lost_update());
    assert!(plain.verdict().is_pass(), "{plain}");
    assert_eq!(*value.lock().unwrap(), 2);
}

#[test]
fn one_result_passes_and_is_told() {
    let report = explorer().explore_deterministic(sum);
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(report.coverage(), &Coverage::Exhaustive);
    assert!(
        report
            .notes()
            .contains(&"the test returned 3 in each execution".to_owned()),
        "{report}"
    );
    // The default execution is not one of the search's.
    assert_eq!(report.executions(), explorer().explore(|| _ = sum()).executions());
}

#[test]
fn every_search_compares_with_the_same_execution() {
    for (strategy, reduction, jobs) in [
        ("dfs", "none", "2"),
        ("dfs", "dpor", "1"),
        ("dfs", "dpor", "2"),
        ("dfs", "caching", "1"),
        ("random", "none", "1"),
        ("random", "none", "2"),
        ("pct(3)", "none", "1"),
        ("auto", "auto", "1"),
        ("maple", "none", "1"),
    ] {
        for seed in 0..3 {
            let report = explorer()
                .set("strategy", strategy)
                .set("reduction", reduction)
                .set("jobs", jobs)
                .executions(200)
                .seed(seed)
                .explore_deterministic(lost_update);
            let [returned, by_default, ..] = results(&report);
            assert_eq!(
                (returned.as_str(), by_default.as_str()),
                ("1", "2"),
                "{strategy} {reduction} {jobs}: {report}"
            );
            let finding = &report.findings()[0];
            assert_eq!(finding.replays, None, "{strategy} {reduction} {jobs}: {report}");
            assert_eq!(
                finding.schedule.preemptions(),
                1,
                "it is as small as can be: {report}"
            );
            let again = explorer()
                .replay(finding.schedule.clone())
                .explore_deterministic(lost_update);
            assert_eq!(again.findings()[0].detail, finding.detail);
        }
    }
}

#[test]
fn each_other_result_is_a_finding() {
    let report = explorer().keep_going(true).explore_deterministic(|| choose(4));
    let found = report.findings().iter().map(|finding| match &finding.detail {
        FindingDetail::Results { returned, .. } => returned.clone(),
        _ => panic!("{report}"),
    });
    assert_eq!(found.collect::<Vec<_>>(), ["1", "2", "3"]);
}

#[test]
fn json_has_both_values_and_both_schedules() {
    let report = explorer().explore_deterministic(lost_update);
    let [_, _, schedule, default_schedule] = results(&report);
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    let finding = &json["findings"][0];
    assert_eq!(
        (&finding["kind"], &finding["monitor"]),
        (&"determinism".into(), &"determinism".into())
    );
    assert_eq!(finding["schedule"], schedule.as_str());
    let detail = serde_json::json!({
        "kind": "results",
        "returned": "1",
        "by_default": "2",
        "default_schedule": default_schedule,
    });
    assert_eq!(finding["detail"], detail);
    let detail: FindingDetail = serde_json::from_value(detail).unwrap();
    assert_eq!(detail, report.findings()[0].detail);
    // A text has the commands for both.
    let text = report.to_string();
    for token in [schedule, default_schedule] {
        assert!(text.replace("\\\n", "").contains(&token), "{text}");
    }
}

#[test]
fn a_recording_has_both_executions() {
    let report = explorer().record(true).explore_deterministic(lost_update);
    let recorded = &report.recordings()[0];
    assert!(
        recorded.execution.is_some() && recorded.nearest_pass.is_some(),
        "{report}"
    );
}

#[test]
fn a_test_may_declare_it() {
    let report = explorer()
        .expect(Expected::named("determinism", "returned 1").unwrap())
        .explore_deterministic(lost_update);
    assert!(
        report.verdict().is_pass() && report.has_expected_finding(),
        "{report}"
    );
}

/// A panic, a deadlock and a crash in the default execution leave nothing to compare with. None of them passes.
#[test]
fn a_default_execution_that_does_not_return_is_no_pass() {
    let fails_by_default = |wait: fn()| {
        move || {
            if choose(2) == 0 {
                wait();
            }
            0
        }
    };
    // The search finds it.
    let report = explorer().explore_deterministic(fails_by_default(|| panic!("no result")));
    assert_eq!(report.findings()[0].kind, FindingKind::Panic, "{report}");
    assert!(report.verdict().is_fail());
    // The search does not run it: the seed is one with which the walk chooses 1.
    let of_seed = |seed| {
        let walk = explorer().strategy(Strategy::random()).seed(seed).executions(1);
        walk.explore_deterministic(fails_by_default(|| panic!("no result")))
    };
    let reports: Vec<Report> = (0..8).map(of_seed).collect();
    let not_run = "the default execution failed, which the search did not run: no results were compared";
    let not_run = |report: &&Report| report.notes().iter().any(|note| note == not_run);
    assert!(reports.iter().any(|report| not_run(&report)));
    for report in &reports {
        assert!(report.verdict().is_fail(), "{report}");
        assert_eq!(report.findings()[0].kind, FindingKind::Panic, "{report}");
    }
    // It is no error, and returns nothing.
    let report = explorer()
        .set("deadlocks_allowed", true)
        .environment(Environment::calm())
        .explore_deterministic(fails_by_default(|| {
            let (_sender, receiver) = mpsc::channel::<u8>();
            _ = receiver.recv();
        }));
    assert!(report.verdict() == Verdict::Inconclusive, "{report}");
    // Nothing may run after it.
    let report = explorer().explore_deterministic(fails_by_default(|| std::process::abort()));
    assert_eq!(
        (report.findings()[0].kind.clone(), report.executions()),
        (FindingKind::Crash, 1),
        "{report}"
    );
}

#[test]
fn a_search_that_continues_compares_with_the_same_execution() {
    let directory = common::Directory::new("determinism");
    let part = |most| {
        explorer()
            .checkpoint(directory.file())
            .keep_going(true)
            .executions(most)
            .explore_deterministic(lost_update)
    };
    let (mut report, mut most) = (part(1), 1);
    while report.coverage() != &Coverage::Exhaustive {
        most += 1;
        assert!(most < 100, "{report}");
        report = part(most);
    }
    let [returned, by_default, ..] = results(&report);
    assert_eq!((returned.as_str(), by_default.as_str()), ("1", "2"));
}

/// An operation of a task of a random program: on one of two atomics, or on a lock.
#[derive(Clone, Copy, Debug)]
enum Op {
    Load(usize),
    Store(usize, u32),
    Add(usize, u32),
    Lock,
}

type Program = Vec<Vec<Op>>;

fn program(random: &mut Xoshiro256PlusPlus) -> Program {
    let op = |random: &mut Xoshiro256PlusPlus| {
        let of = random.random_range(0..2);
        match random.random_range(0..5) {
            0 => Op::Load(of),
            1 => Op::Store(of, random.random_range(0..2)),
            2 | 3 => Op::Add(of, random.random_range(0..2)),
            _ => Op::Lock,
        }
    };
    let tasks = random.random_range(2..=3);
    let most = if tasks == 2 { 3 } else { 2 };
    let task = |random: &mut Xoshiro256PlusPlus| {
        let length = random.random_range(1..=most);
        (0..length).map(|_| op(random)).collect()
    };
    (0..tasks).map(|_| task(random)).collect()
}

/// Runs a program. The result is what the loads returned, and the values at the end.
fn run(program: &Program) -> (Vec<u32>, [u32; 2], u32) {
    let (memory, locked) = ([AtomicU32::new(0), AtomicU32::new(0)], Mutex::new(0));
    let (memory, locked) = (&memory, &locked);
    let loads = thread::scope(|scope| {
        let spawn = |ops: &Vec<Op>| {
            let ops = ops.clone();
            scope.spawn(move || {
                let mut loads = Vec::new();
                for op in ops {
                    match op {
                        Op::Load(of) => loads.push(memory[of].load(SeqCst)),
                        Op::Store(of, value) => memory[of].store(value, SeqCst),
                        Op::Add(of, value) => _ = memory[of].fetch_add(value, SeqCst),
                        Op::Lock => *locked.lock().unwrap() += 1,
                    }
                }
                loads
            })
        };
        let tasks: Vec<_> = program.iter().map(spawn).collect();
        let loads = tasks.into_iter().map(|task| task.join().unwrap());
        loads.flatten().collect()
    });
    let at_the_end = [memory[0].load(SeqCst), memory[1].load(SeqCst)];
    (loads, at_the_end, *locked.lock().unwrap())
}

/// Reductions hide no result: they find as many as every schedule shows, on random programs.
#[test]
fn reductions_hide_no_result() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2026);
    let (mut same, mut different) = (0, 0);
    for number in 0..300 {
        let program = program(&mut random);
        let all = Kept::new(BTreeSet::new());
        let every = explorer().explore(|| {
            let value = format!("{:?}", run(&program));
            all.lock().unwrap().insert(value);
        });
        assert_eq!(every.coverage(), &Coverage::Exhaustive);
        let all = all.into_inner().unwrap();
        for (reduction, jobs) in [
            (Reduction::None, 1),
            (Reduction::Caching, 1),
            (Reduction::SourceDpor, 1),
            (Reduction::Dpor, 1),
            (Reduction::Dpor, 2),
        ] {
            let report = explorer()
                .reduction(reduction)
                .jobs(jobs)
                .keep_going(true)
                .minimise(0)
                .explore_deterministic(|| run(&program));
            let mut found = BTreeSet::new();
            for finding in report.findings() {
                let FindingDetail::Results {
                    returned, by_default, ..
                } = &finding.detail
                else {
                    panic!("{report}")
                };
                found.extend([returned.clone(), by_default.clone()]);
            }
            match found.is_empty() {
                true => {
                    same += 1;
                    assert!(
                        report.verdict().is_pass() && all.len() == 1,
                        "{number} {program:?}: {report}"
                    );
                }
                false => {
                    different += 1;
                    assert!(report.verdict().is_fail(), "{report}");
                    assert_eq!(found, all, "{number} {program:?} {reduction:?}: {report}");
                }
            }
        }
    }
    assert!(same > 100 && different > 100, "{same} {different}");
}
