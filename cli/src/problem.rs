//! Why a command could not be carried out: what happened, where, and what to do.

use crate::exit::Exit;
use std::fmt;
use std::io;
use std::path::Path;

/// A command that could not be carried out.
#[derive(Debug)]
pub(crate) struct Problem {
    exit: Exit,
    message: String,
}

impl Problem {
    /// What was asked cannot be done, but something like it can.
    pub(crate) fn usage(message: impl Into<String>) -> Problem {
        Problem {
            exit: Exit::Usage,
            message: message.into(),
        }
    }

    /// A test failed in a way that no report tells of.
    pub(crate) fn failed_test(message: impl Into<String>) -> Problem {
        Problem {
            exit: Exit::Findings,
            message: message.into(),
        }
    }

    /// The file system refused: `"write"`, this path, and what may help.
    pub(crate) fn file(doing: &str, path: &Path, error: &io::Error, help: &str) -> Problem {
        Problem::usage(format!("cannot {doing} {path:?} ({error}): {help}"))
    }

    /// The code to end with.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)
    }
}
