//! The iRoot coverage of an exploration, for reports.

use super::iroot::{IDIOMS, SEARCHED};
use hashbrown::HashMap;
use intermezzo_engine::serial::Serialize;
use std::fmt;

/// The maximum number of points of a curve in a report.
const POINTS_MAX: usize = 100;

/// The number of exposed iRoots of each idiom, 1 to 6. The last idiom is measured, but not searched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IRootsExposed(pub(super) [u64; IDIOMS]);

impl IRootsExposed {
    /// Returns the number of this idiom, 1 to 6; 0 for others.
    pub fn of_idiom(&self, idiom: u8) -> u64 {
        let at = usize::from(idiom).checked_sub(1);
        at.and_then(|at| self.0.get(at)).copied().unwrap_or(0)
    }

    /// Returns the sum over the idioms that are searched for, 1 to 5.
    pub fn total(&self) -> u64 {
        (1..=SEARCHED).map(|idiom| self.of_idiom(idiom)).sum()
    }
}

/// The numbers of iRoots exposed up to an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Point {
    pub(super) execution: u64,
    pub(super) exposed: IRootsExposed,
}

/// The iRoots that the executions of an exploration exposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IRootCoverage {
    /// The numbers by idiom.
    pub(super) exposed: IRootsExposed,
    pub(super) total: u64,
    /// The maximum distance between two accesses of an iRoot in one task, in events of that task.
    pub(super) window: u32,
    /// The execution that exposed the last new one.
    pub(super) saturated_at: u64,
    pub(super) curve: Vec<Point>,
    /// The results of the search by iRoots, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) search: Option<Searched>,
    #[serde(skip)]
    pub(super) names: Vec<String>,
    /// The exposed iRoots with the variables' names in the source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) named: Vec<String>,
}

/// The results of a search by iRoots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Searched {
    /// The number of different predicted iRoots.
    pub(super) predicted: u64,
    /// The number of them that were exposed by this exploration or, by the memo, before it.
    pub(super) predicted_exposed: u64,
    /// The number of them that only the memo knows to be exposed.
    pub(super) known: u64,
    /// The number of executions that tried to expose an iRoot.
    pub(super) attempts: u64,
    /// The number of these executions that did.
    pub(super) successes: u64,
    /// `true` if there were more predictions than are kept.
    pub(super) overflowed: bool,
}

impl IRootCoverage {
    /// Returns the number of exposed iRoots.
    pub fn exposed(&self) -> IRootsExposed {
        self.exposed
    }

    /// Returns the number of the execution, from 1, that exposed the last new iRoot of the idioms 1 to 5; 0 if none
    /// did.
    pub fn saturated_at(&self) -> u64 {
        self.saturated_at
    }

    /// Returns the executions that exposed new iRoots, by number from 1, each with the numbers of iRoots exposed up to
    /// it. If there are many, some are left out.
    pub fn curve(&self) -> impl Iterator<Item = (u64, IRootsExposed)> + '_ {
        self.curve.iter().map(|point| (point.execution, point.exposed))
    }

    /// Returns the exposed iRoots by name, sorted: idiom, and places as file, line, column and operation.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the same with the names that the source gives the variables, where it has any: `1: src/ring.rs:12:9
    /// store tail => src/ring.rs:20:9 load tail`.
    pub fn named(&self) -> &[String] {
        match self.named.is_empty() {
            true => &self.names,
            false => &self.named,
        }
    }

    /// Adds the names of variables: `name` returns that of the variable that is used at `file:line:column`.
    pub fn name_variables(&mut self, mut name: impl FnMut(&str) -> Option<String>) {
        // Many iRoots have the same places, and finding a name is slow.
        let mut known: HashMap<String, String> = HashMap::new();
        let mut of_place = |place: &str| {
            if let Some(known) = known.get(place) {
                return known.clone();
            }
            let site = place.rsplit_once(' ').map_or(place, |(site, _)| site);
            let named = name(site).map_or_else(|| place.to_owned(), |name| format!("{place} {name}"));
            known.insert(place.to_owned(), named.clone());
            named
        };
        let mut of_half = |half: &str| {
            half.split(" => ")
                .map(&mut of_place)
                .collect::<Vec<_>>()
                .join(" => ")
        };
        let named = self.names.iter().map(|iroot| match iroot.split_once(": ") {
            Some((idiom, rest)) => {
                let halves: Vec<String> = rest.split(", ").map(&mut of_half).collect();
                format!("{idiom}: {}", halves.join(", "))
            }
            None => iroot.clone(),
        });
        self.named = named.collect();
    }

    /// Returns the number of executions of the search `maple` that tried to expose an iRoot; `None` for other
    /// searches.
    pub fn attempts(&self) -> Option<u64> {
        self.search.as_ref().map(|search| search.attempts)
    }

    /// Returns the number of these executions that exposed it.
    pub fn successes(&self) -> Option<u64> {
        self.search.as_ref().map(|search| search.successes)
    }

    /// Returns the number of iRoots that the search `maple` predicted; `None` for other searches.
    pub fn predicted(&self) -> Option<u64> {
        self.search.as_ref().map(|search| search.predicted)
    }
}

/// Reduces the points to the number that a report may contain. The first and the last one are kept, and others that
/// divide the number of iRoots as evenly as possible.
pub(super) fn thinned(curve: Vec<Point>) -> Vec<Point> {
    if curve.len() <= POINTS_MAX {
        return curve;
    }
    let most = curve.last().map_or(0, |point| point.exposed.total());
    let part = |point: &Point| point.exposed.total() * (POINTS_MAX as u64 - 1) / most.max(1);
    let last = curve.len() - 1;
    let kept = curve.iter().enumerate().filter(|&(at, point)| {
        at == 0 || at == last || part(point) != part(&curve[at - 1]) && part(point) < POINTS_MAX as u64 - 1
    });
    kept.map(|(_, point)| *point).collect()
}

impl fmt::Display for IRootCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let idioms: Vec<String> = (1..=SEARCHED)
            .map(|idiom| self.exposed.of_idiom(idiom).to_string())
            .collect();
        write!(f, "{} exposed (idioms 1 to 5: {}", self.total, idioms.join(", "))?;
        write!(f, "; idiom 6: {})", self.exposed.of_idiom(IDIOMS as u8))?;
        if self.total > 0 {
            write!(f, ", the last new one by execution {}", self.saturated_at)?;
        }
        let doublings: Vec<String> = (0..u64::BITS)
            .map(|power| 1 << power)
            .take_while(|&execution| execution < self.saturated_at)
            .map(|execution| {
                let reached = self.curve.iter().take_while(|point| point.execution <= execution);
                let total = reached.last().map_or(0, |point| point.exposed.total());
                format!("{total} by {execution}")
            })
            .collect();
        if !doublings.is_empty() {
            write!(
                f,
                ": {}, {} by {}",
                doublings.join(", "),
                self.total,
                self.saturated_at
            )?;
        }
        if let Some(search) = &self.search {
            write!(
                f,
                "; {} predicted, of which {} exposed",
                search.predicted, search.predicted_exposed
            )?;
            if search.known > 0 {
                write!(f, " ({} of them before, by the memo)", search.known)?;
            }
            write!(
                f,
                "; {} of {} attempts succeeded",
                search.successes, search.attempts
            )?;
            if search.overflowed {
                f.write_str("; more were predicted than are kept")?;
            }
        }
        Ok(())
    }
}
