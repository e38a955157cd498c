//! The speed of unmodified tests, compared with the same tests on the look-alikes.

use crate::documents::figures;
use crate::unmodified::project_of;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The programs. `STD` stands for the crate with the threads and locks that they use.
const PROGRAMS: &str = include_str!("speed/programs.rs");

const TESTS: [&str; 6] = ["messages", "counters", "stack", "queue", "readers", "meetings"];

/// The numbers of executions in two runs. Their difference is measured, so that the start of a run does not count.
const EXECUTIONS: [u64; 2] = [1_000, 6_000];

/// The settings: one schedule after the other, without a reduction and without monitors.
const SETTINGS: [(&str, &str); 3] = [
    ("INTERMEZZO_STRATEGY", "dfs"),
    ("INTERMEZZO_REDUCTION", "none"),
    ("INTERMEZZO_MONITORS", "none"),
];

/// The required speed of unmodified tests, as a fraction of the look-alikes' speed.
const LEAST: f64 = 0.5;

/// A project, and the arguments of the command that explores it.
struct Form {
    project: PathBuf,
    arguments: &'static [&'static str],
}

/// The figures of a test in one of the forms.
struct Figures {
    /// The number of instructions per execution.
    instructions: f64,
    /// The number of executions per second.
    speed: f64,
    /// The number of executions of the whole search.
    executions: u64,
}

impl Form {
    fn unmodified() -> Form {
        Form {
            project: project_of("plain", "", &PROGRAMS.replace("STD", "std")),
            arguments: &["test", "--unmodified", "--release", "--lib"],
        }
    }

    fn in_a_debug_build() -> Form {
        Form {
            project: project_of("plain_debug", "", &PROGRAMS.replace("STD", "std")),
            arguments: &["test", "--unmodified", "--lib"],
        }
    }

    fn look_alikes() -> Form {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let root = fs::canonicalize(root).unwrap();
        let dependency = format!(
            "[dependencies]\nintermezzo = {{ path = {:?}, features = [\"explore-in-release\"] }}\n",
            root.to_str().unwrap()
        );
        let library = PROGRAMS
            .replace("STD", "intermezzo")
            .replace("#[test]", "#[intermezzo::test]");
        Form {
            project: project_of("alike", &dependency, &library),
            arguments: &["test", "--release", "--lib"],
        }
    }

    /// Runs the command with more arguments, and returns the reports in its JSON output.
    fn run(&self, more: &[&str]) -> Vec<Value> {
        let all = [self.arguments, &["--json"], more].concat();
        let mut command = crate::command(&self.project, &all);
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("speed-target");
        command.env("CARGO_TARGET_DIR", target).envs(SETTINGS);
        let ran = crate::Ran::of(&mut command).ends_with(0);
        ran.json()["reports"].as_array().unwrap().clone()
    }

    /// Returns the test binary: the newest of its name.
    fn binary(&self) -> PathBuf {
        let name = self.project.file_name().unwrap().to_str().unwrap();
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("speed-target");
        let mut found = Vec::new();
        let mut left = vec![target];
        while let Some(directory) = left.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let file = path.file_name().unwrap().to_str().unwrap();
                if path.is_dir() {
                    left.push(path);
                } else if file.starts_with(&format!("{name}-")) && path.extension().is_none() {
                    found.push(path);
                }
            }
        }
        let changed = |path: &PathBuf| path.metadata().unwrap().modified().unwrap();
        found.into_iter().max_by_key(changed).unwrap()
    }

    /// Returns the number of instructions of a test with this many executions.
    fn instructions(&self, test: &str, executions: u64) -> f64 {
        let output = self.project.join("callgrind");
        let ran = Command::new("valgrind")
            .arg("--tool=callgrind")
            .arg(format!("--callgrind-out-file={}", output.display()))
            .arg(self.binary())
            .args(["--exact", &format!("tests::{test}"), "--test-threads=1"])
            .current_dir(&self.project)
            .env("INTERMEZZO_EXECUTIONS", executions.to_string())
            .envs(SETTINGS)
            .env("CARGO_MANIFEST_DIR", &self.project)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        let text = fs::read_to_string(output).unwrap_or_else(|error| panic!("{error}: {said}"));
        let total = text
            .lines()
            .find_map(|line| line.strip_prefix("summary: "))
            .unwrap();
        total.trim().parse().unwrap()
    }

    /// Returns the number of instructions per execution of a test.
    fn instructions_of_one(&self, test: &str) -> f64 {
        let [few, many] = EXECUTIONS.map(|executions| self.instructions(test, executions));
        (many - few) / (EXECUTIONS[1] - EXECUTIONS[0]) as f64
    }

    /// Returns the figures of each test.
    fn figures(&self) -> Vec<Figures> {
        // The best of several runs, because other work on the machine slows some of them down.
        let runs: Vec<Vec<Value>> = (0..3).map(|_| self.run(&["--executions", "50000"])).collect();
        let of_test = |test: &&str| {
            let is_it = |report: &&Value| {
                let program = report["program"].as_str().unwrap();
                program.ends_with(&format!("::{test}"))
            };
            let reports: Vec<&Value> = runs.iter().map(|run| run.iter().find(is_it).unwrap()).collect();
            let executions = reports[0]["executions"].as_u64().unwrap();
            let seconds = |report: &&Value| report["elapsed_seconds"].as_f64().unwrap();
            let seconds = reports.iter().map(seconds).fold(f64::INFINITY, f64::min);
            Figures {
                instructions: self.instructions_of_one(test),
                speed: executions as f64 / seconds,
                executions,
            }
        };
        TESTS.iter().map(of_test).collect()
    }
}

/// Returns a number without its fraction, with commas between thousands.
fn number(number: f64) -> String {
    figures::number(format_args!("{number:.0}"))
}

#[test]
#[ignore = "it takes minutes, and needs valgrind"]
#[allow(clippy::print_stderr, reason = "it measures, and shows the figures")]
fn unmodified_tests_have_half_of_the_speed_of_look_alikes() {
    let debug = Form::in_a_debug_build();
    debug.run(&["--executions", "1"]);
    let (unmodified, alike) = (Form::unmodified().figures(), Form::look_alikes().figures());
    let mut table = String::from(
        "| program | executions | instructions in one: look-alikes | unmodified | unmodified, in a debug build | executions a second: look-alikes | \
         unmodified | part of the look-alikes' speed |\n|---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut slow = Vec::new();
    for ((test, unmodified), alike) in TESTS.iter().zip(&unmodified).zip(&alike) {
        let part = alike.instructions / unmodified.instructions;
        writeln!(
            table,
            "| {test} | {} | {} | {} | {} | {} | {} | {part:.2} by instructions, {:.2} by time |",
            match unmodified.executions == alike.executions {
                true => number(alike.executions as f64),
                false => format!(
                    "{}, unmodified {}",
                    number(alike.executions as f64),
                    number(unmodified.executions as f64)
                ),
            },
            number(alike.instructions),
            number(unmodified.instructions),
            number(debug.instructions_of_one(test)),
            number(alike.speed),
            number(unmodified.speed),
            unmodified.speed / alike.speed,
        )
        .unwrap();
        if part < LEAST {
            slow.push(test);
        }
    }
    eprintln!("{table}");
    assert!(
        slow.is_empty(),
        "slower than {LEAST} of the look-alikes: {slow:?}"
    );
}
