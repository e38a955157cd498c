//! Damages files, each in one of many ways. The damage follows from a seed.

use serde_json::Value;

/// A small generator: its seed determines its numbers.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// Returns a number below this one.
    pub(crate) fn roll(&mut self, end: usize) -> usize {
        // Xorshift (Marsaglia 2003).
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }

    fn one_of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.roll(all.len())]
    }
}

/// Replacements for numbers: beyond 64 bits, negative, or at a limit.
const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "255",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999999999",
    "1e308",
    "1e999",
    "0.5",
    "00",
];

/// Openings of constructs that need to be closed.
const OPENING: &[&str] = &["[", "{", "{\"a\":", "(", "#{", "#_", "\"", "[[test.", "a.b."];

/// Files of other programs.
const FOREIGN: &[&[u8]] = &[
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0",
    b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0",
    b"PK\x03\x04\x14\0\x08\0\x08\0",
    b"SQLite format 3\0\x10\0\x01\x01",
    b"Dear diary,\ntoday nothing raced.\n",
    b"<!doctype html><title>404</title>",
    b"{}",
    b"null",
    b"\0",
    b"\xff\xfe{\0\"\0",
];

/// Pieces that have a meaning in one of the formats.
const PIECES: &[&str] = &[
    "[",
    "]",
    "(",
    "{",
    "}",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "#",
    "#_",
    "#{",
    ";",
    ":",
    ",",
    "=",
    ":info",
    ":fail",
    "nil",
    "null",
    "NaN",
    "-",
    "\u{1F980}",
    "\0",
    "\t",
    "\n",
    "\r",
    "\x1b[31m",
    "call",
    "return",
    "push(",
    "cas",
    "read",
    "imz1.",
    "../../etc/passwd",
    "</script>",
];

/// Returns the bytes, damaged in one way. `others` are files of our other formats.
pub(crate) fn damaged(original: &[u8], others: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    match dice.roll(16) {
        0 => bits_flipped(original, dice),
        1 => original[..dice.roll(original.len())].to_vec(),
        2..=4 => lines_moved(original, dice),
        5 | 6 => numbers_changed(original, dice),
        7 => inserted(original, nested(dice).as_bytes(), dice),
        8 => inserted(
            original,
            dice.one_of(&[&b"\xff"[..], b"\xc3\x28", b"\xed\xa0\x80", b"\xf0\x9f"]),
            dice,
        ),
        9 => foreign(others, dice),
        10 => version_changed(original, dice),
        11 => bytes_moved(original, dice),
        12 => more_around(original, dice),
        13 => match serde_json::from_slice(original) {
            Ok(mut value) => {
                value_changed(&mut value, dice);
                serde_json::to_vec_pretty(&value).expect("a value is JSON")
            }
            Err(_) => bits_flipped(original, dice),
        },
        _ => {
            let mut bytes = original.to_vec();
            for _ in 0..=dice.roll(2) {
                bytes = inserted(&bytes, dice.one_of(PIECES).as_bytes(), dice);
            }
            bytes
        }
    }
}

fn bits_flipped(original: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..=dice.roll(3) {
        let at = dice.roll(bytes.len());
        bytes[at] ^= 1 << dice.roll(8);
    }
    bytes
}

/// Returns the lines with some removed, doubled, or exchanged. In a file of one line, the parts between commas are
/// moved.
fn lines_moved(original: &[u8], dice: &mut Dice) -> Vec<u8> {
    let lines = original.iter().filter(|&&byte| byte == b'\n').count();
    let between = if lines > 2 { b'\n' } else { b',' };
    let mut parts: Vec<&[u8]> = original.split(|&byte| byte == between).collect();
    for _ in 0..=dice.roll(2) {
        let (one, other) = (dice.roll(parts.len()), dice.roll(parts.len()));
        match dice.roll(3) {
            0 if parts.len() > 1 => drop(parts.remove(one)),
            1 => parts.insert(other, parts[one]),
            _ => parts.swap(one, other),
        }
    }
    parts.join(&between)
}

/// Replaces one of its numbers.
fn numbers_changed(original: &[u8], dice: &mut Dice) -> Vec<u8> {
    let is_digit = |at: usize| original.get(at).is_some_and(u8::is_ascii_digit);
    let begins: Vec<usize> = (0..original.len())
        .filter(|&at| is_digit(at) && (at == 0 || !is_digit(at - 1)))
        .collect();
    if begins.is_empty() {
        return bits_flipped(original, dice);
    }
    let begin = begins[dice.roll(begins.len())];
    let end = (begin..).find(|&at| !is_digit(at)).expect("the file ends");
    [
        &original[..begin],
        dice.one_of(NUMBERS).as_bytes(),
        &original[end..],
    ]
    .concat()
}

/// Returns far deeper nesting than a real file has, for which the stack of a recursive reader would be too small.
fn nested(dice: &mut Dice) -> String {
    let times = dice.one_of(&[&100, &1_000, &30_000]);
    dice.one_of(OPENING).repeat(*times)
}

fn inserted(original: &[u8], piece: &[u8], dice: &mut Dice) -> Vec<u8> {
    let at = dice.roll(original.len() + 1);
    [&original[..at], piece, &original[at..]].concat()
}

/// Returns an empty file, one of another program, or one of ours in another format.
fn foreign(others: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    match dice.roll(5) {
        0 => Vec::new(),
        1 | 2 => dice.one_of(FOREIGN).to_vec(),
        _ => others[dice.roll(others.len())].clone(),
    }
}

/// Changes the version of the format, which follows its name: older, newer, or none.
fn version_changed(original: &[u8], dice: &mut Dice) -> Vec<u8> {
    let text = String::from_utf8_lossy(original);
    let name = text
        .find("intermezzo-")
        .and_then(|at| Some(at + text[at..].find('/')? + 1));
    let Some(begin) = name.or_else(|| Some(text.find("imz")? + 3)) else {
        return numbers_changed(original, dice);
    };
    let rest = text[begin..].trim_start_matches(|c: char| c.is_ascii_digit());
    let version = dice.one_of(&["0", "9", "", "-1", "1.5", "4294967297", "one", "01"]);
    format!("{}{version}{rest}", &text[..begin]).into_bytes()
}

/// Returns the bytes with some removed, doubled, or moved.
fn bytes_moved(original: &[u8], dice: &mut Dice) -> Vec<u8> {
    let at = dice.roll(original.len());
    let end = (at + 1 + dice.roll(40)).min(original.len());
    let rest = [&original[..at], &original[end..]].concat();
    match dice.roll(3) {
        0 => rest,
        1 => inserted(original, &original[at..end], dice),
        _ => inserted(&rest, &original[at..end], dice),
    }
}

/// Adds something at the beginning or the end, or changes the line endings.
fn more_around(original: &[u8], dice: &mut Dice) -> Vec<u8> {
    match dice.roll(5) {
        0 => [b"\xef\xbb\xbf", original].concat(),
        1 => [original, original].concat(),
        2 => [original, &[0; 64]].concat(),
        3 => [original, b"x"].concat(),
        _ => original
            .split(|&byte| byte == b'\n')
            .collect::<Vec<_>>()
            .join(&b"\r\n"[..]),
    }
}

/// Replaces, removes or doubles a value within this one.
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
        Some(inner) => *inner = other_value(dice),
        None => *value = other_value(dice),
    }
}

fn other_value(dice: &mut Dice) -> Value {
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
