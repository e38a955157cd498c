//! `std::alloc`: the allocator's memory; monitors are notified when it is allocated and freed.
//!
//! In an execution, freed memory is kept until the execution ends. So a double free does no harm and is reported by a
//! monitor, and no address is used for two blocks. Memory that was not freed is freed at the end. Outside an execution,
//! these functions are std's.
//!
//! In addition to std's items there is [`Track`], as in loom, for values that must be dropped.

pub use std::alloc::{GlobalAlloc, Layout, LayoutError, System, handle_alloc_error};

#[cfg(feature = "unmodified")]
use intermezzo_engine::runtime::in_allocator;
use intermezzo_engine::runtime::{Engine, Site};
use intermezzo_sdk::{BlockKind, SyncVar};
use std::fmt;

/// The program's own global allocator, in unmodified code. What it does with atomics, locks and thread-locals of its own
/// is no operation of a test.
#[cfg(feature = "unmodified")]
#[doc(hidden)]
#[derive(Debug)]
pub struct OfProgram<A: 'static>(pub &'static A);

// SAFETY: it passes everything on.
#[cfg(feature = "unmodified")]
unsafe impl<A: GlobalAlloc> GlobalAlloc for OfProgram<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says.
        in_allocator(|| unsafe { self.0.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says.
        in_allocator(|| unsafe { self.0.alloc_zeroed(layout) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller says.
        in_allocator(|| unsafe { self.0.dealloc(pointer, layout) });
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as the caller says.
        in_allocator(|| unsafe { self.0.realloc(pointer, layout, new_size) })
    }
}

/// Allocates memory of that layout: `std::alloc::alloc`. Returns null if there is none.
///
/// # Safety
/// The layout's size must not be zero.
#[must_use]
#[track_caller]
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: as the caller says.
    allocated(unsafe { std::alloc::alloc(layout) }, layout, Site::caller())
}

/// Allocates zeroed memory of that layout: `std::alloc::alloc_zeroed`. Returns null if there is none.
///
/// # Safety
/// The layout's size must not be zero.
#[must_use]
#[track_caller]
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: as the caller says.
    let pointer = unsafe { std::alloc::alloc_zeroed(layout) };
    allocated(pointer, layout, Site::caller())
}

/// Frees memory: `std::alloc::dealloc`.
///
/// # Safety
/// The memory must have been allocated here with this layout. Inside an exploration it may have been freed before,
/// which a monitor reports.
#[track_caller]
pub unsafe fn dealloc(ptr: *mut u8, layout: Layout) {
    let site = Site::caller();
    match kept(ptr) {
        Some((engine, block)) => engine.block_released(block, site),
        // SAFETY: as the caller says; no execution has the memory.
        None => unsafe { std::alloc::dealloc(ptr, layout) },
    }
}

/// Allocates memory of that size, copies the contents, and frees the old memory: `std::alloc::realloc`. Returns null if
/// there is no memory, and frees nothing then. Inside an exploration the new memory is always at another address.
///
/// # Safety
/// The memory must have been allocated here with this layout, and not freed. The new size must not be zero, nor too
/// large for the layout's alignment.
#[must_use]
#[track_caller]
pub unsafe fn realloc(ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
    let site = Site::caller();
    let Some((engine, block)) = kept(ptr) else {
        // SAFETY: as the caller says; no execution has the memory.
        return unsafe { std::alloc::realloc(ptr, layout, new_size) };
    };
    // SAFETY: as the caller says.
    let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
    // SAFETY: the size is not zero, as the caller says.
    let new = allocated(unsafe { std::alloc::alloc(new_layout) }, new_layout, site);
    if !new.is_null() {
        // SAFETY: both have this many bytes, and nothing else uses the new ones.
        unsafe { new.copy_from_nonoverlapping(ptr, layout.size().min(new_size)) };
        engine.block_released(block, site);
    }
    new
}

/// Registers allocated memory with the execution.
fn allocated(pointer: *mut u8, layout: Layout, site: Site) -> *mut u8 {
    if let Some(engine) = Engine::current()
        && !pointer.is_null()
        && !engine.in_teardown()
    {
        let block = engine.keep_heap(pointer, layout, site);
        engine.block_allocated(block, SyncVar::NONE, site);
    }
    pointer
}

/// Returns the block that begins there, if it belongs to the current execution.
fn kept(pointer: *mut u8) -> Option<(Engine, u32)> {
    let engine = Engine::current()?;
    Some((engine, engine.heap_block(pointer)?))
}

/// A value; monitors are notified when it is created and when it is dropped. Not in std.
pub struct Track<T> {
    // The order matters: when the second field is dropped, the value has been dropped.
    value: T,
    #[allow(dead_code, reason = "dropped, and publishes that")]
    tracked: Tracked,
}

/// The block of a tracked value.
struct Tracked {
    site: Site,
    /// The execution, and the block.
    block: Option<(u64, u32)>,
}

impl<T> Track<T> {
    /// Creates a tracked value.
    #[track_caller]
    pub fn new(value: T) -> Track<T> {
        let site = Site::caller();
        let engine = Engine::current().filter(|engine| engine.hears_of_blocks());
        let block = engine.map(|engine| {
            let block = engine.note_block(BlockKind::Value, 0, size_of::<T>(), site);
            engine.block_allocated(block, SyncVar::NONE, site);
            (engine.epoch(), block)
        });
        Track {
            value,
            tracked: Tracked { site, block },
        }
    }

    /// Returns a reference to the value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// Returns a mutable reference to the value.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// Returns the value, and stops tracking it.
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
