//! Searches of unmodified code that follow the first ones: there, weak exchanges fail, freed memory is used again, and waits
//! reach their limits of time early.

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
    limit(all, test, "weak_failures")
}

/// Returns the limit of this kind in a report; `None` if there is none.
fn limit<'a>(all: &'a Value, test: &str, kind: &str) -> Option<&'a Value> {
    let limits = report(all, test)["limits"].as_array().unwrap();
    limits.iter().find(|limit| limit["kind"] == kind)
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

#[test]
fn an_error_that_needs_an_early_time_out_is_a_warning() {
    let project = project_of("timing_out", "", include_str!("actions/timeouts.rs"));
    let all = explored(&project, 0, &[]);
    for warned in [
        "a_message_comes_in_time",
        "a_message_has_come",
        "a_permit_is_handed_to_one_that_has_given_up",
    ] {
        let passed = report(&all, &format!("timing_out::{warned}"));
        // The report is that of the first search.
        assert_eq!(passed["verdict"], "pass", "{passed:#}");
        assert_eq!(passed["environment"]["timeouts"], 0, "{passed:#}");
        assert_eq!(passed["coverage"]["kind"], "exhaustive", "{passed:#}");
        let warning = &passed["findings"][0];
        assert_eq!(warning["severity"], "warning", "{passed:#}");
        let advice = warning["suggestion"].as_str().unwrap();
        assert!(
            advice.starts_with("a wait reached its limit of time before another thread ended it"),
            "{advice}"
        );
        let token = warning["schedule"].as_str().unwrap();
        let again = run(&project, &["replay", token, "--json"]).ends_with(1).json();
        assert_eq!(again["findings"][0]["message"], warning["message"]);
    }
    let left_out = |test: &str| limit(&all, &format!("timing_out::{test}"), "timeouts").cloned();
    let none = Some(json!({"kind": "timeouts", "most": 0}));
    let one = Some(json!({"kind": "timeouts", "most": 1}));
    // The search ended with the error.
    assert_eq!(left_out("a_message_comes_in_time"), none);
    assert_eq!(left_out("a_time_out_is_followed_by_another_wait"), None);
    assert_eq!(left_out("there_is_one_task"), None);
    assert_eq!(left_out("nothing_has_a_limit"), None);
    // The search ran without the memory model.
    let stale = "timing_out::a_message_is_awaited_after_a_stale_read";
    let apart = limit(&all, stale, "combined").unwrap()["actions"].to_string();
    assert!(
        apart.contains("\"stale_reads\"") && apart.contains("\"timeouts\""),
        "{apart}"
    );
    let many = left_out("there_are_many_time_outs");
    assert!(
        many == one || many.as_ref().unwrap()["beyond"].as_u64().unwrap() >= 1000,
        "{many:?}"
    );
    for passed in [
        "a_time_out_is_followed_by_another_wait",
        "there_are_many_time_outs",
        "there_is_one_task",
    ] {
        let passed = report(&all, &format!("timing_out::{passed}"));
        assert_eq!(
            (&passed["verdict"], &passed["findings"]),
            (&json!("pass"), &json!([])),
            "{passed:#}"
        );
    }
    let text = run(&project, &["test", "--unmodified", "a_message"])
        .ends_with(0)
        .stdout;
    let advice = "help: a wait reached its limit of time before another thread ended it";
    assert!(
        text.contains("warning[assertion]: ") && text.contains(advice),
        "{text}"
    );
    let without = explored(&project, 0, &["--strategy", "auto(timeouts=0)"]);
    let passed = report(&without, "timing_out::a_message_comes_in_time");
    assert_eq!(passed["findings"], json!([]), "{passed:#}");
}

/// The order of the steps that is run does not decide if memory could be used again.
#[test]
#[cfg_attr(not(unix), ignore = "executions have memory of their own on Unix")]
fn an_address_is_used_again_by_default() {
    let project = project_of("addresses", "", include_str!("actions/addresses.rs"));
    let all = explored(&project, 1, &[]);
    for failed in ["beside_a_thread", "after_a_thread", "before_a_thread_and_in_it"] {
        let failed = report(&all, &format!("addresses::{failed}"));
        assert_eq!(failed["environment"]["address_reuse"], 1, "{failed:#}");
        let message = failed["findings"][0]["message"].as_str().unwrap();
        assert!(message.contains("the address was seen before"), "{message}");
    }
    // Actions are not combined, which the pass says.
    let test = "addresses::only_after_a_weak_failure";
    assert_eq!(report(&all, test)["verdict"], "pass", "{all:#}");
    let apart = json!({"kind": "combined", "actions": ["weak_failures", "address_reuse"]});
    assert_eq!(limit(&all, test, "combined"), Some(&apart));
    let both = explored(&project, 1, &["--environment", "weak_failures=1,address_reuse=1"]);
    let failed = report(&both, test);
    assert_eq!(failed["verdict"], "fail", "{failed:#}");
    assert_eq!(limit(&both, test, "combined"), None);
    let text = run(&project, &["test", "--unmodified", "only_after"])
        .ends_with(0)
        .stdout;
    assert!(
        text.contains("`weak_failures` with `address_reuse` in one execution"),
        "{text}"
    );
}

/// The command that is printed has the flags with which the test was built.
#[test]
fn a_replay_has_the_flags_of_the_build() {
    let project = project_of("built", "", include_str!("actions/lib.rs"));
    let flags = [
        "--",
        "--profile",
        "release",
        "--config=net.retry=1",
        "--manifest-path",
        "Cargo.toml",
    ];
    let arguments = [
        &["test", "--unmodified", "--json"],
        &flags[..],
        &["a_failure_is_taken"],
    ]
    .concat();
    let ran = run(&project, &arguments).ends_with(1);
    let all = ran.json();
    let finding = &report(&all, "built::a_failure_is_taken_for_a_loss")["findings"][0];
    let token = finding["schedule"].as_str().unwrap();
    let command = format!("cargo intermezzo replay {token} {}\n", flags.join(" "));
    assert!(
        ran.stderr.contains(&command),
        "{command} is not in:\n{}",
        ran.stderr
    );
    let again = run(&project, &[&["replay", token, "--json"], &flags[..]].concat());
    assert_eq!(
        again.ends_with(1).json()["findings"][0]["message"],
        finding["message"]
    );
}
