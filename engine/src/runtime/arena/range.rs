//! The range of addresses of the arena, and its pages.

use std::ptr::with_exposed_provenance_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The address at which the range begins if nothing else is there, so that it is the same in every process. It is above
/// programs at low addresses and their heaps, and below everything that the system places by itself. Two adjacent
/// 32-bit numbers look like an address in it only if the second is 43 (0x2b) or slightly more.
const WANTED: usize = 0x2b_0000_0000;

/// The sizes of the range in bytes to try, largest first. Only pages that are used take memory.
const SIZES: [usize; 4] = [64 << 30, 16 << 30, 4 << 30, 1 << 30];

/// The beginning and the size of the range; the size is 0 until it is reserved.
static BEGIN: AtomicUsize = AtomicUsize::new(0);
static SIZE: AtomicUsize = AtomicUsize::new(0);
/// The size of a page.
static PAGE: AtomicUsize = AtomicUsize::new(0);
/// `true` if memory of ended executions cannot be accessed.
static CHECKS: AtomicBool = AtomicBool::new(false);

/// Reserves the range, unless that was already done. Returns `false` if the system provides none.
pub(super) fn reserve() -> bool {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: a plain call.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        PAGE.store(usize::try_from(page).unwrap_or(4096), Relaxed);
        CHECKS.store(std::env::var_os("INTERMEZZO_ARENA_CHECK").is_some(), Relaxed);
        let found = SIZES.iter().find_map(|&size| Some((map(size)?, size)));
        if let Some((begin, size)) = found {
            BEGIN.store(begin, Relaxed);
            SIZE.store(size, Relaxed);
            super::blocks::begin_at(begin);
        }
    });
    SIZE.load(Relaxed) > 0
}

/// Maps that many bytes, at the wanted address if possible.
fn map(size: usize) -> Option<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let exactly = libc::MAP_FIXED_NOREPLACE;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let exactly = 0;
    let attempts = [(WANTED, flags | exactly), (0, flags)];
    attempts.into_iter().find_map(|(at, flags)| {
        let at = with_exposed_provenance_mut(at);
        // SAFETY: a mapping of its own: none of these flags replaces another one.
        let place = unsafe { libc::mmap(at, size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        (place != libc::MAP_FAILED).then(|| place.expose_provenance())
    })
}

/// Returns `true` if this address is in the range.
#[inline(always)]
pub(in super::super) fn holds(address: usize) -> bool {
    address.wrapping_sub(BEGIN.load(Relaxed)) < SIZE.load(Relaxed)
}

/// Returns the beginning and the end of the range.
pub(super) fn bounds() -> (usize, usize) {
    let begin = BEGIN.load(Relaxed);
    (begin, begin + SIZE.load(Relaxed))
}

/// Returns `true` if memory of ended executions cannot be accessed.
pub(super) fn checks() -> bool {
    CHECKS.load(Relaxed)
}

/// Returns the beginning of the first page at or after this address.
pub(super) fn page_from(address: usize) -> usize {
    address.next_multiple_of(PAGE.load(Relaxed))
}

/// Returns the beginning of the page with this address.
pub(super) fn page_of(address: usize) -> usize {
    address & !(PAGE.load(Relaxed) - 1)
}

/// Returns the memory of these pages to the system. Their contents are zero from then on.
///
/// # Safety
/// They are in the range, and their contents are not needed.
pub(super) unsafe fn discard(from: usize, to: usize) {
    if from >= to {
        return;
    }
    let place = with_exposed_provenance_mut(from);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: pages of our own mapping, as the caller says.
    unsafe {
        libc::madvise(place, to - from, libc::MADV_DONTNEED);
    }
    // Elsewhere the advice may leave the contents.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    // SAFETY: as above. The new mapping replaces the old one in one step.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE | libc::MAP_FIXED;
        libc::mmap(place, to - from, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
    }
}

/// Makes these pages accessible, or makes each access crash.
///
/// # Safety
/// They are in the range.
pub(super) unsafe fn protect(from: usize, to: usize, accessible: bool) {
    let protection = match accessible {
        true => libc::PROT_READ | libc::PROT_WRITE,
        false => libc::PROT_NONE,
    };
    // SAFETY: pages of our own mapping, as the caller says.
    let failed = unsafe { libc::mprotect(with_exposed_provenance_mut(from), to - from, protection) };
    assert_eq!(failed, 0, "pages of the arena cannot be protected");
}
