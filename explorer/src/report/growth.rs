//! The growth of a figure with a parameter of the test.
//!
//! A test that is run with several sizes has a figure for each: the steps of its longest execution, say. If the figure
//! is proportional to a power of the size, its logarithms lie on a line, whose slope is that power. So the exponent is
//! the slope of the line that fits the logarithms best (least squares). It is 1 if four tasks take twice as many steps
//! as two, and 2 if they take four times as many.
//!
//! Blind spot: sizes that are small show what does not grow as well. A figure of 10 + n² has an exponent below 1 for
//! sizes up to 3.

use super::{Figure, Report};
use std::fmt;

/// The error of exponents that come from rounding.
const ROUNDING: f64 = 1e-9;

/// A figure of the explorations of one test, by the value of a parameter.
///
/// ```
/// use intermezzo_explorer::sync::{Arc, Mutex};
/// use intermezzo_explorer::{Explorer, Growth, thread};
///
/// let mut growth = Growth::named("tasks", "steps").unwrap();
/// for tasks in 1..=3 {
///     let report = Explorer::new().explore(|| {
///         let count = Arc::new(Mutex::new(0));
///         let add = |_| {
///             let count = count.clone();
///             thread::spawn(move || *count.lock().unwrap() += 1)
///         };
///         (0..tasks).map(add).for_each(drop);
///     });
///     growth.add(tasks, &report);
/// }
/// // Each task has as many steps as the others.
/// assert!(growth.exponent().unwrap() < 1.2, "{growth}");
/// assert_eq!(growth.exceeds(1.2), None);
/// ```
#[derive(Clone, Debug)]
pub struct Growth {
    parameter: String,
    figure: Figure,
    /// The value of the parameter, and the figure.
    points: Vec<(u64, u64)>,
}

impl Growth {
    /// Returns the growth of a figure with a parameter, as yet without values.
    ///
    /// # Errors
    /// If there is no figure with this name; the message lists all figures.
    pub fn named(parameter: &str, figure: &str) -> Result<Growth, String> {
        let Some(figure) = Figure::named(figure) else {
            let all: Vec<&str> = Figure::names().collect();
            return Err(format!(
                "growth({figure}): there is no such figure; there are: {}",
                all.join(", ")
            ));
        };
        Ok(Growth {
            parameter: parameter.to_owned(),
            figure,
            points: Vec::new(),
        })
    }

    /// Adds the figure of an exploration with this value of the parameter. A figure that was not counted is left out.
    pub fn add(&mut self, value: u64, report: &Report) {
        self.points
            .extend(self.figure.of(report).map(|figure| (value, figure)));
    }

    /// Returns the values of the parameter with their figures.
    pub fn points(&self) -> &[(u64, u64)] {
        &self.points
    }

    /// Returns the exponent; `None` if there are no two different values. Zeros count as ones.
    pub fn exponent(&self) -> Option<f64> {
        let logarithm = |number: u64| (number.max(1) as f64).ln();
        let points = || {
            self.points
                .iter()
                .map(|&(value, figure)| (logarithm(value), logarithm(figure)))
        };
        let count = self.points.len() as f64;
        let (x, y) = points().fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
        let (x, y) = (x / count, y / count);
        let spread: f64 = points().map(|point| (point.0 - x).powi(2)).sum();
        let together: f64 = points().map(|point| (point.0 - x) * (point.1 - y)).sum();
        (spread > 0.0).then(|| together / spread)
    }

    /// Returns the reason why the figure grows faster than this exponent allows, or cannot be said to grow more slowly.
    pub fn exceeds(&self, most: f64) -> Option<String> {
        match self.exponent() {
            Some(exponent) if exponent <= most + ROUNDING => None,
            Some(_) => Some(format!("{self}; the test allows an exponent of {most}")),
            None => Some(format!("{self}: two values of `{}` are needed", self.parameter)),
        }
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Growth {
            parameter,
            figure,
            points,
        } = self;
        let figure = figure.name();
        match self.exponent() {
            Some(exponent) => write!(f, "{figure} grow as {parameter} to the power of {exponent:.2}: ")?,
            None => write!(f, "{figure} by {parameter}: ")?,
        }
        for (at, (value, number)) in points.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{number} with {value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grown(figure: impl Fn(u64) -> u64) -> Growth {
        let mut growth = Growth::named("tasks", "steps").unwrap();
        growth.points = (1..=5).map(|value| (value, figure(value))).collect();
        growth
    }

    #[test]
    fn powers_have_their_exponents() {
        for (exponent, figure) in [
            (0.0, (|_| 7) as fn(u64) -> u64),
            (1.0, |n| 3 * n),
            (2.0, |n| n * n),
            (3.0, |n| 5 * n * n * n),
        ] {
            let found = grown(figure).exponent().unwrap();
            assert!((found - exponent).abs() < 1e-9, "{found}, not {exponent}");
        }
    }

    #[test]
    fn one_value_shows_no_growth() {
        let mut growth = grown(|n| n);
        growth.points.truncate(1);
        assert_eq!(growth.exponent(), None);
        assert_eq!(
            growth.exceeds(1.0).unwrap(),
            "steps by tasks: 1 with 1: two values of `tasks` are needed"
        );
    }

    #[test]
    fn too_much_growth_is_told_with_its_figures() {
        assert_eq!(grown(|n| n).exceeds(1.0), None);
        assert_eq!(
            grown(|n| n * n).exceeds(1.5).unwrap(),
            "steps grow as tasks to the power of 2.00: 1 with 1, 4 with 2, 9 with 3, 16 with 4, 25 with 5; the test \
             allows an exponent of 1.5"
        );
        assert!(
            Growth::named("tasks", "contention")
                .unwrap_err()
                .contains("executions, traces, steps, tasks")
        );
    }
}
