//! What `config` says of settings that cannot be together, with what a test has written of them.

use crate::{Ran, command, stand_in};
use std::fs;

/// What `config` comes to for a test that is set to this, by `intermezzo.toml`, line by line.
fn config(settings: &[(&str, &str)], arguments: &[&str]) -> Ran {
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
        "{{\"format\":\"intermezzo-settings/1\",\"program\":\"a::b\",\"config\":null,\"layers\":[{}]}}\n",
        layers.join(",")
    );
    fs::write(directory.path().join(stand_in::WRITTEN), written).unwrap();
    let mut command = command(directory.path(), &[&["config"], arguments].concat());
    stand_in::instead_of_cargo(&mut command);
    Ran::of(&mut command)
}

#[test]
fn settings_that_cannot_be_together_are_told() {
    let settings = [
        ("strategy", "ranked"),
        ("arrays", "whole"),
        ("reduction", "caching"),
    ];
    let ran = config(&settings, &[]).ends_with(2);
    let refused = "  refused: setting `reduction`: which variables one place goes through";
    assert!(ran.stdout.contains(refused), "{}", ran.stdout);
    assert!(ran.stderr.contains("cannot be together"), "{}", ran.stderr);
    let why = config(&settings, &["--json"]).ends_with(2).json()["tests"][0]["refused"].clone();
    assert!(why.as_str().unwrap().contains("other arrays"), "{why}");
}

/// The setting that counts is looked at, and not one that it overrides.
#[test]
fn settings_that_can_be_together_are_not() {
    let settings = [
        ("strategy", "ranked"),
        ("reduction", "dpor"),
        ("reduction", "none"),
        ("arrays", "whole"),
    ];
    let ran = config(&settings, &[]).ends_with(0);
    assert!(!ran.stdout.contains("refused"), "{}", ran.stdout);
    let json = config(&settings, &["--json"]).ends_with(0).json();
    assert!(json["tests"][0].get("refused").is_none(), "{json}");
}
