//! The bounds of a ranked search: preemptions, variables, variables of one place, and tasks; and the probability that
//! an order of the tasks was missed.

use crate::serial::{Deserialize, Serialize};
use crate::words::plural;
#[cfg(feature = "files")]
use serde::{Deserializer, Serializer};
use std::fmt;

/// Bounds within which a ranked search ran every execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankBound {
    /// Executions with at most this many preemptions; `None` for any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemptions: Option<u32>,
    /// Executions whose preemptions count against at most this many variables; `None` for any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<u32>,
    /// The way in which elements of arrays are counted as variables.
    #[serde(default, skip_serializing_if = "Arrays::is_default")]
    pub arrays: Arrays,
    /// Executions whose preemptions count only against the first variables of each place, at most this many; `None` for
    /// any. The variables of a place are those of one kind whose first use was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_place: Option<u32>,
    /// Every group of this many tasks was run in every order of priorities; `None` if any task may go where the running
    /// one cannot continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// An upper bound on the probability that an order of that many tasks was missed; `None` if none was. In JSON, the
    /// probability that none was.
    #[serde(
        default,
        rename = "probability",
        skip_serializing_if = "Option::is_none",
        serialize_with = "write_probability",
        deserialize_with = "read_probability"
    )]
    pub epsilon: Option<Epsilon>,
}

#[cfg(feature = "files")]
fn write_probability<S: Serializer>(epsilon: &Option<Epsilon>, serializer: S) -> Result<S::Ok, S::Error> {
    match epsilon {
        Some(epsilon) => serializer.serialize_f64(epsilon.complement()),
        None => serializer.serialize_none(),
    }
}

#[cfg(feature = "files")]
fn read_probability<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Epsilon>, D::Error> {
    let probability = Option::<f64>::deserialize(deserializer)?;
    Ok(probability.and_then(Epsilon::of_complement))
}

impl fmt::Display for RankBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RankBound {
            preemptions,
            variables,
            arrays,
            per_place,
            threads,
            epsilon,
        } = *self;
        match preemptions {
            Some(most) => write!(f, "at most {most} {}", plural(most.into(), "preemption"))?,
            None => f.write_str("any number of preemptions")?,
        }
        if let Some(most) = variables {
            write!(f, " after accesses to {most} {}", plural(most.into(), "variable"))?;
            if arrays == Arrays::Whole {
                f.write_str(" (an array is one)")?;
            }
        }
        if let Some(most) = per_place {
            if variables.is_none() {
                f.write_str(" after accesses to variables")?;
            }
            match most {
                1 => f.write_str(" among the first of each place")?,
                _ => write!(f, " among the first {most} of each place")?,
            }
        }
        if let Some(threads) = threads {
            write!(f, " and {threads} tasks in every order of priorities")?;
        }
        match epsilon {
            Some(epsilon) => write!(f, ", with a probability of at least {}", epsilon.complement()),
            None => Ok(()),
        }
    }
}

/// The way in which a ranked search counts the elements of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrays {
    /// Each element is a variable of its own.
    #[default]
    Elements,
    /// All elements of an array are one variable: the variables of one kind that one place in the source accesses.
    Whole,
}

impl Arrays {
    /// All values, with their names in the settings.
    pub const ALL: [(&'static str, Arrays); 2] = [("elements", Arrays::Elements), ("whole", Arrays::Whole)];

    /// Returns `true` if each element counts by itself.
    pub(crate) fn is_default(&self) -> bool {
        *self == Arrays::default()
    }
}

/// A probability strictly between 0 and 1, with six decimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epsilon {
    millionths: u32,
}

const MILLION: u32 = 1_000_000;

impl Default for Epsilon {
    /// Returns one in a hundred.
    fn default() -> Self {
        Epsilon::DEFAULT
    }
}

impl Epsilon {
    /// One in a hundred.
    pub const DEFAULT: Epsilon = Epsilon {
        millionths: MILLION / 100,
    };

    /// Returns this probability, rounded to six digits; `None` if the result is not between 0 and 1.
    pub fn new(probability: f64) -> Option<Epsilon> {
        let millionths = (probability * f64::from(MILLION)).round();
        let within = (1.0..f64::from(MILLION)).contains(&millionths);
        within.then_some(Epsilon {
            millionths: millionths as u32,
        })
    }

    /// Returns the complement of a probability.
    pub fn of_complement(probability: f64) -> Option<Epsilon> {
        Epsilon::new(1.0 - probability)
    }

    /// Returns the probability.
    pub fn probability(self) -> f64 {
        f64::from(self.millionths) / f64::from(MILLION)
    }

    /// Returns the complement: the probability that it does not happen.
    pub fn complement(self) -> f64 {
        f64::from(MILLION - self.millionths) / f64::from(MILLION)
    }
}

impl fmt::Display for Epsilon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.probability().fmt(f)
    }
}
