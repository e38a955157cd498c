//! Statics that are restored before each execution, for code that was not written for the look-alikes.
//!
//! The cells and `static mut`s of such code would keep their values from one execution to the next. So a front end that
//! knows where its statics are saves their bytes before any execution, once in a process. From then on no static needs
//! a replica: one that contains a look-alike is restored as well.

use super::image::{set_statics_restored, writable_parts_of_program};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

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
            let mut from = 0;
            while from < bytes.len() {
                let not = of_allocator_after(place.addr() + from);
                let offset = |address: usize| address.saturating_sub(place.addr()).min(bytes.len());
                let (begin, end) = (offset(not.start), offset(not.end));
                // SAFETY: as above. `from` and `begin` are offsets in these bytes.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        bytes.as_ptr().add(from),
                        place.add(from),
                        begin.saturating_sub(from),
                    );
                }
                from = end;
            }
        }
    }
}

/// The beginnings and the ends of objects in statics that the program's own global allocator uses. They are not
/// restored: the allocator also serves the engine, between executions as well, and it may rely on their values. Not a
/// list that could grow, because an allocator cannot allocate; more objects than this are restored.
static OF_ALLOCATOR: [[AtomicUsize; 2]; 64] = [const { [const { AtomicUsize::new(0) }; 2] }; 64];

/// Notes that the program's own global allocator uses an object with this memory.
#[inline(never)]
pub(super) fn note_of_allocator(object: Range<usize>) {
    let is_kept = || kept_statics().any(|part| part.contains(&object.start));
    for [begin, end] in &OF_ALLOCATOR {
        let known = begin.load(Relaxed);
        if known == object.start || known == 0 && !is_kept() {
            return;
        }
        if known == 0 && begin.compare_exchange(0, object.start, Relaxed, Relaxed).is_ok() {
            end.store(object.end, Relaxed);
            return;
        }
    }
}

/// Returns the first object of the allocator that ends after this address; an empty range behind all addresses if there
/// is none.
fn of_allocator_after(address: usize) -> Range<usize> {
    let objects = OF_ALLOCATOR
        .iter()
        .map(|[begin, end]| begin.load(Relaxed)..end.load(Relaxed));
    let after = objects.filter(|object| object.end > address);
    after
        .min_by_key(|object| object.start)
        .unwrap_or(usize::MAX..usize::MAX)
}
