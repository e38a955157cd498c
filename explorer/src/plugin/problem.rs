//! The reasons for which a plugin is not loaded.

use intermezzo_sdk::abi::{ENTRIES, ENTRY, VERSION};
use std::fmt;
use std::path::{Path, PathBuf};

/// A plugin that was not loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginError {
    /// The file, or the name.
    pub path: PathBuf,
    /// The reason.
    pub problem: PluginProblem,
}

/// The reason why a plugin was not loaded. Its text says what was found, what is needed and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PluginProblem {
    /// No plugin is loaded, because the feature `plugins` is off.
    Off,
    /// There is no such file.
    NoFile,
    /// No directory of plugins has a file of this name.
    NotFound {
        /// The names that may have been meant, and those that exist; empty, or with a trailing space.
        hint: String,
        /// The directories in which it was looked for.
        directories: Vec<PathBuf>,
    },
    /// It is a directory, a pipe or another kind of file, as this text says.
    NotAFile(&'static str),
    /// The file system refuses it, for this reason.
    Unreadable(String),
    /// It is no library for dynamic loading, but of this kind.
    NotALibrary(String),
    /// It is a library for another machine.
    OtherMachine {
        /// The machine that it is for.
        found: String,
        /// The machine of this process.
        needed: String,
    },
    /// It is a library, but something in it is not where it must be.
    Damaged(String),
    /// It is a sound library, but no plugin.
    NoEntry,
    /// It is a plugin for another version of the contract, and exports this entry.
    OtherVersion(String),
    /// The system's loader refuses it.
    NotLoadable(String),
    /// It made no monitor, or one that does not keep to the contract.
    Refused(String),
    /// It ended the process in which it was tried out.
    Crashed(String),
    /// It could not be tried out in a process of its own.
    NoTrial(String),
}

impl PluginError {
    pub(super) fn new(path: &Path, problem: PluginProblem) -> PluginError {
        PluginError {
            path: path.to_owned(),
            problem,
        }
    }
}

impl fmt::Display for PluginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot load the monitor {:?}: {}", self.path, self.problem)
    }
}

impl std::error::Error for PluginError {}

impl fmt::Display for PluginProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PluginProblem::Off => {
                f.write_str("this build of intermezzo loads no plugins: enable its feature `plugins`")
            }
            PluginProblem::NoFile => {
                f.write_str("there is no such file; build the plugin, or give another path")
            }
            PluginProblem::NotFound { hint, directories } => {
                write!(
                    f,
                    "there is no monitor and no plugin of that name; {hint}looked for {} in",
                    std::env::consts::DLL_PREFIX.to_owned() + "NAME" + std::env::consts::DLL_SUFFIX
                )?;
                for directory in directories {
                    write!(f, " {directory:?}")?;
                }
                f.write_str("; give its path, or name its directory in INTERMEZZO_PLUGIN_PATH")
            }
            PluginProblem::NotAFile(what) => {
                write!(f, "it is {what}; give the path of the library itself")
            }
            PluginProblem::Unreadable(error) => write!(f, "it cannot be read ({error})"),
            PluginProblem::NotALibrary(found) => write!(
                f,
                "it is {found}, where a library for dynamic loading is needed: give the one that the build makes of the \
                 plugin (in Rust with crate-type = [\"cdylib\"], in C with cc -shared -fPIC)"
            ),
            PluginProblem::OtherMachine { found, needed } => write!(
                f,
                "it is a library for {found}, where one for {needed} is needed: build it for this machine"
            ),
            PluginProblem::Damaged(what) => {
                write!(f, "it is damaged or incomplete ({what}): build or copy it again")
            }
            PluginProblem::NoEntry => write!(
                f,
                "it is a library, but not a plugin: it does not export `{ENTRY}`; in Rust, call \
                 intermezzo_sdk::export_monitor!; in C, define the function with INTERMEZZO_EXPORT before it"
            ),
            PluginProblem::OtherVersion(entry) => write!(
                f,
                "it exports `{entry}`, where this intermezzo needs `{ENTRY}`, version {VERSION} of the contract, or one of \
                 version {}: build it against the intermezzo-sdk, or the intermezzo.h, of the intermezzo that loads it",
                ENTRIES[1..]
                    .iter()
                    .map(|(version, _)| version.to_string())
                    .collect::<Vec<_>>()
                    .join(" or ")
            ),
            PluginProblem::NotLoadable(error) => {
                write!(
                    f,
                    "the system's loader refuses it ({error}): rebuild it for this machine"
                )
            }
            PluginProblem::Refused(refusal) => f.write_str(refusal),
            PluginProblem::Crashed(how) => write!(
                f,
                "tried out in a process of its own, it ended that process: {how}. The file is damaged, or the plugin has \
                 a bug: rebuild it, or look with a debugger at what `cargo intermezzo monitor check` does"
            ),
            PluginProblem::NoTrial(error) => {
                write!(
                    f,
                    "it could not be tried out in a process of its own ({error}); try again"
                )
            }
        }
    }
}
