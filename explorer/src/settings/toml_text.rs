//! The text of `intermezzo.toml`, and of other files in TOML: their keys, and the places of errors.

use super::config::{Config, ConfigError, Given, Section};
use super::{CommandSetting, CommandSettings, Settings, declared};
use intermezzo_engine::foreign;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The table that holds a table for each group of tests.
const TESTS: &str = "test";

/// The table that holds the settings of the command.
const COMMAND: &str = "command";

/// The words that are keys of the file besides settings.
const TABLES: [&str; 2] = [TESTS, COMMAND];

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
            Err(reader.error(end..end, "from here on it is not text (UTF-8)".into()))
        }
    }
}

/// Parses the text of an `intermezzo.toml`.
///
/// # Errors
/// See [`Config::parse`].
pub(super) fn config(path: &Path, text: &str) -> Result<Config, ConfigError> {
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

/// A file's text, for errors that name the place.
pub(crate) struct Reader<'t> {
    pub(crate) path: &'t Path,
    pub(crate) text: &'t str,
}

type Key<'i> = Spanned<toml::de::DeString<'i>>;
type Value<'i> = Spanned<DeValue<'i>>;

impl Reader<'_> {
    /// Reads the table of a group of tests.
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
            let setting = CommandSetting::named(name)?;
            Ok(|text: &str| setting.set(&mut CommandSettings::default(), text))
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
