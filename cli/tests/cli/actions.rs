//! Searches of unmodified code that follow the first ones: there, weak exchanges fail, and freed memory is used again.

use crate::unmodified::{project_of, replays, report, run};
use serde_json::{Value, json};
use std::path::Path;

fn explored(project: &Path, code: i32, arguments: &[&str]) -> Value {
    run(
        project,
        &[&["test", "--unmodified", "--json"], arguments].concat(),
    )
    .ends_with(code)
    .json()
}

/// Returns what a report says of failures of weak exchanges that were not explored; `None` for nothing.
fn left_out<'a>(all: &'a Value, test: &str) -> Option<&'a Value> {
    let limits = report(all, test)["limits"].as_array().unwrap();
    limits.iter().find(|limit| limit["kind"] == "weak_failures")
}

#[test]
fn a_weak_exchange_fails_by_default() {
    let project = project_of("acting", "", include_str!("actions/lib.rs"));
    let ran = run(&project, &["test", "--unmodified", "--json"]).ends_with(1);
    let all = ran.json();
    let failed = report(&all, "acting::a_failure_is_taken_for_a_loss");
    assert_eq!(failed["verdict"], "fail", "{failed:#}");
    assert_eq!(failed["environment"]["weak_failures"], 1, "{failed:#}");
    // The executions of the search before.
    assert!(failed["executions_before"].as_u64().unwrap() > 1, "{failed:#}");
    let mut events = failed["findings"][0]["events"].as_array().unwrap().iter();
    assert!(events.any(|event| event["effect"] == "spurious"), "{failed:#}");
    let note = "without `weak_failures=1` no error was found: ";
    assert!(failed["notes"].to_string().contains(note), "{failed:#}");
    replays(&project, &ran, &failed["findings"][0]);
    for passed in [
        "a_failure_is_followed_by_another_attempt",
        "there_are_many_failures",
        "there_is_one_task",
        "nothing_is_weak",
    ] {
        let passed = report(&all, &format!("acting::{passed}"));
        assert_eq!(passed["verdict"], "pass", "{passed:#}");
        // It is that of the first search.
        assert_eq!(passed["environment"]["weak_failures"], 0, "{passed:#}");
        assert_eq!(passed["coverage"]["kind"], "exhaustive", "{passed:#}");
    }
    // The search was complete, or ended by the number of executions of the first one, or had no reason to begin.
    let limit = |test: &str| left_out(&all, test).cloned();
    assert_eq!(
        limit("acting::a_failure_is_followed_by_another_attempt"),
        Some(json!({"kind": "weak_failures", "most": 1}))
    );
    assert_eq!(
        limit("acting::there_is_one_task"),
        Some(json!({"kind": "weak_failures", "most": 0}))
    );
    let many = limit("acting::there_are_many_failures").unwrap();
    assert_eq!(many["most"], 0, "{many:#}");
    assert!(many["beyond"].as_u64().unwrap() >= 1000, "{many:#}");
    assert_eq!(limit("acting::nothing_is_weak"), None);
}

#[test]
fn a_pass_says_that_no_weak_exchange_failed() {
    let project = project_of("not_acting", "", include_str!("actions/lib.rs"));
    let none = Some(json!({"kind": "weak_failures", "most": 0}));
    let test = "not_acting::a_failure_is_taken_for_a_loss";
    for search in [
        // The search is left out, has nothing left of the limits, or belongs to another strategy.
        &["--strategy", "auto(weak_failures=0)"][..],
        &["--executions", "3"],
        &["--strategy", "dfs"],
    ] {
        let all = explored(&project, 0, search);
        assert_eq!(left_out(&all, test).cloned(), none, "{search:?}");
    }
    // The first search has the bound, so none follows.
    let all = explored(&project, 1, &["--environment", "weak_failures=1"]);
    let failed = report(&all, test);
    assert!(failed.get("executions_before").is_none(), "{failed:#}");
    let text = run(&project, &["test", "--unmodified", "there_are_many"])
        .ends_with(0)
        .stdout;
    assert!(text.contains("most failures of weak exchanges"), "{text}");
}
