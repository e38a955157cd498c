//! Files with histories: read, and written in a format of our own.
//!
//! A reader makes [`Event`]s of a file, which [`Recorded::pair`] turns into operations. [`crate::recorded`] gives the
//! operations their meaning.

mod calls;
mod edn;
mod error;
mod event;
mod forms;
mod jepsen;
mod json;
mod pair;
mod value;

pub use error::{FormatError, Place};
pub use event::{Event, Kind};
pub use json::write as write_json;
pub use pair::{Answer, Named, Recorded};
pub use value::Value;

use std::fmt;
use std::path::Path;

/// The format of a history in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// A log of Jepsen: a line an event, `INFO  jepsen.util - 0 :invoke :read nil`.
    Jepsen,
    /// Maps of EDN: `{:process 0, :type :invoke, :f :put, :key "a", :value 1}`, `:key` only if there is one.
    Edn,
    /// Lines `[1] call push(a)` and `[1] return empty`.
    Calls,
    /// JSON, `intermezzo-history/1`.
    Json,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 4] = [Format::Jepsen, Format::Edn, Format::Calls, Format::Json];

    /// Returns the format's name.
    pub fn name(self) -> &'static str {
        match self {
            Format::Jepsen => "jepsen",
            Format::Edn => "edn",
            Format::Calls => "calls",
            Format::Json => "json",
        }
    }

    /// Guesses the format of a file, by the extension of its name or by the beginning of its text.
    pub fn guess(path: &Path, text: &str) -> Format {
        match path.extension().and_then(|end| end.to_str()) {
            Some("json") => return Format::Json,
            Some("edn") => return Format::Edn,
            _ => {}
        }
        let mut lines = text.lines().map(str::trim);
        let first = lines.find(|line| !line.is_empty() && !line.starts_with(['#', ';']));
        match first {
            Some(line) if line.starts_with("{\"") || line == "{" => Format::Json,
            Some(line) if line.starts_with('{') || line.starts_with("[{") || line == "[" => Format::Edn,
            Some(line) if line.starts_with('[') => Format::Calls,
            _ => Format::Jepsen,
        }
    }

    /// Returns the events of a text, and the object that it names. An empty text is an empty history, except in JSON.
    ///
    /// # Errors
    /// If the text is not of this format.
    pub fn read(self, text: &str) -> Result<(Vec<Event>, Option<String>), FormatError> {
        match self {
            Format::Jepsen => Ok((jepsen::read(text)?, None)),
            Format::Edn => Ok((edn::read(text)?, None)),
            Format::Calls => calls::read(text),
            Format::Json => json::read(text),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
