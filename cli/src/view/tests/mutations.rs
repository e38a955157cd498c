//! Altered reports never cause a panic, and always a message that names the file and the place.

#[path = "../../../tests/cli/broken/damage.rs"]
mod damage;

use super::{deadlock, lost_update};
use crate::args::Format;
use crate::view::{load, render};
use damage::{Dice, damaged};
use serde_json::Value;
use std::fs;
use std::panic::catch_unwind;

/// The number of altered reports.
const TRIED: u64 = 2_000;

#[test]
fn altered_reports_do_not_cause_a_panic() {
    let reports = [deadlock(true), deadlock(false), lost_update()];
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("tampered.json");
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let (mut refused, mut taken) = (0, 0);
    let others = reports.clone().map(String::into_bytes);
    for number in 0..TRIED {
        let text = &reports[dice.roll(reports.len())];
        let tampered = damaged(text.as_bytes(), &others, &mut dice);
        fs::write(&path, &tampered).unwrap();
        let outcome = catch_unwind(|| -> Result<(), String> {
            let shown = load::file(&path).map_err(|problem| problem.to_string())?;
            for format in [
                Format::Html,
                Format::Perfetto,
                Format::Shiviz,
                Format::Sarif,
                Format::Junit,
                Format::Dot,
            ] {
                // Two of the formats refuse a report that has lost its recordings.
                let _ = render(&shown, format, None).map(|text| assert!(!text.is_empty()));
            }
            Ok(())
        });
        let tampered = || String::from_utf8_lossy(&tampered).into_owned();
        match outcome.unwrap_or_else(|_| panic!("number {number}:\n{}", tampered())) {
            Ok(()) => taken += 1,
            Err(message) => {
                refused += 1;
                let places = ["line ", "byte ", "[", "format"];
                let says_where = places.iter().any(|place| message.contains(place));
                assert!(message.contains("tampered.json") && says_where, "{message}");
            }
        }
    }
    assert!(
        refused > 500 && taken > 300,
        "{refused} were refused and {taken} taken: they are changed too little, or too much"
    );
}

#[test]
fn messages_name_the_place() {
    let report: Value = serde_json::from_str(&deadlock(true)).unwrap();
    let changed = |pointer: &str, to: Value| {
        let mut report = report.clone();
        *report.pointer_mut(pointer).unwrap() = to;
        load::parse(&report.to_string()).err().unwrap()
    };
    for (pointer, to, says) in [
        (
            "/format",
            Value::from("intermezzo-report/9"),
            "intermezzo-report/9",
        ),
        (
            "/findings/0/kind",
            Value::from(3),
            "findings[0].kind: invalid type",
        ),
        ("/findings/0/schedule", Value::Null, "line 1 column"),
        (
            "/recordings/0/execution/events/3/task",
            Value::from(9),
            "recordings[0].execution.events[3].task is 9, but there are only 2",
        ),
        (
            "/recordings/0/execution/events/1/site",
            Value::from(99),
            "events[1].site is 99, but there are only",
        ),
        (
            "/recordings/0/execution/events/2/index",
            Value::from(5),
            "the next of its task is",
        ),
        (
            "/recordings/0/execution/format",
            Value::from("x"),
            "execution.format is \"x\"",
        ),
        ("/recordings/0/finding", Value::from(4), "the last finding is 0"),
    ] {
        let error = changed(pointer, to);
        assert!(error.contains(says), "{pointer}: {error}");
    }
    // Stacks are not known everywhere.
    let events = report["recordings"][0]["execution"]["events"].as_array().unwrap();
    if let Some(at) = events.iter().position(|event| event.get("stack").is_some()) {
        for (place, says) in [
            (format!("events/{at}/stack"), format!("events[{at}].stack is 99")),
            ("stacks/0/0".to_owned(), "stacks[0][0] is 99".to_owned()),
            (
                "functions/0/site".to_owned(),
                "functions[0].site is 99".to_owned(),
            ),
        ] {
            let error = changed(&format!("/recordings/0/execution/{place}"), Value::from(99));
            assert!(
                error.contains(&format!("{says}, but there are only")),
                "{place}: {error}"
            );
        }
    }
    for (text, says) in [
        ("", "EOF"),
        ("[1]", "line 1"),
        ("{\"a\": 1}", "no `format`"),
        ("{\"reports\": [{}]}", "reports[0]"),
    ] {
        let error = load::parse(text).err().unwrap();
        assert!(error.contains(says), "{text}: {error}");
    }
}
