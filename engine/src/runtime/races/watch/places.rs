//! The places of accesses: to whom the code there belongs, and its file and line.
//!
//! One instruction may stand for several functions, one in the other, because the compiler inlines. The debug
//! information has them all, so it is asked, once for each instruction. A function of std may have been called by either
//! the test or by us. If it was not inlined, its caller decides, which the frame pointers lead to.

use super::super::super::tasks::Tasks;
use super::super::super::{arena, leaks};
use crate::site::{Place, Site, is_of_std};
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The position of a call: the address to which it returns, and the frame pointer of the function that makes it.
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

/// The largest number of functions of std that call each other without another function between them.
const CALLS_MAX: usize = 64;

/// The kinds of code, as the words of an entry. Any other word is the test's: the address that stands for its place.
const UNKNOWN: usize = 0;
const OURS: usize = 1;
const STDS: usize = 2;

/// The bit of a word that says that the function, or one that was inlined there, is one of std's `Arc` or `Weak`. No
/// address has it.
const OF_ARC: usize = 1 << 63;

/// An instruction that was looked up.
struct Entry {
    address: AtomicUsize,
    word: AtomicUsize,
}

/// The logarithm of the number of entries.
const ENTRIES_LOG: u32 = 13;

/// Instructions by some bits of their addresses. Only the thread that runs the tasks of an execution uses them, and
/// another one only when that has ended.
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
    /// The address that stands for a place, and the place of such an address.
    addresses: HashMap<Place, usize>,
    places: HashMap<usize, Place>,
    files: HashMap<PathBuf, &'static str>,
}

static KNOWN: Mutex<Option<Lookups>> = Mutex::new(None);

/// The directories of our sources, and the compiler's working directory.
static DIRECTORIES: OnceLock<Directories> = OnceLock::new();

/// The directories by which files are known.
struct Directories {
    ours: Vec<PathBuf>,
    /// Some of ours, that count as std's: they pass on what they are asked for.
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

/// Returns `true` if code of ours makes the call that returns to this address, as far as that is known at once.
#[inline(always)]
pub(super) fn is_ours(address: usize) -> bool {
    let entry = entry_of(address);
    entry.address.load(Relaxed) == address && entry.word.load(Relaxed) == OURS
}

/// The caller of an access, in front of std's functions.
pub(super) struct Caller {
    /// The place, if it is the test's; `None` if it is ours, or not known.
    pub(super) site: Option<Site>,
    /// `true` if the access is made by std's `Arc` or `Weak`.
    pub(super) of_arc: bool,
}

/// Returns the caller of an access, by the call in front of it.
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

/// Returns the place at which the test calls the allocator, by the frame pointer of a function that the allocator calls.
/// The allocator counts as std's.
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
    // SAFETY: whatever is there, it is on the stack, which the task has used up to its end. (In code that keeps frame
    // pointers, as all does that is compiled with the calls, it is a frame.)
    Some(unsafe { std::ptr::with_exposed_provenance::<Frame>(pointer).read() })
}

/// Returns the caller of this function of std, and of those of std that call it.
fn caller_of_std(frame: Frame, stack: Range<usize>) -> Caller {
    let mut pointer = frame.pointer;
    let (mut site, mut of_arc) = (None, false);
    for _ in 0..CALLS_MAX {
        let Some(caller) = frame_at(pointer, &stack) else {
            break;
        };
        if caller.returns_to == 0 {
            // The root of the stack. An entry that was not used yet has this address.
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

/// Returns the entry in which an instruction is, if it is in one.
#[inline(always)]
fn entry_of(address: usize) -> &'static Entry {
    &ENTRIES[(address ^ address >> ENTRIES_LOG) & (ENTRIES.len() - 1)]
}

/// Returns the kind of the code that calls and is returned to at this address.
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
    /// Returns the address that stands for a place, which is this one if there is none.
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
