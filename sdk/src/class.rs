//! Which operations on one variable commute.

use crate::SyncVarOp;

/// How an operation touches its variable. Two touches of one class commute, unless they write; others do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Class {
    /// Looks, and changes nothing.
    Read,
    /// Changes something, in a way that depends on the order.
    Write,
    /// Takes or gives back a share of a reader-writer lock.
    Share,
    /// Adds to something or takes away, and does not look: reference counts, park tokens.
    Add,
}

impl Class {
    /// All of them, each at its number.
    pub const ALL: [Class; 4] = [Class::Read, Class::Write, Class::Share, Class::Add];

    /// Whether the order of two touches of one variable makes no difference.
    #[inline(always)]
    pub const fn commutes(self, other: Class) -> bool {
        self as u8 == other as u8 && !matches!(self, Class::Write)
    }

    /// How an operation touches its variable; `None` if it leaves no trace of itself.
    ///
    /// `unasked` says that a waiting operation went on for no reason that another gave.
    #[inline(always)]
    pub const fn of(op: SyncVarOp, unasked: bool) -> Option<Class> {
        use SyncVarOp::*;
        Some(match op {
            AtomicStore | AtomicRmw | LockAcquire | LockTryAcquire | LockRelease => Class::Write,
            SharedAcquire | SharedTryAcquire | SharedRelease => Class::Share,
            CountUp | CountDown | Unpark => Class::Add,
            // Two calls commute, and two returns: what counts is which operations were over when another began.
            OperationCall => Class::Share,
            OperationReturn => Class::Add,
            // Whichever step it happens in, a task ends once.
            TaskEnd => Class::Add,
            // All have arrived when the first passes; who was notified is settled by the notification.
            BarrierPass => Class::Read,
            CondvarWake if !unasked => Class::Read,
            TimeOut => Class::Write,
            Fence | Yield | Sleep | Choice => return None,
            _ if op.is_write() => Class::Write,
            _ => Class::Read,
        })
    }
}
