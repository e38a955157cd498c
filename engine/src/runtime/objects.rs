//! The objects of an execution: its variables, those found by address, the values of statics, and blocks of memory.

#[cfg(all(feature = "unmodified", unix, target_pointer_width = "64"))]
use super::arena::FreedBlocks;
use super::blocks::Blocks;
use super::by_address::ByAddressTable;
use super::given_names::GivenNames;
use super::object::{Epochs, uses_outside};
use super::replicas::Statics;
use crate::record::Vars;

/// The objects of an execution.
pub(super) struct Objects {
    /// The number of this execution, unique in the process: objects that belong to it are marked with it.
    epoch: u64,
    epochs: Epochs,
    /// The number of first uses of objects outside any execution when this one began.
    uses_outside: u64,
    pub(super) vars: Vars,
    pub(super) given_names: GivenNames,
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
            uses_outside: 0,
            vars: Vars::default(),
            given_names: GivenNames::default(),
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
        self.uses_outside = uses_outside();
        self.vars.clear();
        self.given_names.clear();
        self.by_address.begin();
    }

    /// Returns the number of first uses of objects outside any execution when this one began.
    pub(super) fn uses_outside(&self) -> u64 {
        self.uses_outside
    }

    /// Returns the number of this execution, unique in the process.
    #[inline(always)]
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }
}
