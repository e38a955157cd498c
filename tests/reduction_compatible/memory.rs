//! Memory that tasks use, and give back, in any order: what a monitor must object to.

use intermezzo::alloc::{Layout, alloc, dealloc};
use intermezzo::ptr;

/// Memory for one number, which all tasks have.
pub(crate) struct Memory(*mut u64);

// SAFETY: it is used in executions alone, which run one task at a time and keep what is given back until they are over.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    pub(crate) fn new() -> Memory {
        // SAFETY: the layout has a size.
        Memory(unsafe { alloc(Layout::new::<u64>()) }.cast())
    }

    pub(crate) fn read(&self) {
        ptr::track_read(self.0, 8);
    }

    pub(crate) fn write(&self) {
        ptr::track_write(self.0, 8);
    }

    /// Gives it back, however often that was done before.
    pub(crate) fn give_back(&self) {
        // SAFETY: it was allocated with this layout; in an execution, doing so again harms nobody.
        unsafe { dealloc(self.0.cast(), Layout::new::<u64>()) }
    }
}
