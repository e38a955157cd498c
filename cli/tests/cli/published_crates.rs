//! Tests of published crates, explored by `test --unmodified`. Their dependencies are from the registry.

use crate::Ran;
use crate::registry::root;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const PAGE: &str = "docs/CRATES.md";

const HEADING: &str = "\
| crate | test | verdict | executions | points | executions a second | coverage | under weak memory |
|---|---|---|---:|---:|---:|---|---|
";

const BUGS: &str = "\
| bug | version | found as | in execution | newer version | with it |
|---|---|---|---:|---|---|
";

/// The known bugs: the module of the test, the package, and the place where the bug is described.
const KNOWN: [(&str, &str, &str); 10] = [
    ("arc_swap", "arc-swap", "vorner/arc-swap#210"),
    ("crossbeam_channel", "crossbeam-channel", "RUSTSEC-2025-0024"),
    ("crossbeam_deque", "crossbeam-deque", "RUSTSEC-2021-0093"),
    ("flume", "flume", "zesterer/flume#120"),
    ("oneshot", "oneshot", "faern/oneshot#87"),
    ("spin", "spin", "RUSTSEC-2023-0031"),
    ("spin_rwlock", "spin", "RUSTSEC-2019-0013"),
    ("thread_local", "thread_local", "RUSTSEC-2022-0006"),
    ("tokio", "tokio", "RUSTSEC-2025-0023"),
    ("tokio_oneshot", "tokio", "RUSTSEC-2021-0124"),
];

/// The bounds of each test.
const BOUNDS: [&str; 4] = ["--executions", "10000", "--time", "10"];

/// The module of the known bug that only occurs if freed memory is reused, and the flags of its runs, which are longer.
const REUSING: &str = "arc_swap";
const REUSE: [&str; 7] = [
    "--races",
    "--environment",
    "address_reuse=1",
    "--executions",
    "100000",
    "--time",
    "60",
];

/// Returns the version of each package that the tests depend on, from their manifest.
fn versions(directory: &Path) -> BTreeMap<String, String> {
    let manifest = fs::read_to_string(directory.join("Cargo.toml")).unwrap();
    let (_, dependencies) = manifest.split_once("[dev-dependencies]").unwrap();
    let version = |line: &str| {
        let (name, version) = line.split_once(" = ")?;
        let (_, version) = version.split_once("\"=")?;
        let (version, _) = version.split_once('"')?;
        Some((name.to_owned(), version.to_owned()))
    };
    dependencies.lines().filter_map(version).collect()
}

/// Returns the coverage of a report, or of its part under weak memory, in a few words.
fn coverage(part: &Value) -> String {
    let coverage = &part["coverage"];
    let reason = coverage["reason"].as_str().unwrap_or_default();
    match (coverage["kind"].as_str(), coverage["preemptions"].as_u64()) {
        (Some("exhaustive"), _) => "every schedule".into(),
        _ if part["verdict"] == "fail" && !reason.is_empty() => reason.into(),
        (Some("bounded"), Some(0)) => "no preemption".into(),
        (Some("bounded"), Some(1)) => "at most 1 preemption".into(),
        (Some("bounded"), Some(most)) => format!("at most {most} preemptions"),
        (Some("bounded"), None) if reason.contains("fair") => "every fair schedule".into(),
        (Some("sampled"), _) => "a sample".into(),
        _ => panic!("{coverage:#}"),
    }
}

/// Returns the row of a test.
fn row(report: &Value, versions: &BTreeMap<String, String>) -> String {
    let program = report["program"].as_str().unwrap();
    let (_, test) = program.split_once("::").unwrap();
    let module = test.split("::").nth(1).unwrap();
    let package = match module {
        "tokio_runtime" => "tokio".to_owned(),
        "parking_lot" | "atomic_refcell" | "lock_api" | "once_cell" | "lazy_static" | "thread_local"
        | "quick_cache" | "rcu_cell" | "no_deadlocks" | "rusty_pool" => module.to_owned(),
        _ => module.replace('_', "-"),
    };
    let version = versions.get(&package).unwrap_or_else(|| panic!("{package}"));
    let executions = report["executions"].as_u64().unwrap();
    let seconds = report["elapsed_seconds"].as_f64().unwrap();
    let verdict = match report["verdict"].as_str().unwrap() {
        "fail" => format!("**{}**", report["findings"][0]["kind"].as_str().unwrap()),
        verdict => verdict.to_owned(),
    };
    let weak = match &report["weak_memory"] {
        Value::Null => String::new(),
        part => coverage(part),
    };
    format!(
        "| {package} {version} | `{test}` | {verdict} | {executions} | {} | {:.0} | {} | {weak} |\n",
        report["steps"].as_u64().unwrap() / executions,
        executions as f64 / seconds,
        coverage(report)
    )
}

/// Returns the test and the verdict of a row.
fn verdict(row: &str) -> Option<(&str, &str)> {
    let mut cells = row.split(" | ");
    Some((cells.nth(1)?, cells.next()?))
}

/// Explores tests of a package, and expects this code.
fn explored(directory: &Path, which: &[&str], code: i32) -> Vec<Value> {
    let flags = ["test", "--unmodified", "--json"];
    let bounds = if which.contains(&BOUNDS[0]) {
        &[][..]
    } else {
        &BOUNDS
    };
    let mut command = crate::command(directory, &[&flags, bounds, which].concat());
    command.env_remove("CARGO_NET_OFFLINE");
    let all = Ran::of(&mut command).ends_with(code).json();
    let reports = all["reports"].as_array().unwrap().clone();
    for report in &reports {
        let findings = report["findings"].as_array().unwrap();
        let departed = findings.iter().any(|finding| finding["kind"] == "divergence");
        assert!(!departed, "{report:#}");
    }
    reports
}

/// Returns the row of a known bug.
fn bug(bug: (&str, &str, &str), older: &[(Value, String)], newer: &[Value], now: &str) -> String {
    let (module, package, described) = bug;
    let is_it = |report: &Value| {
        let program = report["program"].as_str().unwrap();
        program.rsplit("::").nth(1) == Some(module)
    };
    let (old, version) = older.iter().find(|(report, _)| is_it(report)).unwrap();
    let new = newer.iter().find(|report| is_it(report)).unwrap();
    let kind = |report: &Value| Some(report["findings"].get(0)?["kind"].as_str()?.to_owned());
    let found = kind(old).unwrap_or_else(|| "not found".into());
    let with_it = match kind(new) {
        Some(kind) => format!("**{kind}**"),
        None => coverage(new),
    };
    let execution = old["first_failure"]
        .as_u64()
        .map_or(String::new(), |number| number.to_string());
    format!("| {package}: {described} | {version} | {found} | {execution} | {now} | {with_it} |\n")
}

#[test]
#[ignore = "it takes minutes, and crates from the registry"]
fn published_crates_are_explored() {
    let directory = root().join("tests/crates");
    let reports = explored(&directory, &[], 1);
    let known = format!("known_bugs::{REUSING}");
    // If a test has several reports, the first counts.
    let mut newer = explored(&directory, &[&REUSE[..], &[&known]].concat(), 0);
    newer.extend(explored(&directory, &["--races", "known_bugs"], 1));
    let now = versions(&directory);
    let of_older = |name: &str, which: &[&str]| {
        let directory = directory.join("bugs").join(name);
        let versions = versions(&directory);
        let with_version = move |report: Value| {
            let module = report["program"].as_str().unwrap().split("::").nth(1).unwrap();
            let known = KNOWN.iter().find(|known| known.0 == module).unwrap();
            let version = versions[known.1].clone();
            (report, version)
        };
        explored(&directory, which, 1).into_iter().map(with_version)
    };
    let older: Vec<(Value, String)> = of_older("old", &[&REUSE[..], &[REUSING]].concat())
        .chain(of_older("old", &["--races"]))
        .chain(of_older("older", &["--races"]))
        .collect();
    let bugs: Vec<String> = KNOWN
        .into_iter()
        .map(|known| bug(known, &older, &newer, &now[known.1]))
        .collect();
    let is_row = |report: &&Value| !report["program"].as_str().unwrap().contains("known_bugs");
    let rows: Vec<String> = reports
        .iter()
        .filter(is_row)
        .map(|report| row(report, &now))
        .collect();
    assert!(rows.len() > 80, "{}", rows.len());
    let under_model = reports.iter().filter(|report| !report["weak_memory"].is_null());
    assert!(under_model.count() > 70);
    let watched = explored(&directory, &["--races"], 1);
    let differs = |row: &String| rows.iter().all(|other| verdict(other) != verdict(row));
    let watched: Vec<String> = watched
        .iter()
        .filter(is_row)
        .map(|report| row(report, &now))
        .filter(differs)
        .collect();
    let page = root().join(PAGE);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let part = |name: &str| fs::read_to_string(directory.join(name)).unwrap();
        let text = [
            part("page.md"),
            HEADING.into(),
            rows.concat(),
            part("findings.md"),
            part("watched.md"),
            HEADING.into(),
            watched.concat(),
            part("bugs.md"),
            BUGS.into(),
            bugs.concat(),
        ];
        return fs::write(page, text.concat()).unwrap();
    }
    let page = fs::read_to_string(page).unwrap();
    let known: Vec<_> = page.lines().filter_map(verdict).collect();
    for row in rows.iter().chain(&watched).chain(&bugs) {
        let now = verdict(row).unwrap();
        assert!(known.contains(&now), "{PAGE} does not say this:\n{row}");
    }
}
