//! Traces of the model: executions up to the order of accesses that commute.
//!
//! Two accesses of an object commute if both read, both take or release a share of a lock, or both unpark. A trace is
//! written object by object, as the sequence of its accesses in which commuting neighbours are in the order of their
//! tasks.

/// The kind of an access, which decides if two accesses commute.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// Commutes with nothing.
    Write,
    Read,
    /// Taking or releasing a share of a lock.
    Share,
    /// Leaving a token, or closing a sender.
    Add,
}

/// An object of accesses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Thing {
    Atomic(usize),
    Mutex(usize),
    RwLock,
    Condvar,
    Channel(usize),
    Token(usize),
    /// The end of a task.
    End(usize),
    /// The value that a task chose, which concerns no other task: the class is irrelevant.
    Own(usize),
}

/// A task's access of an object: the task, and the index of its operation (or, for its own object, the value that it
/// chose).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Access {
    pub(crate) thing: Thing,
    pub(crate) class: Class,
    pub(crate) task: u8,
    pub(crate) index: u8,
}

/// Returns the trace of these accesses, in a form that is the same for all its executions.
pub(crate) fn canonical(accesses: &[Access]) -> Vec<u8> {
    let mut accesses = accesses.to_vec();
    // The sort is stable: accesses of one object stay in the order in which they happened.
    accesses.sort_by_key(|access| access.thing);
    for neighbours in
        accesses.chunk_by_mut(|a, b| a.thing == b.thing && a.class == b.class && a.class != Class::Write)
    {
        neighbours.sort();
    }
    let mut text = Vec::with_capacity(2 * accesses.len());
    for one_object in accesses.chunk_by(|a, b| a.thing == b.thing) {
        text.push(u8::MAX);
        text.push(one_object[0].thing.number());
        for access in one_object {
            text.extend([access.class as u8 + access.task * 4, access.index]);
        }
    }
    text
}

impl Thing {
    /// Returns the number of the engine's variable behind it: the end of a task and its token belong to one variable.
    pub(crate) fn variable(self) -> u8 {
        match self {
            Thing::End(task) => Thing::Token(task).number(),
            other => other.number(),
        }
    }

    fn number(self) -> u8 {
        let (kind, which) = match self {
            Thing::Atomic(which) => (0, which),
            Thing::Mutex(which) => (1, which),
            Thing::RwLock => (2, 0),
            Thing::Condvar => (3, 0),
            Thing::Channel(which) => (4, which),
            Thing::Token(which) => (5, which),
            Thing::End(which) => (6, which),
            Thing::Own(which) => (7, which),
        };
        kind * 8 + which as u8
    }
}
