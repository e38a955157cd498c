//! The journals of processes that have ended: the executions that they record, and the files that are damaged.

use super::read;
use crate::schedule::{Schedule, TestBinary};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// An execution that was in progress when its process ended.
#[derive(Clone, Debug)]
pub struct Unfinished {
    /// Its schedule, as far as it had run.
    pub schedule: Schedule,
    /// `false` if it may have made more choices than a journal keeps.
    pub is_whole: bool,
    /// The journal that recorded it.
    pub file: PathBuf,
}

/// A journal whose content was damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// The file.
    pub file: PathBuf,
    /// The reason, as a clause.
    pub reason: String,
    /// The new name of the file, under which it is not read again. `None` if it could not be renamed.
    pub moved_to: Option<PathBuf>,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "an earlier run of tests ended in the middle of an execution, which cannot be run again: {} is damaged ({})",
            self.file.display(),
            self.reason
        )?;
        match &self.moved_to {
            Some(name) => write!(
                f,
                "; it is now called {} and is not read again: delete it",
                name.display()
            ),
            None => f.write_str("; delete it"),
        }
    }
}

/// The journals in a directory whose processes have ended.
#[derive(Debug, Default)]
struct LeftBehind {
    unfinished: Vec<Unfinished>,
    damaged: Vec<Damaged>,
}

/// Returns the executions in this directory that were in progress when their processes ended, in the order of their
/// programs.
pub fn unfinished(directory: &Path) -> Vec<Unfinished> {
    left_behind(directory).unfinished
}

/// Returns the schedule of an execution of this test that was in progress when its process ended, and forgets it. Each
/// directory is searched once.
pub fn take_left(directory: &Path, (program, binary): (&str, &TestBinary)) -> Option<Unfinished> {
    of_directory(directory, |left| {
        let at = left
            .unfinished
            .iter()
            .position(|one| one.schedule.program == program && one.schedule.binary == *binary)?;
        let one = left.unfinished.remove(at);
        let _ = fs::remove_file(&one.file);
        Some(one)
    })
}

/// Returns the damaged journals in this directory, and forgets them. It is not known which test they are of. Each keeps
/// its content under another name.
pub fn take_damaged(directory: &Path) -> Vec<Damaged> {
    let mut damaged = of_directory(directory, |left| std::mem::take(&mut left.damaged));
    // Another process may have found it at the same time, and renamed it.
    damaged.retain_mut(|one| {
        let name = one.file.with_extension("journal.damaged");
        match fs::rename(&one.file, &name) {
            Ok(()) => one.moved_to = Some(name),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return false,
            Err(_) => {}
        }
        true
    });
    damaged
}

/// Calls the closure with what was left behind in this directory, which is searched once.
fn of_directory<R>(directory: &Path, take: impl FnOnce(&mut LeftBehind) -> R) -> R {
    static LEFT: Mutex<BTreeMap<PathBuf, LeftBehind>> = Mutex::new(BTreeMap::new());
    let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    let left = left
        .entry(directory.to_owned())
        .or_insert_with(|| left_behind(directory));
    take(left)
}

/// Reads the journals in this directory whose processes have ended. Removes those that record no execution.
fn left_behind(directory: &Path) -> LeftBehind {
    let mut left = LeftBehind::default();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if !is_journal(&path) {
            continue;
        }
        // A file that cannot be opened is another user's, and a locked one is in use.
        let Ok(file) = File::open(&path) else { continue };
        if file.try_lock().is_err() {
            continue;
        }
        match fs::read(&path)
            .map_err(|error| error.to_string())
            .map(|bytes| read(&bytes))
        {
            Ok(Ok(None)) => _ = fs::remove_file(&path),
            Ok(Ok(Some((schedule, is_whole)))) => left.unfinished.push(Unfinished {
                schedule,
                is_whole,
                file: path,
            }),
            Ok(Err(reason)) | Err(reason) => left.damaged.push(Damaged {
                file: path,
                reason,
                moved_to: None,
            }),
        }
    }
    left.unfinished
        .sort_by(|a, b| (&a.schedule.program, &a.file).cmp(&(&b.schedule.program, &b.file)));
    left.damaged.sort_by(|a, b| a.file.cmp(&b.file));
    left
}

/// Returns `true` if the file has a name that `map` gives. Other programs have journals, too.
fn is_journal(path: &Path) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    path.extension().is_some_and(|extension| extension == "journal")
        && path
            .file_stem()
            .and_then(|stem| stem.to_str()?.split_once('-'))
            .is_some_and(|(process, number)| is_number(process) && is_number(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_journals_are_read() {
        assert!(is_journal(Path::new("a/12-3.journal")));
        for other in [
            "a/system.journal",
            "a/12-.journal",
            "a/12-3.journal.damaged",
            "a/12-3",
        ] {
            assert!(!is_journal(Path::new(other)), "{other}");
        }
    }
}
