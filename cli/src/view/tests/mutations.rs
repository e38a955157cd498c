//! Reports that were tampered with: never a panic, and always a message that says which file and where.

use super::{deadlock, lost_update};
use crate::args::Format;
use crate::view::{load, render};
use serde_json::Value;
use std::fs;
use std::panic::catch_unwind;

/// Reports that are tried.
const TRIED: u64 = 2_000;

/// A small generator: the same reports each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, most: usize) -> usize {
        // Xorshift (Marsaglia 2003).
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }
}

/// The text with some of its bytes changed, left out, doubled or exchanged.
fn bytes_changed(text: &str, dice: &mut Dice) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=dice.roll(3) {
        let at = dice.roll(bytes.len());
        let end = (at + 1 + dice.roll(40)).min(bytes.len());
        match dice.roll(6) {
            0 => bytes[at] ^= 1 << dice.roll(8),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let doubled = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, doubled));
            }
            3 => bytes.truncate(at),
            4 => bytes[at] = b"{}[]\",:0-e\\\xff"[dice.roll(12)],
            _ => {
                let digits = bytes.iter().enumerate().filter(|(_, byte)| byte.is_ascii_digit());
                let digits: Vec<usize> = digits.map(|(at, _)| at).collect();
                if !digits.is_empty() {
                    bytes[digits[dice.roll(digits.len())]] = b"0987654321"[dice.roll(10)];
                }
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

/// Some value in it is another.
fn value_changed(value: &mut Value, dice: &mut Dice) {
    let inner = match value {
        Value::Array(list) if !list.is_empty() => {
            let at = dice.roll(list.len());
            match dice.roll(20) {
                0 => return drop(list.remove(at)),
                1 => {
                    let one = list[at].clone();
                    return list.push(one);
                }
                _ => Some(&mut list[at]),
            }
        }
        Value::Object(map) if !map.is_empty() => {
            let key = map.keys().nth(dice.roll(map.len())).unwrap().clone();
            match dice.roll(20) {
                0 => {
                    map.remove(&key);
                    return;
                }
                _ => map.get_mut(&key),
            }
        }
        _ => None,
    };
    match inner {
        Some(inner) if dice.roll(12) > 0 => value_changed(inner, dice),
        Some(inner) => *inner = other(dice),
        None => *value = other(dice),
    }
}

fn other(dice: &mut Dice) -> Value {
    match dice.roll(9) {
        0 => Value::Null,
        1 => Value::from(-1),
        2 => Value::from(u64::MAX),
        3 => Value::from(dice.roll(20)),
        4 => Value::from(1e300),
        5 => Value::from("../../../etc/passwd:1:1"),
        6 => Value::from("</script>\u{2028}\0 \"&"),
        7 => Value::Array(Vec::new()),
        _ => Value::from("4294967295.4294967295"),
    }
}

#[test]
fn no_report_however_tampered_with_makes_it_panic() {
    let reports = [deadlock(true), deadlock(false), lost_update()];
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("tampered.json");
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let (mut refused, mut taken) = (0, 0);
    for number in 0..TRIED {
        let text = &reports[dice.roll(reports.len())];
        let tampered = if number % 2 == 0 {
            bytes_changed(text, &mut dice)
        } else {
            let mut value: Value = serde_json::from_str(text).unwrap();
            value_changed(&mut value, &mut dice);
            serde_json::to_vec_pretty(&value).unwrap()
        };
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
                // One that has no recordings any more is refused by two of them.
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
fn messages_say_where() {
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
