//! The test binaries of a checkout, with the identity of their contents.

use super::super::list::{self, Message};
use crate::problem::Problem;
use intermezzo::settings::Config;
use intermezzo_pool::{Binary, Run};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The settings file of a project.
const CONFIG: &str = "intermezzo.toml";

/// A test binary.
pub(super) struct Built {
    pub(super) binary: Binary,
    pub(super) executable: PathBuf,
    /// The directory of its package, in which its tests run.
    pub(super) directory: PathBuf,
    pub(super) krate: String,
    message: Message,
}

impl Built {
    /// Returns its tests, with their crate.
    pub(super) fn programs(&self) -> Vec<String> {
        list::programs(&self.message, &[])
    }
}

/// Builds the tests.
///
/// # Errors
/// If the project does not build, or a binary cannot be read.
pub(super) fn built(arguments: &[OsString]) -> Result<Vec<Built>, Problem> {
    let (of_cargo, _) = list::split_at_dashes(arguments);
    let mut all = Vec::new();
    for message in list::built(of_cargo)? {
        let (Some(executable), Some(manifest)) = (&message.executable, &message.manifest_path) else {
            continue;
        };
        let code = Binary::code_of(executable)
            .map_err(|error| Problem::file("read", executable, &error, "run the command again"))?;
        let directory = manifest.parent().map(PathBuf::from).unwrap_or_default();
        all.push(Built {
            binary: Binary {
                package: message.package(),
                target: message.target(),
                code,
            },
            executable: executable.clone(),
            directory,
            krate: message.krate(),
            message,
        });
    }
    Ok(all)
}

/// Returns the identity of the settings files that the tests of these binaries use.
pub(super) fn config<'b>(binaries: impl Iterator<Item = &'b Built>) -> String {
    config_of(binaries.map(|built| (&*built.binary.package, &*built.directory)))
}

/// Returns the identity of the settings files of these packages, by name and directory: one identity if all have the same.
fn config_of<'b>(packages: impl Iterator<Item = (&'b str, &'b Path)>) -> String {
    let of_package = |directory: &Path| match Config::find(directory) {
        Ok(None) => "none".to_owned(),
        Ok(Some(config)) => Binary::code_of(&config.path).unwrap_or_else(|_| "unreadable".to_owned()),
        Err(_) => "invalid".to_owned(),
    };
    let all: BTreeMap<&str, String> = packages
        .map(|(package, directory)| (package, of_package(directory)))
        .collect();
    let mut different: Vec<&String> = all.values().collect();
    different.dedup();
    match different[..] {
        [] => "none".to_owned(),
        [one] => one.clone(),
        _ => {
            let each = all.iter().map(|(package, config)| format!("{package}: {config}"));
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Returns the index in `built` of each binary of a run.
///
/// # Errors
/// If one is missing or has other contents, or if the settings files are different. The text says which.
pub(super) fn of_run(run: &Run, built: &[Built]) -> Result<Vec<usize>, String> {
    let version = env!("CARGO_PKG_VERSION");
    if run.version != version {
        return Err(format!(
            "it was submitted by intermezzo {:?}, and this is {version:?}",
            run.version
        ));
    }
    let place = |wanted: &Binary| {
        let like = |built: &Built| {
            (&built.binary.package, &built.binary.target) == (&wanted.package, &wanted.target)
        };
        let name = format!("{} of package {}", wanted.target, wanted.package);
        match built.iter().position(|built| built.binary == *wanted) {
            Some(at) => Ok(at),
            None if built.iter().any(like) => Err(format!(
                "the code of {name} differs: build the same sources at the same path with the same toolchain, flags and \
                 features, or copy the build"
            )),
            None => Err(format!(
                "{name} is not built here: give the arguments for cargo that the run has"
            )),
        }
    };
    let places: Vec<usize> = run.binaries.iter().map(place).collect::<Result<_, _>>()?;
    let config = config(places.iter().map(|&place| &built[place]));
    if run.config != config {
        return Err(format!(
            "its {CONFIG} differs from that of this checkout ({}, and here {config})",
            run.config
        ));
    }
    match run.tests.iter().find(|test| test.binary >= places.len()) {
        Some(test) => Err(format!("its test {:?} has no binary", test.program)),
        None => Ok(places),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// The tests of a package use the file that is nearest to its directory.
    #[test]
    fn each_package_has_its_own_settings_file() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let (one, other) = (root.join("one"), root.join("other"));
        fs::write(root.join("Cargo.lock"), "").unwrap();
        for package in [&one, &other] {
            fs::create_dir(package).unwrap();
        }
        let both = || config_of([("one", &*one), ("other", &*other)].into_iter());
        let only_other = || config_of([("other", &*other)].into_iter());
        assert_eq!(both(), "none");
        fs::write(root.join(CONFIG), "executions = 10\n").unwrap();
        let of_root = both();
        assert_ne!(of_root, "none");
        assert_eq!(of_root, only_other());
        fs::write(one.join(CONFIG), "executions = 20\n").unwrap();
        let with_own = both();
        assert_ne!(with_own, of_root);
        assert_eq!(only_other(), of_root);
        fs::write(one.join(CONFIG), "executions = 30\n").unwrap();
        assert_ne!(both(), with_own);
        fs::write(one.join(CONFIG), "executions = 10\n").unwrap();
        assert_eq!(both(), of_root);
        fs::write(one.join(CONFIG), "no = [").unwrap();
        assert!(both().contains("one: invalid"), "{}", both());
    }
}
