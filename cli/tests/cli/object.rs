//! A failure of an object (`refine`) in a user's project: the commands that it shows work.

use crate::Ran;
use std::fs;
use std::path::Path;

/// A test of a counter that loses increments, and a test of another object with other scenarios.
const TESTS: &str = r#"
mod counters {
    use intermezzo::refinement::refine;
    use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn counts() {
        refine(|| AtomicUsize::new(0))
            .op("add", (), |n, ()| {
                let before = n.load(SeqCst);
                n.store(before + 1, SeqCst);
                before
            })
            .check();
    }

    #[test]
    fn counts_as_it_should() {
        refine(|| AtomicUsize::new(0)).op("next", (), |n, ()| n.fetch_add(1, SeqCst)).scenarios(3).check();
    }
}
"#;

/// Returns the rest of the line after these words.
fn behind<'t>(text: &'t str, words: &str) -> &'t str {
    let line = text
        .lines()
        .find_map(|line| line.trim_start().strip_prefix(words));
    line.unwrap_or_else(|| panic!("{words:?} is not there: {text}"))
}

pub(crate) fn failures_are_replayed(run: &dyn Fn(&[&str]) -> Ran, project: &Path) {
    fs::write(project.join("tests/object.rs"), TESTS).unwrap();
    let failed = run(&["test", "--test", "object"]).ends_with(1);
    // The failure is replayed by the test itself and by the command line.
    let shown = behind(&failed.stdout, "cargo intermezzo replay ");
    let arguments: Vec<&str> = shown.split_whitespace().collect();
    let [
        token,
        "--view",
        "page.html",
        "--",
        "counters::counts",
        "--",
        "--exact",
    ] = arguments[..]
    else {
        panic!("{shown}")
    };
    let by_variable = format!("INTERMEZZO_REPLAY={token} ");
    assert_eq!(
        behind(&failed.stdout, &by_variable),
        "cargo test counters::counts -- --exact"
    );
    let summed_up = format!("cargo intermezzo replay {token} -- counters::counts -- --exact\n");
    let failed = run(&["test", "--test", "object", "--verbose"]).ends_with(1);
    assert!(failed.stdout.contains(&summed_up), "{}", failed.stdout);

    let json = run(&[
        "replay",
        token,
        "--json",
        "--",
        "counters::counts",
        "--",
        "--exact",
    ])
    .ends_with(1)
    .json();
    // The sequential behaviour of the operations is observed again, before the one execution.
    assert_eq!(
        (&json["replayed"], &json["scenarios"], &json["minimising"]),
        (&true.into(), &1.into(), &0.into())
    );
    assert_eq!(json["findings"][0]["schedule"], token);
    assert_eq!(json["test"], "counters::counts");

    let _ = fs::remove_file(project.join("page.html"));
    run(&[&["replay"], &arguments[..]].concat()).ends_with(1);
    let page = fs::read_to_string(project.join("page.html")).unwrap();
    assert!(page.contains("add()"), "no operation is on the page");

    run(&["replay", token]).refused(&["does not name the test", "-- TEST -- --exact"]);
    run(&["replay", token, "--json", "--", "counts_as_it_should"])
        .refused(&["no test that was run has that scenario"]);
    fs::remove_file(project.join("tests/object.rs")).unwrap();
}
