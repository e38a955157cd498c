//! Real code, unchanged: queues and deques of crates.io, and code written for loom and for shuttle, built on the look-alikes.
//!
//! A project is written below the target directory, so that its build is kept. Crates with a switch for loom get
//! `shims/loom`. The sources of the others are copied byte by byte, and their manifests replace `core` and `std` by
//! `shims/core` and `shims/std`. The crates are dependencies of the tests, so that their sources are available.
#![allow(clippy::print_stderr, reason = "the figures are for who runs it")]

#[path = "common/throw_away.rs"]
mod throw_away;

use cargo_metadata::{Metadata, MetadataCommand};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::thread;
use throw_away::write;

/// The crates that are tested and their dependencies; `true` for those whose switch for loom covers everything.
const CRATES: &[(&str, &str, bool)] = &[
    ("crossbeam-queue", "0.3.14", false),
    ("crossbeam-deque", "0.8.8", false),
    // It has a switch, but yields by `std::thread::yield_now` nevertheless.
    ("crossbeam-utils", "0.8.23", false),
    ("crossbeam-epoch", "0.9.21", true),
    ("concurrent-queue", "2.5.0", true),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Makes a project with this program.
fn project(name: &str, manifest: &str, program: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let project = throw_away::project(root(), place, name, manifest);
    write(&project.join("src/main.rs"), program);
    project
}

/// The project of all tests here. There is only one, so that what it depends on is built only once.
static PROJECT: LazyLock<PathBuf> = LazyLock::new(|| {
    let sources = sources().expect("the crates are dependencies of the tests, and so are here");
    real_project(&sources)
});

/// Builds and runs a program of the project with these arguments, and returns its output.
fn run(program: &str, arguments: &[&str]) -> String {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("real-crates-target");
    let ask = |options: &[&str]| {
        Command::new(env!("CARGO"))
            .args(["run", "--quiet", "--bin", program])
            .args(options)
            .arg("--")
            .args(arguments)
            .current_dir(&*PROJECT)
            .env("CARGO_TARGET_DIR", &target)
            .env("RUSTFLAGS", "--cfg loom --cfg crossbeam_loom --cap-lints allow")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .output()
            .unwrap()
    };
    let mut ran = ask(&["--offline"]);
    if String::from_utf8_lossy(&ran.stderr).contains("--offline was specified") {
        // A crate is needed that the tests themselves do without.
        ran = ask(&[]);
    }
    let (out, err) = (
        String::from_utf8(ran.stdout).unwrap(),
        String::from_utf8_lossy(&ran.stderr),
    );
    assert!(ran.status.success(), "{program}: {}\n{out}\n{err}", ran.status);
    out
}

/// Returns a folder of the workspace, as a value in a manifest.
fn shim(name: &str) -> String {
    format!("{:?}", root().join("shims").join(name))
}

#[test]
fn code_written_for_loom_runs() {
    let out = run("loom_style", &[]);
    assert_eq!(out.lines().count(), 8, "{out}");
}

#[test]
fn code_written_for_shuttle_runs() {
    let out = run("shuttle_style", &[]);
    assert_eq!(out.lines().count(), 18, "{out}");
    let out = run("shuttle_parts", &[]);
    assert_eq!(out.lines().count(), 10, "{out}");
}

/// Returns the sources of the crates, from the registry's cache or the network.
fn sources() -> Result<Metadata, String> {
    let mut manifest = "[dependencies]\n".to_owned();
    for (name, version, _) in CRATES {
        manifest += &format!("{name} = \"={version}\"\n");
    }
    let project = project(
        "real-sources",
        &manifest,
        "//! Nothing: the crates are fetched.\nfn main() {}\n",
    );
    let ask = |options: &[&str]| {
        let options = options
            .iter()
            .map(|&option| option.to_owned())
            .collect::<Vec<_>>();
        MetadataCommand::new()
            .current_dir(&project)
            .other_options(options)
            .exec()
    };
    ask(&["--offline"])
        .or_else(|_| ask(&[]))
        .map_err(|error| error.to_string())
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copy = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy_all(&path, &copy),
            false => drop(fs::copy(&path, &copy).unwrap()),
        }
    }
}

/// Makes the project that tests the crates, each in the way that is possible.
fn real_project(sources: &Metadata) -> PathBuf {
    let mut manifest = format!(
        "[dependencies]\nintermezzo = {{ path = {:?}, features = [\"explore\"] }}\nserde_json = \"1\"\n\
         loom = {{ path = {}, features = [\"futures\"] }}\nshuttle = {{ path = {}, features = [\"vector-clocks\"] }}\n\
         tracing = {{ version = \"0.1\", default-features = false, features = [\"std\"] }}\n\
         tracing-core = {{ version = \"0.1\", default-features = false, features = [\"std\"] }}\n",
        root(),
        shim("loom"),
        shim("shuttle"),
    );
    let mut patch = format!("[patch.crates-io]\nloom = {{ path = {} }}\n", shim("loom"));
    for (name, version, switched) in CRATES {
        let features = if *switched { "\"loom\"" } else { "" };
        manifest += &format!("{name} = {{ version = \"={version}\", features = [{features}] }}\n");
        if !switched {
            patch += &format!("{name} = {{ path = \"amended/{name}\" }}\n");
        }
    }
    // Millions of executions would be slow without the profiles of the workspace.
    let ours = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let tables = ours.split("\n\n");
    let profiles: Vec<&str> = tables
        .filter(|table| table.contains("[profile.dev.package"))
        .collect();
    let project = project(
        "real-crates",
        &(manifest + &patch + &profiles.join("\n")),
        include_str!("real/program.rs"),
    );
    write(
        &project.join("src/bin/loom_style.rs"),
        include_str!("real/loom_style.rs"),
    );
    write(
        &project.join("src/bin/shuttle_style.rs"),
        include_str!("real/shuttle_style.rs"),
    );
    write(
        &project.join("src/bin/shuttle_parts.rs"),
        include_str!("real/shuttle_parts.rs"),
    );
    for (name, ..) in CRATES.iter().filter(|(.., switched)| !switched) {
        let mut packages = sources.packages.iter();
        let package = packages.find(|package| package.name.as_str() == *name).unwrap();
        let source = package.manifest_path.parent().unwrap().as_std_path();
        let copy = project.join("amended").join(name);
        copy_all(source, &copy);
        let manifest = fs::read_to_string(source.join("Cargo.toml")).unwrap();
        let amended = format!(
            "{manifest}\n[dependencies.core]\npackage = \"intermezzo-core\"\npath = {}\n\
             [dependencies.std]\npackage = \"intermezzo-std\"\npath = {}\n",
            shim("core"),
            shim("std")
        );
        fs::write(copy.join("Cargo.toml"), amended).unwrap();
    }
    project
}

/// The expected result of a subject.
enum Expected {
    /// It equals the object it is compared with, in every execution of every scenario.
    Pass,
    /// It does, within the bounds of the search.
    Bounded(&'static str),
    /// It does not: a finding of this kind, with these words in the report.
    Finding(&'static str, &'static str),
}

use Expected::{Bounded, Finding, Pass};

/// Schedules of yielding loops that are left out, besides the bound.
const FAIRNESS: &str = "fair scheduling left out";

const PREEMPTIONS: &str = "every execution with at most 2 preemptions";

/// The known results for the crates. `docs/LOOM.md` describes each finding.
const EXPECTED: &[(&str, Expected)] = &[
    ("SegQueue itself", Pass),
    ("SegQueue model", Pass),
    ("SegQueue model bounded", Bounded(PREEMPTIONS)),
    ("SegQueue next-block model", Pass),
    ("SegQueue len", Pass),
    ("SegQueue is_empty", Pass),
    ("SegQueue weak", Bounded(PREEMPTIONS)),
    ("ArrayQueue itself", Pass),
    ("ArrayQueue model", Pass),
    ("ArrayQueue model bounded", Bounded(PREEMPTIONS)),
    // While a value is forced into a full queue, the queue appears to have one value less.
    ("ArrayQueue len", Finding("refinement", "len() = 1")),
    ("ArrayQueue is_empty", Pass),
    ("ArrayQueue is_full", Finding("refinement", "is_full() = false")),
    ("ArrayQueue weak", Bounded(PREEMPTIONS)),
    // While one task takes the value out, another learns first that there is none, and then that there is no room.
    (
        "ConcurrentQueue single itself",
        Finding("refinement", "Err(Full("),
    ),
    ("ConcurrentQueue single model", Pass),
    ("ConcurrentQueue single model bounded", Bounded(PREEMPTIONS)),
    ("ConcurrentQueue bounded itself", Pass),
    ("ConcurrentQueue bounded three tasks", Pass),
    ("ConcurrentQueue bounded itself bounded", Bounded(PREEMPTIONS)),
    ("ConcurrentQueue bounded weak", Bounded(PREEMPTIONS)),
    ("ConcurrentQueue bounded len", Pass),
    ("ConcurrentQueue bounded force_push", Pass),
    // The write of `close` is overwritten: it has reported that it closed the queue, and the queue is open.
    (
        "ConcurrentQueue bounded force_push and close",
        Finding("refinement", "close() = true"),
    ),
    ("ConcurrentQueue unbounded itself", Pass),
    ("ConcurrentQueue unbounded three tasks", Pass),
    ("ConcurrentQueue unbounded itself bounded", Bounded(PREEMPTIONS)),
    ("ConcurrentQueue unbounded weak", Bounded(PREEMPTIONS)),
    ("ConcurrentQueue unbounded len", Pass),
    ("Worker fifo itself", Pass),
    ("Worker fifo model", Pass),
    (
        "Worker fifo model bounded",
        Bounded("preemptions out of scope are left out"),
    ),
    ("Worker fifo steal_batch", Pass),
    ("Worker lifo itself", Pass),
    ("Worker lifo model", Pass),
    (
        "Worker lifo model bounded",
        Bounded("preemptions out of scope are left out"),
    ),
    ("Worker lifo steal_batch", Pass),
    ("Injector itself", Pass),
    // Its execution is short: the task is parked, and no limit is reached.
    ("Backoff for ever", Finding("livelock", "no task can continue")),
    ("mistake: force_push in two", Finding("refinement", "force_push")),
    ("mistake: pop after a look", Finding("panic", "pop()")),
];

/// Returns the error in the result of a subject, if there is one.
fn wrong(result: &Value, expected: &Expected) -> Option<&'static str> {
    let short: Vec<&str> = result["short"]
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let failure = &result["failure"];
    match expected {
        Finding(kind, words) => {
            let text = failure["text"].as_str().unwrap_or_default();
            (failure["kind"] != *kind || !text.contains(words)).then_some("the finding is not there")
        }
        _ if !failure.is_null() => Some("there is a finding"),
        Pass => (result["verdict"] != "Pass" || !short.is_empty()).then_some("not in full"),
        Bounded(why) => {
            let is_known = |short: &&str| short.starts_with(why) || short.starts_with(FAIRNESS);
            (!short.iter().all(is_known)).then_some("another bound")
        }
    }
}

#[test]
fn queues_and_deques_are_what_they_say() {
    // Two processes, because each explores on one thread.
    let halves = thread::scope(|scope| {
        ["even", "odd"]
            .map(|half| scope.spawn(move || run("real-crates", &[half])))
            .map(|running| running.join().unwrap())
    });
    let results: Vec<Value> = halves
        .iter()
        .flat_map(|out| out.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let named = |result: &Value| result["subject"].as_str().unwrap().to_owned();
    let by_name: BTreeMap<String, &Value> = results.iter().map(|result| (named(result), result)).collect();
    for result in &results {
        let figure = |name: &str| result[name].as_u64().unwrap();
        eprintln!(
            "{:<46} {:>12} {:>3} scenarios {:>6} executions {:>6} traces {:>5} histories {:>3} not in full {:>6.2} s",
            named(result),
            result["verdict"].as_str().unwrap(),
            figure("scenarios"),
            figure("executions"),
            figure("traces"),
            figure("histories"),
            result["short"].as_array().unwrap().len(),
            result["seconds"].as_f64().unwrap(),
        );
    }
    assert_eq!(results.len(), EXPECTED.len(), "{:?}", by_name.keys());
    for (subject, expected) in EXPECTED {
        let result = by_name
            .get(*subject)
            .unwrap_or_else(|| panic!("no result of {subject}"));
        if let Some(why) = wrong(result, expected) {
            panic!("{subject}: {why}: {result:#}");
        }
    }
}
