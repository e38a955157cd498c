//! The loom suites of published crates: each test is run under loom itself and under `shims/loom`.

use crate::registry::{Ended, Rows, copy, root, run_tests, sources, write_page};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const PAGE: &str = "docs/LOOM_SUITES.md";

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

/// A crate with a suite: its name and version, the features that the suite needs, its targets, the switches with which
/// the crate is compiled for loom, and variables.
pub(crate) struct Suite {
    pub(crate) package: &'static str,
    pub(crate) version: &'static str,
    features: &'static str,
    pub(crate) targets: &'static [&'static str],
    switches: &'static [&'static str],
    pub(crate) variables: &'static [(&'static str, &'static str)],
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

pub(crate) static SUITES: [Suite; 19] = [
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
        // The values that the crate's own CI uses.
        variables: &[("LOOM_MAX_PREEMPTIONS", "2"), ("LOOM_MAX_BRANCHES", "10000")],
        ..suite("tokio", "1.54.1", "full,test-util", LIBRARY).switched_by(&["loom", "tokio_unstable"])
    },
];

/// A wrapper of the compiler that adds a suite's switches for loom. In `RUSTFLAGS` they would reach crates that must not
/// have them, because they have loom only with a feature `loom`. Lints are capped, because some suites deny warnings and
/// use a deprecated name.
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

/// The manifest for loom's own tests, without the dependency on loom.
const TESTS_OF_LOOM: &str = r#"[package]
name = "tests-of-loom"
edition = "2021"
[features]
checkpoint = ["loom/checkpoint"]
futures = ["loom/futures"]
[dependencies]
futures-util = "0.3"
"#;

/// Writes the wrapper into a directory. Returns its path.
pub(crate) fn wrapper(directory: &Path) -> PathBuf {
    fs::create_dir_all(directory).unwrap();
    let wrapper = directory.join("rustc");
    fs::write(&wrapper, WRAPPER).unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    wrapper
}

impl Suite {
    /// Copies the package, without the lock file with which it was published. Returns its
    /// manifest, which the caller completes.
    pub(crate) fn copied(&self, sources: &Path, package: &Path) -> String {
        copy(sources, package, &["Cargo.lock"]);
        let manifest = if self.package == "loom" {
            // The tests of loom become a package that depends on loom, so that loom can be patched.
            fs::write(package.join("src/lib.rs"), "").unwrap();
            format!("{TESTS_OF_LOOM}loom = \"={}\"\n", self.version)
        } else {
            fs::read_to_string(package.join("Cargo.toml")).unwrap()
        };
        manifest + "\n[workspace]\n"
    }

    /// Returns the command that builds the suite in this package.
    pub(crate) fn build(&self, package: &Path, wrapper: &Path) -> Command {
        let mut cargo = Command::new("cargo");
        cargo
            .args(["test", "--no-run"])
            .args(self.targets)
            .args(["--features", self.features])
            .current_dir(package)
            .env(
                "LOOM_SWITCHES",
                format!("--cfg {}", self.switches.join(" --cfg ")),
            )
            .env("RUSTC_WRAPPER", wrapper);
        cargo
    }
}

/// Returns the part of a manifest that replaces loom by the drop-ins.
pub(crate) fn patch() -> String {
    let shims = root().join("shims");
    let shims = shims.display();
    format!(
        "[patch.crates-io]\nloom = {{ path = \"{shims}/loom\" }}\nloom-0-5 = {{ package = \"loom\", path = \
         \"{shims}/loom-0.5\" }}\n"
    )
}

/// Builds the suite, and runs each of its tests. Returns their ends by name; none if the suite does not build.
fn results(suite: &Suite, sources: &Path, directory: &Path, is_ours: bool) -> BTreeMap<String, Ended> {
    let side = directory.join(if is_ours { "here" } else { "loom" });
    let package = side.join(suite.package);
    let mut manifest = suite.copied(sources, &package);
    if suite.package != "loom" {
        // Some suites have fields that exist only with debug assertions.
        let name = suite.package;
        writeln!(
            manifest,
            "[profile.release.package.{name}]\ndebug-assertions = true"
        )
        .unwrap();
    }
    if is_ours {
        manifest += &patch();
    }
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    let mut cargo = suite.build(&package, &directory.join("rustc"));
    // cargo does not see the switches, so builds with different ones need different directories.
    let target = side.join(format!("target-{}", suite.switches[0]));
    cargo.arg("--release").env("CARGO_TARGET_DIR", target);
    let named = |((target, test), ended)| {
        let is_one_of_several = suite.targets == ALL;
        let name = if is_one_of_several {
            format!("{target}::{test}")
        } else {
            test
        };
        (name, ended)
    };
    run_tests(&mut cargo, suite.variables)
        .into_iter()
        .map(named)
        .collect()
}

/// Returns the cells of a test's end.
fn cells(ended: Option<&Ended>) -> String {
    ended.map_or("not built | | ".into(), |ended| {
        let executions = ended.executions.map_or(String::new(), |count| count.to_string());
        format!("{} | {executions} | {:.2}", ended.verdict, ended.seconds)
    })
}

/// Returns those rows of the page's tables whose first cell is this one.
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
    wrapper(&directory);
    let packages = SUITES.iter().map(|suite| (suite.package, suite.version));
    let sources = sources(&directory.join("all"), packages);
    let only = std::env::var("LOOM_SUITES").unwrap_or_default();
    let page = fs::read_to_string(root().join(PAGE)).unwrap_or_default();
    let mut rows = Rows::default();
    let mut not_here = Vec::new();
    for suite in &SUITES {
        if !suite.package.contains(&only) {
            let crate_and_version = format!("{} {}", suite.package, suite.version);
            rows.totals += &rows_of(&page, &crate_and_version);
            rows.tests += &rows_of(&page, suite.package);
            continue;
        }
        let (name, version) = (suite.package, suite.version);
        let ended = [false, true].map(|is_ours| results(suite, &sources[name], &directory, is_ours));
        let failed = rows.add((name, version), ended, cells);
        not_here.extend(failed.iter().map(|test| format!("{name} `{test}`")));
    }
    eprintln!("pass under loom, and not here: {not_here:#?}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        write_page(PAGE, BEGINNING, [TOTALS, &rows.totals], [HEADING, &rows.tests]);
    }
}

/// The page's beginning names each test that takes longer than under loom, by more than 0.1 s, and no other.
#[test]
fn the_page_names_the_slower_tests() {
    let page = fs::read_to_string(root().join(PAGE)).unwrap();
    let sentence = page
        .lines()
        .find(|line| line.contains("s longer here: "))
        .unwrap();
    let named: BTreeSet<&str> = sentence.split('`').skip(1).step_by(2).collect();
    let slower = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, _, test, "pass", _, under_loom, "pass", _, here, _] = cells[..] else {
            return None;
        };
        let [under_loom, here] = [under_loom, here].map(|seconds| seconds.parse::<f64>().unwrap());
        (here - under_loom > 0.1).then(|| test.trim_matches('`').rsplit("::").next().unwrap())
    });
    assert_eq!(slower.collect::<BTreeSet<_>>(), named);
}
