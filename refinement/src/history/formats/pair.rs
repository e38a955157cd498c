//! Pairs events into operations with callers, calls and results.

use super::error::{FormatError, Place};
use super::event::{Event, Kind};
use super::value::Value;
use crate::history::{History, Operation};
use std::collections::HashMap;
use std::fmt;

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The caller, by the number in the file.
    pub process: u64,
    /// The operation's name.
    pub name: String,
    /// The part of the object that it accesses, if that is not among the arguments.
    pub key: Option<Value>,
    /// The argument, or the list of them.
    pub value: Value,
    /// The place of the call in the file.
    pub called: Place,
    /// The place of the return in the file, if it returns.
    pub returned: Option<Place>,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        match (&self.key, &self.value) {
            (None, Value::Nil) => {}
            (Some(key), Value::Nil) => write!(f, "{key}")?,
            (None, value) => write!(f, "{value}")?,
            (Some(key), value) => write!(f, "{key}, {value}")?,
        }
        f.write_str(")")
    }
}

/// The result of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It returned this.
    Ok(Value),
    /// It did not happen.
    Failed,
}

/// Operations whose meaning is not known yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Times are places in the list of events.
    pub history: History<Named, Answer>,
}

impl Recorded {
    /// Pairs events, in the order of time, into operations. An operation that does not return, or whose result is
    /// unknown, is pending.
    ///
    /// # Errors
    /// If a process returns without a call, calls without having returned, or returns from another operation.
    pub fn pair(events: Vec<Event>) -> Result<Recorded, FormatError> {
        let mut operations: Vec<Operation<Named, Answer>> = Vec::new();
        let mut open: HashMap<u64, usize> = HashMap::new();
        let mut processes: HashMap<u64, u32> = HashMap::new();
        for (event, now) in events.into_iter().zip(0..) {
            let known = processes.len() as u32;
            let process = *processes.entry(event.process).or_insert(known);
            if event.kind == Kind::Invoke {
                if let Some(before) = open.insert(event.process, operations.len()) {
                    let before = &operations[before].call;
                    return Err(FormatError::because(
                        event.place,
                        format!(
                            "process {} calls {} while its {}, called in {}, has not returned",
                            event.process, event.name, before, before.called
                        ),
                        "one operation of a process at a time",
                    ));
                }
                if event.name.is_empty() {
                    return Err(FormatError::because(
                        event.place,
                        "a call without a name",
                        "the name of an operation",
                    ));
                }
                operations.push(Operation {
                    process,
                    call: Named {
                        process: event.process,
                        name: event.name,
                        key: event.key,
                        value: event.value,
                        called: event.place,
                        returned: None,
                    },
                    returned: None,
                    called_at: now,
                    returned_at: Operation::<Named, Answer>::NEVER,
                });
                continue;
            }
            let Some(called) = open.remove(&event.process) else {
                return Err(FormatError::because(
                    event.place,
                    format!("a return of process {} without a call", event.process),
                    "a call before each return",
                ));
            };
            let operation = &mut operations[called];
            if !event.name.is_empty() && event.name != operation.call.name {
                return Err(FormatError::because(
                    event.place,
                    format!("process {} returns from {}", event.process, event.name),
                    format!(
                        "a return from {}, called in {}",
                        operation.call, operation.call.called
                    ),
                ));
            }
            operation.returned = match event.kind {
                Kind::Ok => Some(Answer::Ok(event.value)),
                Kind::Fail => Some(Answer::Failed),
                // The operation is pending for ever.
                Kind::Invoke | Kind::Info => continue,
            };
            operation.returned_at = now;
            operation.call.returned = Some(event.place);
        }
        let history = History::new(operations).expect("processes have one operation at a time");
        Ok(Recorded { history })
    }
}
