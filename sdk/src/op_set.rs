//! Sets of kinds of visible operations.

use crate::SyncVarOp;

/// A set of kinds of visible operations.
///
/// ```
/// use intermezzo_sdk::{SyncVarOp, SyncVarOps};
///
/// let locks = SyncVarOps::of(&[SyncVarOp::LockAcquire, SyncVarOp::LockRelease]);
/// assert!(locks.contains(SyncVarOp::LockAcquire) && !locks.contains(SyncVarOp::Park));
/// assert!(!locks.intersects(SyncVarOps::of(&[SyncVarOp::Park])));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncVarOps(u64);

impl SyncVarOps {
    /// No operation.
    pub const NONE: SyncVarOps = SyncVarOps(0);

    /// Returns the set of these operations.
    pub const fn of(ops: &[SyncVarOp]) -> SyncVarOps {
        let (mut set, mut at) = (SyncVarOps::NONE, 0);
        while at < ops.len() {
            set = set.with(ops[at]);
            at += 1;
        }
        set
    }

    /// Returns the set with this operation added.
    #[inline]
    pub const fn with(self, op: SyncVarOp) -> SyncVarOps {
        const { assert!(SyncVarOp::ALL.len() <= u64::BITS as usize) };
        SyncVarOps(self.0 | 1 << op as u32)
    }

    /// `true` if the operation is in the set.
    #[inline]
    pub const fn contains(self, op: SyncVarOp) -> bool {
        self.0 >> op as u32 & 1 != 0
    }

    /// `true` if the two sets have an operation in common.
    #[inline]
    pub const fn intersects(self, other: SyncVarOps) -> bool {
        self.0 & other.0 != 0
    }
}

impl FromIterator<SyncVarOp> for SyncVarOps {
    fn from_iter<I: IntoIterator<Item = SyncVarOp>>(ops: I) -> Self {
        ops.into_iter().fold(SyncVarOps::NONE, SyncVarOps::with)
    }
}
