//! The reasons why a memo cannot be used: what was found, and what to do about it.

use intermezzo_engine::foreign::printable;
use intermezzo_engine::store::Problem;
use std::fmt;
use std::path::PathBuf;

/// The error that a memo cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoError {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub problem: MemoProblem,
}

/// The reason why a memo cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoProblem {
    /// The operating system reported an error.
    Io {
        /// The attempted action: `read`, `write`.
        doing: &'static str,
        /// The system's reason.
        reason: String,
    },
    /// It is not a memo, but a directory, another file or an empty file.
    NotAMemo,
    /// It has another version of the format.
    OtherVersion {
        /// The version found.
        found: String,
        /// The version that can be read.
        needed: u32,
    },
    /// It was cut off or altered.
    Damaged {
        /// The evidence.
        reason: String,
    },
    /// Other processes kept it locked for longer than the exploration waits.
    InUse,
}

impl MemoProblem {
    /// Returns the problem of the file as one of the memo.
    pub(super) fn of_file(problem: Problem) -> MemoProblem {
        let damaged = |reason: &str| MemoProblem::Damaged {
            reason: reason.to_owned(),
        };
        match problem {
            Problem::Io { doing, reason } => MemoProblem::Io { doing, reason },
            Problem::Partial { reason } => MemoProblem::Io {
                doing: "write",
                reason,
            },
            Problem::Foreign => MemoProblem::NotAMemo,
            Problem::OtherVersion { found, needed } => MemoProblem::OtherVersion { found, needed },
            Problem::OtherLength { .. } | Problem::ChecksumMismatch => {
                damaged("its checksum or length does not match")
            }
            Problem::NotText => damaged("it is not text"),
            Problem::InUse => MemoProblem::InUse,
        }
    }
}

impl fmt::Display for MemoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "memo {:?}: ", self.path)?;
        match &self.problem {
            MemoProblem::Io { doing, reason } => write!(
                f,
                "cannot {doing} it ({reason}): give a path that can be read and written"
            ),
            MemoProblem::NotAMemo => f.write_str(
                "there is something else than a memo of iRoots: it is left alone; give another path, or remove it",
            ),
            MemoProblem::OtherVersion { found, needed } => write!(
                f,
                "it has version {found:?} of its format, but {needed} is needed: use the intermezzo that wrote it, or remove it \
                 to start over"
            ),
            MemoProblem::Damaged { reason } => write!(
                f,
                "it was cut or altered ({}): it is left alone; take a copy that is whole, or remove it to start over",
                printable(reason)
            ),
            MemoProblem::InUse => f.write_str(
                "other explorations were reading or writing it for 10 seconds: run fewer at a time, or give each another path",
            ),
        }
    }
}

impl std::error::Error for MemoError {}
