//! Packages of the registry, whose tests are run under another tool and with intermezzo, for comparison.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The processor time in seconds after which a test is ended. On a busy machine, a limit of elapsed time would end tests
/// that have not become slower.
const LIMIT: u32 = 20;

/// The time in seconds after which a test is ended that waits without using the processor.
const CLOCK_LIMIT: u32 = 120;

/// The command that runs a test with limits, and prints the processor time of its children at the end.
const TIMED: &str = r#"ulimit -t "$1"; shift; timeout -k 1 "$@" 2>&1; status=$?; times; exit $status"#;

/// Returns the root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .unwrap()
}

/// Returns the directories of these packages' sources in the registry, by name. `directory` is for a package that depends
/// on them.
pub(crate) fn sources<'a>(
    directory: &Path,
    packages: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> BTreeMap<String, PathBuf> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.env_remove("CARGO_NET_OFFLINE");
    fetched(cargo, directory, packages).unwrap_or_else(|said| panic!("{said}"))
}

/// Returns the directories of these packages' sources, or cargo's messages if it does not find them. Writes a package into
/// `directory` that depends on them.
pub(crate) fn fetched<'a>(
    mut cargo: Command,
    directory: &Path,
    packages: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<BTreeMap<String, PathBuf>, String> {
    let packages: Vec<_> = packages.into_iter().collect();
    let mut manifest = "[package]\nname = \"sources\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n".to_owned();
    for (package, version) in &packages {
        writeln!(manifest, "{package} = \"={version}\"").unwrap();
    }
    let _ = fs::remove_file(directory.join("Cargo.lock"));
    fs::create_dir_all(directory.join("src")).unwrap();
    fs::write(directory.join("src/lib.rs"), "").unwrap();
    fs::write(directory.join("Cargo.toml"), manifest).unwrap();
    let metadata = cargo.args(["metadata", "--format-version", "1"]);
    let output = metadata.current_dir(directory).output().unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let wanted = |package: &Value| {
        let name = package["name"].as_str()?;
        packages
            .iter()
            .find(|(wanted, version)| *wanted == name && package["version"] == *version)?;
        let manifest = Path::new(package["manifest_path"].as_str()?);
        Some((name.to_owned(), manifest.parent()?.to_owned()))
    };
    let all = metadata["packages"].as_array().unwrap();
    Ok(all.iter().filter_map(wanted).collect())
}

/// Copies a directory without the files and directories of these names. What is there already is replaced.
pub(crate) fn copy(from: &Path, to: &Path, left_out: &[&str]) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (name, to) = (entry.file_name(), to.join(entry.file_name()));
        if left_out.iter().any(|&left_out| name == left_out) {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to, left_out);
        } else {
            // Not `fs::copy`, because it copies permissions, and the registry's files are read-only.
            fs::write(to, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

/// The end of a test.
pub(crate) struct Ended {
    pub(crate) verdict: &'static str,
    pub(crate) executions: Option<u64>,
    pub(crate) seconds: f64,
    /// `true` if intermezzo says that the test has a loop that waits.
    pub(crate) has_waits: bool,
}

impl Ended {
    fn is_pass(&self) -> bool {
        self.verdict == "pass"
    }
}

/// Returns the processor time in seconds that the shell's `times` prints for its children.
fn seconds(said: &str) -> f64 {
    let part = |part: &str| -> Option<f64> {
        let (minutes, seconds) = part.strip_suffix('s')?.split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    let children = said.lines().last().unwrap_or_default();
    children.split(' ').filter_map(part).sum()
}

/// Runs a test of a binary with these variables, within the limits.
fn timed(binary: &str, test: &str, variables: &[(&str, &str)]) -> Ended {
    let mut command = Command::new("sh");
    command
        .args(["-c", TIMED, "sh"])
        .args([LIMIT.to_string(), CLOCK_LIMIT.to_string()])
        .args([binary, "--exact", test, "--nocapture", "--test-threads=1"])
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
        has_waits: said.contains("note: spin_loops:"),
    }
}

/// Builds test targets by this command of cargo, and runs each of their tests with these variables. Returns the tests'
/// ends, by name: that of the target and that of the test. There are none if the targets are not built.
#[expect(clippy::print_stderr, reason = "the messages of cargo say why")]
pub(crate) fn run_tests(
    cargo: &mut Command,
    variables: &[(&str, &str)],
) -> BTreeMap<(String, String), Ended> {
    match built(cargo.env_remove("CARGO_NET_OFFLINE")) {
        Ok(targets) => run(&targets, variables),
        Err(said) => {
            eprintln!("{said}");
            BTreeMap::new()
        }
    }
}

/// Builds test targets by this command of cargo. Returns their names and their binaries, or the messages of cargo and of
/// the compiler.
pub(crate) fn built(cargo: &mut Command) -> Result<Vec<(String, String)>, String> {
    let built = cargo.arg("--message-format=json").output().unwrap();
    let messages: Vec<Value> = String::from_utf8_lossy(&built.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_default())
        .collect();
    if !built.status.success() {
        let errors = messages.iter().map(|message| &message["message"]);
        let errors = errors.filter(|message| message["level"] == "error");
        let errors = errors.filter_map(|message| message["rendered"].as_str());
        return Err(errors.collect::<String>() + &String::from_utf8_lossy(&built.stderr));
    }
    let target = |message: &Value| {
        let binary = message["executable"].as_str()?.to_owned();
        Some((message["target"]["name"].as_str()?.to_owned(), binary))
    };
    Ok(messages.iter().filter_map(target).collect())
}

/// Runs each test of these targets with these variables, except the ignored ones.
pub(crate) fn run(
    targets: &[(String, String)],
    variables: &[(&str, &str)],
) -> BTreeMap<(String, String), Ended> {
    let mut ended = BTreeMap::new();
    for (target, binary) in targets {
        let list = |arguments: &[&str]| {
            let output = Command::new(binary).args(arguments).output().unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let ignored = list(&["--list", "--ignored"]);
        for line in list(&["--list"]).lines() {
            let is_run = !ignored.lines().any(|ignored| ignored == line);
            if let Some(test) = line.strip_suffix(": test").filter(|_| is_run) {
                let name = (target.clone(), test.to_owned());
                ended.insert(name, timed(binary, test, variables));
            }
        }
    }
    ended
}

/// The totals of two runs of a suite: under another tool and with intermezzo.
pub(crate) struct Totals {
    /// The tests that pass under the other tool and not with intermezzo.
    pub(crate) not_here: Vec<String>,
    cells: String,
}

impl Totals {
    /// Counts the tests by their names under the other tool.
    pub(crate) fn of(theirs: &BTreeMap<String, Ended>, ours: &BTreeMap<String, Ended>) -> Totals {
        let passed = theirs.iter().filter(|(_, ended)| ended.is_pass());
        let (mut in_both, mut not_here) = ((0, 0.0, 0.0), Vec::new());
        for (test, one) in passed {
            match ours.get(test).filter(|other| other.is_pass()) {
                Some(other) => {
                    in_both.0 += 1;
                    in_both.1 += one.seconds;
                    in_both.2 += other.seconds;
                }
                None => not_here.push(test.clone()),
            }
        }
        let cells = format!(
            "{} | {} | {} | {} | {:.2} | {:.2}",
            theirs.len(),
            counts(theirs.values()),
            counts(ours.values()),
            in_both.0,
            in_both.1,
            in_both.2
        );
        Totals { not_here, cells }
    }

    /// Returns the cells of the table's row: tests, their ends under both, the tests that pass under both, and the
    /// seconds that these take.
    pub(crate) fn cells(&self) -> &str {
        &self.cells
    }
}

/// Returns the number of tests that ended in each way.
fn counts<'a>(ended: impl Iterator<Item = &'a Ended>) -> String {
    let mut counts = BTreeMap::new();
    for one in ended {
        *counts.entry(one.verdict).or_insert(0) += 1;
    }
    let count = |(verdict, count): (&&str, &i32)| format!("{count} {verdict}");
    counts.iter().map(count).collect::<Vec<_>>().join(", ")
}

/// The rows of a page's tables: the totals of suites, and their tests.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) totals: String,
    pub(crate) tests: String,
}

impl Rows {
    /// Adds a suite that was run under another tool and with intermezzo. `cells` returns the cells of a test's end.
    /// Returns the tests that pass under the other tool and not with intermezzo.
    #[expect(clippy::print_stderr, reason = "suites take long")]
    pub(crate) fn add(
        &mut self,
        (name, version): (&str, &str),
        [theirs, ours]: [BTreeMap<String, Ended>; 2],
        cells: fn(Option<&Ended>) -> String,
    ) -> Vec<String> {
        for (test, one) in &theirs {
            let cells = [Some(one), ours.get(test)].map(cells).join(" | ");
            writeln!(self.tests, "| {name} | `{test}` | {cells} |").unwrap();
        }
        let sums = Totals::of(&theirs, &ours);
        writeln!(self.totals, "| {name} {version} | {} |", sums.cells()).unwrap();
        eprintln!("{}", self.totals.lines().last().unwrap());
        sums.not_here
    }
}

/// Writes a page: its beginning, which is a file written by hand, the totals, and the rows of the tests.
pub(crate) fn write_page(page: &str, beginning: &str, totals: [&str; 2], rows: [&str; 2]) {
    let beginning = fs::read_to_string(root().join(beginning)).unwrap();
    let text = [&[beginning.as_str()][..], &totals, &["\n## Each test\n\n"], &rows];
    fs::write(root().join(page), text.concat().concat()).unwrap();
}
