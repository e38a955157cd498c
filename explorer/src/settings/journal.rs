//! The directory of journals, as a setting.

use intermezzo_engine::runtime::journal;
use intermezzo_search::value::Value;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The directory of the journals, which keep the choices of the running execution if the process ends in the middle of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum JournalAt {
    /// `intermezzo/journal` in the directory that cargo builds in; `intermezzo-journal` with other temporary files for a
    /// program that cargo has not built.
    #[default]
    Usual,
    /// This directory.
    Directory(PathBuf),
    /// None: no journal is written.
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
}

impl Value for JournalAt {
    fn read(&mut self, text: &str) -> Result<(), String> {
        *self = match text {
            "" => return Err("no directory is given: give a path, `usual` or `none`".into()),
            "usual" => JournalAt::Usual,
            "none" => JournalAt::Off,
            path => JournalAt::Directory(path.into()),
        };
        Ok(())
    }

    fn show(&self) -> String {
        match self {
            JournalAt::Usual => "usual".into(),
            JournalAt::Directory(directory) => directory.display().to_string(),
            JournalAt::Off => "none".into(),
        }
    }
}
