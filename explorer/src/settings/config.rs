//! `intermezzo.toml`: settings for the tests of a package, and for some of them.
//!
//! ```toml
//! executions = 50_000              # every test of the package
//!
//! [test."ring::no_item_is_lost"]   # this one: the end of its path, in whole names
//! preemptions = 3
//! monitors = ["data-race", "leak"]
//!
//! [test."queue::*"]                # `*` matches anything
//! time = 10
//!
//! [command]                        # `cargo intermezzo test` itself
//! unmodified = true
//! ```

use super::toml_text;
use std::fmt;
use std::path::{Path, PathBuf};

/// The name of the file.
pub(super) const FILE: &str = "intermezzo.toml";

/// The files that end the search for the file in parent directories: the workspace, or the repository, ends there.
const TOP: [&str; 2] = ["Cargo.lock", ".git"];

/// The contents of an `intermezzo.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The path of the file.
    pub path: PathBuf,
    /// The settings of every test.
    pub for_all: Vec<Given>,
    /// The settings of some tests, in the order of the file: later ones override earlier ones.
    pub for_some: Vec<Section>,
    /// The settings of `cargo intermezzo test` itself, which tests ignore.
    pub of_command: Vec<Given>,
}

/// Settings for tests whose paths fit a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The end of a test's path, in whole names; `*` matches anything.
    pub pattern: String,
    /// The line of its first setting's table, from 1.
    pub line: usize,
    /// The settings.
    pub given: Vec<Given>,
}

/// A setting and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The name of the setting.
    pub name: String,
    /// Its value, as [`Settings::set`](super::Settings::set) takes it.
    pub value: String,
    /// The line where it stands, from 1.
    pub line: usize,
}

/// An `intermezzo.toml` that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file.
    pub path: PathBuf,
    /// Line and column, from 1, if the error has a place.
    pub place: Option<(usize, usize)>,
    /// The problem, and a valid alternative.
    pub problem: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Returns the nearest file of that name in this directory or above it, up to the workspace or the repository; `None` if
    /// there is none.
    ///
    /// # Errors
    /// If it cannot be read, or is not valid.
    pub fn find(from: &Path) -> Result<Option<Config>, ConfigError> {
        for directory in from.ancestors() {
            let path = directory.join(FILE);
            if path.is_file() {
                return Config::read(&path).map(Some);
            }
            if TOP.iter().any(|top| directory.join(top).exists()) {
                break;
            }
        }
        Ok(None)
    }

    /// Returns the file of `INTERMEZZO_CONFIG` (a path, or `none`), or without that variable the nearest one from this
    /// directory upwards.
    ///
    /// # Errors
    /// If it cannot be read, or is not valid.
    pub fn of_directory(directory: &Path) -> Result<Option<Config>, ConfigError> {
        match std::env::var_os("INTERMEZZO_CONFIG") {
            Some(path) if path == "none" => Ok(None),
            Some(path) => Config::read(path.as_ref()).map(Some),
            None => Config::find(directory),
        }
    }

    /// Reads this file.
    ///
    /// # Errors
    /// If it cannot be read, or is not valid.
    pub fn read(path: &Path) -> Result<Config, ConfigError> {
        toml_text::open(path, Config::parse)
    }

    /// Parses a file's text.
    ///
    /// # Errors
    /// If it is not TOML, or has a key that is not a setting, or a value that does not fit; the error names the place.
    pub fn parse(path: &Path, text: &str) -> Result<Config, ConfigError> {
        toml_text::config(path, text)
    }

    /// Returns the settings of the test of this path beyond those of all tests: later ones override earlier ones.
    pub fn for_test(&self, program: &str) -> impl Iterator<Item = &Given> {
        let sections = self.for_some.iter().filter(move |section| section.fits(program));
        sections.flat_map(|section| &section.given)
    }
}

impl Section {
    /// Returns `true` if it applies to the test of this path.
    pub fn fits(&self, program: &str) -> bool {
        let ends = program.match_indices("::").map(|(at, _)| &program[at + 2..]);
        std::iter::once(program)
            .chain(ends)
            .any(|end| fits(&self.pattern, end))
    }
}

/// Returns `true` if the pattern, in which `*` matches anything, matches the whole of `text`.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, rest)) => text.strip_prefix(before).is_some_and(|text| {
            (0..=text.len()).any(|at| text.is_char_boundary(at) && fits(rest, &text[at..]))
        }),
    }
}

#[cfg(all(test, feature = "config-files"))]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, ConfigError> {
        Config::parse(Path::new("p/intermezzo.toml"), text)
    }

    #[test]
    fn settings_are_for_all_tests_or_for_some() {
        let config = parse(
            "executions = 50_000\n\
             [test.\"z::last\"]\npreemptions = 3\nmonitors = [\"data-race\", \"leak\"]\n\
             [test.\"queue::*\"]\ntime = 2.5\nkeep_going = true\nreduction = \"caching\"\nseed = 0x10\n",
        )
        .unwrap();
        let set = |program: &str| -> Vec<(String, String, usize)> {
            let given = config.for_test(program);
            given.map(|g| (g.name.clone(), g.value.clone(), g.line)).collect()
        };
        assert_eq!(config.for_all[0].value, "50000");
        let of = |name: &str, value: &str, line| (name.to_owned(), value.to_owned(), line);
        assert_eq!(
            set("crate_name::z::last"),
            [of("preemptions", "3", 3), of("monitors", "data-race;leak", 4)]
        );
        assert_eq!(
            set("queue::push::twice"),
            [
                of("time", "2.5", 6),
                of("keep_going", "true", 7),
                of("reduction", "caching", 8),
                of("seed", "16", 9)
            ]
        );
        assert_eq!(set("crate_name::zz::last"), []);
        assert_eq!(set("last"), []);
    }

    #[test]
    fn the_command_has_settings_of_its_own() {
        let config = parse("seed = 1\n[command]\nunmodified = true\nbaseline = \"a.toml\"\n").unwrap();
        let given = config.of_command.iter();
        let given: Vec<_> = given.map(|g| (&*g.name, &*g.value, g.line)).collect();
        assert_eq!(given, [("unmodified", "true", 3), ("baseline", "a.toml", 4)]);
        assert_eq!(config.for_all.len(), 1);
    }

    #[test]
    fn patterns_fit_ends_of_paths_in_whole_names() {
        for (pattern, program, fit) in [
            ("ring::full", "tests::ring::full", true),
            ("ring::full", "tests::string::full", false),
            ("full", "tests::ring::full", true),
            ("ull", "tests::ring::full", false),
            ("*", "anything", true),
            ("ring::*", "tests::ring::full::twice", true),
            ("*full", "tests::ring::full", true),
            ("r*g::f*l", "tests::ring::full", true),
            ("", "tests::ring::full", false),
        ] {
            let section = Section {
                pattern: pattern.into(),
                line: 1,
                given: Vec::new(),
            };
            assert_eq!(section.fits(program), fit, "{pattern} {program}");
        }
    }

    #[test]
    fn errors_name_the_place() {
        for (text, place, words) in [
            ("preemption = 2\n", (1, 1), "did you mean `preemptions`"),
            (
                "seed = 1\npreemptions = \"many\"",
                (2, 15),
                "not a number in range",
            ),
            (
                "[test.a]\nstrategy = 1979-05-27",
                (2, 12),
                "`strategy`: give a number",
            ),
            (
                "[tests.a]\nseed = 1",
                (1, 2),
                "`tests`: there is no such setting; did you mean",
            ),
            ("[test]\nseed = 1", (2, 1), "[test.\"seed\"]"),
            ("test = 3", (1, 1), "`test`: there is no such setting"),
            ("comand = 3", (1, 1), "did you mean `command`"),
            (
                "[command]\nunmodifed = true",
                (2, 1),
                "`unmodifed`: the command has no such setting; did you mean `unmodified`? there are: ",
            ),
            (
                "[command]\nraces = 2",
                (2, 9),
                "`races`: `2` is neither `true` nor `false`",
            ),
            ("seed = ", (1, 8), ""),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.place, Some(place), "{error}");
            assert!(error.to_string().contains(words), "{error}");
            assert!(error.to_string().starts_with("p/intermezzo.toml:"), "{error}");
        }
    }
}
