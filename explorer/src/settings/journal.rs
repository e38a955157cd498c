//! The directory of journals, as a setting.

use intermezzo_engine::runtime::journal;
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The directory of the journals, which keep the running execution in case the process ends in the middle of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum JournalAt {
    /// `intermezzo/journal` in the directory that cargo builds in; `intermezzo-journal` with other temporary files for a
    /// program that cargo has not built.
    #[default]
    Usual,
    /// This directory.
    Directory(PathBuf),
    /// None: nothing is kept.
    Off,
}

impl JournalAt {
    /// Returns the directory; `None` if nothing is kept.
    pub fn directory(&self) -> Option<PathBuf> {
        static USUAL: OnceLock<PathBuf> = OnceLock::new();
        match self {
            JournalAt::Usual => Some(USUAL.get_or_init(journal::usual_directory).clone()),
            JournalAt::Directory(directory) => Some(directory.clone()),
            JournalAt::Off => None,
        }
    }

    /// Parses the value of the setting.
    pub(super) fn parse(value: &str) -> Result<JournalAt, String> {
        match value {
            "" => Err("no directory is given: give a path, `usual` or `none`".into()),
            "usual" => Ok(JournalAt::Usual),
            "none" => Ok(JournalAt::Off),
            path => Ok(JournalAt::Directory(path.into())),
        }
    }
}

impl fmt::Display for JournalAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JournalAt::Usual => f.write_str("usual"),
            JournalAt::Directory(directory) => directory.display().fmt(f),
            JournalAt::Off => f.write_str("none"),
        }
    }
}
