//! An allocator that counts in a thread-local. Tests follow.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Local;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

unsafe impl GlobalAlloc for Local {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        _ = COUNT.try_with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Local = Local;

fn allocations() -> usize {
    1
}
