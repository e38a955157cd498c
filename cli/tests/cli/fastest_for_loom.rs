//! The ten fastest suites for loom, under `shims/loom`: each of their tests ends as docs/LOOM_SUITES.md says.

use crate::loom_suites::{PAGE, SUITES, Suite, patch, wrapper};
use crate::registry::{Ended, built, fetched, root, run};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SUITES_RUN: usize = 10;

/// A variable with the directory for the suites. Two processes must not share one.
const DIRECTORY: &str = "FASTEST_FOR_LOOM_IN";

/// The end of a test with intermezzo, according to the page.
struct Row<'a> {
    test: &'a str,
    verdict: &'a str,
    executions: Option<u64>,
    seconds: f64,
}

/// Returns the rows of the page's tests, by crate.
fn rows(page: &str) -> BTreeMap<&str, Vec<Row<'_>>> {
    let mut rows: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, package, test, _, _, _, verdict, executions, seconds, _] = cells[..] else {
            continue;
        };
        if let (Some(test), Ok(seconds)) = (test.strip_prefix('`'), seconds.parse()) {
            let row = Row {
                test: test.trim_end_matches('`'),
                verdict,
                executions: executions.parse().ok(),
                seconds,
            };
            rows.entry(package).or_default().push(row);
        }
    }
    rows
}

/// Returns the crates whose tests take the least time here, with their rows. Each of their tests passes.
fn fastest(page: &str) -> Vec<(&str, Vec<Row<'_>>)> {
    let all_pass = |(_, rows): &(_, Vec<Row<'_>>)| rows.iter().all(|row| row.verdict == "pass");
    let seconds = |rows: &[Row<'_>]| rows.iter().map(|row| row.seconds).sum::<f64>();
    let mut suites: Vec<_> = rows(page).into_iter().filter(all_pass).collect();
    suites.sort_by(|(_, one), (_, other)| seconds(one).total_cmp(&seconds(other)));
    suites.truncate(SUITES_RUN);
    suites
}

/// Returns the differences between the page and the ends of a suite's tests. Waiting loops are recognised by registers
/// and stacks, so the number of executions of a test with such a loop depends on the compiler.
fn differences(rows: &[Row<'_>], ended: &BTreeMap<String, Ended>) -> Vec<String> {
    let said = |verdict: &str, executions: Option<u64>| match executions {
        Some(executions) => format!("{verdict} ({executions} executions)"),
        None => verdict.to_owned(),
    };
    let of_row = |row: &Row<'_>| {
        let expected = said(row.verdict, row.executions);
        let found = match ended.get(row.test) {
            Some(ended) if ended.has_waits => said(ended.verdict, row.executions),
            Some(ended) => said(ended.verdict, ended.executions),
            None => "not there".to_owned(),
        };
        (found != expected).then(|| format!("`{}`: {found}; on the page: {expected}", row.test))
    };
    let not_told = |test: &&String| rows.iter().all(|row| row.test != *test);
    let not_told = ended.keys().filter(not_told);
    let not_told = not_told.map(|test| format!("`{test}` is not on the page"));
    rows.iter().filter_map(of_row).chain(not_told).collect()
}

/// Returns the manifest without the development dependencies that the suite does not name: benchmarks and other tests
/// use them, and some take longer to build than all else.
fn without_unused(manifest: &str, suite: &Suite, package: &Path) -> String {
    let mut code = String::new();
    read(&package.join("src"), &mut code);
    for target in suite.targets.iter().filter(|target| !target.starts_with("--")) {
        code += &fs::read_to_string(package.join(format!("tests/{target}.rs"))).unwrap();
    }
    let is_used = |name: &str| {
        let path = format!("{}::", name.replace('-', "_"));
        code.lines()
            .any(|line| !line.trim_start().starts_with("//") && line.contains(&path))
    };
    let mut is_kept = true;
    let kept = manifest.lines().filter(|line| {
        if line.starts_with('[') {
            let dependency = line.trim_end_matches(']').split_once("dev-dependencies.");
            is_kept = dependency.is_none_or(|(_, name)| is_used(name));
        }
        is_kept
    });
    kept.flat_map(|line| [line, "\n"]).collect()
}

/// Appends all code of a directory.
fn read(directory: &Path, code: &mut String) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, code);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            *code += &fs::read_to_string(path).unwrap();
        }
    }
}

/// Returns the line of cargo's messages that says that packages cannot be fetched, if that is the reason.
fn not_fetched(said: &str) -> Option<&str> {
    // The messages of a compiler may contain any text, and a missing feature may be one of the drop-in's.
    let others = [
        "error: could not compile",
        "does not have that feature",
        "does not have these features",
        "failed to select a version for `loom`",
    ];
    if others.iter().any(|other| said.contains(other)) {
        return None;
    }
    let reasons = [
        "--offline",
        "failed to download",
        "download of",
        "failed to load source",
        "failed to get",
        // A registry may have only some of the packages or versions.
        "no matching package",
        "failed to select a version",
    ];
    let is_reason = |line: &&str| reasons.iter().any(|reason| line.contains(reason));
    said.lines().find(is_reason).map(str::trim)
}

/// Builds and runs the suite. Returns the ends of its tests, or cargo's messages.
fn ends(suite: &Suite, directory: &Path) -> Result<BTreeMap<String, Ended>, String> {
    assert!(
        suite.targets.iter().all(|target| *target != "--tests"),
        "their names have the target"
    );
    let mut cargo = Command::new("cargo");
    // There are ten suites, and retries take long if the registry cannot be reached.
    cargo.env("CARGO_NET_RETRY", "0");
    let sources = fetched(
        cargo,
        &directory.join("sources"),
        [(suite.package, suite.version)],
    )?;
    let package = directory.join(suite.package);
    let manifest = suite.copied(&sources[suite.package], &package);
    let manifest = without_unused(&manifest, suite, &package);
    // Tests take longer if the suite itself is not optimised at all. One suite asks for a search with a checkpoint,
    // which it does not use, and for which intermezzo would be built again.
    let name = suite.package;
    let profile = format!("[profile.dev.package.{name}]\nopt-level = 1\n");
    let manifest = manifest.replace("features = [\"checkpoint\"]\n", "") + &profile + &patch();
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    // All suites use the same versions of common dependencies.
    fs::copy(root().join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    let mut cargo = suite.build(&package, &directory.join("rustc"));
    cargo
        .arg("--config")
        .arg(root().join("shims/profile.toml"))
        // The directory in which the drop-ins are tested, so that common dependencies are built once.
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("shims"),
        )
        // cargo caches the compiler's answers about itself, but here they depend on the suite's switches.
        .env("CARGO_CACHE_RUSTC_INFO", "0");
    cargo.env("CARGO_NET_RETRY", "0");
    let ended = run(&built(&mut cargo)?, suite.variables).into_iter();
    Ok(ended.map(|((_, test), ended)| (test, ended)).collect())
}

#[test]
#[ignore = "it takes a minute, and crates from the registry"]
#[expect(clippy::print_stdout, reason = "it takes long, and may be skipped")]
fn the_ten_fastest_suites_end_as_documented() {
    let directory = std::env::var_os(DIRECTORY).map_or_else(
        || Path::new(env!("CARGO_TARGET_TMPDIR")).join("fastest-for-loom"),
        PathBuf::from,
    );
    wrapper(&directory);
    let page = fs::read_to_string(root().join(PAGE)).unwrap();
    let mut all = Vec::new();
    for (name, rows) in fastest(&page) {
        let suite = SUITES.iter().find(|suite| suite.package == name).unwrap();
        match ends(suite, &directory) {
            Ok(ended) => {
                let differences = differences(&rows, &ended);
                println!("{name}: {} tests", rows.len());
                for difference in differences {
                    println!("{name} {difference}");
                    all.push(format!("{name} {difference}"));
                }
            }
            Err(said) => match not_fetched(&said) {
                Some(reason) => println!("skipped {name}: its crates cannot be fetched ({reason})"),
                None => panic!("{name} is not built:\n{said}"),
            },
        }
    }
    assert!(all.is_empty(), "not as in {PAGE}: {all:#?}");
}

#[test]
fn ten_suites_are_fast_and_pass() {
    let page = fs::read_to_string(root().join(PAGE)).unwrap();
    let suites = fastest(&page);
    assert_eq!(suites.len(), SUITES_RUN);
    let all = suites.iter().flat_map(|(_, rows)| rows);
    let seconds: f64 = all.map(|row| row.seconds).sum();
    assert!(seconds < 10.0, "{seconds} s with optimisation");
}

#[test]
fn each_difference_is_reported() {
    let ended = |verdict, executions| Ended {
        verdict,
        executions,
        seconds: 0.0,
        has_waits: false,
    };
    let page = "| a | `same` | pass | 5 | 0.00 | pass | 3 | 0.00 |\n\
                | a | `unknown` | pass |  | 0.00 | pass |  | 0.00 |\n\
                | a | `more` | pass | 5 | 0.00 | pass | 3 | 0.00 |\n\
                | a | `fails` | pass | 5 | 0.00 | pass |  | 0.00 |\n\
                | a | `gone` | pass | 5 | 0.00 | pass | 3 | 0.00 |\n\
                | a | `waits` | pass | 5 | 0.00 | pass | 3 | 0.00 |\n\
                | a | `waits and fails` | pass | 5 | 0.00 | pass | 3 | 0.00 |\n";
    let waits = |verdict| Ended {
        has_waits: true,
        ..ended(verdict, Some(9))
    };
    let ended = [
        ("same", ended("pass", Some(3))),
        ("unknown", ended("pass", None)),
        ("more", ended("pass", Some(4))),
        ("fails", ended("**fail**", None)),
        ("new", ended("pass", Some(1))),
        ("waits", waits("pass")),
        ("waits and fails", waits("**fail**")),
    ];
    let ended = ended.map(|(test, ended)| (test.to_owned(), ended)).into();
    assert_eq!(
        differences(&rows(page)["a"], &ended),
        [
            "`more`: pass (4 executions); on the page: pass (3 executions)",
            "`fails`: **fail**; on the page: pass",
            "`gone`: not there; on the page: pass (3 executions)",
            "`waits and fails`: **fail** (3 executions); on the page: pass (3 executions)",
            "`new` is not on the page",
        ]
    );
}

/// Returns the output of the test that runs the suites, in a process with these variables and nothing from the registry.
fn output_without_packages(name: &str, variables: &[(&str, &str)]) -> Output {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&home);
    fs::create_dir_all(&home).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "fastest_for_loom::the_ten_fastest_suites_end_as_documented",
        ])
        .args(["--ignored", "--nocapture"])
        .env(DIRECTORY, home.join("suites"))
        .env("CARGO_HOME", home)
        // These variables would let cargo reach the registry.
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .envs(variables.iter().copied());
    command.output().unwrap()
}

#[test]
fn suites_that_cannot_be_fetched_are_skipped() {
    let offline = [("CARGO_NET_OFFLINE", "true")];
    let unreachable = [
        ("CARGO_HTTP_PROXY", "http://127.0.0.1:1"),
        ("CARGO_NET_RETRY", "0"),
        ("CARGO_NET_OFFLINE", "false"),
    ];
    for (name, variables) in [
        ("nothing-offline", &offline[..]),
        ("nothing-unreachable", &unreachable),
    ] {
        let output = output_without_packages(name, variables);
        let said = String::from_utf8_lossy(&output.stdout);
        let skipped = said.lines().filter(|line| line.starts_with("skipped "));
        assert_eq!(skipped.count(), SUITES_RUN, "{name}: {output:#?}");
        assert!(output.status.success(), "{name}: {output:#?}");
    }
}

#[test]
fn suites_are_not_skipped_because_of_other_errors() {
    for said in [
        "let said = \"failed to download\";\nerror: could not compile `bytes` (lib test) due to 1 previous error",
        "error: failed to parse manifest at `Cargo.toml`",
        "error: failed to select a version for `loom`.",
        "error: failed to select a version for `b`.\npackage `a` depends on `b` with feature `x` but `b` does not have that feature.",
    ] {
        assert_eq!(not_fetched(said), None, "{said}");
    }
    let said = "error: no matching package named `parking` found";
    assert_eq!(not_fetched(said), Some(said));
}
