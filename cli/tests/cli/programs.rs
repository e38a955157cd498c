//! `run`: programs of a project, explored as a whole.

mod sources;

use crate::unmodified::{prepared, project_of, run, run_with};
use crate::{Ran, throw_away, view};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Makes a project with these programs, by name and source.
fn project(name: &str, programs: &[(&str, &str)]) -> PathBuf {
    let project = project_of(name, "", "");
    for (name, source) in programs {
        throw_away::write(&project.join(format!("src/bin/{name}.rs")), source);
    }
    project
}

/// Explores a program, and returns its report.
#[track_caller]
fn explored(project: &Path, code: i32, arguments: &[&str]) -> (Ran, Value) {
    let ran = run(project, &[&["run", "--json"], arguments].concat()).ends_with(code);
    let all = ran.json();
    let reports = all["reports"].as_array().unwrap();
    assert_eq!(reports.len(), 1, "{all:#}");
    let report = reports[0].clone();
    (ran, report)
}

/// Returns the commands for replays in this text.
fn replays(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| line.starts_with("cargo intermezzo replay imz"))
        .collect()
}

/// Runs the command that a run has printed for a replay.
#[track_caller]
fn replayed(project: &Path, ran: &Ran) -> Ran {
    let replays = replays(&ran.stderr);
    copied(
        project,
        replays.first().unwrap_or_else(|| panic!("{}", ran.stderr)),
        &[],
    )
}

/// Runs a command that was copied, in a shell, with `--json`.
#[track_caller]
fn copied(project: &Path, line: &str, variables: &[(&str, &str)]) -> Ran {
    let words = line.strip_prefix("cargo intermezzo ");
    let (word, rest) = words.and_then(|words| words.split_once(' ')).expect(line);
    let command = prepared(project, &[], variables);
    let script = format!("exec \"$0\" intermezzo {word} --json {rest}");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &script])
        .arg(command.get_program())
        .current_dir(project);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    Ran::of(&mut shell)
}

#[test]
fn failures_of_programs_are_found_and_replayed() {
    let project = project(
        "failing",
        &sources::FAILING.map(|(name, source, ..)| (name, source)),
    );
    for (name, _, kind, says) in sources::FAILING {
        let (ran, report) = explored(&project, 1, &["--bin", name]);
        assert_eq!(report["program"], format!("{name}::main"));
        let finding = &report["findings"][0];
        let message = finding["message"].as_str().unwrap();
        assert_eq!(finding["kind"], kind, "{name}: {report:#}");
        assert!(message.contains(says), "{name}: {message}");
        let again = replayed(&project, &ran).ends_with(1);
        assert_eq!(
            again.json()["findings"][0]["message"],
            finding["message"],
            "{name}"
        );
        assert_eq!(again.json()["coverage"]["as_recorded"], true, "{name}");
    }
    // Without --json, the report and the table are printed.
    let ran = run(&project, &["run", "--bin", "returns_code"]).ends_with(1);
    assert!(
        ran.stdout.contains("\n1 explored program: 0 passed, 1 failed"),
        "{}",
        ran.stdout
    );
    for says in [
        "error[panic]: `main`, at [1], returned ExitCode",
        "\n[1] src/bin/returns_code.rs:7:4\n",
    ] {
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    }
}

/// All failures that `main` returns are at one place, but a baseline distinguishes them.
#[test]
fn a_baseline_knows_one_failure_of_main_and_not_another() {
    let source =
        "fn main() -> Result<(), String> {\n    Err(std::env::args().nth(1).unwrap_or_default())\n}\n";
    let project = project("failing_twice", &[("fails", source)]);
    let known = ["run", "--bin", "fails", "--baseline", "known.toml"];
    let with = |more: &[&str]| run(&project, &[&known[..], more].concat());
    with(&["--update-baseline", "--", "one"]).ends_with(0);
    with(&["--", "one"]).ends_with(0);
    with(&["--", "other"]).ends_with(1);
}

#[test]
fn programs_that_end_well_pass() {
    let project = project("ending", &sources::ENDING.map(|(name, source, _)| (name, source)));
    for (name, _, executions) in sources::ENDING {
        let (_, report) = explored(&project, 0, &["--bin", name]);
        // Fair scheduling leaves out schedules in which a loop continues for ever.
        let is_whole = report["coverage"]["kind"] == "exhaustive";
        assert!(is_whole || *name == *"leaves_threads", "{name}: {report:#}");
        assert_eq!(report["findings"], serde_json::json!([]), "{name}: {report:#}");
        let ran = report["executions"].as_u64().unwrap();
        match executions {
            Some(exactly) => assert_eq!(ran, exactly, "{name}"),
            None => assert!(ran > 1, "{name}"),
        }
    }
    // A real program would end with this panic.
    run_with(
        &project,
        &["run", "--bin", "catches"],
        &[("CARGO_PROFILE_DEV_PANIC", "abort")],
    )
    .ends_with(0);
}

/// The end of a program is a step like others: everything that other threads can do before it is explored, with every
/// reduction.
#[test]
fn other_threads_may_continue_until_a_program_ends() {
    let project = project(
        "cutting",
        &sources::CUTTING.map(|(name, source, _)| (name, source)),
    );
    for (name, _, fails) in sources::CUTTING {
        for reduction in ["none", "caching", "dpor", "source-dpor"] {
            let arguments = ["--bin", name, "--strategy", "dfs", "--reduction", reduction];
            let (_, report) = explored(&project, i32::from(fails), &arguments);
            assert_eq!(
                report["verdict"],
                if fails { "fail" } else { "pass" },
                "{name} {reduction}"
            );
            let is_told = report
                .to_string()
                .contains("the program ended while other threads could continue");
            assert!(!is_told || reduction.ends_with("dpor"), "{name} {reduction}");
            assert!(is_told || fails || !reduction.ends_with("dpor"), "{report:#}");
        }
    }
}

#[test]
fn programs_see_their_arguments_and_print_in_replays_only() {
    let project = project("speaking", &[("says", sources::SAYS)]);
    let arguments = ["--bin", "says", "--", "a b", "--seed", "$HOME", "--nocapture"];
    let (ran, report) = explored(&project, 1, &arguments);
    let message = report["findings"][0]["message"].as_str().unwrap();
    assert!(
        message.contains(r#"["a b", "--seed", "$HOME", "--nocapture"]"#),
        "{message}"
    );
    // The program's own stderr is not hidden.
    assert!(ran.stderr.contains("always"), "{}", ran.stderr);
    let hidden = ["by a macro", "by the stream", "to the end"];
    for line in hidden {
        assert!(
            !ran.stdout.contains(line) && !ran.stderr.contains(line),
            "{}",
            ran.stderr
        );
    }
    let again = replayed(&project, &ran).ends_with(1);
    assert_eq!(again.json()["findings"][0]["message"], message);
    for line in hidden {
        assert_eq!(again.stderr.matches(line).count(), 1, "{}", again.stderr);
    }
}

/// The replay command is complete in each form in which a finding is shown, and replays that finding.
#[test]
fn each_form_of_a_finding_has_its_whole_replay() {
    let project = project("copied", &[("needs", sources::NEEDS)]);
    let search = ["--reports", "reports", "--view", "page.html", "--verbose"];
    let around = ["--set-up", "mkdir data", "--tear-down", "rm -r 'data'"];
    let cargo = ["--bin", "needs", "--", "it's $HOME"];
    let ran = run(&project, &[&["run"], &search[..], &around, &cargo].concat()).ends_with(1);
    let view = |to: &[&str]| run(&project, &[&["view", "reports", "--out"], to].concat()).ends_with(0);
    view(&["all.html", "--open", "no"]);
    let junit = view(&["-", "--format", "junit"]).stdout;
    let junit = junit.replace("&apos;", "'").replace("&amp;", "&");
    let page = |name| view::contents(&fs::read_to_string(project.join(name)).unwrap());
    let pages = [page("page.html"), page("all.html")];
    let of_page = |page: &Value| {
        let report = &page["reports"][0];
        [&report["findings"][0]["replay"], &report["run"]].map(|command| command.as_str().unwrap().to_owned())
    };
    let [replay, again] = of_page(&pages[0]);
    assert_eq!(of_page(&pages[1]), [replay.clone(), again.clone()]);
    for form in [&ran.stdout, &ran.stderr, &junit] {
        assert_eq!(replays(form), [&replay], "{form}");
    }
    let report = fs::read_to_string(project.join("reports/needs--main.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let words = report["replay_with"].as_array().unwrap().iter();
    let words: Vec<&str> = words.map(|word| word.as_str().unwrap()).collect();
    assert!(replay.ends_with(&format!(" {}", words.join(" "))), "{replay}");
    let token = report["findings"][0]["schedule"].as_str().unwrap();
    for (command, code) in [
        (&*replay, 1),
        (&again, 1),
        (&format!("cargo intermezzo replay {token}"), 0),
    ] {
        let ran = copied(&project, command, &[]).ends_with(code);
        let shows = ran.stdout.contains("all is there");
        assert_eq!(shows, code == 1, "{command}: {}", ran.stdout);
    }
}

/// If an execution ended the process, the next run shows the command that repeats it, with the program's arguments.
#[cfg(unix)]
#[test]
fn an_execution_that_ended_the_process_is_run_again() {
    let project = project("dying", &[("dies", sources::DIES)]);
    let arguments = ["--bin", "dies", "--", "it dies"];
    run(&project, &[&["run"], &arguments[..]].concat()).refused(&["the process ended early"]);
    let (_, report) = explored(&project, 0, &arguments);
    let note = report["notes"].to_string();
    let (_, command) = note.split_once("as its process did: `").expect(&note);
    let (command, _) = command.split_once('`').unwrap();
    let died = project.join("died");
    fs::remove_file(&died).unwrap();
    copied(&project, command, &[]).ends_with(2);
    assert!(died.exists(), "{command}");
}

#[test]
fn any_source_of_a_program_is_explored() {
    let project = project_of("sourced", "", "pub fn two() -> u32 { 2 }\n");
    let write = |file: &str, text: &str| throw_away::write(&project.join(file), text);
    write("src/main.rs", sources::STRICT);
    write(
        "src/part.rs",
        "//! A part.\n\n/// Its name.\npub(crate) const NAME: &str = include_str!(\"name.txt\");\n",
    );
    write("src/name.txt", "part");
    write(
        "examples/small.rs",
        "#!/usr/bin/env run\nfn main() {\n    assert_eq!(sourced::two(), 3);\n}\n",
    );
    let (_, report) = explored(&project, 0, &[]);
    assert_eq!(report["program"], "sourced::main");
    // A changed file is compiled again.
    write("src/main.rs", &sources::STRICT.replace("\"part\"", "\"whole\""));
    let (ran, report) = explored(&project, 1, &[]);
    let message = report["findings"][0]["message"].as_str().unwrap();
    assert!(message.contains("src/main.rs:17:5: assertion"), "{message}");
    assert_eq!(
        replayed(&project, &ran).ends_with(1).json()["findings"][0]["message"],
        message
    );
    let (ran, report) = explored(&project, 1, &["--example", "small"]);
    let message = report["findings"][0]["message"].as_str().unwrap();
    assert!(message.contains("examples/small.rs:3:5: assertion"), "{message}");
    replayed(&project, &ran).ends_with(1);
    let manifest = fs::read_to_string(project.join("Cargo.toml")).unwrap();
    write("src/main.rs", "fn main() {}\n");
    for edition in ["2015", "2018", "2021"] {
        let edition = format!("edition = {edition:?}");
        write("Cargo.toml", &manifest.replace("edition = \"2024\"", &edition));
        explored(&project, 0, &[]);
    }
}

#[test]
fn set_up_and_tear_down_run_around_each_execution() {
    let project = project("around", &[("files", sources::FILES)]);
    let log = project.join("log");
    let (set_up, tear_down) = (
        "echo 'it begins' >> log && mkdir data",
        "echo 'it ends' >> log && rm -r data",
    );
    let around = ["--bin", "files", "--set-up", set_up, "--tear-down", tear_down];
    // The program finds its bug only if the directory exists and is empty.
    let (ran, report) = explored(&project, 1, &around);
    let message = report["findings"][0]["message"].as_str().unwrap();
    assert!(message.contains("an update is lost"), "{message}");
    let executions = report["executions"].as_u64().unwrap() as usize;
    let counts = || {
        let text = fs::read_to_string(&log).unwrap();
        ["it begins", "it ends"].map(|line| text.lines().filter(|known| *known == line).count())
    };
    let [begun, ended] = counts();
    assert!(
        begun == ended && begun >= executions && executions > 1,
        "{begun}, {ended}, {executions}"
    );
    assert!(!project.join("data").exists());
    let again = replayed(&project, &ran).ends_with(1).json();
    assert_eq!(again["findings"][0]["message"], message);
    assert!(counts()[0] > begun);

    let refused = |arguments: &[&str], says: &[&str]| {
        run(
            &project,
            &[&["run", "--bin", "files", "--json"], arguments].concat(),
        )
        .ends_with(2);
        let ran = run(&project, &[&["run", "--bin", "files"], arguments].concat()).ends_with(2);
        for says in says {
            assert!(ran.stderr.contains(says), "{says:?} is not in:\n{}", ran.stderr);
        }
    };
    refused(
        &["--set-up", "echo 'no room' >&2; exit 3"],
        &[
            "error: files::main cannot be explored: the set-up command `echo 'no room' >&2; exit 3` failed: exit status: 3\nno room\n",
        ],
    );
    // The search stops after some executions.
    fs::remove_file(&log).unwrap();
    let third = "echo x >> log && test $(wc -l < log) -lt 3 && mkdir data";
    refused(
        &["--set-up", third, "--tear-down", "rm -r data"],
        &["the set-up command", "exit status: 1"],
    );
    fs::remove_file(&log).unwrap();
    refused(
        &["--set-up", "mkdir -p data", "--tear-down", "false"],
        &["the tear-down command `false` failed", "error[panic]"],
    );
}

/// The commands and each execution run in the directory and with the variables with which the program began. The commands
/// may begin with a dash, leave a process behind, and see none of our variables.
#[cfg(unix)]
#[test]
fn executions_and_their_commands_begin_as_the_program_did() {
    let project = project("moving", &[("moves", sources::MOVES)]);
    let set_up = "-x 2>&1 || test -f Cargo.toml && test -z \"$CARGO_TARGET_DIR$CARGO_BUILD_BUILD_DIR$INTERMEZZO_SET_UP\" \
                  && { sleep 600 & echo $! > pid; }";
    let tear_down = "test -f Cargo.toml && test $MOVED = no && kill $(cat pid)";
    let set_up = format!("--set-up={set_up}");
    let around = [
        "run",
        "--bin",
        "moves",
        "--json",
        &set_up,
        "--tear-down",
        tear_down,
    ];
    let ran = run_with(&project, &around, &[("MOVED", "no")]).ends_with(1);
    let report = &ran.json()["reports"][0];
    let message = report["findings"][0]["message"].as_str().unwrap();
    assert!(message.contains("src/bin/moves.rs:25:"), "{message}");
    assert!(report["executions"].as_u64() > Some(1), "{report:#}");
    // A replay is run with another environment.
    fs::remove_file(project.join("variables")).unwrap();
    let line = replays(&ran.stderr)[0].to_owned();
    let again = copied(&project, &line, &[("MOVED", "no")]).ends_with(1).json();
    assert_eq!(again["findings"][0]["message"], message);
}

/// A command that hangs is named after some seconds. At the limit it is ended with all processes that it has started.
#[cfg(unix)]
#[test]
fn a_command_that_hangs_is_ended() {
    let project = project("hanging", &[("files", sources::FILES)]);
    let refused = |around: &[&str], says: &[&str]| {
        let ran = run(&project, &[&["run", "--bin", "files"], around].concat()).ends_with(2);
        for says in says {
            assert!(ran.stderr.contains(says), "{says:?} is not in:\n{}", ran.stderr);
        }
    };
    let hangs = "mkdir data; echo 'it waits' >&2; sleep 600 & echo $! > pid; sleep 600";
    let begun = Instant::now();
    refused(
        &["--set-up", hangs, "--command-limit", "5.5"],
        &[
            "intermezzo: files::main: the set-up command `mkdir data; ",
            "` is still running, and will be ended after 5.5 seconds\n",
            "error: files::main cannot be explored: the set-up command `mkdir data; ",
            "` was ended, because it ran for longer than 5.5 seconds: start long-running processes in the background (`SERVER &`), or \
             give it more time by `--command-limit`\nit waits\n",
        ],
    );
    assert!(begun.elapsed() < Duration::from_secs(300));
    let left = fs::read_to_string(project.join("pid")).unwrap();
    let alive = Command::new("ps")
        .args(["-o", "stat=", "-p", left.trim()])
        .output()
        .unwrap();
    let state = String::from_utf8(alive.stdout).unwrap();
    assert!(state.is_empty() || state.starts_with('Z'), "{state}");
    refused(
        &[
            "--set-up",
            "mkdir -p data",
            "--tear-down",
            "rm -r data; sleep 600",
            "--command-limit",
            "0.3",
        ],
        &[
            "the tear-down command `rm -r data; sleep 600` was ended",
            "error[",
        ],
    );
    run(&project, &["run", "--bin", "files", "--command-limit", "soon"]).refused(&["`soon` is not a time"]);
}

#[test]
fn a_program_that_uses_intermezzo_is_refused() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let project = project_of(
        "user",
        &format!("[dependencies]\nintermezzo = {{ path = {root:?} }}\n"),
        "",
    );
    throw_away::write(&project.join("src/main.rs"), "fn main() {}\n");
    let ran = run(&project, &["run"]).ends_with(2);
    let says = "user::main cannot be explored: it uses intermezzo itself: run it by `cargo run`\n";
    assert!(ran.stderr.contains(says), "{}", ran.stderr);
}

#[test]
fn programs_are_chosen_as_by_cargo() {
    let several = project("several", &[("one", "fn main() {}\n"), ("two", "fn main() {\n")]);
    run(&several, &["run"]).refused(&[
        "available binaries: one, two",
        "`--bin`",
        "the program was not explored",
    ]);
    run(&several, &["run", "--bin", "three"])
        .refused(&["no bin target named `three`", "the program was not explored"]);
    run(&several, &["run", "--bin", "two"]).refused(&["unclosed delimiter", "the project does not build"]);
    run(&several, &["run", "--bin", "two", "--quiet"]).refused(&["unclosed delimiter"]);
    run(&several, &["run", "--bin", "one"]).ends_with(0);
    let none = project("programless", &[]);
    run(&none, &["run"]).refused(&["a bin target must be available", "the program was not explored"]);
    throw_away::write(
        &none.join("src/lib.rs"),
        "#[test]\nfn it_fails() {\n    panic!(\"always\")\n}\n",
    );
    let tests = run(&none, &["test", "--unmodified", "--json"])
        .ends_with(1)
        .json();
    let token = tests["reports"][0]["findings"][0]["schedule"].as_str().unwrap();
    run(&none, &["replay", token, "--set-up", "true"]).refused(&["`--set-up` is for programs"]);
    throw_away::write(&none.join("intermezzo.toml"), "executions = \"many\n");
    run(&none, &["config"]).refused(&["intermezzo.toml:1:"]);
}

#[test]
#[cfg_attr(
    not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
    ignore = "memory is watched on Linux only"
)]
fn data_races_of_programs_are_found() {
    let project = project("unsynchronised", &[("racy", sources::RACY)]);
    let (ran, report) = explored(&project, 1, &["--bin", "racy", "--races"]);
    let finding = &report["findings"][0];
    assert_eq!(finding["kind"], "data_race", "{report:#}");
    let message = finding["message"].as_str().unwrap();
    assert!(message.contains("src/bin/racy.rs:6:"), "{message}");
    replayed(&project, &ran).ends_with(1);
}

/// The compiler's errors are about the program as it is, even those about its `main`.
#[test]
fn compiler_errors_are_about_the_users_program() {
    let project = project(
        "uncompiled",
        &sources::UNCOMPILED.map(|(name, source, _)| (name, source)),
    );
    for (name, _, says) in sources::UNCOMPILED {
        let ran = run(&project, &["run", "--bin", name]).ends_with(2);
        let stderr = &ran.stderr;
        assert_eq!(
            stderr.matches(says).count(),
            1,
            "{says:?} is not once in:\n{stderr}"
        );
        let of_ours = ["explore_main", "__intermezzo", "overlay"];
        let is_ours = of_ours.iter().any(|word| stderr.contains(word));
        assert!(!is_ours || name == "without_std", "{stderr}");
    }
}

/// cargo refuses a wrong flag before the overlays are built, which takes minutes.
#[test]
fn a_wrong_flag_is_refused_first() {
    let project = project("mistaken", &[("one", "fn main() {}\n")]);
    let cache = tempfile::tempdir().unwrap();
    let variables = [("INTERMEZZO_CACHE", cache.path().to_str().unwrap())];
    for command in [&["run"][..], &["test", "--unmodified"]] {
        let ran = run_with(&project, &[command, &["--frobnicate"]].concat(), &variables).ends_with(2);
        let stderr = &ran.stderr;
        assert_eq!(
            stderr.matches("unexpected argument '--frobnicate'").count(),
            1,
            "{stderr}"
        );
        assert!(!stderr.contains("building intermezzo"), "{stderr}");
        assert!(
            stderr.contains("see cargo's messages above for `cargo "),
            "{stderr}"
        );
    }
}

/// Returns the verdict of a report, and the places in the library that its findings name. Findings at one place are one,
/// with the message of the execution that came first.
fn facts(report: &Value) -> (Value, BTreeSet<String>) {
    let findings = report["findings"].as_array().unwrap().iter();
    let words = findings.flat_map(|finding| finding["message"].as_str().unwrap().split(' '));
    let places = words.filter(|word| word.starts_with("src/lib.rs:"));
    (report["verdict"].clone(), places.map(str::to_owned).collect())
}

/// Random bodies have the same executions and findings as the `main` of a program and as a test; and if threads are left
/// when `main` returns, the same findings with and without a reduction.
#[test]
fn a_body_is_explored_alike_as_a_program_and_as_a_test() {
    let project = project_of("alike", "", sources::RANDOM);
    throw_away::write(&project.join("src/main.rs"), sources::RANDOM_MAIN);
    let report = |command: &[&str], reduction: &str, end: &[&str], seed: &str| {
        let search = [
            "--json",
            "--strategy",
            "dfs",
            "--keep-going",
            "--reduction",
            reduction,
        ];
        let ran = run_with(&project, &[command, &search, end].concat(), &[("SEED", seed)]);
        ran.json()["reports"][0].clone()
    };
    let (mut failing, mut left) = (0, 0);
    for number in 0..SEEDS {
        let seed = &number.to_string();
        let reduced = report(&["run"], "dpor", &["--", seed], seed);
        assert_eq!(reduced["coverage"]["kind"], "exhaustive", "{seed}: {reduced:#}");
        failing += u32::from(reduced["verdict"] == "fail");
        let whole = report(&["run"], "none", &["--", seed], seed);
        assert_eq!(facts(&reduced), facts(&whole), "{seed}");
        if number % 2 == 1 {
            left += 1;
            continue;
        }
        let test = report(&["test", "--unmodified", "--lib"], "dpor", &[], seed);
        assert_eq!(test["executions"], reduced["executions"], "{seed}");
        assert_eq!(facts(&test), facts(&reduced), "{seed}");
    }
    assert!(failing > 3 && failing < SEEDS && left > 3, "{failing}, {left}");
}

/// Random programs that end while threads could continue, with a lock that may stay locked, have the same findings with
/// each reduction, and with a bound.
#[test]
fn reductions_lose_nothing_at_the_end_of_a_program() {
    let project = project_of("cut_short", "", sources::RANDOM);
    throw_away::write(
        &project.join("src/main.rs"),
        &sources::RANDOM_MAIN.replace("alike", "cut_short"),
    );
    let report = |search: &[&str], seed: &str| {
        let begin = ["run", "--json", "--strategy", "dfs", "--keep-going"];
        let ran = run(&project, &[&begin, search, &["--", seed, "cut"]].concat());
        ran.json()["reports"][0].clone()
    };
    let mut failing = 0;
    for number in 0..CUT_SEEDS {
        let seed = &number.to_string();
        let whole = report(&["--reduction", "none"], seed);
        assert_eq!(whole["coverage"]["kind"], "exhaustive", "{seed}: {whole:#}");
        failing += u32::from(whole["verdict"] == "fail");
        for reduction in ["caching", "dpor", "source-dpor"] {
            let reduced = report(&["--reduction", reduction], seed);
            assert_eq!(facts(&reduced), facts(&whole), "{seed} {reduction}");
        }
        let bound = ["--preemptions", "1", "--reduction"];
        let whole = report(&[&bound[..], &["none"]].concat(), seed);
        for reduction in ["caching", "dpor"] {
            let reduced = report(&[&bound[..], &[reduction]].concat(), seed);
            assert_eq!(facts(&reduced), facts(&whole), "{seed} {reduction} with a bound");
        }
    }
    assert!(failing > 2 && failing < CUT_SEEDS, "{failing}");
}

/// The number of random programs that are cut off.
const CUT_SEEDS: u32 = 10;

/// The number of random bodies.
const SEEDS: u32 = 16;
