//! The refusal of plugins: without the feature `plugins` no library is looked at.

/// Checks of a library.
pub(super) mod file {
    use super::super::PluginProblem;
    use std::path::{Path, PathBuf};

    /// Refuses the file.
    pub(in super::super) fn look(_: &Path) -> Result<PathBuf, PluginProblem> {
        Err(PluginProblem::Off)
    }
}

/// Trials of a plugin.
pub(super) mod trial {
    use super::super::{PluginProblem, Tried};
    use std::path::Path;

    /// Refuses the file.
    pub(in super::super) fn tried(_: &Path, _: &str, _: bool) -> Result<Tried, PluginProblem> {
        Err(PluginProblem::Off)
    }
}

/// The loader.
pub(super) mod library {
    use super::super::PluginProblem;
    use intermezzo_sdk::abi::Foreign;
    use std::convert::Infallible;
    use std::path::Path;

    /// The entry of a loaded library: there is none.
    #[derive(Clone, Copy)]
    pub(in super::super) struct KnownEntry(Infallible);

    /// A loaded library: there is none.
    pub(in super::super) struct Loaded(KnownEntry);

    impl Loaded {
        /// Returns the entry of a library, of which there is none.
        pub(in super::super) fn stay(self) -> KnownEntry {
            self.0
        }
    }

    /// Does nothing: nothing is loaded.
    pub(in super::super) fn alone() {}

    /// Refuses the file.
    pub(in super::super) fn open(_: &Path) -> Result<Loaded, PluginProblem> {
        Err(PluginProblem::Off)
    }

    /// Makes no monitor: there is no entry.
    pub(in super::super) fn make(entry: KnownEntry, _: &str) -> Result<Foreign, PluginProblem> {
        match entry.0 {}
    }
}
