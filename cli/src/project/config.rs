//! `config`: the settings of each explored test of the project, and their origins.

use super::cargo::{CargoTest, variable};
use crate::args::ConfigArgs;
use crate::command_flags::CommandFlags;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::search_flags::flag;
use intermezzo::Settings;
use intermezzo::settings::{Config, Section};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The format of the tests' answers that can be read.
const FORMAT: &str = "intermezzo-settings/2";

/// The origin of default settings.
const DEFAULT: &str = "default";

/// A test's settings and their origins, as written by the test.
#[derive(Deserialize, Serialize)]
pub(crate) struct Test {
    #[serde(skip_serializing)]
    format: String,
    pub(crate) program: String,
    config: Option<PathBuf>,
    layers: Vec<Layer>,
    /// The reason why the effective settings contradict each other. The test does not check this when it only reports
    /// its settings.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<String>,
}

/// A setting that was given, or its default.
#[derive(Clone, Deserialize, Serialize)]
struct Layer {
    setting: String,
    value: String,
    from: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

#[derive(Serialize)]
struct ConfigJson<'a> {
    tests: &'a [Test],
}

/// Asks the tests for their settings, and shows the answers.
pub(crate) fn run(args: ConfigArgs) -> Result<Exit, Problem> {
    args.search.check()?;
    // Explored tests report errors of `intermezzo.toml`. This also reports them in a project without such tests.
    CommandFlags::default().settings(&args.cargo.cargo)?;
    let given = args.search.wherever_run();
    let cargo = CargoTest::new(args.cargo.cargo, args.json)?.settings(given.given());
    let (directory, ran) = cargo.ask_for_settings()?;
    let mut tests = read_all(&directory)?;
    for test in &mut tests {
        if !args.all {
            test.layers.retain(|layer| layer.from != DEFAULT);
        }
        test.mark_flags(given.given());
    }
    if args.json {
        output::json(&ConfigJson { tests: &tests })?;
    } else {
        output::text(&text(&tests))?;
    }
    for (config, section) in unused(&tests) {
        output::complain(&format!(
            "{}:{}: [test.{:?}] applies to none of the tests that were asked",
            shown(&config),
            section.line,
            section.pattern
        ));
    }
    ran.refused_none()?;
    if !ran.passed {
        return Err(Problem::usage(
            "cargo test failed: the test whose settings are invalid, or cargo's message, is above",
        ));
    }
    if tests.iter().any(|test| test.refused.is_some()) {
        return Err(Problem::usage(
            "the settings of a test contradict each other: see above which, and why",
        ));
    }
    if tests.is_empty() {
        output::complain("no test was asked: none that was run has #[intermezzo::test] above it");
        return Ok(Exit::Inconclusive);
    }
    Ok(Exit::Pass)
}

/// Reads the answers of tests, in order of their names.
pub(crate) fn read_all(directory: &Path) -> Result<Vec<Test>, Problem> {
    let help = "run the command again";
    let trouble = |error| Problem::file("read the settings in", directory, &error, help);
    let mut tests = Vec::new();
    for entry in fs::read_dir(directory).map_err(trouble)? {
        let path = entry.map_err(trouble)?.path();
        let text = fs::read_to_string(&path).map_err(|error| Problem::file("read", &path, &error, help))?;
        let name = path.file_name().unwrap_or_default();
        let mut test: Test = serde_json::from_str(&text).map_err(|error| {
            Problem::usage(format!(
                "the settings that a test wrote to {name:?} cannot be read ({error}): {help}"
            ))
        })?;
        if test.format != FORMAT {
            return Err(Problem::usage(format!(
                "the settings that a test wrote to {name:?} have the format {:?}, and this command reads {FORMAT:?}: build the \
                 project with the intermezzo of this version, or install the version that it is built with",
                test.format
            )));
        }
        test.refused = refused(&test.layers);
        tests.push(test);
    }
    tests.sort_by(|left, right| left.program.cmp(&right.program));
    Ok(tests)
}

/// Returns the reason why the effective settings of these layers contradict each other; `None` if they do not, or if the
/// test uses a version with other settings.
fn refused(layers: &[Layer]) -> Option<String> {
    let mut settings = Settings::default();
    for (at, layer) in layers.iter().enumerate() {
        // The last layer of a setting has all members of the effective value.
        if layers[at + 1..]
            .iter()
            .all(|later| later.setting != layer.setting)
        {
            settings.set(&layer.setting, &layer.value).ok()?;
        }
    }
    settings.check().err().map(|error| error.to_string())
}

/// Returns a paragraph for each test: for each setting first the effective value, then those that it overrides.
fn text(tests: &[Test]) -> String {
    let mut text = String::new();
    for test in tests {
        let _ = writeln!(text, "{}", test.program);
        let mut by_setting: BTreeMap<&str, Vec<&Layer>> = BTreeMap::new();
        for layer in test.layers.iter().rev() {
            by_setting.entry(&layer.setting).or_default().push(layer);
        }
        if by_setting.is_empty() {
            text.push_str("  nothing is set: every setting has its default\n");
        }
        let width = |of: fn(&Layer) -> &str| {
            let widths = test.layers.iter().map(|layer| of(layer).chars().count());
            widths.max().unwrap_or(0)
        };
        let (names, values) = (width(|layer| &layer.setting), width(Layer::shown_value));
        for (setting, layers) in by_setting {
            for (at, layer) in layers.iter().enumerate() {
                let name = if at == 0 { setting } else { "" };
                let overridden = if at == 0 { "" } else { ", overridden" };
                let _ = writeln!(
                    text,
                    "  {name:names$}  {:values$}  {}{overridden}",
                    layer.shown_value(),
                    layer.origin()
                );
            }
        }
        if let Some(why) = &test.refused {
            let _ = writeln!(text, "  refused: {why}");
        }
    }
    text
}

impl Test {
    /// Returns the effective value of a setting.
    #[cfg(feature = "pool")]
    pub(crate) fn value(&self, setting: &str) -> Option<&str> {
        let mut of_it = self.layers.iter().filter(|layer| layer.setting == setting);
        of_it.next_back().map(|layer| layer.value.as_str())
    }

    /// Names the flags as the origin of settings that the tests got in variables set for these flags. A variable of the
    /// user's own with such a name becomes a layer that the flag overrides.
    fn mark_flags(&mut self, given: &[(&str, String)]) {
        let layers = std::mem::take(&mut self.layers);
        for mut layer in layers {
            let of_flag = layer.from == "variable"
                && given.iter().any(|(name, _)| *name == layer.setting)
                && layer
                    .name
                    .as_ref()
                    .is_some_and(|name| *name == variable(&layer.setting));
            if of_flag {
                if let Some(value) = layer.name.as_ref().and_then(|name| env::var(name).ok()) {
                    self.layers.push(Layer {
                        value,
                        ..layer.clone()
                    });
                }
                layer.from = "flag".into();
                layer.name = Some(flag(&layer.setting));
            }
            self.layers.push(layer);
        }
    }
}

impl Layer {
    /// Returns its value, even if that is empty.
    fn shown_value(&self) -> &str {
        match self.value.as_str() {
            "" => "\"\"",
            value => value,
        }
    }

    /// Describes its origin.
    fn origin(&self) -> String {
        match (&self.path, self.line, &self.pattern, &self.name) {
            (Some(path), Some(line), Some(pattern), _) => {
                format!("{}:{line} [test.{pattern:?}]", shown(path))
            }
            (Some(path), Some(line), None, _) => format!("{}:{line}", shown(path)),
            (.., Some(name)) => name.clone(),
            _ if self.from == DEFAULT => DEFAULT.into(),
            _ => "#[intermezzo::test]".into(),
        }
    }
}

/// Returns the path relative to the current directory, if it is below.
fn shown(path: &Path) -> String {
    let here = env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}

/// Returns sections of the files that apply to none of the tests, perhaps because they are misspelled.
fn unused(tests: &[Test]) -> Vec<(PathBuf, Section)> {
    let files: BTreeSet<&PathBuf> = tests.iter().filter_map(|test| test.config.as_ref()).collect();
    let configs = files.into_iter().filter_map(|path| Config::read(path).ok());
    configs
        .flat_map(|config| {
            let path = config.path;
            config
                .for_some
                .into_iter()
                .map(move |section| (path.clone(), section))
        })
        .filter(|(path, section)| {
            let of_file = tests.iter().filter(|test| test.config.as_ref() == Some(path));
            !of_file.into_iter().any(|test| section.fits(&test.program))
        })
        .collect()
}
