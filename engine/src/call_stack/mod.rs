//! Call stacks: the functions of the program that are active at a step.
//!
//! Noting a stack takes microseconds. Names and places are looked up later, and only if a recording is kept. Stacks
//! need the feature `hang-places`, and Linux on x86-64 or AArch64. Elsewhere they are empty.

#[cfg(all(
    feature = "hang-places",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(crate) mod program;

use std::path::Path;

/// A function of the program on a call stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its path, without closures, as far as it is known; `a closure` if nothing else is known.
    pub name: String,
    /// The place that it has reached: `file:line:column`.
    pub place: String,
}

/// The maximum number of frames of a stack that are noted, from the innermost. Without it, the stacks of a recursive
/// test would take memory that grows with the square of its depth.
pub const FRAMES_MAX: usize = 128;

#[cfg(all(
    feature = "hang-places",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod known {
    use super::{FRAMES_MAX, Function, program};

    /// Replaces `addresses` by the return addresses on the current stack, innermost first, [`FRAMES_MAX`] at most. It
    /// allocates, so during an execution it may only be called by a monitor.
    pub fn note(addresses: &mut Vec<usize>) {
        addresses.clear();
        // SAFETY: only on Windows does a walk need the lock that `trace` takes. A test that has damaged its stack can
        // crash the walk, and the lock would never be released.
        unsafe {
            backtrace::trace_unsynchronized(|frame| {
                let address = frame.ip().addr();
                addresses.push(address);
                // The frame at the root of a task's stack has no address.
                address != 0 && addresses.len() < FRAMES_MAX
            });
        }
    }

    /// Returns the functions of the program at a return address, innermost first: none if the code is not the
    /// program's, and several if functions were inlined.
    pub fn functions_at(address: usize) -> Vec<Function> {
        let places = program::returning_to(address);
        let function = |place: program::ProgramPlace| Function {
            name: place.described(),
            place: place.shown(),
        };
        places.into_iter().map(function).collect()
    }
}
#[cfg(not(all(
    feature = "hang-places",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod known {
    use super::Function;

    /// Clears `addresses`: stacks are not known here.
    pub fn note(addresses: &mut Vec<usize>) {
        addresses.clear();
    }

    /// Returns nothing: stacks are not known here.
    pub fn functions_at(_: usize) -> Vec<Function> {
        Vec::new()
    }
}
pub use known::{functions_at, note};

/// The directories of intermezzo's crates that run code of a test or are called by it, relative to the parent of the
/// engine's directory.
const OURS: &[&str] = &[
    "breakpoint/src",
    "cli/overlays",
    "engine/src",
    "explorer/src",
    "lookalikes/src",
    "refinement/src",
    "sdk/src",
    "shims",
    "src",
];

/// Returns `true` if a file is the engine's, or belongs to one of the crates above it.
pub fn is_ours(file: &Path) -> bool {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let Some(file) = all.and_then(|all| file.strip_prefix(all).ok()) else {
        return false;
    };
    // Published crates are in directories next to each other, with the crates' names.
    OURS.iter().any(|directory| file.starts_with(directory))
        || file.to_string_lossy().starts_with("intermezzo-")
}
