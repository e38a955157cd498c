//! The suites that published crates have for loom, each test under loom itself and under `shims/loom`.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const PAGE: &str = "docs/LOOM_SUITES.md";

/// The beginning of the page, which is written by hand.
const BEGINNING: &str = "tests/loom_suites/page.md";

const TOTALS: &str = "\
| crate | tests | under loom | here | in both | loom, s | here, s |
|---|---:|---|---|---:|---:|---:|
";

const HEADING: &str = "\
| crate | test | loom | executions | s | here | executions | s |
|---|---|---|---:|---:|---|---:|---:|
";

/// The seconds of the processor after which a test is ended. Where the machine does other work, a limit by the clock
/// would end tests that are as fast as before.
const LIMIT: u32 = 20;

/// The seconds of the clock after which a test is ended that does not use the processor.
const PATIENCE: u32 = 120;

/// A crate with a suite: its name and version, the features that the suite needs, its targets, the switches with which
/// the crate is compiled for loom, and variables.
struct Suite {
    package: &'static str,
    version: &'static str,
    features: &'static str,
    targets: &'static [&'static str],
    switches: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
}

const fn suite(
    package: &'static str,
    version: &'static str,
    features: &'static str,
    targets: &'static [&'static str],
) -> Suite {
    Suite {
        package,
        version,
        features,
        targets,
        switches: &["loom"],
        variables: &[],
    }
}

impl Suite {
    const fn switched_by(self, switches: &'static [&'static str]) -> Suite {
        Suite { switches, ..self }
    }
}

const LIBRARY: &[&str] = &["--lib"];
const LOOM: &[&str] = &["--test", "loom"];
const ALL: &[&str] = &["--tests"];

const SUITES: [Suite; 19] = [
    suite("parking", "2.2.1", "loom", LOOM),
    suite("concurrent-queue", "2.5.0", "loom", LOOM),
    suite("event-listener", "5.4.2", "loom", LOOM),
    suite("left-right", "0.11.8", "", LOOM),
    suite("haphazard", "0.1.8", "", LOOM),
    suite("bytes", "1.12.2", "", LIBRARY),
    suite("maitake-sync", "0.3.0", "alloc", LIBRARY),
    suite("crossbeam-epoch", "0.9.21", "loom", LOOM).switched_by(&["crossbeam_loom"]),
    suite("diatomic-waker", "0.2.3", "", LIBRARY).switched_by(&["diatomic_waker_loom"]),
    suite("tachyonix", "0.3.1", "", LIBRARY).switched_by(&["tachyonix_loom"]),
    suite("oneshot", "0.2.1", "loom", LOOM).switched_by(&["oneshot_loom"]),
    suite("sdd", "3.0.10", "loom", LIBRARY),
    suite("cordyceps", "0.3.5", "", LIBRARY),
    suite("thingbuf", "0.1.6", "", LIBRARY),
    suite("sharded-slab", "0.1.7", "", LIBRARY),
    suite(
        "boxcar",
        "0.2.14",
        "loom",
        &["--test", "loom", "--test", "loom_buckets"],
    ),
    suite("st3", "0.4.1", "", &["--test", "integration"]).switched_by(&["st3_loom"]),
    suite("loom", "0.7.3", "checkpoint,futures", ALL),
    Suite {
        // As its own CI runs them.
        variables: &[("LOOM_MAX_PREEMPTIONS", "2"), ("LOOM_MAX_BRANCHES", "10000")],
        ..suite("tokio", "1.54.1", "full,test-util", LIBRARY).switched_by(&["loom", "tokio_unstable"])
    },
];

/// The compiler, with the switches that a suite has for loom. As `RUSTFLAGS` they would reach crates that must not have
/// them: some have loom only with a feature `loom`. Some suites deny warnings, and a deprecated name makes one.
const WRAPPER: &str = r#"#!/bin/sh
before=
for argument in "$@"; do
    test "$before" = --crate-name && crate=$argument
    before=$argument
done
switches="$LOOM_SWITCHES"
case "$crate" in
crossbeam_utils | crossbeam_epoch | concurrent_queue | parking | event_listener | async_lock)
    case "$*" in *'feature="loom"'*) ;; *) switches= ;; esac
    ;;
crossbeam_* | build_script_* | "") switches= ;;
esac
exec "$@" $switches --cap-lints warn
"#;

/// The manifest of the tests of loom, without loom itself.
const TESTS_OF_LOOM: &str = r#"[package]
name = "tests-of-loom"
edition = "2021"
[features]
checkpoint = ["loom/checkpoint"]
futures = ["loom/futures"]
[dependencies]
futures-util = "0.3"
"#;

/// The command that runs a test: with a limit of time, and the processor time of its children at the end.
const TIMED: &str = r#"ulimit -t "$1"; shift; timeout -k 1 "$@" 2>&1; status=$?; times; exit $status"#;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .unwrap()
}

/// Returns the directory of each package's sources in the registry.
fn sources(directory: &Path) -> BTreeMap<String, PathBuf> {
    let mut manifest = "[package]\nname = \"suites\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n".to_owned();
    for Suite { package, version, .. } in &SUITES {
        writeln!(manifest, "{package} = \"={version}\"").unwrap();
    }
    fs::create_dir_all(directory.join("src")).unwrap();
    fs::write(directory.join("src/lib.rs"), "").unwrap();
    fs::write(directory.join("Cargo.toml"), manifest).unwrap();
    let metadata = Command::new("cargo")
        .args(["metadata", "--format-version", "1"])
        .current_dir(directory)
        .env_remove("CARGO_NET_OFFLINE")
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let package = |package: &Value| {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        (
            package["name"].as_str().unwrap().to_owned(),
            manifest.parent().unwrap().to_owned(),
        )
    };
    metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(package)
        .collect()
}

/// Copies a directory; what is there already is replaced.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            // Not `fs::copy`: the registry's files cannot be written.
            fs::write(to, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

/// The end of a test.
pub(crate) struct Ended {
    pub(crate) verdict: &'static str,
    executions: Option<u64>,
    pub(crate) seconds: f64,
}

/// Returns the seconds of the processor that the shell's `times` tells of its children.
fn seconds(said: &str) -> f64 {
    let part = |part: &str| -> Option<f64> {
        let (minutes, seconds) = part.strip_suffix('s')?.split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    let children = said.lines().last().unwrap_or_default();
    children.split(' ').filter_map(part).sum()
}

/// Runs a test of a binary with these variables, within the limits.
pub(crate) fn timed(binary: &str, test: &str, variables: &[(&str, &str)]) -> Ended {
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            TIMED,
            "sh",
            &LIMIT.to_string(),
            &PATIENCE.to_string(),
            binary,
        ])
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .envs(variables.iter().copied())
        .env("LOOM_LOG", "info");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let executions = said.lines().filter_map(|line| {
        line.split_once("Completed in ")?
            .1
            .split(' ')
            .next()?
            .parse::<u64>()
            .ok()
    });
    Ended {
        verdict: match output.status.code() {
            Some(0) if said.contains(" 1 passed") => "pass",
            Some(0) => "not run",
            // The clock's limit (`timeout`), or the processor's (SIGXCPU, SIGKILL).
            Some(124 | 137 | 152) => "no end",
            _ => "**fail**",
        },
        executions: executions.reduce(|one, other| one + other),
        seconds: seconds(&said),
    }
}

/// Builds the suite, and runs each of its tests. Returns their ends by name; none if it is not built.
#[expect(clippy::print_stderr, reason = "the messages of cargo say why")]
fn results(suite: &Suite, sources: &Path, directory: &Path, is_ours: bool) -> BTreeMap<String, Ended> {
    let side = directory.join(if is_ours { "here" } else { "loom" });
    let package = side.join(suite.package);
    copy(sources, &package);
    // The lock file of the package names the dependencies that it was published with.
    let _ = fs::remove_file(package.join("Cargo.lock"));
    let mut manifest = if suite.package == "loom" {
        // Its tests are a package of their own, in which it can be patched.
        fs::write(package.join("src/lib.rs"), "").unwrap();
        format!("{TESTS_OF_LOOM}loom = \"={}\"\n", suite.version)
    } else {
        fs::read_to_string(package.join("Cargo.toml")).unwrap()
    };
    // Some have fields that only their tests and their debug assertions use.
    let name = suite.package;
    manifest += "\n[workspace]\n";
    if suite.package != "loom" {
        writeln!(
            manifest,
            "[profile.release.package.{name}]\ndebug-assertions = true"
        )
        .unwrap();
    }
    if is_ours {
        let shims = root().join("shims");
        let shims = shims.display();
        writeln!(
            manifest,
            "[patch.crates-io]\nloom = {{ path = \"{shims}/loom\" }}\nloom-0-5 = {{ package = \"loom\", path = \
             \"{shims}/loom-0.5\" }}"
        )
        .unwrap();
    }
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    let mut cargo = Command::new("cargo");
    cargo
        .args(["test", "--release", "--no-run", "--message-format=json"])
        .args(suite.targets)
        .args(["--features", suite.features])
        .current_dir(&package)
        // Cargo does not know of the switches.
        .env(
            "CARGO_TARGET_DIR",
            side.join(format!("target-{}", suite.switches[0])),
        )
        .env(
            "LOOM_SWITCHES",
            format!("--cfg {}", suite.switches.join(" --cfg ")),
        )
        .env("RUSTC_WRAPPER", directory.join("rustc"))
        .env_remove("CARGO_NET_OFFLINE");
    let built = cargo.output().unwrap();
    let mut ended = BTreeMap::new();
    if !built.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&built.stderr));
    }
    for line in String::from_utf8_lossy(&built.stdout).lines() {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        let Some(binary) = message["executable"].as_str() else {
            continue;
        };
        let list = Command::new(binary).arg("--list").output().unwrap();
        for line in String::from_utf8_lossy(&list.stdout).lines() {
            if let Some(test) = line.strip_suffix(": test") {
                let target = message["target"]["name"].as_str().unwrap();
                let name = if suite.targets == ALL {
                    format!("{target}::{test}")
                } else {
                    test.to_owned()
                };
                ended.insert(name, timed(binary, test, suite.variables));
            }
        }
    }
    ended
}

/// Returns the number of tests that ended in each way.
pub(crate) fn counts<'a>(ended: impl Iterator<Item = &'a Ended>) -> String {
    let mut counts = BTreeMap::new();
    for one in ended {
        *counts.entry(one.verdict).or_insert(0) += 1;
    }
    let count = |(verdict, count): (&&str, &i32)| format!("{count} {verdict}");
    counts.iter().map(count).collect::<Vec<_>>().join(", ")
}

/// Returns the cells of a test's end.
fn cells(ended: Option<&Ended>) -> String {
    ended.map_or("not built | | ".into(), |ended| {
        let executions = ended.executions.map_or(String::new(), |count| count.to_string());
        format!("{} | {executions} | {:.2}", ended.verdict, ended.seconds)
    })
}

/// Returns the rows of the page's tables with this first cell.
fn rows_of(page: &str, first: &str) -> String {
    let first = format!("| {first} |");
    let rows = page.lines().filter(|line| line.starts_with(&first));
    rows.map(|line| format!("{line}\n")).collect()
}

#[test]
#[ignore = "it takes half an hour, and crates from the registry"]
#[expect(clippy::print_stderr, reason = "it takes long")]
fn suites_for_loom_are_run() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("loom-suites");
    fs::create_dir_all(&directory).unwrap();
    let wrapper = directory.join("rustc");
    fs::write(&wrapper, WRAPPER).unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    let sources = sources(&directory.join("all"));
    let only = std::env::var("LOOM_SUITES").unwrap_or_default();
    let page = fs::read_to_string(root().join(PAGE)).unwrap_or_default();
    let (mut totals, mut rows) = (String::new(), String::new());
    let mut only_here = Vec::new();
    for suite in &SUITES {
        if !suite.package.contains(&only) {
            let crate_and_version = format!("{} {}", suite.package, suite.version);
            totals += &rows_of(&page, &crate_and_version);
            rows += &rows_of(&page, suite.package);
            continue;
        }
        let [theirs, ours] =
            [false, true].map(|is_ours| results(suite, &sources[suite.package], &directory, is_ours));
        let mut in_both = (0, 0.0, 0.0);
        for (test, one) in &theirs {
            let other = ours.get(test);
            writeln!(
                rows,
                "| {} | `{test}` | {} | {} |",
                suite.package,
                cells(Some(one)),
                cells(other)
            )
            .unwrap();
            if let Some(other) = other.filter(|other| other.verdict == "pass" && one.verdict == "pass") {
                in_both.0 += 1;
                in_both.1 += one.seconds;
                in_both.2 += other.seconds;
            } else if one.verdict == "pass" {
                only_here.push(format!("{} `{test}`", suite.package));
            }
        }
        writeln!(
            totals,
            "| {} {} | {} | {} | {} | {} | {:.2} | {:.2} |",
            suite.package,
            suite.version,
            theirs.len(),
            counts(theirs.values()),
            counts(ours.values()),
            in_both.0,
            in_both.1,
            in_both.2
        )
        .unwrap();
        eprintln!("{}", totals.lines().last().unwrap());
    }
    eprintln!("pass under loom, and not here: {only_here:#?}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let text = [
            fs::read_to_string(root().join(BEGINNING)).unwrap(),
            TOTALS.into(),
            totals,
            "\n## Each test\n\n".into(),
            HEADING.into(),
            rows,
        ];
        fs::write(root().join(PAGE), text.concat()).unwrap();
    }
}
