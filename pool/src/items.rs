//! The entries of a pool, as they are kept in the server: runs, items, outcomes, workers, and what was set aside.

use crate::FORMAT;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::str::FromStr;

/// The most shares within each other. A share that is divided as often is run to its end.
const LEVELS_MAX: usize = 8;

/// The most shares of one division.
const SHARES_MAX: u32 = 64;

/// A share of a test's search: the numbers of the divisions, the outermost first. Without any, it is the whole search.
///
/// The text is that of the setting `partition`: `3/8.1/4`; that of the whole search is `whole`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ShareName(Vec<(u32, u32)>);

impl ShareName {
    /// The whole search.
    pub const WHOLE: ShareName = ShareName(Vec::new());

    /// Returns the shares into which this one is divided.
    pub fn divided(&self, into: u32) -> Vec<ShareName> {
        let share = |number| {
            let mut levels = self.0.clone();
            levels.push((number, into));
            ShareName(levels)
        };
        (1..=into).map(share).collect()
    }

    /// Returns the number of a share, from 1, and the number of shares in each division, the outermost first.
    pub fn levels(&self) -> &[(u32, u32)] {
        &self.0
    }

    /// `true` if it is the whole search.
    pub fn is_whole(&self) -> bool {
        self.0.is_empty()
    }

    /// `true` if the share can be divided further.
    pub fn may_divide(&self) -> bool {
        self.0.len() < LEVELS_MAX
    }

    /// Returns the part of the search, if the shares of a division are equally large.
    pub(crate) fn part(&self) -> f64 {
        self.0.iter().map(|(_, total)| 1.0 / f64::from(*total)).product()
    }

    /// Returns the text as a part of a key.
    pub(crate) fn key(&self) -> String {
        self.to_string().replace('/', "-").replace('.', "_")
    }
}

impl fmt::Display for ShareName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_whole() {
            return f.write_str("whole");
        }
        for (at, (number, total)) in self.0.iter().enumerate() {
            let dot = if at == 0 { "" } else { "." };
            write!(f, "{dot}{number}/{total}")?;
        }
        Ok(())
    }
}

impl FromStr for ShareName {
    type Err = String;

    fn from_str(text: &str) -> Result<ShareName, String> {
        if text == "whole" {
            return Ok(ShareName::WHOLE);
        }
        let level = |level: &str| {
            let (number, total) = level.split_once('/')?;
            let (number, total): (u32, u32) = (number.parse().ok()?, total.parse().ok()?);
            (1..=total)
                .contains(&number)
                .then_some((number, total))
                .filter(|_| total <= SHARES_MAX)
        };
        let levels: Option<Vec<_>> = text.split('.').map(level).collect();
        levels
            .filter(|levels| levels.len() <= LEVELS_MAX)
            .map(ShareName)
            .ok_or_else(|| format!("{text:?} is not a share"))
    }
}

impl TryFrom<String> for ShareName {
    type Error = String;

    fn try_from(text: String) -> Result<ShareName, String> {
        text.parse()
    }
}

impl From<ShareName> for String {
    fn from(share: ShareName) -> String {
        share.to_string()
    }
}

/// A test binary that a run needs, with the identity of its contents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Binary {
    /// The package, and the target in it: `lib`, `test NAME`.
    pub package: String,
    /// The target.
    pub target: String,
    /// The identity of the code.
    pub code: String,
}

impl Binary {
    /// Returns the identity of a file's contents: its length and its checksum, as reports of shares have it.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn code_of(file: &Path) -> io::Result<String> {
        let mut file = File::open(file)?;
        let (mut hasher, mut bytes, mut buffer) = (crc32fast::Hasher::new(), 0, vec![0; 1 << 20]);
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                return Ok(format!("{bytes}-{:08x}", hasher.finalize()));
            }
            hasher.update(&buffer[..read]);
            bytes += read;
        }
    }
}

/// A test of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestEntry {
    /// The test's path with its crate.
    pub program: String,
    /// The number of its binary in the run.
    pub binary: usize,
    /// `true` if what is left of the test is dropped when a share of it has failed.
    pub stops_at_failure: bool,
}

/// A run: tests to explore, with their code and settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The format.
    pub format: String,
    /// The name of the run.
    pub id: String,
    /// The version of intermezzo.
    pub version: String,
    /// Seconds since 1970 at which it was submitted.
    pub started: u64,
    /// The binaries.
    pub binaries: Vec<Binary>,
    /// Names and values of the settings that are given to all tests.
    pub settings: Vec<(String, String)>,
    /// The identity of the settings file of the project.
    pub config: String,
    /// Milliseconds after which a share is divided if workers have nothing to do.
    pub split_after_ms: u64,
    /// The tests.
    pub tests: Vec<TestEntry>,
}

/// An item of work: a share of a test of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// The format.
    pub format: String,
    /// The run.
    pub run: String,
    /// The number of the test in the run.
    pub test: usize,
    /// The share.
    pub share: ShareName,
}

impl Item {
    /// Returns an item.
    pub fn new(run: &Run, test: usize, share: ShareName) -> Item {
        Item {
            format: FORMAT.into(),
            run: run.id.clone(),
            test,
            share,
        }
    }

    /// Returns the key of the item's result.
    pub(crate) fn key(&self) -> String {
        format!("result.{}.{}.{}", self.run, self.test, self.share.key())
    }

    /// Returns the item in a message.
    ///
    /// # Errors
    /// If the message is not an item of this run. The text says why.
    pub(crate) fn read(bytes: &[u8], run: &Run) -> Result<Item, String> {
        let item: Item =
            serde_json::from_slice(bytes).map_err(|error| format!("it is malformed: {error}"))?;
        if item.format != FORMAT {
            return Err(format!(
                "its format is {:?}, and not {FORMAT:?}",
                short(&item.format)
            ));
        }
        if item.run != run.id {
            return Err(format!("it is of another run, {:?}", short(&item.run)));
        }
        if item.test >= run.tests.len() {
            return Err(format!("the run has no test {}", item.test));
        }
        Ok(item)
    }
}

/// Returns the beginning of a text that may be anything.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

/// The result of an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// A report, in the object of this name.
    Report {
        /// The object.
        object: String,
        /// `true` if it fails.
        fails: bool,
        /// The number of executions.
        executions: u64,
        /// Seconds of the process.
        seconds: f64,
        /// The first line of each finding.
        findings: Vec<String>,
        /// The worker.
        worker: String,
    },
    /// It was divided into this number of shares.
    Split {
        /// The number of shares.
        into: u32,
        /// The worker.
        worker: String,
    },
    /// It was not run, because another share of the test has failed.
    Dropped,
    /// There is no report, for this reason.
    Trouble {
        /// The reason.
        why: String,
        /// The worker.
        worker: String,
    },
}

impl Outcome {
    /// Returns the outcome in an entry.
    ///
    /// # Errors
    /// If it is not an item. The text says why.
    pub(crate) fn read(bytes: &[u8]) -> Result<Outcome, String> {
        match serde_json::from_slice(bytes) {
            Ok(Outcome::Split { into, .. }) if !(2..=SHARES_MAX).contains(&into) => {
                Err(format!("a share is not divided into {into}"))
            }
            Ok(outcome) => Ok(outcome),
            Err(error) => Err(format!("it is malformed: {error}")),
        }
    }
}

/// A worker, as it says itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerEntry {
    /// Its name: the host and the process.
    pub name: String,
    /// The item that it runs.
    pub item: Option<Item>,
    /// The number of items whose result it gave.
    pub done: u64,
    /// The reason why it takes no part in a run, for each run.
    pub refuses: Vec<(String, String)>,
}

/// Something that was set aside, because it is nothing that a pool has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aside {
    /// The place: an item's message, or a result's key.
    pub place: String,
    /// The reason.
    pub why: String,
    /// The beginning of its contents.
    pub begins: String,
}

/// Returns an entry as bytes.
pub(crate) fn bytes(entry: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(entry).expect("its keys are text, and its numbers are finite")
}

/// Returns an entry that was read.
pub(crate) fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("it is malformed: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        Run {
            format: FORMAT.into(),
            id: "r".into(),
            version: "1".into(),
            started: 0,
            binaries: Vec::new(),
            settings: Vec::new(),
            config: String::new(),
            split_after_ms: 0,
            tests: vec![TestEntry {
                program: "a::b".into(),
                binary: 0,
                stops_at_failure: true,
            }],
        }
    }

    #[test]
    fn shares_are_read_as_they_are_shown() {
        for text in ["whole", "1/2", "3/8.1/4"] {
            assert_eq!(text.parse::<ShareName>().unwrap().to_string(), text);
        }
        for text in ["", "0/2", "3/2", "1/65", "1/2.", "a/b", &["1/2"; 9].join(".")] {
            assert!(text.parse::<ShareName>().is_err(), "{text}");
        }
        let parts = ShareName::WHOLE.divided(2)[1].divided(3);
        assert_eq!(parts[2].to_string(), "2/2.3/3");
        assert_eq!(parts[2].key(), "2-2_3-3");
    }

    #[test]
    fn items_are_read_back_and_others_are_refused() {
        let run = run();
        let item = Item::new(&run, 0, ShareName::WHOLE.divided(3).remove(0));
        let good = bytes(&item);
        assert_eq!(Item::read(&good, &run), Ok(item.clone()));
        let with = |from: &str, to: &str| {
            let text = String::from_utf8(good.clone()).unwrap().replace(from, to);
            Item::read(text.as_bytes(), &run).unwrap_err()
        };
        assert!(with("pool/1", "pool/2").contains("format"));
        assert!(with("\"r\"", "\"s\"").contains("another run"));
        assert!(with("\"test\":0", "\"test\":1").contains("no test 1"));
        assert!(with("1/3", "4/3").contains("not a share"));
        assert!(with("{", "").contains("malformed"));
        for length in 0..good.len() {
            assert!(Item::read(&good[..length], &run).is_err());
        }
    }

    #[test]
    fn outcomes_are_read_back() {
        let split = Outcome::Split {
            into: 4,
            worker: "w".into(),
        };
        assert_eq!(Outcome::read(&bytes(&split)), Ok(split));
        assert!(Outcome::read(br#"{"kind":"split","into":1,"worker":"w"}"#).is_err());
        assert!(Outcome::read(b"{}").is_err());
    }
}
