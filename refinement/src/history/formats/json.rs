//! Our own format, JSON: `{"format": "intermezzo-history/1", "object": "queue", "events": [..]}`.
//!
//! An event is `{"process": 0, "kind": "invoke", "name": "enqueue", "value": 1}`; the kind is `invoke`, `ok`, `fail` or
//! `info`, and `name`, `key` and `value` may be missing. Events are in the order of time.

use super::error::{FormatError, Place};
use super::event::{Event, Kind};
use super::value::Value;
use serde::{Deserialize, Serialize};

/// The name of the format in each file. The number is increased by changes that old readers would misread.
const FORMAT: &str = "intermezzo-history/1";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    object: Option<String>,
    events: Vec<FileEvent>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileEvent {
    process: u64,
    kind: Kind,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<Value>,
    #[serde(default, skip_serializing_if = "is_nil")]
    value: Value,
}

fn is_nil(value: &Value) -> bool {
    *value == Value::Nil
}

/// The format of a file; other fields are ignored.
#[derive(Deserialize)]
struct Header {
    format: String,
}

pub(super) fn read(text: &str) -> Result<(Vec<Event>, Option<String>), FormatError> {
    let wrong = |error: serde_json::Error| {
        FormatError::because(
            Place::Line(error.line().max(1)),
            error.to_string(),
            format!("a history in JSON, {FORMAT}"),
        )
    };
    let header: Header = serde_json::from_str(text).map_err(wrong)?;
    if header.format != FORMAT {
        return Err(FormatError::because(
            Place::Line(1),
            format!("the format {:?}", header.format),
            format!("{FORMAT:?}: convert the file, or use the version of intermezzo that wrote it"),
        ));
    }
    let file: File = serde_json::from_str(text).map_err(wrong)?;
    let events = file.events.into_iter().zip(1..).map(|(event, number)| Event {
        process: event.process,
        kind: event.kind,
        name: event.name,
        key: event.key,
        value: event.value,
        place: Place::Event(number),
    });
    Ok((events.collect(), file.object))
}

/// Writes events, and the name of their object, as JSON with one event on each line.
pub fn write(events: &[Event], object: Option<&str>) -> String {
    let object = object.map_or(String::new(), |object| format!(" \"object\": {},", json(object)));
    let lines: Vec<String> = events
        .iter()
        .map(|event| {
            json(&FileEvent {
                process: event.process,
                kind: event.kind,
                name: event.name.clone(),
                key: event.key.clone(),
                value: event.value.clone(),
            })
        })
        .collect();
    format!(
        "{{\"format\": {},{object} \"events\": [\n{}\n]}}\n",
        json(FORMAT),
        lines.join(",\n")
    )
}

fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("texts, numbers and lists are written without fail")
}
