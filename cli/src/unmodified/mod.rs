//! Tests and programs that were not written for intermezzo: `test --unmodified` and `run`.
//!
//! Every crate of the project is compiled against *overlays* of `std` and `core`, which replace some of their items by
//! look-alikes, and every test binary against an overlay of `test`, which explores each test. The sources and manifests
//! stay as they are. The overlays are built once for each toolchain ([`overlays`]). cargo calls this command as a wrapper
//! of the compiler, which adds them to each crate's dependencies ([`wrapper`]).

mod copies;
mod overlays;
mod program;
mod statics;
mod unused;
pub(crate) mod wrapper;

use crate::cargo;
use crate::problem::Problem;
use intermezzo::settings::variables::{NEXT_WRAPPER, OVERLAYS, PROGRAMS, WATCHES};
use overlays::{Compiler, Overlays};
use serde_json::Value;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// `true` if accesses to plain memory can be seen: on the systems for which `engine/src/runtime/races/` is compiled.
pub(crate) const CAN_WATCH: bool = cfg!(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
));

/// A project whose tests are explored unmodified.
pub(crate) struct Unmodified {
    overlays: Overlays,
    /// The directory of these builds, separate from the project's other ones.
    target: PathBuf,
    /// `true` if accesses to plain memory are seen.
    watched: bool,
    /// `true` if operations on reference counts are seen.
    counted: bool,
    /// `true` if a program is explored as a whole, and no tests.
    programs: bool,
}

impl Unmodified {
    /// Prepares a run of the tests of the project that these arguments of cargo name; by default, the one in the current
    /// directory. If `watched`, accesses to plain memory are seen. With `programs`, prepares a run of a program. Builds the
    /// overlays if they do not exist, after a call of `before_first`.
    ///
    /// # Errors
    /// If the overlays cannot be built, or `before_first` fails; or the project is intermezzo; or memory cannot be
    /// watched on this system.
    pub(crate) fn prepare(
        arguments: &[OsString],
        watched: bool,
        programs: bool,
        before_first: impl FnOnce() -> Result<(), Problem>,
    ) -> Result<Unmodified, Problem> {
        if watched && !CAN_WATCH {
            return Err(Problem::usage(
                "plain memory of unmodified code is watched on Linux only, on x86-64 and aarch64: leave out `--races`",
            ));
        }
        let compiler = Compiler::ask()?;
        let project = metadata(cargo::manifest_path(arguments), &compiler.host, cargo::command())?;
        if is_intermezzo(&project) {
            return Err(Problem::usage(
                "this is the project of intermezzo itself, whose packages cannot be built with their own look-alikes: run \
                 `cargo intermezzo test` without `--unmodified`",
            ));
        }
        let overlays = Overlays::ready(compiler, before_first)?;
        let counted = CAN_WATCH && wrapper::knows_calls(overlays::rustc(), &overlays.directory);
        if watched && !counted {
            return Err(Problem::usage(
                "this compiler does not have the pass by which plain memory is watched: leave out `--races`",
            ));
        }
        let directory = match cargo::target_directory(arguments) {
            Some(given) => std::path::absolute(&given).map_err(|error| {
                Problem::file(
                    "find",
                    Path::new(&given),
                    &error,
                    "give `--target-dir` another directory",
                )
            })?,
            None => project["target_directory"].as_str().unwrap_or("target").into(),
        };
        // cargo does not notice that an overlay has changed, nor which arguments the wrapper adds. So builds with different
        // overlays or arguments have different directories.
        let races = match (watched, counted) {
            (true, _) => "-races",
            (false, true) => "",
            (false, false) => "-uncounted",
        };
        let whole = if programs { "-programs" } else { "" };
        let target = directory
            .join("intermezzo")
            .join(format!("{}{races}{whole}", overlays.digest));
        if !target.exists() {
            unused::remove_beside(&target);
        }
        unused::mark(&target);
        Ok(Unmodified {
            overlays,
            target,
            watched,
            counted,
            programs,
        })
    }

    /// Returns the arguments of `cargo test` or `cargo run`, from those of the user.
    ///
    /// # Errors
    /// If they request doctests.
    pub(crate) fn arguments(&self, given: Vec<OsString>) -> Result<Vec<OsString>, Problem> {
        let of_cargo = || given.iter().take_while(|&argument| argument != "--");
        if of_cargo().any(|argument| argument == "--doc") {
            return Err(Problem::usage(
                "tests in documentation cannot be explored unmodified, because rustdoc builds and runs each as a program of \
                 its own, without the harness of tests that explores: leave out `--doc`, and run them as they are by \
                 `cargo test --doc`",
            ));
        }
        let mut arguments = Vec::new();
        let is_target = |argument: &OsString| {
            let text = argument.to_string_lossy();
            text == "--target" || text.starts_with("--target=")
        };
        if !of_cargo().any(is_target) {
            // With `--target`, cargo builds build scripts and procedural macros separately, so they get no overlays.
            arguments.extend([OsString::from("--target"), (&self.overlays.host).into()]);
        }
        if !self.programs && !of_cargo().any(|argument| cargo::chooses_targets(argument)) {
            // All targets, but no tests in documentation.
            arguments.push("--tests".into());
        }
        // The variable `CARGO_TARGET_DIR` sets the directory, and the flag would override it.
        arguments.extend(cargo::without_target_directory(given));
        Ok(arguments)
    }

    /// Returns the environment variables with which cargo builds with the overlays.
    pub(crate) fn variables(&self) -> Result<Vec<(&'static str, OsString)>, Problem> {
        let this = env::current_exe()
            .map_err(|error| Problem::usage(format!("cannot find the file of this command ({error})")))?;
        let sees = match (self.watched, self.counted) {
            (true, _) => wrapper::SEE_MEMORY,
            (false, true) => wrapper::SEE_COUNTS,
            (false, false) => wrapper::SEE_NOTHING,
        };
        let mut variables = vec![
            ("RUSTC_WRAPPER", this.into_os_string()),
            (OVERLAYS, self.overlays.directory.clone().into_os_string()),
            ("CARGO_TARGET_DIR", self.target.clone().into_os_string()),
            // A directory of the user's own may be shared by all builds.
            ("CARGO_BUILD_BUILD_DIR", self.target.clone().into_os_string()),
            (WATCHES, sees.into()),
            (PROGRAMS, if self.programs { "1" } else { "0" }.into()),
        ];
        if let Some(wrapper) = env::var_os("RUSTC_WRAPPER").filter(|wrapper| !wrapper.is_empty()) {
            variables.push((NEXT_WRAPPER, wrapper));
        }
        Ok(variables)
    }
}

/// `true` if one of the project's own packages in this metadata is intermezzo.
fn is_intermezzo(project: &Value) -> bool {
    let own = project["workspace_members"].as_array();
    let packages = project["packages"].as_array();
    let is_own = |package: &&Value| own.is_some_and(|own| own.contains(&package["id"]));
    packages.is_some_and(|all| {
        all.iter()
            .filter(is_own)
            .any(|package| package["name"] == "intermezzo")
    })
}

/// Returns cargo's metadata of a project for this target. `command` runs cargo, and `arguments` name the project.
fn metadata(arguments: Vec<OsString>, host: &str, mut command: Command) -> Result<Value, Problem> {
    command
        // Packages that only other targets need may not have been downloaded.
        .args(["metadata", "--format-version", "1", "--filter-platform", host])
        .args(arguments);
    serde_json::from_slice(&output_of(command)?)
        .map_err(|error| Problem::usage(format!("the output of `cargo metadata` is not JSON ({error})")))
}

/// Runs a command, and returns its output. Its messages go to stderr.
fn output_of(mut command: Command) -> Result<Vec<u8>, Problem> {
    let name = command.get_program().to_string_lossy().into_owned();
    let shown = |arguments: std::process::CommandArgs<'_>| {
        let words: Vec<_> = arguments.map(OsStr::to_string_lossy).collect();
        words.join(" ")
    };
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| {
        Problem::usage(format!(
            "cannot run {name:?} ({error}): install Rust, or set CARGO and RUSTC to the paths of its programs"
        ))
    })?;
    if !output.status.success() {
        return Err(Problem::usage(format!(
            "`{name} {}` failed: see its messages above",
            shown(command.get_args())
        )));
    }
    Ok(output.stdout)
}
