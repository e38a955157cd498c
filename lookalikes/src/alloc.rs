//! `std::alloc`: memory of the allocator's, of which monitors hear when it is asked for and given back.
//!
//! In an execution what is given back stays where it is until the execution is over: giving it back twice is then for
//! a monitor to tell, and harms nobody, and no address is used for two blocks. What is never given back is
//! freed then. Outside, this is std.
//!
//! Beside std, as in loom: [`Track`], for values of which it matters that they are dropped.

pub use std::alloc::{GlobalAlloc, Layout, LayoutError, System, handle_alloc_error};

use intermezzo_engine::runtime::{Engine, Site};
use intermezzo_sdk::{BlockKind, SyncVar};
use std::fmt;
use std::panic::Location;

/// Memory of that layout: `std::alloc::alloc`. Null if there is none.
///
/// # Safety
/// The layout's size is not zero.
#[must_use]
#[track_caller]
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: as the caller says.
    allocated(unsafe { std::alloc::alloc(layout) }, layout, Location::caller())
}

/// Zeroed memory of that layout: `std::alloc::alloc_zeroed`. Null if there is none.
///
/// # Safety
/// The layout's size is not zero.
#[must_use]
#[track_caller]
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: as the caller says.
    let pointer = unsafe { std::alloc::alloc_zeroed(layout) };
    allocated(pointer, layout, Location::caller())
}

/// Gives memory back: `std::alloc::dealloc`.
///
/// # Safety
/// The memory was allocated here with this layout. Inside an exploration it may have been given back before, which a
/// monitor tells.
#[track_caller]
pub unsafe fn dealloc(ptr: *mut u8, layout: Layout) {
    let site = Location::caller();
    match kept(ptr) {
        Some((engine, block)) => engine.block_released(block, site),
        // SAFETY: as the caller says; no execution has it.
        None => unsafe { std::alloc::dealloc(ptr, layout) },
    }
}

/// Memory of that size, which begins with what was in the one that is given back: `std::alloc::realloc`. Null if there is
/// none; nothing is given back then. Inside an exploration it is always elsewhere.
///
/// # Safety
/// The memory was allocated here with this layout, and not given back; the new size is not zero, nor too large for the
/// layout's alignment.
#[must_use]
#[track_caller]
pub unsafe fn realloc(ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
    let site = Location::caller();
    let Some((engine, block)) = kept(ptr) else {
        // SAFETY: as the caller says; no execution has it.
        return unsafe { std::alloc::realloc(ptr, layout, new_size) };
    };
    // SAFETY: as the caller says.
    let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
    // SAFETY: the size is not zero, as the caller says.
    let new = allocated(unsafe { std::alloc::alloc(new_layout) }, new_layout, site);
    if !new.is_null() {
        // SAFETY: both have this many bytes, and the new ones are nobody else's.
        unsafe { new.copy_from_nonoverlapping(ptr, layout.size().min(new_size)) };
        engine.block_released(block, site);
    }
    new
}

/// Memory that the allocator gave: an execution takes care of it.
fn allocated(pointer: *mut u8, layout: Layout, site: Site) -> *mut u8 {
    if let Some(engine) = Engine::current()
        && !pointer.is_null()
        && !engine.in_teardown()
    {
        let block = engine.keep_heap(pointer, layout);
        engine.block_allocated(block, SyncVar::NONE, site);
    }
    pointer
}

/// Returns the block that begins there, if it is one of the execution that runs.
fn kept(pointer: *mut u8) -> Option<(Engine, u32)> {
    let engine = Engine::current()?;
    Some((engine, engine.heap_block(pointer)?))
}

/// A value of which monitors hear when it is made and when it is dropped. Not in std.
pub struct Track<T> {
    // In this order: when the second is dropped, the value was.
    value: T,
    #[allow(dead_code, reason = "dropped, and publishes that")]
    tracked: Tracked,
}

/// The block of a value that is tracked.
struct Tracked {
    site: Site,
    /// The execution, and the block.
    block: Option<(u64, u32)>,
}

impl<T> Track<T> {
    /// Tracks a value.
    #[track_caller]
    pub fn new(value: T) -> Track<T> {
        let site = Location::caller();
        let engine = Engine::current().filter(|engine| engine.hears_of_blocks());
        let block = engine.map(|engine| {
            let block = engine.note_block(BlockKind::Value, 0, size_of::<T>());
            engine.block_allocated(block, SyncVar::NONE, site);
            (engine.epoch(), block)
        });
        Track {
            value,
            tracked: Tracked { site, block },
        }
    }

    /// Returns the value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// Returns the value.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// Returns the value, which is tracked no longer.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Track<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Track").field(&self.value).finish()
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        if let (Some((epoch, block)), Some(engine)) = (self.block, Engine::current())
            && engine.epoch() == epoch
        {
            engine.block_released(block, self.site);
        }
    }
}
