//! Searches that are stopped and continued have the results of a search that was never stopped. A file that is
//! not a checkpoint of the search is refused and left alone.

#[path = "../common/mod.rs"]
mod common;
mod damaged;
mod reductions;

use common::{Directory, counter, told};
use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{
    CheckpointProblem, Environment, ExploreError, Explorer, Reduction, Report, Strategy, thread,
};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Loses updates. Its lock makes tasks wait, which costs nothing under a bound.
fn lost_updates() {
    let n = AtomicUsize::new(0);
    let lock = Mutex::new(());
    thread::scope(|scope| {
        for task in 0..3 {
            let (n, lock) = (&n, &lock);
            scope.spawn(move || {
                n.store(n.load(SeqCst) + 1, SeqCst);
                if task > 0 {
                    drop(lock.lock());
                }
            });
        }
    });
    assert_eq!(n.into_inner(), 3);
}

fn explorer(program: &str, bound: Option<u32>) -> Explorer {
    let explorer = Explorer::new().program(program).environment(Environment::calm());
    match bound {
        Some(bound) => explorer.preemptions(bound),
        None => explorer,
    }
}

/// Runs a search in parts of this many executions each, by these numbers of workers in turn.
fn in_parts(explorer: impl Fn() -> Explorer, test: fn(), executions: u64, jobs: &[usize]) -> Report {
    let directory = Directory::new("parts");
    for part in 1.. {
        let report = explorer()
            .checkpoint(directory.file())
            .executions(part * executions)
            .jobs(jobs[part as usize % jobs.len()])
            .explore(test);
        if report.executions() < part * executions {
            return report;
        }
        assert_eq!(report.executions(), part * executions, "the limit is exact");
    }
    unreachable!("the search ends")
}

/// The checkpoint contains the states that were reached, so nothing is run that a whole search would not run.
#[test]
fn caching_in_parts_has_the_same_results() {
    for (bound, executions) in [(None, 7), (Some(1), 1), (Some(2), 3)] {
        let explorer = || {
            explorer("lost_updates", bound)
                .keep_going(true)
                .reduction(Reduction::Caching)
        };
        let whole = explorer().explore(lost_updates);
        assert!(whole.redundant() > 0, "{whole}");
        let parts = in_parts(explorer, lost_updates, executions, &[1, 1]);
        assert_eq!(
            told(&parts),
            told(&whole),
            "bound {bound:?}, {executions} at a time"
        );
        let several = in_parts(explorer, lost_updates, executions, &[3, 2]);
        assert_eq!(
            several.traces(),
            whole.traces(),
            "bound {bound:?}, {executions} at a time"
        );
    }
}

#[test]
fn a_search_in_parts_has_the_same_results() {
    for (program, test, keep_going) in [
        ("counter", counter as fn(), false),
        ("lost_updates", lost_updates, true),
        ("lost_updates", lost_updates, false),
    ] {
        for bound in [None, Some(0), Some(1), Some(2)] {
            let explorer = || explorer(program, bound).keep_going(keep_going);
            let whole = explorer().explore(test);
            for (executions, jobs) in [(1, [1, 1]), (7, [1, 1]), (7, [3, 1]), (40, [2, 3])] {
                // Parts of one execution would be too many for the larger searches.
                let executions = executions.max(whole.executions() / 50);
                let parts = in_parts(explorer, test, executions, &jobs);
                // A checkpoint does not say to which executions its traces belong, and some may lie beyond the finding.
                let alone = jobs == [1, 1];
                let known = alone || keep_going || whole.findings().is_empty();
                let in_one_part = whole.executions() < executions;
                assert_eq!(
                    parts.traces(),
                    whole.traces().filter(|_| known || in_one_part),
                    "{program}, {bound:?}, {executions}"
                );
                assert_eq!(
                    told(&parts),
                    told(&whole),
                    "{program}, bound {bound:?}, {executions} executions at a time, workers {jobs:?}"
                );
            }
        }
    }
}

#[test]
fn a_random_walk_in_parts_has_the_same_results() {
    let explorer = |most| {
        explorer("lost_updates", None)
            .strategy(Strategy::random())
            .keep_going(true)
            .executions(most)
    };
    let whole = explorer(500).explore(lost_updates);
    let directory = Directory::new("walk");
    for (most, jobs) in [(3, 1), (100, 3), (101, 2), (477, 1), (500, 2)] {
        let part = explorer(most)
            .checkpoint(directory.file())
            .jobs(jobs)
            .explore(lost_updates);
        assert_eq!(part.executions(), most);
        if most == 500 {
            assert_eq!(told(&part), told(&whole));
        }
    }
}

#[test]
fn a_search_that_was_over_is_not_run_again() {
    let directory = Directory::new("over");
    let run = AtomicU64::new(0);
    let explore = |jobs| {
        let explorer = explorer("counter", None).jobs(jobs).checkpoint(directory.file());
        explorer.explore(|| {
            run.fetch_add(1, Relaxed);
            counter();
        })
    };
    let first = explore(1);
    let again = [explore(1), explore(3)];
    assert!(again.iter().all(|again| told(again) == told(&first)));
    assert_eq!((first.executions(), run.load(Relaxed)), (90, 90));
    assert!(again[0].elapsed() >= first.elapsed(), "time adds up");

    let directory = Directory::new("found");
    let explore = |jobs| {
        explorer("lost_updates", Some(2))
            .jobs(jobs)
            .checkpoint(directory.file())
            .explore(lost_updates)
    };
    let first = explore(2);
    assert!(first.verdict().is_fail());
    assert_eq!(told(&explore(1)), told(&first));
}

/// Explores with this file as the checkpoint. Asserts that it is refused and left as it is, and returns the reason.
#[track_caller]
fn refused(explorer: Explorer, file: &Path) -> CheckpointProblem {
    let before = fs::read(file).ok();
    let result = explorer.checkpoint(file).try_explore(counter as fn());
    let problem = match result {
        Err(ExploreError::Checkpoint(error)) => {
            assert_eq!(error.path, file);
            assert!(
                error.to_string().starts_with(&format!("checkpoint {file:?}: ")),
                "{error}"
            );
            error.problem
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(fs::read(file).ok(), before);
    problem
}

/// Returns a checkpoint from the middle of a search of the counter.
fn checkpoint(directory: &Directory) -> Vec<u8> {
    explorer("counter", None)
        .jobs(2)
        .executions(40)
        .checkpoint(directory.file())
        .explore(counter as fn());
    fs::read(directory.file()).unwrap()
}

/// Returns a file with these contents and the right checksum.
fn sealed(contents: &str) -> String {
    let checksum = crc32fast::hash(contents.as_bytes());
    format!(
        "intermezzo-checkpoint/6\n{checksum:08x} {}\n{contents}",
        contents.len()
    )
}

#[test]
fn a_checkpoint_of_another_search_is_refused() {
    let directory = Directory::new("another");
    let file = directory.file();
    let whole = String::from_utf8(checkpoint(&directory)).unwrap();
    let setting = |explorer: Explorer| match refused(explorer, &file) {
        CheckpointProblem::OtherSetting { name, .. } => name,
        other => panic!("{other:?}"),
    };
    let same = || explorer("counter", None);
    for (name, other) in [
        ("preemptions", same().preemptions(2)),
        ("strategy", same().strategy(Strategy::random())),
        ("steps", same().steps_per_execution(5)),
        ("keep_going", same().keep_going(true)),
        ("seed", same().seed(1)),
        ("stack", same().set("stack", "tasks=5")),
        ("stack", same().set("stack", 1 << 20)),
        ("environment", same().environment(Environment::default())),
    ] {
        assert_eq!(setting(other), name);
    }
    assert_eq!(
        refused(explorer("another", None), &file),
        CheckpointProblem::OtherProgram {
            wanted: "another".into(),
            found: "counter".into()
        }
    );
    // Another test with the same name has other code.
    let error = same().checkpoint(&file).try_explore(|| {}).unwrap_err();
    assert!(
        error.to_string().contains("another test of the same name"),
        "{error}"
    );

    let contents = whole.splitn(3, '\n').nth(2).unwrap();
    let (before, build) = contents.split_once("\"checksum\":").unwrap();
    fs::write(&file, sealed(&format!("{before}\"checksum\":1{build}"))).unwrap();
    let problem = refused(same(), &file);
    // The number may have become too large.
    assert!(
        matches!(
            problem,
            CheckpointProblem::OtherBuild | CheckpointProblem::Unintelligible { .. }
        ),
        "{problem:?}"
    );
}

#[test]
fn other_files_are_left_alone() {
    let directory = Directory::new("no");
    let file = directory.file();
    for other in ["", "a letter", "{\"format\":\"intermezzo-schedule/1\"}"] {
        fs::write(&file, other).unwrap();
        assert_eq!(
            refused(explorer("counter", None), &file),
            CheckpointProblem::NotACheckpoint
        );
    }
    assert_eq!(
        refused(explorer("counter", None), &directory.0),
        CheckpointProblem::NotACheckpoint
    );
    for nowhere in [file.join("search"), directory.0.join("nowhere/search")] {
        let problem = refused(explorer("counter", None), &nowhere);
        assert!(matches!(problem, CheckpointProblem::Io { .. }), "{problem:?}");
    }
}

/// A process that continues a search whose time is over has the full time again: it continues to the end.
#[test]
fn time_is_that_of_each_process() {
    let directory = Directory::new("time");
    let part = |time, executions| {
        explorer("counter", None)
            .checkpoint(directory.file())
            .executions(executions)
            .time(time)
            .explore(counter as fn())
    };
    // The time is over when it is first checked. The executions until then are saved.
    let first = part(Duration::ZERO, 1_000_000);
    assert!(
        first.coverage().to_string().contains("the limit of 0 seconds"),
        "{first}"
    );
    let last = part(first.elapsed().max(Duration::from_secs(60)), 1_000_000);
    let whole = explorer("counter", None).explore(counter as fn());
    assert_eq!(told(&last), told(&whole));
}

#[test]
fn a_checkpoint_that_cannot_be_written_is_reported() {
    let directory = Directory::new("gone");
    let inner = directory.0.join("inner");
    fs::create_dir(&inner).unwrap();
    let gone = inner.clone();
    let report = explorer("counter", None)
        .checkpoint(inner.join("search"))
        .time(Duration::from_secs(60))
        .on_progress(move |_| drop(fs::remove_dir_all(&gone)))
        .explore(counter as fn());
    assert!(report.verdict().is_pass());
    assert!(
        report.notes().iter().any(|note| note.contains("cannot write it")),
        "{report}"
    );
}

#[test]
fn searches_that_cannot_be_saved_are_refused() {
    struct Deaf;
    impl intermezzo_sdk::Monitor for Deaf {
        fn name(&self) -> &str {
            "deaf"
        }
        fn interests(&self) -> intermezzo_sdk::Interests {
            intermezzo_sdk::Interests::NONE
        }
        fn reduction_compatible(&self) -> bool {
            true
        }
    }
    let directory = Directory::new("cannot");
    let with = || explorer("counter", None).checkpoint(directory.file());
    let error = with().monitor(Deaf).try_explore(counter).unwrap_err();
    assert!(
        error.to_string().contains("attach it with `monitor_with`"),
        "{error}"
    );
    assert!(
        with()
            .monitor_with(|| Deaf)
            .executions(5)
            .explore(counter as fn())
            .verdict()
            .is_pass()
    );
    let problem = refused(explorer("counter", None), &directory.file());
    assert!(matches!(problem, CheckpointProblem::OtherSetting { name, .. } if name == "monitors"));
}

/// A monitor that warns of each execution, in words that depend on the task in the middle of it.
struct Warns;

impl intermezzo_sdk::Monitor for Warns {
    fn name(&self) -> &str {
        "warns"
    }
    fn interests(&self) -> intermezzo_sdk::Interests {
        intermezzo_sdk::Interests::NONE
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_execution_end(
        &mut self,
        execution: &intermezzo_sdk::Execution<'_>,
        cx: &mut intermezzo_sdk::Context<'_>,
    ) {
        let kind = intermezzo_sdk::FindingKind::Plugin("warned".into());
        let second = execution.accesses[execution.accesses.len() / 2].event.task;
        let message = format!("{} is in the middle", cx.task_name(second));
        cx.report(
            intermezzo_sdk::MonitorFinding::new(kind, message)
                .warning()
                .suggest("nothing"),
        );
    }
}

#[test]
fn warnings_are_kept() {
    let explorer = || explorer("counter", None).monitor_with(|| Warns);
    let whole = explorer().explore(counter as fn());
    assert!(whole.verdict().is_pass() && whole.findings().len() > 1, "{whole}");
    for jobs in [[1, 1], [2, 1]] {
        assert_eq!(told(&in_parts(explorer, counter, 7, &jobs)), told(&whole));
    }
}

/// If a limit ends the search before an execution that departed is retried, the executions with its prefix are reported
/// as lost.
#[test]
fn executions_that_were_to_be_retried_are_not_forgotten() {
    for odd in 2..20 {
        let directory = Directory::new("departed");
        let calls = AtomicU64::new(0);
        let explore = |executions| {
            let explorer = explorer("counter", None).checkpoint(directory.file());
            explorer.executions(executions).explore(|| {
                if calls.fetch_add(1, Relaxed) + 1 != odd {
                    counter();
                }
            })
        };
        explore(odd);
        let report = explore(1_000);
        let lost = report
            .notes()
            .iter()
            .any(|note| note.contains("1 execution never came out as prescribed"));
        assert!(lost, "{odd}: {report}");
        assert!(
            matches!(report.coverage(), intermezzo_explorer::Coverage::Bounded { .. }),
            "{report}"
        );
    }
}

/// A test that departs in one of seven executions.
fn departs_at_times(calls: &AtomicU64) {
    if calls.fetch_add(1, Relaxed) % 7 != 3 {
        counter();
    }
}

/// The share of executions that depart is that of all parts and workers together. In no part do enough of them depart.
#[test]
fn departures_of_all_parts_count() {
    let explorer = || explorer("counter", None).reduction(Reduction::None);
    let calls = AtomicU64::new(0);
    let whole = explorer().explore(|| departs_at_times(&calls));
    let kinds = |report: &Report| -> Vec<String> {
        let findings = report.findings().iter();
        findings.map(|finding| finding.kind.to_string()).collect()
    };
    assert_eq!(kinds(&whole), ["divergence"], "{whole}");
    // The tenth departure is that of the 67th execution.
    assert_eq!(whole.executions(), 67, "{whole}");

    let directory = Directory::new("departures");
    let calls = AtomicU64::new(0);
    for part in 1..=4 {
        let report = explorer()
            .checkpoint(directory.file())
            .executions(part * 20)
            .explore(|| departs_at_times(&calls));
        if part < 4 {
            assert_eq!(
                (kinds(&report).len(), report.executions()),
                (0, part * 20),
                "{report}"
            );
        } else {
            assert_eq!(
                (kinds(&report), report.executions()),
                (kinds(&whole), 67),
                "{report}"
            );
        }
    }
}

#[test]
fn departures_of_all_workers_count() {
    let calls = AtomicU64::new(0);
    let explorer = explorer("counter", None).reduction(Reduction::None).jobs(2);
    let report = explorer.explore(|| departs_at_times(&calls));
    let departed = report.limits().iter().find_map(|limit| match limit {
        intermezzo_explorer::Limit::Departures { executions, .. } => Some(*executions),
        _ => None,
    });
    // The other worker may be running one more that departs.
    assert!(matches!(departed, Some(10..=11)), "{report}");
}

/// A thread that is not controlled and used objects in one part is named by the parts that follow.
#[test]
fn threads_of_earlier_parts_are_named() {
    let directory = Directory::new("other-threads");
    let explore = |executions: u64, outside: bool| {
        let explorer = explorer("counter", None).checkpoint(directory.file());
        explorer.executions(executions).explore(move || {
            let n = std::sync::Arc::new(AtomicUsize::new(0));
            n.store(1, SeqCst);
            if outside {
                let seen = n.clone();
                std::thread::spawn(move || seen.load(SeqCst)).join().unwrap();
            }
            counter();
        })
    };
    explore(3, true);
    let report = explore(1_000_000, false);
    let intermezzo_explorer::Coverage::Bounded { reason, .. } = report.coverage() else {
        panic!("{report}");
    };
    assert!(
        reason
            .as_ref()
            .is_some_and(|reason| reason.starts_with("a thread without a name at ")),
        "{report}"
    );
}
