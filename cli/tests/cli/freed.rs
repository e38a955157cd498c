//! Random programs that free memory: a search with a reduction finds a failure if the search of every schedule does.

use crate::unmodified::{project_of, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const PROGRAMS: &str = include_str!("freed/programs.rs");
const COUNTS: &str = include_str!("freed/counts.rs");
const OBJECTS: &str = include_str!("freed/objects.rs");
const CLONES: &str = include_str!("freed/clones.rs");

/// The number of programs.
const COUNT: usize = 40;

/// Returns the kind of the first finding of each program; `None` if there is none.
fn findings(project: &Path, search: &[&str]) -> BTreeMap<String, Option<String>> {
    // Nearly all of the programs also leak memory, in other schedules.
    let test = ["test", "--unmodified", "--json", "--monitor=-leak"];
    let all = run(project, &[&test[..], search].concat()).ends_with(1).json();
    let found = |report: &Value| {
        let kind = report["findings"][0]["kind"].as_str().map(str::to_owned);
        let coverage = &report["coverage"]["kind"];
        assert!(kind.is_some() || coverage == "exhaustive", "{report:#}");
        (report["program"].as_str().unwrap().to_owned(), kind)
    };
    all["reports"].as_array().unwrap().iter().map(found).collect()
}

#[test]
fn a_use_after_free_is_found_with_a_reduction_if_it_is_found_without() {
    let project = project_of("freed", "", PROGRAMS);
    let every = findings(&project, &["--strategy", "dfs", "--reduction", "none"]);
    assert_eq!(every.len(), COUNT);
    let wrong = every.values().filter(|kind| kind.is_some()).count();
    assert!(
        (COUNT / 4..COUNT).contains(&wrong),
        "{wrong} programs use what is freed"
    );
    for reduction in ["dpor", "source-dpor", "caching"] {
        let reduced = findings(&project, &["--strategy", "dfs", "--reduction", reduction]);
        assert_eq!(reduced, every, "{reduction}");
    }
    assert_eq!(findings(&project, &[]), every);
}

/// A clone by a raw pointer commutes with the end of another handle, unless that is the last one.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "counts are seen on Linux")]
fn a_handle_that_is_cloned_too_late_is_found_with_a_reduction_if_it_is_found_without() {
    let project = project_of("freed_clones", "", CLONES);
    let every = findings(&project, &["--strategy", "dfs", "--reduction", "none"]);
    let wrong = every.values().filter(|kind| kind.is_some()).count();
    assert_eq!((every.len(), wrong), (COUNT, 24));
    for reduction in ["dpor", "source-dpor", "caching"] {
        let reduced = findings(&project, &["--strategy", "dfs", "--reduction", reduction]);
        assert_eq!(reduced, every, "{reduction}");
    }
    assert_eq!(findings(&project, &[]), every);
}

/// The counts of an `Arc` are in the block that they keep.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "counts are seen on Linux")]
fn a_count_in_freed_memory_is_found() {
    let project = project_of("freed_counts", "", COUNTS);
    let all = run(&project, &["test", "--unmodified", "--json"])
        .ends_with(1)
        .json();
    let reports = all["reports"].as_array().unwrap();
    assert_eq!(reports.len(), 7);
    for report in reports {
        let finding = &report["findings"][0];
        assert_eq!(finding["kind"], "misuse", "{report:#}");
        let message = finding["message"].as_str().unwrap();
        // Before there is a second thread, counts are not looked up.
        let begin = match report["program"].as_str().unwrap().split_once("::").unwrap().1 {
            "a_handle_is_dropped_twice_beside_a_thread" => "the count of an `Arc` used at src/lib.rs:",
            "a_handle_is_dropped_twice_beside_a_weak_one" => "a handle of an `Arc` is dropped at src/lib.rs:",
            "a_handle_is_cloned_beside_a_weak_one" | "a_handle_is_cloned_after_a_check" => {
                "a handle of an `Arc` is created at src/lib.rs:"
            }
            _ => "the count of an `Arc` is in memory that was freed",
        };
        assert!(message.starts_with(begin), "{message}");
    }
}

/// An object has an atomic of std's, which is not the count of an `Arc`.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "memory is watched on Linux")]
fn an_object_in_freed_memory_is_named() {
    let project = project_of("freed_objects", "", OBJECTS);
    let all = run(&project, &["test", "--unmodified", "--json"])
        .ends_with(1)
        .json();
    let mut named = BTreeMap::new();
    for report in all["reports"].as_array().unwrap() {
        let finding = &report["findings"][0];
        assert_eq!(finding["kind"], "misuse", "{report:#}");
        let (_, test) = report["program"].as_str().unwrap().split_once("::").unwrap();
        let message = finding["message"].as_str().unwrap();
        assert!(message.contains(" is in memory that was freed"), "{message}");
        let (object, _) = message.split_once(" used at src/lib.rs:").expect(message);
        named.insert(test.to_owned(), object.to_owned());
    }
    let expected = [
        ("atomic_u32", "the atomic"),
        ("atomic_usize", "the atomic"),
        ("condvar", "the condvar"),
        ("mutex", "the mutex"),
        ("mutex_beside_a_thread", "the mutex"),
        ("once", "the once"),
        ("once_lock", "the once"),
        ("rw_lock", "the rwlock"),
    ];
    assert_eq!(
        named,
        expected
            .map(|(test, object)| (test.to_owned(), object.to_owned()))
            .into()
    );
}

/// Freeing a block is an access to it, and a schedule point if it races.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "memory is watched on Linux")]
fn a_free_that_races_is_found_with_a_reduction_if_it_is_found_without() {
    let project = project_of("freed_watched", "", PROGRAMS);
    let fails = |search: &[&str]| -> BTreeMap<String, bool> {
        let all = findings(&project, search);
        let fails = all.into_iter().map(|(program, kind)| {
            let (_, name) = program.split_once("::").unwrap();
            (name.to_owned(), kind.is_some())
        });
        fails.collect()
    };
    let unwatched = fails(&["--strategy", "dfs", "--reduction", "none"]);
    let every = fails(&["--races", "--strategy", "dfs", "--reduction", "none"]);
    let wrong = |all: &BTreeMap<String, bool>| all.values().filter(|fails| **fails).count();
    assert!(unwatched.iter().all(|(name, fails)| !fails || every[name]));
    assert!(wrong(&every) < COUNT, "no program is without a fault");
    for reduction in ["dpor", "caching"] {
        let reduced = fails(&["--races", "--strategy", "dfs", "--reduction", reduction]);
        assert_eq!(reduced, every, "{reduction}");
    }
    assert_eq!(fails(&["--races"]), every);
}
