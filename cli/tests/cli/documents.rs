//! Command lines that documents show are ones that there are.

use crate::run_in;
use std::fs;
use std::path::{Path, PathBuf};

fn documents(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let (directories, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let below = directories.iter().flat_map(|directory| documents(directory));
    files
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .chain(below)
        .collect()
}

/// The arguments of each `cargo intermezzo` in a block of shell commands.
fn command_lines(text: &str) -> Vec<Vec<&str>> {
    let blocks = text
        .split("```sh\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next());
    let lines = blocks
        .flat_map(str::lines)
        .map(|line| line.split(" #").next().unwrap_or(line));
    let commands = lines.filter_map(|line| {
        line.split_once("cargo intermezzo ")
            .map(|(_, arguments)| arguments)
    });
    commands
        .map(|arguments| {
            arguments
                .split_whitespace()
                .map(|word| word.trim_matches('\''))
                .collect()
        })
        .collect()
}

#[test]
fn command_lines_in_documents_are_understood() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = documents(&root.join("docs"));
    files.push(root.join("README.md"));
    let mut tried = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for arguments in command_lines(&text) {
            // Where something is understood, help is shown; what comes before has been looked at then.
            let ours = arguments.iter().take_while(|argument| **argument != "--");
            let with_help: Vec<&str> = ours.copied().chain(["--help"]).collect();
            let ran = run_in(root, &with_help);
            assert_eq!(ran.code, 0, "{}: {arguments:?}\n{}", file.display(), ran.stderr);
            tried += 1;
        }
    }
    assert!(tried > 10, "{tried}");
}
