//! An allocator that takes a lock. Tests follow.

use std::alloc::{GlobalAlloc, Layout, System};

/// The number of blocks in use, which would become negative if it were reset between two executions.
pub struct Locking<const START: usize>(Mutex<usize>);

unsafe impl<const START: usize> GlobalAlloc for Locking<START> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        *self.0.lock().unwrap() += 1;
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        *self.0.lock().unwrap() -= 1;
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
pub static ALLOCATOR: Locking<{ 1 - 1 }> = Locking(Mutex::new(0));

fn allocations() -> usize {
    1
}
