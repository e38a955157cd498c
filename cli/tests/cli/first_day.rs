//! A new user of `--unmodified` runs each command of the guide in a shell: `cargo new`, a dependency from
//! the registry, a test, `cargo intermezzo test`, and the command that a failure prints.

use crate::seeded::{has_its_packages, ignored};
use crate::throw_away;
use crate::unmodified::overlays;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const LIBRARY: &str = r#"
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Counts the visits of a page.
#[derive(Default)]
pub struct Visits(CachePadded<AtomicUsize>);

impl Visits {
    pub fn add(&self) {
        let seen = self.0.load(SeqCst);
        self.0.store(seen + 1, SeqCst);
    }

    pub fn count(&self) -> usize {
        self.0.load(SeqCst)
    }
}

#[test]
fn each_visit_counts() {
    let visits = Visits::default();
    std::thread::scope(|scope| {
        scope.spawn(|| visits.add());
        visits.add();
    });
    assert_eq!(visits.count(), 2);
}
"#;

/// Runs this in a shell, where `cargo intermezzo` is the binary under test. Returns the exit code and stdout.
fn shell(directory: &Path, line: &str) -> (i32, String) {
    let mut command = Command::new("sh");
    for (name, _) in env::vars_os() {
        if name.to_string_lossy().starts_with("INTERMEZZO_") {
            command.env_remove(name);
        }
    }
    let binary = Path::new(env!("CARGO_BIN_EXE_cargo-intermezzo"));
    let path = env::var_os("PATH").unwrap_or_default();
    let before = [env!("CARGO"), binary.to_str().unwrap()];
    let before = before
        .iter()
        .filter_map(|file| Path::new(file).parent().map(PathBuf::from));
    let path = env::join_paths(before.rev().chain(env::split_paths(&path))).unwrap();
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    command
        .args(["-c", line])
        .current_dir(directory)
        .env("PATH", path)
        .env("CARGO_NET_OFFLINE", "true")
        .env("INTERMEZZO_CACHE", overlays())
        .env("CARGO_TARGET_DIR", place.join("unmodified-target"));
    let output = command.output().unwrap();
    let code = output.status.code().unwrap();
    (code, String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_new_project_is_tested_by_one_command() {
    // Not in the target directory, where `cargo new` would make it a member of our workspace.
    let place = tempfile::tempdir().unwrap();
    assert_eq!(shell(place.path(), "cargo new --lib --vcs none first-day").0, 0);
    let project = place.path().join("first-day");
    let (added, _) = shell(&project, "cargo add crossbeam-utils@0.8");
    if added != 0 || !has_its_packages(&project) {
        return ignored("crossbeam-utils is not here, and there is no network");
    }
    throw_away::write(&project.join("src/lib.rs"), LIBRARY);

    let test = "cargo intermezzo test --unmodified";
    let (code, text) = shell(&project, test);
    assert_eq!(code, 1, "{text}");
    for says in [
        "test each_visit_counts ... FAILED",
        "error[assertion]: main panicked at",
        "what happened, in this order",
        "\n1 explored test: 0 passed, 1 failed, 0 inconclusive\n",
    ] {
        assert!(text.contains(says), "{says}\n{text}");
    }
    let mut printed = text
        .lines()
        .filter(|line| line.trim_start().starts_with("cargo intermezzo replay imz"));
    let replay = printed.next().unwrap_or_else(|| panic!("no command:\n{text}"));
    let (code, again) = shell(&project, replay.trim());
    assert_eq!(code, 1, "{again}");
    assert!(
        again.contains("each_visit_counts: the schedule was replayed as recorded"),
        "{again}"
    );

    let buggy = "let seen = self.0.load(SeqCst);\n        self.0.store(seen + 1, SeqCst);";
    throw_away::write(
        &project.join("src/lib.rs"),
        &LIBRARY.replace(buggy, "self.0.fetch_add(1, SeqCst);"),
    );
    let (code, text) = shell(&project, test);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains(" s  every schedule\n"), "{text}");
}
