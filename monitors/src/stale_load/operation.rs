//! The effect of an operation on a store buffer.

use intermezzo_sdk::{Class, MemoryOrder, SyncVarAccess, SyncVarOp};

/// The kind of an operation for a machine with store buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// No access to memory that another task sees.
    Nothing,
    /// An operation that drains the buffer.
    Drain,
    /// The buffers of all tasks are drained, and the task learns of everything.
    Rest,
    /// A load that is never reported: there is no list of the stores that it could read.
    Look,
    /// A load.
    Load,
    /// A store, which may stay in the buffer.
    Store,
    /// One or several read-modify-writes: the buffer is drained before and after.
    Whole {
        /// The class of the operation on its variable.
        class: Class,
        /// `true` if a load could read from it.
        stores: bool,
    },
}

impl Operation {
    /// Returns the kind of the operation on x86, as Rust compiles to it.
    pub(super) fn of(access: &SyncVarAccess) -> Operation {
        use SyncVarOp::*;
        let whole = |class| Operation::Whole { class, stores: false };
        let by_environment = access.read == 1;
        match access.op {
            Yield | Sleep | Choice | OperationCall | OperationReturn | SchedulePoint => Operation::Nothing,
            Quiesce => Operation::Rest,
            Fence if access.order == MemoryOrder::SeqCst => Operation::Drain,
            Fence => Operation::Nothing,
            AtomicLoad | DataRead => Operation::Load,
            PoisonCheck | OnceCheck | TaskCheck | CountRead | PrimitiveRead => Operation::Look,
            AtomicStore if access.order != MemoryOrder::SeqCst => Operation::Store,
            DataWrite => Operation::Store,
            AtomicStore | AtomicRmw => Operation::Whole {
                class: Class::Write,
                stores: true,
            },
            SharedAcquire | SharedTryAcquire | SharedRelease => whole(Class::Share),
            // The last one finds that it is the last: it reads.
            CountDown if access.written == 0 => whole(Class::Write),
            CountUp | CountDown | Unpark | TaskEnd => whole(Class::Add),
            // When the first task passes, all have arrived. The notification decides which tasks are notified.
            BarrierPass => whole(Class::Read),
            CondvarWake if !by_environment => whole(Class::Read),
            TimeOut => whole(Class::Write),
            op if op.is_write() => whole(Class::Write),
            _ => whole(Class::Read),
        }
    }
}
