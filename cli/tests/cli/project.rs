//! `test` and `replay` in a project of the user's. One test, because each step
//! builds on what the last compiled.

use crate::{Ran, findings, run_in, throw_away, token};
use intermezzo::Settings;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const LIBRARY: &str = r#"
pub fn twice(n: u32) -> u32 { 2 * n }

#[cfg(test)]
mod tests {
    use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use intermezzo::thread;

    fn count(add: fn(&AtomicUsize)) {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| add(&n));
            scope.spawn(|| add(&n));
        });
        assert_eq!(n.load(SeqCst), 2);
    }

    #[intermezzo::test]
    fn an_update_is_lost() {
        count(|n| n.store(n.load(SeqCst) + 1, SeqCst));
    }

    #[intermezzo::test(preemptions = 1)]
    fn no_update_is_lost() {
        count(|n| { n.fetch_add(1, SeqCst); });
    }

    #[test]
    fn twice_two() {
        assert_eq!(super::twice(2), 4);
    }
}
"#;

/// A test target that has a test with the same name as one of the library's.
const SUITE: &str = r#"
mod tests {
    #[intermezzo::test]
    fn an_update_is_lost() {
        assert!(throw_away::twice(intermezzo::choose(3) as u32) < 5);
    }
}
"#;

fn write(project: &Path, file: &str, text: &str) {
    throw_away::write(&project.join(file), text);
}

fn new_project() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let manifest =
        format!("[dev-dependencies]\nintermezzo = {{ path = {workspace:?}, features = [\"explore\"] }}\n");
    let project = throw_away::project(workspace, place, "throw-away", &manifest);
    write(&project, "src/lib.rs", LIBRARY);
    write(&project, "tests/suite.rs", SUITE);
    project
}

fn programs(reports: &Value) -> Vec<(&str, &str)> {
    let reports = reports.as_array().unwrap().iter();
    reports
        .map(|report| {
            (
                report["program"].as_str().unwrap(),
                report["verdict"].as_str().unwrap(),
            )
        })
        .collect()
}

#[test]
fn a_projects_tests_are_explored_and_replayed() {
    let project = &new_project();
    let run = |arguments: &[&str]| run_in(project, arguments);

    let found = tests_are_explored(&run);
    flags_reach_the_tests(&run);
    settings_come_in_layers(&run, project);
    pairs_are_tried(&run);
    searches_are_kept(&run, project);
    searches_are_compared(&run);
    findings_are_replayed(&run, project, &found);
    quiet_is_quiet(&run, &found);
    arguments_reach_the_tests(&run);
    crate::baseline::known_findings_pass(&run, project);
    findings_are_shown(&run, project, &found);
    crate::object::failures_are_replayed(&run, project);
    crate::crash::crashes_leave_what_findings_leave(&run, project);
    crate::weak_memory::what_only_weak_memory_shows_is_a_finding(&run, project);
    crate::new_user::bugs_are_found_with_nothing_set(project);
    changes_and_mistakes_are_reported(&run, project, &found);
}

fn searches_are_compared(run: &dyn Fn(&[&str]) -> Ran) {
    let flags = [
        "--strategies",
        "dfs,random",
        "--seeds",
        "2",
        "--json",
        "--no-times",
    ];
    let tune = |cargo: &[&str]| run(&[&["tune"], &flags[..], &["--test"], cargo].concat());
    let ran = tune(&["--lib"]).ends_with(0);
    assert_eq!(ran.stderr, "", "that tests fail is what is looked for");
    let json = ran.json();
    let cells = json["cells"].as_array().unwrap().iter();
    let told: Vec<(&str, &str, u64, u64)> = cells
        .map(|cell| {
            let word = |name| cell[name].as_str().unwrap();
            let count = |name| cell[name].as_u64().unwrap();
            (word("program"), word("strategy"), count("runs"), count("found"))
        })
        .collect();
    assert_eq!(
        told,
        [
            ("throw_away::tests::an_update_is_lost", "dfs", 1, 1),
            ("throw_away::tests::an_update_is_lost", "random", 2, 2),
            ("throw_away::tests::no_update_is_lost", "dfs", 1, 0),
            ("throw_away::tests::no_update_is_lost", "random", 2, 0),
        ]
    );
    tune(&["--test", "no_such"]).refused(&["no test target named `no_such`", "see cargo's messages above"]);
    tune(&["--lib", "twice_two"]).refused(&["nothing was explored"]);
}

/// Returns the report of the library's failing test.
fn tests_are_explored(run: &dyn Fn(&[&str]) -> Ran) -> Value {
    let ran = run(&["test", "--json", "--reports", "out/reports"]).ends_with(1);
    assert!(ran.stderr.contains("twice_two ... ok"), "{}", ran.stderr);
    let json = ran.json();
    assert_eq!(
        (&json["verdict"], &json["cargo_test"]),
        (&"fail".into(), &"failed".into())
    );
    // The arguments do not have the word `intermezzo`, which cargo adds.
    assert_eq!(
        json["arguments"],
        serde_json::json!(["test", "--json", "--reports", "out/reports"])
    );
    let (started, ended) = (json["started"].as_str().unwrap(), json["ended"].as_str().unwrap());
    // Times in this format can be compared as texts.
    assert!(
        started.len() == 20 && started <= ended && ended.ends_with('Z'),
        "{started} {ended}"
    );
    let expected = [
        ("suite::tests::an_update_is_lost", "pass"),
        ("throw_away::tests::an_update_is_lost", "fail"),
        ("throw_away::tests::no_update_is_lost", "pass"),
    ];
    assert_eq!(programs(&json["reports"]), expected);
    json["reports"][1].clone()
}

/// Tries both orders of the contending places in the library's failing test.
fn pairs_are_tried(run: &dyn Fn(&[&str]) -> Ran) {
    let arguments = [
        "breakpoints",
        "tests",
        "--runs",
        "20",
        "--json",
        "--",
        "--lib",
        "an_update",
    ];
    let json = run(&arguments).ends_with(1).json();
    let [program] = &json["programs"].as_array().unwrap()[..] else {
        panic!("{json}");
    };
    assert_eq!(program["program"], "throw_away::tests::an_update_is_lost");
    let orders = program["orders"].as_array().unwrap();
    let each_time = |order: &&Value| order["failures"] == 20 && order["hit"] == 20;
    assert_eq!(orders.iter().filter(each_time).count(), 2, "{json}");
    assert!(orders.iter().any(|order| order["failures"] == 0), "{json}");
    run(&["breakpoints", "tests", "--", "--lib", "twice_two"]).ends_with(3);
}

fn flags_reach_the_tests(run: &dyn Fn(&[&str]) -> Ran) {
    let ran = run(&["test", "--executions", "1", "--preemptions", "0", "--lib"]).ends_with(0);
    for name in ["an", "no"] {
        let row = format!("pass          throw_away::tests::{name}_update_is_lost  1 execution  ");
        assert!(ran.stdout.contains(&row), "{}", ran.stdout);
    }
    assert!(ran.stdout.contains(" s  sampled\n"), "{}", ran.stdout);
    assert!(
        ran.stdout
            .ends_with("2 explored tests: 2 passed, 0 failed, 0 inconclusive\n"),
        "{}",
        ran.stdout
    );

    let ran = run(&[
        "test",
        "--executions=0",
        "--lib",
        "no_update",
        "--",
        "--nocapture",
    ])
    .ends_with(3);
    assert!(
        ran.stdout
            .contains("inconclusive  throw_away::tests::no_update_is_lost  0 executions"),
        "{}",
        ran.stdout
    );

    let ran = run(&["test", "--", "twice_two"]).ends_with(3);
    assert!(ran.stderr.contains("nothing was explored"), "{}", ran.stderr);
}

/// Settings have layers: the file, the attribute, the file's section, and the environment.
fn settings_come_in_layers(run: &dyn Fn(&[&str]) -> Ran, project: &Path) {
    const FILE: &str = "intermezzo.toml";
    write(
        project,
        FILE,
        "preemptions = 7\nseed = 3\n\n[test.\"tests::no_*\"]\nexecutions = 1\n[test.nothing]\nseed = 1\n",
    );
    let ran = run(&["config", "--lib", "_update"]).ends_with(0);
    let expected = "\
throw_away::tests::an_update_is_lost
  preemptions  7  intermezzo.toml:1
  seed         3  intermezzo.toml:2
throw_away::tests::no_update_is_lost
  executions   1  intermezzo.toml:5 [test.\"tests::no_*\"]
  preemptions  1  #[intermezzo::test]
               7  intermezzo.toml:1, overridden
  seed         3  intermezzo.toml:2
";
    assert!(ran.stdout.ends_with(expected), "{}", ran.stdout);
    let unused = "intermezzo.toml:6: [test.\"nothing\"] applies to none of the tests that were asked";
    assert!(ran.stderr.contains(unused), "{}", ran.stderr);
    let json = run(&["config", "--json", "--lib", "no_update"])
        .ends_with(0)
        .json();
    assert_eq!(json["tests"][0]["layers"][2]["from"], "attribute");

    let ran = run(&["config", "--all", "--preemptions=4", "--lib", "no_update"]).ends_with(0);
    let (_, all) = ran
        .stdout
        .split_once("throw_away::tests::no_update_is_lost\n")
        .unwrap();
    let (columns, words): (Vec<_>, Vec<Vec<&str>>) = all
        .lines()
        .map(|line| (line.split_at(2).1, line.split_whitespace().collect()))
        .unzip();
    let named = columns.iter().filter(|line| !line.starts_with(' ')).count();
    assert_eq!(named, Settings::all().len(), "{all}");
    for line in [
        "strategy auto default",
        "steps 20000 default",
        "preemptions 4 --preemptions",
        "1 #[intermezzo::test], overridden",
        "7 intermezzo.toml:1, overridden",
        "none default, overridden",
    ] {
        assert!(words.iter().any(|words| words.join(" ") == line), "{line}: {all}");
    }

    let ran = run(&["test", "--lib", "no_update"]).ends_with(0);
    assert!(
        ran.stdout.contains("no_update_is_lost  1 execution  "),
        "{}",
        ran.stdout
    );
    let ran = run(&["test", "--executions", "2", "--lib", "no_update"]).ends_with(0);
    assert!(
        ran.stdout.contains("no_update_is_lost  2 executions  "),
        "{}",
        ran.stdout
    );

    write(project, FILE, "seed = 1\npreemption = 2\n");
    let ran = run(&["config", "--lib", "no_update"]).ends_with(2);
    let problem = "intermezzo.toml:2:1: `preemption`: there is no such setting; did you mean `preemptions`";
    assert!((ran.stdout + &ran.stderr).contains(problem));
    fs::remove_file(project.join(FILE)).unwrap();
}

/// Each test's search is saved in a file of its own. The directory does not depend on the one in which the tests run.
fn searches_are_kept(run: &dyn Fn(&[&str]) -> Ran, project: &Path) {
    let kept = || {
        let ran = run(&[
            "test",
            "--jobs",
            "2",
            "--checkpoint",
            "out/searches",
            "--json",
            "--lib",
        ]);
        let mut json = ran.ends_with(1).json();
        for time in ["started", "ended"] {
            assert!(json.as_object_mut().unwrap().remove(time).is_some(), "{time}");
        }
        for report in json["reports"].as_array_mut().unwrap() {
            report.as_object_mut().unwrap().remove("elapsed_seconds");
        }
        json
    };
    let first = kept();
    let files = fs::read_dir(project.join("out/searches")).unwrap().map(|file| {
        let name = file.unwrap().file_name().into_string().unwrap();
        name.split_once("-throw_away").map(|(test, _)| test.to_owned())
    });
    let mut files: Vec<_> = files.flatten().collect();
    files.sort();
    assert_eq!(
        files,
        [
            "throw_away--tests--an_update_is_lost",
            "throw_away--tests--no_update_is_lost"
        ]
    );
    assert_eq!(kept(), first, "it was over");
}

fn findings_are_replayed(run: &dyn Fn(&[&str]) -> Ran, project: &Path, found: &Value) {
    let file = "out/reports/throw_away--tests--an_update_is_lost.1.schedule.json";
    assert!(
        project
            .join("out/reports/suite--tests--an_update_is_lost.json")
            .exists()
    );
    for schedule in [&token(found), file] {
        let replayed = run(&["replay", schedule, "--json"]).ends_with(1).json();
        assert_eq!(replayed["program"], "throw_away::tests::an_update_is_lost");
        assert_eq!(replayed["executions"], 1);
        assert_eq!(replayed["coverage"]["kind"], "replayed");
        assert_eq!(
            replayed["findings"][0].to_string(),
            findings(found)[0].to_string()
        );
    }
    let ran = run(&["replay", &token(found), "--", "--lib", "--", "--nocapture"]).ends_with(1);
    assert!(
        ran.stdout.contains(
            "fail          throw_away::tests::an_update_is_lost: the schedule was replayed as recorded"
        ),
        "{}",
        ran.stdout
    );
}

/// Checks the output of a replay with --quiet.
fn quiet_is_quiet(run: &dyn Fn(&[&str]) -> Ran, found: &Value) {
    let ran = run(&["replay", "--quiet", &token(found)]).ends_with(1);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(
        ran.stderr.is_empty()
            && lines.len() == 2
            && lines[0].ends_with(": the schedule was replayed as recorded")
            && lines[1].contains("error[assertion]: "),
        "{}{}",
        ran.stderr,
        ran.stdout
    );
    let ran = run(&["test", "--quiet"]).ends_with(1);
    assert_eq!(ran.stderr, "");
}

/// Arguments after the second `--` are passed to the tests.
fn arguments_reach_the_tests(run: &dyn Fn(&[&str]) -> Ran) {
    let ran = run(&["test", "--json", "--", "--", "--skip", "an_update_is_lost"]).ends_with(0);
    assert_eq!(
        programs(&ran.json()["reports"]),
        [("throw_away::tests::no_update_is_lost", "pass")]
    );
}

/// Pages of a whole run and of a replay show the same execution, recorded in the tests' own process.
fn findings_are_shown(run: &dyn Fn(&[&str]) -> Ran, project: &Path, found: &Value) {
    let page = project.join("page.html");
    let shown = |arguments: &[&str]| {
        let ran = run(&[arguments, &["--view", "page.html"]].concat()).ends_with(1);
        assert!(ran.stderr.contains("wrote page.html"), "{}", ran.stderr);
        let page = fs::read_to_string(&page).unwrap();
        let (_, contents) = page.split_once("id=\"contents\">").unwrap();
        let (contents, _) = contents.split_once("</script>").unwrap();
        let contents: Value = serde_json::from_str(contents).unwrap();
        let mut reports = contents["reports"].as_array().unwrap().iter();
        let failing = reports.find(|report| report["verdict"] == "fail").unwrap();
        assert!(
            contents["sources"]["src/lib.rs"]["lines"].is_object(),
            "{}",
            contents["sources"]
        );
        failing["findings"][0]["executions"].clone()
    };
    let of_run = shown(&["test"]);
    assert_eq!(of_run.as_array().unwrap().len(), 2);
    assert_eq!(of_run, shown(&["replay", &token(found)]));
}

fn changes_and_mistakes_are_reported(run: &dyn Fn(&[&str]) -> Ran, project: &Path, found: &Value) {
    // The test's own settings decide if this setting is possible.
    let ran = run(&["test", "--seed", "0/7", "--lib"]).ends_with(2);
    for told in [
        "2 explored tests cannot be run",
        "an_update_is_lost: setting `seed`",
    ] {
        assert!(ran.stderr.contains(told), "{told:?} is not in:\n{}", ran.stderr);
    }

    let another_task = LIBRARY.replacen("scope.spawn", "scope.spawn(|| add(&n)); scope.spawn", 1);
    write(project, "src/lib.rs", &another_task);
    let replayed = run(&["replay", &token(found), "--json"]).ends_with(3).json();
    assert_eq!(replayed["findings"][0]["kind"], "divergence");

    write(
        project,
        "src/lib.rs",
        &LIBRARY
            .replace("an_update_is_lost", "renamed")
            .replace("2 * n", "n * n + 1"),
    );
    run(&["replay", &token(found), "--json"]).refused(&["was not replayed: there is no such test here"]);

    let ran = run(&["test", "--lib", "_", "--", "--skip", "renamed"]).ends_with(1);
    assert!(
        ran.stderr
            .contains("cargo test failed, though no explored test did"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stdout
            .ends_with("1 explored test: 1 passed, 0 failed, 0 inconclusive\n"),
        "{}",
        ran.stdout
    );

    write(project, "src/lib.rs", "does not compile");
    run(&["test", "--json"]).refused(&["no test was run: the project does not build"]);
    run(&["replay", &token(found)]).refused(&["no test was run: the project does not build"]);
    run(&["test", "--no-such-flag-of-cargo"]).refused(&["--no-such-flag-of-cargo"]);
}
