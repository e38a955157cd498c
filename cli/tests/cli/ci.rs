//! Results for CI servers and code hosts, written by the run itself: by cargo, and by cargo-nextest.

use crate::{Ran, run_in, throw_away};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const LIBRARY: &str = r#"
/// Doubles.
///
/// ```
/// assert_eq!(ci_project::twice(2), 4);
/// ```
pub fn twice(n: u32) -> u32 { 2 * n }

#[cfg(test)]
mod tests {
    use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use intermezzo::thread;

    #[intermezzo::test]
    fn an_update_is_lost() {
        let n = AtomicUsize::new(0);
        let add = || n.store(n.load(SeqCst) + 1, SeqCst);
        thread::scope(|scope| {
            scope.spawn(add);
            scope.spawn(add);
        });
        assert_eq!(n.load(SeqCst), 2);
    }

    #[intermezzo::test(expect(panic))]
    fn a_known_bug_is_shown() {
        assert_eq!(intermezzo::choose(2), 0);
    }

    #[intermezzo::test]
    fn it_passes() {}

    #[test]
    fn twice_two() {
        assert_eq!(super::twice(2), 4);
    }

    #[test]
    fn twice_three() {
        assert_eq!(super::twice(3), 5, "100 % <wrong>");
    }

    #[test]
    #[ignore = "takes an hour"]
    fn twice_all() {}
}
"#;

const SUITE: &str = "#[test] fn from_outside() { assert_eq!(ci_project::twice(1), 2); }";

const FILES: [&str; 5] = ["--junit", "junit.xml", "--sarif", "found.sarif", "--annotations"];

fn new_project() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let manifest =
        format!("[dev-dependencies]\nintermezzo = {{ path = {workspace:?}, features = [\"explore\"] }}\n");
    let project = throw_away::project(workspace, place, "ci-project", &manifest);
    throw_away::write(&project.join("src/lib.rs"), LIBRARY);
    throw_away::write(&project.join("tests/suite.rs"), SUITE);
    project
}

/// Returns the cases of a JUnit file: suite, name, and the element that says that it did not pass.
fn cases(xml: &str) -> Vec<(String, String, &'static str)> {
    let attribute = |case: &str, name: &str| {
        let (_, rest) = case.split_once(&format!(" {name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    };
    let mut cases: Vec<_> = xml
        .split("<testcase")
        .skip(1)
        .map(|case| {
            let mut tags = ["failure", "error", "skipped"].into_iter();
            let tag = tags.find(|tag| case.contains(&format!("<{tag} "))).unwrap_or("");
            (attribute(case, "classname"), attribute(case, "name"), tag)
        })
        .collect();
    cases.sort();
    cases
}

fn row(suite: &str, name: &str, tag: &'static str) -> (String, String, &'static str) {
    (suite.to_owned(), name.to_owned(), tag)
}

#[test]
fn one_run_writes_the_files_for_ci_servers() {
    let project = &new_project();
    let run = |arguments: &[&str]| run_in(project, arguments);

    let ran = run(&[&["test", "--json"], &FILES[..]].concat()).ends_with(1);
    assert_eq!(ran.json()["reports"].as_array().unwrap().len(), 3);
    let xml = fs::read_to_string(project.join("junit.xml")).unwrap();
    let of_binaries = [
        row("ci_project::tests", "a_known_bug_is_shown", ""),
        row("ci_project::tests", "an_update_is_lost", "failure"),
        row("ci_project::tests", "it_passes", ""),
        row("ci_project::tests", "twice_all", "skipped"),
        row("ci_project::tests", "twice_three", "failure"),
        row("ci_project::tests", "twice_two", ""),
        row("suite", "from_outside", ""),
    ];
    let of_documentation = row("ci_project (doc-tests)", "src/lib.rs - twice (line 4)", "");
    let all = [&[of_documentation], &of_binaries[..]].concat();
    assert_eq!(cases(&xml), all, "{xml}\n{}", ran.stderr);
    assert!(
        xml.contains("tests=\"8\" failures=\"2\" errors=\"0\" skipped=\"1\"")
            && xml.contains("100 % &lt;wrong&gt;")
            && xml.contains("cargo intermezzo replay imz"),
        "{xml}"
    );

    found(project);
    let annotations = annotations(&ran);
    let [lost, plain] = &annotations[..] else {
        panic!("{annotations:?}");
    };
    assert!(
        lost.starts_with("::error title=assertion in ci_project%3A%3Atests%3A%3Aan_update_is_lost,file=src/lib.rs,line=22,col=")
            && lost.contains("%0Acargo intermezzo replay imz"),
        "{lost}"
    );
    assert_eq!(
        *plain,
        "::error title=test failed::ci_project::tests::twice_three"
    );

    tests_are_listed(&run);
    fields_are_documented(&run, project, ran.json());

    // Earlier results are overwritten, and a file of another program is not.
    fs::write(project.join("mine"), "mine").unwrap();
    run(&["test", "--sarif", "mine"]).refused(&["\"mine\" exists and is not a SARIF log"]);
    nothing_explored_is_reported(&run);
    by_nextest(&run, project, &of_binaries);
}

/// Checks the findings. Those that tests expect are left out.
fn found(project: &Path) {
    let log = fs::read_to_string(project.join("found.sarif")).unwrap();
    let log: Value = serde_json::from_str(&log).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let programs: Vec<&Value> = results
        .iter()
        .map(|result| &result["properties"]["program"])
        .collect();
    assert_eq!(programs, ["ci_project::tests::an_update_is_lost"]);
}

fn annotations(ran: &Ran) -> Vec<&str> {
    ran.stderr.lines().filter(|line| line.starts_with("::")).collect()
}

/// A run without an explored test must not pass by accident.
fn nothing_explored_is_reported(run: &dyn Fn(&[&str]) -> Ran) {
    let none = ["test", "--lib", "twice_two"];
    let ran = run(&none).ends_with(3);
    assert!(ran.stderr.contains("nothing was explored: "), "{}", ran.stderr);
    let ran = run(&[&none[..], &["--allow-none"]].concat()).ends_with(0);
    assert!(!ran.stderr.contains("nothing was explored"), "{}", ran.stderr);
    let failing = ["test", "--lib", "twice_three", "--allow-none"];
    run(&failing).ends_with(1);
}

/// cargo-nextest runs each test in a process of its own, and does not name ignored tests and tests in documentation.
fn by_nextest(run: &dyn Fn(&[&str]) -> Ran, project: &Path, of_binaries: &[(String, String, &'static str)]) {
    let version = Command::new(env!("CARGO"))
        .args(["nextest", "--version"])
        .output();
    if !version.is_ok_and(|version| version.status.success()) {
        return crate::seeded::ignored("cargo-nextest is not installed");
    }
    for quiet in [&[][..], &["--quiet"]] {
        fs::remove_file(project.join("junit.xml")).unwrap();
        let ran = run(&[&["test", "--nextest"], &FILES[..], quiet].concat()).ends_with(1);
        let xml = fs::read_to_string(project.join("junit.xml")).unwrap();
        let run_tests = of_binaries.iter().filter(|(.., tag)| *tag != "skipped");
        assert_eq!(
            cases(&xml),
            run_tests.cloned().collect::<Vec<_>>(),
            "{}",
            ran.stderr
        );
        assert!(xml.contains("100 % &lt;wrong&gt;"), "{xml}");
        assert_eq!(annotations(&ran).len(), 2, "{}", ran.stderr);
    }
}

/// Lists the explored tests, which are known before any test is run.
fn tests_are_listed(run: &dyn Fn(&[&str]) -> Ran) {
    let json = run(&["list", "--json"]).ends_with(0).json();
    let listed = json["tests"].as_array().unwrap().iter().map(|test| {
        let word = |name| test[name].as_str().unwrap().to_owned();
        let explored = test["explored"].as_bool().unwrap();
        (word("program"), word("package"), word("target"), explored)
    });
    let row = |program: &str, target: &str, explored| {
        (
            program.to_owned(),
            "ci-project".to_owned(),
            target.to_owned(),
            explored,
        )
    };
    assert_eq!(
        listed.collect::<Vec<_>>(),
        [
            row("ci_project::tests::a_known_bug_is_shown", "lib", true),
            row("ci_project::tests::an_update_is_lost", "lib", true),
            row("ci_project::tests::it_passes", "lib", true),
            row("ci_project::tests::twice_all", "lib", false),
            row("ci_project::tests::twice_three", "lib", false),
            row("ci_project::tests::twice_two", "lib", false),
            row("suite::from_outside", "test suite", false),
        ]
    );
    let ran = run(&["list", "--lib", "--", "twice_two"]).ends_with(3);
    assert_eq!(
        ran.stdout,
        "plain  ci_project::tests::twice_two  ci-project lib\n"
    );
}

/// The guide's page for scripts has exactly the fields that are printed.
fn fields_are_documented(run: &dyn Fn(&[&str]) -> Ran, project: &Path, test: Value) {
    let report = &test["reports"][1];
    fs::write(project.join("report.json"), report.to_string()).unwrap();
    let token = crate::token(report);
    let json = |code, arguments: &[&str]| run(&[arguments, &["--json"]].concat()).ends_with(code).json();
    let config = ["config", "--seed", "1", "--lib", "it_passes"];
    let printed = [
        ("list", json(0, &["list"]), true),
        ("config", json(0, &config), true),
        ("replay", json(1, &["replay", &token]), false),
        ("explain", json(0, &["explain", "deadlock"]), true),
        ("view", json(0, &["view", "report.json"]), true),
        ("test", test, true),
    ];
    for (command, value, is_all) in &printed {
        let documented = documented(command);
        assert!(!documented.is_empty(), "{command}");
        let mut there = BTreeSet::new();
        paths(value, "", &mut there);
        for (field, may_be_missing) in &documented {
            let is_there = there
                .iter()
                .any(|path| path == field || path.starts_with(&format!("{field}.")));
            assert!(
                is_there || *may_be_missing,
                "{command} --json has no {field}: {there:?}"
            );
        }
        for path in there.iter().filter(|_| *is_all) {
            let covers = |field: &str| {
                let inside = path.strip_prefix(field).or_else(|| field.strip_prefix(&**path));
                inside.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            assert!(
                documented.iter().any(|(field, _)| covers(field)),
                "{command} --json: {path} is not documented"
            );
        }
    }
}

/// Returns the fields of a command in the guide, each with `true` if it may be missing.
fn documented(command: &str) -> Vec<(String, bool)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide/src/scripts.md");
    let page = fs::read_to_string(page).unwrap();
    let head = format!("| field of `{command}` | |\n");
    let (_, table) = page.split_once(&head).unwrap();
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    let words = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    words
        .map(|word| match word.strip_suffix('?') {
            Some(field) => (field.to_owned(), true),
            None => (word.to_owned(), false),
        })
        .collect()
}

/// Adds the paths of all fields of a value: `tests[].program`.
fn paths(value: &Value, path: &str, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                let path = format!("{path}{dot}{name}");
                paths(value, &path, all);
                all.insert(path);
            }
        }
        Value::Array(values) => {
            let path = format!("{path}[]");
            values.iter().for_each(|value| paths(value, &path, all));
            all.insert(path);
        }
        _ => {}
    }
}
