//! The operations that take a lock, and those that release one.

use intermezzo_sdk::SyncVarOp;

/// The effect of an access on a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lock {
    /// It is no lock, or is only inspected.
    No,
    /// The access takes the lock, or a share of it.
    Takes,
    /// The access releases the lock, or a share of it.
    Releases,
}

/// Returns the effect of an operation on a lock.
pub fn lock(op: SyncVarOp) -> Lock {
    use SyncVarOp::*;
    match op {
        LockAcquire | LockTryAcquire | SharedAcquire | SharedTryAcquire => Lock::Takes,
        LockRelease | SharedRelease => Lock::Releases,
        _ => Lock::No,
    }
}
