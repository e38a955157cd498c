//! The objects of recorded histories.

use std::fmt;
use std::str::FromStr;

/// An object whose operations are known by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    /// Read, write, compare and set.
    Register,
    /// First in, first out.
    Queue,
    /// Last in, first out.
    Stack,
    /// The greatest first.
    PriorityQueue,
    /// Keys that are there or not.
    Set,
    /// Fetch and add.
    Counter,
    /// Texts by key, with appending.
    KeyValue,
}

impl Object {
    /// All of them.
    pub const ALL: [Object; 7] = [
        Object::Register,
        Object::Queue,
        Object::Stack,
        Object::PriorityQueue,
        Object::Set,
        Object::Counter,
        Object::KeyValue,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Object::Register => "register",
            Object::Queue => "queue",
            Object::Stack => "stack",
            Object::PriorityQueue => "priority-queue",
            Object::Set => "set",
            Object::Counter => "counter",
            Object::KeyValue => "map",
        }
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An error: no object has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownObject(pub String);

impl fmt::Display for UnknownObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Object::ALL.map(Object::name).join(", ");
        write!(f, "no specification is named {:?}: there are {names}", self.0)
    }
}

impl std::error::Error for UnknownObject {}

impl FromStr for Object {
    type Err = UnknownObject;

    /// Finds an object by its name, or by another common name.
    fn from_str(name: &str) -> Result<Object, UnknownObject> {
        Ok(match name {
            "cas-register" => Object::Register,
            "priority_queue" | "priorityqueue" | "heap" => Object::PriorityQueue,
            "kv" | "key-value" => Object::KeyValue,
            "fetch-add" => Object::Counter,
            _ => {
                let found = Object::ALL.into_iter().find(|object| object.name() == name);
                found.ok_or_else(|| UnknownObject(name.to_owned()))?
            }
        })
    }
}
