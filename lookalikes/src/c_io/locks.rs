//! Locks of whole files, by `flock`, which `File::lock` calls.
//!
//! Closing the file gives its lock back, so `close` is a step of its own then. A lock that an execution leaves behind is
//! given back before the next execution takes one.
//!
//! **Misses.** A lock that is given back by closing a copy of the descriptor, made by `dup`. Locks by `fcntl`, which the
//! threads of a process have in common.

use super::left_open::{File, file};
use super::{When, perform, takes_steps};
use crate::c_library::functions;
use crate::waits_at::Effect;
use intermezzo_engine::runtime::Engine;
use intermezzo_engine::runtime::arena::outside;
use libc::{EWOULDBLOCK, LOCK_NB, LOCK_UN, c_int};
use std::cell::RefCell;
use std::io;

/// The locks that an execution holds: the descriptor and the file of each.
struct Held {
    execution: u64,
    locks: Vec<(c_int, File)>,
}

thread_local! {
    /// Those of the current execution, whose tasks are all on this thread.
    static HELD: RefCell<Held> = const {
        RefCell::new(Held {
            execution: 0,
            locks: Vec::new(),
        })
    };
}

impl Held {
    /// Gives the locks back, unless their descriptors have another file now.
    fn give_back(&mut self) {
        for (left, locked) in self.locks.drain(..) {
            if file(left) == Some(locked) {
                // SAFETY: a plain call. An execution that is over took the lock, and nothing of that one is left.
                unsafe { libc::flock(left, LOCK_UN) };
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// Calls a function with the locks that this execution holds; returns `None` when the thread ends.
fn with_held<R>(engine: Engine, f: impl FnOnce(&mut Vec<(c_int, File)>) -> R) -> Option<R> {
    let execution = engine.epoch();
    let of_this = |held: &mut Held| {
        if held.execution != execution {
            held.execution = execution;
            held.give_back();
        }
        f(&mut held.locks)
    };
    outside(|| HELD.try_with(|held| of_this(&mut held.borrow_mut())).ok())
}

/// Returns `true` if the execution holds a lock by this descriptor.
pub(super) fn is_held_by(engine: Engine, descriptor: c_int) -> bool {
    with_held(engine, |locks| {
        locks.iter().any(|&(holder, _)| holder == descriptor)
    })
    .unwrap_or(false)
}

/// Returns `true` if the execution holds a lock of the file behind this descriptor, by any descriptor.
fn is_held_here(engine: Engine, descriptor: c_int) -> bool {
    let own = file(descriptor);
    with_held(engine, |locks| {
        locks.iter().any(|&(_, locked)| Some(locked) == own)
    })
    .unwrap_or(false)
}

/// Notes that no lock is held by this descriptor any more.
pub(super) fn forget(engine: Engine, descriptor: c_int) {
    with_held(engine, |locks| locks.retain(|&(holder, _)| holder != descriptor));
}

/// Makes the linker take the functions from here.
pub(super) fn take_over() {
    std::hint::black_box(flock as unsafe extern "C" fn(_, _) -> _);
}

functions! {
    /// Takes or gives back the lock of a file.
    fn flock(descriptor: c_int, operation: c_int) -> c_int: |engine, system| {
        takes_steps(engine).then(|| lock(engine, descriptor, operation, |operation| {
            // SAFETY: a plain call.
            unsafe { system(descriptor, operation) }
        }))
    };
}

/// Does so by this call of the system.
fn lock(engine: Engine, descriptor: c_int, operation: c_int, system: impl Fn(c_int) -> c_int) -> c_int {
    let waits = operation & (LOCK_NB | LOCK_UN) == 0;
    // This gives back those of executions before.
    with_held(engine, |_| ());
    let locked = perform(
        engine,
        || is_held_here(engine, descriptor),
        None,
        |when| {
            let must_not_wait = waits && when == When::Now;
            let result = system(if must_not_wait {
                operation | LOCK_NB
            } else {
                operation
            });
            if result == 0 {
                forget(engine, descriptor);
                if operation & LOCK_UN == 0
                    && let Some(file) = file(descriptor)
                {
                    with_held(engine, |locks| locks.push((descriptor, file)));
                }
                // A lock that is taken once more may be weaker than before.
                return Some((result, Effect::Wake));
            }
            let would_wait = io::Error::last_os_error().raw_os_error() == Some(EWOULDBLOCK);
            if would_wait {
                // Linux gives the lock back that was to become another one.
                forget(engine, descriptor);
            }
            (!must_not_wait || !would_wait).then_some((result, Effect::None))
        },
    );
    locked.expect("a wait without a limit does not end without a result")
}
