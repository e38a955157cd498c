//! Partial-order reductions in parts, by one worker and by several, and from checkpoints that were written while they ran.

use crate::common::{Directory, counter, told};
use crate::{explorer, in_parts, lost_updates};
use intermezzo_explorer::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex, RwLock};
use intermezzo_explorer::{Coverage, Explorer, Finding, Reduction, Report, Strategy, choose, thread};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Chooses, waits, gets stuck and panics, in turns.
fn eventful() {
    let n = AtomicUsize::new(0);
    let (lock, ready) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            n.fetch_add(choose(3), SeqCst);
            if n.load(SeqCst) > 0 {
                *lock.lock().unwrap() = true;
            }
            ready.notify_one();
        });
        scope.spawn(|| {
            let held = lock.lock().unwrap();
            if !*held {
                drop(ready.wait(held).unwrap());
            }
        });
        assert_ne!(n.fetch_add(1, SeqCst), 2);
    });
}

/// Is parked while it waits, so that source sets take over from wakeup trees.
fn spinning() {
    let (n, flag) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            n.fetch_add(1, SeqCst);
            while !flag.load(SeqCst) {
                thread::yield_now();
            }
        });
        n.fetch_add(2, SeqCst);
        flag.store(true, SeqCst);
    });
}

/// Shares a lock.
fn sharing() {
    let lock = RwLock::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let seen = *lock.read().unwrap();
                *lock.write().unwrap() += seen + 1;
            });
        }
    });
}

/// Checks if a task has ended, so that caching takes over from all other reductions.
fn looking() {
    let word = AtomicUsize::new(0);
    thread::scope(|scope| {
        let first = scope.spawn(|| word.fetch_add(1, SeqCst));
        scope.spawn(|| word.fetch_add(1, SeqCst));
        if !first.is_finished() {
            word.fetch_add(2, SeqCst);
        }
    });
}

/// Returns the programs and partial-order reductions that are saved.
pub(crate) fn reduced() -> impl Iterator<Item = (&'static str, fn(), Reduction, Option<u32>)> {
    let programs = [
        ("counter", counter as fn()),
        ("lost_updates", lost_updates),
        ("eventful", eventful),
        ("spinning", spinning),
        ("sharing", sharing),
        ("looking", looking),
    ];
    let reductions = [
        (Reduction::Dpor, None),
        (Reduction::SourceDpor, None),
        (Reduction::Dpor, Some(1)),
    ];
    let with = move |(name, test)| reductions.map(|(reduction, bound)| (name, test, reduction, bound));
    programs.into_iter().flat_map(with)
}

/// The results of a partial-order reduction by several workers that do not depend on their speed.
#[derive(Debug, PartialEq)]
struct Shown {
    traces: Option<u64>,
    coverage: Coverage,
    /// Kind, message and count of each finding. If a weaker reduction took over, the number of executions before that
    /// depends on the speed, and so does the count.
    findings: Vec<(String, String, Option<u64>)>,
    /// The number of executions that were not redundant. It depends on the speed in the same case.
    executions: Option<u64>,
}

fn shown(report: &Report) -> Shown {
    let weaker = report.notes().iter().any(|note| note.contains("took over"));
    let counted = |count| (!weaker).then_some(count);
    let found = |finding: &Finding| {
        let count = counted(finding.count);
        (finding.kind.to_string(), finding.message.clone(), count)
    };
    let mut findings: Vec<_> = report.findings().iter().map(found).collect();
    findings.sort();
    Shown {
        traces: report.traces(),
        coverage: report.coverage().clone(),
        findings,
        executions: counted(report.executions() - report.redundant()),
    }
}

/// Explores a test without interruption, but with a checkpoint: within a bound, a search without one remembers states,
/// and runs less.
fn whole(explorer: Explorer, test: fn()) -> Report {
    let directory = Directory::new("whole");
    explorer.checkpoint(directory.file()).explore(test)
}

/// Several workers run the search, always or in some parts; sometimes one does.
#[test]
fn partial_order_reductions_by_several_in_parts_have_the_same_results() {
    for (program, test, reduction, bound) in reduced() {
        let explorer = || explorer(program, bound).reduction(reduction);
        let whole = whole(explorer().keep_going(true), test);
        // A single worker does not need a weaker reduction for chosen values.
        let several = explorer().keep_going(true).jobs(2).explore(test);
        assert_eq!(several.traces(), whole.traces());
        for (executions, jobs) in [(1, [2, 3]), (3, [1, 3]), (7, [2, 2]), (7, [3, 1]), (7, [1, 2])] {
            let executions = executions.max(whole.executions() / 50);
            let what = format!("{program}, {reduction:?}, {executions} at a time, workers {jobs:?}");
            let parts = in_parts(|| explorer().keep_going(true), test, executions, &jobs);
            if parts.reduction() == whole.reduction() {
                assert_eq!(shown(&parts), shown(&whole), "{what}");
            } else {
                assert_eq!(shown(&parts), shown(&several), "{what}");
            }
            let first = in_parts(explorer, test, executions, &jobs);
            assert_eq!(first.verdict(), explorer().explore(test).verdict(), "{what}");
            assert!(
                first.verdict().is_fail() || shown(&first) == shown(&parts),
                "{what}"
            );
        }
    }
}

#[test]
fn a_reduced_search_that_was_over_is_not_run_again() {
    for first in [1, 3] {
        let directory = Directory::new("over");
        let run = AtomicU64::new(0);
        let explore = |jobs| {
            let explorer = explorer("counter", None).jobs(jobs).checkpoint(directory.file());
            explorer.reduction(Reduction::Dpor).explore(|| {
                run.fetch_add(1, Relaxed);
                counter();
            })
        };
        let whole = shown(&explore(first));
        for jobs in [2, 1, 3] {
            assert_eq!(shown(&explore(jobs)), whole, "{jobs} workers after {first}");
        }
        assert_eq!((whole.executions, run.load(Relaxed)), (Some(90), 90));
    }
}

/// The knowledge of a partial-order reduction is saved, and so is the name of the current one.
#[test]
fn partial_order_reductions_in_parts_have_the_same_results() {
    for (program, test, reduction, bound) in reduced() {
        for keep_going in [false, true] {
            let explorer = || {
                let explorer = explorer(program, bound);
                explorer.keep_going(keep_going).reduction(reduction)
            };
            let whole = whole(explorer(), test);
            for executions in [1, 7] {
                let executions = executions.max(whole.executions() / 50);
                let parts = in_parts(explorer, test, executions, &[1, 1]);
                assert_eq!(
                    told(&parts),
                    told(&whole),
                    "{program}, {reduction:?}, {executions} at a time"
                );
            }
        }
    }
}

/// A program that takes long enough for checkpoints to be written during the search.
fn long() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..2 {
                    n.store(n.load(SeqCst) + 1, SeqCst);
                }
            });
        }
    });
    assert!(n.load(SeqCst) > 1);
}

/// Shares a lock after an update was lost twice, so that another reduction takes over in the middle of the search.
fn long_and_looking() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..2 {
                    n.store(n.load(SeqCst) + 1, SeqCst);
                }
            });
        }
    });
    if n.load(SeqCst) == 4 {
        looking();
    }
}

/// Returns the result of a search of `test` that is never stopped, and its results when it continues from some of the
/// checkpoints that it wrote meanwhile. `jobs` workers write the checkpoints, and 1 to `most` continue. `explorer`
/// makes the search for a number of workers.
fn from_checkpoints(
    test: fn(),
    explorer: impl Fn(usize) -> Explorer,
    jobs: usize,
    most: usize,
    told: impl Fn(&Report) -> String,
) {
    let whole = told(&explorer(1).explore(test));
    let directory = Directory::new("often");
    let file = directory.file();
    let there = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (seen, path) = (there.clone(), file.clone());
    let report = explorer(jobs)
        .checkpoint(&file)
        .set("checkpoint", "every=0")
        .on_progress(move |_| seen.lock().unwrap().extend(fs::read(&path).ok()))
        .explore(test);
    assert_eq!(told(&report), whole);
    let names = fs::read_dir(&directory.0).unwrap();
    assert_eq!(names.count(), 1, "only the checkpoint is left");
    let mut there = std::mem::take(&mut *there.lock().unwrap());
    there.dedup();
    assert!(!there.is_empty(), "written now and then");
    let step = there.len().div_ceil(6);
    for (at, contents) in there.iter().enumerate().step_by(step) {
        fs::write(&file, contents).unwrap();
        let report = explorer(1 + at % most).checkpoint(&file).explore(test);
        assert_eq!(told(&report), whole);
    }
}

/// A search that is killed continues from the last checkpoint. From each checkpoint that existed while the search ran,
/// the rest has the same result.
#[test]
fn checkpoints_are_written_while_the_search_runs() {
    for (jobs, reduction) in [
        (1, Reduction::None),
        (3, Reduction::None),
        (1, Reduction::Dpor),
        (3, Reduction::Dpor),
        (1, Reduction::SourceDpor),
        (2, Reduction::SourceDpor),
    ] {
        let explorer = |jobs| {
            let explorer = explorer("long", None).jobs(jobs);
            explorer.reduction(reduction).keep_going(true)
        };
        from_checkpoints(long, explorer, jobs, 3, |report| match reduction {
            Reduction::None => told(report),
            _ => format!("{:?}", shown(report)),
        });
    }
}

/// If another reduction takes over while some workers rest and others run, the remaining work is that of the new
/// reduction.
#[test]
fn checkpoints_are_written_while_another_reduction_takes_over() {
    for reduction in [Reduction::Dpor, Reduction::SourceDpor] {
        for jobs in [2, 3, 4] {
            let explorer = |jobs| {
                let explorer = explorer("long_and_looking", None).jobs(jobs);
                explorer.reduction(reduction).keep_going(true)
            };
            from_checkpoints(long_and_looking, explorer, jobs, 3, |report| {
                assert_eq!(report.reduction(), "caching");
                format!("{:?}", shown(report))
            });
        }
    }
}

/// The default search alternates exhaustive search and samples. Each execution that was prepared when the checkpoint
/// was written is run once.
#[test]
fn the_default_search_writes_checkpoints_while_it_runs() {
    for executions in [300, 1_000] {
        let explorer = |jobs| {
            let explorer = explorer("long", None).jobs(jobs).strategy(Strategy::auto());
            explorer.keep_going(true).executions(executions)
        };
        from_checkpoints(long, explorer, 1, 1, told);
        let several = |report: &Report| format!("{:?}", report.executions());
        from_checkpoints(long, explorer, 3, 3, several);
    }
}
