//! The settings of a test, in layers, with the origin of each.
//!
//! From the weakest: the defaults, `intermezzo.toml` for all tests, the attribute of the test, `intermezzo.toml` for this
//! test, environment variables.

use super::config::{Config, ConfigError, FILE, Given};
use super::{Setting, SettingError, Settings, StrategyKind, variables};
use crate::files::write_asked_for;
use intermezzo_engine::serial::Serialize;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

/// The origin of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// None: the value of a test that does not set it.
    Default,
    /// An `intermezzo.toml`.
    Config {
        /// The path of the file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The pattern of the tests to which it applies; `None` for all.
        pattern: Option<String>,
    },
    /// The test's own `#[intermezzo::test(..)]`.
    Attribute,
    /// An environment variable.
    Variable {
        /// The name of the variable.
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

/// A setting in a layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// The name of the setting.
    pub setting: String,
    /// Its value, as it was given. Of a setting with members, all that result.
    pub value: String,
    /// The origin.
    #[serde(flatten)]
    pub origin: Origin,
}

impl Layer {
    fn new(setting: impl Into<String>, value: impl Into<String>, origin: Origin) -> Layer {
        Layer {
            setting: setting.into(),
            value: value.into(),
            origin,
        }
    }

    /// Sets the setting; the error names the origin.
    pub(super) fn set(&self, settings: &mut Settings) -> Result<(), SettingError> {
        settings
            .set(&self.setting, &self.value)
            .map_err(|SettingError { name, problem }| match &self.origin {
                // The name of the variable takes the place of the setting's.
                Origin::Variable { name } => SettingError::new(name, problem),
                origin => SettingError::new(name, format!("{problem} (from {origin})")),
            })
    }
}

/// Settings, with the layers that they were made of.
#[derive(Clone, Debug)]
pub struct Layers {
    settings: Settings,
    layers: Vec<Layer>,
    /// The file that was read, if there is one.
    config: Option<Config>,
}

/// The name and version of the format.
const LAYERS_FORMAT: &str = "intermezzo-settings/2";

/// Layers in JSON.
#[derive(Serialize)]
struct LayersJson<'a> {
    format: &'static str,
    program: &'a str,
    config: Option<&'a Path>,
    layers: &'a [Layer],
}

impl Layers {
    /// Returns the settings of the test of this path, whose attribute has these. The `intermezzo.toml` is that of
    /// `INTERMEZZO_CONFIG` (a path, or `none`); without it the nearest one from the directory of the package
    /// upwards, or from the current directory if cargo does not name the package's.
    ///
    /// # Errors
    /// If some layer is not valid. The error names it, and the place.
    pub fn of_test(
        program: &str,
        attribute: &[(&str, &str)],
    ) -> Result<Layers, Box<dyn Error + Send + Sync>> {
        // The default for tests: as many bugs as can be found in the time.
        let settings = Settings {
            strategy: StrategyKind::AUTO,
            ..Settings::default()
        };
        let config = config()?;
        let mut layers = Layers {
            layers: Vec::new(),
            settings,
            config: config.clone(),
        };
        for (name, value) in layers.settings.values() {
            layers.layers.push(Layer::new(name, value, Origin::Default));
        }
        let from_config = |config: &Config, given: &Given, pattern| {
            let origin = Origin::Config {
                path: config.path.clone(),
                line: given.line,
                pattern,
            };
            Layer::new(&given.name, &given.value, origin)
        };
        if let Some(config) = &config {
            for given in &config.for_all {
                layers.put(from_config(config, given, None))?;
            }
        }
        for (name, value) in attribute {
            layers.put(Layer::new(*name, *value, Origin::Attribute))?;
        }
        if let Some(config) = &config {
            for section in config.for_some.iter().filter(|section| section.fits(program)) {
                for given in &section.given {
                    layers.put(from_config(config, given, Some(section.pattern.clone())))?;
                }
            }
        }
        for layer in variables::layers()? {
            layers.put(layer)?;
        }
        Ok(layers)
    }

    fn put(&mut self, mut layer: Layer) -> Result<(), SettingError> {
        layer.set(&mut self.settings)?;
        if let Some(setting) = Setting::named(&layer.setting).filter(|setting| setting.has_members()) {
            // A layer may change some members only.
            layer.value = setting.show(&self.settings);
        }
        self.layers.push(layer);
        Ok(())
    }

    /// Returns the settings that result from all layers.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns an error about a setting, with the origin of its value, unless that is the default.
    pub fn located(&self, error: &SettingError) -> String {
        let mut of_it = self.layers.iter().filter(|layer| layer.setting == error.name);
        match of_it.next_back() {
            Some(layer) if layer.origin != Origin::Default => {
                format!("{error} (`{}` is from {})", error.name, layer.origin)
            }
            _ => error.to_string(),
        }
    }

    /// Returns every layer, the weakest first, which has the default of each setting. The last layer of a setting counts.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Writes the origin of each setting of this test into the directory of `INTERMEZZO_SETTINGS`, if that is set. Returns
    /// `true` if so: the test is then not to be explored.
    pub fn are_all_that_is_wanted(&self, program: &str) -> bool {
        let layers = LayersJson {
            format: LAYERS_FORMAT,
            program,
            config: self.config.as_ref().map(|config| config.path.as_path()),
            layers: &self.layers,
        };
        write_asked_for("INTERMEZZO_SETTINGS", program, &layers)
    }

    /// Returns the `intermezzo.toml` that was read, if there is one.
    pub fn config(&self) -> Option<&Config> {
        self.config.as_ref()
    }
}

/// Returns the `intermezzo.toml` for the tests of this process.
fn config() -> Result<Option<Config>, ConfigError> {
    let directory = match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(directory) => directory.into(),
        None => std::env::current_dir().map_err(|error| ConfigError {
            path: FILE.into(),
            place: None,
            problem: format!("cannot be looked for: there is no current directory ({error})"),
        })?,
    };
    Config::of_directory(&directory)
}
