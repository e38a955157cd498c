//! Memory that is leaked on purpose, according to the source at the place of its allocation.
//!
//! `Box::leak(Box::new(..))` is how many tests get a reference that threads can share. The engine cannot observe this
//! call. So the statement that allocates is read, in each function of the user's packages on the stack: if the user has
//! a function of their own for this, it contains the word.
//!
//! Blind spots: memory that is leaked in another statement than the one that allocates it; sources that are missing.

use std::fs;
use std::path::{Path, PathBuf};

/// The names of functions that leak, of std and of programs.
const LEAKING: [&str; 2] = ["leak", "forget"];

/// The maximum number of lines of a statement that are read before the place, and after it.
const LINES_MAX: usize = 12;

/// Returns `true` if a statement at one of these places leaks what it makes.
pub(super) fn is_on_purpose(places: &[(PathBuf, u32)]) -> bool {
    places.iter().any(|(file, line)| {
        let text = fs::read_to_string(Path::new(file)).unwrap_or_default();
        leaks(&statement(&text, *line as usize))
    })
}

/// Returns `true` if a statement names a function that leaks. The name of a function in its definition does not count:
/// `fn leak()`.
fn leaks(statement: &str) -> bool {
    let continues = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_named = |name: &str| {
        statement.match_indices(name).any(|(at, _)| {
            let (before, after) = (&statement[..at], &statement[at + name.len()..]);
            let is_whole = !before.ends_with(continues) && !after.starts_with(continues);
            let is_called = after.starts_with('(') && !before.ends_with("fn ");
            is_whole && (is_called || before.ends_with("::"))
        })
    };
    LEAKING.into_iter().any(is_named) || statement.contains("ManuallyDrop::new(")
}

/// Returns the statement to which this line of a source, counted from 1, belongs: from the line after the end of
/// another statement to the line with its own end.
fn statement(text: &str, line: usize) -> String {
    let lines: Vec<&str> = text.lines().map(without_comment).collect();
    let Some(at) = line.checked_sub(1).filter(|&at| at < lines.len()) else {
        return String::new();
    };
    let ends = |line: &&str| line.ends_with([';', '{', '}']);
    let before = lines[..at].iter().rev().take(LINES_MAX);
    let begin = at - before.take_while(|line| !ends(line)).count();
    let after = lines[at..].iter().take(LINES_MAX);
    let end = at + after.take_while(|line| !ends(line)).count();
    lines[begin..lines.len().min(end + 1)].join("\n")
}

/// Returns a line without a comment at its end, and without white space around it.
fn without_comment(line: &str) -> &str {
    line.split("//").next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
fn f() {
    let kept = Box::new(1); // leak(
    let shared: &'static _ = Box::leak(
        // A comment; with the end of a statement;
        Box::new(2),
    );
    let other = Box::new(3);
    forget(other);
    spawn(move || {
        Vec::from([4]).leak();
    });
}
fn does_not_leak() {
    let all = does_not_forget(Box::new(5));
}
fn leak() {
    let all = Some(Box::new(6)).map(Box::leak);
}
";

    #[test]
    fn the_statement_at_a_place_is_read() {
        let leaking = (0..=20).filter(|&line| leaks(&statement(TEXT, line)));
        assert_eq!(leaking.collect::<Vec<usize>>(), [3, 4, 5, 6, 8, 10, 17]);
        assert_eq!(statement(TEXT, 7), "let other = Box::new(3);");
    }

    #[test]
    fn a_source_that_is_not_there_says_nothing() {
        assert!(!is_on_purpose(&[(PathBuf::from("no/such/file.rs"), 1)]));
    }
}
