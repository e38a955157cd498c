//! Logs of Jepsen: `INFO  jepsen.util - 0 :invoke :read nil`, with tabs or spaces between.

use super::error::{FormatError, Place};
use super::event::{Event, Kind};
use super::forms;

const EXPECTED: &str = "a line such as INFO  jepsen.util - 0 :invoke :read nil";

pub(super) fn read(text: &str) -> Result<Vec<Event>, FormatError> {
    let mut events = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if !line.trim().is_empty() {
            events.extend(event(line, number)?);
        }
    }
    Ok(events)
}

/// Returns the event of a line, if it is a client's.
fn event(line: &str, number: usize) -> Result<Option<Event>, FormatError> {
    let place = Place::Line(number);
    // The text before the process is the logger's.
    let (_, said) = line.rsplit_once(" - ").unwrap_or(("", line));
    let mut rest = said.trim();
    let mut field = || {
        let (field, after) = rest.split_once(char::is_whitespace)?;
        rest = after.trim_start();
        Some(field)
    };
    let (Some(who), Some(kind), Some(name)) = (field(), field(), field()) else {
        return Err(FormatError::new(place, line, EXPECTED));
    };
    let value = rest;
    if who == ":nemesis" {
        return Ok(None);
    }
    let Ok(process) = who.parse() else {
        return Err(FormatError::new(
            place,
            who,
            "the number of a process, or :nemesis",
        ));
    };
    let Some(kind) = Kind::of_keyword(kind) else {
        return Err(FormatError::new(place, kind, Kind::EXPECTED));
    };
    let Some(name) = name.strip_prefix(':').filter(|name| !name.is_empty()) else {
        return Err(FormatError::new(place, name, "an operation, such as :read"));
    };
    Ok(Some(Event {
        process,
        kind,
        name: name.to_owned(),
        key: None,
        value: forms::value(value, number)?,
        place,
    }))
}
