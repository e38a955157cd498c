//! The test binaries of the project that may contain a test. They are found by the test's package and target, or by the
//! name of its crate if a schedule or report does not contain these.

use super::features;
use crate::cargo;
use crate::problem::Problem;
use intermezzo::TestBinary;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::Stdio;

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
pub(super) struct Package {
    id: String,
    pub(super) name: String,
    targets: Vec<Target>,
    #[serde(default)]
    pub(super) features: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(super) dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) rename: Option<String>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// Returns arguments of `cargo test` that build only this binary, or the binaries of the crate of this name if the binary
/// is not known.
///
/// `arguments` are those that the user gives to cargo. They follow, without features that only other packages have.
///
/// # Errors
/// If the current directory is not in a project, or the project has no such package, target or crate.
pub(super) fn of_binary(
    binary: &TestBinary,
    name: &str,
    arguments: &[OsString],
) -> Result<Vec<OsString>, Problem> {
    if arguments.iter().any(|argument| cargo::chooses(argument)) {
        return Ok(arguments.to_vec());
    }
    let mut command = cargo::command();
    command
        .args(["metadata", "--format-version=1", "--no-deps"])
        .args(cargo::manifest_path(arguments));
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| cargo::no_cargo(&error))?;
    if !output.status.success() {
        return Err(Problem::usage(
            "cargo cannot describe the project here: run this where the test's Cargo.toml is",
        ));
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout).map_err(|error| {
        Problem::usage(format!(
            "the output of `cargo metadata` cannot be read ({error}): update cargo"
        ))
    })?;
    let chosen = match binary.package.is_empty() {
        true => choose(&metadata, name),
        false => choose_binary(&metadata, binary),
    };
    if chosen.is_empty() {
        let missing = if binary.package.is_empty() {
            format!(
                "the schedule's test is in the crate {name:?}, and the project here has none of that name"
            )
        } else if metadata
            .packages
            .iter()
            .any(|package| package.name == binary.package)
        {
            format!(
                "the schedule's test is in {:?} of package {:?}, which has no such target here",
                binary.cargo_target(),
                binary.package
            )
        } else {
            format!(
                "the schedule's test is in package {:?}, and the project here has none of that name",
                binary.package
            )
        };
        return Err(Problem::usage(format!(
            "{missing}: run this in the project in which it was recorded"
        )));
    }
    let mut chosen: Vec<OsString> = chosen.into_iter().map(OsString::from).collect();
    let package = metadata
        .packages
        .iter()
        .find(|package| package.name == binary.package);
    chosen.extend(match package {
        Some(package) => features::of_package(arguments, package, &metadata.packages),
        None => arguments.to_vec(),
    });
    Ok(chosen)
}

/// Returns the flags of the target of this package; none if it is not there.
fn choose_binary(metadata: &Metadata, binary: &TestBinary) -> Vec<String> {
    let packages = metadata.packages.iter();
    for package in packages.filter(|package| package.name == binary.package) {
        let mut targets = package
            .targets
            .iter()
            .filter(|target| match binary.cargo_program() {
                Some((kind, name)) => target.kind.iter().any(|of| of == kind) && target.name == name,
                None => target.is(binary.cargo_target()),
            });
        if let Some(flags) = targets.find_map(flags) {
            return [vec!["-p".to_owned(), package.id.clone()], flags].concat();
        }
    }
    Vec::new()
}

impl Target {
    /// `true` if this is the target that a schedule or report names: `lib`, `bin NAME` or `test NAME`.
    fn is(&self, named: &str) -> bool {
        let krate = self.name.replace('-', "_");
        let kind = self.kind.first().map_or("", String::as_str);
        match (kind, named.split_once(' ')) {
            ("bin" | "example", Some(("bin", name))) => self.name == name,
            ("test" | "bench", Some(("test", name))) => krate == name,
            ("bin" | "example" | "test" | "bench" | "custom-build", _) => false,
            (_, kind) => kind.is_none() && named == "lib",
        }
    }
}

fn choose(metadata: &Metadata, name: &str) -> Vec<String> {
    let mut chosen = Vec::new();
    for package in &metadata.packages {
        let targets = package
            .targets
            .iter()
            .filter(|target| target.name.replace('-', "_") == name);
        let flags: Vec<Vec<String>> = targets.filter_map(flags).collect();
        if !flags.is_empty() {
            chosen.extend(["-p".to_owned(), package.id.clone()]);
            chosen.extend(flags.concat());
        }
    }
    // `--lib` may be given only once, even if several packages have a library of this name.
    let libraries = chosen.iter().filter(|word| *word == "--lib").count();
    if libraries > 1 {
        chosen.retain(|word| word != "--lib");
        chosen.push("--lib".into());
    }
    chosen
}

fn flags(target: &Target) -> Option<Vec<String>> {
    let kind = target.kind.first()?.as_str();
    match kind {
        "bin" | "test" | "example" | "bench" => Some(vec![format!("--{kind}"), target.name.clone()]),
        "custom-build" => None,
        _ => Some(vec!["--lib".into()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_found_by_its_name() {
        let metadata: Metadata = serde_json::from_str(
            r#"{"packages": [
                {"id": "one#1", "name": "one", "targets": [
                    {"name": "a-queue", "kind": ["lib"]}, {"name": "a-queue", "kind": ["bin"]},
                    {"name": "suite", "kind": ["test"]},
                    {"name": "build-script-build", "kind": ["custom-build"]}]},
                {"id": "two#1", "name": "two", "targets": [{"name": "macros", "kind": ["proc-macro"]},
                    {"name": "suite", "kind": ["test"]}]}
            ], "version": 1}"#,
        )
        .unwrap();
        for (name, arguments) in [
            ("a_queue", "-p one#1 --lib --bin a-queue"),
            ("macros", "-p two#1 --lib"),
            ("suite", "-p one#1 --test suite -p two#1 --test suite"),
            ("build_script_build", ""),
            ("other", ""),
        ] {
            assert_eq!(choose(&metadata, name).join(" "), arguments);
        }
        for (package, target, arguments) in [
            ("one", "lib", "-p one#1 --lib"),
            ("one", "bin a-queue", "-p one#1 --bin a-queue"),
            ("one", "main bin a-queue", "-p one#1 --bin a-queue"),
            ("one", "main example a-queue", ""),
            ("one", "test suite", "-p one#1 --test suite"),
            ("two", "test suite", "-p two#1 --test suite"),
            ("two", "bin a-queue", ""),
            ("three", "test suite", ""),
        ] {
            let (package, target) = (package.to_owned(), target.to_owned());
            let chosen = choose_binary(&metadata, &TestBinary { package, target });
            assert_eq!(chosen.join(" "), arguments);
        }
    }

    #[test]
    fn the_users_choice_is_kept() {
        let words = |text: &str| text.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        assert!(
            words("--release --test=suite")
                .iter()
                .any(|argument| cargo::chooses(argument))
        );
        assert!(
            !words("--release --offline")
                .iter()
                .any(|argument| cargo::chooses(argument))
        );
        assert_eq!(
            cargo::manifest_path(&words("--release --manifest-path a/Cargo.toml --offline")),
            words("--manifest-path a/Cargo.toml")
        );
        assert_eq!(
            cargo::manifest_path(&words("--manifest-path=a --offline")),
            words("--manifest-path=a")
        );
        assert_eq!(cargo::manifest_path(&words("--offline")), words(""));
    }
}
