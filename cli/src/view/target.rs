//! The files that `view` writes. It overwrites files that it wrote itself, and others only with `--force`.

use crate::args::Format;
use crate::files;
use crate::problem::Problem;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The number of bytes at the beginning of a file in which the mark of `view` must be.
const MARK_WITHIN: usize = 4096;

/// The policy for files that `view` did not write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Force {
    /// They are overwritten: `--force` was given.
    Given,
    /// They are not overwritten, and `--force` would change that.
    Possible,
    /// They are not overwritten, and the command has no such flag.
    Unknown,
}

impl Force {
    /// Returns the advice about an existing file.
    fn help(self) -> &'static str {
        match self {
            Force::Given | Force::Possible => "give another path, or --force",
            Force::Unknown => "give another path, or remove it",
        }
    }
}

/// A kind of file that `view` writes.
#[derive(Clone, Copy)]
pub(super) struct Target {
    /// A description of such a file.
    what: &'static str,
    /// A text near the beginning of each such file, and of no other.
    mark: &'static str,
    extension: &'static str,
}

impl Target {
    /// Returns the kind of this format.
    pub(super) fn of(format: Format) -> Target {
        let (what, mark, extension) = match format {
            Format::Html => ("page", "content=\"cargo intermezzo view\"", "html"),
            Format::Perfetto => ("trace", "\"made_by\":\"cargo intermezzo view\"", "perfetto.json"),
            Format::Shiviz => ("log for ShiViz", "=== intermezzo ", "shiviz.log"),
            Format::Sarif => ("SARIF log", "\"name\": \"intermezzo\"", "sarif"),
            Format::Junit => ("JUnit file", "<testsuites name=\"intermezzo\"", "junit.xml"),
            Format::Dot => ("graph", "// made by cargo intermezzo view", "dot"),
        };
        Target {
            what,
            mark,
            extension,
        }
    }
}

/// Returns the default output for this report: a file in the current directory, named after the report.
pub(super) fn default_path(report: &Path, format: Format) -> PathBuf {
    let stem = match report.is_dir() {
        true => report.file_name(),
        false => report.file_stem(),
    };
    let stem = stem.unwrap_or_else(|| "report".as_ref());
    let mut name = stem.to_owned();
    name.push(".");
    name.push(Target::of(format).extension);
    PathBuf::from(name)
}

/// Checks that a file of this kind may be written there.
///
/// # Errors
/// If there is something else that must not be overwritten.
pub(super) fn check(path: &Path, target: Target, force: Force) -> Result<(), Problem> {
    let found = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return files::check_may_create(path),
        Err(error) => return Err(Problem::file("access", path, &error, "give another path")),
        Ok(found) => found,
    };
    if found.is_dir() {
        return Err(Problem::usage(format!(
            "{path:?} is a directory: give the path of a file"
        )));
    }
    if force == Force::Given || found.is_file() && is_ours(path, target, force)? {
        return Ok(());
    }
    Err(Problem::usage(format!(
        "{path:?} exists and is not a {} of `cargo intermezzo view`: it is left alone; {}",
        target.what,
        force.help()
    )))
}

fn is_ours(path: &Path, target: Target, force: Force) -> Result<bool, Problem> {
    let trouble = |error| Problem::file("read", path, &error, force.help());
    let mut beginning = Vec::new();
    let file = File::open(path).map_err(trouble)?;
    file.take(MARK_WITHIN as u64)
        .read_to_end(&mut beginning)
        .map_err(trouble)?;
    Ok(String::from_utf8_lossy(&beginning).contains(target.mark))
}

/// Writes a file of this kind.
///
/// # Errors
/// Like [`check`]; or if the file system refuses.
pub(super) fn write(path: &Path, target: Target, text: &str, force: Force) -> Result<(), Problem> {
    debug_assert!(
        text.as_bytes()[..text.len().min(MARK_WITHIN)]
            .windows(target.mark.len())
            .any(|part| part == target.mark.as_bytes()),
        "a {} says that it is ours",
        target.what
    );
    check(path, target, force)?;
    fs::write(path, text)
        .map_err(|error| Problem::file("write", path, &error, "give a path that can be written"))
}
