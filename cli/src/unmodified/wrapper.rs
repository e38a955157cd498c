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

/// The extension of the file about a binary; `overlays/test.rs` reads it.
const NOTES: &str = "intermezzo";

/// Runs the compiler, if this is a call of it; otherwise returns `None`.
pub(crate) fn run() -> Option<ExitCode> {
    let directory = PathBuf::from(env::var_os(OVERLAYS)?);
    let mut arguments = env::args_os().skip(1);
    let compiler = arguments.next().filter(|path| is_compiler(path))?;
    let mut arguments: Vec<OsString> = arguments.collect();
    let is_ours_to_change = !additional(&arguments, &directory, WITH_ARENA).is_empty();
    if is_ours_to_change
        && let Some(ours) = Ours::of(&arguments)
        && let Err(error) = ours.replace(&mut arguments, &directory)
    {
        output::complain(&format!(
            "error: cannot write into {} ({error}): set INTERMEZZO_CACHE to a directory that can be written",
            directory.display()
        ));
        return Some(ExitCode::FAILURE);
    }
    let binary = binary(&arguments).filter(|_| is_ours_to_change);
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
    let heard = |arguments: &[OsString], harness: &str| {
        let mut command = command(arguments, harness);
        command.stdout(Stdio::inherit()).stderr(Stdio::piped());
        command
    };
    let built = match (&binary, &root) {
        (Some(_), Some(root)) => build_binary(|harness| root.compile(heard(&arguments, harness)))
            .and_then(|built| with_errors_of_its_own(built, heard(&given, WITH_ARENA))),
        (Some(_), None) => build_binary(|harness| heard(&arguments, harness).spawn()),
        (None, _) => command(&arguments, WITH_ARENA)
            .spawn()
            .and_then(Child::wait_with_output),
    };
    let status = built.map(|Output { status, stderr, .. }| {
        // If it cannot be written, neither can a word about that.
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

/// The compiler's arguments for calls in the place of operations on atomics: LLVM's pass for the thread sanitizer, in all
/// functions. `engine/src/runtime/races/` has the functions that are called; it needs frame pointers and, for places, what
/// a debugger needs.
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

/// Those for no calls in front of accesses to plain memory.
const ATOMICS_ONLY: [&str; 2] = [
    "-C",
    "llvm-args=-tsan-instrument-memory-accesses=0 -tsan-instrument-memintrinsics=0",
];

/// Returns the compiler's arguments for calls, in front of accesses to plain memory, too, if that is to be `watched`.
fn calls(watched: bool) -> impl Iterator<Item = &'static str> {
    let atomics_only = (!watched).then_some(ATOMICS_ONLY);
    CALLS.into_iter().chain(atomics_only.into_iter().flatten())
}

/// Returns `true` if the compiler knows the pass. Its name, and those of its options, are LLVM's, which may change them.
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

/// The values of the variable that says what calls show.
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

/// The compiler's words for a program with two global allocators.
const CONFLICT: &str = "conflicts with global allocator in";

/// Compiles a binary with our global allocator, or without it if the program has another one: only the compiler knows.
fn build_binary(begin: impl Fn(&str) -> io::Result<Child>) -> io::Result<Output> {
    let built = begin(WITH_ARENA)?.wait_with_output()?;
    match !built.status.success() && String::from_utf8_lossy(&built.stderr).contains(CONFLICT) {
        true => begin(WITHOUT_ARENA)?.wait_with_output(),
        false => Ok(built),
    }
}

/// Returns what the compiler says of a program as it is, with its own `main`, if it does not compile: errors of the text
/// for [`Root`] may be about what the user has not written.
fn with_errors_of_its_own(built: Output, mut as_it_is: Command) -> io::Result<Output> {
    if built.status.success() {
        return Ok(built);
    }
    let alone = as_it_is.output()?;
    if !alone.status.success() {
        return Ok(alone);
    }
    output::complain(
        "error: the program compiles, but it cannot be explored: its `main` has to be a Rust function that std calls, so \
         `#![no_main]` is for `cargo run` only",
    );
    Ok(built)
}

/// `true` if cargo calls us with this as the compiler, or as another wrapper of it. Our own commands are single words.
fn is_compiler(path: &OsStr) -> bool {
    path == "rustc" || Path::new(path).components().count() > 1
}

/// Returns the arguments that add to the configuration, when cargo asks the compiler for it. Unless this one is set, `rustix`
/// makes system calls without the C library, and they would be no steps.
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
    // Without a name, and with this one, it is asked about itself.
    let compiles = value("--crate-name").is_some_and(|&name| name != "___");
    if !compiles || !has("--target") || value("--crate-type") == Some(&"proc-macro") {
        return Vec::new();
    }
    let mut additional: Vec<OsString> = Vec::new();
    if value("--crate-name") == Some(&"portable_atomic") {
        // Its operations on atomics are inline assembly otherwise, and would be no steps.
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
        // A lint that the project denies may find the overlays' crates unused.
        additional.extend(["--cap-lints".into(), "warn".into()]);
    }
    if arguments.iter().any(|argument| argument.contains("lto")) {
        // The overlays have no code for that.
        additional.extend(["-C".into(), "lto=off".into()]);
    }
    if explores_programs() && arguments.contains(&"panic=abort") {
        // With `abort`, a panic would end the process and the remaining executions.
        additional.extend(["-C".into(), "panic=unwind".into()]);
    }
    if runs {
        // The statics are found by their names.
        additional.extend(["-C".into(), "strip=none".into()]);
        // The code and the statics are where the linker puts them, in every process: hashers take seeds from their
        // addresses.
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        additional.extend(["-C".into(), "relocation-model=static".into()]);
    }
    // Crates that the overlays depend on may be the project's, too.
    additional.extend([
        "-L".into(),
        dependencies,
        "-C".into(),
        "metadata=intermezzo".into(),
    ]);
    additional
}

/// `true` if code compiled with these arguments has no debug information, by which places are found, and which operations are
/// those of `Arc`. The last level counts: `RUSTFLAGS` come after what the profile says.
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

/// Writes a file beside a binary, with facts about it that the overlay of `test` reads. Each line begins with the
/// kind of fact.
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
    // Without it, a replay does not find the test of a program, and statics are not restored, which the report says.
    let _ = fs::write(binary.with_extension(NOTES), notes);
}

/// `true` if the crate names intermezzo among its dependencies. Its tests say themselves what is explored.
fn uses_intermezzo(arguments: &[OsString]) -> bool {
    arguments.iter().any(|argument| {
        let path = argument.to_str().and_then(|text| text.split_once('='));
        let file = path.and_then(|(_, path)| Path::new(path).file_name()?.to_str());
        file.is_some_and(|file| file.starts_with("libintermezzo-"))
    })
}

/// A crate of ours in the project's graph: it becomes another name of the one that is laid over std, so that the tests
/// and what they test share one engine.
struct Ours {
    /// The place of its source among the arguments.
    source: usize,
    /// The path of what it stands for; `None` if nothing of it is used.
    stands_for: Option<&'static str>,
}

impl Ours {
    /// Returns the crate that is to be compiled, if it is one of ours, for the project's own target.
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

    /// Has this compiled instead of the crate's source.
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
        // Others may be compiling it at the same time.
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
    fn what_a_caller_is_can_be_looked_up() {
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
    fn a_compiler_is_asked_if_it_knows_the_pass() {
        let directory = env::temp_dir().join(format!("intermezzo-probe-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        assert!(!knows_calls("no-such-compiler", &directory));
        assert!(knows_calls("rustc", &directory));
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn the_configuration_has_rustix_use_the_c_library() {
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
