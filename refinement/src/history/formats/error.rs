//! Errors in a file, with their places.

use intermezzo_explorer::foreign::printable;
use std::fmt;

/// A place in a file.
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

/// The reason why a file is no history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// The place.
    pub place: Place,
    /// The text found there.
    pub found: String,
    /// The text expected there.
    pub expected: String,
}

impl FormatError {
    /// Creates an error that quotes the text found; a long text only at its beginning.
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

    /// Creates an error that describes the text found in words, of which some may be from the file.
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
