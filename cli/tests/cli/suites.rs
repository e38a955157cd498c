//! The own tests of published crates, explored by `test --unmodified` as they are in the registry. The outcomes are
//! printed, and written to `suites/table.md` in cargo's directory for tests. The variable `SUITES` names some of the crates.

#![expect(
    clippy::print_stderr,
    reason = "it takes long, and each crate is told when it is done"
)]

use crate::{Ran, command};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The budget of a test.
const BUDGET: [&str; 4] = ["--executions", "100", "--time", "1"];

/// The crates, with their dev-dependencies that only benches, or features that are off, need.
const SUITES: &[(&str, &str, &[&str])] = &[
    ("async-channel", "2.5.0", &[]),
    ("async-lock", "3.5.0", &[]),
    ("async-oneshot", "0.5.9", &["criterion"]),
    ("atomic_refcell", "0.1.14", &[]),
    ("boxcar", "0.2.14", &["criterion"]),
    ("bus", "2.4.1", &[]),
    ("bytes", "1.12.2", &[]),
    ("concurrent-queue", "2.5.0", &["criterion"]),
    ("conquer-once", "0.4.0", &[]),
    ("crossbeam-deque", "0.8.8", &[]),
    ("crossbeam-epoch", "0.9.21", &[]),
    ("crossbeam-queue", "0.3.14", &[]),
    ("crossbeam-skiplist", "0.1.3", &[]),
    ("crossbeam-utils", "0.8.23", &[]),
    ("dashmap", "6.2.1", &[]),
    ("event-listener", "5.4.2", &["criterion"]),
    ("haphazard", "0.1.8", &["criterion"]),
    ("lazy_static", "1.5.1", &["trybuild"]),
    ("left-right", "0.11.8", &[]),
    ("once_cell", "1.21.4", &[]),
    ("parking", "2.2.1", &[]),
    ("parking_lot", "0.13.0", &[]),
    ("rtrb", "0.4.1", &["criterion"]),
    ("seize", "0.5.1", &["criterion"]),
    ("slab", "0.4.12", &[]),
    ("smallvec", "1.16.6", &[]),
    ("spin", "0.12.3", &["criterion"]),
    ("thread_local", "1.1.10", &[]),
    ("threadpool", "1.8.1", &[]),
    ("triomphe", "0.1.17", &[]),
];

const HEADING: &str = "\
| crate | tests | pass | of these, every schedule | finding | no verdict | not run |
|---|---:|---:|---:|---:|---:|---:|
";

const REST: &str = "\
| crate | test | outcome | as |
|---|---|---|---|
";

/// A crate's tests, and their outcomes.
struct Suite {
    row: String,
    tests: usize,
    explored: usize,
    /// The rows of the tests that did not pass.
    others: Vec<String>,
}

/// Copies a package out of cargo's registry, without its benches and examples.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        let left_out = ["benches", "examples", "Cargo.lock", "target", ".cargo"];
        if left_out.iter().any(|&left_out| name == left_out) {
            continue;
        }
        match path.is_dir() {
            true => copy(&path, &to.join(name)),
            false => drop(fs::copy(&path, to.join(name)).unwrap()),
        }
    }
}

/// Returns a manifest without benches, examples and these dev-dependencies, as a workspace of its own.
fn manifest(text: &str, dropped: &[&str]) -> String {
    let is_dropped = |heading: &str| {
        let of = |name: &&str| {
            let table = format!("dev-dependencies.{name}]");
            heading.ends_with(&table) || heading.contains(&table.replace(']', "."))
        };
        ["[[bench]]", "[[example]]"].contains(&heading) || dropped.iter().any(of)
    };
    let (mut kept, mut keeps) = (String::new(), true);
    for line in text.lines() {
        if line.starts_with('[') {
            keeps = !is_dropped(line.trim());
        }
        if keeps {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept + "\n[workspace]\n"
}

/// Returns the directories of the packages in cargo's registry, by name.
fn packages(place: &Path) -> BTreeMap<String, PathBuf> {
    let scratch = place.join("all");
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(scratch.join("src")).unwrap();
    fs::write(scratch.join("src/lib.rs"), "").unwrap();
    let dependencies = SUITES
        .iter()
        .map(|(name, version, _)| format!("{name} = \"={version}\"\n"));
    let head = "[package]\nname = \"all\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n";
    fs::write(
        scratch.join("Cargo.toml"),
        format!("{head}{}", dependencies.collect::<String>()),
    )
    .unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1"])
        .current_dir(&scratch)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    let known = |package: &Value| {
        let name = package["name"].as_str()?;
        SUITES
            .iter()
            .find(|(known, version, _)| *known == name && package["version"] == *version)?;
        let manifest = Path::new(package["manifest_path"].as_str()?);
        Some((name.to_owned(), manifest.parent()?.to_owned()))
    };
    all["packages"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(known)
        .collect()
}

fn run(directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = command(directory, arguments);
    command
        .env_remove("CARGO_NET_OFFLINE")
        .env(
            "INTERMEZZO_CACHE",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("suites-overlays"),
        )
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("suites-target"),
        )
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
        .env("RUSTFLAGS", "--cap-lints=allow");
    Ran::of(&mut command)
}

/// Returns the paths of tests that a run listed.
fn listed(text: &str) -> usize {
    text.lines().filter(|line| line.ends_with(": test")).count()
}

fn explore(name: &str, version: &str, dropped: &[&str], from: &Path, place: &Path) -> Suite {
    let directory = place.join(name);
    let _ = fs::remove_dir_all(&directory);
    copy(from, &directory);
    let text = fs::read_to_string(directory.join("Cargo.toml")).unwrap();
    fs::write(directory.join("Cargo.toml"), manifest(&text, dropped)).unwrap();
    let list = run(&directory, &["test", "--unmodified", "--tests", "--", "--list"]);
    let tests = listed(&list.stdout);
    let ignored = run(
        &directory,
        &["test", "--unmodified", "--tests", "--", "--list", "--ignored"],
    );
    let tests = tests - listed(&ignored.stdout);
    let begin = [&["test", "--unmodified", "--json"], &BUDGET[..]].concat();
    let ran = run(&directory, &begin);
    let all: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let none = Vec::new();
    let reports = all["reports"].as_array().unwrap_or(&none);
    let of = |verdict: &str| {
        reports
            .iter()
            .filter(|report| report["verdict"] == verdict)
            .count()
    };
    let is_whole = |report: &&Value| {
        let coverage = &report["coverage"];
        let reason = coverage["reason"].as_str().unwrap_or_default();
        let is_fair = coverage["preemptions"].is_null() && reason.starts_with("fair scheduling");
        report["verdict"] == "pass" && (coverage["kind"] == "exhaustive" || is_fair)
    };
    let others = reports
        .iter()
        .filter(|report| report["verdict"] != "pass")
        .map(|report| {
            let program = report["program"].as_str().unwrap();
            let finding = &report["findings"][0];
            let words = finding["message"].as_str().unwrap_or_default();
            let words = words.lines().next().unwrap_or_default().replace('|', "\\|");
            let says: String = words.chars().take(110).collect();
            let kind = finding["kind"].as_str().unwrap_or("nothing");
            let verdict = match report["verdict"].as_str().unwrap() {
                "fail" => "finding",
                _ => "no verdict",
            };
            format!("| {name} | `{program}` | {verdict}: {kind} | {says} |\n")
        });
    let others: Vec<String> = others.collect();
    let (pass, fail, open) = (of("pass"), of("fail"), of("inconclusive"));
    if reports.len() < tests || tests == 0 {
        let end: Vec<&str> = ran.stderr.lines().rev().take(60).collect();
        let end: Vec<&str> = end.into_iter().rev().collect();
        eprintln!(
            "--- {name}: {} of {tests}\n{}\n{}",
            reports.len(),
            list.stderr,
            end.join("\n")
        );
    }
    let whole = reports.iter().filter(is_whole).count();
    let missing = tests.saturating_sub(reports.len());
    Suite {
        row: format!("| {name} {version} | {tests} | {pass} | {whole} | {fail} | {open} | {missing} |\n"),
        tests,
        explored: pass,
        others,
    }
}

#[test]
#[ignore = "it takes an hour, and crates from the registry"]
fn suites_of_published_crates_are_explored() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("suites");
    let packages = packages(&place);
    let wanted = std::env::var("SUITES").ok();
    let is_wanted = |name: &str| match &wanted {
        Some(names) => names.split(',').any(|wanted| wanted == name),
        None => true,
    };
    let (mut rows, mut others, mut tests, mut explored) = (String::new(), String::new(), 0, 0);
    for (name, version, dropped) in SUITES.iter().filter(|(name, ..)| is_wanted(name)) {
        let suite = explore(name, version, dropped, &packages[*name], &place);
        eprint!("{}{}", suite.row, suite.others.concat());
        rows.push_str(&suite.row);
        others.extend(suite.others);
        tests += suite.tests;
        explored += suite.explored;
    }
    eprintln!("{explored} of {tests} pass");
    assert!(explored > 0);
    fs::write(place.join("table.md"), [HEADING, &rows, REST, &others].concat()).unwrap();
}
