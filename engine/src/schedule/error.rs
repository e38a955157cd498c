//! Errors of refused schedules. Each says what was found, where, and what to do about it.

use super::TestBinary;
use crate::foreign::{printable, quoted};
use std::fmt;
use std::path::PathBuf;

/// The two forms in which a schedule is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// One word, `imz1.…`.
    Token,
    /// A JSON file.
    File,
}

/// The reason why a token or a schedule file was refused, or does not belong to the program.
///
/// Choices and characters are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The text does not begin like a token.
    NotAToken {
        /// The text.
        found: String,
    },
    /// The token contains a character that cannot be part of a token.
    BadCharacter {
        /// The character.
        found: char,
        /// Its position, from 1.
        position: usize,
    },
    /// The token ends before its contents do.
    Truncated {
        /// The number of bytes of contents, including the checksum.
        bytes: usize,
    },
    /// The token continues after its last choice.
    TrailingData {
        /// The number of surplus bytes.
        bytes: usize,
    },
    /// The contents do not match the checksum.
    ChecksumMismatch {
        /// The form of the schedule.
        carrier: Carrier,
        /// The checksum in the text.
        found: String,
        /// The checksum of the contents.
        needed: String,
    },
    /// The schedule is of another version of the format, newer or older.
    OtherVersion {
        /// The form of the schedule.
        carrier: Carrier,
        /// The version found (`u32::MAX` if larger).
        found: u32,
        /// The version that can be read.
        needed: u32,
    },
    /// The schedule has choices of the environment, and is of a version in which their bounds were for the whole
    /// execution.
    OtherBounds {
        /// The form of the schedule.
        carrier: Carrier,
        /// The version found.
        found: u32,
    },
    /// A number is outside its bounds.
    OutOfRange {
        /// The choice, from 1; `None` for the part before the choices.
        choice: Option<usize>,
        /// The meaning of the number.
        field: &'static str,
        /// The number.
        found: u64,
        /// The smallest valid number.
        least: u64,
        /// The largest valid number.
        most: u64,
    },
    /// A number of a token is longer than any number can be.
    Overlong {
        /// The byte of the contents at which it begins, from 0.
        byte: usize,
    },
    /// There are bytes that are not UTF-8.
    NotText {
        /// The form of the schedule.
        carrier: Carrier,
        /// The first such byte of the file, or of the token's program name, from 0.
        byte: usize,
    },
    /// The schedule is of another program.
    OtherProgram {
        /// The program to be run.
        wanted: String,
        /// The program from which the schedule was recorded.
        found: String,
    },
    /// The schedule is of a test of that name in another package or target.
    OtherBinary {
        /// The test's name.
        program: String,
        /// The package and target of the test to be run.
        wanted: TestBinary,
        /// The package and target of the test from which the schedule was recorded.
        found: TestBinary,
    },
    /// Its list of monitors is malformed: a later version wrote it.
    Monitors(String),
    /// The file cannot be opened or read.
    Unreadable {
        /// The operating system's reason.
        reason: String,
    },
    /// The file is larger than any schedule file.
    TooLarge {
        /// The largest size that is read, in bytes.
        bytes_max: u64,
    },
    /// Files are not read, because the feature `files` is off.
    NoFiles,
    /// The file is not JSON.
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1; 0 if the line is empty.
        column: usize,
        /// The parser's message.
        reason: String,
    },
    /// The file is JSON, but not a schedule.
    NotASchedule {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1; 0 if the line is empty.
        column: usize,
        /// The error there.
        reason: String,
    },
    /// The file is of another format altogether, such as a report.
    OtherFormat {
        /// Its `format`.
        found: String,
    },
    /// Its list of armed breakpoints is malformed: a later version wrote it.
    Breakpoints(intermezzo_breakpoint::ArmError),
    /// An error in a file that was read by its path.
    InFile {
        /// The file.
        path: PathBuf,
        /// The error.
        error: Box<ScheduleError>,
    },
}

impl std::error::Error for ScheduleError {}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScheduleError::NotAToken { found } => {
                let found = quoted(found);
                write!(
                    f,
                    "{found} is not a schedule token: those begin with `imz1.`, `imz2.` or `imz3.`; copy the whole token again"
                )
            }
            ScheduleError::Breakpoints(error) => {
                write!(f, "{error}; replay it with the version that recorded it")
            }
            ScheduleError::BadCharacter { found, position } => write!(
                f,
                "character {position} of the token is {found:?}, which is in no token: \
                 copy the whole token again, without line breaks"
            ),
            ScheduleError::Truncated { bytes } => write!(
                f,
                "the token ends too early, after {bytes} bytes of contents: \
                 a part of it is missing or altered; copy the whole token again"
            ),
            ScheduleError::TrailingData { bytes } => write!(
                f,
                "the token goes on for {bytes} bytes after its last choice: \
                 something was added or altered; copy the token alone again"
            ),
            ScheduleError::ChecksumMismatch {
                carrier: Carrier::Token,
                found,
                needed,
            } => {
                let found = quoted(found);
                write!(
                    f,
                    "the token's contents do not fit its checksum ({found}, contents give \"{needed}\"): "
                )?;
                write!(
                    f,
                    "a part of it is altered or missing; copy the whole token again"
                )
            }
            ScheduleError::ChecksumMismatch {
                carrier: Carrier::File,
                found,
                needed,
            } => {
                let found = quoted(found);
                write!(
                    f,
                    "the contents do not fit the checksum ({found}, contents give \"{needed}\"): "
                )?;
                write!(f, "take the file from its source again; ")?;
                write!(
                    f,
                    "if it was edited on purpose, write \"{needed}\" as its checksum"
                )
            }
            ScheduleError::OtherVersion {
                carrier,
                found,
                needed,
            } => {
                let carrier = match carrier {
                    Carrier::Token => "token",
                    Carrier::File => "file",
                };
                write!(
                    f,
                    "the {carrier} is of version {found} of the format, version {needed} or before is needed: "
                )?;
                if found > needed {
                    write!(f, "replay it with a newer intermezzo")
                } else {
                    write!(
                        f,
                        "replay it with the intermezzo that wrote it, or record it again"
                    )
                }
            }
            ScheduleError::OtherBounds { carrier, found } => {
                let carrier = match carrier {
                    Carrier::Token => "token",
                    Carrier::File => "file",
                };
                write!(
                    f,
                    "the {carrier} is of version {found} of the format, in which the environment's bounds on failures were for the \
                     whole execution; now they are for each task, and the schedule would continue otherwise: \
                     replay it with the intermezzo that wrote it, or record it again"
                )
            }
            ScheduleError::OutOfRange {
                choice,
                field,
                found,
                least,
                most,
            } => {
                if let Some(choice) = choice {
                    write!(f, "choice {choice}: ")?;
                }
                write!(f, "{field} is {found}, but must be {least} to {most}: ")?;
                write!(
                    f,
                    "the schedule was altered, or not written by intermezzo; record it again"
                )
            }
            ScheduleError::Overlong { byte } => write!(
                f,
                "the number at byte {byte} of the token's contents has more than 64 bits: \
                 the token was altered, or not written by intermezzo; record it again"
            ),
            ScheduleError::NotText {
                carrier: Carrier::Token,
                byte,
            } => write!(
                f,
                "byte {byte} of the token's program name is not UTF-8: \
                 the token was altered, or not written by intermezzo; record it again"
            ),
            ScheduleError::NotText {
                carrier: Carrier::File,
                byte,
            } => write!(
                f,
                "byte {byte} is not UTF-8, so this is not a schedule file, or a damaged one: \
                 take the file from its source again"
            ),
            ScheduleError::OtherProgram { wanted, found } => write!(
                f,
                "the schedule is of program {}, but {} is to be run: \
                 run {0} instead, or give a schedule of {1}",
                quoted(found),
                quoted(wanted),
            ),
            ScheduleError::OtherBinary {
                program,
                wanted,
                found,
            } => write!(
                f,
                "the schedule is of {} in {}, but the one in {} is to be run: tests of that name are in both; \
                 run that one instead, or give a schedule of this one",
                quoted(program),
                printable(&found.to_string()),
                printable(&wanted.to_string()),
            ),
            ScheduleError::Monitors(problem) => write!(
                f,
                "the schedule's monitors cannot be read ({}): replay it with the version that recorded it",
                printable(problem)
            ),
            ScheduleError::Unreadable { reason } => write!(
                f,
                "cannot be read ({}): \
                 give the path of a schedule file, or a token, which begins with `imz1.`, `imz2.` or `imz3.`",
                printable(reason),
            ),
            ScheduleError::TooLarge { bytes_max } => {
                write!(
                    f,
                    "larger than {bytes_max} bytes, so this is not a schedule file: give the path of one"
                )
            }
            ScheduleError::NoFiles => f.write_str(crate::serial::NO_FILES),
            ScheduleError::NotJson { line, column, reason } => write!(
                f,
                "not JSON at line {line}, column {column} ({}): \
                 this is not a schedule file, or one that was cut or altered; take it from its source again",
                printable(reason),
            ),
            ScheduleError::NotASchedule { line, column, reason } => write!(
                f,
                "not a schedule at line {line}, column {column} ({}): \
                 this is not a schedule file, or one that was altered; take it from its source again",
                printable(reason),
            ),
            ScheduleError::OtherFormat { found } => write!(
                f,
                "its `format` is {}, but `intermezzo-schedule/1`, `/2` or `/3` is needed: give the path of a schedule file",
                quoted(found),
            ),
            ScheduleError::InFile { path, error } => {
                write!(f, "schedule file {}: {error}", quoted(&path.to_string_lossy()))
            }
        }
    }
}
