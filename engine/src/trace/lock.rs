//! Which operations take a lock, and which release one.

use intermezzo_sdk::SyncVarOp;

/// What an access does to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lock {
    /// It is no lock, or is only looked at.
    No,
    /// Takes it, or a share of it.
    Takes,
    /// Gives that back.
    Releases,
}

/// What an operation does to a lock.
pub fn lock(op: SyncVarOp) -> Lock {
    use SyncVarOp::*;
    match op {
        LockAcquire | LockTryAcquire | SharedAcquire | SharedTryAcquire => Lock::Takes,
        LockRelease | SharedRelease => Lock::Releases,
        _ => Lock::No,
    }
}
