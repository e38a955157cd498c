//! What `config` shows of what tests say: a test is stood in for.

use crate::{Ran, command, stand_in};
use serde_json::Value;
use std::fs;

fn run(arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let directory = tempfile::tempdir().unwrap();
    stand_in::install(directory.path());
    fs::write(directory.path().join(stand_in::WRITTEN), stand_in::SETTINGS).unwrap();
    let mut command = command(directory.path(), &[&["config"], arguments].concat());
    stand_in::instead_of_cargo(&mut command);
    command.envs(variables.iter().copied());
    Ran::of(&mut command).ends_with(0)
}

#[test]
fn what_is_given_is_shown_with_what_it_overrides() {
    let expected = "\
a::b
  seed  4  INTERMEZZO_SEED
        3  p/intermezzo.toml:2, overridden
";
    assert_eq!(run(&[], &[]).stdout, expected);
}

#[test]
fn all_are_shown_with_their_defaults() {
    let expected = "\
a::b
  preempt_in  \"\"  default
  seed        4   INTERMEZZO_SEED
              3   p/intermezzo.toml:2, overridden
              0   default, overridden
";
    assert_eq!(run(&["--all"], &[]).stdout, expected);
    let layers = |arguments: &[&str]| {
        let json: Value = run(&[arguments, &["--json"]].concat(), &[]).json();
        json["tests"][0]["layers"].as_array().unwrap().len()
    };
    assert_eq!((layers(&[]), layers(&["--all"])), (2, 4));
}

/// A flag reaches the tests by a variable, as the user's own variables do.
#[test]
fn flags_are_told_from_variables() {
    let with_flag = run(&["--seed", "4"], &[]).stdout;
    assert!(
        with_flag.starts_with("a::b\n  seed  4  --seed\n        3  p/"),
        "{with_flag}"
    );
    let with_both = run(&["--seed", "4"], &[("INTERMEZZO_SEED", "9")]).stdout;
    assert!(
        with_both
            .starts_with("a::b\n  seed  4  --seed\n        9  INTERMEZZO_SEED, overridden\n        3  p/"),
        "{with_both}"
    );
    let json = run(&["--seed", "4", "--json"], &[]).json();
    let last = &json["tests"][0]["layers"][1];
    assert_eq!((&last["from"], &last["name"]), (&"flag".into(), &"--seed".into()));
}
