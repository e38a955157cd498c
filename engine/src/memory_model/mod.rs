//! The interface to memory models, which determine what a load may read; and [`Cpp20`], the one that ships.
//!
//! Without a model, executions are sequentially consistent: operations on an atomic read the newest store. With one
//! ([`Executor::read_by`](crate::runtime::Executor::read_by)), each read is a choice of the search among the stores
//! that the model offers, and so is the position of a store among those of its variable.
//!
//! Tasks still run one after the other, so stores are performed in some order. The order in which they become the
//! values of their variable, the *modification order*, is the model's.
//!
//! An [`ExecutionGraph`] is an execution with the stores that were chosen. It shows whether stronger orderings
//! ([`RaisedOrders`]) would forbid the execution.

mod cpp20;
mod graph;
mod orders;

pub use cpp20::Cpp20;
pub use graph::{ExecutionGraph, StaleOperation};
pub(crate) use graph::{Node, Performed};
pub use orders::{RaisedOrder, RaisedOrders};

use intermezzo_sdk::{EventId, MemoryOrder, SyncVar, SyncVarAccess};

/// An operation on an atomic, for a memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryAccess {
    /// The event that records it.
    pub event: EventId,
    /// The atomic.
    pub var: SyncVar,
    /// The ordering. For an exchange, the ordering if it succeeds.
    pub order: MemoryOrder,
    /// The kind of operation.
    pub kind: MemoryOp,
}

impl MemoryAccess {
    /// Returns `true` if the operation stores, given the value of the store that it reads or follows.
    pub fn writes(&self, value: u64) -> bool {
        match self.kind {
            MemoryOp::Load | MemoryOp::FailedExchange { .. } => false,
            MemoryOp::Store | MemoryOp::Modify => true,
            MemoryOp::Exchange { expected, .. } => value == expected,
        }
    }
}

/// The kind of an operation on an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryOp {
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic read-modify-write that always writes.
    Modify,
    /// A compare-exchange. It writes only if it reads `expected`; otherwise it is a load.
    Exchange {
        /// The value to compare with, as bits.
        expected: u64,
        /// The ordering if it fails.
        failure: MemoryOrder,
        /// `true` if it may fail although it reads `expected`.
        weak: bool,
    },
    /// A weak exchange that fails although it has read what it expected: a load.
    FailedExchange {
        /// Its ordering.
        failure: MemoryOrder,
    },
}

/// A memory model. Its state belongs to one execution.
///
/// The stores of a variable have numbers, from 0 in the order in which they are performed. Number 0 is the initial
/// value.
///
/// The same choices must lead to the same calls: what a model offers may depend on nothing else.
pub trait MemoryModel: Send {
    /// Begins an execution.
    fn begin(&mut self);

    /// Lists the stores that an operation may read; `values` are those of all stores to its variable, by number. The
    /// first is the default. At least one must be listed, and each once.
    ///
    /// An operation that writes what it reads, or compares with it, must read a store that no read-modify-write follows
    /// yet.
    ///
    /// The list may depend only on the stores to the variable and on what the task knows, so that operations on
    /// different variables commute. [`is_consistent`](Self::is_consistent) may depend on more.
    fn readable(&mut self, read: &MemoryAccess, values: &[u64], readable: &mut Vec<u32>);

    /// Notes that the operation reads this store. An exchange that reads the expected value then also stores, unless it
    /// fails spuriously.
    fn reads(&mut self, read: &MemoryAccess, store: u32);

    /// Lists the stores that a new store may directly follow in the modification order. The first is the default. At
    /// least one must be listed, and each once. It is not called for an operation that also reads. What holds for
    /// [`readable`](Self::readable) holds for this list, too.
    fn places(&mut self, write: &MemoryAccess, places: &mut Vec<u32>);

    /// Returns `false` if the operation cannot read or directly follow the listed store of this number, because of
    /// operations on other variables. The default of the list is always consistent, and no execution continues from an
    /// inconsistent one.
    ///
    /// It must not depend on operations of other tasks that come later in another order of the same events: what is
    /// consistent with some operations is consistent with fewer. `values` are those of all stores to the variable.
    fn is_consistent(&mut self, access: &MemoryAccess, values: &[u64], listed: u32) -> bool;

    /// Notes a store that directly follows `after`. Returns `true` if no other store to the variable is newer.
    fn stores(&mut self, write: &MemoryAccess, store: u32, after: u32) -> bool;

    /// Notes that the newest store is now a value that was written without an operation, by a task with exclusive
    /// access to the variable. No older store can be read from now on.
    fn overwrites(&mut self, var: SyncVar);

    /// Notes the next event of the execution, of any kind. Operations on atomics have been announced by `reads` and
    /// `stores`.
    fn observes(&mut self, event: &SyncVarAccess) {
        _ = event;
    }
}
