//! Stacks: the functions of the program that are under way at a moment.
//!
//! Noting a stack takes microseconds. Names and places are looked up later, and only where they are read. Both
//! need the feature `hang-places`, and a system whose stacks are known; elsewhere stacks are empty.

#[cfg(all(
    feature = "hang-places",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(crate) mod program;

/// A function of the program that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Its path as far as it is known, without its closures; `a closure` if nothing else is known.
    pub function: String,
    /// The place that it has reached: `file:line:column`.
    pub place: String,
}

#[cfg(all(
    feature = "hang-places",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod known {
    use super::{Caller, program};

    /// Returns the return addresses on the current stack, innermost first.
    pub fn here() -> Vec<usize> {
        let mut addresses = Vec::with_capacity(32);
        backtrace::trace(|frame| {
            let address = frame.ip().addr();
            addresses.push(address);
            // The root of a task's stack is nowhere.
            address != 0
        });
        addresses
    }

    /// Returns the functions of the program that a return address is in, innermost first: none if it is in another's
    /// code, and several if one has become a part of another.
    pub fn callers(address: usize) -> Vec<Caller> {
        let places = program::returning_to(address);
        let caller = |place: program::ProgramPlace| Caller {
            place: place.shown(),
            function: place.described(),
        };
        places.into_iter().map(caller).collect()
    }
}
#[cfg(not(all(
    feature = "hang-places",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod known {
    use super::Caller;

    /// Returns nothing: stacks are not known here.
    pub fn here() -> Vec<usize> {
        Vec::new()
    }

    /// Returns nothing: stacks are not known here.
    pub fn callers(_: usize) -> Vec<Caller> {
        Vec::new()
    }
}
pub use known::{callers, here};
