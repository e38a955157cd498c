//! The objects of an execution: its variables, those found by address, the values of statics, and blocks of memory.

#[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
use super::arena::FreedBlocks;
use super::blocks::Blocks;
use super::by_address::ByAddressTable;
use super::object::Epochs;
use super::replicas::Statics;
use crate::record::Vars;

/// The objects of an execution.
pub(super) struct Objects {
    /// The number of this execution, among all in the process: marks objects as belonging to it.
    epoch: u64,
    epochs: Epochs,
    pub(super) vars: Vars,
    pub(super) by_address: ByAddressTable,
    pub(super) statics: Statics,
    pub(super) blocks: Blocks,
    #[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
    pub(super) freed: FreedBlocks,
}

impl Objects {
    pub(super) fn new() -> Objects {
        Objects {
            epoch: 0,
            epochs: Epochs::new(),
            vars: Vars::default(),
            by_address: ByAddressTable::new(),
            statics: Statics::default(),
            blocks: Blocks::default(),
            #[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
            freed: FreedBlocks::default(),
        }
    }

    /// Resets the state for a new execution.
    pub(super) fn begin(&mut self) {
        self.epoch = self.epochs.next();
        self.vars.clear();
        self.by_address.begin();
    }

    /// Returns the number of this execution, among all in the process.
    #[inline(always)]
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }
}
