//! The system's loader, and the entry of a loaded library.

use super::problem::PluginProblem;
use intermezzo_sdk::abi::{ENTRIES, Entry, Foreign};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The entry of a loaded library, and its version of the contract.
#[derive(Clone, Copy)]
pub(super) struct KnownEntry {
    entry: Entry,
    version: u32,
}

/// A loaded library, and its entry.
pub(super) struct Loaded {
    library: libloading::Library,
    pub(super) entry: KnownEntry,
}

impl Loaded {
    /// Keeps the library in this process until its end: its thread-locals may have destructors to run.
    pub(super) fn stay(self) -> KnownEntry {
        std::mem::forget(self.library);
        self.entry
    }

    /// Unloads it, which runs its finalisers.
    ///
    /// # Safety
    /// Nothing of it is used any more.
    pub(super) unsafe fn close(self) {
        drop(self.library);
    }
}

/// Keeps other threads from loading plugins. A process that is forked while one of its threads loads a library has a
/// loader in the middle of its work, and no thread to finish it.
pub(super) fn alone() -> MutexGuard<'static, ()> {
    static LOADS: Mutex<()> = Mutex::new(());
    LOADS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Loads the library.
///
/// # Errors
/// If the loader refuses it.
pub(super) fn open(path: &Path) -> Result<Loaded, PluginProblem> {
    let not_loadable = |error: libloading::Error| {
        // The loader's own message is one level down, if there is one.
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        PluginProblem::NotLoadable(cause.unwrap_or_else(|| error.to_string()))
    };
    // SAFETY: the library's initialisers run: that is what loading a plugin means, and the user asked for it.
    let library = unsafe { load(path) }.map_err(not_loadable)?;
    let mut entries = ENTRIES.into_iter().filter_map(|(version, name)| {
        // SAFETY: the name says that it is a function of this type, of this version.
        let entry = *unsafe { library.get::<Entry>(name) }.ok()?;
        Some(KnownEntry { entry, version })
    });
    match entries.next() {
        Some(entry) => Ok(Loaded { library, entry }),
        None => {
            std::mem::forget(library);
            Err(PluginProblem::NoEntry)
        }
    }
}

/// Makes a monitor.
///
/// # Errors
/// If the entry creates no monitor, or one that does not keep the contract.
pub(super) fn make(known: KnownEntry, arguments: &str) -> Result<Foreign, PluginProblem> {
    let KnownEntry { entry, version } = known;
    // SAFETY: it is the entry of a library that is never unloaded.
    unsafe { Foreign::make(entry, version, arguments) }
        .map_err(|refusal| PluginProblem::Refused(refusal.to_string()))
}

/// Loads the library with all its symbols resolved, so that a missing one shows now, and without making them visible to
/// others.
///
/// # Safety
/// Its initialisers may run.
#[cfg(unix)]
unsafe fn load(path: &Path) -> Result<libloading::Library, libloading::Error> {
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
    // SAFETY: the caller guarantees it.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map(Into::into)
}

/// Loads the library.
///
/// # Safety
/// Its initialisers may run.
#[cfg(not(unix))]
unsafe fn load(path: &Path) -> Result<libloading::Library, libloading::Error> {
    // SAFETY: the caller guarantees it.
    unsafe { libloading::Library::new(path) }
}
