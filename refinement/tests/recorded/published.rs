//! Histories that others recorded and labelled. They are not part of the project: `INTERMEZZO_ORACLE_HISTORIES` says
//! where they are, else `../shared/oracle/histories` beside the workspace. Where they are not, the tests say so.

use intermezzo_refinement::history::formats::{Format, Recorded};
use intermezzo_refinement::recorded::{Judgement, Object, Outcome, STATES_MAX, judge};
use std::path::{Path, PathBuf};

/// The folder, if it is there.
fn folder() -> Option<PathBuf> {
    let folder = match std::env::var_os("INTERMEZZO_ORACLE_HISTORIES") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/oracle/histories"),
    };
    if folder.is_dir() {
        return Some(folder);
    }
    println!(
        "not compared with published histories: {} is not there (INTERMEZZO_ORACLE_HISTORIES names another folder)",
        folder.display()
    );
    None
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

#[test]
fn registers_of_etcd() {
    let Some(folder) = folder() else { return };
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
    assert_eq!(counts, [79, 23]);
}

#[test]
fn key_value_stores() {
    let Some(folder) = folder() else { return };
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
    assert_eq!(files.len(), 6);
}

#[test]
fn queues_and_stacks() {
    let Some(folder) = folder() else { return };
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
    assert_eq!(labelled, 7);
}
