//! The command line reads damaged files: some of each format, each in a process of its own.

use super::damage::{Dice, damaged};
use super::{CHECKPOINT, MEMO, TIME_MAX, spelled_out};
use crate::{Ran, command, run_in, stand_in};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The number of files of each format.
const TRIED: usize = 20;

/// The maximum memory of a process: many times the need of the commands here, with room for their stacks.
const MEMORY_KIB_MAX: u64 = 6 << 20;

/// A format, and a command that reads such files.
struct Sample {
    name: &'static str,
    /// The path of the file, from the directory in which the command is run.
    file: &'static str,
    /// A valid file of this format.
    whole: Vec<u8>,
    /// The arguments. `FILE` stands for the contents of the file, if the command takes no file.
    arguments: &'static [&'static str],
    /// The name of the file in a problem.
    told: &'static str,
    /// The exit codes if the file is accepted.
    taken: &'static [i32],
}

const TUNE: &[&str] = &[
    "tune",
    "counter",
    "--strategies",
    "dfs,random",
    "--seeds",
    "2",
    "--out",
    "results",
];

fn samples(directory: &Path) -> Vec<Sample> {
    let written = |arguments: &[&str], file: &str| {
        run_in(directory, arguments);
        fs::read(directory.join(file)).unwrap()
    };
    let (report, token) = super::report(directory);
    let report = report.into_bytes();
    let recording = command(directory, &["corpus", "run", "abba", "--json"])
        .env("INTERMEZZO_RECORD", "1")
        .output()
        .unwrap()
        .stdout;
    let history =
        b"[1] call push(1)\n[2] call pop\n[1] return\n[2] return 1\n# and\n[1] call pop\n[1] return empty\n";
    let of = |name, file, whole, arguments, taken| Sample {
        name,
        file,
        whole,
        arguments,
        told: file,
        taken,
    };
    vec![
        of(
            "report",
            "report.json",
            report.clone(),
            &["view", "report.json", "--format", "sarif", "--out", "-"],
            &[0],
        ),
        of(
            "recording",
            "recorded.json",
            recording,
            &["view", "recorded.json", "--format", "dot", "--out", "-"],
            &[0],
        ),
        of(
            "history",
            "history.log",
            history.to_vec(),
            &["history", "check", "history.log", "--spec", "stack"],
            &[0, 1, 3],
        ),
        of(
            "checkpoint",
            "search",
            written(CHECKPOINT, "search"),
            CHECKPOINT,
            &[0, 1, 3],
        ),
        of("memo", "memo", written(MEMO, "memo"), MEMO, &[0, 1, 3]),
        of(
            "results of tune",
            "results/results.jsonl",
            written(TUNE, "results/results.jsonl"),
            TUNE,
            &[0],
        ),
        of(
            "schedule file",
            "first.json",
            written(
                &["corpus", "run", "abba", "--schedule-out", "first.json"],
                "first.json",
            ),
            &["replay", "first.json"],
            &[0, 1, 3],
        ),
        Sample {
            told: "",
            ..of(
                "schedule token",
                "token",
                token.into_bytes(),
                &["replay", "FILE"],
                &[0, 1, 3],
            )
        },
        Sample {
            told: "project-test",
            ..of(
                "report of a project",
                stand_in::WRITTEN,
                report,
                &["test", "--json"],
                &[0, 1, 3],
            )
        },
        Sample {
            told: "project-test",
            ..of(
                "report of refinement",
                stand_in::WRITTEN,
                refinement(),
                &["test", "--json"],
                &[0, 1, 3],
            )
        },
        Sample {
            told: "project-test",
            ..of(
                "settings of a test",
                stand_in::WRITTEN,
                stand_in::SETTINGS.into(),
                &["config"],
                &[0, 3],
            )
        },
    ]
}

fn refinement() -> Vec<u8> {
    use intermezzo::sync::Mutex;
    let report = intermezzo::refinement::refine(|| Mutex::new(0))
        .name("a counter")
        .op("add", (), |n: &Mutex<u8>, ()| {
            let before = *n.lock().unwrap();
            *n.lock().unwrap() = before + 1;
            before
        })
        .run();
    report.to_json().into_bytes()
}

#[test]
fn commands_read_files_or_refuse_them() {
    let directory = super::directory();
    let directory = directory.path();
    stand_in::install(directory);
    let samples = samples(directory);
    let others: Vec<Vec<u8>> = samples.iter().map(|sample| sample.whole.clone()).collect();
    let mut complaints = Vec::new();
    for sample in &samples {
        if cfg!(not(unix)) && sample.file == stand_in::WRITTEN {
            continue;
        }
        let mut dice = Dice(super::SEED);
        let whole = ran(sample, directory, &sample.whole);
        assert!(
            sample.taken.contains(&whole.code),
            "{}: {}",
            sample.name,
            whole.stderr
        );
        for number in 0..TRIED {
            let bytes = damaged(&sample.whole, &others, &mut dice);
            let ran = ran(sample, directory, &bytes);
            let there = fs::read(directory.join(sample.file)).unwrap();
            let told = |complaint| {
                let (name, code, said) = (sample.name, ran.code, &ran.stderr);
                format!(
                    "{name}, file {number}: {complaint}: {code}, {said}: {}",
                    super::shown(&bytes)
                )
            };
            complaints.extend(complaint(sample, &ran, there == bytes).map(told));
        }
    }
    super::assert_no(&complaints);
}

/// Files that are read as a whole are read up to a limit, and reaching the limit is reported. 6 GiB of memory are
/// enough for all of them.
#[test]
fn files_without_an_end_are_refused() {
    let directory = super::directory();
    let directory = directory.path();
    // Files without a path, and those that are copied before they are read, are of no use here.
    let samples = samples(directory);
    let files = samples
        .iter()
        .filter(|sample| !["token", stand_in::WRITTEN].contains(&sample.file));
    for sample in files.filter(|_| cfg!(unix)) {
        let path = directory.join(sample.file);
        super::remove(&path);
        super::endless(&path);
        let ran = ended(
            limited(command(directory, sample.arguments)),
            directory,
            sample.name,
        );
        ran.refused(&[sample.told]);
        super::remove(&path);
    }
}

/// Runs the command of the sample with these bytes in its file.
fn ran(sample: &Sample, directory: &Path, bytes: &[u8]) -> Ran {
    fs::write(directory.join(sample.file), bytes).unwrap();
    let text = String::from_utf8_lossy(bytes).replace('\0', " ");
    let arguments = spelled_out(sample.arguments, "FILE", &text);
    let mut command = limited(command(directory, &arguments));
    stand_in::instead_of_cargo(&mut command);
    ended(command, directory, sample.name)
}

/// The command with a limit to its memory, where a shell can set one.
fn limited(command: Command) -> Command {
    if cfg!(not(unix)) {
        return command;
    }
    let mut limited = Command::new("sh");
    limited
        .arg("-c")
        .arg(format!("ulimit -v {MEMORY_KIB_MAX} && exec \"$0\" \"$@\""))
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited.current_dir(command.get_current_dir().expect("it is set"));
    limited
}

/// Runs a command, which must end within the time limit.
fn ended(mut command: Command, directory: &Path, name: &str) -> Ran {
    let (stdout, stderr) = (directory.join("stdout"), directory.join("stderr"));
    let mut child = command
        .stdin(Stdio::null())
        .stdout(File::create(&stdout).unwrap())
        .stderr(File::create(&stderr).unwrap())
        .spawn()
        .unwrap();
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > TIME_MAX {
            child.kill().unwrap();
            panic!("{name}: there is no end");
        }
        thread::sleep(Duration::from_millis(1));
    };
    let text = |path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    Ran {
        code: status
            .code()
            .unwrap_or_else(|| panic!("{name}: {status}: {}", text(&stderr))),
        stdout: text(&stdout),
        stderr: text(&stderr),
    }
}

/// Returns the error in the way in which a file was accepted or refused, if there is one.
fn complaint(sample: &Sample, ran: &Ran, unchanged: bool) -> Option<&'static str> {
    let said = &ran.stderr;
    let is_text = |c: char| c == '\n' || !c.is_control();
    if said.contains("panicked") {
        Some("it panicked")
    } else if sample.taken.contains(&ran.code) {
        None
    } else if ran.code != 2 {
        Some("another exit code")
    } else if !ran.stdout.is_empty() {
        Some("it is refused, and something is printed")
    } else if !said.starts_with("error: ") || !(20..4_000).contains(&said.len()) {
        Some("too little is said, or too much")
    } else if !said.contains(sample.told) {
        Some("which file?")
    } else if !said.chars().all(is_text) {
        Some("this is no text")
    } else if !unchanged {
        Some("what was refused has changed")
    } else {
        None
    }
}

/// A test that is explored with the settings in a file. The test below runs it.
#[intermezzo::test]
fn with_settings() {
    assert!(intermezzo::choose(3) < 3);
}

#[test]
fn tests_read_settings_or_refuse_them() {
    const WHOLE: &str = "executions = 50\n\n[test.\"broken::*::with_settings\"]\nseed = 0x10\n";
    let directory = super::directory();
    let directory = directory.path();
    let file = directory.join("intermezzo.toml");
    let mut dice = Dice(super::SEED);
    let mut refused = 0;
    for number in 0..TRIED {
        let bytes = match number {
            0 => WHOLE.into(),
            _ => damaged(WHOLE.as_bytes(), &[stand_in::SETTINGS.into()], &mut dice),
        };
        fs::write(&file, &bytes).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "broken::processes::with_settings", "--nocapture"])
            .env("INTERMEZZO_CONFIG", &file)
            .current_dir(directory);
        let ran = ended(limited(command), directory, "settings");
        let told = format!("{}:", file.display());
        let fine = match ran.code {
            0 => number == 0 || !ran.stderr.contains(&told),
            101 => number > 0 && ran.stderr.contains(&told),
            _ => false,
        };
        assert!(fine, "file {number}: {}\n{}", ran.stderr, super::shown(&bytes));
        assert_eq!(fs::read(&file).unwrap(), bytes);
        refused += usize::from(ran.code == 101);
    }
    assert!((TRIED / 3..TRIED).contains(&refused), "{refused}");
}
