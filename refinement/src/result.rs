//! Results as text. Two results are the same if their texts are, so the text of a value must not depend on the order of
//! iteration of a hash table.
//!
//! `Debug` writes the entries of a set or a map between braces, in the order of iteration. Here they are sorted, at every
//! depth. Misses: a type whose own `Debug` uses `debug_set` or `debug_map` for entries whose order matters.

use std::cmp::Ordering;
use std::fmt::{Debug, Write};

/// Appends the text of a result, with the entries of sets and maps sorted.
pub(crate) fn append(text: &mut String, returned: &impl Debug) {
    let start = text.len();
    write!(text, "{returned:?}").expect("a string takes everything");
    if text.as_bytes()[start..].contains(&b'{')
        && let Some(sorted) = sorted(&text[start..])
    {
        text.truncate(start);
        text.push_str(&sorted);
    }
}

/// Returns the text with the entries of its sets and maps sorted; `None` if its brackets and quotes do not match, as in
/// a text that a type's own `Debug` words freely.
fn sorted(text: &str) -> Option<String> {
    let mut reader = Reader { text, at: 0 };
    let sorted = reader.entries(None)?.join(", ");
    (reader.at == text.len()).then_some(sorted)
}

/// A position in the text of a value.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Returns the entries, separated by commas, up to the closing bracket or the end; consumes the bracket.
    fn entries(&mut self, close: Option<u8>) -> Option<Vec<String>> {
        let mut entries = Vec::new();
        let mut entry = String::new();
        let mut copied = self.at;
        loop {
            let Some(byte) = self.peek() else {
                entry.push_str(&self.text[copied..]);
                entries.push(entry);
                return close.is_none().then_some(entries);
            };
            match byte {
                b'"' | b'\'' => self.quoted(byte)?,
                b'(' | b'[' | b'{' => {
                    let is_unordered = byte == b'{' && self.opens_a_set_or_map();
                    self.at += 1;
                    entry.push_str(&self.text[copied..self.at]);
                    let closing = match byte {
                        b'(' => b')',
                        b'[' => b']',
                        _ => b'}',
                    };
                    let mut inner = self.entries(Some(closing))?;
                    if is_unordered {
                        inner.sort_by(|one, other| in_order(one, other));
                    }
                    entry.push_str(&inner.join(", "));
                    entry.push(closing as char);
                    copied = self.at;
                }
                b')' | b']' | b'}' => {
                    entry.push_str(&self.text[copied..self.at]);
                    entries.push(entry);
                    self.at += 1;
                    return (close == Some(byte)).then_some(entries);
                }
                b',' if self.text[self.at..].starts_with(", ") => {
                    entry.push_str(&self.text[copied..self.at]);
                    entries.push(std::mem::take(&mut entry));
                    self.at += 2;
                    copied = self.at;
                }
                _ => self.at += 1,
            }
        }
    }

    /// Passes over a string or a character in quotes.
    fn quoted(&mut self, quote: u8) -> Option<()> {
        self.at += 1;
        loop {
            let byte = self.peek()?;
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == quote {
                return Some(());
            }
        }
    }

    /// `true` if the brace here opens a set or a map: a struct's follows its name and a space, and has a space behind it.
    fn opens_a_set_or_map(&self) -> bool {
        let before = &self.text[..self.at];
        let at_the_beginning_of_a_value = before.is_empty()
            || [", ", ": ", "(", "[", "{"]
                .iter()
                .any(|end| before.ends_with(end));
        at_the_beginning_of_a_value && !self.text[self.at + 1..].starts_with(' ')
    }
}

/// Compares two entries: whole numbers by value, anything else as text.
fn in_order(one: &str, other: &str) -> Ordering {
    let number = |entry: &str| -> Option<i128> {
        let key = entry.split_once(": ").map_or(entry, |(key, _)| key);
        key.parse().ok()
    };
    match (number(one), number(other)) {
        (Some(first), Some(second)) => first.cmp(&second).then_with(|| one.cmp(other)),
        _ => one.cmp(other),
    }
}

#[cfg(test)]
mod tests {
    use super::append;
    use std::collections::{BTreeMap, HashMap, HashSet};
    use std::fmt::{self, Debug};

    fn text(returned: &impl Debug) -> String {
        let mut text = "before ".to_owned();
        append(&mut text, returned);
        text.strip_prefix("before ").unwrap().to_owned()
    }

    #[test]
    fn sets_and_maps_are_sorted_at_every_depth() {
        for _ in 0..20 {
            let set: HashSet<u32> = [9, 10, 3, 200].into();
            assert_eq!(text(&set), "{3, 9, 10, 200}");
            assert_eq!(text(&Some((1, set))), "Some((1, {3, 9, 10, 200}))");
            let map: HashMap<&str, HashSet<char>> =
                [("b, {", ['}', '\''].into()), ("a\"", ['x', ','].into())].into();
            assert_eq!(text(&map), r#"{"a\"": {',', 'x'}, "b, {": {'\'', '}'}}"#);
            assert_eq!(text(&vec![map.clone(), map]).matches("{',', 'x'}").count(), 2);
        }
        assert_eq!(text(&BTreeMap::from([(10, 'a'), (9, 'b')])), "{9: 'b', 10: 'a'}");
        assert_eq!(text(&HashSet::<u8>::new()), "{}");
    }

    #[test]
    fn whatever_has_an_order_keeps_it() {
        #[derive(Debug)]
        #[expect(dead_code, reason = "it is only shown")]
        struct Pair {
            second: Vec<u8>,
            first: (i8, &'static str),
        }
        let pair = Pair {
            second: vec![2, 1],
            first: (-1, "z, {y, a}"),
        };
        assert_eq!(
            text(&pair),
            r#"Pair { second: [2, 1], first: (-1, "z, {y, a}") }"#
        );
        assert_eq!(
            text(&[Some('b'), None, Some('a')]),
            "[Some('b'), None, Some('a')]"
        );
        assert_eq!(text(&"{b, a}"), r#""{b, a}""#);
    }

    #[test]
    fn a_text_worded_freely_stays_as_it_is() {
        struct Free(&'static str);
        impl Debug for Free {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.0)
            }
        }
        for words in ["{b, a", "it's {b, a}", "b} {a", "{b, a)}", "\\", "{b, \"\\"] {
            assert_eq!(text(&Free(words)), words);
        }
    }
}
