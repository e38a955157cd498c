//! Each command in the documents is run in a directory that has the files it reads, or it is checked that everything
//! that it names exists.

use super::read::{Command, assignment, documents, root, words};
use super::sources::tests_in;
use crate::{Ran, command, run, stand_in, token};
use intermezzo::Settings;
use intermezzo::baseline::Baseline;
use intermezzo::settings::Setting;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

/// Commands that are only checked, with the reason why they are not run.
const LISTED: &[(&str, &str)] = &[
    ("mdbook serve docs/guide --open", "needs mdBook, and does not end"),
    ("cargo install mdbook", "needs the network"),
    (".ci/run", "runs all tests, this one among them"),
    ("cargo deny", "need not be there"),
    ("nats-server -js", "does not end"),
    (
        "cargo intermezzo tune --bugs",
        "takes minutes: a test that is ignored runs it",
    ),
    (
        "cargo run --release -p cargo-intermezzo -- tune --bugs",
        "the same, with optimisation",
    ),
    (
        "cargo intermezzo tune fib_bench",
        "takes minutes: a test that is ignored runs it",
    ),
    (
        "cargo intermezzo tune reorder_3_bad",
        "a test in `figures.rs` runs it",
    ),
    (
        "cargo intermezzo tune work_stealing_queue",
        "a test in `tune.rs` runs it",
    ),
];

/// Placeholders in commands, each with a value. The first that matches is replaced.
const PLACEHOLDERS: &[(&str, &str)] = &[
    ("[--time SECONDS]", "--time 1"),
    ("PROGRAM..", "counter,tasks=2"),
    ("CARGO TEST ARGS", "--lib"),
    ("--strategies LIST", "--strategies dfs,pos"),
    ("--reductions LIST", "--reductions none"),
    ("--preemptions LIST", "--preemptions 1,2"),
    ("--cache-bytes LIST", "--cache-bytes 1000000"),
    (
        "history check FILE --spec NAME",
        "history check history.log --spec stack",
    ),
    ("history check FILE", "history check history.log"),
    ("--format NAME", "--format perfetto"),
    ("monitor new NAME", "monitor new made"),
    ("--minimise N", "--minimise 5"),
    ("--checkpoint FILE", "--checkpoint kept"),
    ("--svg FILE", "--svg drawn.svg"),
    ("--csv FILE", "--csv table.csv"),
    ("--cap SECONDS", "--cap 30"),
    ("FILTER..", "big0"),
    ("--out FILE", "--out shown"),
    ("--out DIR", "--out results"),
    ("=FILE", "=file"),
    ("=DIR", "=directory"),
    ("imz1.…", "TOKEN"),
    ("imz2.…", "TOKEN"),
    ("imz1…", "TOKEN"),
    ("<token>", "TOKEN"),
    ("[", ""),
    ("]", ""),
];

/// Names in commands that belong to the user's project, and not to this workspace.
const THE_USERS: &[&str] = &["my-queue", "ring::is_linearizable"];

/// A history of a stack, and one of a register as Jepsen writes it.
const HISTORY: &str = "# @object stack\n[1] call push(1)\n[2] call pop\n[1] return\n[2] return 1\n";
const ETCD: &str = "INFO  jepsen.util - 0 :invoke :write 4\nINFO  jepsen.util - 0 :ok :write 4\n";

/// The way in which a command was checked.
enum Done {
    /// It was run, and ended as expected.
    Ran,
    /// Everything that it names exists.
    Understood,
    /// It is listed as one that is only checked.
    Listed,
}

/// The files and names that the commands refer to.
pub(super) struct Scene {
    /// The report of a program of the corpus.
    report: String,
    /// Reports of both shares of a search.
    shares: [String; 2],
    /// A memo of iRoots.
    memo: String,
    /// The token of the finding in the report.
    token: String,
    /// The output of `cargo metadata` for the workspace.
    packages: Value,
}

impl Scene {
    pub(super) fn new() -> Scene {
        let report = run(&["corpus", "run", "abba", "--json"]).ends_with(1);
        let share = |share| {
            run(&[
                "corpus",
                "run",
                "abba",
                "--keep-going",
                "--partition",
                share,
                "--json",
            ])
            .stdout
        };
        let directory = tempfile::tempdir().unwrap();
        let maple = ["--strategy", "maple(memo=iroots.memo)"];
        let search = [&["corpus", "run", "fai-ok"], &maple[..]].concat();
        Ran::of(&mut command(directory.path(), &search)).ends_with(0);
        let mut metadata = process::Command::new(env!("CARGO"));
        metadata.args(["metadata", "--offline", "--no-deps", "--format-version", "1"]);
        let metadata = metadata.current_dir(root()).output().unwrap();
        let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
        Scene {
            shares: ["1/2", "2/2"].map(share),
            memo: fs::read_to_string(directory.path().join("iroots.memo")).unwrap(),
            token: token(&report.json()),
            report: report.stdout,
            packages: metadata["packages"].clone(),
        }
    }

    /// Runs the command line in a directory with the files that commands name.
    pub(super) fn run(&self, arguments: &[&str]) -> Ran {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
        write("report.json", &self.report);
        for (share, number) in self.shares.iter().zip(1..) {
            let within = directory.path().join(format!("shares/{number}"));
            fs::create_dir_all(&within).unwrap();
            fs::write(within.join("report.json"), share).unwrap();
        }
        fs::create_dir(directory.path().join("reports")).unwrap();
        write("reports/first.json", &self.report);
        write("history.log", HISTORY);
        write("etcd_001.log", ETCD);
        write("iroots.memo", &self.memo);
        write("other.memo", &self.memo);
        write("known-findings.toml", &Baseline::default().to_text());
        let of_tests = match arguments {
            ["config", ..] => stand_in::SETTINGS,
            _ => &self.report,
        };
        write(stand_in::WRITTEN, of_tests);
        // Commands that run tests of a project build nothing.
        stand_in::install(directory.path());
        let mut command = command(directory.path(), arguments);
        stand_in::instead_of_cargo(&mut command);
        Ran::of(&mut command)
    }

    /// Returns the command with its placeholders filled.
    pub(super) fn filled(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (placeholder, meant) in PLACEHOLDERS {
            text = text.replace(placeholder, meant);
        }
        text.replace("TOKEN", &self.token)
    }

    /// Checks a command as far as possible.
    fn check(&self, command: &Command) -> Result<Done, String> {
        if let Some((_, why)) = LISTED.iter().find(|(begin, _)| command.text.starts_with(begin)) {
            assert!(!why.is_empty());
            return Ok(Done::Listed);
        }
        let text = self.filled(&command.text);
        let words = words(&text);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let variables = words.iter().take_while(|word| assignment(word).is_some()).count();
        let (variables, words) = words.split_at(variables);
        for (name, value) in variables.iter().filter_map(|word| assignment(word)) {
            variable(name, value)?;
        }
        match words {
            [] => Ok(Done::Understood),
            ["cd", _] => Ok(Done::Understood),
            ["cargo", "intermezzo", arguments @ ..] => self.ours(command, arguments),
            ["cargo", arguments @ ..] => self.cargos(arguments),
            _ => Err("it is no command of ours, and not listed".into()),
        }
    }

    /// Runs a command of ours if it has all its arguments.
    fn ours(&self, command: &Command, arguments: &[&str]) -> Result<Done, String> {
        let ends = |ran: Ran, codes: &[i32]| match codes.contains(&ran.code) {
            true => Ok(()),
            false => Err(format!("it ends with {}:\n{}", ran.code, ran.stderr)),
        };
        // A sentence may mention only the name of a command. A schedule or a library may belong to a project that is not
        // here.
        let is_name =
            !command.in_block && arguments.iter().all(|word| !word.starts_with('-')) && arguments.len() < 3;
        let subcommand = arguments.first().copied().unwrap_or_default();
        let is_elsewhere = arguments
            .iter()
            .any(|word| word.ends_with(".so") || word.contains(".so:") || *word == "--unmodified")
            || subcommand == "run"
            || subcommand == "replay"
                && (!arguments.contains(&self.token.as_str()) || arguments.contains(&"--"));
        if is_name || is_elsewhere {
            let before = arguments
                .iter()
                .take_while(|argument| **argument != "--")
                .copied();
            let mut with_help: Vec<&str> = before.chain(["--help"]).collect();
            if subcommand == "run" {
                // Everything after an argument of cargo is for cargo.
                with_help = vec!["run", "--help"];
            }
            return ends(self.run(&with_help), &[0]).map(|()| Done::Understood);
        }
        if arguments.contains(&"--pool") {
            // There is no server, or this build has no pools. An error about a wrong flag would have another message.
            let ran = self.run(arguments);
            let understood = ["cannot connect to ", "built without pools"];
            return match ran.code == 2 && understood.iter().any(|says| ran.stderr.contains(says)) {
                true => Ok(Done::Ran),
                false => Err(format!("it ends with {}:\n{}", ran.code, ran.stderr)),
            };
        }
        // Exit codes 0 and 1 are both correct.
        let quiet: &[&str] = if subcommand == "view" {
            &["--open", "no"]
        } else {
            &[]
        };
        let codes: &[i32] = match subcommand {
            // The stand-in for cargo builds no test.
            "list" => &[3],
            _ => &[0, 1],
        };
        ends(self.run(&[arguments, quiet].concat()), codes).map(|()| Done::Ran)
    }

    /// Checks a command of cargo: everything that it names exists.
    fn cargos(&self, arguments: &[&str]) -> Result<Done, String> {
        let (mut package, mut filters) = (None, Vec::new());
        let mut words = arguments.iter().copied();
        let subcommand = words.next().unwrap_or_default();
        if !["test", "bench", "run", "build", "install", "tree", "update"].contains(&subcommand) {
            return Err(format!("cargo has no {subcommand:?} that is known here"));
        }
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} has no value"));
            match word {
                "-p" => package = Some(value()?),
                "--bench" | "--test" | "--example" => self.target(package, &word[2..], value()?)?,
                "--path" => {
                    let program = root().join(value()?).join("src/main.rs");
                    fs::metadata(program).map_err(|error| error.to_string())?;
                }
                "-e" | "-i" | "--features" => drop(value()?),
                "--lib" | "--doc" | "--release" => {}
                // The remaining arguments are for a program of the workspace, or for tests.
                "--" => {
                    for flag in words.by_ref().filter(|word| word.starts_with("--")) {
                        known_flag(flag)?;
                    }
                }
                filter if !filter.starts_with('-') => filters.push(filter),
                flag => return Err(format!("{flag} is not known here")),
            }
        }
        match package {
            Some(package) => {
                let manifest = self.package(package)?["manifest_path"].as_str().unwrap();
                let folder = Path::new(manifest).parent().unwrap();
                filters.iter().try_for_each(|filter| test(folder, filter))?;
            }
            None => filters.iter().try_for_each(|filter| name(filter))?,
        }
        Ok(Done::Understood)
    }

    fn package(&self, name: &str) -> Result<&Value, String> {
        let mut packages = self.packages.as_array().unwrap().iter();
        let package = packages.find(|package| package["name"] == name);
        package.ok_or(format!("there is no package {name}"))
    }

    fn target(&self, package: Option<&str>, kind: &str, name: &str) -> Result<(), String> {
        let package = self.package(package.unwrap_or("intermezzo"))?;
        let mut targets = package["targets"].as_array().unwrap().iter();
        let is_there = targets.any(|target| target["kind"][0] == kind && target["name"] == name);
        is_there.then_some(()).ok_or(format!("there is no {kind} {name}"))
    }
}

/// Returns every source file of the workspace, and every document, with its path: tests and variables are looked up in
/// them.
fn sources() -> &'static [(PathBuf, String)] {
    static SOURCES: std::sync::OnceLock<Vec<(PathBuf, String)>> = std::sync::OnceLock::new();
    fn add(folder: &Path, all: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                add(&path, all);
            } else if (name.ends_with(".rs") || name.ends_with(".md")) && name != "commands.rs" {
                let text = fs::read_to_string(&path).unwrap();
                all.push((path, text));
            }
        }
    }
    SOURCES.get_or_init(|| {
        let mut all = Vec::new();
        add(root(), &mut all);
        all
    })
}

/// Returns `true` if a file in a folder has one of the texts.
fn has_any(folder: &Path, texts: &[String]) -> bool {
    let mut files = sources().iter().filter(|(path, _)| path.starts_with(folder));
    files.any(|(_, source)| texts.iter().any(|text| source.contains(text)))
}

/// Checks that a variable is a setting with a valid value, or is read somewhere.
fn variable(name: &str, value: &str) -> Result<(), String> {
    let setting = name
        .strip_prefix("INTERMEZZO_")
        .unwrap_or_default()
        .to_lowercase();
    if Setting::named(&setting).is_some() {
        let set = Settings::default().set(&setting, value);
        return set.map_err(|error| error.to_string());
    }
    let is_read = has_any(root(), &[format!("\"{name}\"")]) || name == "RUSTFLAGS";
    is_read.then_some(()).ok_or(format!("nothing reads {name}"))
}

/// Checks that a filter is in the name of a test of the package in that folder, or of a module or file with tests there.
fn test(folder: &Path, filter: &str) -> Result<(), String> {
    let name = filter
        .trim_end_matches("::")
        .rsplit("::")
        .next()
        .unwrap_or_default();
    let mut files = sources().iter().filter(|(path, _)| path.starts_with(folder));
    let fits = |(path, source): &(PathBuf, String)| {
        let inside = path.strip_prefix(folder).unwrap().to_string_lossy();
        let tests = tests_in(source);
        let is_around = || inside.contains(name) || source.contains(&format!("mod {name}"));
        tests.iter().any(|test| test.contains(name)) || !tests.is_empty() && is_around()
    };
    files
        .any(fits)
        .then_some(())
        .ok_or(format!("there is no test {filter} in {}", folder.display()))
}

/// Checks that a filter or name without a package is that of a function or module in a source, or one of the user's.
fn name(filter: &str) -> Result<(), String> {
    let name = filter.rsplit("::").next().unwrap_or_default();
    let texts = ["fn ", "mod ", "\""].map(|word| format!("{word}{name}"));
    (has_any(root(), &texts) || THE_USERS.contains(&filter))
        .then_some(())
        .ok_or(format!("there is no test {filter}"))
}

/// Checks that the test harness or a program of the workspace has this flag, which comes after `--`.
fn known_flag(flag: &str) -> Result<(), String> {
    let harness = ["--exact", "--nocapture", "--ignored"];
    (harness.contains(&flag) || has_any(root(), &[format!("\"{flag}\"")]))
        .then_some(())
        .ok_or(format!("nothing knows {flag}"))
}

#[test]
fn commands_in_documents_exist() {
    let scene = Scene::new();
    let (mut wrong, mut counts) = (Vec::new(), [0; 3]);
    let mut listed = BTreeSet::new();
    for command in documents().iter().flat_map(|document| document.commands()) {
        match scene.check(&command) {
            Ok(done) => {
                counts[done as usize] += 1;
                let begins = LISTED.iter().filter(|(begin, _)| command.text.starts_with(begin));
                listed.extend(begins.map(|(begin, _)| *begin));
            }
            Err(problem) => wrong.push(format!("{}: `{}`: {problem}", command.place, command.text)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let unused: Vec<_> = LISTED
        .iter()
        .filter(|(begin, _)| !listed.contains(begin))
        .collect();
    assert!(unused.is_empty(), "no document has these: {unused:?}");
    let [ran, understood, listed] = counts;
    assert!(ran > 30 && understood > 90 && listed < 15, "{counts:?}");
}
