//! Environment variables: those of settings, and those by which the command line, the overlays of std and the library
//! communicate.

use super::{Layer, Origin, SettingError, declared};
use intermezzo_engine::suggest::did_you_mean;
use intermezzo_search::value::number;
use std::env;

/// The directory of the overlays: cargo's, and that of the command line when cargo calls it as the compiler.
pub const OVERLAYS: &str = "INTERMEZZO_OVERLAYS";

/// The user's own wrapper of the compiler.
pub const NEXT_WRAPPER: &str = "INTERMEZZO_NEXT_WRAPPER";

/// `1` if accesses to plain memory are watched, otherwise `0`.
pub const WATCHES: &str = "INTERMEZZO_RACES";

/// `1` if programs are explored as a whole, otherwise `0`.
pub const PROGRAMS: &str = "INTERMEZZO_PROGRAMS";

/// The arguments that a replay needs in addition to the token, in JSON: a list of words, each quoted for a shell.
pub const REPLAY_WITH: &str = "INTERMEZZO_REPLAY_WITH";

/// The commands before and after each execution of a program.
pub const SET_UP: &str = "INTERMEZZO_SET_UP";
/// See [`SET_UP`].
pub const TEAR_DOWN: &str = "INTERMEZZO_TEAR_DOWN";

/// The seconds after which such a command is ended.
pub const COMMAND_LIMIT: &str = "INTERMEZZO_COMMAND_LIMIT";

/// The directories in which plugins are looked for first.
pub(crate) const PLUGIN_PATH: &str = "INTERMEZZO_PLUGIN_PATH";

/// The seed of a test's own random numbers, which counts outside explorations, too.
const TEST_SEED: &str = "INTERMEZZO_TEST_SEED";

/// The prefix of all of them: `INTERMEZZO_PREEMPTIONS` sets `preemptions`.
const PREFIX: &str = "INTERMEZZO_";

/// Variables that are not named after settings.
const OTHERS: [&str; 23] = [
    TEST_SEED,
    "INTERMEZZO_CONFIG",
    "INTERMEZZO_SETTINGS",
    intermezzo_breakpoint::LOG_VARIABLE,
    "INTERMEZZO_BASELINE",
    "INTERMEZZO_BASELINE_UPDATE",
    "INTERMEZZO_REPLAY",
    "INTERMEZZO_BREAK",
    "INTERMEZZO_REPORTS",
    "INTERMEZZO_CHECKPOINTS",
    "INTERMEZZO_RECORD",
    "INTERMEZZO_IN_RELEASE",
    "INTERMEZZO_CACHE",
    OVERLAYS,
    // Of the engine, in tests of our own.
    "INTERMEZZO_ARENA_CHECK",
    NEXT_WRAPPER,
    WATCHES,
    PROGRAMS,
    REPLAY_WITH,
    SET_UP,
    TEAR_DOWN,
    COMMAND_LIMIT,
    PLUGIN_PATH,
];

/// Returns the settings for which there are variables.
///
/// # Errors
/// If a variable with the prefix sets nothing, because it is misspelled, or if the seed of the test is invalid.
pub(super) fn layers() -> Result<Vec<Layer>, SettingError> {
    let variable = |setting: &str| format!("{PREFIX}{}", setting.to_uppercase());
    let known: Vec<(&str, String)> = declared::SETTINGS
        .iter()
        .map(|setting| (setting.name, variable(setting.name)))
        .collect();
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let wrong = names.filter(|name| {
        let is_known = OTHERS.contains(&&**name) || known.iter().any(|(_, known)| known == name);
        name.starts_with(PREFIX) && !is_known
    });
    if let Some(wrong) = wrong.min() {
        let setting = wrong[PREFIX.len()..].to_lowercase();
        let problem = declared::instead_of(&setting).unwrap_or_else(|| {
            let known: Vec<&str> = known.iter().map(|(_, variable)| variable.as_str()).collect();
            let hint = did_you_mean(&wrong, known.iter().copied());
            format!("no setting has this name; {hint}there are: {}", known.join(", "))
        });
        return Err(SettingError::new(wrong, problem));
    }
    let layer = |setting: &str, name: &str, value: String| Layer {
        setting: setting.to_owned(),
        value,
        origin: Origin::Variable {
            name: name.to_owned(),
        },
    };
    let mut layers = Vec::new();
    if let Ok(seed) = env::var(TEST_SEED) {
        let seed: u64 = number(&seed).map_err(|problem| SettingError::new(TEST_SEED, problem))?;
        layers.push(layer("environment", TEST_SEED, format!("seed={seed}")));
    }
    let given = known.into_iter();
    layers
        .extend(given.filter_map(|(name, variable)| Some(layer(name, &variable, env::var(&variable).ok()?))));
    Ok(layers)
}
