//! The directory and the environment variables with which the process began. Each execution begins with them again.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The state of the process that each execution begins with.
pub struct Beginning {
    /// `None` if the process had no current directory: then there is nothing to restore.
    directory: Option<PathBuf>,
    /// The directory, if it could be opened: returning to it by its path would take as long as some executions do.
    open: Option<File>,
    variables: Vec<(OsString, OsString)>,
    /// The addresses of the variables when they last had their initial values. Empty if they are not known.
    addresses: Mutex<Vec<usize>>,
}

impl Beginning {
    /// Records the state of this process.
    pub fn of_process() -> Beginning {
        Beginning {
            directory: env::current_dir().ok(),
            open: File::open(".").ok(),
            variables: env::vars_os().collect(),
            addresses: Mutex::new(addresses().collect()),
        }
    }

    /// Returns the directory, if there is one.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// Restores the directory.
    pub fn restore_directory(&self) -> Result<(), String> {
        let Some(directory) = &self.directory else {
            return Ok(());
        };
        if self.open.as_ref().is_some_and(enter) {
            return Ok(());
        }
        env::set_current_dir(directory)
            .map_err(|error| format!("cannot return to {} before an execution: {error}", directory.display()))
    }

    /// Restores the variables and their order, if the program has changed one.
    pub fn restore_variables(&self) {
        let mut known = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        // Comparing the variables themselves before each execution would take longer than many executions do.
        if !known.is_empty() && addresses().eq(known.iter().copied()) {
            return;
        }
        if !env::vars_os().eq(self.variables.iter().cloned()) {
            // Variables whose names begin with `=` are internal to Windows.
            let is_ours = |name: &OsStr| !name.as_encoded_bytes().starts_with(b"=");
            for (name, _) in env::vars_os().filter(|(name, _)| is_ours(name)) {
                // SAFETY: between executions no thread runs code of the program, unless code in C has started one. In that
                // case the program itself has changed a variable while that thread existed.
                unsafe { env::remove_var(name) };
            }
            for (name, value) in self.variables.iter().filter(|(name, _)| is_ours(name)) {
                // SAFETY: as above.
                unsafe { env::set_var(name, value) };
            }
        }
        *known = addresses().collect();
    }
}

/// Makes an open directory the current one. Returns `false` if that fails, for instance because the program closed it.
#[cfg(unix)]
fn enter(directory: &File) -> bool {
    use std::os::fd::AsRawFd;
    unsafe extern "C" {
        safe fn fchdir(directory: std::ffi::c_int) -> std::ffi::c_int;
    }
    fchdir(directory.as_raw_fd()) == 0
}

/// Returns `false`: on other systems directories are entered by their paths.
#[cfg(not(unix))]
fn enter(_: &File) -> bool {
    false
}

/// Returns the addresses of the variables. glibc changes none in place: a changed variable has another address.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn addresses() -> impl Iterator<Item = usize> {
    unsafe extern "C" {
        static environ: *const *const u8;
    }
    // SAFETY: between executions no thread runs code of the program, so nothing changes the list.
    let first = unsafe { environ };
    (0..)
        // SAFETY: without a list nothing is read; a list ends with a null, at which the iterator ends.
        .map(move |index| if first.is_null() { 0 } else { unsafe { *first.add(index) as usize } })
        .take_while(|&address| address != 0)
}

/// Returns nothing: on other systems the variables themselves are compared.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn addresses() -> impl Iterator<Item = usize> {
    std::iter::empty()
}
