//! The breakpoint that reproduces a finding.

use super::names::SourceFiles;
use super::{Finding, FindingDetail};
use intermezzo_engine::serial::Serialize;
#[cfg(feature = "files")]
use serde::Serializer;
#[cfg(feature = "files")]
use serde::ser::SerializeMap;

/// A way to show a finding again without the tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reproduction {
    /// The finding, by its index in the report's list, from 0.
    pub finding: usize,
    /// The breakpoint, or the reason why there is none.
    #[serde(flatten, serialize_with = "breakpoint_or_none")]
    pub breakpoint: Result<SuggestedBreakpoint, String>,
}

#[cfg(feature = "files")]
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
    /// The line. It has the objects as the code at the place has them, or else after the variables of the report.
    pub code: String,
}

impl SuggestedPlace {
    /// Writes the objects as the code at the place has them.
    pub(super) fn name_objects(&mut self, finding: &Finding, files: &mut SourceFiles) {
        let Some(wanted) = files.object(&self.site) else {
            return;
        };
        // The object follows the name of the breakpoint.
        let Some((head, objects)) = self.code.split_once("\", &") else {
            return;
        };
        let Some((objects, tail)) = objects.split_once(')') else {
            return;
        };
        let objects = match objects.split_once(", &") {
            None => wanted,
            Some(_) => {
                let held = lock_held(finding, &self.site);
                let held = held.and_then(|site| files.object_seen_from(site, &self.site));
                format!("{}, &{wanted}", held.as_deref().unwrap_or("held"))
            }
        };
        self.code = format!("{head}\", &{objects}){tail}");
    }
}

/// Returns the place where a task took the lock that it holds while it waits at this place.
fn lock_held<'f>(finding: &'f Finding, site: &str) -> Option<&'f str> {
    let FindingDetail::Blocked { waiting, .. } = &finding.detail else {
        return None;
    };
    let task = &waiting.iter().find(|task| task.site == site)?.task;
    let of_task = waiting
        .iter()
        .find(|other| other.held_by.as_ref() == Some(task))?;
    of_task.held_since.as_deref()
}
