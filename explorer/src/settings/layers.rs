//! A test's settings, layer over layer, and where each came from.
//!
//! From the weakest: the defaults, what `intermezzo.toml` says for all tests, the test's attribute, what `intermezzo.toml` says for
//! this test, environment variables.

use super::config::{Config, ConfigError, FILE, Given};
use super::{SettingError, Settings, StrategyKind};
use crate::files::write_beside;
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};

/// Where a setting came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// Nobody: it is what a test has that says nothing.
    Default,
    /// An `intermezzo.toml`.
    Config {
        /// Where it is.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The pattern of the tests that it is for; `None` for all.
        pattern: Option<String>,
    },
    /// The test's own `#[intermezzo::test(..)]`.
    Attribute,
    /// An environment variable.
    Variable {
        /// Which.
        name: String,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::Config { path, line, pattern } => {
                write!(f, "{}:{line}", path.display())?;
                match pattern {
                    Some(pattern) => write!(f, " [test.{pattern:?}]"),
                    None => Ok(()),
                }
            }
            Origin::Attribute => f.write_str("#[intermezzo::test]"),
            Origin::Variable { name } => f.write_str(name),
        }
    }
}

/// A setting that some layer gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// Which setting.
    pub setting: String,
    /// Its value, as it was given.
    pub value: String,
    /// By whom.
    #[serde(flatten)]
    pub origin: Origin,
}

impl Layer {
    fn default_of((setting, value): (&str, String)) -> Layer {
        Layer {
            setting: setting.to_owned(),
            value,
            origin: Origin::Default,
        }
    }
}

/// Settings, and which layers they were made of.
#[derive(Clone, Debug)]
pub struct Layers {
    settings: Settings,
    layers: Vec<Layer>,
    /// The file that was read, if there is one.
    config: Option<Config>,
}

/// The version of what is written about layers.
const LAYERS_FORMAT: &str = "intermezzo-settings/2";

/// Layers in JSON.
#[derive(Serialize)]
struct LayersJson<'a> {
    format: &'static str,
    program: &'a str,
    config: Option<&'a Path>,
    layers: &'a [Layer],
}

/// Layers that cannot be put over each other.
#[derive(Debug)]
#[non_exhaustive]
pub enum LayersError {
    /// A layer's setting cannot be.
    Setting(SettingError),
    /// An `intermezzo.toml` cannot be taken.
    Config(ConfigError),
}

impl fmt::Display for LayersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayersError::Setting(error) => error.fmt(f),
            LayersError::Config(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LayersError {}

impl From<SettingError> for LayersError {
    fn from(error: SettingError) -> LayersError {
        LayersError::Setting(error)
    }
}

impl From<ConfigError> for LayersError {
    fn from(error: ConfigError) -> LayersError {
        LayersError::Config(error)
    }
}

impl Layers {
    /// The settings of the test of this path, whose attribute has these. The `intermezzo.toml` is that of
    /// `INTERMEZZO_CONFIG` (a path, or `none`); without it the nearest one from the package's directory upwards, which is
    /// where cargo says, or else the current one.
    ///
    /// # Errors
    /// Some layer has what cannot be. The error says which, and where.
    pub fn of_test(program: &str, attribute: &[(&str, &str)]) -> Result<Layers, LayersError> {
        // Whoever says nothing wants the bugs that can be found in the time.
        let settings = Settings {
            strategy: StrategyKind::Auto,
            ..Settings::default()
        };
        let mut layers = Layers {
            layers: settings.values().map(Layer::default_of).collect(),
            settings,
            config: config()?,
        };
        let config = layers.config.clone();
        if let Some(config) = &config {
            for given in &config.for_all {
                layers.put_from(config, given, None)?;
            }
        }
        for (name, value) in attribute {
            layers.put(name, value, Origin::Attribute)?;
        }
        if let Some(config) = &config {
            for section in config.for_some.iter().filter(|section| section.fits(program)) {
                for given in &section.given {
                    layers.put_from(config, given, Some(section.pattern.clone()))?;
                }
            }
        }
        for (name, variable, value) in Settings::variables()? {
            let origin = Origin::Variable {
                name: variable.clone(),
            };
            layers.put(name, &value, origin).map_err(|error| SettingError {
                name: variable,
                ..error
            })?;
        }
        Ok(layers)
    }

    fn put_from(
        &mut self,
        config: &Config,
        given: &Given,
        pattern: Option<String>,
    ) -> Result<(), SettingError> {
        let origin = Origin::Config {
            path: config.path.clone(),
            line: given.line,
            pattern,
        };
        self.put(&given.name, &given.value, origin)
    }

    fn put(&mut self, name: &str, value: &str, origin: Origin) -> Result<(), SettingError> {
        self.settings.set(name, value)?;
        self.layers.push(Layer {
            setting: name.to_owned(),
            value: value.to_owned(),
            origin,
        });
        Ok(())
    }

    /// All together.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Every layer, the weakest first, which has the default of each setting: of one setting, the last counts.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Writes where each setting of this test came from into the directory of `INTERMEZZO_SETTINGS`, if that is set: the
    /// test is then not to be explored.
    pub fn are_all_that_is_wanted(&self, program: &str) -> bool {
        let Some(directory) = std::env::var_os("INTERMEZZO_SETTINGS") else {
            return false;
        };
        let json = serde_json::to_string_pretty(&LayersJson {
            format: LAYERS_FORMAT,
            program,
            config: self.config.as_ref().map(|config| config.path.as_path()),
            layers: &self.layers,
        });
        write_beside(
            Path::new(&directory),
            program,
            &json.expect("text has a JSON form"),
        );
        true
    }

    /// The `intermezzo.toml` that was read, if there is one.
    pub fn config(&self) -> Option<&Config> {
        self.config.as_ref()
    }
}

/// The `intermezzo.toml` for tests of this process.
fn config() -> Result<Option<Config>, ConfigError> {
    match std::env::var_os("INTERMEZZO_CONFIG") {
        Some(path) if path == "none" => return Ok(None),
        Some(path) => return Config::read(path.as_ref()).map(Some),
        None => {}
    }
    let directory = match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(directory) => directory.into(),
        None => std::env::current_dir().map_err(|error| ConfigError {
            path: FILE.into(),
            place: None,
            problem: format!("cannot be looked for: there is no current directory ({error})"),
        })?,
    };
    Config::find(&directory)
}
