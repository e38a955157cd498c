//! `test --unmodified` in projects that configure cargo and lints. Their settings change neither the overlays nor the
//! findings.
#![cfg(target_os = "linux")]

use crate::throw_away;
use crate::unmodified::{project_of, run};
use std::path::Path;

/// A data race that no assertion shows.
const LIBRARY: &str = "
#![deny(warnings, unused_crate_dependencies)]
static mut N: u32 = 0;
#[test]
fn both_add() {
    let add = || unsafe { N += 1 };
    std::thread::scope(|scope| {
        scope.spawn(add);
        add();
    });
}
";

/// The directory lacks the packages that intermezzo needs, and the target is not installed.
const CONFIGURATION: &str = "
[build]
target = \"wasm32-unknown-unknown\"
build-dir = \"shared\"
[source.crates-io]
replace-with = \"vendored\"
[source.vendored]
directory = \"vendor\"
";

/// Expects the data race with `--races`, and not without.
fn finds_the_race(project: &Path, arguments: &[&str]) {
    let explored = |flags: &[&str], code: i32| {
        let all = [&["test", "--unmodified", "--json"], flags, arguments].concat();
        run(project, &all).ends_with(code).json()
    };
    assert_eq!(explored(&[], 0)["reports"][0]["verdict"], "pass");
    let raced = explored(&["--races"], 1);
    assert_eq!(
        raced["reports"][0]["findings"][0]["kind"], "data_race",
        "{raced:#}"
    );
}

#[test]
fn the_configuration_of_a_project_does_not_change_the_overlays() {
    let project = project_of("configured", "", LIBRARY);
    throw_away::write(&project.join(".cargo/config.toml"), CONFIGURATION);
    throw_away::write(&project.join("vendor/README"), "Nothing.\n");
    finds_the_race(&project, &[]);
}

#[test]
fn builds_in_a_chosen_directory_are_separate() {
    let project = project_of("elsewhere", "", LIBRARY);
    finds_the_race(&project, &["--target-dir", "own"]);
    assert!(project.join("own/intermezzo").is_dir());
    finds_the_race(&project, &["--target-dir=own-too", "--lib"]);
    assert!(project.join("own-too/intermezzo").is_dir());
}
