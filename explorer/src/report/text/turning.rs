//! The turning point of a failing execution, in two lines.

use super::describe;
use crate::report::source::Sources;
use crate::report::{Finding, FindingEvent, Reversal, TurningPoint};

/// Returns the lines, if the execution has the event.
pub(super) fn of(finding: &Finding, point: &TurningPoint, sources: &mut Sources) -> Option<Vec<String>> {
    let events = &finding.events;
    let at = events.iter().position(|event| event.id == point.from)?;
    let Some(number) = (at > 0).then_some(at + 1) else {
        return Some(vec![
            "turning point: none; every order of the tasks fails".to_owned(),
        ]);
    };
    let mut said = |event: &FindingEvent| {
        let mut what = describe(finding, event, sources.method(&event.site));
        // The value of the failing execution is not that of the passing one.
        if let Some((operation, _)) = what.split_once(" ->") {
            what.truncate(operation.len());
        }
        format!("{}'s `{what}`", event.task)
    };
    let mut lines = vec![format!(
        "turning point: event {number} of {} ({}); every order after it fails",
        events.len(),
        said(&events[at])
    )];
    let waiting = finding.waiting_events();
    let find = |id: &String| events.iter().chain(&waiting).find(|event| event.id == *id);
    if let Some(Reversal { first, before }) = &point.passes_if
        && let (Some(first), Some(before)) = (find(first), find(before))
    {
        lines.push(format!(
            "  passes if {} comes before {}",
            said(first),
            said(before)
        ));
    }
    Some(lines)
}
