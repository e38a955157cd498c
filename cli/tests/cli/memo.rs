//! `--iroots`, `--strategy maple` and memos: interleaving coverage from the command line.

use super::{json, run};

const COVERAGE: [&str; 5] = ["corpus", "run", "fai-ok", "--strategy", "maple"];

#[test]
fn any_search_can_be_measured() {
    let report = json(0, &["corpus", "run", "fai-ok", "--iroots"]);
    assert_eq!(report["iroots"]["total"], 3);
    assert_eq!(report["iroots"]["exposed"], serde_json::json!([1, 1, 1, 0, 0, 0]));
    assert_eq!(report["iroots"]["search"], serde_json::Value::Null);
    assert_eq!(
        json(0, &["corpus", "run", "fai-ok"])["iroots"],
        serde_json::Value::Null
    );
}

#[test]
fn a_memo_is_shared_by_processes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("memo");
    let file = path.to_str().unwrap();
    let search = format!("maple(memo={file})");
    let with_memo = [&COVERAGE[..4], &[&search]].concat();
    let first = json(0, &with_memo);
    let second = json(0, &with_memo);
    let attempts = |report: &serde_json::Value| report["iroots"]["search"]["attempts"].as_u64().unwrap();
    assert!(
        attempts(&first) > 0 && attempts(&second) == 0,
        "{first}\n{second}"
    );
    std::fs::write(&path, "a letter").unwrap();
    run(&with_memo).refused(&["something else than a memo", "left alone"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "a letter");
    let unsplit = [&COVERAGE[..], &["--jobs", "2"]].concat();
    run(&unsplit).refused(&["`jobs`", "one after the other"]);
}
