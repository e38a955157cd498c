//! Every command, run three times: correctly, with a wrong flag or word, and with a damaged file.

use crate::{Ran, command, run, run_in, stand_in};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A command and its expected results. The directory has the files for all commands.
struct Case {
    /// The command itself.
    command: &'static [&'static str],
    /// Arguments with which it succeeds.
    real: &'static [&'static str],
    /// The exit code with these arguments.
    ends_with: i32,
    /// A word that it prints with these arguments.
    prints: &'static str,
    /// Arguments of which one is misspelled, and the error.
    wrong: (&'static [&'static str], &'static [&'static str]),
    /// Arguments with a damaged file, and the error; `None` if the command reads no file.
    broken: Option<(&'static [&'static str], &'static [&'static str])>,
}

const CASES: &[Case] = &[
    Case {
        command: &["test"],
        real: &["--seed", "3"],
        ends_with: 1,
        prints: "1 explored test: 0 passed, 1 failed",
        // Unknown flags are passed on to cargo.
        wrong: (
            &["--reduction", "dpro"],
            &["--reduction", "did you mean `dpor`? "],
        ),
        broken: Some((
            &[],
            &["\"project-test\" is cut or altered", "run the tests again"],
        )),
    },
    Case {
        command: &["run"],
        // The stand-in for cargo has no project to compile.
        real: &["--seed", "3"],
        ends_with: 2,
        prints: "",
        wrong: (
            &["--reduction", "dpro"],
            &["--reduction", "did you mean `dpor`? "],
        ),
        broken: None,
    },
    Case {
        command: &["replay"],
        real: &["schedule.json"],
        ends_with: 1,
        prints: "deadlock",
        wrong: (&["schedule.json", "--jsno"], &["'--jsno'", "'--json'"]),
        broken: Some((
            &["broken"],
            &["\"broken\": byte 0", "take the file from its source again"],
        )),
    },
    Case {
        command: &["merge"],
        real: &["share-1.json", "share-2.json"],
        ends_with: 0,
        prints: "every schedule",
        wrong: (&["share-1.json", "--jsno"], &["'--jsno'", "'--json'"]),
        broken: Some((
            &["broken"],
            &["broken: this is not a report", "give the report of a share"],
        )),
    },
    Case {
        command: &["config"],
        real: &[],
        ends_with: 0,
        prints: "INTERMEZZO_SEED",
        // The flag may be one of cargo's, and only cargo knows these.
        wrong: (
            &["--zebra"],
            &[
                "cargo does not know these arguments (those of the tests come after a second `--`)",
                "`cargo test --zebra`",
            ],
        ),
        broken: Some((
            &[],
            &["\"project-test.json\" cannot be read", "run the command again"],
        )),
    },
    Case {
        command: &["list"],
        real: &[],
        // The stand-in for cargo builds nothing.
        ends_with: 3,
        prints: "",
        wrong: (
            &["--zebra"],
            &["no test was listed", "cargo does not know these arguments"],
        ),
        broken: None,
    },
    Case {
        command: &["worker"],
        // There is no server at this address; without the feature `pool` there is no command either.
        real: &["--pool", "nats://127.0.0.1:1/queue"],
        ends_with: 2,
        prints: "",
        wrong: (&["--pol", "nats://127.0.0.1:1/queue"], &["--pool"]),
        broken: None,
    },
    Case {
        command: &["pool", "status"],
        real: &["--pool", "nats://127.0.0.1:1/queue"],
        ends_with: 2,
        prints: "",
        wrong: (
            &["--pool", "nats://127.0.0.1:1/queue", "--jsno"],
            &["'--jsno'", "'--json'"],
        ),
        broken: None,
    },
    Case {
        command: &["memo", "show"],
        real: &["iroots.memo"],
        ends_with: 0,
        prints: "iRoots: ",
        wrong: (&["iroots.memo", "--jsno"], &["'--jsno'", "'--json'"]),
        broken: Some((&["broken"], &["\"broken\"", "something else than a memo"])),
    },
    Case {
        command: &["memo", "merge"],
        real: &["iroots.memo", "--into", "all.memo"],
        ends_with: 0,
        prints: "all.memo: ",
        wrong: (&["iroots.memo", "--inot", "all.memo"], &["'--inot'", "'--into'"]),
        broken: Some((
            &["broken", "--into", "all.memo"],
            &["\"broken\"", "something else than a memo"],
        )),
    },
    Case {
        command: &["memo", "forget"],
        real: &["iroots.memo", "--tried"],
        ends_with: 0,
        prints: "iRoots removed",
        wrong: (
            &["iroots.memo", "1f0c"],
            &["`1f0c` is not an iRoot", "eight digits"],
        ),
        broken: Some((
            &["broken", "--tried"],
            &["\"broken\"", "something else than a memo"],
        )),
    },
    Case {
        command: &["explain"],
        real: &["deadlock"],
        ends_with: 0,
        prints: "no task can continue",
        wrong: (&["deadlok"], &["\"deadlok\"", "give one of assertion, "]),
        broken: None,
    },
    Case {
        command: &["tune"],
        real: &["counter", "--strategies", "dfs", "--out", "results"],
        ends_with: 0,
        prints: "counter",
        wrong: (
            &["conter", "--strategies", "dfs"],
            &["\"conter\"", "did you mean `counter`"],
        ),
        broken: Some((
            &["counter", "--strategies", "dfs", "--out", "broken-results"],
            &["broken-results/results.jsonl", "give --out another path"],
        )),
    },
    Case {
        command: &["view"],
        real: &["report.json", "--open", "no"],
        ends_with: 0,
        prints: "",
        wrong: (&["report.json", "--format", "htlm"], &["'htlm'", "'html'"]),
        broken: Some((&["broken"], &["broken", "from byte 0 on", "--reports DIR"])),
    },
    Case {
        command: &["corpus", "list"],
        real: &[],
        ends_with: 0,
        prints: "work_stealing_queue",
        wrong: (&["--jsn"], &["'--jsn'", "'--json'"]),
        broken: None,
    },
    Case {
        command: &["corpus", "run"],
        real: &["abba"],
        ends_with: 1,
        prints: "deadlock",
        wrong: (
            &["abba", "--premptions", "2"],
            &["'--premptions'", "'--preemptions'"],
        ),
        broken: Some((
            &["abba", "--checkpoint", "broken"],
            &["\"broken\"", "give another path"],
        )),
    },
    Case {
        command: &["breakpoints", "corpus"],
        real: &["lostupd", "--runs", "5"],
        ends_with: 1,
        prints: "FAILS",
        wrong: (&["lostup"], &["\"lostup\"", "did you mean `lostupd`"]),
        broken: None,
    },
    Case {
        command: &["breakpoints", "tests"],
        real: &["--runs", "5"],
        // The stand-in for cargo has no such test.
        ends_with: 2,
        prints: "",
        wrong: (&["--rnus", "5"], &["'--rnus'", "'--runs'"]),
        broken: Some((
            &["--runs", "5"],
            &["\"project-test\" is cut or altered", "run the tests again"],
        )),
    },
    Case {
        command: &["history", "check"],
        real: &["history.log", "--spec", "stack"],
        ends_with: 0,
        prints: "linearizable: 2 operations of a stack",
        wrong: (
            &["history.log", "--spec", "stak"],
            &["\"stak\"", "did you mean `stack`"],
        ),
        broken: Some((
            &["broken", "--spec", "stack"],
            &["\"broken\"", "byte 0 is not UTF-8"],
        )),
    },
    Case {
        command: &["monitor", "list"],
        real: &[],
        ends_with: 0,
        prints: "data-race",
        wrong: (&["--jsn"], &["'--jsn'", "'--json'"]),
        broken: None,
    },
    Case {
        command: &["monitor", "new"],
        real: &["no-relaxed", "--c"],
        ends_with: 0,
        prints: "no-relaxed",
        wrong: (&["no relaxed"], &["no relaxed", "letters"]),
        broken: Some((&["broken"], &["broken", "another name"])),
    },
    Case {
        command: &["monitor", "check"],
        real: &["history.log"],
        ends_with: 1,
        prints: "not a loadable monitor",
        wrong: (
            &["history.log", "--argument", "x"],
            &["'--argument'", "'--arguments'"],
        ),
        broken: Some((&["nowhere.so"], &["nowhere.so", "give"])),
    },
];

/// Creates a directory with the files that the commands read.
fn scene() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let report = run_in(
        path,
        &[
            "corpus",
            "run",
            "abba",
            "--json",
            "--schedule-out",
            "schedule.json",
        ],
    );
    fs::write(path.join("report.json"), report.ends_with(1).stdout).unwrap();
    for share in ["1", "2"] {
        let partition = format!("{share}/2");
        let arguments = ["--strategy", "dfs", "--partition", &partition, "--json"];
        let ran = run_in(path, &[&["corpus", "run", "counter"], &arguments[..]].concat());
        fs::write(path.join(format!("share-{share}.json")), ran.ends_with(0).stdout).unwrap();
    }
    fs::write(
        path.join("history.log"),
        "[1] call push(1)\n[2] call pop\n[1] return\n[2] return 1\n",
    )
    .unwrap();
    let search = ["--strategy", "maple(memo=iroots.memo)"];
    run_in(path, &[&["corpus", "run", "fai-ok"], &search[..]].concat()).ends_with(0);
    fs::write(path.join("broken"), BROKEN).unwrap();
    fs::create_dir(path.join("broken-results")).unwrap();
    fs::write(path.join("broken-results/results.jsonl"), BROKEN).unwrap();
    stand_in::install(path);
    directory
}

/// Contents that no command accepts.
const BROKEN: &[u8] = b"\xff\x00PNG";

/// Runs the command with these arguments, with or without the files that tests would have written.
fn ran(case: &Case, directory: &Path, arguments: &[&str], written: Option<&[u8]>) -> Ran {
    if let Some(written) = written {
        fs::write(directory.join(stand_in::WRITTEN), written).unwrap();
    }
    let mut command = command(directory, &[case.command, arguments].concat());
    stand_in::instead_of_cargo(&mut command);
    Ran::of(&mut command)
}

#[test]
fn every_command_succeeds() {
    let directory = scene();
    let report = fs::read(directory.path().join("report.json")).unwrap();
    for case in CASES {
        let written = if case.command == ["config"] {
            stand_in::SETTINGS.as_bytes()
        } else {
            &report
        };
        let ran = ran(case, directory.path(), case.real, Some(written)).ends_with(case.ends_with);
        let (command, said) = (case.command, format!("{}{}", ran.stdout, ran.stderr));
        assert!(
            ran.stdout.contains(case.prints),
            "{command:?} prints no {:?}: {said}",
            case.prints
        );
        assert!(!ran.stderr.contains("internal error"), "{command:?}: {said}");
    }
}

#[test]
fn every_command_refuses_a_misspelled_word() {
    let directory = scene();
    for case in CASES {
        let (arguments, says) = case.wrong;
        ran(case, directory.path(), arguments, None).refused(says);
    }
}

#[test]
fn every_command_refuses_a_damaged_file() {
    let directory = scene();
    for case in CASES {
        if let Some((arguments, says)) = case.broken {
            ran(case, directory.path(), arguments, Some(b"{\"format\"")).refused(says);
        }
    }
    assert_eq!(fs::read(directory.path().join("broken")).unwrap(), BROKEN);
    assert_eq!(
        fs::read(directory.path().join("broken-results/results.jsonl")).unwrap(),
        BROKEN
    );
}

/// Returns the commands without subcommands, as the help lists them.
fn leaves(command: &[String]) -> BTreeSet<Vec<String>> {
    let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
    arguments.push("-h");
    let help = run(&arguments).ends_with(0).stdout;
    let Some((_, commands)) = help.split_once("\nCommands:\n") else {
        return BTreeSet::from([command.to_vec()]);
    };
    let lines = commands.lines().take_while(|line| line.starts_with("  "));
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .flat_map(|name| leaves(&[command, &[name.to_owned()]].concat()))
        .collect()
}

#[test]
fn no_command_is_left_out() {
    let tried: BTreeSet<Vec<String>> = CASES
        .iter()
        .map(|case| case.command.iter().map(|&word| word.to_owned()).collect())
        .collect();
    assert_eq!(tried, leaves(&[]));
}
