//! The page about the features of published systems: each row names existing tests, or says that the feature is missing.
//!
//! Commands and flags of the page are checked like those of every document. The ignored test runs the rows' tests and
//! commands.

use super::commands::Scene;
use super::read::{Document, document, root, words};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

const PAGE: &str = "docs/guide/src/sources.md";

/// An item of the page.
struct Row {
    /// Its number, as `A01`.
    id: String,
    /// `yes`, `in part`, `no`, or `does not apply`.
    here: String,
    /// The place of the feature here, and the differences.
    place: String,
    differs: String,
    tests: Vec<String>,
    commands: Vec<String>,
}

fn row(cells: &[String]) -> Row {
    let [item, here, place, differs, shown] = cells else {
        panic!("a row has five columns: {cells:?}")
    };
    let id = item.split(' ').next().unwrap_or_default();
    let code = shown.split('`').skip(1).step_by(2).map(str::to_owned);
    let (commands, tests) = code.partition(|code| code.starts_with("cargo intermezzo "));
    Row {
        id: id.to_owned(),
        here: here.clone(),
        place: place.clone(),
        differs: differs.clone(),
        tests,
        commands,
    }
}

fn rows(page: &Document) -> Vec<Row> {
    page.tables()
        .iter()
        .flat_map(|table| &table.rows)
        .map(|cells| row(cells))
        .collect()
}

/// Returns the names of the workspace's test functions.
fn tests() -> BTreeSet<String> {
    fn add(folder: &Path, all: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                add(&path, all);
            } else if name.ends_with(".rs") {
                all.extend(tests_in(&fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut all = BTreeSet::new();
    add(root(), &mut all);
    all
}

/// Returns the names of the functions that have an attribute of tests right before them. Attributes may have several
/// lines.
pub(super) fn tests_in(source: &str) -> Vec<String> {
    let (mut is_test, mut open) = (false, 0);
    let mut found = Vec::new();
    for line in source.lines().map(str::trim) {
        let begins = open == 0 && line.starts_with("#[");
        if begins {
            let attribute = line[2..].split(['(', ']']).next().unwrap_or_default();
            is_test |= attribute == "test" || attribute.ends_with("::test");
        }
        if begins || open > 0 {
            open += line.matches('[').count();
            open = open.saturating_sub(line.matches(']').count());
        } else if let Some((_, rest)) = line.split_once("fn ").filter(|_| is_test) {
            let name = rest.split(['(', '<']).next().unwrap_or_default();
            found.push(name.to_owned());
            is_test = false;
        } else if !line.starts_with("//") && !line.is_empty() {
            is_test = false;
        }
    }
    found
}

#[test]
fn every_item_names_existing_tests() {
    let (page, tests) = (document(PAGE), tests());
    let rows = rows(&page);
    let mut wrong = Vec::new();
    let mut ids = BTreeSet::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        let id = &row.id;
        if !ids.insert(id) {
            wrong.push(format!("{id} is there twice"));
        }
        *counts.entry(&row.here).or_default() += 1;
        let is_shown = !row.tests.is_empty() || !row.commands.is_empty();
        let is_right = match row.here.as_str() {
            "yes" => is_shown && !row.place.is_empty(),
            "in part" => is_shown && !row.place.is_empty() && !row.differs.is_empty(),
            "no" | "does not apply" => !is_shown && row.place.is_empty(),
            _ => false,
        };
        if !is_right {
            wrong.push(format!("{id}: `{}` does not fit the other columns", row.here));
        }
        let missing = row.tests.iter().filter(|name| !tests.contains(*name));
        wrong.extend(missing.map(|name| format!("{id}: there is no test `{name}`")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let count = |here: &str| counts.get(here).copied().unwrap_or(0);
    let (yes, in_part) = (count("yes"), count("in part"));
    let parts = match count("no") {
        0 => format!("{yes} are here, and {in_part} in part"),
        1 => format!("{yes} are here, {in_part} in part, and 1 is not"),
        no => format!("{yes} are here, {in_part} in part, and {no} are not"),
    };
    let told = format!(
        "Of {} items {parts}.\n{} do not apply",
        rows.len(),
        count("does not apply")
    );
    assert!(page.text.contains(&told), "the page does not say: {told}");
}

/// Runs every command and every test of the page, and names the rows that fail. It builds all tests of the workspace.
#[test]
#[ignore = "builds and runs tests of the whole workspace"]
fn every_item_is_as_documented() {
    let (scene, rows) = (Scene::new(), rows(&document(PAGE)));
    let mut wrong = Vec::new();
    for (row, command) in rows
        .iter()
        .flat_map(|row| row.commands.iter().map(move |one| (row, one)))
    {
        let filled = scene.filled(command);
        let words = words(&filled);
        let arguments: Vec<&str> = words.iter().skip(2).map(String::as_str).collect();
        let ran = scene.run(&arguments);
        if ![0, 1].contains(&ran.code) {
            wrong.push(format!(
                "{}: `{command}` ends with {}:\n{}",
                row.id, ran.code, ran.stderr
            ));
        }
    }
    let names: BTreeSet<&String> = rows.iter().flat_map(|row| &row.tests).collect();
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["test", "--workspace", "--no-fail-fast", "--"])
        .args(&names);
    let ran = cargo.current_dir(root()).output().unwrap();
    // Lines such as `test path::name ... ok`, or with `FAILED` or `ignored, why`.
    let output = String::from_utf8_lossy(&ran.stdout);
    let mut outcomes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in output.lines().filter_map(|line| line.strip_prefix("test ")) {
        if let Some((path, outcome)) = line.split_once(" ... ") {
            let path = path.split(" - ").next().unwrap_or(path);
            let name = path.rsplit("::").next().unwrap_or(path);
            outcomes.entry(name).or_default().push(outcome);
        }
    }
    for (row, name) in rows
        .iter()
        .flat_map(|row| row.tests.iter().map(move |one| (row, one)))
    {
        match outcomes.get(name.as_str()) {
            None => wrong.push(format!("{}: `{name}` was not run", row.id)),
            Some(of_name) if of_name.contains(&"FAILED") => {
                wrong.push(format!("{}: `{name}` fails", row.id));
            }
            Some(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tests_are_found_by_their_attributes() {
    let source = "#[test]\nfn one() {}\nfn two() {}\n#[intermezzo::test(expect(deadlock))]\n#[ignore]\npub fn three() {}\n\
                  #[test]\n#[cfg_attr(\nall(a),\nignore = \"why\"\n)]\nfn four() {}\n#[inline]\nfn five() {}\n";
    assert_eq!(tests_in(source), ["one", "three", "four"]);
}
