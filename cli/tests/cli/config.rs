//! The output of `config` for the answers of tests, and for settings that contradict each other: the test is a
//! stand-in.

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
fn settings_are_shown_with_those_that_they_override() {
    let expected = "\
a::b
  seed  4  INTERMEZZO_SEED
        3  p/intermezzo.toml:2, overridden
";
    assert_eq!(run(&[], &[]).stdout, expected);
}

#[test]
fn all_settings_can_be_shown_with_their_defaults() {
    let expected = "\
a::b
  preempt  \"\"  default
  seed     4   INTERMEZZO_SEED
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

/// A flag is passed to the tests in a variable, like the user's own variables.
#[test]
fn flags_are_distinguished_from_variables() {
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

/// Runs `config` for a test with these settings in `intermezzo.toml`, line by line.
fn set_to(settings: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let directory = tempfile::tempdir().unwrap();
    stand_in::install(directory.path());
    let layers: Vec<String> = (1..)
        .zip(settings)
        .map(|(line, (setting, value))| {
            format!(
                "{{\"setting\":\"{setting}\",\"value\":\"{value}\",\"from\":\"config\",\"path\":\"i.toml\",\"line\":{line}}}"
            )
        })
        .collect();
    let written = format!(
        "{{\"format\":\"intermezzo-settings/2\",\"program\":\"a::b\",\"config\":null,\"layers\":[{}]}}\n",
        layers.join(",")
    );
    fs::write(directory.path().join(stand_in::WRITTEN), written).unwrap();
    let mut command = command(directory.path(), &[&["config"], arguments].concat());
    stand_in::instead_of_cargo(&mut command);
    Ran::of(&mut command)
}

#[test]
fn contradicting_settings_are_reported() {
    let settings = [("strategy", "ranked(arrays=whole)"), ("reduction", "caching")];
    let ran = set_to(&settings, &[]).ends_with(2);
    let refused = "  refused: setting `reduction`: the variables that form one array";
    assert!(ran.stdout.contains(refused), "{}", ran.stdout);
    assert!(ran.stderr.contains("contradict each other"), "{}", ran.stderr);
    let why = set_to(&settings, &["--json"]).ends_with(2).json()["tests"][0]["refused"].clone();
    assert!(why.as_str().unwrap().contains("other arrays"), "{why}");
}

/// The effective setting is checked, and not one that it overrides.
#[test]
fn overridden_settings_contradict_nothing() {
    let settings = [
        ("strategy", "ranked"),
        ("reduction", "dpor"),
        ("reduction", "none"),
    ];
    let ran = set_to(&settings, &[]).ends_with(0);
    assert!(!ran.stdout.contains("refused"), "{}", ran.stdout);
    let json = set_to(&settings, &["--json"]).ends_with(0).json();
    assert!(json["tests"][0].get("refused").is_none(), "{json}");
}
