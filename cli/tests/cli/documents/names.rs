//! The names that sentences write as code exist: flags, settings with values, files, and programs with parameters.

use super::commands::Scene;
use super::read::{document, documents, root, words};
use intermezzo::Settings;
use intermezzo::settings::Setting;
use intermezzo_corpus::{find, parse_full_name};
use std::fs;
use std::path::Path;

/// The commands whose flags may be named.
const COMMANDS: &[&[&str]] = &[
    &["test"],
    &["run"],
    &["replay"],
    &["config"],
    &["tune"],
    &["view"],
    &["corpus", "list"],
    &["corpus", "run"],
    &["breakpoints", "corpus"],
    &["history", "check"],
    &["memo", "show"],
    &["memo", "forget"],
    &["memo", "merge"],
    &["monitor", "new"],
    &["monitor", "check"],
    &["worker"],
];

/// Flags of the test harness.
const HARNESS: &[&str] = &["--nocapture"];

/// Files in documents that belong to a user's project.
const THE_USERS: &[&str] = &["src/lib.rs", "src/ring.rs", "src/main.rs"];

/// Checks that a flag is one of ours, and its value a valid one.
fn flag(scene: &Scene, helps: &[String], code: &str) -> Result<(), String> {
    let filled = scene.filled(code);
    let words = words(&filled);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if HARNESS.contains(&words[0]) {
        return Ok(());
    }
    let mut told = String::new();
    for (command, help) in COMMANDS.iter().zip(helps) {
        let mut flags = help.split(|c: char| c.is_whitespace() || ",[=".contains(c));
        if !flags.any(|flag| Some(flag) == words[0].split('=').next()) {
            continue;
        }
        let ran = scene.run(&[*command, &words[..], &["--help"]].concat());
        if ran.code == 0 || words.len() == 1 {
            return Ok(());
        }
        told = ran.stderr;
    }
    Err(format!("no command takes it\n{told}"))
}

/// Checks settings, each with its value; `None` if this is something else.
fn settings(code: &str) -> Option<Result<(), String>> {
    let mut settings = Settings::default();
    let sets = code.split(' ').map(|word| word.split_once('='));
    let sets: Vec<(&str, &str)> = sets.collect::<Option<_>>()?;
    if !sets.iter().any(|(name, _)| Setting::named(name).is_some()) {
        return None;
    }
    for (name, value) in sets {
        // The documents write placeholders like this.
        let is_any = value == "i" || value.chars().all(|c| c.is_ascii_uppercase());
        let value = if is_any && name != "checkpoint" {
            continue;
        } else {
            value
                .replace("(D)", "(3)")
                .replace("(D,V)", "(3,1)")
                .replace("(A,2*B,..)", "(pos,2*surw)")
        };
        if let Err(error) = settings.set(name, value.trim_matches('"')) {
            return Some(Err(error.to_string()));
        }
    }
    Some(Ok(()))
}

/// Checks a program of the corpus with parameters; `None` if this is something else.
fn program(code: &str) -> Option<Result<(), String>> {
    let (name, _) = code.split_once(',')?;
    find(name)?;
    let parsed = parse_full_name(code).map(drop);
    Some(parsed.map_err(|error| error.to_string()))
}

/// Returns the files for which `{a,b}` in a path stands.
fn alternatives(path: &str) -> Vec<String> {
    match path
        .split_once('{')
        .and_then(|(begin, rest)| Some((begin, rest.split_once('}')?)))
    {
        Some((begin, (inner, end))) => inner
            .split(',')
            .flat_map(|one| alternatives(&format!("{begin}{one}{end}")))
            .collect(),
        None => vec![path.to_owned()],
    }
}

/// Checks that a path from the root of the workspace exists; `None` if this is something else.
fn path(code: &str) -> Option<Result<(), String>> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "/._-{},".contains(c);
    let (first, rest) = code.split_once('/')?;
    if !code.chars().all(is_path)
        || !root().join(first).is_dir()
        || ["", "target"].contains(&first)
        || rest.is_empty()
    {
        return None;
    }
    // A module in braces may be a folder or a file.
    let is_there = |path: &String| root().join(path).exists() || root().join(format!("{path}.rs")).exists();
    let missing = alternatives(code).into_iter().find(|path| !is_there(path));
    match missing {
        Some(missing) if !THE_USERS.contains(&missing.as_str()) => {
            Some(Err(format!("there is no {missing}")))
        }
        _ => Some(Ok(())),
    }
}

#[test]
fn names_in_sentences_exist() {
    let scene = Scene::new();
    let helps: Vec<String> = COMMANDS
        .iter()
        .map(|command| scene.run(&[*command, &["--help"]].concat()).stdout)
        .collect();
    let (mut wrong, mut counts) = (Vec::new(), [0; 4]);
    for document in documents() {
        for (line, code) in document.code() {
            let known = code.starts_with("--").then(|| flag(&scene, &helps, &code));
            let checked = [known, settings(&code), path(&code), program(&code)];
            for (count, checked) in counts.iter_mut().zip(checked) {
                *count += u32::from(checked.is_some());
                if let Some(Err(problem)) = checked {
                    wrong.push(format!("{}:{line}: `{code}`: {problem}", document.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let [flags, settings, paths, programs] = counts;
    assert!(
        flags > 30 && settings > 60 && paths > 60 && programs > 10,
        "{counts:?}"
    );
}

/// Returns the text of a file, or of all files in a folder.
fn text(path: &Path) -> String {
    if path.is_dir() {
        let entries = fs::read_dir(path).unwrap();
        return entries.map(|entry| text(&entry.unwrap().path())).collect();
    }
    fs::read_to_string(path).unwrap_or_default()
}

/// Each name in an answer of docs/ARCHITECTURE.md is in one of the files that the answer names.
#[test]
fn answers_of_the_architecture_hold() {
    let page = document("docs/ARCHITECTURE.md");
    let tables = page.tables();
    let table = tables
        .iter()
        .find(|table| table.heading == ["question", "answer"]);
    let rows = &table.expect("the page answers questions").rows;
    let (mut checked, mut wrong) = (0, Vec::new());
    for row in rows {
        let is_name = |c: char| c.is_alphanumeric() || "_:".contains(c);
        let code = row[1].split('`').skip(1).step_by(2);
        let (names, paths): (Vec<&str>, Vec<&str>) = code.partition(|code| code.chars().all(is_name));
        let texts: String = paths.iter().map(|path| text(&root().join(path))).collect();
        checked += names.len();
        let last = |name: &str| name.rsplit("::").next().unwrap_or_default().to_owned();
        let missing = names.into_iter().filter(|name| !texts.contains(&last(name)));
        wrong.extend(missing.map(|name| format!("{}: `{name}` is in none of {paths:?}", row[0])));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        rows.len() > 10 && checked > 5,
        "{} rows, {checked} names",
        rows.len()
    );
}
