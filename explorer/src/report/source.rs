//! Source files as reports name them, found from where the process runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Largest file that is looked into.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// File, line and column of `file:line:column`, each from 1.
pub fn parts(site: &str) -> Option<(&str, usize, usize)> {
    let mut parts = site.rsplitn(3, ':');
    let (column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    let number = |text: &str| text.parse().ok().filter(|&number| number > 0);
    Some((file, number(line)?, number(column)?)).filter(|_| !file.is_empty())
}

/// Where a file may be: the compiler names it from the root of a workspace, and tests run in a package of it. From each of these
/// directories upwards, the nearest first.
pub fn candidates<'a>(file: &'a str, from: &'a [PathBuf]) -> impl Iterator<Item = PathBuf> + 'a {
    from.iter()
        .flat_map(|start| start.ancestors())
        .map(move |directory| directory.join(file))
}

/// The text of a Rust source file; nothing else of the machine is shown because a report names it.
///
/// # Errors
/// Why there is none: in words that follow the file's name.
pub fn read(file: &str, from: &[PathBuf]) -> Result<String, String> {
    if Path::new(file)
        .extension()
        .is_none_or(|extension| extension != "rs")
    {
        return Err("is no Rust source".into());
    }
    let found = candidates(file, from).filter_map(|path| Some((fs::metadata(&path).ok()?, path)));
    let mut files = found.filter(|(found, _)| found.is_file() && found.len() <= FILE_BYTES_MAX);
    let Some((_, path)) = files.next() else {
        return Err("was not found".into());
    };
    match fs::read(&path) {
        Ok(text) => Ok(String::from_utf8_lossy(&text).into_owned()),
        Err(error) => Err(format!("could not be read ({error})")),
    }
}

/// Lines of source files, each file read once.
#[derive(Debug)]
pub(super) struct Sources {
    from: Vec<PathBuf>,
    files: BTreeMap<String, Option<String>>,
}

impl Sources {
    /// Looked for from the current directory.
    pub(super) fn here() -> Sources {
        Sources {
            from: std::env::current_dir().into_iter().collect(),
            files: BTreeMap::new(),
        }
    }

    /// The line of `file:line:column`, and its column from 0 in characters; nothing if there is none, or if that place cannot be in it: the
    /// file was changed since, or is another one.
    pub(super) fn line(&mut self, site: &str) -> Option<(&str, usize)> {
        let (file, line, column) = parts(site)?;
        let from = &self.from;
        let text = self
            .files
            .entry(file.to_owned())
            .or_insert_with(|| read(file, from).ok());
        let line = text.as_deref()?.lines().nth(line - 1)?;
        // The compiler counts characters.
        let there = line.chars().nth(column - 1)?;
        (!there.is_whitespace()).then_some((line, column - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_taken_apart() {
        assert_eq!(parts("src/a.rs:12:3"), Some(("src/a.rs", 12, 3)));
        assert_eq!(parts("C:\\src\\a.rs:12:3"), Some(("C:\\src\\a.rs", 12, 3)));
        for none in ["", "a.rs", "a.rs:x:1", "a.rs:0:1", "12:3", ":1:1"] {
            assert_eq!(parts(none), None, "{none}");
        }
    }

    #[test]
    fn only_lines_that_fit_are_shown() {
        let mut sources = Sources::here();
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
