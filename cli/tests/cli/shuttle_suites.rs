//! The tests of shuttle itself and of salsa, each under shuttle and under `shims/shuttle`.

use crate::registry::{Ended, Rows, copy, root, run_tests, sources, write_page};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

const PAGE: &str = "docs/SHUTTLE_SUITES.md";

/// The beginning of the page, which is written by hand.
const BEGINNING: &str = "tests/shuttle_suites/page.md";

const TOTALS: &str = "\
| suite | tests | under shuttle | here | in both | shuttle, s | here, s |
|---|---:|---|---|---:|---:|---:|
";

const HEADING: &str = "\
| suite | test | shuttle | s | here | s |
|---|---|---|---:|---|---:|
";

const SHUTTLE: &str = "0.9.10";
const SALSA: &str = "0.28.5";

/// The dependencies of shuttle's tests, except shuttle itself.
const DEPENDENCIES: &str = r#"
futures = "0.3.15"
pin-project = "1.1.3"
proptest = "1.0.0"
proptest-derive = "0.5.0"
rand = "0.8"
regex = "1.5.5"
rustversion = "1"
tempfile = "3.2.0"
test-log = { version = "0.2.8", default-features = false, features = ["trace"] }
tracing = { version = "0.1", default-features = false, features = ["std"] }
tracing-subscriber = { version = "0.3.9", features = ["env-filter"] }
trybuild = "1.0"
"#;

/// A crate of shuttle's that its tests name.
const ENGINE: &str = "shuttle-engine = \"0.1\"\n";

/// Tests of shuttle that do not compile with the drop-in, and would prevent the others from being built: the file, the
/// first line of each, and its last. They name `shuttle_engine`, the literal of `LocalKey`, or a thread-local with `'_`
/// in its type.
const NOT_BUILT: [(&str, &str, &str); 2] = [
    ("basic/thread.rs", "    fn destroyed_last_key() {", "\n    }\n"),
    ("basic/thread.rs", "    fn regression_86() {", "\n    }\n"),
];

/// Returns the table of a manifest that replaces shuttle by the drop-in.
fn patch(is_ours: bool) -> String {
    let shim = root().join("shims/shuttle");
    match is_ours {
        true => format!("[patch.crates-io]\nshuttle = {{ path = {shim:?} }}\n"),
        false => String::new(),
    }
}

/// Makes a project of shuttle's own tests.
fn project_of_shuttle(sources: &Path, project: &Path, is_ours: bool) {
    copy(&sources.join("tests"), &project.join("tests"), &[]);
    fs::create_dir_all(project.join("src")).unwrap();
    fs::write(project.join("src/lib.rs"), "").unwrap();
    let manifest = format!(
        "[package]\nname = \"shuttle-suite\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n[profile.release]\n\
         debug-assertions = true\n[dependencies]\nshuttle = {{ version = \"={SHUTTLE}\", features = [\"vector-clocks\"] \
         }}\n{DEPENDENCIES}\n{}",
        if is_ours { patch(true) } else { ENGINE.to_owned() }
    );
    fs::write(project.join("Cargo.toml"), manifest).unwrap();
    if !is_ours {
        return;
    }
    let change = |file: &str, change: &dyn Fn(String) -> String| {
        let file = project.join("tests").join(file);
        let text = fs::read_to_string(&file).unwrap();
        let changed = change(text.clone());
        assert_ne!(changed, text, "{}", file.display());
        fs::write(file, changed).unwrap();
    };
    for (file, begin, end) in NOT_BUILT {
        change(file, &|text| {
            let at = text.find(begin).unwrap();
            let attribute = text[..at].rfind("#[test]").unwrap();
            let length = text[at..].find(end).unwrap() + end.len();
            let mut before: Vec<&str> = text[..attribute].lines().collect();
            // Removes the line of the attribute, and the test's documentation.
            before.pop();
            while before
                .last()
                .is_some_and(|line| line.trim_start().starts_with("///"))
            {
                before.pop();
            }
            before.join("\n") + "\n" + &text[at + length..]
        });
    }
}

/// Makes a copy of salsa.
fn project_of_salsa(sources: &Path, project: &Path, is_ours: bool) {
    // Without the lock file with which the package was published, and without its choice of a compiler.
    copy(sources, project, &["Cargo.lock", "rust-toolchain.toml"]);
    let mut manifest = fs::read_to_string(sources.join("Cargo.toml")).unwrap();
    write!(manifest, "\n[workspace]\n{}", patch(is_ours)).unwrap();
    fs::write(project.join("Cargo.toml"), manifest).unwrap();
}

/// Builds a test target, and runs each of its tests. Returns their ends by name; none if the target does not build.
fn results(project: &Path, target: &Path, arguments: &[&str]) -> BTreeMap<String, Ended> {
    let mut cargo = Command::new("cargo");
    cargo
        .args(["test", "--release", "--no-run"])
        .args(arguments)
        .current_dir(project)
        .env("CARGO_TARGET_DIR", target)
        .env("RUSTFLAGS", "--cap-lints warn");
    let all = run_tests(&mut cargo, &[]);
    let named = |((_, test), ended)| (test, ended);
    // `ui` compares messages of the compiler.
    all.into_iter()
        .map(named)
        .filter(|(test, _)| test != "ui")
        .collect()
}

/// Returns the cells of a test's end.
fn cells(ended: Option<&Ended>) -> String {
    ended.map_or("not built | ".into(), |ended| {
        format!("{} | {:.2}", ended.verdict, ended.seconds)
    })
}

#[test]
#[ignore = "it takes a quarter of an hour, and crates from the registry"]
fn suites_for_shuttle_are_run() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shuttle-suites");
    let only = std::env::var("SHUTTLE_SUITES").unwrap_or_default();
    let mut rows = Rows::default();
    type Make = fn(&Path, &Path, bool);
    let suites: [(&str, &str, Make, &[&str]); 2] = [
        ("shuttle", SHUTTLE, project_of_shuttle, &["--test", "mod"]),
        (
            "salsa",
            SALSA,
            project_of_salsa,
            &["--features", "shuttle", "--test", "parallel"],
        ),
    ];
    for (name, version, make, arguments) in suites.iter().filter(|suite| suite.0.contains(&only)) {
        let sources = &sources(&directory.join("sources"), [(*name, *version)])[*name];
        let ended = [false, true].map(|is_ours| {
            let side = directory.join(if is_ours { "here" } else { "shuttle" });
            let project = side.join(name);
            make(sources, &project, is_ours);
            results(&project, &side.join("target"), arguments)
        });
        rows.add((*name, *version), ended, cells);
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        write_page(PAGE, BEGINNING, [TOTALS, &rows.totals], [HEADING, &rows.tests]);
    }
}
