//! The schedule file: a schedule to read, archive and compare.
//!
//! ```json
//! {
//!   "format": "intermezzo-schedule/1",
//!   "program": "queue::tests::no_value_is_lost",
//!   "environment": {
//!     "spurious_wakeups": 1,
//!     ...
//!   },
//!   "finding": {
//!     "kind": "deadlock",
//!     "message": "..."
//!   },
//!   "steps": 20000,
//!   "choices": [
//!     {"kind":"task","of":3,"taken":1,"preempts":true}
//!   ],
//!   "checksum": "9ae0daaf"
//! }
//! ```
//!
//! Version 2 is written if version 1 cannot express the schedule, and version 3 if neither can. The additional members
//! follow `program`, unless they are empty: `"package": "queue"`, `"target": "lib"`, `"monitors":
//! "data-race;leak:rc=false"` and `"warm_up": 1`.
//!
//! `finding` may be absent. These members may follow `steps`, each only if it does not have its usual value:
//!
//! - `"fair_yields": 2`, if not every yield counts;
//! - `"all_listed": true`, if tasks that fairness held back counted as alternatives;
//! - `"awaits": false`, if no task is parked;
//! - `"known_loops": ["00c0ffee00c0ffee"]`, if loops were assumed to wait, each as 16 digits;
//! - `"data_points"`, in the same form: places in the source at which accesses to plain memory were schedule points;
//! - `"breakpoints": "lost-update"`, the breakpoints that were armed.
//!
//! The checksum is the CRC-32 of these members, one after the other: `program`, those of version 2, `environment`,
//! `steps`, those of the six above that are present, and `choices`. Each is taken in the form shown here, from its
//! opening quotation mark up to, but without, the comma after it. The checksum covers the values, not the text: the
//! file may be indented and wrapped freely, but the values that will be replayed must not change.
//!
//! Line and column of an error are the parser's position when it noticed the error. For a wrong member, that is after
//! the member.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::serial::DeserializeOwned;
use crate::serial::{Deserialize, Serialize};

use super::{Carrier, Choice, ChoiceKind, Schedule, ScheduleError, TestBinary, VERSION, version_number};
use crate::environment::Environment;
use crate::monitors::MonitorRequest;

const FORMAT_NAME: &str = "intermezzo-schedule";

/// The size of the largest file that is read, some four million choices. It suffices for any schedule worth reading,
/// and bounds the cost of `/dev/zero` or a wrong path.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// The part of a file that all versions of the format have in common.
#[derive(Deserialize)]
struct Header {
    format: String,
}

/// A file of a version that can be read. `format` has been checked already, by means of [`Header`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    #[serde(rename = "format")]
    _format: String,
    program: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    target: String,
    #[serde(default)]
    monitors: String,
    #[serde(default)]
    warm_up: u32,
    environment: Environment,
    #[serde(rename = "finding")]
    _finding: Option<Finding>,
    steps: u64,
    #[serde(default = "every_yield")]
    fair_yields: u32,
    #[serde(default)]
    all_listed: bool,
    #[serde(default = "parked")]
    awaits: bool,
    #[serde(default)]
    known_loops: Vec<Hash>,
    #[serde(default)]
    data_points: Vec<Hash>,
    #[serde(default)]
    breakpoints: String,
    choices: Vec<Decision>,
    checksum: String,
}

/// Returns the value for a file without `fair_yields`.
fn every_yield() -> u32 {
    1
}

/// Returns the value for a file without `awaits`.
fn parked() -> bool {
    true
}

/// The hash of a loop or a place, as digits, because not all readers of JSON support numbers of 64 bits.
#[derive(Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[derive(Clone, Copy)]
struct Hash(u64);

impl TryFrom<String> for Hash {
    type Error = String;

    fn try_from(digits: String) -> Result<Hash, String> {
        let hash = Hash(u64::from_str_radix(&digits, 16).unwrap_or_default());
        if String::from(hash) == digits {
            Ok(hash)
        } else {
            Err(format!(
                "`{digits}` is not a hash: give 16 lower-case hexadecimal digits"
            ))
        }
    }
}

impl From<Hash> for String {
    fn from(Hash(hash): Hash) -> String {
        format!("{hash:016x}")
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Finding {
    kind: String,
    message: String,
}

/// A choice, with the file's names.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Decision {
    kind: ChoiceKind,
    of: u32,
    taken: u32,
    preempts: bool,
}

impl Decision {
    fn of(choice: &Choice) -> Decision {
        let Choice {
            kind,
            preempts,
            alternatives,
            taken,
        } = *choice;
        Decision {
            kind,
            of: alternatives,
            taken,
            preempts,
        }
    }

    /// Returns the choice, which is number `number` in the file, from 1.
    fn choice(&self, number: usize) -> Result<Choice, ScheduleError> {
        let out_of_range = |field, found: u32, least, most: u32| ScheduleError::OutOfRange {
            choice: Some(number),
            field,
            found: found.into(),
            least,
            most: most.into(),
        };
        if self.of < 2 {
            return Err(out_of_range("`of`", self.of, 2, u32::MAX));
        }
        if self.taken >= self.of {
            return Err(out_of_range("`taken`", self.taken, 0, self.of - 1));
        }
        let Decision {
            kind,
            of: alternatives,
            taken,
            preempts,
        } = *self;
        Ok(Choice {
            kind,
            preempts,
            alternatives,
            taken,
        })
    }
}

/// The members that the checksum covers, as text: `program`, those of version 2, `environment`, `steps`; `fair_yields`,
/// `all_listed`, `awaits`, `known_loops`, `data_points` and `breakpoints` if they do not have their usual values; and
/// `choices`.
struct Covered {
    /// The members before the finding, which is not covered.
    before: Vec<String>,
    /// The members after it.
    behind: Vec<String>,
}

impl Covered {
    fn of(schedule: &Schedule) -> Covered {
        let choices = if schedule.choices.is_empty() {
            "[]".to_owned()
        } else {
            let lines: Vec<String> = schedule
                .choices
                .iter()
                .map(|choice| format!("    {}", compact(&Decision::of(choice))))
                .collect();
            format!("[\n{}\n  ]", lines.join(",\n"))
        };
        let hashes = |hashes: &[u64]| -> Vec<Hash> { hashes.iter().copied().map(Hash).collect() };
        let known_loops = hashes(&schedule.known_loops);
        let data_points = hashes(&schedule.data_points);
        let breakpoints = schedule.breakpoints.to_string();
        let TestBinary { package, target } = &schedule.binary;
        let monitors = MonitorRequest::list(&schedule.monitors);
        let before = [
            Some(member("program", &compact(&schedule.program))),
            (!package.is_empty()).then(|| member("package", &compact(package))),
            (!target.is_empty()).then(|| member("target", &compact(target))),
            (!monitors.is_empty()).then(|| member("monitors", &compact(&monitors))),
            (schedule.warm_up > 0).then(|| member("warm_up", &compact(&schedule.warm_up))),
            Some(member("environment", &indented(&schedule.environment))),
        ];
        let behind = [
            Some(member("steps", &compact(&schedule.steps))),
            (schedule.fair_yields != every_yield())
                .then(|| member("fair_yields", &compact(&schedule.fair_yields))),
            schedule.all_listed.then(|| member("all_listed", "true")),
            (schedule.awaits != parked()).then(|| member("awaits", &compact(&schedule.awaits))),
            (!known_loops.is_empty()).then(|| member("known_loops", &compact(&known_loops))),
            (!data_points.is_empty()).then(|| member("data_points", &compact(&data_points))),
            (!breakpoints.is_empty()).then(|| member("breakpoints", &compact(&breakpoints))),
            Some(member("choices", &choices)),
        ];
        Covered {
            before: before.into_iter().flatten().collect(),
            behind: behind.into_iter().flatten().collect(),
        }
    }

    fn checksum(&self) -> String {
        let mut hasher = crc32fast::Hasher::new();
        for member in self.before.iter().chain(&self.behind) {
            hasher.update(member.as_bytes());
        }
        format!("{:08x}", hasher.finalize())
    }
}

pub(super) fn write(schedule: &Schedule, finding: Option<(&str, &str)>) -> String {
    let covered = Covered::of(schedule);
    let format = member(
        "format",
        &compact(&format!("{FORMAT_NAME}/{}", schedule.version())),
    );
    let finding = finding.map(|(kind, message)| {
        let finding = Finding {
            kind: kind.to_owned(),
            message: message.to_owned(),
        };
        member("finding", &indented(&finding))
    });
    let checksum = member("checksum", &compact(&covered.checksum()));
    let members: Vec<String> = std::iter::once(format)
        .chain(covered.before)
        .chain(finding)
        .chain(covered.behind)
        .chain([checksum])
        .map(|member| format!("  {member}"))
        .collect();
    format!("{{\n{}\n}}\n", members.join(",\n"))
}

pub(super) fn parse(text: &str) -> Result<Schedule, ScheduleError> {
    let Header { format } = from_str(text)?;
    let version = check_format(&format)?;

    let contents: Contents = from_str(text)?;
    let choices = contents
        .choices
        .iter()
        .enumerate()
        .map(|(index, decision)| decision.choice(index + 1));
    let schedule = Schedule {
        program: contents.program,
        binary: TestBinary {
            package: contents.package,
            target: contents.target,
        },
        monitors: MonitorRequest::parse(&contents.monitors).map_err(ScheduleError::Monitors)?,
        warm_up: contents.warm_up,
        environment: contents.environment,
        steps: contents.steps,
        fair_yields: contents.fair_yields,
        all_listed: contents.all_listed,
        awaits: contents.awaits,
        known_loops: contents.known_loops.iter().map(|known| known.0).collect(),
        data_points: contents.data_points.iter().map(|point| point.0).collect(),
        breakpoints: contents.breakpoints.parse().map_err(ScheduleError::Breakpoints)?,
        choices: choices.collect::<Result<_, _>>()?,
    };

    let needed = Covered::of(&schedule).checksum();
    if contents.checksum == needed {
        return schedule.of_version(version, Carrier::File);
    }
    Err(ScheduleError::ChecksumMismatch {
        carrier: Carrier::File,
        found: contents.checksum,
        needed,
    })
}

pub(super) fn parse_bytes(bytes: &[u8]) -> Result<Schedule, ScheduleError> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let byte = error.valid_up_to();
        ScheduleError::NotText {
            carrier: Carrier::File,
            byte,
        }
    })?;
    parse(text)
}

pub(super) fn read(path: &Path) -> Result<Schedule, ScheduleError> {
    let schedule = read_bytes(path).and_then(|bytes| parse_bytes(&bytes));
    schedule.map_err(|error| ScheduleError::InFile {
        path: path.to_owned(),
        error: Box::new(error),
    })
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, ScheduleError> {
    let unreadable = |error: io::Error| ScheduleError::Unreadable {
        reason: error.to_string(),
    };
    let too_large = ScheduleError::TooLarge {
        bytes_max: FILE_BYTES_MAX,
    };
    let file = File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.len() > FILE_BYTES_MAX {
        return Err(too_large);
    }
    // A device has length 0, but no end.
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        Err(too_large)
    } else {
        Ok(bytes)
    }
}

/// Checks that `format` names this format and a known version, and returns the version.
fn check_format(format: &str) -> Result<u32, ScheduleError> {
    let digits = format
        .strip_prefix(FORMAT_NAME)
        .and_then(|rest| rest.strip_prefix('/'));
    match digits.and_then(version_number) {
        Some(version @ 1..=VERSION) => Ok(version),
        Some(found) => Err(ScheduleError::OtherVersion {
            carrier: Carrier::File,
            found,
            needed: VERSION,
        }),
        None => Err(ScheduleError::OtherFormat {
            found: format.to_owned(),
        }),
    }
}

#[cfg(not(feature = "files"))]
fn from_str<T: DeserializeOwned>(_: &str) -> Result<T, ScheduleError> {
    Err(ScheduleError::NoFiles)
}

#[cfg(feature = "files")]
fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, ScheduleError> {
    crate::serial::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let place = format!(" at line {line} column {column}");
        let reason = message.strip_suffix(&place).unwrap_or(&message).to_owned();
        if error.is_data() {
            ScheduleError::NotASchedule { line, column, reason }
        } else {
            ScheduleError::NotJson { line, column, reason }
        }
    })
}

fn member(key: &str, value: &str) -> String {
    format!("\"{key}\": {value}")
}

/// Returns `value` as one line of JSON.
fn compact<T: Serialize + ?Sized>(value: &T) -> String {
    crate::serial::to_string(value).expect("text, numbers and flags are JSON")
}

/// Returns `value` as several lines of JSON, indented as a member's value. A JSON string contains no line breaks.
fn indented<T: Serialize>(value: &T) -> String {
    let value = crate::serial::to_string_pretty(value).expect("text, numbers and flags are JSON");
    value.replace('\n', "\n  ")
}
