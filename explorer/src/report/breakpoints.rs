//! The breakpoint that shows a finding again.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

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
