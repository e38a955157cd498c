//! Operations made of events: who called what, and what came of it.

use super::error::{FormatError, Place};
use super::event::{Event, Kind};
use super::value::Value;
use crate::history::{History, Operation};
use std::collections::HashMap;
use std::fmt;

/// What was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Who called, by the number in the file.
    pub process: u64,
    /// The operation's name.
    pub name: String,
    /// What part of the object it is about, if that is not among the arguments.
    pub key: Option<Value>,
    /// The argument, or the list of them.
    pub value: Value,
    /// Where in the file the call is.
    pub called: Place,
    /// Where in the file it returns, if it does.
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

/// What came of an operation.
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
    /// The operations of events in the order of time. What does not return, or with nobody knowing what, is pending.
    ///
    /// # Errors
    /// A process returns without a call, calls without having returned, or returns from another operation.
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
                    format!("a return of process {}, which has called nothing", event.process),
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
