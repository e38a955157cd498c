//! The reasons why a checkpoint is refused, with a remedy for each.

use intermezzo_engine::foreign::{printable, quoted};
use intermezzo_engine::store::Problem;
use std::fmt;
use std::path::PathBuf;

/// A checkpoint from which a search cannot continue, or which it cannot write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointError {
    /// The file.
    pub path: PathBuf,
    /// The problem with it.
    pub problem: CheckpointProblem,
}

/// The problem with a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointProblem {
    /// The operating system refuses.
    Io {
        /// The operation that failed: `read`, `write`.
        doing: &'static str,
        /// The reason it gave.
        reason: String,
    },
    /// The path is a directory, a file of another kind, or an empty file.
    NotACheckpoint,
    /// Another version of the format.
    OtherVersion {
        /// The version found.
        found: String,
        /// The version that can be read.
        needed: u32,
    },
    /// The file ends before its contents do, or continues after them.
    OtherLength {
        /// The actual length of the contents in bytes.
        found: u64,
        /// The expected length in bytes.
        needed: u64,
    },
    /// The contents do not have the checksum that is recorded.
    ChecksumMismatch,
    /// The checksum is correct, but the contents are invalid.
    Unintelligible {
        /// The reason, for a developer of the tool.
        reason: String,
    },
    /// The checkpoint belongs to another test.
    OtherProgram {
        /// The test that is to be explored.
        wanted: String,
        /// The test of the checkpoint.
        found: String,
    },
    /// The program was rebuilt since.
    OtherBuild,
    /// The checkpoint belongs to another test of the same name.
    OtherBody,
    /// It was made with another value of a setting that changes the result of the search.
    OtherSetting {
        /// The setting.
        name: String,
        /// Its value now.
        wanted: String,
        /// Its value in the checkpoint.
        found: String,
    },
    /// Another search writes to it.
    InUse,
}

impl CheckpointProblem {
    /// Returns the problem with the file as one with the checkpoint.
    pub(super) fn of_file(problem: Problem) -> CheckpointProblem {
        match problem {
            Problem::Io { doing, reason } => CheckpointProblem::Io { doing, reason },
            Problem::Partial { reason } => CheckpointProblem::Io {
                doing: "write beside",
                reason,
            },
            Problem::Foreign => CheckpointProblem::NotACheckpoint,
            Problem::OtherVersion { found, needed } => CheckpointProblem::OtherVersion { found, needed },
            Problem::OtherLength { found, needed } => CheckpointProblem::OtherLength { found, needed },
            Problem::ChecksumMismatch | Problem::NotText => CheckpointProblem::ChecksumMismatch,
            Problem::InUse => CheckpointProblem::InUse,
        }
    }
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "checkpoint {:?}: ", self.path)?;
        match &self.problem {
            CheckpointProblem::Io { doing, reason } => {
                write!(
                    f,
                    "cannot {doing} it ({reason}): give a path that can be read and written"
                )
            }
            CheckpointProblem::NotACheckpoint => write!(
                f,
                "there is something else than a checkpoint: it is left alone; give another path, or remove it"
            ),
            CheckpointProblem::OtherVersion { found, needed } => write!(
                f,
                "it has version {found:?} of its format, but {needed} is needed: continue with the intermezzo that wrote it, \
                 or remove it to start over"
            ),
            CheckpointProblem::OtherLength { found, needed } => write!(
                f,
                "it has {found} bytes of contents instead of {needed}: it was cut or added to; take a copy that is whole, \
                 or remove it to start over"
            ),
            CheckpointProblem::ChecksumMismatch => write!(
                f,
                "its checksum does not fit: it was altered; take a copy that is whole, or remove it to start over"
            ),
            CheckpointProblem::Unintelligible { reason } => {
                write!(
                    f,
                    "it makes no sense ({}): remove it to start over",
                    printable(reason)
                )
            }
            CheckpointProblem::OtherProgram { wanted, found } => write!(
                f,
                "it is of {}, not of {wanted:?}: give each test a checkpoint of its own",
                quoted(found)
            ),
            CheckpointProblem::OtherBuild => write!(
                f,
                "the program was rebuilt since it was written, and may do something else: remove it to start over"
            ),
            CheckpointProblem::OtherBody => write!(
                f,
                "it is of another test of the same name: give each test a name and a checkpoint of its own"
            ),
            CheckpointProblem::OtherSetting { name, wanted, found } => write!(
                f,
                "it was made with `{name}` {}, not {wanted}: set it as it was, or remove the checkpoint to start over",
                printable(found)
            ),
            CheckpointProblem::InUse => write!(
                f,
                "another search writes to it: wait for that one, or give another path"
            ),
        }
    }
}

impl std::error::Error for CheckpointError {}
