//! Statics that are restored before each execution, for code that was not written for the look-alikes.
//!
//! The cells and `static mut`s of such code would keep their values from one execution to the next. So a front end that
//! knows where its statics are saves their bytes before any execution, once in a process. From then on no static needs
//! a replica: one that contains a look-alike is restored as well.

use super::image::{set_statics_restored, writable_parts_of_program};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// `true` if the look-alikes are laid over std in this program.
static LAID_OVER_STD: AtomicBool = AtomicBool::new(false);

/// Notes that the look-alikes are laid over std in this program, so that all of it is under test: what was written for
/// intermezzo, and what was not.
pub fn lay_over_std() {
    LAID_OVER_STD.store(true, Relaxed);
}

/// `true` if the look-alikes are laid over std in this program.
pub fn is_laid_over_std() -> bool {
    LAID_OVER_STD.load(Relaxed)
}

/// The statics of the process that are restored.
static KEPT: OnceLock<Vec<Part>> = OnceLock::new();

/// Statics that are next to each other in memory.
struct Part {
    place: *mut u8,
    /// Their bytes before any execution.
    bytes: Box<[u8]>,
}

// SAFETY: the pointer is to statics, which every thread may use; `keep_statics` says when.
unsafe impl Send for Part {}
// SAFETY: as above.
unsafe impl Sync for Part {}

/// Keeps statics of this program as they are now, and restores them before each execution from now on; their addresses
/// are those in the program's file. Returns the number of bytes. The first call in a process counts.
///
/// # Errors
/// An address is in no writable part of the program.
///
/// # Safety
/// Nothing uses these statics but the tests that are explored, and only one exploration runs at a time, with one
/// worker.
pub unsafe fn keep_statics(addresses: impl IntoIterator<Item = Range<usize>>) -> Result<usize, String> {
    let (base, writable) = writable_parts_of_program();
    let mut places: Vec<Range<usize>> = addresses
        .into_iter()
        .map(|range| base.wrapping_add(range.start)..base.wrapping_add(range.end))
        .collect();
    places.sort_by_key(|place| place.start);
    places.dedup_by(|next, last| {
        let joins = next.start <= last.end;
        if joins {
            last.end = last.end.max(next.end);
        }
        joins
    });
    let is_writable = |place: &Range<usize>| {
        writable
            .iter()
            .any(|part| part.start <= place.start && place.end <= part.end)
    };
    if let Some(wrong) = places.iter().find(|place| !is_writable(place)) {
        return Err(format!(
            "the program has no static at {:#x}",
            wrong.start.wrapping_sub(base)
        ));
    }
    let parts = places.into_iter().map(|place| {
        let bytes = std::ptr::with_exposed_provenance_mut::<u8>(place.start);
        Part {
            place: bytes,
            // SAFETY: the program has these bytes for as long as it runs, and nothing else uses them now.
            bytes: unsafe { std::slice::from_raw_parts(bytes, place.len()) }.into(),
        }
    });
    let kept = KEPT.get_or_init(|| parts.collect());
    set_statics_restored();
    Ok(kept.iter().map(|part| part.bytes.len()).sum())
}

/// Returns the addresses of the statics that are kept.
#[allow(dead_code, reason = "for leaks, which are seen on some systems only")]
pub(super) fn kept_statics() -> impl Iterator<Item = Range<usize>> {
    let parts = KEPT.get().into_iter().flatten();
    parts.map(|part| part.place.addr()..part.place.addr() + part.bytes.len())
}

/// Restores the statics that are kept.
pub(super) fn restore_statics() {
    for Part { place, bytes } in KEPT.get().into_iter().flatten() {
        // SAFETY: the program has these bytes, and no execution runs that could use them.
        let now = unsafe { std::slice::from_raw_parts(*place, bytes.len()) };
        // Some cannot be written, after the loader has put addresses into them: these never change.
        if now != &**bytes {
            // SAFETY: as above.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), *place, bytes.len()) };
        }
    }
}
