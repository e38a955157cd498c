//! The events of a finding that its JSON form has: all of a short execution, and the telling ones of a long one.
//!
//! An execution may have a million events, and a report a hundred findings. The schedule determines all of them, so a
//! replay shows what the report leaves out.

use super::{Finding, FindingEvent, VarNames};
use std::collections::HashSet;

/// The most events at the beginning, at the end, and in between, of an execution that is not listed as a whole.
const FIRST: usize = 500;
const LAST: usize = 1500;
const TELLING: usize = 500;

/// Returns the events to list, in order.
pub(super) fn of(finding: &Finding) -> Vec<&FindingEvent> {
    let events = &finding.events;
    if events.len() <= FIRST + LAST {
        return events.iter().collect();
    }
    let (first, rest) = events.split_at(FIRST);
    let (between, last) = rest.split_at(rest.len() - LAST);
    let deeds = finding.deeds.iter().map(|deed| deed.after.as_str());
    // The last ones are nearest to the failure.
    let latest = |is_telling: fn(&&FindingEvent) -> bool| {
        let telling = between.iter().rev().filter(is_telling);
        telling.map(|event| event.id.as_str())
    };
    let telling = deeds
        .chain(latest(|event| !event.newer.is_empty()))
        .chain(latest(|event| event.concerned));
    let telling: HashSet<&str> = telling.take(TELLING).collect();
    let between = between.iter().filter(|event| telling.contains(event.id.as_str()));
    first.iter().chain(between).chain(last).collect()
}

/// Returns the names of the variables that occur in these events or in the message.
pub(super) fn names(finding: &Finding, listed: &[&FindingEvent]) -> VarNames {
    if listed.len() == finding.events.len() {
        return finding.names.clone();
    }
    let vars: HashSet<&str> = listed.iter().map(|event| event.var.as_str()).collect();
    let mut names = finding.names.clone();
    names.retain(|var, _| vars.contains(var.as_str()) || finding.message.contains(var.as_str()));
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::FindingDeed;
    use crate::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    /// A failure after this many operations.
    fn failure(operations: usize) -> Finding {
        let explorer = crate::Explorer::new().steps_per_execution(100_000).minimise(0);
        let report = explorer.explore(move || {
            let n = AtomicUsize::new(0);
            for _ in 0..operations {
                n.fetch_add(1, SeqCst);
            }
            panic!("so that there is a finding");
        });
        report.findings()[0].clone()
    }

    #[test]
    fn a_short_execution_is_listed_as_a_whole() {
        let finding = failure(100);
        assert_eq!(of(&finding).len(), finding.events.len());
        let json = serde_json::to_value(&finding).unwrap();
        assert!(json.get("events_left_out").is_none(), "{json}");
    }

    #[test]
    fn of_a_long_one_the_report_says_how_many_are_left_out() {
        let mut finding = failure(10_000);
        let all = finding.events.len();
        finding
            .events
            .iter_mut()
            .for_each(|event| event.concerned = false);
        finding.events[3000].concerned = true;
        finding.events[4000].newer = vec![finding.events[3000].id.clone()];
        finding.deeds = vec![FindingDeed {
            after: finding.events[5000].id.clone(),
            task: finding.events[5000].task.clone(),
            what: "read cell 0.2".into(),
            site: "src/x.rs:1:2".into(),
        }];
        let listed = of(&finding);
        assert_eq!(listed.len(), FIRST + LAST + 3);
        assert_eq!(listed[FIRST], &finding.events[3000]);
        assert_eq!(listed[FIRST + 1], &finding.events[4000]);
        assert_eq!(listed[FIRST + 2], &finding.events[5000]);
        assert_eq!(listed.last(), finding.events.last().as_ref());
        let json = serde_json::to_value(&finding).unwrap();
        assert_eq!(json["events_left_out"], all - listed.len());
        assert_eq!(json["events"].as_array().unwrap().len(), listed.len());
    }

    #[test]
    fn there_is_a_limit_to_what_a_finding_is_about() {
        let mut finding = failure(10_000);
        finding.events.iter_mut().for_each(|event| event.concerned = true);
        assert_eq!(of(&finding).len(), FIRST + LAST + TELLING);
    }
}
