//! The overlays: of `std`, of `core`, and two of `test`, of which one has a global allocator. These four crates are built
//! once for each toolchain and version of ours.
//!
//! They are in the user's cache directory, or in that of `INTERMEZZO_CACHE`.

use super::{copies, output_of, statics, unused};
use crate::cargo;
use crate::output;
use crate::problem::Problem;
use etcetera::BaseStrategy as _;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The path of intermezzo, if this command was built in a checkout of it.
const CHECKOUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The files of a crate, each with its name and its text.
type Files = &'static [(&'static str, &'static str)];

/// The overlays: the name, the files and the dependencies of each.
const SOURCES: [(&str, Files, &str); 4] = [
    (
        "std",
        &[("lib.rs", include_str!("../../overlays/std.rs"))],
        "intermezzo = {{intermezzo}}\n",
    ),
    (
        "core",
        &[("lib.rs", include_str!("../../overlays/core.rs"))],
        "intermezzo-overlay-std = { path = \"../std\" }\n",
    ),
    (
        "test",
        &[
            ("lib.rs", include_str!("../../overlays/test.rs")),
            ("arguments.rs", include_str!("../../overlays/arguments.rs")),
            ("beginning.rs", include_str!("../../overlays/beginning.rs")),
        ],
        "intermezzo = {{intermezzo}}\nlibtest-mimic = \"0.8\"\n",
    ),
    (
        "arena",
        &[("lib.rs", include_str!("../../overlays/arena.rs"))],
        "intermezzo = {{intermezzo}}\nintermezzo-overlay-test = { path = \"../test\" }\n",
    ),
];

/// The directories of their workspace.
const MEMBERS: &str = "\"std\", \"core\", \"test\", \"arena\"";

/// The overlays, built.
pub(super) struct Overlays {
    /// The directory with a library for each overlay ([`library`]), and with their dependencies in `deps`.
    pub(super) directory: PathBuf,
    /// The target on which the toolchain runs.
    pub(super) host: String,
    /// A digest of the libraries.
    pub(super) digest: String,
}

impl Overlays {
    /// Returns the overlays for the toolchain of the current directory. Builds them if one is missing, after a call of
    /// `before_first`.
    ///
    /// # Errors
    /// If they cannot be written or built, or if `before_first` fails.
    pub(super) fn ready(
        compiler: Compiler,
        before_first: impl FnOnce() -> Result<(), Problem>,
    ) -> Result<Overlays, Problem> {
        let toolchain = Compiler::toolchain()?;
        let Compiler { said: compiler, host } = compiler;
        let dependency = dependency();
        let place = cache()?.join(digest(&(&compiler, SOURCES, &dependency)));
        // Another run may be doing the same.
        let _alone = lock(&place)?;
        unused::mark(&place);
        write(&place, &dependency)?;
        copies::make(&place, &host, cargo_for_overlays(&place, &toolchain))?;
        // Written again, because the manifest names the copies.
        write(&place, &dependency)?;
        let release = place.join("target").join("release");
        let built = || -> Option<String> {
            let bytes: Option<Vec<_>> = SOURCES
                .iter()
                .map(|(name, ..)| fs::read(library(&release, name)).ok())
                .collect();
            Some(digest(&bytes?))
        };
        let is_first = built().is_none();
        if is_first {
            before_first()?;
            unused::remove_beside(&place);
            output::complain(&format!(
                "building intermezzo for {} as a layer over std: once for each toolchain",
                compiler.lines().next().unwrap_or_default()
            ));
        }
        // In a checkout the sources may have changed: cargo builds what is necessary.
        if is_checkout() || is_first {
            build(&place, !is_first, &toolchain)?;
        }
        let digest =
            built().ok_or_else(|| Problem::usage(format!("cargo built no libraries in {release:?}")))?;
        // A run that was killed may not have listed the statics. They are not listed each time, because that would take
        // longer than everything else here.
        if !statics::are_others_listed(&release, &digest) {
            let own = toolchain.join("lib").join("rustlib").join(&host).join("lib");
            statics::list_others(&release, &digest, &[release.clone(), release.join("deps"), own])?;
        }
        Ok(Overlays {
            directory: release,
            host,
            digest,
        })
    }
}

/// Returns the path of an overlay's library.
pub(super) fn library(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("libintermezzo_overlay_{name}.rlib"))
}

/// The compiler of the current directory.
pub(super) struct Compiler {
    /// Its description of itself, with its version.
    said: String,
    /// The target that it runs on.
    pub(super) host: String,
}

impl Compiler {
    /// Asks the compiler for its version and its host.
    pub(super) fn ask() -> Result<Compiler, Problem> {
        let mut command = Command::new(rustc());
        command.arg("-vV");
        let said = String::from_utf8_lossy(&output_of(command)?).into_owned();
        let host = said.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.map(str::to_owned);
        let host = host.ok_or_else(|| Problem::usage("the compiler does not say its host (`rustc -vV`)"))?;
        Ok(Compiler { said, host })
    }

    /// Returns the directory of the compiler's toolchain.
    fn toolchain() -> Result<PathBuf, Problem> {
        let mut command = Command::new(rustc());
        command.args(["--print", "sysroot"]);
        let said = output_of(command)?;
        Ok(PathBuf::from(String::from_utf8_lossy(&said).trim_end()))
    }
}

/// Returns a command that runs cargo for the overlays, with the compiler of this toolchain. It runs in `place`, so that
/// cargo reads the user's configuration and not the project's: that may have another target, other profiles, or a
/// directory with only the packages that the project needs.
fn cargo_for_overlays(place: &Path, toolchain: &Path) -> Command {
    let mut command = cargo::command();
    command.current_dir(place);
    let compiler = toolchain
        .join("bin")
        .join("rustc")
        .with_extension(env::consts::EXE_EXTENSION);
    if compiler.is_file() {
        // In another directory, rustup may choose another toolchain.
        command.env("RUSTC", compiler);
    }
    command
}

/// Returns the compiler's command.
pub(super) fn rustc() -> OsString {
    env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"))
}

fn is_checkout() -> bool {
    Path::new(CHECKOUT).join("Cargo.toml").is_file()
}

/// Returns the overlays' dependency on intermezzo, as a manifest has it.
fn dependency() -> String {
    let source = match fs::canonicalize(CHECKOUT) {
        Ok(path) if is_checkout() => format!("path = {:?}", path.to_string_lossy()),
        _ => format!("version = \"={}\"", env!("CARGO_PKG_VERSION")),
    };
    // Tests are explored even in builds with optimisation.
    format!("{{ {source}, features = [\"explore-in-release\", \"unmodified\"] }}")
}

/// Returns the directory of all overlays.
fn cache() -> Result<PathBuf, Problem> {
    let given = env::var_os("INTERMEZZO_CACHE").filter(|given| !given.is_empty());
    let cache = match given {
        Some(given) => Some(PathBuf::from(given)),
        None => etcetera::choose_base_strategy()
            .ok()
            .map(|base| base.cache_dir().join("intermezzo")),
    };
    let cache = cache.ok_or_else(|| {
        Problem::usage(
            "there is no cache directory here: set INTERMEZZO_CACHE to a directory that can be written",
        )
    })?;
    std::path::absolute(&cache).map_err(|error| {
        Problem::file(
            "find",
            &cache,
            &error,
            "set INTERMEZZO_CACHE to another directory",
        )
    })
}

fn digest(of: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Waits until no other process prepares the overlays in this directory. The lock is released when the file is dropped.
fn lock(place: &Path) -> Result<fs::File, Problem> {
    let path = place.join("lock");
    let locked = fs::create_dir_all(place)
        .and_then(|()| fs::File::create(&path))
        .and_then(|file| file.lock().map(|()| file));
    let help = "set INTERMEZZO_CACHE to a directory that can be written";
    locked.map_err(|error| Problem::file("lock", &path, &error, help))
}

/// Writes the sources that do not exist or differ. An unchanged file keeps its time, so that cargo does not build it again.
fn write(place: &Path, dependency: &str) -> Result<(), Problem> {
    let write = |path: PathBuf, text: &str| {
        if fs::read_to_string(&path).is_ok_and(|known| known == text) {
            return Ok(());
        }
        let parent = path.parent().unwrap_or(place);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| {
                Problem::file(
                    "write",
                    &path,
                    &error,
                    "set INTERMEZZO_CACHE to a directory that can be written",
                )
            })
    };
    for (name, files, dependencies) in SOURCES {
        let dependencies = dependencies.replace("{{intermezzo}}", dependency);
        let manifest = format!(
            "[package]\nname = \"intermezzo-overlay-{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\n{dependencies}"
        );
        write(place.join(name).join("Cargo.toml"), &manifest)?;
        for (file, text) in files {
            write(place.join(name).join("src").join(file), text)?;
        }
    }
    write(place.join("Cargo.toml"), &copies::manifest(place, MEMBERS))?;
    // The versions of dependencies with which intermezzo was tested.
    if let Ok(versions) = fs::read_to_string(Path::new(CHECKOUT).join("Cargo.lock"))
        && !place.join("Cargo.lock").exists()
    {
        write(place.join("Cargo.lock"), &versions)?;
    }
    Ok(())
}

/// The profile of the overlays, whatever the user's configuration says. With a lower level of optimisation, they would
/// have functions of std that tests then use instead of watched ones, such as `slice::fill`. With other strategies for a
/// panic, and after link-time optimisation, tests cannot be linked to them.
const PROFILE: [(&str, &str); 3] = [
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3"),
    ("CARGO_PROFILE_RELEASE_PANIC", "unwind"),
    ("CARGO_PROFILE_RELEASE_LTO", "false"),
];

/// Builds the overlays. If `quiet`, cargo shows no progress.
fn build(place: &Path, quiet: bool, toolchain: &Path) -> Result<(), Problem> {
    let mut command = cargo_for_overlays(place, toolchain);
    command
        // They do not change while a user works, so it pays to optimise them.
        .args(["build", "--release"])
        .args(quiet.then_some("--quiet"))
        .arg("--manifest-path")
        .arg(place.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", place.join("target"))
        .env("CARGO_BUILD_BUILD_DIR", place.join("target"))
        // The user's flags are for the project, not for the overlays. The copies have unused functions, which would warn.
        .env("RUSTFLAGS", "-Awarnings -Cforce-frame-pointers=yes")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET");
    for variable in env::vars_os()
        .map(|(name, _)| name)
        .filter(|name| changes_build(name))
    {
        command.env_remove(variable);
    }
    command.envs(PROFILE);
    output_of(command).map(drop)
}

/// `true` if cargo or the compiler builds different code when this variable is set. All projects share one build of the
/// overlays, so it must not depend on the settings of the first one.
fn changes_build(variable: &OsStr) -> bool {
    let Some(name) = variable.to_str() else {
        return false;
    };
    ["CARGO_PROFILE_", "CARGO_UNSTABLE_"]
        .iter()
        .any(|begin| name.starts_with(begin))
        || name == "RUSTC_BOOTSTRAP"
        || name == "CARGO_BUILD_RUSTFLAGS"
        || name.starts_with("CARGO_TARGET_") && name.ends_with("_RUSTFLAGS")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_project_do_not_change_the_overlays() {
        for name in [
            "CARGO_PROFILE_RELEASE_PANIC",
            "CARGO_PROFILE_RELEASE_BUILD_OVERRIDE_DEBUG",
            "CARGO_PROFILE_DEV_OPT_LEVEL",
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS",
            "RUSTC_BOOTSTRAP",
        ] {
            assert!(changes_build(name.as_ref()), "{name}");
        }
        for name in [
            "CARGO_HOME",
            "CARGO_TARGET_DIR",
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER",
            "CARGO_NET_OFFLINE",
            "PATH",
        ] {
            assert!(!changes_build(name.as_ref()), "{name}");
        }
    }
}
