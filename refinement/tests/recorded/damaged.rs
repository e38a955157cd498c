//! Files that are damaged: an error or a verdict, never a panic.

use intermezzo_refinement::history::formats::{Format, Recorded, write_json};
use intermezzo_refinement::recorded::{Object, STATES_MAX, judge};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const FILES: usize = 1000;

/// A file of each format.
fn files() -> [(Format, String); 4] {
    let jepsen: Vec<String> = (0..6)
        .map(|at| {
            let value = if at % 2 == 0 { at.to_string() } else { "[1 nil]".to_owned() };
            format!("INFO  jepsen.util - {0}\t:invoke\t:write\t{value}\nINFO  jepsen.util - {0}\t:ok\t:write\t{value}", at % 3)
        })
        .collect();
    let jepsen = jepsen.join("\n");
    let edn = r#"[{:process 0 :type :invoke :f :append :key "a" :value "x"}
{:process 1, :type :invoke, :f :get, :key "a", :value nil} #_ #{1 2} ; said
{:process 0, :type :ok, :f :append, :key "a", :value "x"}
{:process 1, :type :ok, :f :get, :key "a", :value "x\n"}]"#;
    let calls = "# @object stack\n[1] call push(a)\n[2] call pop\n[1] return\n[2] return a\n[3] call pop()\n[3] return empty\n\
                 [4] call add(1, 2)\n[4] return true";
    let events = Format::Jepsen.read(&jepsen).expect("events").0;
    [
        (Format::Json, write_json(&events, Some("register"))),
        (Format::Jepsen, jepsen),
        (Format::Edn, edn.to_owned()),
        (Format::Calls, calls.to_owned()),
    ]
}

/// The text with some of its parts left out, repeated, swapped or replaced.
fn damaged(text: &str, random: &mut Xoshiro256PlusPlus) -> String {
    const PIECES: &[&str] = &[
        "[",
        "]",
        "(",
        "{",
        "}",
        "\"",
        "\\",
        "#",
        "#_",
        "#{",
        ";",
        ":",
        ":info",
        ":fail",
        "nil",
        "-1",
        "99999999999999999999",
        "ä",
        "\u{1F980}",
        "\0",
        "\t",
        "\n",
        "call",
        "return",
        "push(",
        "cas",
        "NaN",
        "null",
        "read",
        "[[[[",
    ];
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..random.random_range(1..4) {
        let at = random.random_range(0..=text.len());
        let end = (at + random.random_range(0..12)).min(text.len());
        match random.random_range(0..4) {
            0 => {
                text.drain(at..end);
            }
            1 => {
                let piece = PIECES[random.random_range(0..PIECES.len())];
                text.splice(at..at, piece.chars());
            }
            2 => {
                let copy: Vec<char> = text[at..end].to_vec();
                let to = random.random_range(0..=text.len());
                text.splice(to..to, copy);
            }
            _ => {
                let mut lines: Vec<String> = text
                    .iter()
                    .collect::<String>()
                    .lines()
                    .map(str::to_owned)
                    .collect();
                if !lines.is_empty() {
                    let (one, other) = (
                        random.random_range(0..lines.len()),
                        random.random_range(0..lines.len()),
                    );
                    lines.swap(one, other);
                }
                text = lines.join("\n").chars().collect();
            }
        }
    }
    text.into_iter().collect()
}

#[test]
fn damaged_files_are_judged_or_refused() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(20_261_121);
    let (mut judged, mut refused) = (0, 0);
    for at in 0..FILES {
        let (format, text) = &files()[at % 4];
        let text = damaged(text, &mut random);
        for object in Object::ALL {
            let said = format
                .read(&text)
                .and_then(|(events, _)| Recorded::pair(events))
                .and_then(|recorded| judge(&recorded, object, STATES_MAX));
            match said {
                Ok(_) => judged += 1,
                Err(error) => {
                    let error = error.to_string();
                    assert!(error.contains("found") && error.contains("expected"), "{error}");
                    refused += 1;
                }
            }
        }
    }
    println!("{judged} judged, {refused} refused");
    assert!(
        judged > 100 && refused > 1000,
        "{judged} judged, {refused} refused"
    );
}

#[test]
fn forms_within_forms_have_an_end() {
    for open in ["[", "{", "#{", "#_", "#a ", "("] {
        let text = format!("{{:process 0 :type {}", open.repeat(100_000));
        assert!(Format::Edn.read(&text).is_err());
    }
    let text = format!("[0] call push({})", "[".repeat(100_000));
    assert!(Format::Calls.read(&text).is_err());
    let json = format!(
        "{{\"format\": \"intermezzo-history/1\", \"events\": {}",
        "[".repeat(100_000)
    );
    assert!(Format::Json.read(&json).is_err());
}
