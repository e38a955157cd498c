//! Random programs that use handles of an `Arc` have the same outcomes and traces with a reduction as without.

use crate::unmodified::{project_of, run};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const PROGRAMS: &str = include_str!("counts/programs.rs");

/// The number of programs.
const COUNT: usize = 41;

/// The outcomes of each program, and its number of traces.
type Explored = (BTreeMap<String, BTreeSet<String>>, BTreeMap<String, u64>);

/// Returns what a search finds, and the number of its executions.
fn explored(project: &Path, search: &[&str]) -> (Explored, u64) {
    let directory = project.join("outcomes");
    if directory.exists() {
        fs::remove_dir_all(&directory).unwrap();
    }
    fs::create_dir(&directory).unwrap();
    let all = run(project, &[&["test", "--unmodified", "--json"], search].concat())
        .ends_with(0)
        .json();
    let reports = all["reports"].as_array().unwrap();
    assert_eq!(reports.len(), COUNT);
    for report in reports {
        assert_eq!(report["coverage"]["kind"], "exhaustive", "{report:#}");
        // Operations that commute for the reduction do so in fact.
        let notes = report["notes"].to_string();
        assert!(!notes.contains("showed nothing new"), "{report:#}");
    }
    let outcomes = fs::read_dir(&directory).unwrap().map(|file| {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, text.lines().map(str::to_owned).collect())
    });
    let executions = reports
        .iter()
        .map(|report| report["executions"].as_u64().unwrap());
    let traces = reports.iter().map(|report| {
        let name = report["program"].as_str().unwrap().to_owned();
        (name, report["traces"].as_u64().unwrap())
    });
    ((outcomes.collect(), traces.collect()), executions.sum())
}

#[test]
fn a_reduction_keeps_the_outcomes_and_traces_of_counts() {
    let project = project_of("counts_reduced", "", PROGRAMS);
    let (every, executions) = explored(&project, &["--strategy", "dfs", "--reduction", "none"]);
    assert_eq!(every.0.len(), COUNT);
    for reduction in ["dpor", "source-dpor", "caching"] {
        let (reduced, fewer) = explored(&project, &["--strategy", "dfs", "--reduction", reduction]);
        assert_eq!(reduced, every, "{reduction}");
        assert!(
            fewer * 2 < executions,
            "{reduction}: {fewer} of {executions} executions"
        );
    }
    let (by_default, _) = explored(&project, &["--strategy", "auto(stale_reads=0)"]);
    assert_eq!(by_default.0, every.0);
}

/// The changes are compared only if a task may have no handle.
#[test]
fn many_clones_take_one_execution() {
    let project = project_of("many_counts", "", PROGRAMS);
    let flags = ["--strategy", "dfs", "--reduction", "dpor"];
    let all = run(
        &project,
        &[
            &["test", "--unmodified", "--json"],
            &flags[..],
            &["--", "--", "--ignored"],
        ]
        .concat(),
    )
    .ends_with(0)
    .json();
    let report = &all["reports"][0];
    assert_eq!(report["coverage"]["kind"], "exhaustive", "{report:#}");
}

/// std's function that drops the last `Arc<str>` is compiled already, so its change of the count of weak handles is not
/// seen.
#[test]
fn changes_that_are_not_seen_keep_the_reduction() {
    let library = "
        use std::sync::Arc;
        use std::thread;

        #[test]
        fn text() {
            let text: Arc<str> = \"a\".into();
            let weak = Arc::downgrade(&text);
            let other = thread::spawn(move || weak.upgrade().is_some());
            drop(text);
            other.join().unwrap();
        }
    ";
    let project = project_of("counts_of_text", "", library);
    let flags = ["--strategy", "dfs", "--reduction", "dpor"];
    let all = run(
        &project,
        &[&["test", "--unmodified", "--json"], &flags[..]].concat(),
    )
    .ends_with(0)
    .json();
    let report = &all["reports"][0];
    assert_eq!(report["coverage"]["kind"], "exhaustive", "{report:#}");
    let notes = report["notes"].to_string();
    assert!(!notes.contains("took over"), "{report:#}");
}
