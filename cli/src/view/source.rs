//! Lines of the source around the places that executions name, as they are when the page is made.

use super::model::Shown;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Lines kept before and after each place.
const AROUND: usize = 5;

/// Largest file that is looked into, and longest line that is kept whole.
const FILE_BYTES_MAX: u64 = 4 << 20;
const LINE_CHARS_MAX: usize = 240;

/// What there is of a file.
#[derive(Default, Serialize)]
pub(super) struct Source {
    /// Lines by number, from 1.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    lines: BTreeMap<usize, String>,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
}

/// Finds the files that reports name.
pub(super) struct Finder {
    /// Directories to which names may be relative.
    roots: Vec<PathBuf>,
}

impl Finder {
    /// Looks from the current directory up, and from `near` up.
    pub(super) fn new(near: Option<&Path>) -> Finder {
        let here = std::env::current_dir().ok();
        let near = near.and_then(|near| std::path::absolute(near).ok());
        let starts = [here, near];
        let up = starts
            .iter()
            .flatten()
            .flat_map(|start| start.ancestors().map(Path::to_owned));
        Finder { roots: up.collect() }
    }

    /// The source around every place in these reports.
    pub(super) fn sources(&self, shown: &Shown) -> BTreeMap<String, Source> {
        let mut wanted: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        let mut want = |site: &str| {
            if let Some((file, line)) = parts(site) {
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
        // A report from elsewhere names what it likes; a page is to show source, and nothing else of this machine.
        if Path::new(file)
            .extension()
            .is_none_or(|extension| extension != "rs")
        {
            return missing(format!("{file} is no Rust source"));
        }
        let candidates = self.roots.iter().map(|root| root.join(file));
        let found = candidates.filter_map(|path| Some((fs::metadata(&path).ok()?, path)));
        let mut files = found.filter(|(found, _)| found.is_file() && found.len() <= FILE_BYTES_MAX);
        let Some((_, path)) = files.next() else {
            return missing(format!(
                "{file} was not found when this page was made: make it in the project's directory"
            ));
        };
        let text = match fs::read(&path) {
            Ok(text) => String::from_utf8_lossy(&text).into_owned(),
            Err(error) => return missing(format!("{file} could not be read ({error})")),
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
                "{file} has no such lines any more: it was changed since the report"
            )),
            false => Source { lines, missing: None },
        }
    }
}

/// File and line of `file:line:column`.
pub(super) fn parts(site: &str) -> Option<(&str, usize)> {
    let mut parts = site.rsplitn(3, ':');
    let (_column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    Some((file, line.parse().ok().filter(|&line| line > 0)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_taken_apart() {
        assert_eq!(parts("src/a.rs:12:3"), Some(("src/a.rs", 12)));
        assert_eq!(parts("C:\\src\\a.rs:12:3"), Some(("C:\\src\\a.rs", 12)));
        for none in ["", "a.rs", "a.rs:x:1", "a.rs:0:1", "12:3"] {
            assert_eq!(parts(none), None, "{none}");
        }
    }

    #[test]
    fn only_source_is_shown() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("secret"), "word").unwrap();
        let text: String = (1..=30).map(|line| format!("line {line}\n")).collect();
        fs::write(directory.path().join("a.rs"), text).unwrap();
        let finder = Finder {
            roots: vec![directory.path().to_owned()],
        };
        let read = |file: &str, line| finder.read(file, &BTreeSet::from([line]));
        let source = read("a.rs", 10);
        assert_eq!(
            source.lines.keys().copied().collect::<Vec<_>>(),
            (5..=15).collect::<Vec<_>>()
        );
        assert_eq!(source.lines[&10], "line 10");
        for (file, line, says) in [
            ("secret", 1, "no Rust source"),
            ("b.rs", 1, "was not found"),
            ("a.rs", 99, "no such lines"),
            ("a.rs", usize::MAX, "no such lines"),
        ] {
            let missing = read(file, line).missing.unwrap();
            assert!(missing.contains(says), "{missing}");
        }
    }
}
