//! The reason why a command could not be carried out: what happened, where, and what to do.

use crate::exit::Exit;
use std::fmt;
use std::io;
use std::path::Path;

/// The reason why a command could not be carried out, and the exit code.
#[derive(Debug)]
pub(crate) struct Problem {
    exit: Exit,
    message: String,
}

impl Problem {
    /// Creates the problem of a request that cannot be carried out as given.
    pub(crate) fn usage(message: impl Into<String>) -> Problem {
        Problem {
            exit: Exit::Usage,
            message: message.into(),
        }
    }

    /// Creates the problem of a test that failed in a way that no report shows.
    pub(crate) fn failed_test(message: impl Into<String>) -> Problem {
        Problem {
            exit: Exit::Findings,
            message: message.into(),
        }
    }

    /// Creates the problem of a refusal by the file system: `"write"`, this path, and a suggestion.
    pub(crate) fn file(doing: &str, path: &Path, error: &io::Error, help: &str) -> Problem {
        Problem::usage(format!("cannot {doing} {path:?} ({error}): {help}"))
    }

    /// Returns the exit code.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)
    }
}
