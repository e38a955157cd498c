//! Everything that is built is licensed under MIT or Apache-2.0, whichever a user chooses, and comes from the registry
//! or from this repository.
//!
//! This covers the crates of the default members, and those of the pool of workers if they were downloaded. `cargo deny
//! check` (`deny.toml`) also checks advisories.

#![allow(clippy::print_stdout, reason = "what is left out is said")]

use spdx::{Expression, ParseMode};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Licences of which a crate must offer one, or all that it joins by `AND`. Each lets software that contains the crate
/// have its own licence, and requires only that its text is included.
const ALLOWED: &[&str] = &["MIT", "Apache-2.0", "BSD-3-Clause", "ISC", "Zlib", "Unicode-3.0"];

/// Crates that may have another licence, with the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    // The licence covers the files of the crate itself, which are used as published.
    (
        "imbl",
        "MPL-2.0",
        "whatever is built with its files unchanged has its own licence",
    ),
    ("imbl-sized-chunks", "MPL-2.0", "a part of imbl"),
    (
        "cbindgen",
        "MPL-2.0",
        "a tool of a test, in nothing that is delivered",
    ),
];

/// The only source of crates besides the repository itself.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Arguments of `cargo tree` for the pool of workers, which is not a part of the default members' build.
const WITH_POOL: &[&str] = &["--package", "cargo-intermezzo", "--features", "pool"];

/// Returns the name and the licence of each crate that `cargo tree` lists with `arguments`, or `None` if one of them was
/// not downloaded.
fn crates(arguments: &[&str]) -> Option<BTreeSet<(String, String)>> {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["tree", "--locked", "--offline", "--edges", "normal,build,dev"])
        .args(["--prefix", "none", "--format", "{p}|{l}|"])
        .args(arguments)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let of_line = |line: &str| {
        let mut parts = line.split('|');
        let name = parts.next()?.split(' ').next()?;
        Some((name.to_owned(), parts.next()?.to_owned()))
    };
    output
        .status
        .success()
        .then(|| text.lines().filter_map(of_line).collect())
}

/// Returns the crates of all platforms, or those of this one if the others were not downloaded.
fn of_all_platforms(arguments: &[&str]) -> Option<BTreeSet<(String, String)>> {
    crates(&[arguments, &["--target", "all"]].concat()).or_else(|| {
        let of_this_one = crates(arguments)?;
        println!("not checked: crates of other platforms, until `cargo fetch` has downloaded them");
        Some(of_this_one)
    })
}

#[test]
fn every_licence_is_compatible_with_ours() {
    let mut crates = of_all_platforms(&[]).expect("what this test was built of is there");
    match of_all_platforms(WITH_POOL) {
        Some(of_pool) => crates.extend(of_pool),
        None => {
            println!("not checked: crates of the pool of workers, until `cargo fetch` has downloaded them")
        }
    }
    assert!(crates.len() > 100, "{crates:?}");
    let mut needed = BTreeSet::new();
    let mut wrong = Vec::new();
    for (name, licence) in &crates {
        let expression = match Expression::parse_mode(licence, ParseMode::LAX) {
            Ok(expression) => expression,
            Err(error) => {
                wrong.push(format!("{name} has {licence:?}: {error}"));
                continue;
            }
        };
        let allowed = |requirement: &spdx::LicenseReq| requirement.license.id().map(|id| id.name);
        let is_allowed =
            |requirement: &spdx::LicenseReq| allowed(requirement).is_some_and(|id| ALLOWED.contains(&id));
        if expression.evaluate(is_allowed) {
            continue;
        }
        let exception = EXCEPTIONS.iter().find(|(of, ..)| of == name);
        let excepted = |requirement: &spdx::LicenseReq| {
            is_allowed(requirement)
                || exception.is_some_and(|(_, licence, _)| allowed(requirement) == Some(licence))
        };
        if expression.evaluate(excepted) {
            needed.insert(name.as_str());
        } else {
            wrong.push(format!(
                "{name} has {licence:?}, which is not allowed here: say why it may be, or do without it"
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let named: BTreeSet<&str> = EXCEPTIONS.iter().map(|(name, ..)| *name).collect();
    assert_eq!(
        needed, named,
        "exceptions that are needed, and those that are made"
    );
}

/// There are no crates from other registries or repositories, which may disappear, and whose contents were not checked.
#[test]
fn crates_come_from_the_registry() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let sources: BTreeSet<&str> = lock
        .lines()
        .filter_map(|line| line.strip_prefix("source = "))
        .map(|source| source.trim_matches('"'))
        .collect();
    assert_eq!(sources, BTreeSet::from([REGISTRY]));
    let packages = lock.matches("[[package]]").count();
    let checksums = lock
        .lines()
        .filter(|line| line.starts_with("checksum = "))
        .count();
    let ours = packages - lock.lines().filter(|line| line.starts_with("source = ")).count();
    assert_eq!(
        packages,
        ours + checksums,
        "each that is downloaded has a checksum"
    );
}

#[test]
fn cargo_deny_has_the_same_list() {
    let deny = fs::read_to_string(root().join("deny.toml")).unwrap();
    let quoted = |names: &[&str]| {
        names
            .iter()
            .map(|name| format!("{name:?}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let list = format!("\nallow = [{}]\n", quoted(ALLOWED));
    assert!(deny.contains(&list), "deny.toml is to have: {list}");
    for (name, licence, _) in EXCEPTIONS {
        let exception = format!("{{ crate = {name:?}, allow = [{licence:?}] }}");
        assert!(deny.contains(&exception), "deny.toml is to have: {exception}");
    }
    assert_eq!(deny.matches("crate = ").count(), EXCEPTIONS.len());
}
