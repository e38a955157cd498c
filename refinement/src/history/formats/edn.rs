//! EDN maps, one for each event: `{:process 0, :type :invoke, :f :get, :key "a", :value nil}`.
//!
//! The maps may be in a vector. Other keys, such as `:time`, are ignored.

use super::error::{FormatError, Place};
use super::event::{Event, Kind};
use super::forms::{Form, Forms};
use super::value::Value;

pub(super) fn read(text: &str) -> Result<Vec<Event>, FormatError> {
    let mut forms = Forms::new(text, 1);
    let mut events = Vec::new();
    while let Some((form, line)) = forms.next()? {
        match form {
            Form::Forms(forms) => {
                for (form, line) in forms {
                    events.extend(event(form, line)?);
                }
            }
            Form::Value(Value::List(values)) if values.is_empty() => {}
            form => events.extend(event(form, line)?),
        }
    }
    Ok(events)
}

/// Returns the event of a map, if it belongs to a client.
fn event(form: Form, line: usize) -> Result<Option<Event>, FormatError> {
    let place = Place::Line(line);
    let Form::Map(pairs) = form else {
        return Err(FormatError::because(
            place,
            "something that is not a map",
            "{:process .., :type .., :f .., :value ..}",
        ));
    };
    let mut fields = Fields { pairs, place };
    let process = match fields.take(":process")? {
        Some(Value::Int(process)) if process >= 0 => process as u64,
        Some(Value::Text(who)) if who == ":nemesis" => return Ok(None),
        found => return Err(wrong(place, ":process", found, "the number of a process")),
    };
    let kind = match fields.take(":type")? {
        Some(Value::Text(word)) if Kind::of_keyword(&word).is_some() => Kind::of_keyword(&word),
        found => return Err(wrong(place, ":type", found, Kind::EXPECTED)),
    };
    let name = match fields.take(":f")? {
        Some(Value::Text(word)) if word.len() > 1 && word.starts_with(':') => word[1..].to_owned(),
        found => return Err(wrong(place, ":f", found, "an operation, such as :read")),
    };
    Ok(Some(Event {
        process,
        kind: kind.expect("the pattern says so"),
        name,
        key: fields.take(":key")?,
        value: fields.take(":value")?.unwrap_or_default(),
        place,
    }))
}

fn wrong(place: Place, field: &str, found: Option<Value>, expected: &str) -> FormatError {
    match found {
        Some(found) => FormatError::because(place, format!("{field} {found}"), expected),
        None => FormatError::because(place, format!("no {field}"), expected),
    }
}

/// The keys of a map that have not been read yet.
struct Fields {
    pairs: Vec<(Form, Form)>,
    place: Place,
}

impl Fields {
    fn take(&mut self, key: &str) -> Result<Option<Value>, FormatError> {
        let key = Form::Value(Value::Text(key.to_owned()));
        let Some(at) = self.pairs.iter().position(|(other, _)| *other == key) else {
            return Ok(None);
        };
        match self.pairs.swap_remove(at).1 {
            Form::Value(value) => Ok(Some(value)),
            _ => Err(FormatError::because(
                self.place,
                "a map",
                "a number, a text, nil, or a list of them",
            )),
        }
    }
}
