//! The kinds of visible operations, and their orderings.

use std::fmt;

/// The ordering of an atomic operation; `None` for operations on anything but atomics. The numbers are part of the
/// contract with plugins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum MemoryOrder {
    /// Not an atomic operation.
    #[default]
    None = 0,
    /// `Ordering::Relaxed`
    Relaxed = 1,
    /// `Ordering::Acquire`
    Acquire = 2,
    /// `Ordering::Release`
    Release = 3,
    /// `Ordering::AcqRel`
    AcqRel = 4,
    /// `Ordering::SeqCst`
    SeqCst = 5,
}

/// The kind of a visible operation.
///
/// `is_read` and `is_write` determine which operations of two tasks on one variable commute: two that only read do.
/// The numbers are part of the contract with plugins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum SyncVarOp {
    /// A load of an atomic.
    AtomicLoad = 0,
    /// A store to an atomic.
    AtomicStore = 1,
    /// A read-modify-write of an atomic, a successful compare-exchange included.
    AtomicRmw = 2,
    /// A compare-exchange that failed: a read.
    AtomicRmwFailed = 3,
    /// A fence.
    Fence = 4,
    /// Exclusive acquisition of a lock.
    LockAcquire = 5,
    /// Successful exclusive `try_lock`.
    LockTryAcquire = 6,
    /// A `try_lock`, `try_read` or `try_write` that failed: a read.
    LockTryFailed = 7,
    /// Release of an exclusively held lock.
    LockRelease = 8,
    /// Shared acquisition of a reader-writer lock.
    SharedAcquire = 9,
    /// Successful `try_read`.
    SharedTryAcquire = 10,
    /// Release of a share of a reader-writer lock.
    SharedRelease = 11,
    /// A check of whether a lock is poisoned: a read.
    PoisonCheck = 12,
    /// Clearing the poison of a lock.
    PoisonClear = 13,
    /// Beginning to wait on a condition variable; the mutex is released in the same step.
    CondvarWait = 14,
    /// End of a wait on a condition variable, before the mutex is taken again.
    CondvarWake = 15,
    /// `notify_one`
    NotifyOne = 16,
    /// `notify_all`
    NotifyAll = 17,
    /// A send to a channel, or its refusal because no receiver is left.
    ChannelSend = 18,
    /// A receive from a channel, or the discovery that no sender is left.
    ChannelReceive = 19,
    /// A `try_` operation on a channel that found it not ready: a read.
    ChannelTryFailed = 20,
    /// Dropping an end of a channel.
    ChannelClose = 21,
    /// Arrival at a barrier.
    BarrierArrive = 22,
    /// Passing a barrier.
    BarrierPass = 23,
    /// Beginning of a one-time initialisation.
    OnceBegin = 24,
    /// End of a one-time initialisation.
    OnceEnd = 25,
    /// A check of whether a one-time initialisation is complete, or the discovery that it is: a read.
    OnceCheck = 26,
    /// Creation of a task.
    TaskFork = 27,
    /// First event of a task.
    TaskBegin = 28,
    /// Last event of a task.
    TaskEnd = 29,
    /// A join: the awaited task has ended.
    TaskJoin = 30,
    /// A check of whether a task has ended: a read.
    TaskCheck = 31,
    /// The return of `park`.
    Park = 32,
    /// `unpark`, or the waking of a future.
    Unpark = 33,
    /// `yield_now` or `spin_loop`.
    Yield = 34,
    /// `sleep`, on the virtual clock.
    Sleep = 35,
    /// The end of a timed wait by its time limit.
    TimeOut = 36,
    /// `choose(n)`; `read` is the value chosen.
    Choice = 37,
    /// The increment of a reference count.
    CountUp = 38,
    /// The decrement of a reference count.
    CountDown = 39,
    /// A read of a reference count.
    CountRead = 40,
    /// A plain memory access that was made a schedule point, or a reading of virtual time: a read.
    DataRead = 41,
    /// A plain memory access that was made a schedule point: a write.
    DataWrite = 42,
    /// The beginning of an operation of an object under test; `written` is its number.
    OperationCall = 43,
    /// The end of an operation of an object under test; `written` is its number.
    OperationReturn = 44,
    /// An operation on a synchronisation primitive of the test's own that changes nothing: a read.
    PrimitiveRead = 45,
    /// An operation on a synchronisation primitive of the test's own that may change it.
    PrimitiveChange = 46,
    /// A schedule point that the test announces. No two commute, because nothing is known about the accesses there.
    SchedulePoint = 47,
    /// The end of a wait until no other task can do anything. What all tasks did comes before it.
    Quiesce = 48,
}

impl MemoryOrder {
    /// Every ordering, by number.
    pub const ALL: [MemoryOrder; 6] = {
        use MemoryOrder::*;
        [None, Relaxed, Acquire, Release, AcqRel, SeqCst]
    };

    /// Returns the weakest ordering that is at least as strong as both.
    ///
    /// ```
    /// use intermezzo_sdk::MemoryOrder::{AcqRel, Acquire, Relaxed, Release};
    ///
    /// assert_eq!(Acquire.join(Release), AcqRel);
    /// assert_eq!(Acquire.join(Relaxed), Acquire);
    /// ```
    pub fn join(self, other: MemoryOrder) -> MemoryOrder {
        use MemoryOrder::{AcqRel, Acquire, Release};
        match (self, other) {
            (Acquire, Release) | (Release, Acquire) => AcqRel,
            // Of any other two, the one with the larger number is the stronger one.
            _ => MemoryOrder::ALL[usize::max(self as usize, other as usize)],
        }
    }
}

impl SyncVarOp {
    /// Every operation, by number.
    pub const ALL: [SyncVarOp; 49] = {
        use SyncVarOp::*;
        [
            AtomicLoad,
            AtomicStore,
            AtomicRmw,
            AtomicRmwFailed,
            Fence,
            LockAcquire,
            LockTryAcquire,
            LockTryFailed,
            LockRelease,
            SharedAcquire,
            SharedTryAcquire,
            SharedRelease,
            PoisonCheck,
            PoisonClear,
            CondvarWait,
            CondvarWake,
            NotifyOne,
            NotifyAll,
            ChannelSend,
            ChannelReceive,
            ChannelTryFailed,
            ChannelClose,
            BarrierArrive,
            BarrierPass,
            OnceBegin,
            OnceEnd,
            OnceCheck,
            TaskFork,
            TaskBegin,
            TaskEnd,
            TaskJoin,
            TaskCheck,
            Park,
            Unpark,
            Yield,
            Sleep,
            TimeOut,
            Choice,
            CountUp,
            CountDown,
            CountRead,
            DataRead,
            DataWrite,
            OperationCall,
            OperationReturn,
            PrimitiveRead,
            PrimitiveChange,
            SchedulePoint,
            Quiesce,
        ]
    };

    /// `true` if the operation's effect depends on the state of its variable.
    pub fn is_read(self) -> bool {
        use SyncVarOp::*;
        !matches!(
            self,
            AtomicStore
                | PoisonClear
                | TaskFork
                | TaskEnd
                | Yield
                | Sleep
                | Fence
                | TimeOut
                | Choice
                | DataWrite
                | OperationReturn
                | Quiesce
        )
    }

    /// `true` if the operation changes the state of its variable.
    pub const fn is_write(self) -> bool {
        use SyncVarOp::*;
        !matches!(
            self,
            AtomicLoad
                | AtomicRmwFailed
                | Fence
                | LockTryFailed
                | PoisonCheck
                | ChannelTryFailed
                | OnceCheck
                | TaskBegin
                | TaskJoin
                | TaskCheck
                | Yield
                | Sleep
                | TimeOut
                | Choice
                | CountRead
                | DataRead
                | OperationCall
                | PrimitiveRead
                | Quiesce
        )
    }

    /// `true` if the operation may order a later one on the same variable after itself (for atomics: given an
    /// ordering that releases).
    pub fn is_release(self) -> bool {
        use SyncVarOp::*;
        matches!(
            self,
            AtomicStore
                | AtomicRmw
                | LockRelease
                | SharedRelease
                | CondvarWait
                | NotifyOne
                | NotifyAll
                | ChannelSend
                | ChannelReceive
                | ChannelClose
                | BarrierArrive
                | OnceEnd
                | TaskFork
                | TaskEnd
                | Unpark
                | CountDown
                | PrimitiveChange
        )
    }

    /// Returns the operation in the words of a report.
    pub fn name(self) -> &'static str {
        use SyncVarOp::*;
        match self {
            AtomicLoad => "load",
            AtomicStore => "store",
            AtomicRmw => "read-modify-write",
            AtomicRmwFailed => "failed compare-exchange",
            Fence => "fence",
            LockAcquire => "lock",
            LockTryAcquire => "try_lock",
            LockTryFailed => "failed try_lock",
            LockRelease => "unlock",
            SharedAcquire => "read lock",
            SharedTryAcquire => "try_read",
            SharedRelease => "read unlock",
            PoisonCheck => "is it poisoned",
            PoisonClear => "clear poison",
            CondvarWait => "wait",
            CondvarWake => "woken",
            NotifyOne => "notify_one",
            NotifyAll => "notify_all",
            ChannelSend => "send",
            ChannelReceive => "receive",
            ChannelTryFailed => "channel not ready",
            ChannelClose => "close",
            BarrierArrive => "arrive",
            BarrierPass => "pass",
            OnceBegin => "begin once",
            OnceEnd => "once complete",
            OnceCheck => "is it complete",
            TaskFork => "spawn",
            TaskBegin => "begin",
            TaskEnd => "end",
            TaskJoin => "join",
            TaskCheck => "is it finished",
            Park => "park",
            Unpark => "unpark",
            Yield => "yield",
            Sleep => "sleep",
            TimeOut => "time out",
            Choice => "choose",
            CountUp => "count up",
            CountDown => "count down",
            CountRead => "read count",
            DataRead => "read",
            DataWrite => "write",
            OperationCall => "call",
            OperationReturn => "return",
            PrimitiveRead => "inspect",
            PrimitiveChange => "change",
            SchedulePoint => "schedule",
            Quiesce => "quiesce",
        }
    }
}

impl fmt::Display for SyncVarOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::MemoryOrder;
    use crate::Side;

    /// Returns `true` if the ordering gives all that the other one gives.
    fn includes(order: MemoryOrder, other: MemoryOrder) -> bool {
        let has = |order: MemoryOrder| {
            [
                order != MemoryOrder::None,
                Side::Acquire.is_in(order),
                Side::Release.is_in(order),
                order == MemoryOrder::SeqCst,
            ]
        };
        has(order)
            .iter()
            .zip(has(other))
            .all(|(has, needs)| *has || !needs)
    }

    #[test]
    fn a_join_is_the_weakest_ordering_that_includes_both() {
        for one in MemoryOrder::ALL {
            for other in MemoryOrder::ALL {
                let join = one.join(other);
                for order in MemoryOrder::ALL {
                    let includes_both = includes(order, one) && includes(order, other);
                    assert_eq!(
                        includes(order, join),
                        includes_both,
                        "{one:?}, {other:?}: {join:?}"
                    );
                }
            }
        }
    }
}
