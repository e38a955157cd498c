//! `breakpoints`: both orders of every two places that contend.

use crate::{json, run};
use serde_json::Value;

/// Returns the failures of the order that is armed as given.
#[track_caller]
fn order<'a>(program: &'a Value, armed: &str) -> &'a Value {
    let orders = program["orders"].as_array().unwrap();
    let found = orders.iter().find(|order| order["armed"] == armed);
    found.unwrap_or_else(|| panic!("{armed} is not in {orders:#?}"))
}

#[test]
fn only_the_order_that_loses_an_update_fails() {
    let tried = json(1, &["breakpoints", "corpus", "lostupd", "--runs", "50"]);
    let program = &tried["programs"][0];
    assert_eq!(program["program"], "lostupd");
    let unarmed = program["unarmed"]["failures"].as_u64().unwrap();
    assert!((1..50).contains(&unarmed), "{program}");
    let file = "corpus/src/programs/synthetic.rs";
    let orders = program["orders"].as_array().unwrap();
    assert_eq!(orders.len(), 3, "{program}");
    let store = orders[2]["armed"]
        .as_str()
        .unwrap()
        .split(" before ")
        .next()
        .unwrap();
    assert!(store.contains(file), "{store}");
    let both_read = order(program, &format!("{store} before {store}"));
    assert_eq!(
        (&both_read["failures"], &both_read["hit"]),
        (&50.into(), &50.into())
    );
    assert_eq!(both_read["in_vain"], 0);
    assert_eq!(both_read["kinds"], serde_json::json!(["assertion"]));
    let store_first = &orders[1];
    assert_eq!(
        (&store_first["failures"], &store_first["hit"]),
        (&0.into(), &50.into())
    );
    // The same seed gives the same table.
    assert_eq!(
        json(1, &["breakpoints", "corpus", "lostupd", "--runs", "50"]),
        tried
    );
}

#[test]
fn accesses_to_plain_memory_contend_too() {
    let tried = json(0, &["breakpoints", "corpus", "racy", "--runs", "10"]);
    let orders = tried["programs"][0]["orders"].as_array().unwrap();
    assert!(
        orders.len() >= 2 && orders.iter().all(|order| order["hit"] == 10),
        "{tried}"
    );
}

#[test]
fn the_table_has_titles() {
    let text = run(&["breakpoints", "corpus", "lostupd", "--runs", "20", "--pairs", "1"])
        .ends_with(1)
        .stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("lostupd: 20 executions at random for each line"),
        "{text}"
    );
    assert!(lines[1].starts_with("FAILS  HIT    UNMET  HOW"), "{text}");
    assert!(lines[2].ends_with("(nothing armed)"), "{text}");
    assert_eq!(
        lines.last(),
        Some(&"1 pair more not tried: raise --pairs"),
        "{text}"
    );
}

#[test]
fn impossible_requests_are_refused() {
    run(&["breakpoints", "corpus", "lostup"]).refused(&["there is no program", "lostupd"]);
    run(&["breakpoints", "corpus", "lostupd", "--runs", "0"]).refused(&["--runs"]);
    run(&["corpus", "run", "lostupd", "--breakpoints", "a b"])
        .refused(&["--breakpoints", "neither a name nor places"]);
    run(&[
        "corpus",
        "run",
        "lostupd",
        "--breakpoints",
        "a",
        "--reduction",
        "dpor",
    ])
    .refused(&["breakpoint"]);
}
