//! A memo outside of an exploration: it can be listed, merged with other memos, and iRoots can be removed from it.
//!
//! Maple has tools that show and change its databases. Unlike in an exploration, source files are not looked for, so
//! iRoots of an older text of a file are listed, too, until an exploration drops them.

use super::super::access::{Places, file as file_of};
use super::super::iroot::{IRoot, IRootId};
use super::contents::{self, Test};
use super::{FORMAT, Memo, MemoError, MemoProblem, PATIENCE};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The contents of a memo's file.
///
/// ```no_run
/// use intermezzo_search::classic::maple::StoredMemo;
///
/// let memo = StoredMemo::read("iroots.memo".as_ref())?;
/// let exposed = memo.iroots.iter().filter(|iroot| iroot.exposed).count();
/// # Ok::<(), intermezzo_search::classic::maple::MemoError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMemo {
    /// The iRoots, by idiom and name.
    pub iroots: Vec<StoredIRoot>,
    /// The executions of each test that added to it.
    pub tests: BTreeMap<String, StoredTest>,
}

/// An iRoot of a memo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredIRoot {
    /// Its identity, as in `maple(target=ID)`.
    pub id: IRootId,
    /// Its name: the idiom and the places.
    pub name: String,
    /// `true` if an execution has exposed it.
    pub exposed: bool,
    /// The number of attempts that did not expose it; 0 if it was exposed.
    pub attempts: u32,
}

impl StoredIRoot {
    fn of(iroot: &IRoot, memo: &Memo, places: &Places) -> StoredIRoot {
        StoredIRoot {
            id: iroot.id(places),
            name: iroot.name(places),
            exposed: memo.exposed.contains(iroot),
            attempts: memo.tried.get(iroot).copied().unwrap_or(0),
        }
    }
}

/// The executions of a test that added to a memo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredTest {
    /// The number of explorations that have ended.
    pub explorations: u64,
    /// The number of executions.
    pub executions: u64,
    /// The number of executions that tried to expose an iRoot.
    pub attempts: u64,
}

/// The result of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergedMemo {
    /// The number of iRoots afterwards.
    pub iroots: usize,
    /// The source files of which another memo had a different text. Its iRoots in these files are left out.
    pub left_out: BTreeSet<String>,
}

impl StoredMemo {
    /// Reads the memo in this file.
    ///
    /// # Errors
    /// There is no memo, or it cannot be read.
    pub fn read(path: &Path) -> Result<StoredMemo, MemoError> {
        let mut places = Places::default();
        let memo = read(path, &mut places)?;
        let mut all: Vec<&IRoot> = memo.exposed.iter().chain(memo.tried.keys()).collect();
        all.sort_by_key(|iroot| (iroot.idiom, iroot.name(&places)));
        let of_test = |(name, test): (&String, &Test)| {
            let Test {
                explorations,
                executions,
                attempts,
            } = *test;
            let test = StoredTest {
                explorations,
                executions,
                attempts,
            };
            (name.clone(), test)
        };
        Ok(StoredMemo {
            iroots: all
                .into_iter()
                .map(|iroot| StoredIRoot::of(iroot, &memo, &places))
                .collect(),
            tests: memo.tests.iter().map(of_test).collect(),
        })
    }

    /// Adds memos to the one in the file `into`, which is created if it does not exist. Attempts are added up.
    ///
    /// # Errors
    /// One of them cannot be read, or `into` cannot be written. Then it is not changed.
    pub fn merge(into: &Path, others: &[PathBuf]) -> Result<MergedMemo, MemoError> {
        let mut places = Places::default();
        let read = others.iter().map(|path| read(path, &mut places));
        let others: Vec<Memo> = read.collect::<Result<_, _>>()?;
        change(into, &mut places, |memo, places| {
            let mut merged = MergedMemo::default();
            for other in others {
                merged.left_out.extend(memo.join(other, places));
            }
            merged.iroots = memo.exposed.len() + memo.tried.len();
            merged
        })
    }

    /// Removes the iRoots for which `is_forgotten` returns `true` from the memo in this file. Returns their number.
    ///
    /// # Errors
    /// There is no memo, or it cannot be read or written.
    pub fn forget(path: &Path, is_forgotten: impl Fn(&StoredIRoot) -> bool) -> Result<usize, MemoError> {
        let mut places = Places::default();
        read(path, &mut places)?;
        change(path, &mut places, |memo, places| {
            let all: Vec<IRoot> = memo.exposed.iter().chain(memo.tried.keys()).copied().collect();
            let forgotten = |iroot: &&IRoot| is_forgotten(&StoredIRoot::of(iroot, memo, places));
            let forgotten: BTreeSet<IRoot> = all.iter().filter(forgotten).copied().collect();
            memo.exposed.retain(|iroot| !forgotten.contains(iroot));
            memo.tried.retain(|iroot, _| !forgotten.contains(iroot));
            memo.drop_unused_files(places);
            forgotten.len()
        })
    }
}

fn refused(path: &Path, problem: MemoProblem) -> MemoError {
    MemoError {
        path: path.to_owned(),
        problem,
    }
}

/// Reads a memo, whose file has to exist.
fn read(path: &Path, places: &mut Places) -> Result<Memo, MemoError> {
    let missing = || MemoProblem::Io {
        doing: "read",
        reason: "there is no such file".into(),
    };
    let text = FORMAT.read(path).map_err(MemoProblem::of_file);
    text.and_then(|text| contents::parse(Some(&text.ok_or_else(missing)?), places))
        .map_err(|problem| refused(path, problem))
}

/// Changes the memo in a file, which other processes may read and write at the same time.
fn change<R>(
    path: &Path,
    places: &mut Places,
    change: impl FnOnce(&mut Memo, &Places) -> R,
) -> Result<R, MemoError> {
    let changed = (|| {
        let of_file = MemoProblem::of_file;
        let locked = FORMAT.lock(path, PATIENCE).map_err(of_file)?;
        let text = locked.read().map_err(of_file)?;
        let mut memo = contents::parse(text.as_deref(), places)?;
        let result = change(&mut memo, places);
        locked.write(&contents::text(&memo, places)).map_err(of_file)?;
        Ok(result)
    })();
    changed.map_err(|problem| refused(path, problem))
}

impl Memo {
    /// Adds another memo. Returns the source files of which the other one has a different text.
    fn join(&mut self, mut other: Memo, places: &Places) -> Vec<String> {
        let is_other = |(file, stamp): (&String, &String)| {
            let differs = self.files.get(file).is_some_and(|known| known != stamp);
            differs.then(|| file.clone())
        };
        let others: Vec<String> = other.files.iter().filter_map(is_other).collect();
        other.drop_files(&others, places);
        self.files.extend(other.files);
        self.exposed.extend(other.exposed);
        for (iroot, times) in other.tried {
            let tried = self.tried.entry(iroot).or_default();
            *tried = tried.saturating_add(times);
        }
        let exposed = &self.exposed;
        self.tried.retain(|iroot, _| !exposed.contains(iroot));
        for (name, of_other) in other.tests {
            let test = self.tests.entry(name).or_default();
            test.explorations = test.explorations.saturating_add(of_other.explorations);
            test.executions = test.executions.saturating_add(of_other.executions);
            test.attempts = test.attempts.saturating_add(of_other.attempts);
        }
        others
    }

    /// Drops the stamps of source files in which no iRoot has a place.
    fn drop_unused_files(&mut self, places: &Places) {
        let all = self.exposed.iter().chain(self.tried.keys());
        let places_used = all.flat_map(|iroot| iroot.places());
        let used: BTreeSet<&str> = places_used.map(|&place| file_of(places.name(place))).collect();
        self.files.retain(|file, _| used.contains(file.as_str()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a memo: a stamp for the file `a.rs`, and iRoots of idiom 1 between two of its lines, with the number of
    /// attempts, or `None` if they are exposed.
    fn write(path: &Path, stamp: &str, iroots: &[(u32, u32, Option<u32>)]) {
        let mut places = Places::default();
        let numbers: Vec<u32> = (0..5)
            .map(|line| places.number(format!("a.rs:{line}:1 load")))
            .collect();
        change(path, &mut places, |memo, _| {
            memo.files.insert("a.rs".into(), stamp.into());
            for &(a, b, attempts) in iroots {
                let iroot = IRoot::new(1, &[numbers[a as usize], numbers[b as usize]]).unwrap();
                match attempts {
                    None => assert!(memo.exposed.insert(iroot)),
                    Some(attempts) => assert_eq!(memo.tried.insert(iroot, attempts), None),
                }
            }
            memo.tests.entry("test".into()).or_default().executions += 10;
        })
        .unwrap();
    }

    fn listed(path: &Path) -> Vec<(String, bool, u32)> {
        let memo = StoredMemo::read(path).unwrap();
        let iroot = |iroot: StoredIRoot| (iroot.name, iroot.exposed, iroot.attempts);
        memo.iroots.into_iter().map(iroot).collect()
    }

    fn name(a: u32, b: u32) -> String {
        format!("1: a.rs:{a}:1 load => a.rs:{b}:1 load")
    }

    #[test]
    fn memos_are_listed_merged_and_forgotten() {
        let directory = std::env::temp_dir().join(format!("intermezzo-stored-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = |name: &str| directory.join(name);
        let (one, two, old, all) = (path("one"), path("two"), path("old"), path("all"));
        write(
            &one,
            "source 1",
            &[(1, 2, None), (2, 1, Some(2)), (3, 4, Some(1))],
        );
        write(&two, "source 1", &[(2, 1, Some(3)), (3, 4, None)]);
        write(&old, "source 2", &[(0, 1, None)]);
        let merged = StoredMemo::merge(&all, &[one.clone(), two, old]).unwrap();
        assert_eq!(
            (merged.iroots, merged.left_out),
            (3, BTreeSet::from(["a.rs".into()]))
        );
        let merged = [
            (name(1, 2), true, 0),
            (name(2, 1), false, 5),
            (name(3, 4), true, 0),
        ];
        assert_eq!(listed(&all), merged);
        assert_eq!(StoredMemo::read(&all).unwrap().tests["test"].executions, 30);

        let forgotten = StoredMemo::forget(&all, |iroot| !iroot.exposed).unwrap();
        assert_eq!(forgotten, 1);
        assert_eq!(listed(&all), [merged[0].clone(), merged[2].clone()]);
        assert_eq!(StoredMemo::forget(&all, |_| true).unwrap(), 2);
        assert_eq!(listed(&all), []);
        // Nothing is known of the file any more, so a different text of it can be added.
        write(&all, "source 2", &[(0, 1, None)]);

        let nowhere = path("nowhere");
        assert!(
            StoredMemo::read(&nowhere)
                .unwrap_err()
                .to_string()
                .contains("no such file")
        );
        assert!(StoredMemo::merge(&one, std::slice::from_ref(&nowhere)).is_err());
        assert!(StoredMemo::forget(&nowhere, |_| true).is_err());
        assert!(!nowhere.exists());
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn identities_are_read_and_shown() {
        for text in ["1f0c93ab", "00000001"] {
            assert_eq!(text.parse::<IRootId>().unwrap().to_string(), text);
        }
        for wrong in ["", "1f0c93a", "1f0c93abc", "+f0c93ab", "1f0c93ag"] {
            assert!(
                wrong.parse::<IRootId>().unwrap_err().contains("memo show"),
                "{wrong}"
            );
        }
    }
}
