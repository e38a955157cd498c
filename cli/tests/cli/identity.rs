//! The test to which a schedule belongs, and the settings that it carries, in a workspace where two packages have a
//! test of the same name, and a third one does not explore. This is one test, because each step needs the build of the
//! last.

use crate::{Ran, command, findings, run_in, throw_away, token};
use intermezzo::Schedule;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The test of the same name in two packages. Only the value differs.
const LOST: &str = r#"
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::thread;

#[intermezzo::test]
fn lost() {
    let n = AtomicUsize::new(VALUE);
    thread::scope(|scope| {
        scope.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
        n.store(n.load(SeqCst) + 1, SeqCst);
    });
    assert_eq!(n.load(SeqCst), VALUE + 2);
}
"#;

/// A data race that the test's own assertions do not see.
const RACES: &str = r#"
use intermezzo::cell::{ByPointer, UnsafeCell};
use intermezzo::thread;

struct Shared(UnsafeCell<u32>);
// SAFETY: none; that is the bug.
unsafe impl Sync for Shared {}

#[intermezzo::test]
fn races() {
    let shared = Shared(UnsafeCell::new(0));
    let shared = &shared;
    thread::scope(|scope| {
        // SAFETY: none, here and below: the two race.
        scope.spawn(move || shared.0.with_mut(|value| unsafe { *value += 1 }));
        shared.0.with_mut(|value| unsafe { *value += 1 });
    });
}
"#;

const PANICS: &str = r#"
#[intermezzo::test]
#[should_panic(expected = "an odd one")]
fn as_it_should() {
    assert!(intermezzo::choose(3) % 2 == 0, "an odd one");
}

#[should_panic]
#[intermezzo::test]
fn never() {
    intermezzo::choose(2);
}

#[intermezzo::test]
#[should_panic(expected = "an even one")]
fn otherwise() {
    assert!(intermezzo::choose(3) % 2 == 0, "an odd one");
}
"#;

const CASES: &str = r#"
#[intermezzo::test(args(last = 1..=2), contexts(all(reduction = "dpor"), some(strategy = "random", executions = 50)))]
fn chosen(last: usize) {
    assert!(intermezzo::choose(last + 1) < 2, "too much");
}

#[intermezzo::test(expect(panic = "too much"))]
fn as_declared() {
    assert!(intermezzo::choose(3) < 2, "too much");
}
"#;

/// A test whose result depends on the schedule.
const RESULTS: &str = r#"
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::thread;

#[intermezzo::test(deterministic)]
fn one_of_two() -> usize {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
        n.store(n.load(SeqCst) + 1, SeqCst);
    });
    n.load(SeqCst)
}

#[intermezzo::test(deterministic)]
fn always_two() -> Result<usize, String> {
    Ok(2)
}
"#;

const MISDECLARED: &str = r#"
#[intermezzo::test(expect(executions = 3, trace = 3))]
fn wrongly() {}
"#;

const PLAIN: &str = r#"
#[cfg(test)]
mod tests {
    #[intermezzo::test(expect(deadlock))]
    fn waits_for_ever() { loop { std::thread::park() } }

    #[intermezzo::test(args(n = 1..=2), expect(executions = 7))]
    fn has_cases(n: u8) { assert_ne!(n, 3) }

    #[intermezzo::test]
    fn runs_once() {}

    #[intermezzo::test(deterministic)]
    fn returns() -> Result<u8, ()> { Ok(1) }

    #[intermezzo::test]
    #[should_panic(expected = "as it should")]
    fn panics() { panic!("as it should") }
}
"#;

fn new_workspace() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let ours = |explore| format!("intermezzo = {{ path = {workspace:?}, features = [{explore}] }}\n");
    let explored = format!("[dev-dependencies]\n{}", ours("\"explore\""));
    let members = "members = [\"two\", \"plain\"]\n";
    let project = throw_away::project(workspace, place, "one", &format!("{members}{explored}"));
    let package = |name| format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n");
    let plain = format!("{}[dependencies]\n{}", package("plain"), ours(""));
    for (file, text) in [
        ("src/lib.rs", ""),
        ("tests/a.rs", &LOST.replace("VALUE", "0")),
        ("tests/races.rs", RACES),
        ("tests/panics.rs", PANICS),
        ("tests/cases.rs", CASES),
        ("tests/results.rs", RESULTS),
        ("tests/misdeclared.rs", MISDECLARED),
        ("two/Cargo.toml", &format!("{}{explored}", package("two"))),
        ("two/src/lib.rs", ""),
        ("two/tests/a.rs", &LOST.replace("VALUE", "40")),
        ("plain/Cargo.toml", &plain),
        ("plain/src/lib.rs", PLAIN),
    ] {
        throw_away::write(&project.join(file), text);
    }
    project
}

#[test]
fn a_schedule_belongs_to_one_test_and_carries_its_settings() {
    let project = &new_workspace();
    let run = |arguments: &[&str]| run_in(project, arguments);
    tests_of_one_name_are_distinguished(&run, project);
    monitors_are_carried(&run, project);
    panics_may_be_expected(&run, project);
    each_case_is_a_test(&run);
    results_may_have_to_be_the_same(&run, project);
    tests_that_are_not_explored_say_so(project);
}

/// Runs `cargo test` itself.
fn cargo_test(project: &Path, replay: Option<&str>, arguments: &[&str]) -> Ran {
    let ours = command(project, &[]);
    let mut cargo = Command::new(env!("CARGO"));
    for (name, value) in ours.get_envs() {
        match value {
            Some(value) => cargo.env(name, value),
            None => cargo.env_remove(name),
        };
    }
    if let Some(schedule) = replay {
        cargo.env("INTERMEZZO_REPLAY", schedule);
    }
    cargo.arg("test").arg("--no-fail-fast").args(arguments);
    Ran::of(cargo.current_dir(project))
}

fn tests_of_one_name_are_distinguished(run: &dyn Fn(&[&str]) -> Ran, project: &Path) {
    let ran = run(&["test", "-p", "one", "--json", "-p", "two", "--test", "a"]).ends_with(1);
    let json = ran.json();
    let reports = json["reports"].as_array().unwrap();
    let told = |report: &Value| {
        let text = |name| report[name].as_str().unwrap().to_owned();
        [text("program"), text("package"), text("target"), text("verdict")].join(" ")
    };
    assert_eq!(
        reports.iter().map(told).collect::<Vec<_>>(),
        ["a::lost one test a fail", "a::lost two test a fail"]
    );
    let text = run(&["test", "-p", "one", "-p", "two", "--test", "a"])
        .ends_with(1)
        .stdout;
    assert!(
        text.contains("fail          a::lost (two, test a)  3 executions  "),
        "{text}"
    );

    // Each schedule is replayed in its own package.
    for (report, says) in reports.iter().zip(["right: 2", "right: 42"]) {
        let replayed = run(&["replay", &token(report), "--json"]).ends_with(1).json();
        assert_eq!(replayed["package"], report["package"]);
        assert_eq!(replayed["findings"], findings(report));
        let message = replayed["findings"][0]["message"].as_str().unwrap();
        assert!(message.ends_with(says), "{message}");
    }
    // With the arguments of the other package, no test is run.
    let refused = run(&["replay", &token(&reports[0]), "--", "-p", "two", "--test", "a"]).ends_with(2);
    assert!(refused.stderr.contains("was not replayed"), "{}", refused.stderr);

    let elsewhere = |package: &str, target: &str| {
        let mut schedule = Schedule::parse(&token(&reports[0])).unwrap();
        (schedule.binary.package, schedule.binary.target) = (package.into(), target.into());
        schedule.token()
    };
    run(&["replay", &elsewhere("three", "lib")])
        .refused(&["is in package \"three\"", "has none of that name"]);
    run(&["replay", &elsewhere("two", "test b")]).refused(&["in \"test b\" of package \"two\""]);

    // A whole suite runs the one test, and reports that the rest were not run.
    let ran = cargo_test(project, Some(&token(&reports[1])), &["-p", "one", "-p", "two"]).ends_with(101);
    let summaries = ran
        .stdout
        .matches("test result: FAILED. 0 passed; 1 failed")
        .count();
    assert_eq!(summaries, 1, "{}", ran.stdout);
    assert!(
        ran.stdout.contains("right: 42") && !ran.stdout.contains("right: 2\n"),
        "{}",
        ran.stdout
    );
    for test in [
        "a::lost",
        "races::races",
        "panics::never",
        "panics::as_it_should",
        "panics::otherwise",
    ] {
        let line = format!(
            "intermezzo: {test} was not run: INTERMEZZO_REPLAY has a schedule of a::lost (two, test a)\n"
        );
        assert_eq!(ran.stderr.matches(&line).count(), 1, "{test}:\n{}", ran.stderr);
    }
}

fn monitors_are_carried(run: &dyn Fn(&[&str]) -> Ran, project: &Path) {
    let arguments = ["test", "--test", "races", "--monitor", "data-race:all", "--json"];
    let wrong = run(&arguments).ends_with(2);
    assert!(wrong.stderr.contains("data-race"), "{}", wrong.stderr);

    let json = run(&["test", "--test", "races", "--monitor", "data-race", "--json"])
        .ends_with(1)
        .json();
    let found = &json["reports"][0];
    assert_eq!(found["findings"][0]["kind"], "data_race");
    let schedule = Schedule::parse(&token(found)).unwrap();
    assert!(
        schedule
            .monitors
            .iter()
            .any(|monitor| monitor.name == "data-race")
    );
    let replayed = run(&["replay", &token(found), "--json"]).ends_with(1).json();
    assert_eq!(replayed["findings"], findings(found));
    // The command that the test prints does so, too.
    let ran = cargo_test(project, Some(&token(found)), &["races", "--", "--exact"]).ends_with(101);
    assert!(ran.stdout.contains("error[data_race]"), "{}", ran.stdout);

    let mut gone = schedule;
    gone.monitors[0].name = "no-such-monitor".into();
    run(&["replay", &gone.token()]).ends_with(2);
    let why = cargo_test(project, Some(&gone.token()), &["races", "--", "--exact"]).ends_with(101);
    assert!(why.stdout.contains("no-such-monitor"), "{}", why.stdout);
}

fn panics_may_be_expected(run: &dyn Fn(&[&str]) -> Ran, project: &Path) {
    let cargo = cargo_test(project, None, &["--test", "panics"])
        .ends_with(101)
        .stdout;
    for line in [
        "test as_it_should - should panic ... ok\n",
        "test never - should panic ... FAILED\n",
        "test otherwise - should panic ... FAILED\n",
        "note: the test should panic, and no execution did",
    ] {
        assert!(cargo.contains(line), "{line}\n{cargo}");
    }
    let ran = run(&["test", "as_it_should", "--test", "panics", "--json"]).ends_with(0);
    let report = &ran.json()["reports"][0];
    assert_eq!(
        (&report["verdict"], &report["expected_finding"]),
        (&"pass".into(), &true.into())
    );
    let text = run(&["test", "--test", "panics"]).ends_with(1).stdout;
    for line in [
        "pass          panics::as_it_should ",
        " s  fails, as expected\n",
        "fail          panics::never ",
        "fail          panics::otherwise ",
        "3 explored tests: 1 passed, 2 failed, 0 inconclusive\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let text = run(&["test", "--test", "panics", "--verbose"])
        .ends_with(1)
        .stdout;
    for line in [
        "pass          panics::as_it_should: ",
        "expected[panic]: main panicked at ",
        "note: the panic was expected: the test should panic with \"an odd one\" in its message\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let replayed = run(&["replay", &token(report), "--json"]).ends_with(0).json();
    assert_eq!(replayed["expected_finding"], true);
}

fn each_case_is_a_test(run: &dyn Fn(&[&str]) -> Ran) {
    let all = run(&["test", "--test", "cases", "--json"]).ends_with(1).json();
    let verdict = |report: &Value| format!("{} {}", report["program"], report["verdict"]).replace('"', "");
    let mut verdicts: Vec<String> = all["reports"].as_array().unwrap().iter().map(verdict).collect();
    verdicts.sort();
    assert_eq!(
        verdicts,
        [
            "cases::as_declared pass",
            "cases::chosen::all_last_1 pass",
            "cases::chosen::all_last_2 fail",
            "cases::chosen::some_last_1 pass",
            "cases::chosen::some_last_2 fail",
        ]
    );
    let text = run(&["test", "--test", "misdeclared"]).ends_with(2);
    let says = "expect(trace): there is no such finding or figure; there are: assertion, ";
    assert!(
        text.stderr.contains(says) || text.stdout.contains(says),
        "{}{}",
        text.stdout,
        text.stderr
    );
    let one = run(&["test", "chosen::some_last_2", "--test", "cases", "--json"]).ends_with(1);
    let token = token(&one.json()["reports"][0]);
    let again = run(&["replay", &token, "--json"]).ends_with(1).json();
    assert_eq!(again["program"], "cases::chosen::some_last_2");
}

fn results_may_have_to_be_the_same(run: &dyn Fn(&[&str]) -> Ran, project: &Path) {
    let cargo = cargo_test(project, None, &["--test", "results"]).ends_with(101);
    for line in [
        "test always_two ... ok\n",
        "test one_of_two ... FAILED\n",
        "error[determinism]: the test returned 1, and 2 in its default execution\n",
        "or the default execution, which returned 2:\n",
    ] {
        assert!(cargo.stdout.contains(line), "{line}\n{}", cargo.stdout);
    }
    let all = run(&["test", "--test", "results", "--json"]).ends_with(1).json();
    let mut reports = all["reports"].as_array().unwrap().iter();
    let report = reports
        .find(|report| report["program"] == "results::one_of_two")
        .unwrap();
    let detail = &report["findings"][0]["detail"];
    assert_eq!(
        (&detail["kind"], &detail["returned"], &detail["by_default"]),
        (&"results".into(), &"1".into(), &"2".into())
    );
    let replayed = run(&["replay", &token(report), "--json"]).ends_with(1).json();
    assert_eq!(replayed["findings"], findings(report));
    let default_schedule = detail["default_schedule"].as_str().unwrap();
    let replayed = run(&["replay", default_schedule, "--json"]).ends_with(0).json();
    assert_eq!(replayed["coverage"]["as_recorded"], true);
    let text = run(&["test", "--test", "results"]).ends_with(1).stdout;
    assert!(
        text.contains("determinism: the test returned 1, and 2 in "),
        "{text}"
    );
}

fn tests_that_are_not_explored_say_so(project: &Path) {
    let ran = cargo_test(project, None, &["-p", "plain", "--lib"]).ends_with(0);
    let not_run = "intermezzo: plain::tests::waits_for_ever was not run: it expects a finding, which an exploration shows";
    assert!(ran.stderr.contains(not_run), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("test tests::has_cases::n_2 ... ok\n"),
        "{}",
        ran.stdout
    );
    let says = "are run once and not explored: the feature `explore` of intermezzo is off; switch it on in \
                [dev-dependencies]\n";
    assert_eq!(ran.stderr.matches(says).count(), 1, "{}", ran.stderr);

    let schedule = |program: &str, package: &str| {
        let mut schedule = Schedule::parse("imz1.AQARbm9fdXBkYXRlX2lzX2xvc3QkagqQPnVSEw").unwrap();
        schedule.program = program.into();
        schedule.binary.package = package.into();
        schedule.environment.seed = 300;
        schedule.steps = 1_000_000;
        schedule
    };
    let file = project.join("schedule.json");
    let of_it = schedule("plain::tests::runs_once", "plain");
    std::fs::write(&file, of_it.to_json(None)).unwrap();
    let by_path = file.to_str().unwrap().to_owned();
    for given in [of_it.token(), schedule(&of_it.program, "").token(), by_path] {
        let ran = cargo_test(project, Some(&given), &["-p", "plain", "--lib"]).ends_with(101);
        for line in [
            "test tests::runs_once ... FAILED\n",
            "plain::tests::runs_once was not replayed: the feature `explore` of intermezzo is off",
            "test tests::panics - should panic ... ok\n",
        ] {
            assert!(ran.stdout.contains(line), "{line}\n{}", ran.stdout);
        }
        let other =
            "plain::tests::panics was not run: INTERMEZZO_REPLAY has a schedule of plain::tests::runs_once\n";
        assert!(ran.stderr.contains(other), "{}", ran.stderr);
    }
}
