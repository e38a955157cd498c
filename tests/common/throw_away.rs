//! Projects that tests write and build, as a user would.

use std::fs;
use std::path::{Path, PathBuf};

/// Writes a file, and creates its directories.
pub(crate) fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// Makes a new project with this text in its manifest, and with the versions and profiles of the workspace. Nothing is
/// optimised: that takes longer than the few executions that it would make faster.
///
/// It is always at the same place. Otherwise cargo would build into other files of the target directory each time, and
/// these would pile up.
pub(crate) fn project(workspace: &Path, place: &Path, name: &str, manifest: &str) -> PathBuf {
    let project = place.join(name);
    if project.exists() {
        fs::remove_dir_all(&project).unwrap();
    }
    let ours = fs::read_to_string(workspace.join("Cargo.toml")).unwrap();
    let is_profile = |table: &&str| {
        table.starts_with("[profile.dev]") || table.contains("\n[profile.dev.build-override]\n")
    };
    let profiles: Vec<&str> = ours.split("\n\n").filter(is_profile).collect();
    let head = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n[workspace]\n");
    write(
        &project.join("Cargo.toml"),
        &format!("{head}{manifest}\n{}\n", profiles.join("\n\n")),
    );
    fs::copy(workspace.join("Cargo.lock"), project.join("Cargo.lock")).unwrap();
    project
}
