//! Why a memo was refused: what was found, and what to do about it.

use intermezzo_engine::foreign::printable;
use std::fmt;
use std::path::PathBuf;

/// A memo that an exploration can neither go by nor add to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: MemoProblem,
}

/// What is wrong with a memo.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoProblem {
    /// The operating system refuses.
    Io {
        /// What was tried: `read`, `write`.
        doing: &'static str,
        /// Its reason.
        reason: String,
    },
    /// There is something else: a directory, another file, an empty one.
    NotAMemo,
    /// Another version of the format.
    OtherVersion {
        /// The version found.
        found: String,
        /// The version that can be read.
        needed: u32,
    },
    /// The file was cut, or altered.
    Damaged {
        /// What shows it.
        reason: String,
    },
    /// Others read or write it all the time.
    InUse,
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
                 to begin anew"
            ),
            MemoProblem::Damaged { reason } => write!(
                f,
                "it was cut or altered ({}): it is left alone; take a copy that is whole, or remove it to begin anew",
                printable(reason)
            ),
            MemoProblem::InUse => f.write_str(
                "other explorations were reading or writing it for 10 seconds: give each fewer of them, or another path",
            ),
        }
    }
}

impl std::error::Error for MemoError {}
