//! `monitor`: lists monitors, creates them from templates, and checks them; and monitors that are attached.

use crate::{command, json, run, run_in};
use std::path::Path;
use std::process::Command;

/// A program of the corpus with relaxed stores, which passes.
const RELAXED: &str = "MP+rlx+rlx";

#[test]
fn monitors_are_listed() {
    let listed = json(0, &["monitor", "list"]);
    let names: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    let all = [
        "atomicity",
        "contention",
        "data-race",
        "event-log",
        "happens-before-counter",
        "leak",
        "lock-order",
        "misuse",
        "stale-load",
        "statistics",
    ];
    assert_eq!(names, all);
    let text = run(&["monitor", "list"]).ends_with(0).stdout;
    assert!(text.starts_with("atomicity               blocks meant"), "{text}");
}

#[test]
fn a_monitor_that_ships_is_attached_by_its_name() {
    let found = json(
        1,
        &["corpus", "run", "abba", "--monitor", "lock-order", "--keep-going"],
    );
    let kinds: Vec<&str> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["kind"].as_str().unwrap())
        .collect();
    assert!(kinds.contains(&"lock_order"), "{kinds:?}");
    run(&["corpus", "run", "abba", "--monitor", "lock-ordr"]).refused(&[
        "`monitors`",
        "lock-ordr",
        "no plugin of that name",
    ]);
    run(&["corpus", "run", "abba", "--monitor", "leak:x=1"]).refused(&["leak: there is no argument `x`"]);
    run(&["corpus", "run", "abba", "--monitor", "leak", "--monitor", "leak"])
        .refused(&["are the same monitor"]);
    run(&["corpus", "run", "abba", "--monitor", ":x=1"]).refused(&["--monitor", "no name before the colon"]);
}

/// Builds the project in that directory.
fn build(project: &Path, tool: &str, arguments: &[&str]) {
    let mut build = Command::new(tool);
    build.args(arguments).current_dir(project);
    let output = build
        .env("CARGO_TARGET_DIR", project.join("target"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Creates a project from a template, builds it, checks it, and finds something with it. The library is named relative to
/// the directory of the project.
fn from_template(directory: &Path, flags: &[&str], build_it: impl Fn(&Path), version: Option<&str>) {
    let made = run_in(
        directory,
        &[&["monitor", "new", "no-relaxed", "--json"], flags].concat(),
    )
    .ends_with(0)
    .json();
    let library = made["library"].as_str().unwrap();
    let project = directory.join("no-relaxed");
    for file in made["files"].as_array().unwrap() {
        assert!(directory.join(file.as_str().unwrap()).is_file(), "{file}");
    }
    build_it(&project);

    let checked = run_in(&project, &["monitor", "check", library, "--json"])
        .ends_with(0)
        .json();
    assert_eq!(checked["loadable"], true);
    assert_eq!(checked["name"], "no-relaxed");
    assert_eq!(checked["plugin_version"].as_str(), version);
    assert_eq!(checked["interests"], serde_json::json!(["sync accesses"]));
    assert_eq!(checked["reduction_compatible"], true);
    let text = run_in(&project, &["monitor", "check", library])
        .ends_with(0)
        .stdout;
    assert!(
        text.contains("the monitor `no-relaxed`") && text.contains("wants        sync accesses"),
        "{text}"
    );
    let says = format!("```\n$ cargo intermezzo monitor check {library}\n{text}```\n");
    assert!(
        version.is_none() || document().contains(&says),
        "docs/MONITORS.md does not show this:\n{says}"
    );
    let refused = run_in(&project, &["monitor", "check", library, "--arguments", "loud"])
        .ends_with(1)
        .stdout;
    assert!(
        refused.contains("not a loadable monitor: the monitor could not be made: "),
        "{refused}"
    );

    let explore = |monitor: &str, code| {
        run_in(
            &project,
            &["corpus", "run", RELAXED, "--json", "--monitor", monitor],
        )
        .ends_with(code)
        .json()
    };
    for jobs in ["--jobs=1", "--jobs=2"] {
        let arguments = ["corpus", "run", RELAXED, "--json", jobs, "--monitor", library];
        let found = run_in(&project, &arguments).ends_with(1).json();
        let finding = &found["findings"][0];
        assert_eq!(finding["kind"], "plugin/no-relaxed");
        assert_eq!(finding["monitor"], "no-relaxed");
        assert_eq!(finding["message"], "a relaxed store to atomic 1.1");
        // A replay shows it again.
        let schedule = finding["schedule"].as_str().unwrap();
        let arguments = ["replay", schedule, "--json", "--monitor", library];
        let again = run_in(&project, &arguments).ends_with(1).json();
        assert_eq!(again["findings"][0]["message"], finding["message"]);
    }
    let warned = explore(&format!("{library}:warn"), 0);
    assert_eq!(warned["findings"][0]["severity"], "warning");
    assert_eq!(warned["verdict"], "pass");

    // An existing directory is left alone.
    run_in(directory, &[&["monitor", "new", "no-relaxed"], flags].concat())
        .refused(&["\"no-relaxed\"", "left alone"]);
}

#[test]
fn the_template_in_rust_compiles_and_is_a_monitor() {
    let directory = tempfile::tempdir().unwrap();
    let build_it = |project: &Path| {
        build(project, env!("CARGO"), &["test", "--offline", "--quiet"]);
        build(project, env!("CARGO"), &["build", "--offline", "--quiet"]);
    };
    from_template(directory.path(), &[], build_it, Some("0.1.0"));
    documented(&directory.path().join("no-relaxed/src/lib.rs"));
}

/// The command of the template's `Makefile` on Linux.
const COMPILED_BY_HAND: &str =
    "cc -std=c11 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -shared -o no-relaxed.so no-relaxed.c";

#[test]
fn the_template_in_c_compiles_and_is_a_monitor() {
    let directory = tempfile::tempdir().unwrap();
    from_template(
        directory.path(),
        &["--c"],
        |project| match Command::new("make").arg("--version").output() {
            Ok(_) => build(project, "make", &["CFLAGS=-Wall -Wextra -Werror"]),
            // Where Rust can be built there is a `cc`, but not always a `make`. The command is the same.
            Err(_) => build(project, "sh", &["-c", COMPILED_BY_HAND]),
        },
        None,
    );
    documented(&directory.path().join("no-relaxed/no-relaxed.c"));
}

fn document() -> String {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/MONITORS.md");
    std::fs::read_to_string(document).unwrap()
}

/// Checks that a template gives the text that the documentation shows, and is short.
fn documented(file: &Path) {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.lines().count() < 60, "{} lines", text.lines().count());
    assert!(
        document().contains(&text),
        "docs/MONITORS.md does not show this:\n{text}"
    );
}

#[test]
fn invalid_names_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    for name in [
        "",
        "A",
        "a b",
        "../a",
        "a/b",
        "1a",
        "fn",
        "test",
        "été",
        &"a".repeat(65),
    ] {
        let ran = run_in(directory.path(), &["monitor", "new", name]);
        ran.refused(&["give"]);
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn files_that_are_not_monitors_are_reported() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let said = run_in(here, &["monitor", "check", "Cargo.toml"])
        .ends_with(1)
        .stdout;
    assert!(
        said.starts_with("Cargo.toml: not a loadable monitor: it is text"),
        "{said}"
    );
    let said = run_in(here, &["monitor", "check", "Cargo.toml", "--json"])
        .ends_with(1)
        .json();
    assert_eq!(said["loadable"], false);
    assert!(said["problem"].as_str().unwrap().starts_with("it is text"));
    assert_eq!(said.get("name"), None);
    run_in(here, &["monitor", "check", "nothing"]).refused(&["\"nothing\"", "no such file"]);
    run_in(here, &["monitor", "check", "src", "--json"]).refused(&["\"src\"", "it is a directory"]);
    // An environment variable can name monitors, too.
    let mut command = command(here, &["corpus", "run", "counter"]);
    let output = command.env("INTERMEZZO_MONITORS", "no-such").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no plugin of that name"));
}

/// A list of monitors could not name these files, so they are not reported as loadable.
#[test]
fn a_file_that_no_list_can_name_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let suffix = std::env::consts::DLL_SUFFIX;
    let check = |name: &str, more: &[&str]| {
        std::fs::write(directory.path().join(name), "no library").unwrap();
        run_in(
            directory.path(),
            &[&["monitor", "check"][..], more, &["--", name]].concat(),
        )
    };
    for name in [
        format!("a:b{suffix}"),
        format!("a;b{suffix}"),
        format!(" a{suffix}"),
    ] {
        check(&name, &[]).refused(&["cannot be attached", "reads the text after a `:` as arguments"]);
    }
    let name = format!("-a{suffix}");
    check(&name, &[]).refused(&["the removal of a monitor", &format!("give `./{name}`")]);
    check(&format!("a{suffix}"), &["--arguments", "x=1;y"]).refused(&["its arguments are `x=1;y`"]);
    let told = check(&format!("a{suffix}"), &["--arguments", "x=1,y:z"]).ends_with(1);
    assert!(told.stdout.contains("not a loadable monitor"), "{}", told.stdout);
}
