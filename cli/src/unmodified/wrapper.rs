//! The compiler's wrapper: cargo calls this command instead of the compiler, with the compiler and its arguments.

use super::overlays::library;
use super::program::{self, Root};
use super::statics;
use crate::output;
use intermezzo::settings::variables::{NEXT_WRAPPER, OVERLAYS, PROGRAMS, WATCHES};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Output, Stdio};

/// The extension of the file with notes about a binary, which `overlays/test.rs` reads.
const NOTES: &str = "intermezzo";

/// Runs the compiler, if this is a call of it; otherwise returns `None`.
pub(crate) fn run() -> Option<ExitCode> {
    let directory = PathBuf::from(env::var_os(OVERLAYS)?);
    let mut arguments = env::args_os().skip(1);
    let compiler = arguments.next().filter(|path| is_compiler(path))?;
    let mut arguments: Vec<OsString> = arguments.collect();
    let gets_overlays = !additional(&arguments, &directory, WITH_ARENA).is_empty();
    if gets_overlays
        && let Some(ours) = Ours::of(&arguments)
        && let Err(error) = ours.replace(&mut arguments, &directory)
    {
        output::complain(&format!(
            "error: cannot write into {} ({error}): set INTERMEZZO_CACHE to a directory that can be written",
            directory.display()
        ));
        return Some(ExitCode::FAILURE);
    }
    let binary = binary(&arguments).filter(|_| gets_overlays);
    // `Root::take` removes the root file from the arguments.
    let given = arguments.clone();
    let root = match &binary {
        Some(binary) if is_program(&given) => {
            Root::take(&mut arguments, &binary.with_extension(NOTES)).map(Some)
        }
        _ => Ok(None),
    };
    let root = match root {
        Ok(root) => root,
        Err(error) => {
            output::complain(&format!("error: cannot read the program's source ({error})"));
            return Some(ExitCode::FAILURE);
        }
    };
    let command = |arguments: &[OsString], harness: &str| {
        let mut command = match env::var_os(NEXT_WRAPPER) {
            Some(wrapper) => {
                let mut command = Command::new(wrapper);
                command.arg(&compiler);
                command
            }
            None => Command::new(&compiler),
        };
        command
            .args(arguments)
            .args(additional(&given, &directory, harness))
            .args(configuration(&given));
        command
    };
    let with_messages_read = |arguments: &[OsString], harness: &str| {
        let mut command = command(arguments, harness);
        command.stdout(Stdio::inherit()).stderr(Stdio::piped());
        command
    };
    let built = match (&binary, &root) {
        (Some(_), Some(root)) => {
            build_binary(|harness| root.compile(with_messages_read(&arguments, harness)))
                .and_then(|built| with_errors_of_its_own(built, with_messages_read(&given, WITH_ARENA)))
        }
        (Some(_), None) => build_binary(|harness| with_messages_read(&arguments, harness).spawn()),
        (None, _) => command(&arguments, WITH_ARENA)
            .spawn()
            .and_then(Child::wait_with_output),
    };
    let status = built.map(|Output { status, stderr, .. }| {
        // If this fails, a message about it would fail, too.
        let _ = io::stderr().write_all(&stderr);
        status
    });
    if let (Some(binary), Ok(status)) = (&binary, &status)
        && status.success()
    {
        note(binary, &arguments, &directory);
    }
    Some(match status {
        Ok(status) => ExitCode::from(
            status
                .code()
                .and_then(|code| u8::try_from(code).ok())
                .unwrap_or(1),
        ),
        Err(error) => {
            output::complain(&format!("error: cannot run the compiler ({error})"));
            ExitCode::FAILURE
        }
    })
}

/// The compiler's arguments that replace operations on atomics by calls: LLVM's pass of the thread sanitizer, for all
/// functions. `engine/src/runtime/races/` defines the functions that are called. It needs frame pointers, and debug
/// information to find places in the source.
const CALLS: [&str; 12] = [
    "-C",
    "passes=forceattrs,tsan-module,function(tsan)",
    "-C",
    "llvm-args=-force-attribute=sanitize_thread -tsan-instrument-func-entry-exit=0 -tsan-handle-cxx-exceptions=0",
    "-C",
    "force-frame-pointers=yes",
    "-C",
    "split-debuginfo=off",
    "-C",
    "strip=none",
    "-C",
    "collapse-macro-debuginfo=yes",
];

/// The arguments that switch off calls in front of accesses to plain memory.
const ATOMICS_ONLY: [&str; 2] = [
    "-C",
    "llvm-args=-tsan-instrument-memory-accesses=0 -tsan-instrument-memintrinsics=0",
];

/// The arguments that keep comparisons of memory as calls. Otherwise the compiler replaces them after the calls were
/// inserted.
const COMPARISONS: [&str; 2] = [
    "-C",
    "llvm-args=-max-loads-per-memcmp=0 -max-loads-per-memcmp-opt-size=0",
];

/// Returns the compiler's arguments for calls. If `watched`, there are also calls in front of accesses to plain memory.
fn calls(watched: bool) -> impl Iterator<Item = &'static str> {
    let more = if watched { COMPARISONS } else { ATOMICS_ONLY };
    CALLS.into_iter().chain(more)
}

/// `true` if the compiler has the pass. LLVM may change the names of the pass and of its options.
pub(super) fn knows_calls(compiler: impl AsRef<OsStr>, directory: &Path) -> bool {
    let compiled = directory.join("probe.o");
    if compiled.exists() {
        return true;
    }
    let probe = Command::new(compiler)
        .args(["--crate-type=lib", "--crate-name=probe", "--emit=obj", "-o"])
        .arg(compiled)
        .args(calls(false))
        .arg("-")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    probe.is_ok_and(|status| status.success())
}

/// The values of the variable [`WATCHES`]: no calls, calls for operations on reference counts, or calls for plain memory,
/// too.
pub(super) const SEE_NOTHING: &str = "";
pub(super) const SEE_COUNTS: &str = "0";
pub(super) const SEE_MEMORY: &str = "1";

/// `true` if operations on reference counts are to be seen.
fn sees_counts() -> bool {
    env::var_os(WATCHES).is_some_and(|value| value != SEE_NOTHING)
}

/// `true` if accesses to plain memory are to be seen.
fn watches_memory() -> bool {
    env::var_os(WATCHES).is_some_and(|value| value == SEE_MEMORY)
}

/// The overlays of `test`, with and without a global allocator.
const WITH_ARENA: &str = "arena";
const WITHOUT_ARENA: &str = "test";

/// A part of the compiler's error about a program with two global allocators.
const CONFLICT: &str = "conflicts with global allocator in";

/// Compiles a binary with our global allocator, or without it if the program has one of its own. Only the compiler knows
/// that, so it is tried first.
fn build_binary(begin: impl Fn(&str) -> io::Result<Child>) -> io::Result<Output> {
    let built = begin(WITH_ARENA)?.wait_with_output()?;
    match !built.status.success() && String::from_utf8_lossy(&built.stderr).contains(CONFLICT) {
        true => begin(WITHOUT_ARENA)?.wait_with_output(),
        false => Ok(built),
    }
}

/// Returns the compiler's output for the unchanged program if that does not compile, because errors in the text of [`Root`]
/// may be about code that the user did not write.
fn with_errors_of_its_own(built: Output, mut as_it_is: Command) -> io::Result<Output> {
    if built.status.success() {
        return Ok(built);
    }
    let alone = as_it_is.output()?;
    if !alone.status.success() {
        return Ok(alone);
    }
    output::complain(
        "error: the program compiles, but it cannot be explored: its `main` must be a Rust function that std calls, so \
         programs with `#![no_main]` only work with `cargo run`",
    );
    Ok(built)
}

/// `true` if this is the compiler or another wrapper of it, with which cargo calls us. Our own commands are single words.
fn is_compiler(path: &OsStr) -> bool {
    path == "rustc" || Path::new(path).components().count() > 1
}

/// Returns the arguments that add to the configuration when cargo asks the compiler for it. Without this one, `rustix`
/// makes system calls without the C library, and they would not be steps of the execution.
fn configuration(arguments: &[OsString]) -> &'static [&'static str] {
    match arguments.iter().any(|argument| argument == "--print=cfg") {
        true => &["--cfg", "rustix_use_libc"],
        false => &[],
    }
}

/// Returns the arguments to add: the overlays, for crates of the project's own target. Cargo names a target for these
/// alone, and build scripts, procedural macros and what they depend on are built without. `harness` is the overlay of
/// `test`.
fn additional(arguments: &[OsString], directory: &Path, harness: &str) -> Vec<OsString> {
    let arguments: Vec<&str> = arguments
        .iter()
        .map(|argument| argument.to_str().unwrap_or_default())
        .collect();
    let has = |flag: &str| {
        let of = |&argument: &&str| {
            argument == flag
                || argument
                    .strip_prefix(flag)
                    .is_some_and(|rest| rest.starts_with('='))
        };
        arguments.iter().any(of)
    };
    let value = |flag: &str| {
        arguments
            .iter()
            .position(|&argument| argument == flag)
            .and_then(|at| arguments.get(at + 1))
    };
    // Without a crate name, or with this one, cargo asks the compiler about itself.
    let compiles = value("--crate-name").is_some_and(|&name| name != "___");
    if !compiles || !has("--target") || value("--crate-type") == Some(&"proc-macro") {
        return Vec::new();
    }
    let mut additional: Vec<OsString> = Vec::new();
    if value("--crate-name") == Some(&"portable_atomic") {
        // Otherwise its operations on atomics are inline assembly, and would not be steps of the execution.
        additional.extend(["--cfg".into(), "portable_atomic_no_asm".into()]);
    }
    let is_program = explores_programs() && is_binary(&arguments);
    let runs = has("--test") || is_program;
    let of_binary = if is_program { program::OVERLAY } else { "test" };
    let overlays = [("std", "std"), ("core", "core"), (of_binary, harness)];
    for (name, overlay) in &overlays[..2 + usize::from(runs)] {
        let mut external = OsString::from(format!("{name}="));
        external.push(library(directory, overlay));
        additional.extend(["--extern".into(), external]);
    }
    let mut dependencies = OsString::from("dependency=");
    dependencies.push(directory.join("deps"));
    if sees_counts() {
        additional.extend(calls(watches_memory()).map(OsString::from));
        if lacks_places(&arguments) {
            additional.extend(["-C".into(), "debuginfo=line-tables-only".into()]);
        }
    }
    if !has("--cap-lints") {
        // The overlays' crates may be unused, which is an error if the project denies that lint.
        additional.extend(["--cap-lints".into(), "warn".into()]);
    }
    if arguments.iter().any(|argument| argument.contains("lto")) {
        // The overlays' libraries are not compiled for link-time optimisation.
        additional.extend(["-C".into(), "lto=off".into()]);
    }
    if explores_programs() && arguments.contains(&"panic=abort") {
        // With `abort`, a panic would end the process and the remaining executions.
        additional.extend(["-C".into(), "panic=unwind".into()]);
    }
    if runs {
        // The statics are found by their names.
        additional.extend(["-C".into(), "strip=none".into()]);
        // Hashers take seeds from addresses of code and statics, so these must be the same in every process.
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        additional.extend(["-C".into(), "relocation-model=static".into()]);
    }
    // The project may depend on the same crates as the overlays: another `metadata` distinguishes their symbols.
    additional.extend([
        "-L".into(),
        dependencies,
        "-C".into(),
        "metadata=intermezzo".into(),
    ]);
    additional
}

/// `true` if code compiled with these arguments has no debug information, which gives the places of operations and shows
/// which ones belong to `Arc`. The last level counts, because `RUSTFLAGS` come after the profile's level.
fn lacks_places(arguments: &[&str]) -> bool {
    let level = |argument: &&str| {
        let argument = argument.strip_prefix("-C").unwrap_or(argument);
        Some(argument.strip_prefix("debuginfo=")?.to_owned())
    };
    let last = arguments.iter().rev().find_map(level);
    last.is_none_or(|level| level == "0" || level == "none")
}

/// `true` if the programs of the project are explored as a whole.
fn explores_programs() -> bool {
    env::var_os(PROGRAMS).is_some_and(|value| value == "1")
}

/// `true` if these arguments are for a binary or an example.
fn is_binary(arguments: &[&str]) -> bool {
    arguments.windows(2).any(|pair| pair == ["--crate-type", "bin"])
}

/// `true` if these arguments are for a program that is explored as a whole.
fn is_program(arguments: &[OsString]) -> bool {
    let arguments: Vec<&str> = arguments
        .iter()
        .map(|argument| argument.to_str().unwrap_or_default())
        .collect();
    explores_programs() && is_binary(&arguments)
}

/// Returns the path of the test binary or the program that these arguments ask for, if they ask for one.
fn binary(arguments: &[OsString]) -> Option<PathBuf> {
    let value = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1)
    };
    let suffix = arguments
        .iter()
        .find_map(|argument| argument.to_str()?.strip_prefix("extra-filename="))?;
    let is_test = arguments.iter().any(|argument| argument == "--test");
    let is_it = is_test || is_program(arguments);
    let file = format!(
        "{}{suffix}{}",
        value("--crate-name")?.to_str()?,
        env::consts::EXE_SUFFIX
    );
    is_it.then_some(Path::new(value("--out-dir")?).join(file))
}

/// Writes a file next to a binary, with facts about it for the overlay of `test`. Each line begins with the kind of fact.
fn note(binary: &Path, arguments: &[OsString], overlays: &Path) {
    let mut notes = String::new();
    if let Ok(program) = env::var("CARGO_BIN_NAME") {
        notes.push_str(&format!("program {program}\n"));
    }
    if uses_intermezzo(arguments) {
        notes.push_str("uses-intermezzo\n");
    }
    if sees_counts()
        && let Ok(root) = env::current_dir()
    {
        notes.push_str(&format!("counted {}\n", root.display()));
        if watches_memory() {
            notes.push_str("watched\n");
        }
    }
    notes.push_str(&statics::lines(binary, overlays));
    // An error is ignored: without the file, a replay does not find the test of a program, and statics are not restored,
    // which the report says.
    let _ = fs::write(binary.with_extension(NOTES), notes);
}

/// `true` if the crate depends on intermezzo directly. Its tests say themselves what is explored.
fn uses_intermezzo(arguments: &[OsString]) -> bool {
    arguments.iter().any(|argument| {
        let path = argument.to_str().and_then(|text| text.split_once('='));
        let file = path.and_then(|(_, path)| Path::new(path).file_name()?.to_str());
        file.is_some_and(|file| file.starts_with("libintermezzo-"))
    })
}

/// A crate of ours among the project's dependencies. It is compiled as a re-export of the one below the overlay of std,
/// so that all crates share one engine.
struct Ours {
    /// The index of its source file in the arguments.
    source: usize,
    /// The path that it re-exports; `None` if no other crate uses it.
    stands_for: Option<&'static str>,
}

impl Ours {
    /// Returns the library that is to be compiled, if it is one of ours.
    fn of(arguments: &[OsString]) -> Option<Ours> {
        let package = env::var("CARGO_PKG_NAME").ok()?;
        let stands_for = match package.as_str() {
            "intermezzo" => Some("std::__intermezzo"),
            "intermezzo-sdk" => Some("std::__intermezzo::sdk"),
            "intermezzo-monitors" => Some("std::__intermezzo::monitors"),
            "intermezzo-refinement" => Some("std::__intermezzo::refinement"),
            "intermezzo-breakpoint"
            | "intermezzo-engine"
            | "intermezzo-lookalikes"
            | "intermezzo-search"
            | "intermezzo-explorer" => None,
            _ => return None,
        };
        let is_source = |argument: &OsString| {
            Path::new(argument)
                .extension()
                .is_some_and(|extension| extension == "rs")
        };
        let source = arguments.iter().position(is_source)?;
        let is_library = arguments
            .windows(2)
            .any(|pair| pair[0] == "--crate-type" && pair[1] == "lib");
        is_library.then_some(Ours { source, stands_for })
    }

    /// Replaces the crate's source in the arguments by the re-export.
    ///
    /// # Errors
    /// If the file cannot be written.
    fn replace(self, arguments: &mut [OsString], overlays: &Path) -> io::Result<()> {
        let name = self
            .stands_for
            .map_or("nothing".to_owned(), |path| path.replace("::", "-"));
        let items = self.stands_for.map(|path| format!("pub use {path}::*;\n"));
        let text = format!("#![allow(warnings)]\n{}", items.unwrap_or_default());
        let file = overlays.join(format!("{name}.rs"));
        // Not written if it is the same: another compiler may be reading it.
        if fs::read_to_string(&file).ok().as_ref() != Some(&text) {
            fs::write(&file, text)?;
        }
        arguments[self.source] = file.into_os_string();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(line: &str) -> Vec<String> {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let added = additional(&arguments, Path::new("dir"), WITH_ARENA);
        added
            .iter()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn debug_information_is_added_where_it_is_missing() {
        let wanted = |flags: &str| {
            let line = format!("--crate-name a --crate-type lib --target t {flags} src/lib.rs");
            let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            lacks_places(
                &arguments
                    .iter()
                    .filter_map(|one| one.to_str())
                    .collect::<Vec<_>>(),
            )
        };
        assert!(wanted(""));
        assert!(wanted("-C debuginfo=2 -C debuginfo=0"));
        assert!(wanted("-C debuginfo=2 -Cdebuginfo=none"));
        assert!(wanted("-C split-debuginfo=packed"));
        assert!(!wanted("-C debuginfo=0 -C debuginfo=2"));
    }

    #[test]
    fn a_compiler_with_the_pass_is_recognised() {
        let directory = env::temp_dir().join(format!("intermezzo-probe-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        assert!(!knows_calls("no-such-compiler", &directory));
        assert!(knows_calls("rustc", &directory));
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn rustix_uses_the_c_library() {
        let asked = |line: &str| {
            let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            configuration(&arguments)
        };
        let cfg = ["--cfg", "rustix_use_libc"];
        assert_eq!(
            asked("- --crate-name ___ --target t --print=sysroot --print=cfg"),
            cfg
        );
        assert!(asked("--crate-name a --crate-type lib --target t src/lib.rs").is_empty());
    }

    #[test]
    fn portable_atomic_is_built_without_assembly() {
        let is_set = |name: &str| {
            let line = format!("--crate-name {name} --crate-type lib --target t src/lib.rs");
            let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            additional(&arguments, Path::new("/o"), "test")
                .iter()
                .any(|argument| argument == "portable_atomic_no_asm")
        };
        assert!(is_set("portable_atomic"));
        assert!(!is_set("portable_atomic_util"));
    }

    #[test]
    fn the_projects_own_crates_get_the_overlays() {
        let library = added("--crate-name a --crate-type lib --target t src/lib.rs");
        assert_eq!(
            library.iter().filter(|&argument| argument == "--extern").count(),
            2,
            "{library:?}"
        );
        let test = added("--crate-name a --test --target=t src/lib.rs");
        assert_eq!(
            test.iter().filter(|&argument| argument == "--extern").count(),
            3,
            "{test:?}"
        );
        for line in [
            "-vV",
            "- --crate-name ___ --target t --print=cfg",
            "--crate-name build_script_build --crate-type bin build.rs",
            "--crate-name a_macro --crate-type proc-macro --target t src/lib.rs",
        ] {
            assert!(added(line).is_empty(), "{line}");
        }
    }
}
