//! A failure in a user's project that only weak memory shows. It is found without any settings, and can be replayed,
//! stopped at, listed in a baseline and fixed like any other.

use crate::{Ran, token};
use std::fs;
use std::path::Path;

const TESTS: &str = r#"
use intermezzo::sync::atomic::{AtomicUsize, Ordering::{Acquire, Release}};

#[intermezzo::test]
fn one_of_them_sees_the_other() {
    let (left, right) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let other = intermezzo::thread::scope(|scope| {
        let task = scope.spawn(|| {
            left.store(1, Release);
            right.load(Acquire)
        });
        right.store(1, Release);
        left.load(Acquire) + task.join().unwrap()
    });
    assert!(other > 0);
}
"#;

pub(crate) fn what_only_weak_memory_shows_is_a_finding(run: &dyn Fn(&[&str]) -> Ran, project: &Path) {
    let file = project.join("tests/weak.rs");
    fs::write(&file, TESTS).unwrap();
    let test = |flags: &[&str]| run(&[&["test"], flags, &["--test", "weak"]].concat());
    let failed = test(&[
        "--reports",
        "out/weak",
        "--junit",
        "out/weak.xml",
        "--annotations",
    ])
    .ends_with(1);
    let advice = "the failure does not occur with `SeqCst` for the store";
    let junit = fs::read_to_string(project.join("out/weak.xml")).unwrap();
    for told in [&failed.stderr, &junit] {
        assert!(told.contains(advice), "{told}");
    }
    let report = fs::read_to_string(project.join("out/weak/weak--one_of_them_sees_the_other.json")).unwrap();
    let token = token(&serde_json::from_str(&report).unwrap());
    for schedule in [
        "out/weak/weak--one_of_them_sees_the_other.1.schedule.json",
        &token,
    ] {
        let replayed = run(&["replay", schedule, "--json"]).ends_with(1).json();
        assert_eq!(replayed["coverage"]["as_recorded"], true, "{replayed}");
        assert_eq!(
            replayed["findings"][0]["stale_operations"]
                .as_array()
                .unwrap()
                .len(),
            1
        );
    }
    let stopped = run(&["replay", &token, "--break", "event 5"]).ends_with(1);
    let says = "stopped before event 5, ";
    assert!(
        stopped.stdout.contains(says) || stopped.stderr.contains(says),
        "{}{}",
        stopped.stdout,
        stopped.stderr
    );

    let known = ["--baseline", "weak.toml"];
    test(&[&known[..], &["--update-baseline"]].concat()).ends_with(0);
    let ran = test(&[&known[..], &["--json"]].concat()).ends_with(0).json();
    assert_eq!(
        ran["baseline"]["known"].as_array().map(Vec::len),
        Some(1),
        "{ran}"
    );
    fs::write(
        &file,
        TESTS
            .replace("Acquire", "SeqCst")
            .replace("Release", "SeqCst")
            .replace("SeqCst, SeqCst", "SeqCst"),
    )
    .unwrap();
    let ran = test(&[&known[..], &["--json"]].concat()).ends_with(0).json();
    assert_eq!(ran["baseline"]["gone"].as_array().map(Vec::len), Some(1), "{ran}");
    fs::remove_file(file).unwrap();
    fs::remove_file(project.join("weak.toml")).unwrap();
}
