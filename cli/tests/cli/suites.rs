//! The suites of published crates, explored by `test --unmodified` as they are in the registry. The outcomes are
//! printed, and kept in cargo's directory for tests. The variable `SUITES` names the crates to explore, or none of
//! them. With
//! `UPDATE_DOCS` the page is written from all outcomes that are kept.

#![expect(
    clippy::print_stderr,
    reason = "it takes long, and each crate is told when it is done"
)]

use crate::registry::{copy, root, sources};
use crate::{Ran, command};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The budget of a test.
const BUDGET: [&str; 4] = ["--executions", "100", "--time", "1"];

/// The crates: the name, the version, and the dev-dependencies that only benchmarks or disabled features need.
const SUITES: &[(&str, &str, &[&str])] = &[
    ("arc-swap", "1.9.5", &["criterion"]),
    ("async-broadcast", "0.7.2", &["criterion"]),
    ("async-channel", "2.5.0", &[]),
    ("async-executor", "1.14.1", &["criterion"]),
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
    ("flume", "0.12.0", &["criterion"]),
    ("futures-intrusive", "0.5.0", &["criterion"]),
    ("haphazard", "0.1.8", &["criterion"]),
    ("kanal", "0.1.1", &[]),
    ("lazy_static", "1.5.1", &["trybuild"]),
    ("left-right", "0.11.8", &[]),
    ("lockable", "0.2.0", &["criterion"]),
    ("loole", "0.6.0", &[]),
    ("once_cell", "1.21.4", &[]),
    ("oneshot", "0.2.1", &["criterion"]),
    ("papaya", "0.2.5", &["criterion"]),
    ("parking", "2.2.1", &[]),
    ("parking_lot", "0.13.0", &[]),
    ("rtrb", "0.4.1", &["criterion"]),
    ("seize", "0.5.1", &["criterion"]),
    ("sharded-slab", "0.1.7", &["criterion"]),
    ("slab", "0.4.12", &[]),
    ("smallvec", "1.16.6", &[]),
    ("spin", "0.12.3", &["criterion"]),
    ("thread_local", "1.1.10", &[]),
    ("threadpool", "1.8.1", &[]),
    ("triomphe", "0.1.17", &[]),
];

/// Test files that are left out, because their processes end before a test begins.
const LEFT_OUT: &[(&str, &str)] = &[
    ("bytes", "tests/test_bytes_vec_alloc.rs"),
    ("lazy_static", "tests/ui.rs"),
];

/// Files of a package that its tests do not need, or that would change their build.
const LEFT_OUT_OF_COPIES: [&str; 7] = [
    "benches",
    "examples",
    "Cargo.lock",
    "target",
    ".cargo",
    "rust-toolchain",
    "rust-toolchain.toml",
];

/// The page. Its beginning and the reasons for single outcomes are in files written by hand.
const PAGE: &str = "docs/SUITES.md";
const BEGINNING: &str = "tests/suites/page.md";
const REASONS: &str = "tests/suites/reasons.txt";

const HEADING: &str = "\
| crate | tests | pass | of these, every schedule | finding | no verdict | not run |
|---|---:|---:|---:|---:|---:|---:|
";

const REST: &str = "\
| crate | test | outcome | executions | why |
|---|---|---|---:|---|
";

/// The outcome of a test.
#[derive(Deserialize, Serialize)]
struct Outcome {
    test: String,
    /// `pass`, `fail`, `inconclusive`, or `not run`.
    verdict: String,
    /// `true` if it passed, and every schedule was explored.
    is_whole: bool,
    executions: u64,
    /// The kind of the first finding, and its first line; empty if there is none.
    kind: String,
    message: String,
}

/// The outcomes of a crate's tests.
#[derive(Deserialize, Serialize)]
struct Suite {
    outcomes: Vec<Outcome>,
}

/// The reason for the outcome of tests of a crate, and its class.
struct Reason {
    krate: String,
    /// The name of the test, or its beginning and a star.
    test: String,
    class: String,
    says: String,
}

impl Reason {
    /// Returns the reasons in the file, whose lines are `crate | test | class | reason`.
    fn read() -> Vec<Reason> {
        let text = fs::read_to_string(root().join(REASONS)).unwrap();
        let lines = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let reason = |line: &str| {
            let parts: Vec<&str> = line.splitn(4, " | ").collect();
            let [krate, test, class, says] = parts[..] else {
                panic!("{REASONS}: {line}");
            };
            assert!(CLASSES.contains(&class), "{REASONS}: {line}");
            Reason {
                krate: krate.into(),
                test: test.into(),
                class: class.into(),
                says: says.into(),
            }
        };
        lines.map(reason).collect()
    }

    fn is_about(&self, krate: &str, test: &str) -> bool {
        let fits = match self.test.strip_suffix('*') {
            Some(begin) => test.starts_with(begin),
            None => test == self.test,
        };
        self.krate == krate && fits
    }
}

/// The classes of reasons: a bug of the crate or of one that it uses; a test that assumes something of time or of threads
/// that does not always hold; a need of processes, files or sockets; an execution that takes longer than the limit of
/// time; and a report of ours that is false.
const CLASSES: [&str; 5] = ["bug", "assumes", "needs", "long", "false"];

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

/// Returns the names of the tests that a run listed.
fn listed(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .collect()
}

/// Returns the outcome of a test that has a report.
fn outcome(report: &Value) -> Outcome {
    let coverage = &report["coverage"];
    let reason = coverage["reason"].as_str().unwrap_or_default();
    let is_fair = coverage["preemptions"].is_null() && reason.starts_with("fair scheduling");
    let finding = &report["findings"][0];
    let words = finding["message"].as_str().unwrap_or_default();
    let words = words.lines().next().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Outcome {
        test: text(&report["program"]),
        verdict: text(&report["verdict"]),
        is_whole: report["verdict"] == "pass" && (coverage["kind"] == "exhaustive" || is_fair),
        executions: report["executions"].as_u64().unwrap_or_default(),
        kind: text(&finding["kind"]),
        message: words.chars().take(200).collect(),
    }
}

/// Returns the tests among these, listed without the names of their files, that have no report.
fn without_report<'a>(mut tests: Vec<&'a str>, outcomes: &[Outcome]) -> Vec<&'a str> {
    // Longer names first: `smoke` of one file is also the end of `module::smoke` of another.
    tests.sort_by_key(|test| Reverse(test.matches("::").count()));
    let mut left: Vec<&Outcome> = outcomes.iter().collect();
    tests.retain(|test| {
        let end = format!("::{test}");
        let known = left
            .iter()
            .position(|outcome| outcome.test == *test || outcome.test.ends_with(&end));
        known.map(|known| left.swap_remove(known)).is_none()
    });
    tests
}

fn explore(name: &str, dropped: &[&str], from: &Path, place: &Path) -> Suite {
    let directory = place.join(name);
    let _ = fs::remove_dir_all(&directory);
    copy(from, &directory, &LEFT_OUT_OF_COPIES);
    let text = fs::read_to_string(directory.join("Cargo.toml")).unwrap();
    fs::write(directory.join("Cargo.toml"), manifest(&text, dropped)).unwrap();
    let mut not_begun = Vec::new();
    for (_, file) in LEFT_OUT.iter().filter(|(of, _)| *of == name) {
        let target = Path::new(file).file_stem().unwrap().to_str().unwrap();
        let text = fs::read_to_string(directory.join(file)).unwrap();
        let functions = text
            .split("#[test]")
            .skip(1)
            .filter_map(|test| test.split("fn ").nth(1));
        not_begun.extend(functions.map(|test| format!("{target}::{}", test.split('(').next().unwrap())));
        fs::write(directory.join(file), "").unwrap();
    }
    let listing = ["test", "--unmodified", "--tests", "--", "--list"];
    let list = run(&directory, &listing);
    let ignored = run(&directory, &[&listing[..], &["--ignored"]].concat());
    let ignored = listed(&ignored.stdout);
    let mut tests = listed(&list.stdout);
    for test in ignored {
        if let Some(at) = tests.iter().position(|one| *one == test) {
            tests.remove(at);
        }
    }
    let begin = [&["test", "--unmodified", "--tests", "--json"], &BUDGET[..]].concat();
    let ran = run(&directory, &begin);
    let all: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let none = Vec::new();
    let reports = all["reports"].as_array().unwrap_or(&none);
    let mut outcomes: Vec<Outcome> = reports.iter().map(outcome).collect();
    let tests = without_report(tests, &outcomes);
    if !tests.is_empty() || outcomes.is_empty() {
        let end: Vec<&str> = ran.stderr.lines().rev().take(60).collect();
        let end: Vec<&str> = end.into_iter().rev().collect();
        eprintln!(
            "--- {name}: without {tests:?}\n{}\n{}",
            list.stderr,
            end.join("\n")
        );
    }
    let tests = tests.into_iter().map(str::to_owned).chain(not_begun);
    outcomes.extend(tests.map(|test| Outcome {
        test,
        verdict: "not run".into(),
        is_whole: false,
        executions: 0,
        kind: String::new(),
        message: String::new(),
    }));
    outcomes.sort_by(|one, other| one.test.cmp(&other.test));
    Suite { outcomes }
}

/// The sums over all crates.
#[derive(Default)]
struct Sums<'a> {
    crates: usize,
    tests: usize,
    pass: usize,
    whole: usize,
    /// Tests with a finding, by class.
    findings: BTreeMap<String, usize>,
    open: usize,
    not_run: usize,
    /// The crate with the most tests; their number, and the number of those that were explored.
    largest: (&'a str, (usize, usize)),
    explored: usize,
}

impl Sums<'_> {
    /// Returns the share of tests with a verdict and without a false report, among all tests or without those of one crate.
    fn share(&self, without: Option<(usize, usize)>) -> String {
        let (tests, explored) = without.unwrap_or_default();
        let (tests, explored) = (self.tests - tests, self.explored - explored);
        let percent = 100.0 * explored as f64 / tests as f64;
        format!("{explored} of {tests} ({percent:.1} %)")
    }
}

/// Returns the row of a crate, and those of its tests that did not pass.
fn rows<'a>(
    name: &'a str,
    version: &str,
    suite: &Suite,
    reasons: &[Reason],
    sums: &mut Sums<'a>,
) -> (String, String) {
    let of = |verdict: &str| {
        let outcomes = suite.outcomes.iter();
        outcomes.filter(|outcome| outcome.verdict == verdict).count()
    };
    let (tests, pass, open, not_run) = (
        suite.outcomes.len(),
        of("pass"),
        of("inconclusive"),
        of("not run"),
    );
    let whole = suite.outcomes.iter().filter(|outcome| outcome.is_whole).count();
    sums.crates += 1;
    sums.tests += tests;
    sums.pass += pass;
    sums.whole += whole;
    sums.open += open;
    sums.not_run += not_run;
    let mut explored = pass;
    let mut rest = String::new();
    for outcome in suite.outcomes.iter().filter(|outcome| outcome.verdict != "pass") {
        let reason = reasons.iter().find(|reason| reason.is_about(name, &outcome.test));
        let kind = match &*outcome.kind {
            "" => String::new(),
            kind => format!(": {}", kind.replace('_', " ")),
        };
        let verdict = match &*outcome.verdict {
            "fail" => {
                let class = reason.map_or("unargued", |reason| reason.class.as_str());
                *sums.findings.entry(class.to_owned()).or_default() += 1;
                explored += usize::from(["bug", "assumes"].contains(&class));
                "finding"
            }
            "inconclusive" => "no verdict",
            other => other,
        };
        let says = match (reason, &*outcome.kind, outcome.executions) {
            (Some(reason), ..) => format!("**{}**: {}", reason.class, reason.says),
            (None, "", 0) if verdict == "no verdict" => {
                "**long**: no execution ended within the limit of time".to_owned()
            }
            (None, "step_limit", _) if verdict == "no verdict" => {
                "**long**: the execution reached the limit of steps".to_owned()
            }
            _ => outcome.message.replace('|', "\\|"),
        };
        rest.push_str(&format!(
            "| {name} | `{}` | {verdict}{kind} | {} | {says} |\n",
            outcome.test, outcome.executions
        ));
    }
    sums.explored += explored;
    if tests > sums.largest.1.0 {
        sums.largest = (name, (tests, explored));
    }
    let row = format!(
        "| {name} {version} | {tests} | {pass} | {whole} | {} | {open} | {not_run} |\n",
        of("fail")
    );
    (row, rest)
}

/// Writes the page about all crates that were explored, in this run or an earlier one.
fn write_page(results: &Path) {
    let reasons = Reason::read();
    let (mut totals, mut others, mut sums) = (String::new(), String::new(), Sums::default());
    for (name, version, _) in SUITES {
        let Ok(text) = fs::read_to_string(results.join(format!("{name}.json"))) else {
            continue;
        };
        let suite: Suite = serde_json::from_str(&text).unwrap();
        let (row, rest) = rows(name, version, &suite, &reasons, &mut sums);
        totals.push_str(&row);
        others.push_str(&rest);
    }
    let of = |class: &str| sums.findings.get(class).copied().unwrap_or_default();
    assert_eq!(
        of("unargued"),
        0,
        "each finding has a reason in {REASONS}:\n{others}"
    );
    let all = format!(
        "Of {} tests of {} crates {} pass, {} of them with every schedule explored; {} have a finding, {} no verdict within the \
         limits, and {} were not run.\nSo {} have a verdict and no false report.\nWithout {}, which has the most tests, these are {}.\n\n",
        sums.tests,
        sums.crates,
        sums.pass,
        sums.whole,
        sums.findings.values().sum::<usize>(),
        sums.open,
        sums.not_run,
        sums.share(None),
        sums.largest.0,
        sums.share(Some(sums.largest.1)),
    );
    let beginning = fs::read_to_string(root().join(BEGINNING)).unwrap();
    let text = [
        &beginning,
        &all,
        HEADING,
        &totals,
        "\n## The tests that do not pass\n\n",
        REST,
        &others,
    ];
    fs::write(root().join(PAGE), text.concat()).unwrap();
}

#[test]
fn each_listed_test_has_its_own_report() {
    let outcome = |test: &str| Outcome {
        test: test.into(),
        verdict: "pass".into(),
        is_whole: true,
        executions: 1,
        kind: String::new(),
        message: String::new(),
    };
    let outcomes = ["array::module::smoke", "list::smoke"].map(outcome);
    assert_eq!(
        without_report(vec!["smoke", "module::smoke", "other"], &outcomes),
        ["other"]
    );
}

#[test]
#[ignore = "it takes an hour, and crates from the registry"]
fn suites_of_published_crates_are_explored() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("suites");
    let results = Path::new(env!("CARGO_TARGET_TMPDIR")).join("suites-results");
    fs::create_dir_all(&results).unwrap();
    let wanted = std::env::var("SUITES").ok();
    let is_wanted = |name: &str| match &wanted {
        Some(names) => names.split(',').any(|wanted| wanted == name),
        None => true,
    };
    let chosen: Vec<_> = SUITES.iter().filter(|(name, ..)| is_wanted(name)).collect();
    let packages = match chosen.is_empty() {
        true => BTreeMap::new(),
        false => sources(
            &place.join("all"),
            chosen.iter().map(|(name, version, _)| (*name, *version)),
        ),
    };
    for (name, version, dropped) in chosen {
        let suite = explore(name, dropped, &packages[*name], &place);
        let (row, rest) = rows(name, version, &suite, &Reason::read(), &mut Sums::default());
        eprint!("{row}{rest}");
        let text = serde_json::to_string_pretty(&suite).unwrap();
        fs::write(results.join(format!("{name}.json")), text).unwrap();
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        write_page(&results);
    }
}
