//! What a visible operation does.

use std::fmt;

/// The ordering of an atomic operation; `None` for operations that are not atomics'.
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
/// `is_read` and `is_write` say which operations of two tasks on one variable commute: two that
/// only read do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum SyncVarOp {
    /// A load of an atomic.
    AtomicLoad,
    /// A store to an atomic.
    AtomicStore,
    /// A read-modify-write of an atomic, a successful compare-exchange included.
    AtomicRmw,
    /// A compare-exchange that failed: a read.
    AtomicRmwFailed,
    /// A fence.
    Fence,
    /// Exclusive acquisition of a lock.
    LockAcquire,
    /// Successful exclusive `try_lock`.
    LockTryAcquire,
    /// A `try_lock`, `try_read` or `try_write` that failed: a read.
    LockTryFailed,
    /// Release of an exclusively held lock.
    LockRelease,
    /// Shared acquisition of a reader-writer lock.
    SharedAcquire,
    /// Successful `try_read`.
    SharedTryAcquire,
    /// Release of a share of a reader-writer lock.
    SharedRelease,
    /// A look at whether a lock is poisoned: a read.
    PoisonCheck,
    /// The poison of a lock is cleared.
    PoisonClear,
    /// Beginning to wait on a condition variable; the mutex is released in the same step.
    CondvarWait,
    /// End of a wait on a condition variable, before the mutex is taken again.
    CondvarWake,
    /// `notify_one`
    NotifyOne,
    /// `notify_all`
    NotifyAll,
    /// A message, or its refusal by a channel without receiver, goes in.
    ChannelSend,
    /// A message, or the news that no sender is left, comes out.
    ChannelReceive,
    /// A `try_` operation on a channel that found it not ready: a read.
    ChannelTryFailed,
    /// An end of a channel is dropped.
    ChannelClose,
    /// Arrival at a barrier.
    BarrierArrive,
    /// Passing a barrier.
    BarrierPass,
    /// Beginning of a one-time initialisation.
    OnceBegin,
    /// End of a one-time initialisation.
    OnceEnd,
    /// A look at whether a one-time initialisation is complete, or the sight that it is: a read.
    OnceCheck,
    /// Creation of a task.
    TaskFork,
    /// First event of a task.
    TaskBegin,
    /// Last event of a task.
    TaskEnd,
    /// The end of a task is awaited, and has come.
    TaskJoin,
    /// A look at whether a task has ended: a read.
    TaskCheck,
    /// `park` returns.
    Park,
    /// `unpark`, or the waking of a future.
    Unpark,
    /// `yield_now` or `spin_loop`.
    Yield,
    /// `sleep`, on the virtual clock.
    Sleep,
    /// A timed wait gave up.
    TimeOut,
    /// `choose(n)`; `read` is the value chosen.
    Choice,
    /// A reference count goes up.
    CountUp,
    /// A reference count goes down.
    CountDown,
    /// A reference count is looked at: a read.
    CountRead,
    /// A plain memory access that was made a schedule point: a read.
    DataRead,
    /// A plain memory access that was made a schedule point: a write.
    DataWrite,
    /// An operation of an object under test begins; `written` is its number.
    OperationCall,
    /// An operation of an object under test is over; `written` is its number.
    OperationReturn,
}

impl SyncVarOp {
    /// Whether what the operation does depends on the state of its variable.
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
        )
    }

    /// Whether the operation changes the state of its variable.
    pub fn is_write(self) -> bool {
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
        )
    }

    /// Whether a later operation on the same variable may be ordered after this one by it
    /// (for atomics: given an ordering that releases).
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
        )
    }

    /// The operation in the words of a report.
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
        }
    }
}

impl fmt::Display for SyncVarOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
