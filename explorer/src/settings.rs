//! The settings of an exploration, by name and value: one parser for attributes, `intermezzo.toml`, environment variables
//! and command lines.
//!
//! Each setting is declared once, in `declared`. Tests: in the modules below, explorer/tests and cli/tests/cli.

mod command;
mod compatibility;
mod config;
mod declared;
mod journal;
mod layers;
mod members;
#[cfg(not(feature = "config-files"))]
pub(crate) mod no_toml;
mod partition;
mod progress;
mod refusal;
mod scope;
pub(crate) mod search;
mod spin_loops;
#[cfg(feature = "config-files")]
pub(crate) mod toml_text;
#[doc(hidden)]
pub mod variables;
mod verbosity;

pub use command::{CommandSetting, CommandSettings};
pub use config::{Config, ConfigError, Given, Section};
pub use declared::{Group, Setting, Settings};
#[doc(hidden)]
pub use intermezzo_engine::suggest::did_you_mean;
pub use journal::JournalAt;
pub use layers::{Layer, Layers, Origin};
#[cfg(not(feature = "config-files"))]
pub(crate) use no_toml as toml_text;
pub use progress::ProgressLines;
pub use refusal::tell_refusal;
pub use spin_loops::SpinLoops;
pub use verbosity::Verbosity;

pub use intermezzo_engine::monitors::MonitorRequest;
pub use intermezzo_engine::strategy::{Arrays, Epsilon};
pub use intermezzo_search::kinds::{
    AutoOptions, BestFirstOptions, DepthFirstBounds, IRootOptions, RankedOptions, Reduction, StrategyKind,
    VariableSets,
};

use declared::SETTINGS;
use intermezzo_engine::schedule::{Choice, Premises, Schedule, TestBinary};
use intermezzo_engine::strategy::{SoFar, Strategy};
use std::fmt;
use std::path::PathBuf;

/// A setting that does not exist, or that has a wrong value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    /// The setting's name, as given.
    pub name: String,
    /// The problem with it, and a valid alternative.
    pub problem: String,
}

impl SettingError {
    pub(crate) fn new(name: impl Into<String>, problem: impl Into<String>) -> SettingError {
        SettingError {
            name: name.into(),
            problem: problem.into(),
        }
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "setting `{}`: {}", self.name, self.problem)
    }
}

impl std::error::Error for SettingError {}

impl Settings {
    /// Sets the setting of that name.
    ///
    /// # Errors
    /// If there is no setting with that name, or the value does not fit.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        declared::find(name)
            .and_then(|setting| setting.set(self, value.trim()))
            .map_err(|problem| SettingError::new(name, problem))
    }

    /// Checks that these settings can be combined.
    ///
    /// # Errors
    /// If two of them cannot be combined, because the search would not cover what it claims. The error says which,
    /// and why.
    pub fn check(&self) -> Result<(), SettingError> {
        compatibility::check_files(self)?;
        compatibility::check(&self.with_reduction(self.reduction_at_work()))?;
        // A search for iRoots is made by the session that knows them, and is refused above.
        if matches!(self.strategy, StrategyKind::Maple(_)) {
            return Ok(());
        }
        self.check_search(&mut *search::strategy(self))
    }

    /// Checks that the search can be split, or kept in a checkpoint, if these settings ask for that.
    ///
    /// # Errors
    /// If it cannot.
    pub(crate) fn check_search(&self, search: &mut dyn Strategy) -> Result<(), SettingError> {
        let name = search.status(&SoFar::default()).name;
        let (setting, problem) = if self.jobs > 1 && search.parallel().is_none() {
            ("jobs", "is not split among workers: give 1")
        } else if self.checkpoint.is_some() && search.resumable().is_none() {
            ("checkpoint", "is not kept in a checkpoint: give `none`")
        } else if self.partition.is_some()
            && let Err(why) = search.partitioned()
        {
            let problem = format!("the search `{name}` is not divided into shares: {why}");
            return Err(SettingError::new("partition", problem));
        } else {
            return Ok(());
        };
        let problem = format!("the search `{name}` {problem}, or another search");
        Err(SettingError::new(setting, problem))
    }

    fn with_reduction(&self, reduction: Reduction) -> Settings {
        Settings {
            reduction,
            ..self.clone()
        }
    }

    /// Returns the reduction with which the search begins: where none is given, and the strategy is `auto`, the strongest
    /// that goes with the other settings.
    pub(crate) fn reduction_at_work(&self) -> Reduction {
        match (self.reduction, &self.strategy) {
            // Within a bound, caching runs fewer executions than partial-order reduction.
            (Reduction::Auto, StrategyKind::Auto(_)) => [Reduction::Dpor, Reduction::Caching]
                .into_iter()
                .filter(|&reduction| reduction != Reduction::Dpor || self.preemptions.is_none())
                .find(|&reduction| compatibility::check(&self.with_reduction(reduction)).is_ok())
                .unwrap_or(Reduction::None),
            (Reduction::Auto, _) => Reduction::None,
            (given, _) => given,
        }
    }

    /// `true` if the search begins without its bound on preemptions: without it partial-order reduction often runs far
    /// fewer executions. A search that others share, or that is kept, has the bound from the beginning.
    pub(crate) fn tries_all_first(&self) -> bool {
        self.strategy.is_auto()
            && self.reduction == Reduction::Dpor
            && self.preemptions.is_some()
            && self.jobs == 1
            && self.checkpoint.is_none()
            && self.partition.is_none()
    }

    /// `true` if the search chooses its reduction itself, and may do without one.
    pub(crate) fn chooses_reduction(&self) -> bool {
        self.reduction == Reduction::Auto && self.strategy.is_auto()
    }

    /// Checks that races that are found can become schedule points in this search.
    ///
    /// # Errors
    /// If they cannot; the text says why.
    pub(crate) fn may_preempt_at_races(&self) -> Result<(), &'static str> {
        match () {
            () if !self.preempt_at_races => Err("`data_points` has no `races`"),
            () if !self.keep_going => Err("the search ends at the first of them"),
            () if self.partition.is_some() => {
                Err("the search would begin again, and the other shares would not know why")
            }
            () if self.jobs > 1 => {
                Err("the search would begin again, which several workers do not do together")
            }
            () if self.checkpoint.is_some() => {
                Err("the search would begin again, and a checkpoint does not keep why")
            }
            () if self.reduction == Reduction::OrderedAtomics => {
                Err("the search would begin again, and `ordered-atomics` does so for its own reasons")
            }
            () => Ok(()),
        }
    }

    /// Checks that these settings go together with a search of the user's own.
    ///
    /// # Errors
    /// If one of them does not.
    pub(crate) fn check_custom(&self, search: &mut dyn Strategy) -> Result<(), SettingError> {
        compatibility::check_files(self)?;
        compatibility::check_custom(self)?;
        self.check_search(search)
    }

    /// Returns the schedule of an execution of this program with these choices, under these premises.
    pub(crate) fn schedule(
        &self,
        (program, binary): (&str, &TestBinary),
        choices: Vec<Choice>,
        premises: Premises,
    ) -> Schedule {
        let Premises {
            known_loops,
            data_points,
            breakpoints,
            all_listed,
        } = premises;
        Schedule {
            program: program.to_owned(),
            binary: binary.clone(),
            monitors: self.monitors.clone(),
            warm_up: self.warm_up,
            environment: self.environment,
            steps: self.steps,
            fair_yields: self.fair_yields,
            all_listed,
            awaits: self.spin_loops != SpinLoops::Run,
            known_loops,
            data_points,
            breakpoints,
            choices,
        }
    }

    /// Returns every setting, those that most tests need first.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::Settings;
    ///
    /// let names: Vec<&str> = Settings::all().iter().map(|setting| setting.name).collect();
    /// assert!(names.starts_with(&["strategy", "reduction", "preemptions"]));
    /// ```
    pub fn all() -> &'static [Setting] {
        SETTINGS
    }

    /// Returns the file that keeps exposed iRoots, if there is one.
    #[doc(hidden)]
    pub fn memo(&self) -> Option<PathBuf> {
        match (&self.strategy, &self.iroots) {
            (StrategyKind::Maple(options), _) | (_, Some(options)) => options.memo.clone(),
            (_, None) => None,
        }
    }

    /// Changes the file that keeps exposed iRoots, if they are measured.
    #[doc(hidden)]
    pub fn set_memo(&mut self, file: PathBuf) {
        match (&mut self.strategy, &mut self.iroots) {
            (StrategyKind::Maple(options), _) | (_, Some(options)) => options.memo = Some(file),
            (_, None) => {}
        }
    }

    /// Returns the value of the setting of this name, as [`Settings::set`] takes it; `None` if there is no such setting.
    pub fn value(&self, name: &str) -> Option<String> {
        Setting::named(name).map(|setting| setting.show(self))
    }

    /// Returns every setting's name and its value here, as [`Settings::set`] takes it.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, String)> {
        SETTINGS.iter().map(|setting| (setting.name, setting.show(self)))
    }

    /// Returns the settings that must be the same to continue from a checkpoint, with their values.
    pub(crate) fn in_checkpoints(&self) -> impl Iterator<Item = (&'static str, String)> {
        let compared = SETTINGS.iter().filter(|setting| setting.in_checkpoints);
        compared.map(|setting| (setting.name, setting.show_for_checkpoint(self)))
    }

    /// Sets the settings for which there are environment variables: `INTERMEZZO_` and a setting's name in capitals.
    ///
    /// # Errors
    /// If a value does not fit its setting, or a variable with that prefix sets nothing, because it is misspelled.
    pub fn override_from_environment(&mut self) -> Result<(), SettingError> {
        let layers = variables::layers()?;
        layers.iter().try_for_each(|layer| layer.set(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn settings_are_set_by_name() {
        let mut settings = Settings::default();
        for (name, value) in [
            ("preemptions", "2"),
            ("executions", "10_000"),
            ("time", "2.5s"),
            ("strategy", "random"),
        ] {
            settings.set(name, value).unwrap();
        }
        assert_eq!(settings.preemptions, Some(2));
        assert_eq!(settings.executions, Some(10_000));
        assert_eq!(settings.time, Some(Duration::from_millis(2500)));
        assert_eq!(settings.strategy, StrategyKind::Random);
        settings.set("preemptions", "none").unwrap();
        assert_eq!(settings.preemptions, None);
    }

    /// Defaults, and for each setting others.
    #[test]
    fn values_are_shown_as_they_are_read() {
        let again = |settings: &Settings| {
            let mut again = Settings::default();
            for (name, value) in settings.values() {
                again.set(name, &value).unwrap();
            }
            again
        };
        let default = Settings::default();
        assert_eq!(again(&default), default);
        for Setting { name, .. } in Settings::all() {
            let candidates = [
                "pct(4)",
                "ranked(variables=1,arrays=whole)",
                "caching",
                "timeouts=3,seed=5",
                "calm",
                "assume",
                "!ring.rs,queue::slots",
                "ring.rs:12",
                "ring.rs",
                "true",
                "false",
                "window=7,memo=x.file",
                "verbose",
                "a;b:c=d",
                "x.file",
                "7",
                "7/12",
                "3/8",
                "40000",
            ];
            let mut others = 0;
            for value in candidates {
                let mut settings = default.clone();
                if settings.set(name, value).is_ok() && settings != default {
                    assert_eq!(again(&settings), settings, "{name} = {value}");
                    others += 1;
                }
            }
            assert!(others > 0, "{name} is never set");
        }
    }

    #[test]
    fn what_cannot_be_says_why() {
        let mut settings = Settings::default();
        for (name, value, says) in [
            ("premptions", "2", "there are: strategy, reduction"),
            ("steps", "-1", "not a number in range"),
            ("steps", " ", "no number is given: give digits"),
            ("executions", "some", "give digits, as in 10_000, or `none`"),
            ("time", "-1", "not a time"),
            ("time", "soon", "give seconds, as in 2.5, or `none`"),
            ("hang", "", "no time is given"),
            ("keep_going", "", "nothing is given: give `true` or `false`"),
            ("time", "1e300", "not a time"),
            ("stack", "5", "give 32768 to"),
            (
                "delays",
                "2",
                "no setting of this name: give `strategy` `dfs(delays=N)`",
            ),
            ("iroots", "windows=3", "`windows=3` is not a parameter"),
            ("iroots", "attempts=3", "not parameters of `iroots`"),
            ("timeouts", "3", "give `environment` `timeouts=..`"),
            ("awaits", "3", "give `spin_loops` `run` instead of `false`"),
            ("seed", "/3", "is not a seed"),
            ("seed", "7/", "is not a seed"),
            ("seed", "7/0", "give a number, or `SEED/FIRST`"),
            ("keep_going", "maybe", "neither"),
            ("jobs", "0", "`0` is out of range: give 1 to 1024"),
            ("checkpoint", " ", "no file is given"),
            ("strategy", "", "not a strategy"),
        ] {
            let error = settings.set(name, value).unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
        }
        assert_eq!(settings, Settings::default());
    }
}
