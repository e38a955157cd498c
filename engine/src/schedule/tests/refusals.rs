//! Texts that are not schedules are refused, with a reason that names what was found and where.

use data_encoding::BASE64URL_NOPAD;

use super::*;
use crate::schedule::bits::BitWriter;

/// Returns a thousand texts that have to be refused: cut to every length, then with flipped bits, noise, other versions
/// and other programs. Those of another program are well-formed.
fn malformed(
    whole: &[Vec<u8>],
    other_version: impl Fn(usize) -> Vec<u8>,
    noise: impl Fn(Vec<u8>) -> Vec<u8>,
    other_program: impl Fn(usize) -> Vec<u8>,
) -> Vec<Vec<u8>> {
    let mut dice = Dice(SEED);
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for text in whole {
        texts.extend((0..text.len()).map(|length| text[..length].to_vec()));
    }
    texts.extend((0..40).map(other_version));
    texts.extend((0..40).map(other_program));
    for index in 0..100 {
        let length = dice.below(200);
        let bytes = dice.bytes(length);
        texts.push(if index % 2 == 0 { bytes } else { noise(bytes) });
    }
    assert!(
        texts.len() < 900,
        "no room for flips behind {} others",
        texts.len()
    );
    while texts.len() < 1000 {
        let mut text = whole[dice.below(whole.len())].clone();
        let index = dice.below(text.len());
        text[index] ^= 1 << dice.below(8);
        texts.push(text);
    }
    texts
}

/// Returns how many of `texts` are refused, and how many are still read as one of `originals`.
///
/// It fails if any other text is accepted.
fn refused<T: AsRef<[u8]>>(
    texts: &[T],
    originals: &[Schedule],
    read: impl Fn(&[u8]) -> Result<Schedule, ScheduleError>,
) -> (usize, usize) {
    let mut refused = 0;
    let mut unharmed = 0;
    for text in texts {
        match read(text.as_ref()) {
            Err(error) => {
                let message = error.to_string();
                assert!(message.len() > 20, "message {message:?} says too little");
                assert!(
                    !message.contains(char::is_control),
                    "message {message:?} is not a line of text"
                );
                refused += 1;
            }
            Ok(schedule) => {
                let shown = String::from_utf8_lossy(text.as_ref());
                assert!(originals.contains(&schedule), "{shown} is read as {schedule:?}");
                unharmed += 1;
            }
        }
    }
    (refused, unharmed)
}

/// Reads a token as a shell passes it, and checks that it belongs to the program of [`small`] or [`walk`].
fn read_token(text: &[u8]) -> Result<Schedule, ScheduleError> {
    let text = String::from_utf8_lossy(text);
    // Both ways of reading it must agree: as a token, and as the text that a user gives.
    let schedule = Schedule::from_token(&text);
    assert_eq!(schedule.is_ok(), Schedule::parse(&text).is_ok(), "{text}");
    of_known_program(schedule?)
}

fn read_file(text: &[u8]) -> Result<Schedule, ScheduleError> {
    of_known_program(file::parse_bytes(text)?)
}

fn of_known_program(schedule: Schedule) -> Result<Schedule, ScheduleError> {
    if schedule.program != "queue::tests::no_value_is_lost" {
        schedule.for_program("no_update_is_lost")?;
    }
    Ok(schedule)
}

#[test]
fn a_thousand_malformed_tokens_are_refused() {
    let mut dice = Dice(SEED);
    let originals = [
        small(),
        walk(Walk::Bounded, 3, 60, &mut dice),
        walk(Walk::Random, 4, 200, &mut dice),
    ];
    let tokens = originals.each_ref().map(|schedule| schedule.token().into_bytes());
    let other_version = |index| {
        let version = [0, 2, 3, 10, 4_294_967_297_u64][index % 5];
        small()
            .token()
            .replacen("imz1.", &format!("imz{version}."), 1)
            .into_bytes()
    };
    let noise = |bytes: Vec<u8>| format!("imz1.{}", BASE64URL_NOPAD.encode(&bytes)).into_bytes();
    let other_program = |index| {
        schedule(&format!("other_{index}"), Environment::default(), vec![])
            .token()
            .into_bytes()
    };

    let texts = malformed(&tokens, other_version, noise, other_program);
    assert_eq!(texts.len(), 1000);
    assert_eq!(refused(&texts, &originals, read_token), (1000, 0));
}

#[test]
fn every_flipped_bit_is_found() {
    let flips = |text: &[u8]| -> Vec<Vec<u8>> {
        let flip = |bit: usize| {
            let mut text = text.to_vec();
            text[bit / 8] ^= 1 << (bit % 8);
            text
        };
        (0..8 * text.len()).map(flip).collect()
    };
    let original = small();
    assert_eq!(
        refused(&flips(original.token().as_bytes()), &[], read_token),
        (344, 0)
    );

    // Flipping one bit never turns one white space into another.
    let text = original.to_json(None);
    assert_eq!(
        refused(&flips(text.as_bytes()), &[original], read_file),
        (3872, 0)
    );
}

#[test]
fn refusals_of_tokens_name_what_and_where() {
    let token = small().token();
    let cases = [
        (
            "imz",
            r#""imz" is not a schedule token: those begin with `imz1.`"#,
        ),
        ("\u{1b}[31m", r#""\u{1b}[31m" is not a schedule token"#),
        ("imz01.AQ", r#""imz01.AQ" is not a schedule token"#),
        (
            "imz4.AQ",
            "version 4 of the format, version 3 or before is needed: replay it with a newer intermezzo",
        ),
        (
            "imz0.AQ",
            "version 0 of the format, version 3 or before is needed: replay it with the intermezzo that wrote it",
        ),
        ("imz99999999999.AQ", "the token is of version 4294967295"),
        (
            "imz1.AQAA\nAAAA",
            r"character 10 of the token is '\n', which is in no token",
        ),
        ("imz1.é", "character 6 of the token is 'é', which is in no token"),
        ("imz1.", "the token ends too early, after 0 bytes of contents"),
        (
            &token[..30],
            "the token ends too early, after 18 bytes of contents",
        ),
        (
            &token.replacen("bm9f", "bm9g", 1),
            r#"do not fit its checksum ("1352753e", contents give "650baeee")"#,
        ),
    ];
    for (text, expected) in cases {
        let message = Schedule::from_token(text).expect_err("malformed").to_string();
        assert!(message.contains(expected), "{message}");
    }
    // It depends on the first byte of the checksum whether the rest could be a part of the token.
    let mut messages = (1..2_000).map(|steps| {
        let token = Schedule { steps, ..small() }.token();
        let longer = Schedule::from_token(&format!("{token}AAAA"));
        longer.expect_err("malformed").to_string()
    });
    let expected = "the token goes on for 3 bytes after its last choice";
    assert!(messages.any(|message| message.contains(expected)));
}

#[test]
fn refusals_of_files_name_what_and_where() {
    let json = small().to_json(None);
    let changed = |from: &str, to: &str| json.replacen(from, to, 1);
    let cases = [
        (
            String::new(),
            "not JSON at line 1, column 0 (EOF while parsing a value)",
        ),
        (
            json[..100].to_owned(),
            "not JSON at line 5, column 8 (EOF while parsing a string)",
        ),
        (
            format!("{json}{json}"),
            "not JSON at line 21, column 1 (trailing characters)",
        ),
        (
            "[1, 2]".to_owned(),
            "not a schedule at line 1, column 2 (invalid type: integer `1`",
        ),
        (
            "{}".to_owned(),
            "not a schedule at line 1, column 2 (missing field `format`)",
        ),
        (
            changed("schedule/1", "report/1"),
            r#"its `format` is "intermezzo-report/1""#,
        ),
        (
            changed("schedule/1", "schedule/01"),
            r#"its `format` is "intermezzo-schedule/01""#,
        ),
        (
            r#"{"format": "intermezzo-schedule/4", "threads": []}"#.to_owned(),
            "the file is of version 4 of the format, version 3 or before is needed: replay it with a newer intermezzo",
        ),
        (
            changed("preempts", "preempt"),
            "not a schedule at line 15, column 45 (unknown field `preempt`",
        ),
        (
            changed(r#""taken":0"#, r#""taken":2"#),
            "choice 1: `taken` is 2, but must be 0 to 1",
        ),
        (
            changed(r#""of":2"#, r#""of":1"#),
            "choice 1: `of` is 1, but must be 2 to 4294967295",
        ),
        (
            changed(r#""taken":0"#, r#""taken":4294967296"#),
            "not a schedule at line 15, column 44 (invalid value: integer `4294967296`, expected u32)",
        ),
        (
            changed(r#""taken":0"#, r#""taken":1"#),
            r#"do not fit the checksum ("b581b84e", contents give "d76519c1")"#,
        ),
    ];
    for (text, expected) in cases {
        let message = Schedule::from_json(&text).expect_err("malformed").to_string();
        assert!(message.contains(expected), "{message}");
    }
    let not_text = file::parse_bytes(b"{\"format\": \"\xff\"}");
    assert_eq!(
        not_text,
        Err(ScheduleError::NotText {
            carrier: Carrier::File,
            byte: 12
        })
    );
}

#[test]
fn refusals_of_paths_and_programs_say_what_to_give() {
    let message =
        |refused: Result<Schedule, ScheduleError>| refused.expect_err("nothing to read").to_string();
    let no_file = message(Schedule::parse("no/such/file.json"));
    assert!(
        no_file.starts_with(r#"schedule file "no/such/file.json": cannot be read ("#),
        "{no_file}"
    );
    assert!(
        no_file.ends_with("or a token, which begins with `imz1.`, `imz2.` or `imz3.`"),
        "{no_file}"
    );
    assert!(message(Schedule::parse("")).starts_with(r#"schedule file "": cannot be read ("#));
    assert_eq!(
        small().for_program("other").map_err(|error| error.to_string()),
        Err(
            r#"the schedule is of program "no_update_is_lost", but "other" is to be run: "#.to_owned()
                + r#"run "no_update_is_lost" instead, or give a schedule of "other""#
        )
    );
}

/// Returns a token with the contents that `write` writes, and their checksum.
fn forged(write: impl FnOnce(&mut BitWriter)) -> String {
    let mut writer = BitWriter::default();
    write(&mut writer);
    let mut bytes = writer.finish();
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    format!("imz1.{}", BASE64URL_NOPAD.encode(&bytes))
}

/// Writes the contents of a token up to its choices: version 1, the default environment, no name.
fn forged_header(writer: &mut BitWriter) {
    writer.bits(1, 8);
    writer.bits(0, 8);
    writer.varint(0);
}

#[test]
fn forged_tokens_are_refused_without_taking_memory() {
    let huge_name = forged(|writer| {
        writer.bits(1, 8);
        writer.bits(0, 8);
        writer.varint(u64::MAX);
    });
    assert_eq!(
        Schedule::from_token(&huge_name),
        Err(ScheduleError::Truncated { bytes: 12 })
    );

    let huge_count = forged(|writer| {
        forged_header(writer);
        writer.gamma(u64::MAX);
    });
    assert!(matches!(
        Schedule::from_token(&huge_count),
        Err(ScheduleError::Truncated { .. })
    ));

    let overlong = forged(|writer| {
        writer.bits(1, 8);
        writer.bits(1 << 6, 8);
        (0..9).for_each(|_| writer.bits(0xff, 8));
        writer.bits(0x02, 8);
    });
    assert_eq!(
        Schedule::from_token(&overlong),
        Err(ScheduleError::Overlong { byte: 2 })
    );

    let zeros = forged(|writer| {
        forged_header(writer);
        (0..100).for_each(|_| writer.bits(0, 8));
    });
    assert_eq!(
        Schedule::from_token(&zeros),
        Err(ScheduleError::Overlong { byte: 3 })
    );
}

#[test]
fn forged_tokens_are_refused_for_each_number_out_of_range() {
    let version = forged(|writer| writer.bits(9, 8));
    let needed = ScheduleError::OtherVersion {
        carrier: Carrier::Token,
        found: 9,
        needed: 3,
    };
    assert_eq!(Schedule::from_token(&version), Err(needed));

    let name = forged(|writer| {
        writer.bits(1, 8);
        writer.bits(0, 8);
        writer.varint(2);
        writer.bits(0x61ff, 16);
        writer.gamma(1);
    });
    let expected = ScheduleError::NotText {
        carrier: Carrier::Token,
        byte: 1,
    };
    assert_eq!(Schedule::from_token(&name), Err(expected));

    let out_of_range = |token: String| match Schedule::from_token(&token) {
        Err(ScheduleError::OutOfRange {
            choice,
            field,
            found,
            least,
            most,
        }) => (choice, field, found, least, most),
        other => panic!("{other:?}"),
    };
    let timeouts = forged(|writer| {
        writer.bits(0x0102, 16);
        writer.varint(1 << 32);
    });
    assert_eq!(
        out_of_range(timeouts),
        (None, "`timeouts`", 1 << 32, 0, u32::MAX.into())
    );

    // One choice with a new shape, and then one of two errors.
    let one_choice = |kind, others, run, gap, taken_less_1: Option<u64>| {
        forged(|writer| {
            forged_header(writer);
            writer.gamma(2);
            writer.gamma(1);
            writer.bits(kind, 3);
            writer.bits(1, 1);
            writer.gamma(others);
            writer.gamma(run);
            writer.gamma(gap);
            if let Some(taken_less_1) = taken_less_1 {
                writer.bits(taken_less_1, 2);
            }
            writer.bits(0, 16);
        })
    };
    let most = u64::from(u32::MAX) - 1;
    let alternatives = out_of_range(one_choice(0, most + 1, 1, 1, None));
    assert_eq!(
        alternatives,
        (Some(1), "`alternatives` less 1", most + 1, 1, most)
    );
    assert_eq!(
        out_of_range(one_choice(0, 3, 2, 1, None)),
        (Some(1), "the length of its run", 2, 1, 1)
    );
    assert_eq!(
        out_of_range(one_choice(0, 3, 1, 3, None)),
        (Some(1), "the gap to what is not 0", 3, 1, 2)
    );
    assert_eq!(
        out_of_range(one_choice(0, 3, 1, 1, Some(3))),
        (Some(1), "`taken`", 4, 0, 3)
    );
    let behind = Schedule::from_token(&one_choice(0, 3, 1, 1, Some(2)));
    assert_eq!(behind, Err(ScheduleError::TrailingData { bytes: 2 }));
}
