//! `test --unmodified --races`: data races in ordinary crates, in plain memory of any kind.

use crate::unmodified::{project_of, report, run_with};
use serde_json::{Value, json};
use std::path::Path;

/// The library. The first line of the later files is commented out: an inner doc comment must be at the beginning.
const LIBRARY: &str = concat!(
    include_str!("races/racy.rs"),
    "// ",
    include_str!("races/fine.rs"),
    "// ",
    include_str!("races/blocks.rs"),
    "// ",
    include_str!("races/copies.rs"),
    "// ",
    include_str!("races/assembly.rs")
);

/// Returns the names of the tests in these modules of the library.
fn tests_in<'a>(modules: &'a [&str]) -> impl Iterator<Item = String> + 'a {
    let of_module = |&module: &&str| {
        let begin = LIBRARY.find(&format!("mod {module} {{")).unwrap();
        let rest = &LIBRARY[begin..];
        let body = &rest[..rest.find("\n}\n").unwrap()];
        let names = body.split("#[test]\n    fn ").skip(1);
        let names = names.map(|text| text.split_once('(').unwrap().0);
        names.map(|name| format!("{module}::{name}")).collect::<Vec<_>>()
    };
    modules.iter().flat_map(of_module)
}

/// Runs the tests with this optimisation.
fn run(project: &Path, level: &str, arguments: &[&str]) -> Value {
    let all = [&["test", "--unmodified", "--races", "--json"], arguments].concat();
    run_with(project, &all, &[("CARGO_PROFILE_DEV_OPT_LEVEL", level)])
        .ends_with(1)
        .json()
}

/// Checks the report of a test in the module `assembly`.
fn assembly_is_a_fence_or_unseen(test: &str, report: &Value) {
    let is_unseen = test.ends_with("unseen_store");
    let has_fence = test.contains("::fence");
    let limits = report["limits"].as_array().unwrap();
    let is_listed = limits.contains(&json!({"kind": "assembly"}));
    assert_eq!(is_listed, is_unseen, "{test}: {report:#}");
    if test.ends_with("no_fence") {
        assert_eq!(report["findings"][0]["kind"], "assertion", "{report:#}");
        return;
    }
    assert_eq!(report["verdict"], "pass", "{test}: {report:#}");
    assert_eq!(
        report["coverage"]["kind"] == "exhaustive",
        !is_unseen,
        "{test}: {report:#}"
    );
    assert_eq!(!report["weak_memory"].is_null(), has_fence, "{test}: {report:#}");
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "memory is watched on Linux")]
fn data_races_are_found_and_nothing_else() {
    let project = project_of("races", "", LIBRARY);
    let racy = ["racy", "also_racy", "racy_blocks", "racy_copies"];
    let fine = ["fine", "also_fine", "fine_blocks", "fine_copies"];
    assert!(tests_in(&racy).count() > 15 && tests_in(&fine).count() > 20);
    for level in ["0", "1", "3"] {
        let all = run(&project, level, &[]);
        for test in tests_in(&racy) {
            let report = report(&all, &format!("races::{test}"));
            assert_eq!(report["verdict"], "fail", "{test} at {level}: {report:#}");
            let finding = &report["findings"][0];
            assert_eq!(finding["kind"], "data_race", "{test} at {level}: {finding:#}");
            let message = finding["message"].as_str().unwrap();
            let places = message.matches("src/lib.rs:").count();
            assert_eq!(places, 2, "{test} at {level}: {message}");
            let frees = message.contains(" frees it at ");
            assert_eq!(
                frees,
                // A block that may move counts as freed, also if it stays.
                ["during_a_read", "dropped_too_early", "grow_in_place"]
                    .iter()
                    .any(|end| test.ends_with(end)),
                "{test} at {level}: {message}"
            );
        }
        for test in tests_in(&fine) {
            let report = report(&all, &format!("races::{test}"));
            assert_eq!(report["verdict"], "pass", "{test} at {level}: {report:#}");
            let coverage = &report["coverage"]["kind"];
            assert_eq!(coverage, "exhaustive", "{test} at {level}: {report:#}");
            // The model does not know the order that a barrier of the system gives.
            let barriers = test.ends_with("the_system_orders_threads");
            let left_out = report["limits"]
                .as_array()
                .unwrap()
                .contains(&json!({"kind": "barriers", "model": "sc"}));
            assert_eq!(left_out, barriers, "{test} at {level}: {report:#}");
            assert!(
                !barriers || report["weak_memory"].is_null(),
                "{test} at {level}: {report:#}"
            );
        }
        let weak =
            tests_in(&fine).filter(|test| !report(&all, &format!("races::{test}"))["weak_memory"].is_null());
        assert!(weak.count() > 10);
        for test in tests_in(&["assembly"]) {
            assembly_is_a_fence_or_unseen(&test, report(&all, &format!("races::{test}")));
        }
        if level != "0" {
            continue;
        }
        // The schedule of each says that memory was watched.
        for test in [
            "racy::cell",
            "racy::relaxed",
            "racy::scoped",
            "also_racy::vec_push",
            "racy_blocks::zeros_of_a_vec",
        ] {
            let finding = &report(&all, &format!("races::{test}"))["findings"][0];
            let token = finding["schedule"].as_str().unwrap();
            let again = run_with(
                &project,
                &["replay", token, "--json"],
                &[("CARGO_PROFILE_DEV_OPT_LEVEL", level)],
            );
            let again = again.ends_with(1).json();
            assert_eq!(again["findings"][0]["message"], finding["message"], "{test}");
        }
    }
}

/// Operations on reference counts are explored in other orders, too: as schedule points, and at random.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "memory is watched on Linux")]
fn reference_counts_order_accesses() {
    let project = project_of("counts", "", LIBRARY);
    let explored = |name: &str, more: &[&str]| {
        let arguments = [more, &["--lib", "--", "--exact", name][..]].concat();
        let all = [&["test", "--unmodified", "--races", "--json"], &arguments[..]].concat();
        let ran = run_with(&project, &all, &[]).ends_with(0).json();
        let report = report(&ran, &format!("counts::{name}"));
        assert_eq!(report["verdict"], "pass", "{name}: {report:#}");
        report["executions"].as_u64().unwrap()
    };
    for name in ["fine::dropped", "also_fine::arcs_made_unique"] {
        assert!(explored(name, &[]) > 1, "{name}");
    }
    explored(
        "also_fine::arcs",
        &["--strategy", "random", "--executions", "500"],
    );
}

/// Tests that fail if another thread drops its handle at another moment than in the default execution.
const DECIDED_BY_COUNTS: &str = "
use std::sync::Arc;
use std::thread::spawn;

fn dropped_elsewhere(decides: impl FnOnce(Arc<i32>) -> bool) {
    let arc = Arc::new(1);
    let other = arc.clone();
    let task = spawn(move || drop(other));
    assert!(decides(arc));
    task.join().unwrap();
}

#[test]
fn number_of_handles() {
    dropped_elsewhere(|arc| Arc::strong_count(&arc) == 2);
}

#[test]
fn only_handle() {
    dropped_elsewhere(|mut arc| Arc::get_mut(&mut arc).is_none());
}

#[test]
fn unwrapped() {
    dropped_elsewhere(|arc| Arc::try_unwrap(arc).is_err());
}

#[test]
fn upgraded() {
    dropped_elsewhere(|arc| {
        let weak = Arc::downgrade(&arc);
        drop(arc);
        weak.upgrade().is_some()
    });
}
";

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "counts are seen on Linux")]
fn results_that_depend_on_reference_counts_are_found_or_a_limit() {
    let project = project_of("decided", "", DECIDED_BY_COUNTS);
    let reports = |more: &[&str], status: i32| {
        let all = [&["test", "--unmodified", "--json"], more].concat();
        let ran = run_with(&project, &all, &[]).ends_with(status).json();
        let reports = ran["reports"].as_array().unwrap().clone();
        assert_eq!(reports.len(), 4, "{ran:#}");
        reports
    };
    let uncounted = json!({"kind": "arc_counts"});
    for races in [&[][..], &["--races"]] {
        for report in reports(races, 1) {
            assert_eq!(report["findings"][0]["kind"], "assertion", "{report:#}");
            assert!(
                !report["limits"].as_array().unwrap().contains(&uncounted),
                "{report:#}"
            );
        }
        let without = [races, &["--environment", "arc_counts=0"]].concat();
        for report in reports(&without, 0) {
            assert!(
                report["limits"].as_array().unwrap().contains(&uncounted),
                "{report:#}"
            );
        }
    }
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "counts are seen on Linux")]
fn a_search_that_counts_make_long_says_how_to_leave_them_out() {
    let library = "
use std::sync::Arc;

#[test]
fn cloned() {
    let arc = Arc::new(1);
    let tasks = [arc.clone(), arc.clone()].map(|arc| {
        std::thread::spawn(move || (0..20).all(|_| Arc::strong_count(&arc.clone()) < 99))
    });
    assert!(tasks.into_iter().all(|task| task.join().unwrap()));
}
";
    let project = project_of("cloned", "", library);
    let arguments = ["test", "--unmodified", "--json", "--executions", "40"];
    let ran = run_with(&project, &arguments, &[]).ends_with(0).json();
    let notes = ran["reports"][0]["notes"].to_string();
    assert!(notes.contains("`arc_counts=0` in the `environment`"), "{notes}");
}

/// Monitors do not observe the executions that minimise a failure of the test itself. Operations on counts are events in
/// these, too.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "memory is watched on Linux")]
fn a_replay_has_the_events_of_the_finding() {
    let library = "
use std::sync::{Arc, Mutex};

#[test]
fn found() {
    let taken = Arc::new(Mutex::new(0));
    let other = Arc::clone(&taken);
    let task = std::thread::spawn(move || *other.lock().unwrap() = 1);
    assert_eq!(*taken.lock().unwrap(), 0);
    task.join().unwrap();
}
";
    let project = project_of("heard", "", library);
    for environment in ["arc_counts=0", "arc_counts=1"] {
        let all = run(&project, "0", &["--environment", environment]);
        let report = report(&all, "heard::found");
        let finding = &report["findings"][0];
        assert!(
            finding["replays"].is_null(),
            "not each replay shows it: {report:#}"
        );
        let token = finding["schedule"].as_str().unwrap();
        let again = run_with(&project, &["replay", token, "--json"], &[]);
        let again = again.ends_with(1).json();
        for part in ["events", "names", "detail"] {
            assert_eq!(again["findings"][0][part], finding[part], "{part}, {environment}");
        }
    }
}

#[test]
fn races_needs_unmodified() {
    let project = project_of("modified", "", "");
    run_with(&project, &["test", "--races"], &[]).refused(&["--unmodified"]);
}

/// Loops that wait until the other handles of an `Arc` are dropped. Some change the counts in each round.
const WAITS_FOR_COUNTS: &str = "
use std::hint::spin_loop;
use std::sync::Arc;
use std::thread::{spawn, yield_now};

fn dropped_elsewhere(waits: impl FnOnce(Arc<i32>)) {
    let arc = Arc::new(1);
    let task = spawn({
        let arc = arc.clone();
        move || drop(arc)
    });
    waits(arc);
    task.join().unwrap();
}

#[test]
fn the_only_handle() {
    dropped_elsewhere(|mut arc| while Arc::get_mut(&mut arc).is_none() { spin_loop() });
}

#[test]
fn the_only_handle_without_yielding() {
    dropped_elsewhere(|mut arc| while Arc::get_mut(&mut arc).is_none() {});
}

#[test]
fn the_number_of_handles_without_yielding() {
    dropped_elsewhere(|arc| while Arc::strong_count(&arc) > 1 {});
}

#[test]
fn no_handle() {
    dropped_elsewhere(|arc| {
        let weak = Arc::downgrade(&arc);
        drop(arc);
        while weak.upgrade().is_some() { yield_now() }
    });
}

#[test]
fn no_handle_without_yielding() {
    dropped_elsewhere(|arc| {
        let weak = Arc::downgrade(&arc);
        drop(arc);
        while weak.upgrade().is_some() {}
    });
}
";

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "memory is watched on Linux")]
fn loops_that_wait_for_counts_let_other_threads_drop_them() {
    let project = project_of("awaited", "", WAITS_FOR_COUNTS);
    for (level, counts, races) in [
        ("0", "0", true),
        ("3", "0", true),
        ("0", "1", true),
        ("3", "1", false),
    ] {
        let environment = format!("arc_counts={counts}");
        let arguments = [
            "test",
            "--unmodified",
            "--json",
            "--environment",
            &environment,
            "--races",
        ];
        let arguments = &arguments[..arguments.len() - usize::from(!races)];
        let ran = run_with(&project, arguments, &[("CARGO_PROFILE_DEV_OPT_LEVEL", level)]);
        let all = ran.ends_with(0).json();
        assert_eq!(all["reports"].as_array().unwrap().len(), 5, "{all:#}");
    }
}
