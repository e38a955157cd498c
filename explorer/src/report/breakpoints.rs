//! What a report says of breakpoints: what became of those that were armed, and the one that shows a finding again.

use intermezzo_breakpoint::Statistics;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

/// What became of an armed breakpoint in all executions together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakpointFigures {
    /// The breakpoint, by name; one between places in the source is called as it is written.
    pub name: String,
    /// How often a task came to one of its places, its local predicate holding.
    pub visits: u64,
    /// Of those, the ones that were skipped, or came when it had been hit as often as it may be.
    pub skipped: u64,
    /// How often tasks met there.
    pub hits: u64,
    /// How often a task waited until nobody else could go on.
    pub timeouts: u64,
    /// Of the hits, those after which the second went on although the first was not done, for nobody else could go on.
    pub unordered: u64,
    /// In how many executions tasks met there.
    pub executions_hit: u64,
}

impl BreakpointFigures {
    /// Those of one execution.
    pub(crate) fn of(statistics: &Statistics) -> BreakpointFigures {
        let Statistics {
            name,
            visits,
            skipped,
            hits,
            timeouts,
            unordered,
        } = statistics.clone();
        BreakpointFigures {
            name,
            visits,
            skipped,
            hits,
            timeouts,
            unordered,
            executions_hit: u64::from(hits > 0),
        }
    }

    /// Adds those of other executions to these, breakpoint by breakpoint.
    pub(crate) fn add(sum: &mut Vec<BreakpointFigures>, others: &[BreakpointFigures]) {
        for other in others {
            match sum.iter_mut().find(|known| known.name == other.name) {
                None => sum.push(other.clone()),
                Some(known) => {
                    known.visits += other.visits;
                    known.skipped += other.skipped;
                    known.hits += other.hits;
                    known.timeouts += other.timeouts;
                    known.unordered += other.unordered;
                    known.executions_hit += other.executions_hit;
                }
            }
        }
    }
}

/// How to show a finding again without the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reproduction {
    /// The finding, by its place in the report's list, from 0.
    pub finding: usize,
    /// The breakpoint; or why there is none.
    #[serde(flatten, serialize_with = "breakpoint_or_none")]
    pub breakpoint: Result<SuggestedBreakpoint, String>,
}

fn breakpoint_or_none<S: Serializer>(
    breakpoint: &Result<SuggestedBreakpoint, String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    match breakpoint {
        Ok(breakpoint) => map.serialize_entry("breakpoint", breakpoint)?,
        Err(reason) => map.serialize_entry("none", reason)?,
    }
    map.end()
}

/// A breakpoint that shows a finding again, and was tried: with it armed the default execution, without a preemption, shows
/// the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SuggestedBreakpoint {
    /// What the setting `breakpoints` takes to have it in an exploration, without a change of the code.
    pub armed: String,
    /// What to write into the code to have it without the tool.
    pub places: Vec<SuggestedPlace>,
    /// How often somebody waited in vain before: each costs the limit of time, in a process of its own.
    pub in_vain: u64,
}

/// A line of code, and where to write it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SuggestedPlace {
    /// `file:line:column` of the operation right before which it goes.
    pub site: String,
    /// The line. The object is called after the variable of the report.
    pub code: String,
}

/// A place that a finding names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedPlace {
    /// `file:line:column`.
    pub site: String,
    /// What is accessed there, in words.
    pub what: String,
}
