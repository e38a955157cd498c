//! Operations on one variable that commute.

use crate::SyncVarOp;

/// The way in which an operation accesses its variable. Two operations of one class commute, unless they write.
/// Operations of different classes do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Class {
    /// Reads, and changes nothing.
    Read,
    /// Changes something, in a way that depends on the order.
    Write,
    /// Takes or releases a share of a reader-writer lock.
    Share,
    /// Adds or subtracts without reading: reference counts, park tokens.
    Add,
}

impl Class {
    /// All classes, each at the index of its number.
    pub const ALL: [Class; 4] = [Class::Read, Class::Write, Class::Share, Class::Add];

    /// `true` if the order of two operations of these classes on one variable makes no difference.
    #[inline(always)]
    pub const fn commutes(self, other: Class) -> bool {
        self as u8 == other as u8 && !matches!(self, Class::Write)
    }

    /// Returns the class of an operation; `None` if it leaves no trace of itself.
    ///
    /// `by_environment` is `true` if a wait ended although no other task caused it.
    #[inline(always)]
    pub const fn of(op: SyncVarOp, by_environment: bool) -> Option<Class> {
        use SyncVarOp::*;
        Some(match op {
            AtomicStore | AtomicRmw | LockAcquire | LockTryAcquire | LockRelease => Class::Write,
            SharedAcquire | SharedTryAcquire | SharedRelease => Class::Share,
            CountUp | CountDown | Unpark => Class::Add,
            // Two calls commute, and two returns: what counts is which operations were over when another began.
            OperationCall => Class::Share,
            OperationReturn => Class::Add,
            // A task ends once, in whichever step.
            TaskEnd => Class::Add,
            // The ends of a channel are closed once each. Senders do not observe which of them is the last.
            ChannelClose => Class::Add,
            // When the first task passes, all have arrived. The notification decides which tasks are notified.
            BarrierPass => Class::Read,
            CondvarWake if !by_environment => Class::Read,
            TimeOut => Class::Write,
            Fence | Yield | Sleep | Choice | Quiesce => return None,
            _ if op.is_write() => Class::Write,
            _ => Class::Read,
        })
    }
}
