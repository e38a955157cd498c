//! A user's program contains nothing of the explorer when it is shipped, and every crate can be published.

#[path = "common/throw_away.rs"]
mod throw_away;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn room() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("shipped")
}

/// Returns cargo with the environment of a user, without the variables of this checkout.
fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.env_remove("INTERMEZZO_IN_RELEASE").arg("--offline");
    cargo
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Makes a project that depends on the facade, with these features.
fn project(name: &str, dependency: &str, features: &str) -> PathBuf {
    let facade = workspace().display();
    let manifest = format!(
        "[dependencies]\n{dependency} = {{ package = \"intermezzo\", path = \"{facade}\", features = [{features}] }}\n"
    );
    throw_away::project(workspace(), &room(), name, &manifest)
}

const ORDINARY: &str = r#"
use facade::sync::atomic::{AtomicUsize, Ordering};
use std::any::TypeId;

#[facade::test(crate = facade, executions = 10)]
fn the_attribute_works_under_another_name() {
    assert_eq!(AtomicUsize::new(1).load(Ordering::SeqCst), 1);
}

fn same<A: 'static, B: 'static>() {
    assert_eq!(TypeId::of::<A>(), TypeId::of::<B>());
}

#[test]
fn cells_give_pointers_in_two_ways() {
    use facade::cell::{ByPointer, UnsafeCell};
    let cell = UnsafeCell::new(1);
    assert_eq!(cell.with_mut(|value| value), cell.get());
    assert_eq!(cell.with(|value| value), cell.get().cast_const());
}

#[test]
fn look_alikes_are_items_of_std() {
    same::<AtomicUsize, std::sync::atomic::AtomicUsize>();
    same::<facade::sync::Mutex<u8>, std::sync::Mutex<u8>>();
    same::<facade::sync::Arc<u8>, std::sync::Arc<u8>>();
    same::<facade::sync::mpsc::Sender<u8>, std::sync::mpsc::Sender<u8>>();
    same::<facade::cell::Cell<u8>, std::cell::Cell<u8>>();
    same::<facade::cell::UnsafeCell<u8>, std::cell::UnsafeCell<u8>>();
    same::<facade::thread::JoinHandle<u8>, std::thread::JoinHandle<u8>>();
    same::<facade::time::Instant, std::time::Instant>();
}
"#;

#[test]
fn without_the_feature_the_facade_is_std() {
    let project = project("without-explore", "facade", "");
    throw_away::write(&project.join("src/lib.rs"), "");
    throw_away::write(&project.join("tests/ordinary.rs"), ORDINARY);
    let output = cargo()
        .args(["test", "--quiet", "--test", "ordinary"])
        .env("CARGO_TARGET_DIR", room().join("target"))
        .current_dir(&project)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", words(&output));

    let tree = cargo()
        .args([
            "tree",
            "--prefix",
            "none",
            "--edges",
            "normal,build",
            "--format",
            "{p}",
        ])
        .current_dir(&project)
        .output()
        .unwrap();
    let tree = String::from_utf8_lossy(&tree.stdout).into_owned();
    let packages: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    let expected = [
        "intermezzo",
        "intermezzo-breakpoint",
        "intermezzo-macros",
        "without-explore",
    ];
    assert_eq!(packages, BTreeSet::from(expected), "{tree}");
}

/// Attributes that cannot be expanded: the attribute, the function, and what the compiler says.
const REFUSED: [(&str, &str, &str); 16] = [
    ("2", "fn f() {}", "write settings as `name = value`"),
    ("steps", "fn f() {}", "a setting is written `name = value`"),
    (
        "steps = 1 + 1",
        "fn f() {}",
        "a setting is a number, a text, `true` or `false`",
    ),
    (
        "args = 2",
        "fn f() {}",
        "write `args` with parentheses, as in `args(tasks = 2..=4)`",
    ),
    (
        "",
        "fn f(n: u8) {}",
        "`n` has no values: write `#[intermezzo::test(args(n = [a, b]))]`, or take no arguments",
    ),
    ("args(n = [1])", "fn f() {}", "the test has no argument `n`"),
    (
        "args(n = [1], n = [2])",
        "fn f(n: u8) {}",
        "`n` has its values already",
    ),
    (
        "args(n = [1]), args(n = [2])",
        "fn f(n: u8) {}",
        "`args` is given twice: write one list, as in `args(tasks = 2..=4)`",
    ),
    (
        "args(n = [])",
        "fn f(n: u8) {}",
        "`n` has no value: there would be no case",
    ),
    (
        "args(n = 2..2)",
        "fn f(n: u8) {}",
        "`n` has no value: there would be no case",
    ),
    (
        "args(n = 0..MOST)",
        "fn f(n: u8) {}",
        "write the values of `n` as `n = [a, b]` or `n = 2..=4`",
    ),
    (
        "args(n = 0..9999)",
        "fn f(n: u8) {}",
        "that is more than 1000 cases; each is a test of its own",
    ),
    (
        "contexts(few(steps = 1), few())",
        "fn f() {}",
        "there is a context `few` already",
    ),
    (
        "contexts(few)",
        "fn f() {}",
        "write the settings of `few` in parentheses, as in `few(preemptions = 1)`",
    ),
    (
        "expect(traces)",
        "fn f() {}",
        "write the expected number, as in `expect(executions = 90)`",
    ),
    (
        "expect(deadlock)",
        "#[should_panic] fn f() {}",
        "a test has either `#[should_panic]` or an expected finding",
    ),
];

#[test]
fn an_attribute_that_cannot_be_expanded_says_why() {
    let project = project("refused", "facade", "");
    throw_away::write(&project.join("src/lib.rs"), "");
    let test = |(at, (attribute, function, _)): (usize, &(&str, &str, &str))| {
        format!("mod m{at} {{ #[facade::test({attribute})] {function} }}\n")
    };
    let tests: String = REFUSED.iter().enumerate().map(test).collect();
    throw_away::write(&project.join("tests/refused.rs"), &tests);
    let output = cargo()
        .args(["check", "--test", "refused"])
        .env("CARGO_TARGET_DIR", room().join("target"))
        .current_dir(&project)
        .output()
        .unwrap();
    let said = words(&output).replace("  --> ", " --> ");
    assert!(!output.status.success(), "{said}");
    for (at, (attribute, _, reason)) in REFUSED.iter().enumerate() {
        let place = format!("error: {reason}\n --> tests/refused.rs:{}:", at + 1);
        assert!(said.contains(&place), "{attribute}: {reason}\n{said}");
    }
}

#[test]
fn a_release_build_that_would_explore_stops() {
    let project = project("explores-in-release", "intermezzo", "\"explore\"");
    throw_away::write(&project.join("src/lib.rs"), "");
    let output = cargo()
        .args(["check", "--release", "--quiet", "--manifest-path"])
        .arg(project.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", room().join("target"))
        // Outside the checkout, whose own configuration allows it.
        .current_dir(std::env::temp_dir())
        .output()
        .unwrap();
    let text = words(&output);
    assert!(!output.status.success(), "{text}");
    for expected in [
        "intermezzo's feature `explore` is on in a release build",
        "INTERMEZZO_IN_RELEASE=1",
        "[dev-dependencies]",
        "explore-in-release",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

/// Resolver 1, the default of a virtual workspace, unites the features that a package has for its tests with those that
/// it ships with.
#[test]
fn a_release_build_under_resolver_1_stops() {
    let member = project("under-resolver-1/member", "intermezzo", "");
    let workspace = member.parent().unwrap();
    let manifest = std::fs::read_to_string(member.join("Cargo.toml")).unwrap();
    let tests = format!(
        "[dev-dependencies]\nintermezzo = {{ path = {:?}, features = [\"explore\"] }}\n",
        self::workspace()
    );
    let named = manifest.replace("under-resolver-1/member", "member");
    let (package, _) = named.split_once("\n[profile").unwrap();
    throw_away::write(
        &member.join("Cargo.toml"),
        &(package.replace("[workspace]\n", "") + "\n" + &tests),
    );
    throw_away::write(&member.join("src/lib.rs"), "");
    std::fs::rename(member.join("Cargo.lock"), workspace.join("Cargo.lock")).unwrap();
    for (resolver, stops) in [("", true), ("resolver = \"2\"\n", false)] {
        throw_away::write(
            &workspace.join("Cargo.toml"),
            &format!("[workspace]\nmembers = [\"member\"]\n{resolver}"),
        );
        let output = cargo()
            .args(["check", "--release", "--quiet", "--manifest-path"])
            .arg(workspace.join("Cargo.toml"))
            .env("CARGO_TARGET_DIR", room().join("target"))
            .current_dir(std::env::temp_dir())
            .output()
            .unwrap();
        let text = words(&output);
        assert_eq!(!output.status.success(), stops, "{resolver}: {text}");
        let says = "intermezzo's feature `explore` is on in a release build";
        assert_eq!(text.contains(says), stops, "{resolver}: {text}");
    }
}

/// Runs the build script itself, in each situation.
#[test]
fn exploring_on_purpose_is_allowed() {
    let script = room().join("script");
    std::fs::create_dir_all(&script).unwrap();
    let program = script.join("build-script");
    let compiled = Command::new("rustc")
        .args(["--edition", "2024", "-o"])
        .arg(&program)
        .arg(workspace().join("build.rs"))
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", words(&compiled));
    let stops = |variables: &[(&str, &str)]| {
        let output = Command::new(&program)
            .env_clear()
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        words(&output).contains("cargo::error=")
    };
    let explores = ("CARGO_FEATURE_EXPLORE", "1");
    let release = ("PROFILE", "release");
    assert!(stops(&[explores, release]));
    assert!(stops(&[explores, release, ("INTERMEZZO_IN_RELEASE", "")]));
    assert!(!stops(&[explores, ("PROFILE", "debug")]));
    assert!(!stops(&[release]));
    assert!(!stops(&[explores, release, ("INTERMEZZO_IN_RELEASE", "1")]));
    assert!(!stops(&[
        explores,
        release,
        ("CARGO_FEATURE_EXPLORE_IN_RELEASE", "1")
    ]));
}

#[test]
fn every_crate_can_be_published() {
    let output = cargo()
        .args(["package", "--workspace", "--exclude", "intermezzo-peers"])
        .args(["--no-verify", "--allow-dirty", "--target-dir"])
        .arg(room().join("packages"))
        .current_dir(workspace())
        .output()
        .unwrap();
    let text = words(&output);
    assert!(output.status.success(), "{text}");
    let metadata = cargo_metadata::MetadataCommand::new()
        .current_dir(workspace())
        .no_deps()
        .exec()
        .unwrap();
    for package in metadata.workspace_packages() {
        if package.publish.as_ref().is_some_and(Vec::is_empty) {
            let unpublished = ["intermezzo-peers", "intermezzo-explorer-short-tests"];
            assert!(
                unpublished.contains(&package.name.as_str()),
                "{} cannot be published",
                package.name
            );
            continue;
        }
        assert!(
            text.contains(&format!("Packaging {} v", package.name)),
            "{}: {text}",
            package.name
        );
        assert!(
            package.description.is_some() && package.license.is_some(),
            "{}",
            package.name
        );
        assert!(
            !package.keywords.is_empty() && !package.categories.is_empty(),
            "{}",
            package.name
        );
    }
}
