//! `merge`: merges the reports of shares, and refuses reports that do not belong together and damaged files.

use crate::{Ran, command, run};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// A search of a few hundred executions, of which only some show the bug.
const SEARCH: [&str; 6] = ["corpus", "run", "balance", "--keep-going", "--minimise", "0"];

/// Returns the report of [`SEARCH`]'s program or another one, explored with these additional flags.
fn searched(directory: &Path, program: &str, more: &[&str]) -> Value {
    let mut arguments: Vec<&str> = SEARCH.to_vec();
    arguments[2] = program;
    arguments.extend(more);
    arguments.push("--json");
    let ran = Ran::of(&mut command(directory, &arguments));
    let value: Value = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| panic!("{error}: {} {}", ran.stdout, ran.stderr));
    value
}

/// Writes the reports of these shares of a search. Returns their files.
fn shares(directory: &Path, program: &str, total: u32, more: &[&str]) -> Vec<PathBuf> {
    let share = |number: u32| {
        let partition = format!("{number}/{total}");
        let report = searched(directory, program, &[more, &["--partition", &partition]].concat());
        assert_eq!(report["share"]["share"], partition);
        assert_ne!(
            report["coverage"]["kind"], "exhaustive",
            "a share claims everything"
        );
        let path = directory.join(format!("share-{number}.json"));
        fs::write(&path, report.to_string()).unwrap();
        path
    };
    (1..=total).map(share).collect()
}

fn merge(directory: &Path, more: &[&str], files: &[PathBuf]) -> Ran {
    let mut arguments = vec!["merge"];
    arguments.extend(more);
    arguments.extend(files.iter().map(|path| path.to_str().unwrap()));
    Ran::of(&mut command(directory, &arguments))
}

fn merged(directory: &Path, code: i32, files: &[PathBuf]) -> Value {
    let ran = merge(directory, &["--json"], files);
    assert_eq!(ran.code, code, "{} {}", ran.stdout, ran.stderr);
    let mut value: Value = serde_json::from_str(&ran.stdout).unwrap();
    value["reports"][0].take()
}

#[track_caller]
fn refused(directory: &Path, files: &[PathBuf], says: &[&str]) {
    let ran = merge(directory, &[], files);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    for words in says {
        assert!(ran.stderr.contains(words), "{words:?} is not in: {}", ran.stderr);
    }
}

#[test]
fn all_shares_together_are_the_whole() {
    for (program, more) in [
        ("counter", &["--set", "tasks=3"][..]),
        ("balance", &[]),
        ("counter", &["--set", "tasks=3", "--reduction", "dpor"]),
        ("balance", &["--reduction", "dpor"]),
        ("counter", &["--set", "tasks=3", "--reduction", "caching"]),
        ("counter", &["--set", "tasks=3", "--preemptions", "1"]),
        ("balance", &["--strategy", "random", "--executions", "100"]),
    ] {
        for total in [2, 3, 8] {
            let directory = tempfile::tempdir().unwrap();
            let whole = searched(directory.path(), program, more);
            let files = shares(directory.path(), program, total, more);
            let code = i32::from(whole["verdict"] == "fail");
            let all = merged(directory.path(), code, &files);
            for field in ["verdict", "coverage", "traces", "program", "limits", "max_tasks"] {
                assert_eq!(all[field], whole[field], "{program} {more:?} in {total}: {field}");
            }
            let kinds = |report: &Value| {
                let findings = report["findings"].as_array().unwrap().iter();
                findings
                    .map(|one| (one["kind"].clone(), one["message"].clone()))
                    .collect::<Vec<_>>()
            };
            assert_eq!(kinds(&all), kinds(&whole));
            if !more.contains(&"--reduction") {
                assert_eq!(
                    all["executions"], whole["executions"],
                    "{program} {more:?} in {total}"
                );
            }
        }
    }
}

#[test]
fn the_merged_report_is_a_report() {
    let directory = tempfile::tempdir().unwrap();
    let files = shares(directory.path(), "balance", 3, &[]);
    // For a directory, all files in it are read, except for schedules.
    let out = directory.path().join("merged");
    let all = [files[0].parent().unwrap().to_path_buf()];
    let ran = merge(directory.path(), &["--reports", out.to_str().unwrap()], &all);
    assert_eq!(ran.code, 1, "{} {}", ran.stdout, ran.stderr);
    let written: Vec<PathBuf> = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(
        written.len() >= 2,
        "a report, and the schedule of its finding: {written:?}"
    );
    let page = directory.path().join("page.html");
    let report = written
        .iter()
        .find(|path| !path.to_str().unwrap().ends_with("schedule.json"));
    let shown = [
        "view",
        report.unwrap().to_str().unwrap(),
        "--out",
        page.to_str().unwrap(),
    ];
    let ran = run(&shown).ends_with(0);
    assert!(page.exists(), "{}", ran.stderr);
}

#[test]
fn other_reports_are_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let files = shares(path, "counter", 3, &["--set", "tasks=3"]);
    refused(path, &files[..2], &["share is missing: 3/3"]);
    refused(path, &files[2..], &["shares are missing: 1/3, 2/3"]);
    let twice = [files.clone(), vec![files[1].clone()]].concat();
    refused(path, &twice, &["share 2/3 occurs twice", "share-2.json and "]);
    let changed = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut report: Value = serde_json::from_slice(&fs::read(&files[1]).unwrap()).unwrap();
        change(&mut report);
        let other = path.join(name);
        fs::write(&other, report.to_string()).unwrap();
        vec![files[0].clone(), other, files[2].clone()]
    };
    let with = |field: &str, value: Value| {
        let field = field.to_owned();
        changed("other.json", &move |report| {
            report["share"][&field] = value.clone()
        })
    };
    refused(
        path,
        &with("code", "1-2-3".into()),
        &["share-1.json and ", "other.json are of different code"],
    );
    refused(
        path,
        &with("version", "9".into()),
        &["different versions of intermezzo"],
    );
    refused(
        path,
        &with("share", "2/4".into()),
        &["different divisions, 1/3 and 2/4"],
    );
    let other = changed("other.json", &|report| {
        report["share"]["settings"]["steps"] = "7".into()
    });
    refused(path, &other, &["`steps` is \"20000\" and \"7\""]);
    let whole = changed("other.json", &|report| {
        drop(report.as_object_mut().unwrap().remove("share"))
    });
    refused(
        path,
        &whole,
        &["other.json reports on the whole search", "on share 1/3"],
    );
    // A weaker reduction divides its search into other shares.
    let weaker = changed("other.json", &|report| report["reduction"] = "dpor".into());
    let all = merged(path, 3, &weaker);
    assert_eq!(
        (&all["verdict"], &all["coverage"]["kind"]),
        (&json!("inconclusive"), &json!("bounded"))
    );
    refused(path, &[path.join("none.json")], &["cannot read", "none.json"]);
    refused(path, &[path.join("empty")], &["cannot read"]);
    fs::create_dir(path.join("empty")).unwrap();
    refused(path, &[path.join("empty")], &["there is no report to merge"]);
}

/// The shares into which a share was divided take its place.
#[test]
fn shares_within_shares_are_the_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    for more in [
        &["--set", "tasks=3"][..],
        &["--set", "tasks=3", "--reduction", "dpor"],
        &["--set", "tasks=3", "--preemptions", "1"],
        &["--strategy", "random", "--executions", "100"],
    ] {
        let whole = searched(path, "counter", more);
        let file = |share: &str| {
            let report = searched(path, "counter", &[more, &["--partition", share]].concat());
            let file = path.join(format!("{}.json", share.replace('/', "-")));
            fs::write(&file, report.to_string()).unwrap();
            file
        };
        let files = ["1/3", "2/3.1/2", "2/3.2/2.1/2", "2/3.2/2.2/2", "3/3"].map(file);
        let all = merged(path, 0, &files);
        for field in ["verdict", "coverage", "traces", "executions"] {
            assert_eq!(all[field], whole[field], "{more:?}: {field}");
        }
        let but = |at: usize| [&files[..at], &files[at + 1..]].concat();
        refused(path, &but(2), &["share is missing: 2/3.2/2.1/2"]);
        let both = [&files[..], &[file("2/3")]].concat();
        refused(
            path,
            &both,
            &["2-3.json and ", "overlap: share 2/3.1/2 is a part of 2/3"],
        );
    }
}

/// A share that did not end is named, whatever else its report says.
#[test]
fn a_share_that_did_not_end_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let flags = ["--set", "tasks=3"];
    let files = shares(path, "counter", 2, &flags);
    let cut = searched(
        path,
        "counter",
        &[&flags[..], &["--partition", "2/2", "--executions", "5"]].concat(),
    );
    fs::write(&files[1], cut.to_string()).unwrap();
    let all = merged(path, 0, &files);
    assert_eq!(all["coverage"]["kind"], "bounded");
    let reason = all["coverage"]["reason"].as_str().unwrap();
    assert!(reason.starts_with("share 2/2: the limit of "), "{reason}");
    let mut lies: Value = serde_json::from_slice(&fs::read(&files[1]).unwrap()).unwrap();
    lies["share"]["covers"] = json!({"kind": "exhaustive"});
    fs::write(&files[1], lies.to_string()).unwrap();
    assert_eq!(merged(path, 0, &files)["coverage"]["kind"], "bounded");
}

/// If there are more shares than executions, some shares have none.
#[test]
fn shares_may_be_empty() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let flags = ["--set", "tasks=1", "--set", "increments=1"];
    let whole = searched(path, "counter", &flags);
    let files = shares(path, "counter", 8, &flags);
    let empty: Value = files
        .iter()
        .map(|file| serde_json::from_slice::<Value>(&fs::read(file).unwrap()).unwrap())
        .find(|report| report["executions"] == 0)
        .expect("a share without executions");
    assert_eq!(empty["verdict"], "pass");
    let all = merged(path, 0, &files);
    assert_eq!(
        (&all["executions"], &all["coverage"]),
        (&whole["executions"], &whole["coverage"])
    );
}

/// A file that was cut, or altered at some byte, leads to a message, and never to a panic.
#[test]
fn damaged_files_end_with_a_message() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let files = shares(path, "balance", 2, &[]);
    let good = fs::read(&files[1]).unwrap();
    let mut seed = 7_u64;
    let mut roll = |most: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % most
    };
    let bad = path.join("bad.json");
    let mut codes = [0_u32; 4];
    let mutations = std::env::var("MUTATED_SHARES").map_or(100, |number| number.parse().unwrap());
    for _ in 0..mutations {
        let mut bytes = good.clone();
        match roll(5) {
            0 => bytes.truncate(roll(good.len())),
            1 => {
                let at = roll(good.len());
                bytes[at] = roll(256) as u8;
            }
            2 => {
                let at = roll(good.len());
                bytes[at] ^= 1 << roll(8);
            }
            3 => {
                let (from, to) = (roll(good.len()), roll(good.len()));
                bytes.drain(from.min(to)..(from.min(to) + 20).min(good.len()));
            }
            _ => {
                // Numbers are replaced by too large ones, or by other values.
                let text = String::from_utf8(bytes).unwrap();
                let with = ["18446744073709551615", "-1", "1e400", "null", "[]", "{}"][roll(6)];
                let digit = |letter: char| letter.is_ascii_digit();
                let at = text[roll(text.len())..].find(digit).unwrap_or_default();
                bytes = (text[..at].to_owned() + with + text[at..].trim_start_matches(digit)).into_bytes();
            }
        }
        fs::write(&bad, &bytes).unwrap();
        let ran = merge(path, &["--json"], &[files[0].clone(), bad.clone()]);
        assert!((0..4).contains(&ran.code), "{}: {}", ran.code, ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        codes[ran.code as usize] += 1;
        match ran.code {
            2 => assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr),
            _ => assert!(ran.stderr.is_empty(), "{}", ran.stderr),
        }
    }
    assert!(codes[2] * 2 > codes.iter().sum(), "most are refused: {codes:?}");
}

/// Of some nine thousand executions, two and three shares of `dpor` within a bound run at most one in a hundred more than
/// two workers, which remember no states either, and eight at most five.
#[test]
fn shares_of_dpor_run_few_executions_more() {
    let directory = tempfile::tempdir().unwrap();
    let flags = ["--reduction", "dpor"];
    let whole = searched(directory.path(), "big0", &[&flags[..], &["--jobs", "2"]].concat());
    for total in [2, 3, 8] {
        let files = shares(directory.path(), "big0", total, &flags);
        let all = merged(directory.path(), 0, &files);
        for field in ["executions", "traces", "redundant", "coverage"] {
            assert_eq!(all[field], whole[field], "{field} in {total}");
        }
        let elsewhere: u64 = files
            .iter()
            .map(|file| serde_json::from_slice::<Value>(&fs::read(file).unwrap()).unwrap())
            .map(|report| report["share"]["elsewhere"].as_u64().unwrap())
            .sum();
        let executions = whole["executions"].as_u64().unwrap();
        let most = if total < 8 { 1 } else { 5 };
        assert!(
            elsewhere * 100 <= executions * most,
            "{elsewhere} besides {executions}, in {total}"
        );
    }
}
