//! What is wrong with a file, and where.

use intermezzo_explorer::foreign::printable;
use std::fmt;

/// Where in a file something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// On this line, from 1.
    Line(usize),
    /// In this event of a list, from 1.
    Event(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Event(event) => write!(f, "event {event}"),
        }
    }
}

/// Why a file is no history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// Where.
    pub place: Place,
    /// What is there.
    pub found: String,
    /// What should be there.
    pub expected: String,
}

impl FormatError {
    /// What is there is quoted; a long text only where it begins.
    pub(crate) fn new(place: Place, found: impl fmt::Display, expected: impl Into<String>) -> FormatError {
        const SHOWN: usize = 80;
        let found = found.to_string();
        let found = match found.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{:?} ...", &found[..end]),
            None => format!("{found:?}"),
        };
        FormatError {
            place,
            found,
            expected: expected.into(),
        }
    }

    /// What is there is said in words, of which some may be from the file.
    pub(crate) fn because(place: Place, found: impl AsRef<str>, expected: impl AsRef<str>) -> FormatError {
        FormatError {
            place,
            found: printable(found.as_ref()),
            expected: printable(expected.as_ref()),
        }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: found {}, expected {}",
            self.place, self.found, self.expected
        )
    }
}

impl std::error::Error for FormatError {}
