//! Histories that others recorded and labelled. A part of them is in `histories`, with their sources. The tests of
//! all of them are ignored, because they are not part of the project: `INTERMEZZO_ORACLE_HISTORIES` names their
//! folder.

use intermezzo_refinement::history::formats::{Format, Recorded};
use intermezzo_refinement::recorded::{Judgement, Object, Outcome, STATES_MAX, judge};
use std::path::{Path, PathBuf};

/// Returns the folder of those that are part of the project.
fn part() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/histories")
}

/// Returns the folder of all of them.
fn all() -> PathBuf {
    let folder = std::env::var_os("INTERMEZZO_ORACLE_HISTORIES");
    folder
        .expect("INTERMEZZO_ORACLE_HISTORIES names the folder of the histories")
        .into()
}

fn judged(path: &Path, object: Option<Object>) -> Judgement {
    let text = std::fs::read_to_string(path).expect("a file");
    let format = Format::guess(path, &text);
    let (events, told) = format
        .read(&text)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let object = object.unwrap_or_else(|| told.expect("the file tells").parse().expect("an object"));
    let recorded = Recorded::pair(events).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    judge(&recorded, object, STATES_MAX, None).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("a name")
}

/// Returns how many are not linearizable, and how many are.
fn registers_of_etcd(folder: &Path) -> [u32; 2] {
    let labels = std::fs::read_to_string(folder.join("jepsen_labels.csv")).expect("labels");
    let mut counts = [0, 0];
    for line in labels.lines().skip(1) {
        let (file, label) = line.split_once(',').expect("a file and a label");
        let judgement = judged(&folder.join("jepsen").join(file), Some(Object::Register));
        let linearizable = judgement.outcome == Outcome::Linearizable;
        let expected = label.trim() == "linearizable";
        assert_eq!(linearizable, expected, "{file}: {:?}", judgement.outcome);
        counts[usize::from(expected)] += 1;
    }
    counts
}

/// Returns how many there are.
fn key_value_stores(folder: &Path) -> usize {
    let files = files(&folder.join("kv"));
    for path in &files {
        let judgement = judged(path, Some(Object::KeyValue));
        let linearizable = judgement.outcome == Outcome::Linearizable;
        assert_eq!(
            linearizable,
            name(path).contains("-ok"),
            "{}: {:?}",
            path.display(),
            judgement.outcome
        );
    }
    files.len()
}

/// Returns how many have a label.
fn queues_and_stacks(folder: &Path) -> u32 {
    let mut labelled = 0;
    for path in files(&folder.join("calls")) {
        let judgement = judged(&path, None);
        let name = name(&path);
        let bad = ["violation", "dup-removes", "invalid-remove"];
        let expected = if bad.iter().any(|bad| name.contains(bad)) {
            false
        } else if name.contains("lifo-safe") {
            true
        } else {
            println!("{name}: {:?}", judgement.outcome == Outcome::Linearizable);
            continue;
        };
        assert_eq!(
            judgement.outcome == Outcome::Linearizable,
            expected,
            "{name}: {:?}",
            judgement.outcome
        );
        labelled += 1;
    }
    labelled
}

#[test]
fn a_part_is_judged_as_it_is_labelled() {
    let folder = part();
    assert_eq!(registers_of_etcd(&folder), [14, 5]);
    assert_eq!(key_value_stores(&folder), 4);
    assert_eq!(queues_and_stacks(&folder), 7);
}

#[test]
#[ignore = "INTERMEZZO_ORACLE_HISTORIES must name the folder of all the histories"]
fn all_are_judged_as_they_are_labelled() {
    let folder = all();
    assert_eq!(registers_of_etcd(&folder), [79, 23]);
    assert_eq!(key_value_stores(&folder), 6);
    assert_eq!(queues_and_stacks(&folder), 7);
}
