//! The messages about tests that cannot be run with their settings. A stand-in takes the place of the test.

use crate::{Ran, command, stand_in};
use std::fs;

const REFUSAL: &str =
    r#"{"format":"intermezzo-refusal/1","program":"a::b","reason":"setting `x`: it cannot be"}"#;

fn run(arguments: &[&str]) -> Ran {
    let directory = tempfile::tempdir().unwrap();
    stand_in::install(directory.path());
    fs::write(directory.path().join(stand_in::WRITTEN), REFUSAL).unwrap();
    let mut command = command(directory.path(), arguments);
    stand_in::instead_of_cargo(&mut command);
    Ran::of(&mut command)
}

#[test]
fn the_reason_is_reported() {
    for arguments in [&["test"][..], &["test", "--json"], &["breakpoints", "tests"]] {
        let ran = run(arguments).ends_with(2);
        assert!(
            ran.stderr.contains("1 explored test cannot be run")
                && ran.stderr.contains("a::b: setting `x`: it cannot be"),
            "{arguments:?}: {}",
            ran.stderr
        );
    }
    let refused = run(&["test", "--json"]).json()["refused"][0].clone();
    assert_eq!(refused["program"], "a::b");
    assert_eq!(refused["reason"], "setting `x`: it cannot be");
}
