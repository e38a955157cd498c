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
    use intermezzo_sdk::abi::{Entry, Foreign};
    use std::convert::Infallible;
    use std::path::Path;

    /// A loaded library: there is none.
    pub(in super::super) struct Loaded(Infallible);

    impl Loaded {
        /// Returns the entry of a library, of which there is none.
        pub(in super::super) fn stay(self) -> Entry {
            match self.0 {}
        }
    }

    /// Does nothing: nothing is loaded.
    pub(in super::super) fn alone() {}

    /// Refuses the file.
    pub(in super::super) fn open(_: &Path) -> Result<Loaded, PluginProblem> {
        Err(PluginProblem::Off)
    }

    /// Refuses to make a monitor.
    pub(in super::super) fn make(_: Entry, _: &str) -> Result<Foreign, PluginProblem> {
        Err(PluginProblem::Off)
    }
}
