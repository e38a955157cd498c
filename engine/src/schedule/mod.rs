//! A schedule: the data that reproduce one execution, and the two forms in which it is passed on.
//!
//! A *token* (`imz1.…` to `imz3.…`) is one word to paste into a shell or a bug report. A *schedule file* is JSON to
//! read, archive and compare. Both contain a version and a checksum. So a schedule that was cut short, altered, or
//! written by an unknown version is refused with a reason, and never replayed as something else. Both are written in
//! the first version that can express the whole schedule, and all versions can be read:
//!
//! | version | contents |
//! |---|---|
//! | 1 | the program's name, the environment, the choices, and the assumptions of the execution |
//! | 2 | also the package and the target of the test, its monitors with their arguments, and executions before the search |
//! | 3 | also choices of the environment, whose bounds are for each task |
//!
//! Earlier versions also had choices of the environment. Their bounds were for the whole execution, so that later
//! operations had other choices. Such a schedule is refused.
//!
//! A schedule does not identify the code of its program. The program's name is compared, and its package and target if
//! both are known. If the code has changed, the replay shows a divergence.

mod bits;
mod choice;
mod error;
mod file;
#[cfg(test)]
mod tests;
mod token;

use std::fmt;
use std::path::Path;

use crate::environment::Environment;
use crate::monitors::MonitorRequest;
use crate::serial::{Deserialize, Serialize};
use intermezzo_breakpoint::Armings;

pub use choice::{Choice, ChoiceKind};
pub use error::{Carrier, ScheduleError};

/// Returns only the choices, as a word of ASCII without a checksum; the empty list is `"gA"`.
pub fn pack(choices: &[Choice]) -> String {
    token::pack(choices)
}

/// Returns the choices that [`pack`] was given; `None` if `pack` did not write the text.
pub fn unpack(text: &str) -> Option<Vec<Choice>> {
    token::unpack(text)
}

/// The assumptions of an execution beyond the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Premises {
    /// See [`Schedule::known_loops`].
    pub known_loops: Vec<u64>,
    /// See [`Schedule::data_points`].
    pub data_points: Vec<u64>,
    /// See [`Schedule::breakpoints`].
    pub breakpoints: Armings,
    /// See [`Schedule::all_listed`].
    pub all_listed: bool,
}

/// The package and the target that contain a test. They are needed because several tests may have the same name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct TestBinary {
    /// The package's name; empty if it is not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub package: String,
    /// The target: `lib`, `bin NAME` of a binary or an example, or `test NAME` of an integration test or a bench, by
    /// the name of its crate; `main bin NAME` or `main example NAME` of a program that is explored as a whole.
    /// `unmodified` comes before it if the test was not written for intermezzo, and `unmodified-races` if its plain
    /// memory was watched, too. Empty if it is not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub target: String,
}

impl TestBinary {
    /// The beginning of the target of a test that was not written for intermezzo.
    const UNMODIFIED: &str = "unmodified";

    /// The same if its plain memory is watched.
    const WATCHED: &str = "unmodified-races";

    /// The beginning of the target of a program, in cargo's form.
    const PROGRAM: &str = "main ";

    /// Returns the same binary, for a test that was not written for intermezzo; `watched` if its plain memory is.
    pub fn unmodified(mut self, watched: bool) -> TestBinary {
        if !self.is_unmodified() {
            let kind = if watched {
                TestBinary::WATCHED
            } else {
                TestBinary::UNMODIFIED
            };
            self.target = format!("{kind} {}", self.target);
            self.target.truncate(self.target.trim_end().len());
        }
        self
    }

    /// Returns `true` if its tests were not written for intermezzo, and their plain memory is watched.
    pub fn is_watched(&self) -> bool {
        self.target.split(' ').next() == Some(TestBinary::WATCHED)
    }

    /// Returns `true` if its tests were not written for intermezzo.
    pub fn is_unmodified(&self) -> bool {
        self.cargo_target().len() < self.target.len()
    }

    /// Returns the target in cargo's form.
    pub fn cargo_target(&self) -> &str {
        match self.target.split_once(' ').unwrap_or((&self.target, "")) {
            (TestBinary::UNMODIFIED | TestBinary::WATCHED, target) => target,
            _ => &self.target,
        }
    }

    /// Returns the same binary, for a program that is explored as a whole.
    pub fn program(mut self) -> TestBinary {
        self.target = format!("{}{}", TestBinary::PROGRAM, self.target);
        self
    }

    /// Returns `true` if a program is explored as a whole.
    pub fn is_program(&self) -> bool {
        self.cargo_program().is_some()
    }

    /// Returns the kind and the name of the target in cargo's form, if a program is explored as a whole.
    pub fn cargo_program(&self) -> Option<(&str, &str)> {
        self.cargo_target()
            .strip_prefix(TestBinary::PROGRAM)?
            .split_once(' ')
    }

    /// Returns `true` if neither is known.
    pub fn is_unknown(&self) -> bool {
        self.package.is_empty() && self.target.is_empty()
    }

    /// Returns `true` unless both are known and differ.
    fn may_be(&self, other: &TestBinary) -> bool {
        let agree = |one: &str, other: &str| one.is_empty() || other.is_empty() || one == other;
        let of_one_kind = self.target.is_empty()
            || other.target.is_empty()
            || self.is_unmodified() == other.is_unmodified();
        of_one_kind
            && agree(&self.package, &other.package)
            && agree(self.cargo_target(), other.cargo_target())
    }
}

impl fmt::Display for TestBinary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&*self.package, &*self.target) {
            ("", target) => f.write_str(target),
            (package, "") => f.write_str(package),
            (package, target) => write!(f, "{package}, {target}"),
        }
    }
}

/// Everything needed to reproduce one execution of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// Name of the program (the test) that was run.
    pub program: String,
    /// The package and the target of the test.
    pub binary: TestBinary,
    /// The monitors that the settings named, with their arguments, in the order in which they were attached.
    pub monitors: Vec<MonitorRequest>,
    /// The number of executions before the search, for what the test sets up once and keeps.
    pub warm_up: u32,
    /// The environment's possible actions in the execution.
    pub environment: Environment,
    /// The number of visible operations after which the execution was abandoned, if it had not ended. Without it, the
    /// length of an endless execution would depend on the limit at the time of the replay.
    pub steps: u64,
    /// The interval of the yields that counted for fairness: every N-th yield of a task; 1 unless set otherwise.
    pub fair_yields: u32,
    /// `true` if tasks that fairness held back were alternatives, too.
    pub all_listed: bool,
    /// `true` if tasks whose loops only waited were parked, which is the default.
    pub awaits: bool,
    /// The loops that were assumed to only wait from their first round on, as hashes of their places in the source, in
    /// ascending order. Empty unless that was set.
    pub known_loops: Vec<u64>,
    /// The places in the source at which accesses to plain memory were schedule points, as hashes, in ascending order.
    /// Empty unless that was set.
    pub data_points: Vec<u64>,
    /// The breakpoints that were armed. Empty unless that was set.
    pub breakpoints: Armings,
    /// The decisions, in the order in which they were made.
    pub choices: Vec<Choice>,
}

impl Schedule {
    /// Returns the schedule as one word of ASCII, to paste: `imz1.` to `imz3.`, and then base64url.
    ///
    /// The same schedule gives the same token, on every machine.
    ///
    /// # Panics
    ///
    /// If a choice is invalid: it has fewer than 2 alternatives, or a `taken` that is not below them.
    pub fn token(&self) -> String {
        self.assert_real();
        token::encode(self)
    }

    /// Parses a token that [`token`](Schedule::token) wrote. White space around the token is ignored.
    ///
    /// # Errors
    ///
    /// If the text is not a token, was cut or altered, or is of another version of the format.
    pub fn from_token(token: &str) -> Result<Schedule, ScheduleError> {
        token::decode(token.trim())
    }

    /// Returns the text of a schedule file: JSON, one choice per line, the same bytes on every machine.
    ///
    /// `finding` is the kind and the message of the execution's finding. It informs the reader, is not covered by the
    /// checksum, and is not read back.
    ///
    /// # Panics
    ///
    /// If a choice is invalid: it has fewer than 2 alternatives, or a `taken` that is not below them.
    #[cfg(feature = "files")]
    pub fn to_json(&self, finding: Option<(&str, &str)>) -> String {
        self.assert_real();
        file::write(self, finding)
    }

    /// Parses the text of a schedule file.
    ///
    /// # Errors
    ///
    /// If the text is not JSON, not a schedule file, of another version of the format, or was altered.
    pub fn from_json(text: &str) -> Result<Schedule, ScheduleError> {
        file::parse(text)
    }

    /// Reads the schedule file at `path`.
    ///
    /// # Errors
    ///
    /// As [`from_json`](Schedule::from_json), or if the file cannot be read, is not UTF-8, or is larger than 256 MiB.
    /// Each error names the file.
    pub fn read(path: &Path) -> Result<Schedule, ScheduleError> {
        file::read(path)
    }

    /// Parses a schedule that a user names on a command line or in `INTERMEZZO_REPLAY`: a token, or the path of a
    /// schedule file.
    ///
    /// Text that begins like a token (`imz`, digits, a dot) is read as a token. Give a file with such a name with its
    /// directory: `./imz1.json`.
    ///
    /// # Errors
    ///
    /// As [`from_token`](Schedule::from_token) or [`read`](Schedule::read).
    pub fn parse(text: &str) -> Result<Schedule, ScheduleError> {
        let word = text.trim();
        if token::looks_like_one(word) {
            token::decode(word)
        } else {
            file::read(Path::new(text))
        }
    }

    /// Returns the number of preemptions: choices of another task while the running one could have continued.
    pub fn preemptions(&self) -> u32 {
        self.choices.iter().map(|choice| choice.cost(choice.taken)).sum()
    }

    /// Returns the assumptions of the execution.
    pub fn premises(&self) -> Premises {
        Premises {
            known_loops: self.known_loops.clone(),
            data_points: self.data_points.clone(),
            breakpoints: self.breakpoints.clone(),
            all_listed: self.all_listed,
        }
    }

    /// Checks that this is a schedule of `program`.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::OtherProgram`] if it was recorded from another one.
    pub fn for_program(&self, program: &str) -> Result<(), ScheduleError> {
        self.for_test(program, &TestBinary::default())
    }

    /// Checks that this is a schedule of the test of this name, package and target, as far as they are known.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::OtherProgram`] if it was recorded from a test of another name; [`ScheduleError::OtherBinary`]
    /// if it was recorded from a test of that name elsewhere.
    pub fn for_test(&self, program: &str, binary: &TestBinary) -> Result<(), ScheduleError> {
        if self.program != program {
            return Err(ScheduleError::OtherProgram {
                wanted: program.to_owned(),
                found: self.program.clone(),
            });
        }
        if self.binary.may_be(binary) {
            return Ok(());
        }
        Err(ScheduleError::OtherBinary {
            program: program.to_owned(),
            wanted: binary.clone(),
            found: self.binary.clone(),
        })
    }

    /// Returns the first version of the formats that can express the whole schedule.
    fn version(&self) -> u32 {
        let says_more = !self.binary.is_unknown() || !self.monitors.is_empty() || self.warm_up > 0;
        match () {
            () if self.has_adversities() => 3,
            () if says_more => 2,
            () => 1,
        }
    }

    /// Returns `true` if it has choices of the environment that are bounded in each task.
    fn has_adversities(&self) -> bool {
        self.choices.iter().any(|choice| choice.kind.is_bounded_by_task())
    }

    /// Returns the schedule as read from this version of a format.
    fn of_version(self, version: u32, carrier: Carrier) -> Result<Schedule, ScheduleError> {
        if version < 3 && self.has_adversities() {
            return Err(ScheduleError::OtherBounds {
                carrier,
                found: version,
            });
        }
        if version > 2 && !self.has_adversities() {
            let needed = self.version().into();
            return Err(ScheduleError::OutOfRange {
                choice: None,
                field: "the version",
                found: version.into(),
                least: needed,
                most: needed,
            });
        }
        Ok(self)
    }

    /// Asserts that the choices are valid, because invalid ones could not be read back. The runtime records only valid
    /// choices.
    fn assert_real(&self) {
        for (index, choice) in self.choices.iter().enumerate() {
            assert!(
                choice.alternatives >= 2 && choice.taken < choice.alternatives,
                "choice {} is not a decision: {choice:?}",
                index + 1,
            );
        }
    }
}

/// The newest version of the formats.
const VERSION: u32 = 3;

/// Returns the version number in `digits`; `u32::MAX` if it is larger.
///
/// Returns `None` unless the digits are in the form of a version: decimal, without sign or leading zeros.
fn version_number(digits: &str) -> Option<u32> {
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_padded = digits.len() > 1 && digits.starts_with('0');
    // Digits alone fail to parse only if there are too many of them.
    (is_plain && !is_padded).then(|| digits.parse().unwrap_or(u32::MAX))
}
