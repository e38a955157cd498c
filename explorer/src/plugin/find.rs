//! Where a plugin is that is called by its name.

use super::problem::PluginProblem;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};

/// The environment variable with the directories to look in first.
pub(crate) const PATH_VARIABLE: &str = "INTERMEZZO_PLUGIN_PATH";

/// Whether this is a path, and no name.
pub(super) fn is_path(name: &str) -> bool {
    name.contains(std::path::is_separator) || name.ends_with(DLL_SUFFIX)
}

/// The file of the plugin of that name.
///
/// # Errors
/// It is nowhere.
pub(super) fn find(name: &str) -> Result<PathBuf, PluginProblem> {
    if is_path(name) {
        return Ok(name.into());
    }
    let file = format!("{DLL_PREFIX}{}{DLL_SUFFIX}", name.replace('-', "_"));
    let directories = directories();
    let found = directories
        .iter()
        .map(|directory| directory.join(&file))
        .find(|file| file.is_file());
    found.ok_or(PluginProblem::NotFound(directories))
}

/// Where plugins are looked for, first place first; those that are there.
fn directories() -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> = Vec::new();
    if let Some(given) = std::env::var_os(PATH_VARIABLE) {
        directories.extend(std::env::split_paths(&given).filter(|given| !given.as_os_str().is_empty()));
    }
    if let Ok(program) = std::env::current_exe()
        && let Some(beside) = program.parent()
    {
        // A test binary is in target/debug/deps, a library one level up.
        if beside.ends_with("deps") {
            directories.extend(beside.parent().map(Path::to_owned));
        }
        directories.push(beside.to_owned());
    }
    let here = std::env::current_dir().unwrap_or_default();
    for directory in here.ancestors() {
        for profile in ["debug", "release"] {
            directories.push(directory.join("target").join(profile));
        }
    }
    let mut known = std::collections::HashSet::new();
    directories.retain(|directory| directory.is_dir() && known.insert(directory.clone()));
    directories
}
