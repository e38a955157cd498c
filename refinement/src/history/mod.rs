//! Histories: operations with their times and results.

pub mod formats;
mod order;

pub use order::Same;
pub(crate) use order::{Brackets, ComparedHistory, HappensBefore, Order, Outcome, Outcomes};

use std::fmt;

/// One operation of a history: a call, and its return if it came.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operation<C, R> {
    /// The caller: a thread, or a client. It has one operation at a time.
    pub process: u32,
    /// The called operation, with its arguments.
    pub call: C,
    /// The result; `None` if it never returned, or if the result is unknown. Then it may have happened at any time, or not
    /// at all.
    pub returned: Option<R>,
    /// The time of the call. Only the order of times counts.
    pub called_at: u64,
    /// The time of the return; [`Operation::NEVER`] if it did not return.
    pub returned_at: u64,
}

impl<C, R> Operation<C, R> {
    /// The time of a return that never came.
    pub const NEVER: u64 = u64::MAX;

    /// `true` if it never returned.
    pub fn is_pending(&self) -> bool {
        self.returned.is_none()
    }

    /// `true` if it had returned before the other was called.
    pub fn precedes(&self, other: &Self) -> bool {
        self.returned_at < other.called_at
    }
}

/// Operations in the order in which they were called.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct History<C, R> {
    operations: Vec<Operation<C, R>>,
}

/// The reason why operations are not a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryError {
    /// An operation returned before it was called, or at the same time. Its place in the given list.
    ReturnBeforeCall(usize),
    /// A process called while an operation of its own had not returned. The places of the two in the given list.
    Overlap(usize, usize),
    /// An operation has a time of return and no value, or a value and no time. Its place in the given list.
    HalfReturned(usize),
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HistoryError::ReturnBeforeCall(at) => {
                write!(
                    f,
                    "operation {at} returns before it is called: give it a later time of return"
                )
            }
            HistoryError::Overlap(first, second) => write!(
                f,
                "operation {second} begins while operation {first} of the same process runs: give them different \
                 processes, or the first no return"
            ),
            HistoryError::HalfReturned(at) => write!(
                f,
                "operation {at} has either a value and no time of return, or a time and no value: give both or none"
            ),
        }
    }
}

impl std::error::Error for HistoryError {}

impl<C, R> Default for History<C, R> {
    fn default() -> Self {
        History {
            operations: Vec::new(),
        }
    }
}

impl<C, R> History<C, R> {
    /// Creates a history of these operations, which may be in any order. An operation that returns when another is called
    /// overlaps it.
    ///
    /// # Errors
    /// If they are not a history, see [`HistoryError`]. A process whose operation is pending may call again: it is then a
    /// new client after one that gave up.
    pub fn new(operations: Vec<Operation<C, R>>) -> Result<History<C, R>, HistoryError> {
        for (at, operation) in operations.iter().enumerate() {
            if operation.returned.is_some() != (operation.returned_at != Operation::<C, R>::NEVER) {
                return Err(HistoryError::HalfReturned(at));
            }
            if operation.returned_at <= operation.called_at {
                return Err(HistoryError::ReturnBeforeCall(at));
            }
        }
        let mut order: Vec<usize> = (0..operations.len()).collect();
        order.sort_by_key(|&at| operations[at].called_at);
        let mut last_of = std::collections::HashMap::new();
        for &at in &order {
            let operation = &operations[at];
            if let Some(last) = last_of.insert(operation.process, at) {
                let before: &Operation<C, R> = &operations[last];
                if !before.is_pending() && before.returned_at > operation.called_at {
                    return Err(HistoryError::Overlap(last, at));
                }
            }
        }
        let mut operations = operations;
        operations.sort_by_key(|operation| operation.called_at);
        Ok(History { operations })
    }

    /// Starts a history that is recorded event by event.
    pub fn recorder() -> Recorder<C, R> {
        Recorder {
            operations: Vec::new(),
            now: 0,
        }
    }

    /// Returns the operations, in the order in which they were called.
    pub fn operations(&self) -> &[Operation<C, R>] {
        &self.operations
    }

    /// Returns the number of operations.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// `true` if there are none.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Returns the same operations with other calls and returns.
    pub fn map<C2, R2>(
        self,
        mut call: impl FnMut(C) -> C2,
        mut returned: impl FnMut(R) -> R2,
    ) -> History<C2, R2> {
        let operations = self.operations.into_iter().map(|operation| Operation {
            process: operation.process,
            call: call(operation.call),
            returned: operation.returned.map(&mut returned),
            called_at: operation.called_at,
            returned_at: operation.returned_at,
        });
        History {
            operations: operations.collect(),
        }
    }

    /// Returns the operations for which this holds, as a history.
    pub fn filter(&self, keep: impl Fn(&Operation<C, R>) -> bool) -> History<C, R>
    where
        C: Clone,
        R: Clone,
    {
        History {
            operations: self
                .operations
                .iter()
                .filter(|operation| keep(operation))
                .cloned()
                .collect(),
        }
    }
}

/// An operation that a [`Recorder`] has recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Called(usize);

/// Records a history as it happens: each event comes after the previous one.
#[derive(Clone, Debug)]
pub struct Recorder<C, R> {
    operations: Vec<Operation<C, R>>,
    now: u64,
}

impl<C, R> Recorder<C, R> {
    /// Records a call by a process.
    pub fn call(&mut self, process: u32, call: C) -> Called {
        self.now += 1;
        self.operations.push(Operation {
            process,
            call,
            returned: None,
            called_at: self.now,
            returned_at: Operation::<C, R>::NEVER,
        });
        Called(self.operations.len() - 1)
    }

    /// Records an operation's return.
    ///
    /// # Panics
    /// If it has returned before.
    pub fn returned(&mut self, called: Called, value: R) {
        self.now += 1;
        let operation = &mut self.operations[called.0];
        assert!(operation.returned.is_none(), "an operation returns once");
        operation.returned = Some(value);
        operation.returned_at = self.now;
    }

    /// Returns the recorded history. Operations that have not returned are pending.
    pub fn history(self) -> History<C, R> {
        History {
            operations: self.operations,
        }
    }
}
