//! Every example runs, ends as expected, and shows its subject.

use cargo_metadata::{MetadataCommand, TargetKind};
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The documents that contain the output of an example: the document, the example, and the first words of the output.
const SHOWN: &[(&str, &str, &str)] = &[(
    "docs/REFINEMENT.md",
    "refine_stack",
    "error[refinement]: no order",
)];

/// Each example with its package, its arguments, and words that it prints.
const EXAMPLES: &[(&str, &str, &[&str], &[&str])] = &[
    (
        "intermezzo",
        "breakpoint",
        &[],
        &["a process: ", "an exploration:", "-10 is left", "in 1 execution"],
    ),
    (
        "intermezzo",
        "lost_update",
        &[],
        &["an update was lost", "schedule"],
    ),
    (
        "intermezzo",
        "named",
        &[],
        &["a miss was lost", "load misses", "store misses"],
    ),
    (
        "intermezzo",
        "refine_stack",
        &[],
        &[
            "one at a time:",
            "at once: ",
            "lets go too early: ",
            "no order of the operations",
        ],
    ),
    ("intermezzo-breakpoint", "disarmed", &["with"], &[]),
    ("intermezzo-breakpoint", "disarmed", &["without"], &[]),
];

fn manifest() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")
}

/// Returns the path of the example. `cargo test` has built it; if only this test was requested, the example is built
/// now.
fn built(package: &str, example: &str) -> PathBuf {
    let this = env::current_exe().unwrap();
    let profile = this
        .ancestors()
        .nth(2)
        .expect("tests are in deps, in the profile's directory");
    let path = profile
        .join("examples")
        .join(format!("{example}{}", env::consts::EXE_SUFFIX));
    if !path.exists() {
        let mut command = Command::new(env!("CARGO"));
        command.args([
            "build",
            "--quiet",
            "--offline",
            "--package",
            package,
            "--example",
            example,
        ]);
        command.arg("--manifest-path").arg(manifest());
        command.env(
            "CARGO_TARGET_DIR",
            profile.parent().expect("the target directory"),
        );
        assert!(command.status().unwrap().success(), "{example} is not built");
    }
    path
}

/// `true` if a text has the identity of a variable: `atomic 0.1`.
fn has_identity(text: &str) -> bool {
    let kinds = [
        "atomic", "pointer", "mutex", "rwlock", "condvar", "channel", "count", "arc", "cell",
    ];
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(2).any(|pair| {
        let number = pair[1].trim_matches(|c: char| !c.is_ascii_digit());
        let is_number = |part: &str| part.parse::<u32>().is_ok();
        kinds.iter().any(|kind| pair[0].ends_with(kind))
            && number
                .split_once('.')
                .is_some_and(|(task, own)| is_number(task) && is_number(own))
    })
}

#[test]
fn identities_are_found_in_texts() {
    assert!(has_identity("task 1: load atomic 0.1 -> 0") && has_identity("`mutex 1.12`"));
    assert!(!has_identity("load misses -> 0, version 0.1 of the mutex"));
}

#[test]
fn examples_show_their_subjects() {
    for (package, example, arguments, words) in EXAMPLES {
        let mut command = Command::new(built(package, example));
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("INTERMEZZO_") {
                command.env_remove(name);
            }
        }
        let output = command.args(*arguments).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{example}: {}\n{printed}\n{told}",
            output.status
        );
        // Every variable in a failure has the name that the source gives it.
        assert!(!has_identity(&printed), "{example}:\n{printed}");
        for word in *words {
            assert!(
                printed.contains(word),
                "{example} does not print {word:?}:\n{printed}"
            );
        }
        for (document, _, begin) in SHOWN.iter().filter(|(_, shown, _)| shown == example) {
            let text = fs::read_to_string(manifest().with_file_name(document)).unwrap();
            let blocks = text.split("\n```").find_map(|block| {
                block
                    .strip_prefix("text\n")
                    .filter(|block| block.starts_with(begin))
            });
            let block = blocks.unwrap_or_else(|| panic!("{document} has no block {begin:?}"));
            assert!(
                printed.contains(block),
                "{document} does not show what {example} prints:\n{printed}"
            );
        }
    }
}

#[test]
fn no_example_is_left_out() {
    let mut command = MetadataCommand::new();
    let metadata = command
        .manifest_path(manifest())
        .no_deps()
        .other_options(["--offline".into()])
        .exec()
        .unwrap();
    let there: BTreeSet<(&str, &str)> = metadata
        .packages
        .iter()
        .flat_map(|package| {
            package
                .targets
                .iter()
                .map(|target| (package.name.as_str(), target))
        })
        .filter(|(_, target)| target.kind.contains(&TargetKind::Example))
        .map(|(package, target)| (package, target.name.as_str()))
        .collect();
    let tried: BTreeSet<(&str, &str)> = EXAMPLES
        .iter()
        .map(|&(package, example, ..)| (package, example))
        .collect();
    assert_eq!(there, tried);
}
