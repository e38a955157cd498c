//! Lines `[1] call push(a)` and `[1] return empty`. `# @object stack` names the object, and other lines that begin
//! with `#` are comments. The number in brackets is the operation's.

use super::error::{FormatError, Place};
use super::event::{Event, Kind};
use super::forms::{self, Forms};
use super::value::Value;

const EXPECTED: &str = "[number] call method(arguments), or [number] return value";

pub(super) fn read(text: &str) -> Result<(Vec<Event>, Option<String>), FormatError> {
    let mut events = Vec::new();
    let mut object = None;
    for (line, number) in text.lines().map(str::trim).zip(1..) {
        if let Some(comment) = line.strip_prefix('#') {
            if let Some(name) = comment.trim().strip_prefix("@object ") {
                object = Some(name.trim().to_owned());
            }
        } else if !line.is_empty() {
            events.push(event(line, number)?);
        }
    }
    Ok((events, object))
}

fn event(line: &str, number: usize) -> Result<Event, FormatError> {
    let place = Place::Line(number);
    let wrong = || FormatError::new(place, line, EXPECTED);
    let (id, rest) = line
        .strip_prefix('[')
        .and_then(|line| line.split_once(']'))
        .ok_or_else(wrong)?;
    let process = id.trim().parse().map_err(|_| wrong())?;
    let rest = rest.trim();
    let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let rest = rest.trim();
    match word {
        "call" => {
            let (name, arguments) = match rest.split_once('(') {
                Some((name, arguments)) => (name, arguments.strip_suffix(')').ok_or_else(wrong)?),
                None => (rest, ""),
            };
            let name = name.trim();
            if name.is_empty() || name.contains(char::is_whitespace) {
                return Err(wrong());
            }
            Ok(Event {
                process,
                kind: Kind::Invoke,
                name: name.to_owned(),
                key: None,
                value: values(arguments, number)?,
                place,
            })
        }
        "return" => Ok(Event {
            process,
            kind: Kind::Ok,
            name: String::new(),
            key: None,
            value: match rest {
                "" | "empty" => Value::Nil,
                value => forms::value(value, number)?,
            },
            place,
        }),
        _ => Err(wrong()),
    }
}

/// Reads no argument, one, or the list of them.
fn values(arguments: &str, line: usize) -> Result<Value, FormatError> {
    let mut forms = Forms::new(arguments, line);
    let mut values = Vec::new();
    while let Some((form, line)) = forms.next()? {
        match form {
            forms::Form::Value(value) => values.push(value),
            _ => {
                return Err(FormatError::new(
                    Place::Line(line),
                    arguments,
                    "arguments that are not maps",
                ));
            }
        }
    }
    Ok(match values.len() {
        0 => Value::Nil,
        1 => values.swap_remove(0),
        _ => Value::List(values),
    })
}
