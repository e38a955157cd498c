//! The refusal of files in TOML: without the feature `config-files` they cannot be read.

use super::config::{Config, ConfigError};
use std::path::Path;

/// Refuses the file, instead of reading it.
pub(crate) fn open<T>(
    path: &Path,
    _parse: impl FnOnce(&Path, &str) -> Result<T, ConfigError>,
) -> Result<T, ConfigError> {
    Err(refusal(path))
}

/// Refuses the text of an `intermezzo.toml`.
pub(super) fn config(path: &Path, _text: &str) -> Result<Config, ConfigError> {
    Err(refusal(path))
}

/// Returns the error about a file that cannot be read here.
pub(crate) fn refusal(path: &Path) -> ConfigError {
    ConfigError {
        path: path.to_owned(),
        place: None,
        problem: "this build of intermezzo does not read such files: enable its feature `config-files`"
            .into(),
    }
}
