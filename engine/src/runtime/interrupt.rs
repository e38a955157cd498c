//! Ctrl-C during an exploration: the first one ends explorations, with the results so far; the second one ends the
//! process.
//!
//! A handler that the program itself has installed stays in place. After an interrupt, explorations that begin later in
//! the process end at once: a person who presses the key wants everything to end.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Returns `true` if explorations should end.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Relaxed)
}

#[cfg(unix)]
pub use caught::Guard;

/// A guard that ignores Ctrl-C on this platform.
#[cfg(not(unix))]
pub struct Guard;

#[cfg(not(unix))]
impl Guard {
    pub fn install() -> Guard {
        Guard
    }
}

#[cfg(unix)]
mod caught {
    use super::{INTERRUPTED, Relaxed};
    use libc::c_int;
    use std::sync::{Mutex, PoisonError};

    /// The number of explorations that need the handler, and `true` if it is installed.
    static USERS: Mutex<(usize, bool)> = Mutex::new((0, false));

    /// A guard that notes Ctrl-C while it lives.
    pub struct Guard;

    impl Guard {
        /// Installs the handler until the guard is dropped.
        pub fn install() -> Guard {
            let mut users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
            users.0 += 1;
            if users.0 == 1 {
                users.1 = install();
            }
            Guard
        }
    }

    impl Drop for Guard {
        fn drop(&mut self) {
            let mut users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
            users.0 -= 1;
            if users.0 == 0 && std::mem::take(&mut users.1) {
                // SAFETY: a plain call. The default handler was installed before, and an interrupt has already restored
                // it.
                unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
            }
        }
    }

    /// Installs the handler, unless the program has one or ignores the key.
    fn install() -> bool {
        // SAFETY: plain calls with valid pointers.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGINT, std::ptr::null(), &mut before);
            if before.sa_sigaction != libc::SIG_DFL {
                return false;
            }
            let mut ours: libc::sigaction = std::mem::zeroed();
            ours.sa_sigaction = on_interrupt as *const () as usize;
            // The first interrupt restores the default handler, so the second one ends the process.
            ours.sa_flags = libc::SA_ONSTACK | libc::SA_RESTART | libc::SA_RESETHAND;
            libc::sigemptyset(&mut ours.sa_mask);
            libc::sigaction(libc::SIGINT, &ours, std::ptr::null_mut()) == 0
        }
    }

    extern "C" fn on_interrupt(_: c_int) {
        INTERRUPTED.store(true, Relaxed);
    }
}
