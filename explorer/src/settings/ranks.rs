//! The bounds of a ranked search as settings.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A probability between 0 and 1, to six digits: neither of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epsilon {
    millionths: u32,
}

const MILLION: u32 = 1_000_000;

impl Default for Epsilon {
    /// One in a hundred.
    fn default() -> Self {
        Epsilon {
            millionths: MILLION / 100,
        }
    }
}

impl Epsilon {
    /// This probability, rounded to six digits; `None` if it is not between 0 and 1, then.
    pub fn new(probability: f64) -> Option<Epsilon> {
        let millionths = (probability * f64::from(MILLION)).round();
        let within = (1.0..f64::from(MILLION)).contains(&millionths);
        within.then_some(Epsilon {
            millionths: millionths as u32,
        })
    }

    /// What is left of 1 beside it.
    pub(crate) fn of_complement(probability: f64) -> Option<Epsilon> {
        Epsilon::new(1.0 - probability)
    }

    /// The probability.
    pub fn probability(self) -> f64 {
        f64::from(self.millionths) / f64::from(MILLION)
    }

    /// What is left of 1: that it does not happen.
    pub fn complement(self) -> f64 {
        f64::from(MILLION - self.millionths) / f64::from(MILLION)
    }

    pub(super) fn parse(text: &str) -> Result<Epsilon, String> {
        let number = text.parse().ok().and_then(Epsilon::new);
        number.ok_or_else(|| format!("`{text}` is no probability: give one between 0 and 1, as in 0.01"))
    }
}

impl fmt::Display for Epsilon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.probability().fmt(f)
    }
}

/// How a ranked search takes sets of variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VariableSets {
    /// One after the other: fewer variables first, and those known to be shared.
    #[default]
    Each,
    /// As they come: an execution's first preemptions choose its set.
    Dynamic,
}

impl VariableSets {
    /// Every way, with its name in settings.
    pub const ALL: [(&'static str, VariableSets); 2] =
        [("each", VariableSets::Each), ("dynamic", VariableSets::Dynamic)];
}

/// How a ranked search counts the elements of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrays {
    /// Each is a variable of its own.
    #[default]
    Elements,
    /// All of one array are one variable: those of one kind that one place in the source goes through.
    Whole,
}

impl Arrays {
    /// Every way, with its name in settings.
    pub const ALL: [(&'static str, Arrays); 2] = [("elements", Arrays::Elements), ("whole", Arrays::Whole)];

    /// Whether each element counts by itself.
    pub(crate) fn is_default(&self) -> bool {
        *self == Arrays::default()
    }
}

/// A bound on threads: at least two.
pub(super) fn threads(text: &str) -> Result<u32, String> {
    match super::table::number(text)? {
        threads @ 2.. => Ok(threads),
        threads => Err(format!("{threads} tasks have one order: give 2 or more")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_between_0_and_1() {
        for (text, shown) in [("0.01", "0.01"), ("1e-6", "0.000001"), ("0.9999994", "0.999999")] {
            assert_eq!(Epsilon::parse(text).unwrap().to_string(), shown);
        }
        for wrong in ["0", "1", "-0.1", "1e-7", "NaN", "inf", "x", ""] {
            assert!(
                Epsilon::parse(wrong).unwrap_err().contains("no probability"),
                "{wrong}"
            );
        }
        let epsilon = Epsilon::default();
        assert_eq!(
            (epsilon.complement(), Epsilon::of_complement(0.99)),
            (0.99, Some(epsilon))
        );
    }
}
