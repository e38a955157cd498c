//! Source files as reports name them, and their lines.

pub use intermezzo_engine::source::{Search, parts, read};

use super::lines::width;
use super::names::SourceFiles;
use super::text::TextStyle;
use std::collections::BTreeMap;

/// Returns the words of a text that are places in Rust's source: `file:line:column`.
pub(crate) fn sites_in(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace();
    let bare = words.map(|word| word.trim_matches(|c: char| ",;:.()`".contains(c)));
    bare.filter(|word| parts(word).is_some_and(|(file, ..)| file.ends_with(".rs")))
}

/// The widest call that is shown above the operations in it.
const CALL_MAX: usize = 32;

/// Lines and calls of source files. A file is read once for its lines, and once for its calls.
#[derive(Debug)]
pub(crate) struct Sources {
    search: Search,
    files: BTreeMap<String, Option<String>>,
    tokens: SourceFiles,
}

impl Sources {
    /// Makes the reader of source files, which looks for them as the style says.
    pub(super) fn of(style: &TextStyle) -> Sources {
        Sources::new(style.sources.clone().unwrap_or_else(Search::here))
    }

    /// Makes the reader of source files that are found in this way.
    pub(crate) fn new(search: Search) -> Sources {
        Sources {
            tokens: SourceFiles::new(search.clone()),
            search,
            files: BTreeMap::new(),
        }
    }

    /// Returns the piece of source at a place that fits into that room: the whole line, or else the call there.
    pub(super) fn piece(&mut self, site: &str, room: usize) -> Option<String> {
        let fits = |text: &String| width(text) <= room;
        let line = self.line(site)?.0.trim().replace('\t', " ");
        Some(line).filter(fits).or_else(|| self.tokens.call(site, fits))
    }

    /// Returns the name of the method that is called at `file:line:column`, if one is.
    pub(super) fn method(&mut self, site: &str) -> Option<&str> {
        self.tokens.method(site)
    }

    /// Returns the call at `file:line:column`, if it is of a function of the test: `queue.push(…)`. Operations have the place
    /// of such a call if the function is `#[track_caller]`.
    pub(super) fn boundary(&mut self, site: &str) -> Option<String> {
        self.tokens.boundary(site, |call| width(call) <= CALL_MAX)
    }

    /// Returns the head of the innermost loop around all these places: `while self.busy()`.
    pub(super) fn loop_around<'s>(&mut self, sites: impl IntoIterator<Item = &'s str>) -> Option<String> {
        self.tokens.loop_around(sites)
    }

    /// Returns the line of `file:line:column`, and its column from 0 in characters. Returns `None` if there is no such
    /// line, or if the place cannot be in it: then the file has changed since, or is another one.
    pub(crate) fn line(&mut self, site: &str) -> Option<(&str, usize)> {
        let (file, line, column) = parts(site)?;
        let search = &self.search;
        let text = self
            .files
            .entry(file.to_owned())
            .or_insert_with(|| read(file, search).ok());
        let line = text.as_deref()?.lines().nth(line - 1)?;
        // The compiler counts columns in characters.
        let there = line.chars().nth(column - 1)?;
        (!there.is_whitespace()).then_some((line, column - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_fit_are_shown() {
        let mut sources = Sources::of(&TextStyle::default());
        let here = std::panic::Location::caller();
        let (line, column) = sources.line(&here.to_string()).unwrap();
        assert!(line[column..].starts_with("std::panic::Location"), "{line}");
        for none in [
            format!("{}:1:4000", file!()),
            format!("{}:100000:1", file!()),
            "no/such/file.rs:1:1".into(),
            "Cargo.toml:1:1".into(),
        ] {
            assert_eq!(sources.line(&none), None, "{none}");
        }
    }
}
