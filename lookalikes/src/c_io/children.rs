//! The children of the process.

use std::fs;
use std::mem::MaybeUninit;
use std::path::Path;

/// A child of the process: its number and the time of its start, in the system's clock ticks. A number alone may be that
/// of an earlier child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Child {
    process: u32,
    started: u64,
}

/// Returns the children of the process, with those that have ended and were not waited for. `None` if they cannot be known.
pub(super) fn children() -> Option<Vec<Child>> {
    if !has_children() {
        return Some(Vec::new());
    }
    // A directory that cannot be read any more was no child's: these stay until they are waited for.
    let processes = fs::read_dir("/proc").ok()?;
    let own = processes.filter_map(|process| child(&process.ok()?.path().join("stat")));
    let own: Vec<Child> = own.collect();
    // Where the directory is another namespace's, none is found.
    (!own.is_empty()).then_some(own)
}

/// Returns the process of which this file says the state, if it is a child of this one: see proc_pid_stat(5).
fn child(state: &Path) -> Option<Child> {
    let text = fs::read_to_string(state).ok()?;
    // The name in the second field may have spaces and parentheses of its own.
    let (head, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    // These are the fields from the third on: the fourth is the parent, and the 22nd the start.
    let child = Child {
        process: head.split_whitespace().next()?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    };
    (fields[1].parse() == Ok(std::process::id())).then_some(child)
}

/// Returns `true` if the process has children, with those that have ended and were not waited for.
pub(super) fn has_children() -> bool {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the place for the result is there. The child stays to be waited for.
    let found = unsafe {
        libc::waitid(
            libc::P_ALL,
            0,
            info.as_mut_ptr(),
            libc::WEXITED | libc::WNOHANG | libc::WNOWAIT,
        )
    };
    found == 0
}
