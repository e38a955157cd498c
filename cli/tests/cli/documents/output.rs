//! Each block that is neither code nor a command is the output of a command, or is listed as something else.

use super::read::{Block, document, documents, root};
use crate::run;
use std::collections::BTreeSet;
use std::fs;

/// The origin of a block that is not code.
enum Source {
    /// This command prints it. `...` stands for omitted lines, and `…` for omitted text in a line.
    Command(&'static str, i32),
    /// A test in this file compares it.
    Test(&'static str),
    /// It is not output; this describes it.
    Drawn(&'static str),
}
use Source::{Command, Drawn, Test};

/// A document that its own suite compares as a whole.
const COMPARED_WHOLE: &str = "docs/LINEARIZABILITY.md";

/// Every block of the other documents, by its document and its beginning.
const BLOCKS: &[(&str, &str, Source)] = &[
    (
        "README.md",
        "error[assertion]: main panicked",
        Command("corpus run work_stealing_queue", 1),
    ),
    (
        "docs/guide/src/memory.md",
        "error[assertion]: task 2 panicked",
        Command("corpus run peterson --environment stale_reads=1", 1),
    ),
    (
        "docs/guide/src/memory.md",
        "ring::hand_over passed",
        Test("tests/stale_reads/auto.rs"),
    ),
    (
        "docs/LOOM.md",
        "loom::model passed",
        Test("shims/loom/tests/like_loom.rs"),
    ),
    (
        "docs/BREAKPOINTS.md",
        "lostupd: 100 executions",
        Command("breakpoints corpus lostupd", 1),
    ),
    (
        "docs/TUNE.md",
        "$ cargo intermezzo tune work",
        Test("cli/tests/cli/tune.rs"),
    ),
    (
        "docs/TUNE.md",
        "$ cargo intermezzo tune --no-times --test",
        Test("cli/tests/cli/tune.rs"),
    ),
    (
        "docs/MONITORS.md",
        "$ cargo intermezzo monitor check",
        Test("cli/tests/cli/monitor.rs"),
    ),
    (
        "docs/REFINEMENT.md",
        "error[refinement]: no order",
        Test("tests/examples.rs"),
    ),
    (
        "docs/guide/src/failure.md",
        "error[deadlock]: no task",
        Test("tests/telling/main.rs"),
    ),
    (
        "docs/guide/src/failure.md",
        "fail          my_queue::transfer",
        Test("cli/src/project/summary.rs"),
    ),
    (
        "docs/guide/src/first-bug.md",
        "error[assertion]: main panicked",
        Test("cli/tests/cli/documents/project.rs"),
    ),
    (
        "docs/guide/src/unmodified.md",
        "error[panic]: `main`",
        Test("cli/tests/cli/documents/project.rs"),
    ),
    (
        "docs/guide/src/pool.md",
        "{{#include ../../ci/pool-compose.yaml}}",
        Test("cli/tests/cli/ci_shares.rs"),
    ),
    (
        "docs/guide/src/pool.md",
        "{{#include ../../ci/kubernetes-pool.yaml}}",
        Test("cli/tests/cli/ci_shares.rs"),
    ),
    (
        "docs/guide/src/shares.md",
        "{{#include ../../ci/github-shares.yml}}",
        Test("cli/tests/cli/ci_shares.rs"),
    ),
    (
        "docs/guide/src/shares.md",
        "{{#include ../../ci/kubernetes-shares.yaml}}",
        Test("cli/tests/cli/ci_shares.rs"),
    ),
    (
        "docs/guide/src/settings.md",
        "my_queue::ring::no_item_is_lost\n  executions",
        Test("cli/tests/cli/documents/project.rs"),
    ),
    (
        "docs/guide/src/settings.md",
        "my_queue::ring::no_item_is_lost\n  breakpoints",
        Test("cli/tests/cli/documents/project.rs"),
    ),
    (
        "docs/ARCHITECTURE.md",
        "program under test ->",
        Drawn("the flow of data"),
    ),
    (
        "docs/ARCHITECTURE.md",
        "                   cargo-intermezzo",
        Drawn("the crates and their imports, which tests/tidy.rs has in full"),
    ),
    (
        "docs/VIEW.md",
        "recordings: [",
        Drawn("fields, which tests/formats.rs compares on another page"),
    ),
    (
        "docs/BREAKPOINTS.md",
        "or have it each time",
        Drawn("a part of a report about places of a user's"),
    ),
];

/// `true` if the text has these lines. A line `...` stands for any lines, and `…` for any text.
fn shows(shown: &[&str], printed: &[&str]) -> bool {
    let Some((first, rest)) = shown.split_first() else {
        return printed.is_empty();
    };
    if ["...", ".."].contains(&first.trim()) {
        return (0..=printed.len()).any(|left_out| shows(rest, &printed[left_out..]));
    }
    let fits = |line: &&str| line_shows(first, line);
    printed.first().is_some_and(fits) && shows(rest, &printed[1..])
}

fn line_shows(shown: &str, printed: &str) -> bool {
    match shown.split_once('…') {
        None => shown == printed,
        Some((begin, end)) => printed.strip_prefix(begin).is_some_and(|rest| {
            let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            ends.into_iter().any(|at| line_shows(end, &rest[at..]))
        }),
    }
}

/// Checks that a block shows what was printed.
#[track_caller]
pub(super) fn compare(place: &str, shown: &str, printed: &str) {
    let lines = |text| str::lines(text).collect::<Vec<_>>();
    assert!(
        shows(&lines(shown), &lines(printed)),
        "{place} does not show what is printed:\n{printed}\nbut:\n{shown}"
    );
}

/// Returns the block of a document with this beginning.
pub(super) fn block(name: &str, begin: &str) -> Block {
    let blocks = document(name).blocks().into_iter();
    let mut found = blocks.filter(|block| block.text.starts_with(begin));
    found
        .next()
        .unwrap_or_else(|| panic!("{name} has no block {begin:?}"))
}

#[test]
fn every_block_is_compared_with_something() {
    let (mut wrong, mut known) = (Vec::new(), BTreeSet::new());
    for document in documents()
        .iter()
        .filter(|document| document.name != COMPARED_WHOLE)
    {
        for block in document.blocks() {
            let is_code = ["rust", "toml", "c"].contains(&block.language.as_str());
            if is_code || block.is_all_commands() {
                continue;
            }
            let is_it =
                |(file, begin, _): &&(&str, &str, _)| *file == document.name && block.text.starts_with(begin);
            match BLOCKS.iter().position(|block| is_it(&block)) {
                Some(at) => drop(known.insert(at)),
                None => wrong.push(format!(
                    "{}:{}: nothing compares this block",
                    document.name, block.line
                )),
            }
        }
    }
    let gone = BLOCKS.iter().enumerate().filter(|(at, _)| !known.contains(at));
    wrong.extend(gone.map(|(_, (file, begin, _))| format!("{file} has no block {begin:?}")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn blocks_show_what_is_printed() {
    for (file, begin, source) in BLOCKS {
        match source {
            Command(command, code) => {
                let arguments: Vec<&str> = command.split(' ').collect();
                compare(
                    file,
                    &block(file, begin).text,
                    &run(&arguments).ends_with(*code).stdout,
                );
            }
            // Compared by the end of its path, because a test may be in another folder.
            Test(test) => {
                let text = fs::read_to_string(root().join(test)).unwrap();
                let name = file.rsplit('/').next().unwrap_or(file);
                assert!(text.contains(name), "{test} does not look at {file}");
            }
            Drawn(what) => assert!(!what.is_empty()),
        }
    }
}

#[test]
fn omissions_match_anything() {
    let printed = ["a", "b", "c at x.rs:1", "d"];
    assert!(shows(&["a", "...", "c at …:1", "d"], &printed));
    assert!(shows(&["a", "b", "c at …", "  ..", "d"], &printed));
    assert!(!shows(&["a", "c at …", "d"], &printed));
    assert!(!shows(&["...", "c at …:2", "d"], &printed));
    assert!(!shows(&["a", "..."], &[]));
}
