//! The output that the guide shows of a user's project is compared with that of a real one.

use super::output::{block, compare};
use super::read::{Document, document, root};
use crate::unmodified::{project_of, run};
use crate::{run_in, throw_away};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The pages: the first bug, the origins of settings, and programs.
const FIRST_BUG: &str = "docs/guide/src/first-bug.md";
const SETTINGS: &str = "docs/guide/src/settings.md";
const UNMODIFIED: &str = "docs/guide/src/unmodified.md";

/// Returns the code of a language in a document, without indentation and without the hidden lines of documentation tests.
fn code(document: &Document, language: &str) -> Vec<String> {
    let blocks = document
        .blocks()
        .into_iter()
        .filter(|block| block.language == language);
    let line = |line: &str| (!line.starts_with("# ")).then(|| line.to_owned() + "\n");
    let code = blocks.map(|block| {
        let indented = block
            .text
            .lines()
            .all(|line| line.is_empty() || line.starts_with("   "));
        let lines = block.text.lines().map(|line| {
            if indented {
                line.get(3..).unwrap_or_default()
            } else {
                line
            }
        });
        lines.filter_map(line).collect()
    });
    code.collect()
}

/// Creates the project of the guide, with the dependencies that it names.
fn new_project() -> PathBuf {
    let manifest = code(&document(FIRST_BUG), "toml").remove(0);
    let manifest = manifest.replace("path/to/intermezzo", &root().display().to_string());
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    throw_away::project(root(), place, "my-queue", &manifest)
}

#[test]
fn the_guide_shows_the_output_of_a_project() {
    let project = &new_project();
    throw_away::write(
        &project.join("src/lib.rs"),
        &code(&document(FIRST_BUG), "rust")[0],
    );
    // The document shows the output of `cargo test` in a terminal of the usual width.
    let mut test = Command::new(env!("CARGO"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("INTERMEZZO_"))
    {
        test.env_remove(name);
    }
    let target = Path::new(env!("CARGO_BIN_EXE_cargo-intermezzo"))
        .ancestors()
        .nth(2)
        .unwrap();
    test.args(["test", "--offline", "--lib"])
        .current_dir(project)
        .env("CARGO_TARGET_DIR", target);
    let printed = String::from_utf8(test.output().unwrap().stdout).unwrap();
    // No place or backtrace in intermezzo comes first.
    assert!(printed.contains(" stdout ----\nerror[assertion]: "), "{printed}");
    let (_, told) = printed
        .split_once("error[")
        .unwrap_or_else(|| panic!("{printed}"));
    let (told, _) = told
        .split_once("\n\nthread ")
        .or(told.split_once("\nnote: run with"))
        .unwrap_or((told, ""));
    let shown = block(FIRST_BUG, "error[assertion]").text;
    compare(FIRST_BUG, &shown, &format!("error[{told}"));

    let ring = "#[cfg(test)]\nmod ring {\n    #[intermezzo::test(preemptions = 2)]\n    fn no_item_is_lost() {}\n}\n";
    throw_away::write(&project.join("src/lib.rs"), ring);
    let settings = code(&document(SETTINGS), "toml");
    fs::write(project.join("intermezzo.toml"), settings.join("\n")).unwrap();
    for (arguments, begin) in [
        (&["config"][..], "my_queue::ring::no_item_is_lost\n  executions"),
        (
            &["config", "--all", "--steps", "5_000"],
            "my_queue::ring::no_item_is_lost\n  breakpoints",
        ),
    ] {
        let printed = run_in(project, arguments).ends_with(0).stdout;
        let at = printed.find("my_queue::").unwrap_or_else(|| panic!("{printed}"));
        compare(SETTINGS, &block(SETTINGS, begin).text, &printed[at..]);
    }
}

#[test]
fn the_guide_shows_the_output_of_a_program() {
    let project = project_of("reproduction-of-the-guide", "", "");
    let programs = code(&document(UNMODIFIED), "rust");
    let program = programs.iter().find(|code| code.contains("fn main()")).unwrap();
    throw_away::write(&project.join("examples/reproduction.rs"), program);
    let printed = run(&project, &["run", "--example", "reproduction"])
        .ends_with(1)
        .stderr;
    let at = printed
        .find("error[panic]")
        .unwrap_or_else(|| panic!("{printed}"));
    let shown = block(UNMODIFIED, "error[panic]: `main`").text;
    compare(UNMODIFIED, &shown, &printed[at..]);
}
