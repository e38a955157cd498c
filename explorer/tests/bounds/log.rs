//! The log of the tool itself.

use crate::common::Directory;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Environment, Explorer, Report, thread};
use std::fs;

/// Two increments, one of which may be lost.
fn lost_update() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
        }
    });
    assert_eq!(n.load(SeqCst), 2, "an increment was lost");
}

fn explored(explorer: Explorer, log: &str) -> Report {
    explorer
        .program("lost_update")
        .environment(Environment::calm())
        .set("strategy", "dfs")
        .set("log", log)
        .explore(lost_update)
}

/// The lines of a search, and how its time was spent.
#[test]
fn a_log_has_the_steps_of_a_search_and_their_times() {
    let directory = Directory::new("log");
    let path = directory.0.join("log.txt");
    let log = path.to_str().unwrap();
    let report = explored(Explorer::new().keep_going(true), log);
    let first = fs::read_to_string(log).unwrap();
    let ends = format!(
        " s  lost_update: ends: executions: {}, findings: 1\n",
        report.executions()
    );
    for says in [
        " s  lost_update: begins: search: dfs, workers: 1\n",
        ": assertion: ",
        ": the search has ended\n",
        &ends,
    ] {
        assert!(first.contains(says), "{says:?} is not in:\n{first}");
    }
    let profile = first.lines().find(|line| line.contains("profile: ")).unwrap();
    let percents = profile
        .split('(')
        .skip(1)
        .map(|part| part.split(' ').next().unwrap());
    let percents: Vec<i64> = percents.map(|percent| percent.parse().unwrap()).collect();
    assert_eq!(percents.len(), 4, "{profile}");
    assert!((97..=103).contains(&percents.iter().sum::<i64>()), "{profile}");

    // Other explorations append their lines, and have the same findings as without a log.
    let several = explored(Explorer::new().keep_going(true).jobs(2), log);
    let without = explored(Explorer::new().keep_going(true), "none");
    for other in [&several, &without] {
        assert_eq!(other.executions(), report.executions());
        assert_eq!(other.findings().len(), 1);
    }
    let both = fs::read_to_string(log).unwrap();
    assert!(both.starts_with(&first) && both.contains("workers: 2"), "{both}");
}

/// A search that begins again is in the log. Here it learns that a loop only waits.
#[test]
fn a_search_that_begins_again_says_so() {
    let directory = Directory::new("log-again");
    let path = directory.0.join("log.txt");
    let report = Explorer::new()
        .set("strategy", "dfs")
        .set("spin_loops", "assume")
        .set("log", path.to_str().unwrap())
        .explore(|| {
            let ready = AtomicUsize::new(0);
            thread::scope(|scope| {
                scope.spawn(|| ready.store(1, SeqCst));
                while ready.load(SeqCst) == 0 {
                    thread::yield_now();
                }
            });
        });
    assert!(report.verdict().is_pass(), "{report}");
    let log = fs::read_to_string(&path).unwrap();
    assert!(
        log.contains(": the search starts again, because executions showed a loop"),
        "{log}"
    );
}

#[test]
fn a_log_that_cannot_be_written_is_refused() {
    let directory = Directory::new("no-log");
    let path = directory.0.join("no/log.txt");
    let refused = Explorer::new()
        .set("log", path.to_str().unwrap())
        .try_explore(|| {});
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("`log`") && refused.contains("in a directory that exists"),
        "{refused}"
    );
}
