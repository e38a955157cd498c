//! Identities of variables in texts, and the names in their place.

use super::VarNames;
use super::kinds::METHODS;
use std::borrow::Cow;
use std::ops::Range;

/// Returns the kind of a variable with this identity; `None` for a task, or if it is no identity.
pub(super) fn kind_of(var: &str) -> Option<&str> {
    let (at, kind) = identities(var).next()?;
    (at == (0..var.len())).then_some(kind)
}

/// Returns the places of variables' identities in a text, and their kinds: `mutex 0.2`.
pub(in crate::report) fn identities(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let part = |c: char| c.is_ascii_digit() || c == '.' || c == '^';
    text.match_indices(' ').filter_map(move |(at, _)| {
        let numbers = &text[at + 1..];
        let numbers = &numbers[..numbers.find(|c| !part(c)).unwrap_or(numbers.len())];
        // The end of a sentence.
        let numbers = numbers.trim_end_matches('.');
        let letters = text[..at]
            .bytes()
            .rev()
            .take_while(u8::is_ascii_lowercase)
            .count();
        let begin = at - letters;
        let kind = &text[begin..at];
        let is_known = METHODS.iter().any(|(kinds, _)| kinds.contains(&kind));
        let (user, ordinal) = numbers.rsplit_once('.')?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_lineage = user.split(['.', '^']).all(is_number);
        (is_known && is_number(ordinal) && is_lineage).then_some((begin..at + 1 + numbers.len(), kind))
    })
}

/// Returns prose with the identities of variables replaced by their names.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::report::{VarNames, names};
///
/// let named = VarNames::from([("mutex 0.1".into(), "journal".into())]);
/// assert_eq!(names::in_text("main waits to lock mutex 0.1", &named), "main waits to lock `journal`");
/// ```
pub fn in_text(text: &str, names: &VarNames) -> String {
    replaced(text, names, quoted)
}

/// Returns the text of a table's row with the identities of variables replaced by their names.
pub fn in_row(text: &str, names: &VarNames) -> String {
    replaced(text, names, str::to_owned)
}

fn replaced(text: &str, names: &VarNames, shown: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in identities(text) {
        let var = &text[at.clone()];
        if let Some(name) = names.get(&*counts_of(var)) {
            out.push_str(&text[done..at.start]);
            out.push_str(&shown(name));
            done = at.end;
        }
    }
    out.push_str(&text[done..]);
    out
}

/// Returns the identity of the counts of an `Arc`. The monitor for leaks writes `arc 0.1` for the variable `count 0.1`.
pub(in crate::report) fn counts_of(var: &str) -> Cow<'_, str> {
    match var.strip_prefix("arc ") {
        Some(numbers) => format!("count {numbers}").into(),
        None => var.into(),
    }
}

/// Returns a name without the numbers that distinguish it from others: `slots[_].seq` for `slots[2].seq`, `Node.next` for
/// `Node#2.next`, and `tail` for `tail#2`.
pub(in crate::report) fn without_number(name: &str) -> Cow<'_, str> {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let mut out = String::new();
    let mut rest = name;
    while let Some(at) = rest.find(['#', '[']) {
        let after = &rest[at + 1..];
        let (number, end) = after.split_at(digits(after));
        let is_object = rest[at..].starts_with('#') && (end.is_empty() || end.starts_with('.'));
        let is_element = rest[at..].starts_with('[') && end.starts_with(']');
        match !number.is_empty() {
            true if is_object => out.push_str(&rest[..at]),
            true if is_element => out.extend([&rest[..at], "[_"]),
            _ => out.extend([&rest[..at + 1], number]),
        }
        rest = end;
    }
    match out.is_empty() {
        true => name.into(),
        false => (out + rest).into(),
    }
}

/// Returns the name as prose shows it.
pub(in crate::report) fn quoted(name: &str) -> String {
    format!("`{name}`")
}
