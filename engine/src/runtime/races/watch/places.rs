//! The places of accesses: the owner of the code there, and its file and line.
//!
//! One instruction may belong to several nested functions, because the compiler inlines. The debug information has them
//! all, and is read once for each instruction. A function of std may have been called by the test or by intermezzo. If
//! it was not inlined, its caller decides, which is found by the frame pointers.

use super::super::super::tasks::Tasks;
use super::super::super::{arena, leaks};
use crate::site::{Place, Site, is_of_std};
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A call: the frame pointer of the calling function, and the address to which the call returns.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Frame {
    /// The address of the frame, where its caller's frame pointer is, and after that the address it returns to.
    pub(super) pointer: usize,
    pub(super) returns_to: usize,
}

/// Two words at a frame pointer.
const FRAME: usize = size_of::<Frame>();

/// The source of `Arc` and `Weak`.
const SOURCE_OF_ARC: &str = "alloc/src/sync.rs";

/// The maximum number of nested calls within std that are followed.
const CALLS_MAX: usize = 64;

/// The kinds of code, as the words of an entry. Any other word is code of the test: an address that represents its
/// place.
const UNKNOWN: usize = 0;
const OURS: usize = 1;
const STDS: usize = 2;

/// The bit of a word that is set if the function, or one that was inlined there, belongs to std's `Arc` or `Weak`. No
/// address has it.
const OF_ARC: usize = 1 << 63;

/// An instruction that was looked up.
struct Entry {
    address: AtomicUsize,
    word: AtomicUsize,
}

/// The logarithm of the number of entries.
const ENTRIES_LOG: u32 = 13;

/// Instructions by some bits of their addresses. Only the thread that runs the tasks of an execution uses them. Another
/// thread may do so when the execution has ended.
static ENTRIES: [Entry; 1 << ENTRIES_LOG] = [const {
    Entry {
        address: AtomicUsize::new(0),
        word: AtomicUsize::new(UNKNOWN),
    }
}; 1 << ENTRIES_LOG];

/// All instructions that were looked up.
#[derive(Default)]
struct Lookups {
    words: HashMap<usize, usize>,
    /// The address that represents a place, and the place of such an address.
    addresses: HashMap<Place, usize>,
    places: HashMap<usize, Place>,
    files: HashMap<PathBuf, &'static str>,
}

static KNOWN: Mutex<Option<Lookups>> = Mutex::new(None);

/// The directories of intermezzo's sources, and the compiler's working directory.
static DIRECTORIES: OnceLock<Directories> = OnceLock::new();

/// The directories by which files are recognised.
struct Directories {
    ours: Vec<PathBuf>,
    /// Some of intermezzo's that count as std's, because they only pass calls on.
    transparent: Vec<PathBuf>,
    root: Option<PathBuf>,
}

/// Sets the directories of the front end's sources, those of them that count as std's, and the compiler's working
/// directory.
pub(super) fn set(ours: &[&str], transparent: &[&str], root: Option<PathBuf>) {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let allocator = concat!(env!("CARGO_MANIFEST_DIR"), "/src/runtime/arena");
    let transparent = transparent.iter().copied().chain([allocator]);
    _ = DIRECTORIES.set(Directories {
        ours: ours.iter().copied().chain([own]).map(PathBuf::from).collect(),
        transparent: transparent.map(PathBuf::from).collect(),
        root,
    });
}

/// Returns `true` if the call that returns to this address is known to be made by intermezzo's code. Looks nothing up.
#[inline(always)]
pub(super) fn is_ours(address: usize) -> bool {
    let entry = entry_of(address);
    entry.address.load(Relaxed) == address && entry.word.load(Relaxed) == OURS
}

/// The function that makes an access, directly or by way of std's functions.
pub(super) struct Caller {
    /// The place, if it is the test's; `None` if it is intermezzo's, or not known.
    pub(super) site: Option<Site>,
    /// `true` if the access is made by std's `Arc` or `Weak`.
    pub(super) of_arc: bool,
}

/// Returns the caller of an access, from the frame of the call before the access.
#[inline]
pub(super) fn caller_of(tasks: &Tasks, frame: Frame) -> Caller {
    let word = word_of(frame.returns_to);
    let of_arc = word & OF_ARC != 0;
    let site = match word & !OF_ARC {
        OURS => None,
        STDS => {
            let caller = caller_of_std(frame, tasks.running_stack());
            return Caller {
                of_arc: caller.of_arc | of_arc,
                ..caller
            };
        }
        address => Some(Site::instruction(address)),
    };
    Caller { site, of_arc }
}

/// Returns the place at which the test calls the allocator, from the frame pointer of a function that the allocator
/// calls. The allocator counts as std's.
pub(super) fn site_behind_allocator(tasks: &Tasks, pointer: usize) -> Option<Site> {
    let inside = Frame {
        pointer,
        returns_to: 0,
    };
    caller_of_std(inside, tasks.running_stack()).site
}

/// Returns the frame to which a pointer leads, if it may be one.
fn frame_at(pointer: usize, stack: &Range<usize>) -> Option<Frame> {
    let is_on_it = stack.contains(&pointer) && stack.end - pointer >= FRAME;
    if !is_on_it || !pointer.is_multiple_of(align_of::<Frame>()) {
        return None;
    }
    // SAFETY: the address is in the used part of the stack. In code that keeps frame pointers, as all code that is
    // compiled with the calls does, there is a frame.
    Some(unsafe { std::ptr::with_exposed_provenance::<Frame>(pointer).read() })
}

/// Returns the caller of this function of std, skipping those of std that call it.
fn caller_of_std(frame: Frame, stack: Range<usize>) -> Caller {
    let mut pointer = frame.pointer;
    let (mut site, mut of_arc) = (None, false);
    for _ in 0..CALLS_MAX {
        let Some(caller) = frame_at(pointer, &stack) else {
            break;
        };
        if caller.returns_to == 0 {
            // The root of the stack. Unused entries have this address, so it must not be looked up.
            break;
        }
        let word = word_of(caller.returns_to);
        of_arc |= word & OF_ARC != 0;
        match word & !OF_ARC {
            OURS => break,
            STDS if caller.pointer < pointer + FRAME => break,
            STDS => pointer = caller.pointer,
            address => {
                site = Some(Site::instruction(address));
                break;
            }
        }
    }
    Caller { site, of_arc }
}

/// Returns the entry that an instruction may be in.
#[inline(always)]
fn entry_of(address: usize) -> &'static Entry {
    &ENTRIES[(address ^ address >> ENTRIES_LOG) & (ENTRIES.len() - 1)]
}

/// Returns the word of the code with the call that returns to this address.
#[inline]
fn word_of(address: usize) -> usize {
    let entry = entry_of(address);
    if entry.address.load(Relaxed) == address {
        return entry.word.load(Relaxed);
    }
    let word = arena::outside(|| look_up(address));
    entry.word.store(word, Relaxed);
    entry.address.store(address, Relaxed);
    word
}

fn known() -> MutexGuard<'static, Option<Lookups>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cold]
#[inline(never)]
fn look_up(address: usize) -> usize {
    let mut known = known();
    let known = known.get_or_insert_default();
    if let Some(&word) = known.words.get(&address) {
        return word;
    }
    let (mut word, mut of_arc) = (STDS, 0);
    // The call is before the address that it returns to.
    let call = std::ptr::without_provenance_mut(address - 1);
    backtrace::resolve(call, |function| {
        if word != STDS {
            return;
        }
        let Some(path) = function.filename() else { return };
        if is_of_std(&path.to_string_lossy()) && path.ends_with(SOURCE_OF_ARC) {
            of_arc = OF_ARC;
        }
        word = match owner(path) {
            OURS => OURS,
            STDS => STDS,
            _ => known.stand_in(
                address,
                path,
                function.lineno().unwrap_or(0),
                function.colno().unwrap_or(0),
            ),
        };
    });
    word |= of_arc;
    known.words.insert(address, word);
    word
}

impl Lookups {
    /// Returns the address that represents a place. It is this address if the place has none.
    fn stand_in(&mut self, address: usize, path: &Path, line: u32, column: u32) -> usize {
        let root = DIRECTORIES.get().and_then(|known| known.root.as_deref());
        let shown = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        let file = match self.files.get(shown) {
            Some(&file) => file,
            None => {
                let file: &'static str = shown.to_string_lossy().into_owned().leak();
                self.files.insert(shown.to_owned(), file);
                file
            }
        };
        let place = Place { file, line, column };
        let standing = *self.addresses.entry(place).or_insert(address);
        self.places.insert(standing, place);
        standing
    }
}

/// Returns the kind of the code in a file.
fn owner(path: &Path) -> usize {
    let is_in = |directories: &[PathBuf]| directories.iter().any(|directory| path.starts_with(directory));
    match DIRECTORIES.get() {
        _ if is_of_std(&path.to_string_lossy()) => STDS,
        Some(known) if is_in(&known.transparent) => STDS,
        Some(known) if is_in(&known.ours) => OURS,
        _ => UNKNOWN,
    }
}

/// Returns the place of an instruction that was looked up.
pub(super) fn place_of(address: usize) -> Option<Place> {
    arena::outside(|| {
        let place = known().as_ref()?.places.get(&address).copied();
        place.or_else(|| leaks::place_of(address))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_a_stack_is_no_caller() {
        let root = Frame {
            pointer: 0,
            returns_to: 0,
        };
        let begin = (&raw const root).expose_provenance();
        let inside = Frame {
            pointer: begin,
            returns_to: 0,
        };
        let caller = caller_of_std(inside, begin..begin + FRAME);
        assert!(caller.site.is_none() && !caller.of_arc);
    }
}
