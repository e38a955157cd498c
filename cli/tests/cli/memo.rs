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

/// The memo of a search is shown, merged and edited, and gives a target for the next search.
#[test]
fn a_memo_is_shown_merged_and_edited() {
    // Some of its iRoots are never exposed.
    const SEARCH: [&str; 4] = ["corpus", "run", "ccr", "--strategy"];
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (one, all) = (path("one.memo"), path("all.memo"));
    json(0, &[&SEARCH[..], &[&format!("maple(memo={one})")]].concat());
    let memo = json(0, &["memo", "show", &one]);
    let iroots = memo["iroots"].as_array().unwrap();
    let exposed = iroots.iter().filter(|iroot| iroot["exposed"] == true).count();
    assert!(exposed > 1 && iroots.len() > exposed, "{memo}");
    assert_eq!(memo["tests"]["corpus::ccr"]["explorations"], 1);
    let shown = run(&["memo", "show", &one]);
    for iroot in iroots {
        let (id, name) = (iroot["id"].as_str().unwrap(), iroot["name"].as_str().unwrap());
        let result = match iroot["exposed"].as_bool().unwrap() {
            true => "exposed".to_owned(),
            false => format!("tried {}", iroot["attempts"]),
        };
        let line = format!("{id}  {result:<8}  {name}\n");
        assert!(shown.stdout.contains(&line), "{line} is not in\n{}", shown.stdout);
    }
    let sums = format!(
        "iRoots: {exposed} exposed, {} tried without success; tests: 1, ",
        iroots.len() - exposed
    );
    assert!(shown.stdout.contains(&sums), "{}", shown.stdout);

    let count = iroots.len();
    let merged = run(&["memo", "merge", &one, "--into", &all]);
    assert_eq!(
        (merged.code, merged.stdout),
        (0, format!("{all}: iRoots: {count}\n"))
    );
    let first = iroots[0]["id"].as_str().unwrap();
    let forgotten = run(&["memo", "forget", &all, first]);
    assert_eq!(
        (forgotten.code, forgotten.stdout),
        (0, format!("{all}: iRoots removed: 1\n"))
    );
    run(&["memo", "forget", &all, first]).refused(&[&format!("has no iRoot {first}"), "memo show"]);
    run(&["memo", "forget", &all, "--tried"]).ends_with(0);
    let left = json(0, &["memo", "show", &all]);
    assert!(
        left["iroots"]
            .as_array()
            .unwrap()
            .iter()
            .all(|iroot| iroot["exposed"] == true),
        "{left}"
    );

    // Only this iRoot is tried, as often as requested, although it is known to be exposed.
    let target = iroots.iter().find(|iroot| iroot["exposed"] == true).unwrap();
    let search = format!(
        "maple(attempts=7,target={},memo={one})",
        target["id"].as_str().unwrap()
    );
    let report = json(0, &[&SEARCH[..], &[&search]].concat());
    assert_eq!(report["iroots"]["search"]["attempts"], 7, "{report}");
    assert_eq!(report["executions"], 7, "{report}");
    run(&[&SEARCH[..], &["maple(target=abc)"]].concat()).refused(&["`abc` is not an iRoot", "eight digits"]);
}

#[test]
fn a_finding_names_the_iroot_that_was_tried() {
    let report = json(1, &["corpus", "run", "lostupd", "--strategy", "maple"]);
    let by = report["findings"][0]["found_by"].as_str().unwrap();
    let id = by
        .strip_prefix("an attempt at iRoot ")
        .unwrap()
        .split(' ')
        .next()
        .unwrap();
    let search = format!("maple(attempts=20,target={id})");
    let again = json(1, &["corpus", "run", "lostupd", "--strategy", &search]);
    assert_eq!(
        again["findings"][0]["found_by"],
        report["findings"][0]["found_by"]
    );
    let unknown = json(
        0,
        &["corpus", "run", "fai-ok", "--strategy", "maple(target=00000000)"],
    );
    let notes = unknown["notes"].to_string();
    assert!(
        notes.contains("iRoot 00000000, the target, was neither predicted nor exposed"),
        "{unknown}"
    );
}

/// `maple` cannot be used with a bound on preemptions, and this program's own settings have one.
#[test]
fn a_preset_of_the_program_is_named_where_it_is_refused() {
    let search = ["corpus", "run", "bluetooth_driver_fixed", "--strategy", "maple"];
    run(&search).refused(&[
        "setting `preemptions`: a search for iRoots",
        "the program itself sets `preemptions = 2`: override it by `--preemptions none`",
    ]);
    run(&[&search[..], &["--preemptions", "none"]].concat()).ends_with(0);
    let given = run(&[&search[..], &["--preemptions", "3"]].concat()).ends_with(2);
    assert!(!given.stderr.contains("of its own"), "{}", given.stderr);
}
