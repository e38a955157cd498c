//! `list`: the tests of the project, and which of them are explored. Test binaries are only run to list their tests.

use crate::args::ListTestsArgs;
use crate::cargo;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use object::{Object as _, ObjectSection as _, SectionKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The fields that are read from a message of `cargo test --no-run --message-format=json`.
#[derive(Deserialize)]
pub(crate) struct Message {
    #[serde(default)]
    package_id: String,
    pub(crate) manifest_path: Option<PathBuf>,
    target: Option<Target>,
    pub(crate) executable: Option<PathBuf>,
}

impl Message {
    /// Returns the package.
    pub(crate) fn package(&self) -> String {
        package(&self.package_id)
    }

    /// Returns the target: `lib`, `bin NAME`, `test NAME`.
    pub(crate) fn target(&self) -> String {
        match &self.target {
            Some(Target { name, kind }) => match kind.first().map(String::as_str) {
                Some(kind @ ("bin" | "test" | "example" | "bench")) => format!("{kind} {name}"),
                _ => "lib".to_owned(),
            },
            None => "lib".to_owned(),
        }
    }

    /// Returns the name of the crate in the paths of its tests.
    pub(crate) fn krate(&self) -> String {
        let name = self.target.as_ref().map_or("", |target| &target.name);
        name.replace('-', "_")
    }
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// A test of the project.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct ListedTest {
    /// The test's path with its crate, as in reports.
    program: String,
    package: String,
    /// `lib`, `bin NAME`, `test NAME`.
    target: String,
    /// `true` if it has the attribute `#[intermezzo::test]`, and the feature `explore` is on.
    explored: bool,
}

#[derive(Serialize)]
struct ListJson<'a> {
    tests: &'a [ListedTest],
}

/// Lists the tests.
pub(crate) fn run(args: &ListTestsArgs) -> Result<Exit, Problem> {
    let mut tests = Vec::new();
    let (of_cargo, of_binary) = split_at_dashes(&args.cargo.cargo);
    for message in built(of_cargo)? {
        tests.extend(of_message(&message, of_binary)?);
    }
    tests.sort();
    if args.json {
        output::json(&ListJson { tests: &tests })?;
    } else {
        output::text(&text(&tests))?;
    }
    match tests.iter().any(|test| test.explored) {
        true => Ok(Exit::Pass),
        false => {
            output::complain(super::NOTHING_EXPLORED);
            Ok(Exit::Inconclusive)
        }
    }
}

/// Returns the arguments before `--`, and those after it.
pub(crate) fn split_at_dashes(arguments: &[OsString]) -> (&[OsString], &[OsString]) {
    let at = arguments.iter().position(|argument| argument == "--");
    match at {
        Some(at) => (&arguments[..at], &arguments[at + 1..]),
        None => (arguments, &[]),
    }
}

fn text(tests: &[ListedTest]) -> String {
    let rows = tests.iter().map(|test| {
        let word = if test.explored { "explored" } else { "plain" };
        let place = format!("{} {}", test.package, test.target);
        vec![word.to_owned(), test.program.clone(), place]
    });
    output::table(&rows.collect::<Vec<_>>())
}

/// Builds the tests, and returns cargo's messages about their binaries.
pub(crate) fn built(arguments: &[OsString]) -> Result<Vec<Message>, Problem> {
    let output = cargo::command()
        .args(["test", "--no-run", "--message-format=json-render-diagnostics"])
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| cargo::no_cargo(&error))?;
    if !output.status.success() {
        return Err(Problem::usage(
            "no test was listed: the project does not build, or cargo does not know these arguments; see \
             cargo's messages above",
        ));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let is_binary = |message: &Message| message.executable.is_some() && message.target.is_some();
    Ok(messages.filter(is_binary).collect())
}

/// Returns the tests of the binary that the message names, with their crate.
pub(crate) fn programs(message: &Message, arguments: &[OsString]) -> Vec<String> {
    let Some(binary) = &message.executable else {
        return Vec::new();
    };
    let mut command = Command::new(binary);
    command.args(["--list", "--format", "terse"]).args(arguments);
    if let Some(directory) = message.manifest_path.as_deref().and_then(Path::parent) {
        command.current_dir(directory);
    }
    let output = command.stderr(Stdio::null()).output();
    let Some(output) = output.ok().filter(|output| output.status.success()) else {
        // The binary has a harness of its own, or needs libraries that only cargo finds.
        output::complain(&format!(
            "{} ({}) does not list its tests: they are left out",
            message.krate(),
            binary.display()
        ));
        return Vec::new();
    };
    let krate = message.krate();
    let listed = String::from_utf8_lossy(&output.stdout);
    let names = listed.lines().filter_map(|line| line.strip_suffix(": test"));
    names.map(|name| format!("{krate}::{name}")).collect()
}

/// Returns the tests of the binary that the message names.
fn of_message(message: &Message, arguments: &[OsString]) -> Result<Vec<ListedTest>, Problem> {
    let programs = programs(message, arguments);
    let Some(binary) = message.executable.as_ref().filter(|_| !programs.is_empty()) else {
        return Ok(Vec::new());
    };
    let krate = message.krate();
    let bytes =
        fs::read(binary).map_err(|error| Problem::file("read", binary, &error, "run the command again"))?;
    let explored = named(&bytes, &krate, &programs);
    let tests = programs.into_iter().map(|program| ListedTest {
        explored: explored.contains(&program),
        package: message.package(),
        target: message.target(),
        program,
    });
    Ok(tests.collect())
}

/// Returns the programs whose names are in the constants of a binary. An explored test has its whole name there, and any
/// other test only its path in the crate.
fn named(binary: &[u8], krate: &str, programs: &[String]) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    let Ok(file) = object::File::parse(binary) else {
        return named;
    };
    let begin = format!("{krate}::");
    for section in file.sections() {
        let holds_constants = matches!(
            section.kind(),
            SectionKind::ReadOnlyData | SectionKind::ReadOnlyDataWithRel | SectionKind::ReadOnlyString
        );
        let Some(data) = section.data().ok().filter(|_| holds_constants) else {
            continue;
        };
        for at in occurrences(data, begin.as_bytes()) {
            let here = programs
                .iter()
                .filter(|program| data[at..].starts_with(program.as_bytes()));
            // Constants are stored end to end, so a shorter name may only be a prefix: the longest match is the one meant.
            let longest = here.max_by_key(|program| program.len());
            named.extend(longest.cloned());
        }
    }
    named
}

/// Returns the positions of the pattern in the data.
fn occurrences<'a>(data: &'a [u8], pattern: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        let first = *pattern.first()?;
        while let Some(at) = data[from..].iter().position(|&byte| byte == first) {
            let at = from + at;
            from = at + 1;
            if data[at..].starts_with(pattern) {
                return Some(at);
            }
        }
        None
    })
}

/// Returns the name in a package's id: `path+file:///a/queue#0.1.0`, or `..#name@0.1.0`.
fn package(id: &str) -> String {
    let (path, version) = id.rsplit_once('#').unwrap_or((id, ""));
    let name = match version.split_once('@') {
        Some((name, _)) => name,
        None => path.trim_end_matches('/').rsplit('/').next().unwrap_or(path),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_by_their_ids() {
        assert_eq!(package("path+file:///a/queue#0.1.0"), "queue");
        assert_eq!(package("path+file:///a/queue#my-queue@0.1.0"), "my-queue");
    }

    #[test]
    fn occurrences_are_all_found() {
        assert_eq!(occurrences(b"aab aaab", b"aab").collect::<Vec<_>>(), [0, 5]);
    }
}
