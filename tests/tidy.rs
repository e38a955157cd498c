//! The rooms of the house: who may import whom, and that every module says what it is for.

use cargo_metadata::{DependencyKind, MetadataCommand};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Who may import whom, among the packages of the workspace.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("intermezzo-sdk", &[]),
    // Real time, in programs that explore nothing.
    ("intermezzo-breakpoint", &[]),
    ("intermezzo-macros", &[]),
    (
        "intermezzo-explorer",
        &["intermezzo-breakpoint", "intermezzo-sdk"],
    ),
    ("intermezzo-monitors", &["intermezzo-sdk"]),
    (
        "intermezzo-refinement",
        &["intermezzo-explorer", "intermezzo-sdk"],
    ),
    (
        "intermezzo",
        &[
            "intermezzo-breakpoint",
            "intermezzo-macros",
            "intermezzo-explorer",
            "intermezzo-monitors",
            "intermezzo-refinement",
            "intermezzo-sdk",
        ],
    ),
    ("intermezzo-corpus", &["intermezzo"]),
    ("cargo-intermezzo", &["intermezzo", "intermezzo-corpus"]),
    // The real loom, for comparison.
    ("intermezzo-peers", &["intermezzo", "loom"]),
    // Ours, outside the workspace: a crate that is patched to use them is part of nobody's build but the user's.
    ("loom", &["intermezzo"]),
    ("intermezzo-std", &["intermezzo"]),
    ("intermezzo-core", &["intermezzo-std"]),
    ("intermezzo-atomicity", PLUGIN),
    ("intermezzo-contention", PLUGIN),
    ("intermezzo-data-race", PLUGIN),
    ("intermezzo-event-log", PLUGIN),
    ("intermezzo-happens-before-counter", PLUGIN),
    ("intermezzo-leak", PLUGIN),
    ("intermezzo-lock-order", PLUGIN),
    ("intermezzo-misuse", PLUGIN),
    ("intermezzo-stale-load", PLUGIN),
    ("intermezzo-statistics", PLUGIN),
];

/// The manifests of the packages that those rules are for: the workspace's, and those beside it.
const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "shims/loom/Cargo.toml",
    "shims/std/Cargo.toml",
    "shims/core/Cargo.toml",
];

/// What a monitor as a plugin imports.
const PLUGIN: &[&str] = &["intermezzo-sdk", "intermezzo-monitors"];

/// Most lines of a source file: longer ones have a second job.
const LINES_MAX: usize = 650;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn packages_import_only_what_they_may() {
    let packages = MANIFESTS.iter().flat_map(|manifest| {
        let mut command = MetadataCommand::new();
        command.manifest_path(root().join(manifest)).no_deps();
        command
            .other_options(["--offline".into()])
            .exec()
            .unwrap()
            .packages
    });
    let rules: BTreeMap<&str, &[&str]> = MAY_IMPORT.iter().copied().collect();
    let mut wrong = Vec::new();
    for package in packages {
        let Some(allowed) = rules.get(package.name.as_str()) else {
            wrong.push(format!(
                "{} has no rule: say here what it may import",
                package.name
            ));
            continue;
        };
        for dependency in package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind == DependencyKind::Normal)
        {
            if rules.contains_key(dependency.name.as_str()) && !allowed.contains(&dependency.name.as_str()) {
                wrong.push(format!("{} imports {}", package.name, dependency.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Every source file of the workspace.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if name.ends_with(".rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(found.len() > 50, "the workspace is found: {}", found.len());
    found
}

#[test]
fn every_file_says_what_it_is_for_and_is_not_too_long() {
    let mut wrong = Vec::new();
    for path in sources() {
        let text = std::fs::read_to_string(&path).unwrap();
        let shown = path.strip_prefix(root()).unwrap().display();
        // Cases for the compiler to refuse are data.
        if !text.starts_with("//!") && !shown.to_string().contains("/ui/") {
            wrong.push(format!("{shown} does not open with its job"));
        }
        if text.lines().count() > LINES_MAX {
            wrong.push(format!("{shown} has {} lines", text.lines().count()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn unsafe_code_stays_in_its_rooms() {
    const ROOMS: &[&str] = &[
        "explorer/src/runtime/",
        "explorer/src/lookalike/",
        // The line between an engine and plugins, from both sides; and the loader.
        "sdk/src/abi/",
        "sdk/tests/",
        "explorer/src/plugin/",
        "explorer/tests/",
        // loom's pointers are dereferenced by unsafe methods, and code written for it is full of such.
        "shims/loom/src/cell.rs",
        "shims/loom/src/sync/atomic.rs",
        "tests/real/loom_style.rs",
        // A data race takes memory that is shared and plain.
        "tests/data_race/cells.rs",
        // A user's crate with data races.
        "cli/tests/cli/new_user.rs",
        "cli/tests/cli/identity.rs",
        "corpus/src/programs/plain.rs",
        "benches/listening.rs",
        "tests/monitors_shipped/allocations.rs",
        // Memory that a monitor must object to.
        "tests/monitors_shipped/memory.rs",
        "tests/monitors_shipped/defaults.rs",
        "tests/reduction_compatible/memory.rs",
    ];
    let mut wrong = Vec::new();
    for path in sources() {
        let shown = path.strip_prefix(root()).unwrap().display().to_string();
        let text = std::fs::read_to_string(&path).unwrap();
        let uses = |line: &str| {
            let code = line.split("//").next().unwrap_or("");
            code.contains("unsafe {") || code.contains("unsafe fn") || code.contains("unsafe impl")
        };
        if !ROOMS.iter().any(|room| shown.starts_with(room))
            && !shown.ends_with("tidy.rs")
            && text.lines().any(uses)
        {
            wrong.push(shown);
        }
    }
    assert!(wrong.is_empty(), "unsafe code outside its rooms: {wrong:#?}");
}
