//! The lines of source around the places that executions name, as they are when the page is made.

use super::model::Shown;
use crate::cargo;
use intermezzo::report::source::{self, Search};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The number of lines shown before and after each place.
const AROUND: usize = 5;

/// The number of characters after which a line is cut.
const LINE_CHARS_MAX: usize = 240;

/// The lines of a file that a page shows.
#[derive(Default, Serialize)]
pub(super) struct Source {
    /// Lines by number, from 1.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    lines: BTreeMap<usize, String>,
    /// The reason why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
}

/// Finds the files that reports name.
pub(super) struct Finder {
    /// The directories to which relative paths may refer.
    search: Search,
}

impl Finder {
    /// Creates a finder that searches the current directory and `near`, and the directories above them. Without `near`, it
    /// searches the current workspace, in which the test has just been run.
    pub(super) fn new(near: Option<&Path>) -> Finder {
        let here = std::env::current_dir().ok();
        let search = match near {
            Some(near) => Search::From(here.into_iter().chain(std::path::absolute(near).ok()).collect()),
            None => cargo::workspace_root().map_or_else(Search::here, Search::Root),
        };
        Finder { search }
    }

    /// Returns the source around every place in these reports.
    pub(super) fn sources(&self, shown: &Shown) -> BTreeMap<String, Source> {
        let mut wanted: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        let mut want = |site: &str| {
            if let Some((file, line, _)) = source::parts(site) {
                wanted.entry(file.to_owned()).or_default().insert(line);
            }
        };
        for (_, finding) in shown.findings() {
            for execution in &finding.executions {
                execution.recording.sites.iter().for_each(|site| want(site));
            }
            for waiting in &finding.said.waiting {
                want(&waiting.site);
                waiting.held_since.iter().for_each(|site| want(site));
            }
            finding.said.place.iter().for_each(|site| want(site));
        }
        let read = |(file, lines): (String, BTreeSet<usize>)| {
            let source = self.read(&file, &lines);
            (file, source)
        };
        wanted.into_iter().map(read).collect()
    }

    fn read(&self, file: &str, around: &BTreeSet<usize>) -> Source {
        let missing = |why: String| Source {
            missing: Some(why),
            ..Source::default()
        };
        let text = match source::read(file, &self.search) {
            Ok(text) => text,
            Err(why) => return missing(format!("{file} {why}: make this page in the project's directory")),
        };
        let is_near = |number: usize| {
            let near = number.saturating_sub(AROUND)..=number.saturating_add(AROUND);
            around.range(near).next().is_some()
        };
        let lines = (1..).zip(text.lines()).filter(|(number, _)| is_near(*number));
        let lines: BTreeMap<usize, String> = lines
            .map(|(number, line)| (number, line.chars().take(LINE_CHARS_MAX).collect()))
            .collect();
        match lines.is_empty() {
            true => missing(format!(
                "{file} no longer has such lines: it was changed since the report"
            )),
            false => Source { lines, missing: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_rust_source_is_shown() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("secret"), "word").unwrap();
        let text: String = (1..=30).map(|line| format!("line {line}\n")).collect();
        fs::write(directory.path().join("a.rs"), text).unwrap();
        let finder = Finder {
            search: Search::From(vec![directory.path().to_owned()]),
        };
        let read = |file: &str, line| finder.read(file, &BTreeSet::from([line]));
        let source = read("a.rs", 10);
        assert_eq!(
            source.lines.keys().copied().collect::<Vec<_>>(),
            (5..=15).collect::<Vec<_>>()
        );
        assert_eq!(source.lines[&10], "line 10");
        for (file, line, says) in [
            ("secret", 1, "not a Rust source file"),
            ("b.rs", 1, "was not found"),
            ("a.rs", 99, "no longer has such lines"),
            ("a.rs", usize::MAX, "no longer has such lines"),
        ] {
            let missing = read(file, line).missing.unwrap();
            assert!(missing.contains(says), "{missing}");
        }
    }
}
