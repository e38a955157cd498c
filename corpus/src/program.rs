//! A program of the corpus: its parameters, its exploration, and its expected verdict.

use intermezzo::monitors::DataRaces;
use intermezzo::{Explorer, Report, Settings};
use std::fmt;

/// The expected verdict of exploring a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Nothing is found.
    Pass,
    /// A finding of this kind, as reports name it: `"deadlock"`.
    Fail(&'static str),
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Pass => f.write_str("pass"),
            Expected::Fail(kind) => write!(f, "fail: {kind}"),
        }
    }
}

/// A parameter of a program, which is a number.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its value unless set.
    pub default: u64,
    /// Its minimum and maximum.
    pub range: (u64, u64),
    /// A description.
    pub about: &'static str,
}

/// The body of a program: one execution, with these values of its parameters, in their order.
pub type Body = fn(&[u64]);

/// A program of the corpus.
#[derive(Clone, Copy)]
pub struct Program {
    /// Its name, unique.
    pub name: &'static str,
    /// A description in one sentence.
    pub about: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Settings that fit it, by name and value.
    pub settings: &'static [(&'static str, &'static str)],
    /// Its expected verdict, with these settings and the parameters' defaults.
    pub expected: Expected,
    /// One execution of it.
    pub body: Body,
}

/// Values for a program's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments(Vec<u64>);

/// An error: an invalid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError(pub(crate) String);

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ArgumentError {}

impl Program {
    /// Returns the parameters' values: their defaults, except where `sets` has `name=value`.
    ///
    /// # Errors
    /// If an entry is not of that form, names no parameter of the program, or is out of range.
    pub fn arguments<S: AsRef<str>>(&self, sets: &[S]) -> Result<Arguments, ArgumentError> {
        let mut values: Vec<u64> = self
            .parameters
            .iter()
            .map(|parameter| parameter.default)
            .collect();
        for set in sets.iter().map(AsRef::as_ref) {
            let Some((name, value)) = set.split_once('=') else {
                return Err(ArgumentError(format!("`{set}` sets nothing: write name=value")));
            };
            let Some(at) = self
                .parameters
                .iter()
                .position(|parameter| parameter.name == name)
            else {
                let known: Vec<_> = self.parameters.iter().map(|parameter| parameter.name).collect();
                let known = if known.is_empty() {
                    "it has none".into()
                } else {
                    format!("it has {}", known.join(", "))
                };
                return Err(ArgumentError(format!(
                    "{} has no parameter `{name}`: {known}",
                    self.name
                )));
            };
            let (least, most) = self.parameters[at].range;
            match value.parse() {
                Ok(value) if (least..=most).contains(&value) => values[at] = value,
                _ => {
                    return Err(ArgumentError(format!(
                        "{name}={value}: give a number from {least} to {most}"
                    )));
                }
            }
        }
        Ok(Arguments(values))
    }

    /// Returns the name under which its schedules are recorded: with the values of its parameters that are not the
    /// defaults.
    pub fn full_name(&self, arguments: &Arguments) -> String {
        let mut name = format!("corpus::{}", self.name);
        for (parameter, value) in self.parameters.iter().zip(&arguments.0) {
            if *value != parameter.default {
                name.push_str(&format!(",{}={value}", parameter.name));
            }
        }
        name
    }

    /// Returns the settings that fit it.
    pub fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        for (name, value) in self.settings {
            settings.set(name, value).expect("the corpus sets what there is");
        }
        settings
    }

    /// Returns an explorer of it, with these settings, and with the monitor that finds its bug, if it takes one.
    pub fn explorer(&self, settings: Settings, arguments: &Arguments) -> Explorer {
        let explorer = Explorer::with_settings(settings).program(self.full_name(arguments));
        match self.expected {
            Expected::Fail("data_race") => explorer.monitor_with(DataRaces::new),
            _ => explorer,
        }
    }

    /// Returns one execution of it, to explore.
    pub fn test(&self, arguments: &Arguments) -> impl Fn() + Send + Sync + 'static {
        let (body, values) = (self.body, arguments.0.clone());
        move || body(&values)
    }

    /// `true` if the report has the program's expected verdict.
    pub fn meets(&self, report: &Report) -> bool {
        match self.expected {
            Expected::Pass => report.verdict().is_pass(),
            Expected::Fail(kind) => {
                report.verdict().is_fail()
                    && report
                        .findings()
                        .iter()
                        .any(|finding| finding.kind.as_str() == kind)
            }
        }
    }
}
