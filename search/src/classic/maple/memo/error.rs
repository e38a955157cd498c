//! The reasons for which a memo is refused: what was found, and what to do about it.

use intermezzo_engine::foreign::printable;
use intermezzo_engine::store::Problem;
use std::fmt;
use std::path::PathBuf;

/// A memo that an exploration can neither use nor add to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoError {
    /// The file.
    pub path: PathBuf,
    /// The error.
    pub problem: MemoProblem,
}

/// An error of a memo.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoProblem {
    /// The operating system refused.
    Io {
        /// The attempted action: `read`, `write`.
        doing: &'static str,
        /// The system's reason.
        reason: String,
    },
    /// It is something else: a directory, another file, an empty one.
    NotAMemo,
    /// It is of another version of the format.
    OtherVersion {
        /// The version found.
        found: String,
        /// The version that can be read.
        needed: u32,
    },
    /// It was cut, or altered.
    Damaged {
        /// The evidence.
        reason: String,
    },
    /// Other processes read or write it all the time.
    InUse,
}

impl MemoProblem {
    /// Returns the problem with the file as one with the memo.
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
                damaged("its checksum or length is another")
            }
            Problem::NotText => damaged("it is no text"),
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
                "other explorations were reading or writing it for 10 seconds: give each fewer of them, or another path",
            ),
        }
    }
}

impl std::error::Error for MemoError {}
