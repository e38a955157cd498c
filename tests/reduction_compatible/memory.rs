//! Memory that tasks use and release in any order, which a monitor must report.

use intermezzo::alloc::{Layout, alloc, dealloc};
use intermezzo::ptr;

/// Memory for one number, shared by all tasks.
pub(crate) struct Memory(*mut u64);

// SAFETY: it is used only in executions, which run one task at a time and keep released memory until they are over.
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

    /// Releases it, even if it was released before.
    pub(crate) fn give_back(&self) {
        // SAFETY: it was allocated with this layout; in an execution, releasing it again is harmless.
        unsafe { dealloc(self.0.cast(), Layout::new::<u64>()) }
    }
}
