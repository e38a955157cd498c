//! The descriptors that an execution opens. Those that it leaves open are closed before the next one opens another: its
//! memory is taken back, so nothing else can close them, and the number of descriptors of a process is limited.
//!
//! **Misses.** Files, and descriptors that are not opened by the functions in this file.

use super::children::{Child, children};
use crate::c_library::functions;
use intermezzo_engine::runtime::Engine;
use intermezzo_engine::runtime::arena::outside;
use libc::{c_int, c_uint};
use std::cell::RefCell;
use std::mem::MaybeUninit;

/// The file behind a descriptor, as far as the system distinguishes files: the device and the number on it.
pub(super) type File = (libc::dev_t, libc::ino_t);

/// A descriptor that the current execution has opened.
struct Descriptor {
    number: c_int,
    file: File,
    /// `true` if the other end is one of the execution's, too.
    is_inside: bool,
}

/// The descriptors that an execution has opened and not closed.
struct Opened {
    execution: u64,
    descriptors: Vec<Descriptor>,
    /// The children that the process had before the execution opened the first one.
    children_before: Vec<Child>,
}

thread_local! {
    /// Those of the current execution, whose tasks are all on this thread.
    static OPENED: RefCell<Opened> = const {
        RefCell::new(Opened {
            execution: 0,
            descriptors: Vec::new(),
            children_before: Vec::new(),
        })
    };
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.close_others(&[]);
    }
}

impl Opened {
    /// Closes the descriptors, unless they have another file now, or are among these.
    fn close_others(&mut self, kept: &[c_int]) {
        for left in self.descriptors.drain(..) {
            if !kept.contains(&left.number) && file(left.number) == Some(left.file) {
                // SAFETY: an execution that is over has opened it, and nothing of that one is left.
                unsafe { libc::close(left.number) };
            }
        }
    }
}

/// Calls a function with the descriptors; returns `None` when the thread ends.
fn with_opened<R>(f: impl FnOnce(&mut Opened) -> R) -> Option<R> {
    outside(|| OPENED.try_with(|opened| f(&mut opened.borrow_mut())).ok())
}

/// Makes the linker take the functions from here.
pub(super) fn take_over() {
    use std::hint::black_box;
    black_box(eventfd as unsafe extern "C" fn(_, _) -> _);
    black_box(epoll_create1 as unsafe extern "C" fn(_) -> _);
    black_box(pipe as unsafe extern "C" fn(_) -> _);
    black_box(pipe2 as unsafe extern "C" fn(_, _) -> _);
    black_box(socketpair as unsafe extern "C" fn(_, _, _, _) -> _);
    black_box(socket as unsafe extern "C" fn(_, _, _) -> _);
    black_box(fcntl as unsafe extern "C" fn(_, _, _) -> _);
}

/// Returns the file behind a descriptor.
pub(super) fn file(descriptor: c_int) -> Option<File> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the place for the result is there, and is read only if it was written.
    unsafe {
        (libc::fstat(descriptor, status.as_mut_ptr()) == 0).then(|| {
            let status = status.assume_init();
            (status.st_dev, status.st_ino)
        })
    }
}

/// Notes that the execution has opened these descriptors. Negative ones stand for errors.
pub(super) fn note(engine: Engine, descriptors: &[c_int], is_inside: bool) {
    if descriptors.iter().any(|&number| number < 0) {
        return;
    }
    let execution = engine.epoch();
    let is_first = with_opened(|opened| opened.execution != execution);
    // Files are read and closed for it, which looks at the descriptors. Those that are noted now are closed or inherited by
    // no child yet.
    let children = if is_first == Some(true) {
        outside(children).unwrap_or_default()
    } else {
        Vec::new()
    };
    with_opened(|opened| {
        if opened.execution != execution {
            opened.execution = execution;
            opened.children_before = children;
            opened.close_others(descriptors);
        }
        for &number in descriptors {
            if let Some(file) = file(number) {
                opened.descriptors.push(Descriptor {
                    number,
                    file,
                    is_inside,
                });
            }
        }
    });
}

/// Notes that a descriptor is closed.
pub(super) fn forget(descriptor: c_int) {
    with_opened(|opened| opened.descriptors.retain(|one| one.number != descriptor));
}

/// Returns `true` if the execution has opened this descriptor.
pub(super) fn is_opened(descriptor: c_int) -> bool {
    let Some(file) = file(descriptor) else {
        return false;
    };
    let is_it = |one: &Descriptor| one.number == descriptor && one.file == file;
    with_opened(|opened| opened.descriptors.iter().any(is_it)).unwrap_or(false)
}

/// Returns the children that the process had before this execution opened its first descriptor; `None` if it has opened
/// none.
pub(super) fn children_before(execution: u64) -> Option<Vec<Child>> {
    let before = |opened: &mut Opened| {
        let is_known = opened.execution == execution;
        is_known.then(|| opened.children_before.clone())
    };
    with_opened(before).flatten()
}

/// Returns `true` if the execution has opened both ends of this pipe or pair of sockets.
pub(super) fn has_both_ends(file: File) -> bool {
    let has_it = |opened: &mut Opened| {
        opened
            .descriptors
            .iter()
            .any(|one| one.is_inside && one.file == file)
    };
    with_opened(has_it).unwrap_or(false)
}

functions! {
    /// Makes a counter that can be awaited.
    fn eventfd(value: c_uint, flags: c_int) -> c_int: |engine, system| {
        // SAFETY: a plain call.
        let made = unsafe { system(value, flags) };
        note(engine, &[made], true);
        Some(made)
    };

    /// Makes a set of descriptors that can be awaited.
    fn epoll_create1(flags: c_int) -> c_int: |engine, system| {
        // SAFETY: a plain call.
        let made = unsafe { system(flags) };
        note(engine, &[made], true);
        Some(made)
    };

    /// Makes a pipe.
    fn pipe(ends: *mut c_int) -> c_int: |engine, system| {
        // SAFETY: as the caller says.
        unsafe { pair(engine, ends, || system(ends)) }
    };

    /// Makes a pipe, with flags.
    fn pipe2(ends: *mut c_int, flags: c_int) -> c_int: |engine, system| {
        // SAFETY: as the caller says.
        unsafe { pair(engine, ends, || system(ends, flags)) }
    };

    /// Makes a pair of sockets.
    fn socketpair(domain: c_int, kind: c_int, protocol: c_int, ends: *mut c_int) -> c_int: |engine, system| {
        // SAFETY: as the caller says.
        unsafe { pair(engine, ends, || system(domain, kind, protocol, ends)) }
    };

    /// Makes a socket.
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int: |engine, system| {
        // SAFETY: a plain call.
        let made = unsafe { system(domain, kind, protocol) };
        note(engine, &[made], false);
        Some(made)
    };

    /// Does something with a descriptor. The C library's function has any number of arguments, and uses at most one more.
    fn fcntl(descriptor: c_int, command: c_int, argument: usize) -> c_int: |engine, system| {
        matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC).then(|| {
            // SAFETY: a plain call.
            let made = unsafe { system(descriptor, command, argument) };
            let is_inside = file(descriptor).is_some_and(has_both_ends);
            note(engine, &[made], is_inside);
            made
        })
    };
}

/// Makes two descriptors that belong together, by this call.
///
/// # Safety
/// The call writes them there, or returns -1.
unsafe fn pair(engine: Engine, ends: *const c_int, call: impl FnOnce() -> c_int) -> Option<c_int> {
    let result = call();
    if result == 0 {
        // SAFETY: as the caller says.
        note(engine, unsafe { &*ends.cast::<[c_int; 2]>() }, true);
    }
    Some(result)
}
