//! The search for a plugin by its name.

use super::problem::PluginProblem;
use crate::settings::{did_you_mean, variables};
use std::collections::{BTreeSet, HashSet};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};

/// `true` if this is a path instead of a name.
pub(super) fn is_path(name: &str) -> bool {
    name.contains(std::path::is_separator) || name.ends_with(DLL_SUFFIX)
}

/// Returns the file of the plugin of this name. `others` are monitors that are not plugins, for hints.
///
/// # Errors
/// If it was not found.
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

/// Returns similar names, among these names and the libraries in these directories.
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

/// Returns the plugin names of the libraries in this directory; none if it cannot be read.
fn libraries(directory: &Path) -> Vec<String> {
    let files = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let names = files.filter_map(|file| {
        let name = file.file_name().into_string().ok()?;
        let name = name.strip_prefix(DLL_PREFIX)?.strip_suffix(DLL_SUFFIX)?;
        Some(name.replace('_', "-"))
    });
    names.collect()
}

/// Returns the existing directories in which plugins are looked for, in that order.
fn directories() -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> = Vec::new();
    if let Some(given) = std::env::var_os(variables::PLUGIN_PATH) {
        directories.extend(std::env::split_paths(&given).filter(|given| !given.as_os_str().is_empty()));
    }
    if let Ok(program) = std::env::current_exe()
        && let Some(beside) = program.parent()
    {
        // A test binary is in target/debug/deps, and a library one level above.
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
