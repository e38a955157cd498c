//! The blocks of the arena.
//!
//! A block is preceded by a header with its size and a mark. The mark depends on the address and the execution, so a
//! block that was freed, or that belongs to another execution, is recognised.

use super::super::{Does, Engine, VarKind, races};
use super::{Shortage, allocations, gate, range, reuse};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::Range;
use std::ptr::with_exposed_provenance_mut;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The bytes before a block.
#[derive(Clone, Copy)]
#[repr(C)]
struct Header {
    size: usize,
    mark: usize,
}

const HEADER: usize = size_of::<Header>();

/// The minimum alignment of a block: large enough for its header, and the one that C guarantees for any type.
pub(super) const ALIGN: usize = 16;

/// The byte that fills freed memory. A pointer made of it is invalid, and a length made of it is too large.
pub(super) const FREED: u8 = 0xdd;

/// The size in bytes from which a freed block's pages are returned to the system, which is then as fast as filling
/// them.
pub(super) const LARGE: usize = 256 << 10;

/// The number of bytes that stay mapped for the next execution. Clearing them takes as long as getting them again.
const KEPT: usize = 256 << 10;

/// The maximum number of bytes of an execution. Addresses are reused at most a few times in an execution, so without
/// this limit one that allocates and frees for ever would use up the machine's memory.
const HELD_MAX: usize = 2 << 30;

/// The beginning of the execution's memory, the end of its last block, and the limit of its memory.
static BASE: AtomicUsize = AtomicUsize::new(0);
static TOP: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);

/// The address beyond which a block needs a further check: `END`, or the next block whose allocation must be noted.
static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// The number of the execution, for marks.
static EXECUTION: AtomicUsize = AtomicUsize::new(0);

/// The numbers of blocks and of bytes in use.
static BLOCKS: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

/// A global allocator that gives a test's executions memory of their own, and is the system's allocator otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arena;

// SAFETY: a block from the range has the requested size and alignment. It stays until the execution ends or its owner
// frees it, and its memory is not given out again before; nothing of the test runs after the execution. Everything else
// is the system's. Nothing unwinds: a misuse switches to the worker for good.
unsafe impl GlobalAlloc for Arena {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if gate::is_of_test()
            && let Some((pointer, _)) = provide(layout.size(), layout.align())
        {
            return pointer;
        }
        // SAFETY: as the caller says.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if gate::is_of_test()
            && let Some((pointer, is_new)) = provide(layout.size(), layout.align())
        {
            // Memory that was not given out before in this execution is zero.
            if !is_new {
                // SAFETY: the block has this size, and nothing else has it.
                unsafe { pointer.write_bytes(0, layout.size()) };
            }
            watch(pointer, layout.size(), Does::Write);
            return pointer;
        }
        // SAFETY: as the caller says.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if range::holds(pointer.addr()) {
            watch(pointer, layout.size(), Does::Free);
            give_back(pointer, layout.align());
        } else {
            // SAFETY: as the caller says.
            unsafe { System.dealloc(pointer, layout) };
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if !range::holds(pointer.addr()) {
            // Its owner may outlive the execution, so it stays the system's. SAFETY: as the caller says.
            return unsafe { System.realloc(pointer, layout, new_size) };
        }
        watch(pointer, layout.size(), Does::Free);
        if resize(pointer, new_size) {
            return pointer;
        }
        // SAFETY: the size is valid with this alignment, as the caller says.
        let new = unsafe { self.alloc(Layout::from_size_align_unchecked(new_size, layout.align())) };
        if !new.is_null() {
            let moved = layout.size().min(new_size);
            // SAFETY: both have this many bytes, and nothing else has the new ones.
            unsafe { new.copy_from_nonoverlapping(pointer, moved) };
            if range::holds(new.addr()) {
                watch(new, moved, Does::Write);
            }
            give_back(pointer, layout.align());
        }
        new
    }
}

/// Publishes a write to a block for the test, if accesses to plain memory are watched: the block is about to be freed or
/// moved, or was just filled. Another task may run before a block is freed or moved.
#[inline(always)]
fn watch(pointer: *mut u8, size: usize, does: Does) {
    if races::is_memory_watched() && gate::is_open() {
        races::allocator_writes(pointer.addr(), size, does);
    }
}

/// Returns the numbers of blocks and of bytes that the current execution has in the arena.
pub fn in_use() -> (usize, usize) {
    (BLOCKS.load(Relaxed), BYTES.load(Relaxed))
}

/// Adds to a counter. Apart from blocks that another thread frees, only the worker's thread counts, so exact counts are
/// not worth an atomic addition.
#[inline(always)]
fn count(counter: &AtomicUsize, difference: usize) {
    counter.store(counter.load(Relaxed).wrapping_add(difference), Relaxed);
}

/// Returns the mark of a block in use at this address.
#[inline(always)]
fn mark(address: usize) -> usize {
    address.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ EXECUTION.load(Relaxed)
}

/// Returns the header of a block at this address.
#[inline(always)]
fn header(address: usize) -> *mut Header {
    with_exposed_provenance_mut(address - HEADER)
}

/// Returns a block, and `true` if its memory is new. `None` if the range has no room for it.
#[inline]
fn provide(size: usize, align: usize) -> Option<(*mut u8, bool)> {
    match reuse::freed_place(size, align) {
        Some(start) => Some((begin_block(start, size), false)),
        None => Some((take(size, align)?, true)),
    }
}

/// Returns a new block, if the range has room for it.
#[inline]
fn take(size: usize, align: usize) -> Option<*mut u8> {
    // None of this overflows: addresses have 48 bits, and sizes are those of layouts.
    let align = align.max(ALIGN);
    let start = (TOP.load(Relaxed) + HEADER + align - 1) & !(align - 1);
    let end = start + size;
    if end > LIMIT.load(Relaxed) && !may_reach(start, end) {
        return None;
    }
    // Before anything else, so that no block is given out twice if a signal ends the task here.
    TOP.store(end, Relaxed);
    Some(begin_block(start, size))
}

/// Turns unused memory of the range into a block of this size.
#[inline]
fn begin_block(start: usize, size: usize) -> *mut u8 {
    let mark = mark(start);
    // SAFETY: between the block before and this one. The range is mapped, and nothing else has this part of it.
    unsafe { header(start).write(Header { size, mark }) };
    count(&BLOCKS, 1);
    count(&BYTES, size);
    with_exposed_provenance_mut(start)
}

/// Returns `true` if a block may end there, although that is beyond the limit. Notes its allocation if that is wanted.
#[cold]
#[inline(never)]
fn may_reach(start: usize, end: usize) -> bool {
    let has_room = end <= END.load(Relaxed);
    match has_room {
        true => allocations::note(start - BASE.load(Relaxed)),
        false => gate::note(Shortage::Full),
    }
    set_limit();
    has_room
}

/// Sets the limit, after one of the values that it depends on has changed.
fn set_limit() {
    let next = BASE.load(Relaxed).saturating_add(allocations::next_wanted());
    LIMIT.store(END.load(Relaxed).min(next), Relaxed);
}

/// Frees a block of this execution that was allocated with this alignment.
#[inline]
fn give_back(pointer: *mut u8, align: usize) {
    let address = pointer.addr();
    // SAFETY: the range is mapped, and no block is at its very beginning. Anything in the range may be read: if this is
    // not a block, it is some other memory of the test, or zero. If memory of ended executions cannot be accessed, the
    // read crashes, as it should.
    let found = unsafe { header(address).read_unaligned() };
    let mark = mark(address);
    if found.mark != mark {
        return wrong(found.mark == !mark);
    }
    let Header { size, .. } = found;
    // SAFETY: it is a block, so the header is its own, and this is the call that frees it.
    unsafe { header(address).write(Header { size, mark: !mark }) };
    count(&BLOCKS, 1_usize.wrapping_neg());
    count(&BYTES, size.wrapping_neg());
    if gate::is_of_test()
        && let Some(engine) = Engine::current()
    {
        if let Some((kind, site)) = engine.freed(address..address + size) {
            let object = match kind {
                VarKind::Count => "count of an `Arc`",
                _ => "atomic",
            };
            let message = format!("the {object} used at {site} is in memory that was freed");
            misused(engine, &message);
        }
        reuse::note_freed(engine, address, size, align);
    }
    // SAFETY: the block was the caller's, who has freed it.
    unsafe { spoil(address, address + size) };
}

/// Fills memory of a freed block.
///
/// # Safety
/// It is part of a block, and nothing uses it.
unsafe fn spoil(from: usize, to: usize) {
    let fill = |from: usize, to: usize| {
        // SAFETY: as the caller says.
        unsafe { with_exposed_provenance_mut::<u8>(from).write_bytes(FREED, to - from) };
    };
    if to - from < LARGE {
        return fill(from, to);
    }
    let (first, last) = (range::page_from(from), range::page_of(to));
    fill(from, first);
    fill(last, to);
    // SAFETY: whole pages of the block.
    unsafe { range::discard(first, last) };
    // Pages that were returned do not count towards the limit.
    let end = END.load(Relaxed) + (last - first);
    END.store(end.min(range::bounds().1), Relaxed);
    set_limit();
}

/// Changes the size of a block in place. Returns `false` if that is not possible, or if it is not a block of this
/// execution.
fn resize(pointer: *mut u8, new_size: usize) -> bool {
    let address = pointer.addr();
    // SAFETY: as in `give_back`.
    let found = unsafe { header(address).read_unaligned() };
    if found.mark != mark(address) {
        return false;
    }
    let (size, end) = (found.size, address + found.size);
    if new_size > size {
        let is_last = end == TOP.load(Relaxed);
        if !is_last || !gate::is_open() || address + new_size > END.load(Relaxed) {
            return false;
        }
        TOP.store(address + new_size, Relaxed);
    } else {
        // SAFETY: the end of the block, which its owner gives back.
        unsafe { spoil(address + new_size, end) };
    }
    // SAFETY: the header of this block.
    unsafe { (*header(address)).size = new_size };
    count(&BYTES, new_size.wrapping_sub(size));
    true
}

/// Ends the execution, because a task frees memory that is not in use. Does nothing if the caller is not code of the
/// test.
#[cold]
#[inline(never)]
fn wrong(was_freed: bool) {
    let Some(engine) = Engine::current().filter(|_| gate::is_open()) else {
        return;
    };
    let message = if was_freed {
        "memory is freed twice"
    } else {
        "memory is freed that this execution has not allocated: a static may have kept it from an earlier one"
    };
    misused(engine, message);
}

/// Ends the execution with a finding, from within the allocator or another function out of which nothing may unwind.
#[cold]
pub(in super::super) fn misused(engine: Engine, message: &str) {
    if engine.in_teardown() {
        return;
    }
    engine.with_task(engine.task(), |entry| entry.finishing = true);
    engine.misuse(message.into());
}

/// Makes the range the execution's memory, from this address on.
pub(super) fn begin_at(base: usize) {
    let end = range::bounds().1;
    BASE.store(base, Relaxed);
    TOP.store(base, Relaxed);
    END.store(end.min(base.saturating_add(HELD_MAX)), Relaxed);
    allocations::begin();
    set_limit();
    // Zeroed memory must not look like a block.
    count(&EXECUTION, 1);
    BLOCKS.store(0, Relaxed);
    BYTES.store(0, Relaxed);
}

/// Returns the beginning of the execution's memory.
pub(super) fn base() -> usize {
    BASE.load(Relaxed)
}

/// Returns the blocks in use, by address. The execution has ended.
pub(super) fn list() -> Vec<Range<usize>> {
    // No static of this file may seem to point into a block. The others hold addresses between blocks.
    LIMIT.store(END.load(Relaxed), Relaxed);
    let mut blocks = Vec::new();
    let mut at = BASE.load(Relaxed).next_multiple_of(ALIGN);
    let top = TOP.load(Relaxed);
    while at + HEADER < top {
        let start = at + HEADER;
        // SAFETY: it is in the range, below what was given out last.
        let Header { size, mark: found } = unsafe { header(start).read() };
        let mark = mark(start);
        if found == mark {
            blocks.push(start..start + size);
        }
        // There may be a gap before the next block: a block can shrink, and an alignment can be larger.
        let next = if found == mark || found == !mark { size } else { 0 };
        at = (start + next).next_multiple_of(ALIGN);
    }
    blocks
}

/// Returns `true` if these bytes are in a block of this execution that was freed, and nothing has written to them since.
pub(in super::super) fn are_freed(address: usize, size: usize) -> bool {
    let (base, top) = (BASE.load(Relaxed), TOP.load(Relaxed));
    if address < base || address + size > top {
        return false;
    }
    // SAFETY: they are in the range, below what was given out last.
    let byte = |at| unsafe { std::ptr::with_exposed_provenance::<u8>(at).read() };
    if !(address..address + size).all(|at| byte(at) == FREED) {
        return false;
    }
    // The test may have written such bytes itself. The block tells, which begins somewhere before them.
    let mut start = address & !(ALIGN - 1);
    while start >= base + HEADER {
        // SAFETY: as above.
        let Header { size, mark: found } = unsafe { header(start).read() };
        let mark = mark(start);
        if found == mark {
            return address >= start + size;
        }
        if found == !mark {
            return true;
        }
        start -= ALIGN;
    }
    false
}

/// Reclaims all memory: the execution has ended.
pub(super) fn take_all_back() {
    let (base, top) = (BASE.load(Relaxed), TOP.load(Relaxed));
    let end = range::page_from(top);
    if range::checks() {
        return begin_at(set_apart(base, end));
    }
    let kept = end.min(base + KEPT);
    // SAFETY: all of it is in the range, and no task of the execution runs any more.
    unsafe {
        with_exposed_provenance_mut::<u8>(base).write_bytes(0, top.min(kept) - base);
        range::discard(kept, end);
    }
    begin_at(base);
}

/// Makes these pages inaccessible, and returns the address from which the next execution gets its memory.
fn set_apart(base: usize, end: usize) -> usize {
    let (first, last) = range::bounds();
    // SAFETY: as in `take_all_back`.
    unsafe {
        range::discard(base, end);
        if base < end {
            range::protect(base, end, false);
        }
        if last - end >= HELD_MAX.min((last - first) / 2) {
            return end;
        }
        range::protect(first, last, true);
    }
    first
}
