//! The breakpoint that reproduces a finding.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// A way to show a finding again without the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reproduction {
    /// The finding, by its index in the report's list, from 0.
    pub finding: usize,
    /// The breakpoint, or the reason why there is none.
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

/// A breakpoint that reproduces a finding, as a trial has confirmed: with it armed, the default execution shows the
/// same without a preemption.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SuggestedBreakpoint {
    /// The value of the setting `breakpoints` that arms it in an exploration, without a change to the code.
    pub armed: String,
    /// The lines to write into the code to have it without the tool.
    pub places: Vec<SuggestedPlace>,
    /// The number of tasks that timed out or continued out of order in the trial. In a process of its own each of them
    /// costs the limit of time.
    pub in_vain: u64,
}

/// A line of code, and the place to write it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SuggestedPlace {
    /// The `file:line:column` of the operation right before which it goes.
    pub site: String,
    /// The line. It names the object after the variable in the report.
    pub code: String,
}
