//! No command overwrites the files of other programs.

use super::{CHECKPOINT, MEMO, entries, report, spelled_out};
use crate::{Ran, command};
use intermezzo::refinement::{ObservationSet, refine};
use intermezzo::sync::Mutex;
use std::fs;
use std::path::Path;

/// Commands that write, each with its output. In the arguments, `OUT` stands for it.
const WRITING: &[(&str, &[&str])] = &[
    ("page.html", &["view", "report.json", "--out", "OUT"]),
    (
        "report.sarif",
        &["view", "report.json", "--format", "sarif", "--out", "OUT"],
    ),
    ("page.html", &["corpus", "run", "abba", "--view", "OUT"]),
    ("page.html", &["replay", "TOKEN", "--view", "OUT"]),
    ("first.json", &["corpus", "run", "abba", "--schedule-out", "OUT"]),
    ("search", CHECKPOINT),
    ("memo", MEMO),
    (
        "drawing.svg",
        &[
            "tune",
            "counter",
            "--grow",
            "tasks=1..2",
            "--strategies",
            "dfs",
            "--svg",
            "OUT",
        ],
    ),
    (
        "results",
        &["tune", "counter", "--strategies", "dfs", "--out", "OUT"],
    ),
    (
        "results/results.jsonl",
        &["tune", "counter", "--strategies", "dfs", "--out", "results"],
    ),
    ("mine", &["monitor", "new", "OUT"]),
];

/// Contents of existing files.
const THERE: &[&[u8]] = &[
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    b"Dear diary,\ntoday nothing raced.\n",
    b"{\"format\": \"somebody-elses/1\"}",
    b"<svg>mine</svg>",
    b"\xff\xfe",
];

#[test]
fn files_of_other_programs_are_left_alone() {
    let directory = super::directory();
    let (report, token) = report(directory.path());
    for (out, arguments) in WRITING {
        let directory = super::directory();
        let directory = directory.path();
        fs::write(directory.join("report.json"), &report).unwrap();
        let arguments = spelled_out(&spelled_out(arguments, "OUT", out), "TOKEN", &token);
        let path = directory.join(out);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Another format of ours must not be overwritten either.
        let schedule = br#"{"format":"intermezzo-schedule/1"}"#;
        let other = if *out == "first.json" {
            report.as_bytes()
        } else {
            schedule
        };
        for there in THERE.iter().chain([&other]) {
            fs::write(&path, there).unwrap();
            left_alone(directory, &arguments, out);
            fs::remove_file(&path).unwrap();
        }
        // Some commands write into a directory, which they create.
        if *out != "results" {
            fs::create_dir(&path).unwrap();
            left_alone(directory, &arguments, out);
        }
    }
}

/// Checks that the command is refused with the name of the file, and that nothing in the directory has changed,
/// except locks.
fn left_alone(directory: &Path, arguments: &[&str], out: &str) {
    let lock = directory.join(format!("{out}.lock"));
    let but_locks = || {
        let mut entries = entries(directory);
        entries.retain(|path, bytes| *path != lock || bytes.as_deref() != Some(b""));
        entries
    };
    let before = but_locks();
    let ran = Ran::of(&mut command(directory, arguments)).ends_with(2);
    assert!(ran.stderr.contains(out), "{arguments:?}: {}", ran.stderr);
    assert!(but_locks() == before, "{arguments:?}: something was changed");
}

/// Tests write sets of observations.
#[test]
fn observations_are_not_written_over_something_else() {
    let directory = super::directory();
    let observed = refine(|| Mutex::new(0))
        .op("add", (), |n: &Mutex<u8>, ()| *n.lock().unwrap() += 1)
        .scenarios(1)
        .observe();
    let set: ObservationSet = observed.expect("observations");
    let path = directory.path().join("observations.json");
    let mention = b"what intermezzo-observations/1 has, I wrote into my diary";
    for there in THERE.iter().chain([&&mention[..]]) {
        fs::write(&path, there).unwrap();
        // The temporary file, which is written first and then renamed, is checked as well.
        for name in ["observations.json", "observations"] {
            fs::write(directory.path().join("observations.new"), there).unwrap();
            let before = entries(directory.path());
            let said = set.save(directory.path().join(name)).unwrap_err().to_string();
            assert!(said.contains(name), "{said}");
            assert!(
                entries(directory.path()) == before,
                "{name}: something was changed"
            );
        }
    }
    fs::remove_file(directory.path().join("observations.new")).unwrap();
    fs::remove_file(&path).unwrap();
    for _ in 0..2 {
        set.save(&path).expect("no foreign file is there");
    }
    assert_eq!(ObservationSet::load(&path).unwrap(), set);
    assert_eq!(entries(directory.path()).len(), 1);
}
