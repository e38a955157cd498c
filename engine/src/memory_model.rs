//! The seam to memory models, which say what a load may read.
//!
//! Without a model, executions are sequentially consistent: operations on an atomic read the newest store. With one
//! ([`Executor::read_by`](crate::runtime::Executor::read_by)), each read is a choice of the search among the stores
//! that the model offers.
//!
//! Tasks still run one after the other, so stores are performed in some order. A model need not keep to it: it may give
//! a store another position among those of its variable, and offer any of them to a read. A search over execution
//! graphs has a model that shares its graph. The model then offers the store that the graph prescribes, and the search
//! chooses the tasks in an order that the graph allows.

use intermezzo_sdk::{MemoryOrder, SyncVar, TaskId};

/// An operation on an atomic, for a memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryAccess {
    /// The task that performs it.
    pub task: TaskId,
    /// The atomic.
    pub var: SyncVar,
    /// The ordering. For an exchange, the ordering if it succeeds.
    pub order: MemoryOrder,
    /// The kind of operation.
    pub kind: MemoryOp,
}

/// The kind of an operation on an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryOp {
    /// A load.
    Load,
    /// A store.
    Store,
    /// A read and a write that nothing comes between.
    Modify,
    /// A compare-exchange. It writes only if it reads `expected`; otherwise it is a load.
    Exchange {
        /// The value to compare with, as bits.
        expected: u64,
        /// The ordering if it fails.
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
    /// An operation that writes what it reads, or compares with it, must read a store after which its own may come.
    fn readable(&mut self, read: &MemoryAccess, values: &[u64], readable: &mut Vec<u32>);

    /// Notes that the operation reads this store. An exchange that reads the expected value then also stores, unless it
    /// fails without a reason.
    fn reads(&mut self, read: &MemoryAccess, store: u32);

    /// Notes a store. Returns `true` if no other store to the variable is newer.
    fn stores(&mut self, write: &MemoryAccess, store: u32) -> bool;

    /// Notes a fence.
    fn fences(&mut self, task: TaskId, order: MemoryOrder) {
        _ = (task, order);
    }
}
