//! Libraries that are built for a test.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns an empty directory of this name for a test's files.
pub(crate) fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugins").join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

fn sdk() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../sdk")
        .canonicalize()
        .unwrap()
}

/// Compiles C to a library with these flags, with the linker that `rustc` uses.
pub(crate) fn c(name: &str, source: &str, flags: &[&str]) -> PathBuf {
    let directory = directory(name);
    let (from, to) = (directory.join("monitor.c"), directory.join("monitor.so"));
    std::fs::write(&from, source).unwrap();
    let mut cc = Command::new("cc");
    cc.args([
        "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-o",
    ]);
    let output = cc
        .arg(&to)
        .arg(&from)
        .arg("-I")
        .arg(sdk().join("include"))
        .args(flags)
        .output()
        .expect("a compiler of C, `cc`");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    to
}

/// Returns the C plugin of these tests, compiled once.
pub(crate) fn c_plugin() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| c("c-plugin", include_str!("monitor.c"), &[]))
}

/// Returns the same plugin, as it was compiled with the header of version 5.
pub(crate) fn c_plugin_of_version_5() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| c_plugin_of(5, include_str!("intermezzo_5.h")))
}

/// Returns the same plugin, as it was compiled with the header of version 6.
pub(crate) fn c_plugin_of_version_6() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| c_plugin_of(6, include_str!("intermezzo_6.h")))
}

fn c_plugin_of(version: u32, header: &str) -> PathBuf {
    let header = header.replace("#pragma once", "");
    let source = include_str!("monitor.c").replace("#include \"intermezzo.h\"", &header);
    let entry = format!("-DENTRY=intermezzo_monitor_{version}");
    c(&format!("c-plugin-{version}"), &source, &[&entry])
}

/// Returns the Rust plugin of these tests, compiled once.
pub(crate) fn rust_plugin() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| rust("rust-plugin", include_str!("monitor.rs.txt")))
}

/// Compiles Rust to a library, in a project of its own.
pub(crate) fn rust(name: &str, source: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugins").join(name);
    std::fs::create_dir_all(directory.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"3.2.1\"\nedition = \"2024\"\n\n\
         [lib]\ncrate-type = [\"cdylib\"]\n\n[dependencies]\nintermezzo-sdk = {{ path = {:?} }}\n\n\
         [profile.dev]\nopt-level = 1\nstrip = true\n\n[workspace]\n",
        sdk()
    );
    std::fs::write(directory.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(directory.join("src/lib.rs"), source).unwrap();
    cargo(
        &["build", "--offline", "--quiet"],
        &directory,
        Some(&directory.join("target")),
    );
    let library = format!("target/debug/lib{}.so", name.replace('-', "_"));
    directory.join(library)
}

/// Builds a plugin of the workspace, by its package name.
pub(crate) fn shipped(package: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    cargo(&["build", "--offline", "--quiet", "-p", package], &root, None);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    target
        .join("debug")
        .join(format!("lib{}.so", package.replace('-', "_")))
}

fn cargo(arguments: &[&str], directory: &Path, target: Option<&Path>) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(arguments).current_dir(directory);
    if let Some(target) = target {
        cargo.env("CARGO_TARGET_DIR", target);
    }
    let output = cargo.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
