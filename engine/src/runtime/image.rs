//! Recognition of statics that still have their initial bytes.
//!
//! An object in a writable segment of a loaded file is in a static. But it may have been put there at run time (into a
//! `std::sync::OnceLock`, for instance), and then its bytes are not a constant and must not be copied. So its bytes are
//! compared with the file's: each word must be the same as in the file, or an address in some loaded file, which the
//! loader put there.

use super::arena;
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// `true` if the front end restores the memory of statics before each execution.
static RESTORED: AtomicBool = AtomicBool::new(false);

/// Notes that the front end restores the bytes of all statics before each execution, from now on and as long as the
/// process lives. So a static is an object in place, executions run one at a time, and after an execution a static has
/// the value that it had at the end.
pub fn set_statics_restored() {
    RESTORED.store(true, Relaxed);
}

/// Returns `true` if the front end restores the bytes of all statics before each execution.
#[inline]
pub fn statics_are_restored() -> bool {
    RESTORED.load(Relaxed)
}

/// The file of this process's program.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// A part of a file that was loaded.
struct Segment {
    addresses: Range<usize>,
    /// The address at which the file's address 0 was loaded.
    loaded_at: usize,
    writable: bool,
    /// The file, and the offset of the part in it; beyond `file_bytes` it is zeros.
    path: PathBuf,
    offset: u64,
    file_bytes: usize,
}

/// Returns `true` if the bytes at this address are the initial ones of a static.
#[inline]
pub(super) fn is_initial_static(address: usize, bytes: &[MaybeUninit<u8>]) -> bool {
    !is_in_gap(address) && is_initial(address, bytes)
}

/// Returns `true` if this address is in the same gap between segments as the last one that was in no static. Every
/// object is looked up once in each execution, and most are in that gap.
#[inline]
fn is_in_gap(address: usize) -> bool {
    let (begin, end) = GAP.get();
    (begin..end).contains(&address)
}

#[inline(never)]
fn is_initial(address: usize, bytes: &[MaybeUninit<u8>]) -> bool {
    let Some(segment) = segment_of(address) else {
        return false;
    };
    let initial = initial_bytes(segment, address - segment.addresses.start, bytes.len());
    // If the bytes cannot be compared, the object is assumed to be an initial static, which is most likely.
    initial.is_none_or(|initial| {
        (0..bytes.len())
            .step_by(WORD)
            .all(|at| word_is_initial(address, at, bytes, &initial))
    })
}

/// Returns `true` if this is an address in a static, initial or not.
pub(super) fn is_in_static(address: usize) -> bool {
    segment_of(address).is_some()
}

/// Returns the writable segment with this address.
fn segment_of(address: usize) -> Option<&'static Segment> {
    if is_in_gap(address) {
        return None;
    }
    let segments = writable_segments();
    let after = segments.partition_point(|segment| segment.addresses.start <= address);
    let before = segments[..after]
        .last()
        .map_or(0, |segment| segment.addresses.end);
    if address >= before {
        let next = segments
            .get(after)
            .map_or(usize::MAX, |next| next.addresses.start);
        GAP.set((before, next));
        return None;
    }
    Some(segments[after - 1])
}

thread_local! {
    /// The addresses between two writable segments, around the last object that was in none.
    static GAP: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

const WORD: usize = size_of::<usize>();

fn word_is_initial(address: usize, at: usize, bytes: &[MaybeUninit<u8>], initial: &[u8]) -> bool {
    let word = at..(at + WORD).min(bytes.len());
    // SAFETY: padding is read too, as whatever is there: the loader initialises all of a static's memory.
    let now: Vec<u8> = bytes[word.clone()]
        .iter()
        .map(|byte| unsafe { std::ptr::from_ref(byte).cast::<u8>().read_volatile() })
        .collect();
    if now == initial[word] {
        return true;
    }
    let relocated = |now: [u8; WORD]| {
        let target = usize::from_ne_bytes(now);
        segments()
            .iter()
            .any(|segment| segment.addresses.contains(&target))
    };
    (address + at).is_multiple_of(WORD) && now.try_into().is_ok_and(relocated)
}

/// Returns the file's bytes for a part of a segment.
fn initial_bytes(segment: &Segment, from: usize, length: usize) -> Option<Vec<u8>> {
    use std::io::{Read, Seek, SeekFrom};
    let mut bytes = vec![0; length];
    let in_file = segment.file_bytes.saturating_sub(from).min(length);
    if in_file > 0 {
        let mut file = std::fs::File::open(&segment.path).ok()?;
        file.seek(SeekFrom::Start(segment.offset + from as u64)).ok()?;
        file.read_exact(&mut bytes[..in_file]).ok()?;
    }
    Some(bytes)
}

fn writable_segments() -> &'static [&'static Segment] {
    static SEGMENTS: OnceLock<Vec<&'static Segment>> = OnceLock::new();
    let find = || {
        let mut writable: Vec<&Segment> = segments().iter().filter(|segment| segment.writable).collect();
        writable.sort_by_key(|segment| segment.addresses.start);
        writable
    };
    SEGMENTS.get_or_init(|| arena::outside(find))
}

/// Returns the address to which the program's file was loaded, and the parts of it that can be written.
pub(super) fn writable_parts_of_program() -> (usize, Vec<Range<usize>>) {
    let of_program = |segment: &&&Segment| segment.path == Path::new(THIS_PROGRAM);
    let parts: Vec<&Segment> = writable_segments()
        .iter()
        .copied()
        .filter(|segment| of_program(&segment))
        .collect();
    (
        parts.first().map_or(0, |segment| segment.loaded_at),
        parts.iter().map(|segment| segment.addresses.clone()).collect(),
    )
}

/// Returns the memory that outlives an execution and in which code keeps addresses: the statics of the program and of
/// the libraries that it has loaded, and the thread-local ones of this thread. Statics that never change once the
/// loader has filled them in are left out: they hold no address of an execution, but may hold numbers that look like
/// one.
#[cfg(all(
    feature = "unmodified",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(super) fn roots() -> Vec<Range<usize>> {
    unsafe extern "C" fn note(
        info: *mut libc::dl_phdr_info,
        size: usize,
        found: *mut libc::c_void,
    ) -> libc::c_int {
        if size < size_of::<libc::dl_phdr_info>() {
            return 0;
        }
        // SAFETY: the loader passes a valid description of this size, and the pointer that was given below.
        let (info, found) = unsafe { (&*info, &mut *found.cast::<Vec<Range<usize>>>()) };
        let at = |header: &libc::Elf64_Phdr| {
            let start = info.dlpi_addr as usize + header.p_vaddr as usize;
            start..start + header.p_memsz as usize
        };
        // SAFETY: the loader says that this many headers are there.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) };
        let fixed = headers.iter().find(|header| header.p_type == libc::PT_GNU_RELRO);
        let fixed = fixed.map_or(0..0, at);
        for header in headers {
            if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0 {
                let all = at(header);
                found.push(all.start..fixed.start.clamp(all.start, all.end));
                found.push(fixed.end.clamp(all.start, all.end)..all.end);
            }
            let begin = info.dlpi_tls_data.addr();
            if header.p_type == libc::PT_TLS && begin > 0 {
                found.push(begin..begin + header.p_memsz as usize);
            }
        }
        0
    }
    let mut found: Vec<Range<usize>> = Vec::new();
    // SAFETY: the callback gets the vector that outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut found).cast()) };
    found
}

fn segments() -> &'static [Segment] {
    static SEGMENTS: OnceLock<Vec<Segment>> = OnceLock::new();
    SEGMENTS.get_or_init(|| arena::outside(loaded_segments))
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn loaded_segments() -> Vec<Segment> {
    unsafe extern "C" fn note(
        info: *mut libc::dl_phdr_info,
        _: usize,
        found: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the loader passes a valid description, and the pointer that was given below.
        let (info, found) = unsafe { (&*info, &mut *found.cast::<Vec<Segment>>()) };
        // SAFETY: the loader says that this many headers are there.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) };
        // SAFETY: if there is a name, it ends with a zero. The program itself has an empty one.
        let name = unsafe { std::ffi::CStr::from_ptr(info.dlpi_name) }.to_string_lossy();
        let path = if name.is_empty() {
            THIS_PROGRAM.into()
        } else {
            name.as_ref().into()
        };
        for header in headers.iter().filter(|header| header.p_type == libc::PT_LOAD) {
            let start = info.dlpi_addr as usize + header.p_vaddr as usize;
            found.push(Segment {
                addresses: start..start + header.p_memsz as usize,
                loaded_at: info.dlpi_addr as usize,
                writable: header.p_flags & libc::PF_W != 0,
                path: PathBuf::clone(&path),
                offset: header.p_offset,
                file_bytes: header.p_filesz as usize,
            });
        }
        0
    }
    let mut found: Vec<Segment> = Vec::new();
    // SAFETY: the callback gets the vector that outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut found).cast()) };
    found
}

/// Returns nothing: on other platforms no object is known to be static, and one that is used twice is reported as
/// carried.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn loaded_segments() -> Vec<Segment> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    static NUMBER: u32 = 5;
    static EMPTY: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    #[allow(clippy::type_complexity, reason = "two addresses are what is tested")]
    static NAMED: Mutex<(&str, fn() -> u32)> = Mutex::new(("name", || NUMBER));
    static LATE: OnceLock<Mutex<Vec<u32>>> = OnceLock::new();

    fn initial<T>(value: &T) -> bool {
        let bytes = std::ptr::from_ref(value).cast::<MaybeUninit<u8>>();
        // SAFETY: the value's own bytes.
        is_initial_static(bytes.addr(), unsafe {
            std::slice::from_raw_parts(bytes, size_of::<T>())
        })
    }

    #[test]
    fn statics_are_told_from_what_was_put_into_them() {
        assert!(initial(&EMPTY));
        assert!(initial(&NAMED), "with addresses that the loader filled in");
        assert!(!initial(LATE.get_or_init(|| Mutex::new(vec![1]))));
        EMPTY.lock().unwrap().push(1);
        assert!(!initial(&EMPTY), "changed since");
        assert!(!initial(&5u32) && !initial(&*Box::new(5u32)));
    }
}
