//! Events of a history in any format.

use super::error::Place;
use super::value::Value;
use serde::{Deserialize, Serialize};

/// The kind of an event of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// It was called.
    Invoke,
    /// It returned.
    Ok,
    /// It did not happen. (A compare-and-set happened, and did not find the expected value.)
    Fail,
    /// It is not known if it happened, or will happen.
    Info,
}

impl Kind {
    pub(super) const EXPECTED: &str = ":invoke, :ok, :fail or :info";

    /// Returns the kind that a keyword names.
    pub(super) fn of_keyword(word: &str) -> Option<Kind> {
        match word {
            ":invoke" => Some(Kind::Invoke),
            ":ok" => Some(Kind::Ok),
            ":fail" => Some(Kind::Fail),
            ":info" => Some(Kind::Info),
            _ => None,
        }
    }
}

/// An event of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The caller. It has one operation at a time.
    pub process: u64,
    /// The kind of the event.
    pub kind: Kind,
    /// The operation's name, without a colon. Empty if the event is not a call and does not repeat it.
    pub name: String,
    /// The part of the object that it accesses, if that is not among the arguments.
    pub key: Option<Value>,
    /// For a call the argument, or the list of them; otherwise the result.
    pub value: Value,
    /// The place in its file.
    pub place: Place,
}
