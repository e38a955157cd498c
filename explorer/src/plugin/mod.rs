//! Monitors from files, which are checked, tried out in a child process, and loaded.
//!
//! A file is refused with a message if a problem is found before its code runs in this process. First its headers and its
//! entry are read (`file.rs`). Then a child process loads it and creates the monitor once (`trial.rs`), so that damaged
//! code crashes only the child. Code that fails only in a callback cannot be found in this way, and is treated like any
//! other code of this process.
//!
//! A loaded library stays loaded until the process ends. Libraries written in Rust are not built to be unloaded, because
//! their thread-locals may have destructors to run.

mod attach;
#[cfg(feature = "plugins")]
mod file;
mod find;
#[cfg(feature = "plugins")]
mod library;
#[cfg(not(feature = "plugins"))]
mod off;
mod problem;
#[cfg(feature = "plugins")]
mod trial;

pub use attach::{Brought, ByName, bring};
pub(crate) use attach::{NamedMonitors, attach, data_race};
#[cfg(not(feature = "plugins"))]
use off::{file, library, trial};
pub use problem::{PluginError, PluginProblem};

use crate::passing_on::passes_on;
use intermezzo_engine::serial::{Deserialize, Serialize};
use intermezzo_sdk::Monitor;
use intermezzo_sdk::abi::Foreign;
use std::fmt;
use std::path::{Path, PathBuf};

/// A monitor from a file.
///
/// ```no_run
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::{Explorer, Plugin};
///
/// let plugin = Plugin::load("target/debug/libno_relaxed.so")?;
/// let report = Explorer::new().monitor(plugin).explore(|| {});
/// # Ok::<(), intermezzo_explorer::PluginError>(())
/// ```
pub struct Plugin {
    path: PathBuf,
    arguments: String,
    entry: library::KnownEntry,
    monitor: Foreign,
}

/// The properties of a plugin, as a trial has shown them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// The monitor's name.
    pub name: String,
    /// The plugin's own version, if it has one.
    pub plugin_version: Option<String>,
    /// The callbacks it wants, as bits of [`Interests`](intermezzo_sdk::Interests).
    pub interests: u32,
    /// `true` if reductions hide nothing from it.
    pub reduction_compatible: bool,
    /// `true` if it can be attached where the environment allows `stale_reads`.
    pub follows_stale_reads: bool,
    /// Problems in a rehearsal that did not end it: panics, malformed findings.
    pub complaints: Vec<String>,
}

impl Plugin {
    /// Loads the monitor in this file, without arguments.
    ///
    /// # Errors
    /// If it cannot be loaded, see [`PluginProblem`].
    pub fn load(path: impl AsRef<Path>) -> Result<Plugin, PluginError> {
        Plugin::load_with(path, "")
    }

    /// Loads the monitor in this file, with these arguments. Their meaning is up to the monitor.
    ///
    /// # Errors
    /// If it cannot be loaded, see [`PluginProblem`], or does not accept the arguments.
    pub fn load_with(path: impl AsRef<Path>, arguments: &str) -> Result<Plugin, PluginError> {
        let path = path.as_ref();
        let load = || {
            let path = file::look(path)?;
            trial::tried(&path, arguments, false)?;
            let entry = {
                let _alone = library::alone();
                library::open(&path)?.stay()
            };
            let monitor = library::make(entry, arguments)?;
            Ok(Plugin {
                path,
                arguments: arguments.to_owned(),
                entry,
                monitor,
            })
        };
        load().map_err(|problem| PluginError::new(path, problem))
    }

    /// Tries the file out and returns its properties, without loading it into this process. A child process loads it,
    /// creates the monitor and calls it with an execution that has every event that a monitor can receive. On systems
    /// other than Unix there is no such child process, and all of this happens in this process.
    ///
    /// # Errors
    /// If it cannot be loaded, or crashed while it was tried out.
    pub fn try_out(path: impl AsRef<Path>, arguments: &str) -> Result<Tried, PluginError> {
        let path = path.as_ref();
        let try_out = || trial::tried(&file::look(path)?, arguments, true);
        try_out().map_err(|problem| PluginError::new(path, problem))
    }

    /// Returns the file of the plugin of this name: `libNAME.so`, or the platform's equivalent, with `_` for `-`.
    ///
    /// The search covers the directories of `INTERMEZZO_PLUGIN_PATH`, the directory of the running program and its
    /// siblings, and `target/debug` and `target/release` of the working directory and its ancestors. A name with a path
    /// separator, or with the extension of libraries, is a path.
    ///
    /// # Errors
    /// If it was not found. The error names the directories.
    pub fn find(name: &str) -> Result<PathBuf, PluginError> {
        Plugin::find_beside(name, &[])
    }

    /// Does the same. The hints include `others`, the names of monitors that are not plugins.
    pub(crate) fn find_beside(name: &str, others: &[&str]) -> Result<PathBuf, PluginError> {
        find::find(name, others).map_err(|problem| PluginError::new(Path::new(name), problem))
    }

    /// Returns the path it was loaded from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the plugin's own version, if it has one.
    pub fn plugin_version(&self) -> Option<&str> {
        self.monitor.plugin_version()
    }

    /// Creates another monitor of the same kind, with the same arguments, for another worker.
    ///
    /// # Errors
    /// If the plugin, which created a monitor before, now creates none.
    pub fn another(&self) -> Result<Plugin, PluginError> {
        let monitor = library::make(self.entry, &self.arguments)
            .map_err(|problem| PluginError::new(&self.path, problem))?;
        Ok(Plugin {
            path: self.path.clone(),
            arguments: self.arguments.clone(),
            entry: self.entry,
            monitor,
        })
    }

    fn pass(&mut self, call: impl FnOnce(&mut Foreign)) {
        call(&mut self.monitor);
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin")
            .field("name", &self.name())
            .field("path", &self.path)
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}

passes_on!(Plugin, pass);
