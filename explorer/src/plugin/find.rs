//! Where a plugin is that is called by its name.

use super::problem::PluginProblem;
use crate::settings::{PLUGIN_PATH_VARIABLE, did_you_mean};
use std::collections::{BTreeSet, HashSet};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};

/// Whether this is a path, and no name.
pub(super) fn is_path(name: &str) -> bool {
    name.contains(std::path::is_separator) || name.ends_with(DLL_SUFFIX)
}

/// The file of the plugin of that name. Monitors of those other names are no plugins.
///
/// # Errors
/// It is nowhere.
pub(super) fn find(name: &str, others: &[&str]) -> Result<PathBuf, PluginProblem> {
    if is_path(name) {
        return Ok(name.into());
    }
    let file = format!("{DLL_PREFIX}{}{DLL_SUFFIX}", name.replace('-', "_"));
    let directories = directories();
    let found = directories
        .iter()
        .map(|directory| directory.join(&file))
        .find(|file| file.is_file());
    found.ok_or_else(|| PluginProblem::NotFound {
        hint: hint(name, others, &directories),
        directories,
    })
}

/// What may have been meant, among these names and the libraries in these directories.
fn hint(name: &str, others: &[&str], directories: &[PathBuf]) -> String {
    let libraries: BTreeSet<String> = directories
        .iter()
        .flat_map(|directory| libraries(directory))
        .collect();
    let names = others.iter().copied().chain(libraries.iter().map(String::as_str));
    let mut hint = did_you_mean(name, names);
    if !others.is_empty() {
        hint.push_str(&format!("there are: {}; ", others.join(", ")));
    }
    hint
}

/// What the libraries in this directory would be called as plugins; none if it cannot be read.
fn libraries(directory: &Path) -> Vec<String> {
    let files = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let names = files.filter_map(|file| {
        let name = file.file_name().into_string().ok()?;
        let name = name.strip_prefix(DLL_PREFIX)?.strip_suffix(DLL_SUFFIX)?;
        Some(name.replace('_', "-"))
    });
    names.collect()
}

/// Where plugins are looked for, first place first; those that are there.
fn directories() -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> = Vec::new();
    if let Some(given) = std::env::var_os(PLUGIN_PATH_VARIABLE) {
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
    let mut known = HashSet::new();
    directories.retain(|directory| directory.is_dir() && known.insert(directory.clone()));
    directories
}
