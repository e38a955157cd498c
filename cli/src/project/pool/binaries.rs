//! The test binaries of a checkout, with the identity of their contents.

use super::super::list::{self, Message};
use crate::cargo;
use crate::problem::Problem;
use intermezzo_pool::{Binary, Run};
use std::ffi::OsString;
use std::path::PathBuf;

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

/// Returns the identity of the settings file in the root directory of the workspace.
pub(super) fn config() -> String {
    let root = cargo::workspace_root().unwrap_or_default();
    Binary::code_of(&root.join(CONFIG)).unwrap_or_else(|_| "none".to_owned())
}

/// Returns the index in `built` of each binary of a run.
///
/// # Errors
/// If one is missing or has other contents, or if the settings file is different. The text says which.
pub(super) fn of_run(run: &Run, built: &[Built], config: &str) -> Result<Vec<usize>, String> {
    let version = env!("CARGO_PKG_VERSION");
    if run.version != version {
        return Err(format!(
            "it was submitted by intermezzo {:?}, and this is {version:?}",
            run.version
        ));
    }
    if run.config != config {
        return Err(format!("its {CONFIG} differs from that of this checkout"));
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
    match run.tests.iter().find(|test| test.binary >= places.len()) {
        Some(test) => Err(format!("its test {:?} has no binary", test.program)),
        None => Ok(places),
    }
}
