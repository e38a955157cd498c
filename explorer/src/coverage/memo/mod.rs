//! The memo: which iRoots were exposed, or tried in vain, by all explorations that share it. Maple, section 5.
//!
//! It survives runs, inputs and processes. An iRoot goes by the places in it, and counts as long as the text of their source
//! files is the same ([`stamp`]): so tests that exercise the same code share what they know of it. An exploration that found
//! an error adds nothing more, so that it finds it again.

mod contents;
mod error;
mod file;
mod stamp;

pub use error::{MemoError, MemoProblem};

use super::access::{Places, file as file_of};
use super::iroot::IRoot;
use contents::Test;
use file::Locked;
use stamp::Stamps;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a memo says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memo {
    /// The stamps of source files.
    files: BTreeMap<String, String>,
    /// Exposed by an execution that did not fail.
    pub(super) exposed: BTreeSet<IRoot>,
    /// Never exposed, and how often that was tried.
    pub(super) tried: BTreeMap<IRoot, u32>,
    /// What was run of each test.
    tests: BTreeMap<String, Test>,
}

/// What an exploration has to add.
pub(super) struct News<'a> {
    pub(super) program: &'a str,
    /// Whether the exploration is over.
    pub(super) over: bool,
    pub(super) executions: u64,
    pub(super) attempts: u64,
    pub(super) exposed: &'a BTreeSet<IRoot>,
    /// Attempts in vain.
    pub(super) tried: &'a BTreeMap<IRoot, u32>,
}

/// The file of a memo.
#[derive(Debug)]
pub(super) struct MemoFile {
    path: PathBuf,
    stamps: Stamps,
}

impl MemoFile {
    /// The memo in that file, if it is there, and what it says of sources as they are.
    ///
    /// # Errors
    /// It cannot be read, or is none.
    pub(super) fn open(path: &Path, places: &mut Places) -> Result<(MemoFile, Memo), MemoError> {
        let mut file = MemoFile {
            path: path.to_owned(),
            stamps: Stamps::default(),
        };
        let read = Locked::new(path).and_then(|locked| locked.read());
        let memo = read.and_then(|text| contents::parse(text.as_deref(), places));
        let mut memo = memo.map_err(|problem| file.refused(problem))?;
        let outdated: Vec<String> = memo
            .files
            .iter()
            .filter(|(name, stamp)| file.stamps.of(name) != **stamp)
            .map(|(name, _)| name.clone())
            .collect();
        memo.drop_files(&outdated, places);
        Ok((file, memo))
    }

    fn refused(&self, problem: MemoProblem) -> MemoError {
        MemoError {
            path: self.path.clone(),
            problem,
        }
    }

    /// Adds what is new to what the file says now: others may have added to it meanwhile.
    ///
    /// # Errors
    /// It cannot be read or written, or is no memo any more: then it is left alone.
    pub(super) fn add(&mut self, places: &mut Places, news: &News<'_>) -> Result<(), MemoError> {
        let MemoFile { path, stamps } = self;
        let added = (|| {
            let locked = Locked::new(path)?;
            let mut memo = contents::parse(locked.read()?.as_deref(), places)?;
            memo.take(news, places, stamps);
            locked.write(&contents::text(&memo, places))
        })();
        added.map_err(|problem| self.refused(problem))
    }
}

impl Memo {
    /// Drops what lies in these source files.
    fn drop_files(&mut self, files: &[String], places: &Places) {
        let outdated = |iroot: &IRoot| {
            let mut of = iroot.places().iter().map(|&place| file_of(places.name(place)));
            of.any(|file| files.iter().any(|outdated| outdated == file))
        };
        self.exposed.retain(|iroot| !outdated(iroot));
        self.tried.retain(|iroot, _| !outdated(iroot));
        self.files.retain(|file, _| !files.contains(file));
    }

    /// Takes up what is new. What is said of source files that have changed since is dropped.
    fn take(&mut self, news: &News<'_>, places: &Places, stamps: &mut Stamps) {
        let iroots = news.exposed.iter().chain(news.tried.keys());
        let files: BTreeSet<&str> = iroots
            .flat_map(|iroot| iroot.places())
            .map(|&place| file_of(places.name(place)))
            .collect();
        let stamped: Vec<(String, String)> = files
            .into_iter()
            .map(|file| (file.to_owned(), stamps.of(file)))
            .collect();
        let changed = stamped
            .iter()
            .filter(|(file, stamp)| self.files.get(file).is_some_and(|known| known != stamp));
        let changed: Vec<String> = changed.map(|(file, _)| file.clone()).collect();
        self.drop_files(&changed, places);
        self.files.extend(stamped);
        self.exposed.extend(news.exposed);
        for (iroot, times) in news.tried {
            let tried = self.tried.entry(*iroot).or_default();
            *tried = tried.saturating_add(*times);
        }
        let exposed = &self.exposed;
        self.tried.retain(|iroot, _| !exposed.contains(iroot));
        let test = self.tests.entry(news.program.to_owned()).or_default();
        test.explorations += u64::from(news.over);
        test.executions += news.executions;
        test.attempts += news.attempts;
    }
}
