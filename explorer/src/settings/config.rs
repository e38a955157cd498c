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

use super::{Settings, command, declared};
use intermezzo_engine::foreign;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The name of the file.
pub(super) const FILE: &str = "intermezzo.toml";

/// The table that holds a table for each group of tests.
const TESTS: &str = "test";

/// The table that holds the settings of the command.
const COMMAND: &str = "command";

/// The words that are keys of the file besides settings.
const TABLES: [&str; 2] = [TESTS, COMMAND];

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
    /// Its value, as [`Settings::set`] takes it.
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
    /// It cannot be read, or is not valid.
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
    /// It cannot be read, or is not valid.
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
    /// It cannot be read, or is not valid.
    pub fn read(path: &Path) -> Result<Config, ConfigError> {
        Reader::open(path, Config::parse)
    }

    /// Parses a file's text.
    ///
    /// # Errors
    /// It is not TOML, or has a key that is no setting, or a value that does not fit; the error names the place.
    pub fn parse(path: &Path, text: &str) -> Result<Config, ConfigError> {
        let reader = Reader { path, text };
        let document = DeTable::parse(text)
            .map_err(|error| reader.error(error.span().unwrap_or_default(), error.message().to_owned()))?;
        let mut config = Config {
            path: path.to_owned(),
            for_all: Vec::new(),
            for_some: Vec::new(),
            of_command: Vec::new(),
        };
        for (key, value) in in_order(document.get_ref()) {
            match (key.get_ref().as_ref(), value.get_ref()) {
                (TESTS, DeValue::Table(tests)) => {
                    for (pattern, section) in in_order(tests) {
                        config.for_some.push(reader.section(pattern, section)?);
                    }
                }
                (COMMAND, DeValue::Table(table)) => {
                    for (key, value) in in_order(table) {
                        config.of_command.push(reader.of_command(key, value)?);
                    }
                }
                _ => config.for_all.push(reader.of_tests(key, value)?),
            }
        }
        Ok(config)
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

/// A file's text, for errors that name the place.
pub(crate) struct Reader<'t> {
    pub(crate) path: &'t Path,
    pub(crate) text: &'t str,
}

type Key<'i> = Spanned<toml::de::DeString<'i>>;
type Value<'i> = Spanned<DeValue<'i>>;

impl Reader<'_> {
    /// Reads a file, and parses its text.
    pub(crate) fn open<T>(
        path: &Path,
        parse: impl FnOnce(&Path, &str) -> Result<T, ConfigError>,
    ) -> Result<T, ConfigError> {
        let bytes = foreign::read(path).map_err(|error| ConfigError {
            path: path.to_owned(),
            place: None,
            problem: format!("cannot be read: {error}"),
        })?;
        match String::from_utf8(bytes) {
            Ok(text) => parse(path, &text),
            Err(error) => {
                let end = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(&error.as_bytes()[..end]).into_owned();
                let reader = Reader { path, text: &text };
                Err(reader.error(end..end, "from here on it is no text (UTF-8)".into()))
            }
        }
    }

    fn section(&self, pattern: &Key<'_>, section: &Value<'_>) -> Result<Section, ConfigError> {
        let DeValue::Table(table) = section.get_ref() else {
            let name = pattern.get_ref();
            let problem = format!(
                "`{TESTS}` holds a table for each group of tests: [{TESTS}.{name:?}], and settings below it"
            );
            return Err(self.error(pattern.span(), problem));
        };
        let given = in_order(table)
            .into_iter()
            .map(|(key, value)| self.of_tests(key, value))
            .collect::<Result<_, _>>()?;
        Ok(Section {
            pattern: pattern.get_ref().to_string(),
            line: self.place(pattern.span()).0,
            given,
        })
    }

    fn of_tests(&self, key: &Key<'_>, value: &Value<'_>) -> Result<Given, ConfigError> {
        self.given(key, value, |name| {
            let setting = declared::find_or(name, &TABLES)?;
            Ok(|text: &str| setting.set(&mut Settings::default(), text))
        })
    }

    fn of_command(&self, key: &Key<'_>, value: &Value<'_>) -> Result<Given, ConfigError> {
        self.given(key, value, |name| {
            let setting = command::find(name)?;
            Ok(|text: &str| setting.check(text))
        })
    }

    /// Returns the setting of this name with this value. `find` returns how values of a setting are checked.
    fn given<C: Fn(&str) -> Result<(), String>>(
        &self,
        key: &Key<'_>,
        value: &Value<'_>,
        find: impl FnOnce(&str) -> Result<C, String>,
    ) -> Result<Given, ConfigError> {
        let name = key.get_ref().as_ref();
        let wrong = |at, problem: String| self.error(at, format!("`{name}`: {problem}"));
        let check = find(name).map_err(|problem| wrong(key.span(), problem))?;
        let text = text_of(name, value.get_ref())
            .ok_or_else(|| "give a number, a text, `true`, `false`, or a list of texts".to_owned())
            .and_then(|text| check(text.trim()).map(|()| text))
            .map_err(|problem| wrong(value.span(), problem))?;
        Ok(Given {
            name: name.to_owned(),
            value: text,
            line: self.place(key.span()).0,
        })
    }

    pub(crate) fn error(&self, at: Range<usize>, problem: String) -> ConfigError {
        ConfigError {
            path: self.path.to_owned(),
            place: Some(self.place(at)),
            problem,
        }
    }

    /// Returns line and column, from 1.
    fn place(&self, at: Range<usize>) -> (usize, usize) {
        let before = self.text.get(..at.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        (line, column)
    }
}

/// Returns the entries of a table in the order in which they were written.
pub(crate) fn in_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<(&'t Key<'i>, &'t Value<'i>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// Returns a value as text; `None` if no setting has values of this type.
fn text_of(name: &str, value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_owned()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .ok()
            .map(|number| number.to_string()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Boolean(truth) => Some(truth.to_string()),
        DeValue::Array(all) => {
            let all: Option<Vec<String>> = all.iter().map(|one| text_of(name, one.get_ref())).collect();
            // A monitor's arguments may have commas in them.
            let between = if name == "monitors" { ";" } else { "," };
            Some(all?.join(between))
        }
        DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}

#[cfg(test)]
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
            ("seed = 1\npreemptions = \"many\"", (2, 15), "no number in range"),
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
                "[command]\nraces = 1",
                (2, 9),
                "`races`: \"1\" is neither `true` nor `false`",
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
