//! Sets of observations, to be kept and compared: a golden set is a regression test.
//!
//! Kept as JSON, in the format [`OBSERVATIONS_FORMAT`]. Each scenario has its operations by place, from 0: those
//! before, each task's, those after. An observation has the result of each operation, and in `order` the calls and
//! returns: `0( 1( 0) 1)` are two that overlap.

use super::Observations;
use crate::history::{Brackets, Outcome, Outcomes};
use crate::run::record::{Mark, Texts};
use crate::scenario::{Description, Place};
use intermezzo_explorer::foreign::{self, printable, quoted};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The format of a file of observations.
pub const OBSERVATIONS_FORMAT: &str = "intermezzo-observations/1";

/// The observed behaviour of an object in each of some scenarios.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservationSet {
    /// In the order in which they were tried.
    pub scenarios: Vec<ObservedScenario>,
}

/// The observed behaviour of an object in a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObservedScenario {
    /// The scenario.
    pub scenario: Description,
    /// The observations, sorted.
    pub observations: BTreeSet<Observation>,
}

/// One outcome of the operations of a scenario.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// The outcome of each operation, by place.
    pub outcomes: Vec<ObservedOutcome>,
    /// The order of their calls and returns.
    pub order: String,
}

/// The outcome of an operation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservedOutcome {
    /// It was not called: something before it waits.
    Absent,
    /// It waits for ever.
    Waits,
    /// It returned this, as `Debug` shows it.
    Returned(String),
}

/// The contents of a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    /// CRC-32 of the scenarios as JSON without spaces.
    checksum: String,
    scenarios: Vec<ObservedScenario>,
}

/// The reason why a file has no observations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservationError {
    path: Option<PathBuf>,
    problem: String,
}

impl fmt::Display for ObservationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "observations \"{}\": {}", path.display(), self.problem),
            None => write!(f, "observations: {}", self.problem),
        }
    }
}

impl std::error::Error for ObservationError {}

/// A difference between two sets of observations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// A scenario that only this set has: the first, or the second.
    Scenario {
        /// `true` if it is the second.
        added: bool,
        /// The scenario.
        scenario: Description,
    },
    /// An observation of a scenario that both have, but only this set.
    Observation {
        /// `true` if it is the second.
        added: bool,
        /// The scenario.
        scenario: Description,
        /// The observation.
        observation: Observation,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = |added: bool| if added { '+' } else { '-' };
        match self {
            Difference::Scenario { added, scenario } => {
                write!(f, "{} scenario: {}", sign(*added), scenario.one_line())
            }
            Difference::Observation {
                added,
                scenario,
                observation,
            } => write!(
                f,
                "{} {} of: {}",
                sign(*added),
                observation.describe(scenario),
                scenario.one_line()
            ),
        }
    }
}

impl Observation {
    /// Describes each operation with its outcome, and the order.
    pub fn describe(&self, scenario: &Description) -> String {
        let outcomes = scenario
            .calls()
            .zip(&self.outcomes)
            .filter_map(|(call, outcome)| match outcome {
                ObservedOutcome::Absent => None,
                ObservedOutcome::Waits => Some(format!("{call} waits")),
                ObservedOutcome::Returned(text) if text == "()" => Some(call.to_owned()),
                ObservedOutcome::Returned(text) => Some(format!("{call} = {text}")),
            });
        let outcomes: Vec<String> = outcomes.collect();
        format!("{} [{}]", outcomes.join(", "), self.order)
    }

    fn of(brackets: &Brackets, outcomes: &Outcomes, texts: &Texts) -> Observation {
        let outcome = |outcome: &Outcome| match outcome {
            Outcome::Absent => ObservedOutcome::Absent,
            Outcome::Waits => ObservedOutcome::Waits,
            Outcome::Returned(text) => ObservedOutcome::Returned(texts.text(*text).to_string()),
        };
        let mut moments: Vec<(u32, String)> = Vec::new();
        for place in 0..outcomes.len() {
            let times = [(brackets.called[place], '('), (brackets.returned[place], ')')];
            let real = times.into_iter().filter(|(now, _)| *now != Brackets::NEVER);
            moments.extend(real.map(|(now, sign)| (now, format!("{place}{sign}"))));
        }
        moments.sort_unstable();
        let order: Vec<String> = moments.into_iter().map(|(_, mark)| mark).collect();
        Observation {
            outcomes: outcomes.iter().map(outcome).collect(),
            order: order.join(" "),
        }
    }

    /// Returns the history of its operations; `None` if it is none.
    fn marks(&self, texts: &Texts) -> Option<Vec<Mark>> {
        let mut marks = Vec::new();
        let mut open = vec![None; self.outcomes.len()];
        for mark in self.order.split_whitespace() {
            let (number, sign) = mark.split_at_checked(mark.len().checked_sub(1)?)?;
            let place: u32 = number.parse().ok()?;
            let state = open.get_mut(place as usize)?;
            match (sign, *state, &self.outcomes[place as usize]) {
                ("(", None, ObservedOutcome::Waits | ObservedOutcome::Returned(_)) => {
                    *state = Some(true);
                    marks.push(Mark::Call(Place(place)));
                }
                (")", Some(true), ObservedOutcome::Returned(text)) => {
                    *state = Some(false);
                    marks.push(Mark::Return(Place(place), texts.number(text)));
                }
                _ => return None,
            }
        }
        let fits = open
            .iter()
            .zip(&self.outcomes)
            .all(|(state, outcome)| match outcome {
                ObservedOutcome::Absent => state.is_none(),
                ObservedOutcome::Waits => *state == Some(true),
                ObservedOutcome::Returned(_) => *state == Some(false),
            });
        fits.then_some(marks)
    }
}

impl ObservedScenario {
    /// Creates the observations of a scenario.
    pub(crate) fn of(scenario: Description, observations: &Observations, texts: &Texts) -> ObservedScenario {
        let all = observations.observed.iter();
        let all = all.flat_map(|(outcomes, all)| all.iter().map(move |brackets| (brackets, outcomes)));
        ObservedScenario {
            scenario,
            observations: all
                .map(|(brackets, outcomes)| Observation::of(brackets, outcomes, texts))
                .collect(),
        }
    }

    /// Returns the observations, to compare with.
    pub(crate) fn observations(&self, texts: &Texts) -> Observations {
        let mut observations = Observations::new(self.scenario.calls().count());
        for observation in &self.observations {
            let marks = observation
                .marks(texts)
                .expect("it was looked at when it was loaded");
            observations.some_wait |= observation.outcomes.contains(&ObservedOutcome::Waits);
            observations.add(&marks);
        }
        // Tasks that perform only some of their operations are compared with such observations only.
        observations.some_wait &= observations.has_beginnings();
        observations
    }
}

impl ObservationSet {
    /// Returns the observations of a scenario; `None` if it is not in the set.
    pub fn find(&self, scenario: &Description) -> Option<&ObservedScenario> {
        self.scenarios.iter().find(|known| known.scenario == *scenario)
    }

    /// Returns the set as the text of a file. The same set is the same text.
    pub fn to_json(&self) -> String {
        let file = File {
            format: OBSERVATIONS_FORMAT.to_owned(),
            checksum: checksum(&self.scenarios),
            scenarios: self.scenarios.clone(),
        };
        let mut text = serde_json::to_string_pretty(&file).expect("strings and lists are JSON");
        text.push('\n');
        text
    }

    /// Reads the set from a file's text.
    ///
    /// # Errors
    /// If the text is not such a set, is of another format, or was changed.
    pub fn from_json(text: &str) -> Result<ObservationSet, ObservationError> {
        let error = |problem: String| ObservationError { path: None, problem };
        let value: serde_json::Value = serde_json::from_str(text)
            .map_err(|wrong| error(format!("not JSON ({wrong}): give a file that `save` has written")))?;
        match value.get("format").and_then(|format| format.as_str()) {
            Some(OBSERVATIONS_FORMAT) => {}
            Some(other) => {
                return Err(error(format!(
                    "the format is {}, and `{OBSERVATIONS_FORMAT}` is wanted: observe again",
                    quoted(other)
                )));
            }
            None => {
                return Err(error(format!(
                    "no `format`: not a file of observations, which says `{OBSERVATIONS_FORMAT}` there"
                )));
            }
        }
        let file: File = serde_json::from_value(value).map_err(|wrong| {
            error(format!(
                "{}: it was changed, or written by something else; observe again",
                printable(&wrong.to_string())
            ))
        })?;
        if checksum(&file.scenarios) != file.checksum {
            return Err(error(
                "it was changed since it was written: its checksum is another; observe again".into(),
            ));
        }
        let texts = Texts::default();
        for scenario in &file.scenarios {
            let places = scenario.scenario.calls().count();
            for observation in &scenario.observations {
                if observation.outcomes.len() != places || observation.marks(&texts).is_none() {
                    return Err(error(format!(
                        "{} is not an order of the {places} operations of: {}; observe again",
                        quoted(&observation.order),
                        printable(&scenario.scenario.one_line())
                    )));
                }
            }
        }
        Ok(ObservationSet {
            scenarios: file.scenarios,
        })
    }

    /// Writes the set to a file, as a whole or not at all. An existing file that holds no observations is left alone.
    ///
    /// # Errors
    /// If the file cannot be written, or is something else.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ObservationError> {
        let path = path.as_ref();
        let error = |problem: String| ObservationError {
            path: Some(path.to_owned()),
            problem,
        };
        let mut beside = path.as_os_str().to_owned();
        beside.push(".new");
        for there in [path, Path::new(&beside)] {
            let problem = match foreign::read(there) {
                Ok(bytes) if is_ours(&bytes) => continue,
                Err(wrong) if wrong.kind() == ErrorKind::NotFound => continue,
                Ok(_) => "a file of another kind".to_owned(),
                Err(wrong) => format!("what cannot be read ({wrong})"),
            };
            return Err(error(format!(
                "at {there:?} there is {problem}: it is left alone; give another name, or remove it"
            )));
        }
        let written = std::fs::write(&beside, self.to_json()).and_then(|()| std::fs::rename(&beside, path));
        written.map_err(|wrong| error(format!("cannot be written ({wrong}): give a path that can")))
    }

    /// Reads the set from a file.
    ///
    /// # Errors
    /// If the file cannot be read, or [`from_json`](Self::from_json) refuses it.
    pub fn load(path: impl AsRef<Path>) -> Result<ObservationSet, ObservationError> {
        let path = path.as_ref();
        let error = |problem: String| ObservationError {
            path: Some(path.to_owned()),
            problem,
        };
        let bytes = foreign::read(path).map_err(|wrong| {
            error(format!(
                "cannot be read ({wrong}): give a file that `save` has written"
            ))
        })?;
        let text = String::from_utf8(bytes).map_err(|wrong| {
            let byte = wrong.utf8_error().valid_up_to();
            error(format!(
                "no text from byte {byte} on: give a file that `save` has written"
            ))
        })?;
        ObservationSet::from_json(&text).map_err(|refused| error(refused.problem))
    }

    /// Returns the entries that only this set has (`-`), and those that only the other has (`+`).
    pub fn diff(&self, other: &ObservationSet) -> Vec<Difference> {
        let mut found = Vec::new();
        for (set, another, added) in [(self, other, false), (other, self, true)] {
            for known in &set.scenarios {
                let scenario = || known.scenario.clone();
                let Some(there) = another.find(&known.scenario) else {
                    found.push(Difference::Scenario {
                        added,
                        scenario: scenario(),
                    });
                    continue;
                };
                let missing = known.observations.difference(&there.observations);
                found.extend(missing.map(|observation| Difference::Observation {
                    added,
                    scenario: scenario(),
                    observation: observation.clone(),
                }));
            }
        }
        found
    }
}

impl fmt::Display for ObservationSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for observed in &self.scenarios {
            writeln!(f, "{}", observed.scenario.one_line())?;
            for observation in &observed.observations {
                writeln!(f, "    {}", observation.describe(&observed.scenario))?;
            }
        }
        Ok(())
    }
}

/// `true` if this is a file of observations, of any version, or the beginning of one that a killed process wrote.
fn is_ours(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Header {
        format: String,
    }
    const BEGIN: &[u8] = b"{\n  \"format\": \"intermezzo-observations/";
    let header = || serde_json::from_slice::<Header>(bytes);
    bytes.starts_with(BEGIN)
        || BEGIN.starts_with(bytes)
        || header().is_ok_and(|header| header.format.starts_with("intermezzo-observations/"))
}

fn checksum(scenarios: &[ObservedScenario]) -> String {
    let text = serde_json::to_vec(scenarios).expect("strings and lists are JSON");
    format!("{:08x}", crc32fast::hash(&text))
}
