//! The memo: the iRoots that all explorations that share it have exposed, or tried without success. Maple, section 5.
//!
//! It is kept across runs, inputs and processes. An iRoot is identified by its places, and is valid as long as the text
//! of their source files does not change ([`stamp`]). So tests that exercise the same code share what they know of it.
//! An exploration that found an error adds nothing more, so that the next one finds the error again.

mod contents;
mod error;
mod stamp;
mod stored;

pub use error::{MemoError, MemoProblem};
pub use stored::{MergedMemo, StoredIRoot, StoredMemo, StoredTest};

use super::access::{Places, file as file_of};
use super::iroot::IRoot;
use contents::Test;
use intermezzo_engine::store::Format;
use stamp::Stamps;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

const FORMAT: Format = Format::new("intermezzo-memo", 1);

/// The maximum time to wait for other processes that hold the lock. It is far longer than reading and writing takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// The contents of a memo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Memo {
    /// The stamps of source files.
    files: BTreeMap<String, String>,
    /// The iRoots exposed by an execution that did not fail.
    pub(super) exposed: BTreeSet<IRoot>,
    /// The iRoots that were tried but never exposed, with their numbers of attempts.
    pub(super) tried: BTreeMap<IRoot, u32>,
    /// The numbers of executions of each test.
    tests: BTreeMap<String, Test>,
}

/// The additions of an exploration to a memo.
pub(super) struct News<'a> {
    pub(super) program: &'a str,
    /// `true` if the exploration has ended.
    pub(super) over: bool,
    pub(super) executions: u64,
    pub(super) attempts: u64,
    pub(super) exposed: &'a BTreeSet<IRoot>,
    /// The failed attempts.
    pub(super) tried: &'a BTreeMap<IRoot, u32>,
}

/// The file of a memo.
#[derive(Debug)]
pub(super) struct MemoFile {
    path: PathBuf,
    stamps: Stamps,
}

impl MemoFile {
    /// Opens the memo in this file. Returns its contents, as far as they apply to the current source files. They are
    /// empty if there is no file.
    ///
    /// # Errors
    /// It cannot be read, or is not a memo.
    pub(super) fn open(path: &Path, places: &mut Places) -> Result<(MemoFile, Memo), MemoError> {
        let mut file = MemoFile {
            path: path.to_owned(),
            stamps: Stamps::default(),
        };
        let read = FORMAT.lock(path, PATIENCE).and_then(|locked| locked.read());
        let memo = read
            .map_err(MemoProblem::of_file)
            .and_then(|text| contents::parse(text.as_deref(), places));
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

    /// Adds the news to the current contents of the file, which other processes may have changed.
    ///
    /// # Errors
    /// It cannot be read or written, or is no longer a memo. Then it is not changed.
    pub(super) fn add(&mut self, places: &mut Places, news: &News<'_>) -> Result<(), MemoError> {
        let MemoFile { path, stamps } = self;
        let added = (|| {
            let of_file = MemoProblem::of_file;
            let locked = FORMAT.lock(path, PATIENCE).map_err(of_file)?;
            let text = locked.read().map_err(of_file)?;
            let mut memo = contents::parse(text.as_deref(), places)?;
            memo.take(news, places, stamps);
            locked.write(&contents::text(&memo, places)).map_err(of_file)
        })();
        added.map_err(|problem| self.refused(problem))
    }
}

impl Memo {
    /// Drops the iRoots that have a place in these source files.
    fn drop_files(&mut self, files: &[String], places: &Places) {
        let outdated = |iroot: &IRoot| {
            let mut of = iroot.places().iter().map(|&place| file_of(places.name(place)));
            of.any(|file| files.iter().any(|outdated| outdated == file))
        };
        self.exposed.retain(|iroot| !outdated(iroot));
        self.tried.retain(|iroot, _| !outdated(iroot));
        self.files.retain(|file, _| !files.contains(file));
    }

    /// Adds the news. Drops data about source files that have changed since they were added.
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
        // The file may contain any numbers.
        test.explorations = test.explorations.saturating_add(u64::from(news.over));
        test.executions = test.executions.saturating_add(news.executions);
        test.attempts = test.attempts.saturating_add(news.attempts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source file, a memo next to it, and an exploration that exposed one iRoot there and tried another.
    struct Scene {
        directory: PathBuf,
        places: Places,
        exposed: IRoot,
        tried: IRoot,
    }

    impl Scene {
        fn new(name: &str) -> Scene {
            let directory =
                std::env::temp_dir().join(format!("intermezzo-stale-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&directory).unwrap();
            let mut places = Places::default();
            let mut place =
                |file: &str, at: &str| places.number(format!("{}/{file}:{at}", directory.display()));
            let (a, b, c) = (
                place("a.rs", "1:1 store"),
                place("a.rs", "2:1 load"),
                place("b.rs", "1:1 update"),
            );
            Scene {
                exposed: IRoot::new(1, &[a, b]).unwrap(),
                tried: IRoot::new(1, &[a, c]).unwrap(),
                directory,
                places,
            }
        }

        fn write(&self, file: &str, text: &str) {
            std::fs::write(self.directory.join(file), text).unwrap();
        }

        fn add(&mut self) {
            let (mut file, _) = self.open();
            let news = News {
                program: "test",
                over: true,
                executions: 5,
                attempts: 3,
                exposed: &BTreeSet::from([self.exposed]),
                tried: &BTreeMap::from([(self.tried, 2)]),
            };
            file.add(&mut self.places, &news).unwrap();
        }

        fn open(&mut self) -> (MemoFile, Memo) {
            MemoFile::open(&self.directory.join("memo"), &mut self.places).unwrap()
        }
    }

    impl Drop for Scene {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.directory);
        }
    }

    #[test]
    fn what_is_known_of_a_source_holds_until_it_changes() {
        let mut scene = Scene::new("changes");
        scene.write("a.rs", "fn a() {}");
        scene.write("b.rs", "fn b() {}");
        scene.add();
        scene.add();
        let (_, memo) = scene.open();
        assert_eq!(memo.exposed, BTreeSet::from([scene.exposed]));
        assert_eq!(memo.tried, BTreeMap::from([(scene.tried, 4)]));
        assert_eq!(
            memo.tests["test"],
            Test {
                explorations: 2,
                executions: 10,
                attempts: 6
            }
        );
        scene.write("b.rs", "fn c() {}");
        let (_, memo) = scene.open();
        assert_eq!((memo.exposed.len(), memo.tried.len()), (1, 0));
        scene.write("b.rs", "fn b() {}");
        assert_eq!(scene.open().1.tried.len(), 1, "as it was");
        scene.write("a.rs", "fn a() { }");
        let (_, memo) = scene.open();
        assert_eq!((memo.exposed.len(), memo.tried.len()), (0, 0));
        // An addition for the new text drops the data of the old one.
        scene.add();
        let (_, memo) = scene.open();
        assert_eq!(memo.tried, BTreeMap::from([(scene.tried, 2)]));
    }

    #[test]
    fn what_was_exposed_was_not_tried_in_vain() {
        let mut scene = Scene::new("exposed");
        scene.write("a.rs", "");
        scene.write("b.rs", "");
        scene.add();
        (scene.exposed, scene.tried) = (scene.tried, scene.exposed);
        scene.add();
        let (_, memo) = scene.open();
        assert_eq!((memo.exposed.len(), memo.tried.len()), (2, 0));
    }
}
