//! Equality of failures in two executions.
//!
//! Two findings are the same if they have the same kind, origin and details. Tasks and variables may have other names
//! (`task 1`, `mutex 0.2`), and several tasks may come in another order. Places in the source and values count: an
//! assertion that fails with another value is another failure.
//!
//! A monitor's finding is identified by its places in the source, or by its message if it has none.

use crate::report::{Finding, FindingDetail, FoundBy};
use intermezzo_sdk::{FindingKind, Severity};
use std::collections::BTreeSet;

/// A failure, up to names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    kind: FindingKind,
    severity: Severity,
    found_by: FoundBy,
    subject: Subject,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Subject {
    Detail(FindingDetail),
    Places(BTreeSet<String>),
}

impl Failure {
    /// Returns the failure that a finding shows.
    pub(super) fn of(finding: &Finding) -> Failure {
        let places = places(finding);
        let subject = match finding.monitor {
            FoundBy::Monitor(_) if !places.is_empty() => Subject::Places(places),
            _ => Subject::Detail(finding.detail.without_names()),
        };
        Failure {
            kind: finding.kind.clone(),
            severity: finding.severity,
            found_by: finding.monitor.clone(),
            subject,
        }
    }

    /// Returns the first of these findings that shows the failure.
    pub(super) fn among(&self, findings: Vec<Finding>) -> Option<Finding> {
        findings.into_iter().find(|finding| Failure::of(finding) == *self)
    }
}

/// Returns `true` if two findings are the same. Panics are compared by their places, because messages may show values.
pub(crate) fn same_place(one: &Finding, other: &Finding) -> bool {
    let panics = |finding: &Finding| match &finding.detail {
        FindingDetail::Panic { panics, .. } => {
            let places = panics.iter().map(|panic| panic.place.clone());
            Some(places.collect::<BTreeSet<_>>())
        }
        _ => None,
    };
    match (panics(one), panics(other)) {
        (Some(places), Some(others)) => (&one.kind, places) == (&other.kind, others),
        _ => Failure::of(one) == Failure::of(other),
    }
}

/// Returns the places in the source of a finding.
fn places(finding: &Finding) -> BTreeSet<String> {
    let named = finding.places.iter().map(|place| place.site.clone());
    let accesses = finding.deeds.iter().map(|deed| deed.site.clone());
    let events = finding.events.iter().filter(|event| event.concerned);
    let mut places: BTreeSet<String> = named.chain(accesses).collect();
    if places.is_empty() {
        places.extend(events.map(|event| event.site.clone()));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{TaskPanic, WaitingTask};

    fn failure(detail: FindingDetail) -> Failure {
        let mut finding = Finding::bare(FindingKind::Deadlock, &detail.to_string());
        finding.detail = detail;
        Failure::of(&finding)
    }

    fn panic(task: &str, place: &str, message: &str) -> FindingDetail {
        FindingDetail::Panic {
            panics: vec![TaskPanic {
                task: task.into(),
                message: message.into(),
                place: Some(place.into()),
                unwinding: false,
            }],
            waiting: Vec::new(),
        }
    }

    fn waits(task: &str, op: &str, var: &str, site: &str) -> WaitingTask {
        WaitingTask {
            task: task.into(),
            op: op.into(),
            var: var.into(),
            site: site.into(),
            held_by: None,
            held_since: None,
            awaited: Vec::new(),
        }
    }

    fn blocked(waiting: &[WaitingTask]) -> FindingDetail {
        FindingDetail::Blocked {
            waiting: waiting.to_vec(),
            panics: Vec::new(),
            outsider: None,
        }
    }

    #[test]
    fn names_and_their_order_do_not_matter() {
        for (one, other) in [
            (
                panic("task 1", "a.rs:1:2", "boom"),
                panic("main", "a.rs:1:2", "boom"),
            ),
            (
                blocked(&[waits("task 1.2", "lock", "mutex 0.2", "a.rs:1:2")]),
                blocked(&[waits("task 12", "lock", "mutex 3.1", "a.rs:1:2")]),
            ),
            (
                blocked(&[
                    waits("main", "lock", "mutex 0.1", "a.rs:1:2"),
                    waits("task 1", "lock", "mutex 0.2", "a.rs:5:2"),
                ]),
                blocked(&[
                    waits("main", "lock", "mutex 0.2", "a.rs:5:2"),
                    waits("task 2", "lock", "mutex 0.1", "a.rs:1:2"),
                ]),
            ),
            (
                blocked(&[waits("main", "join", "task 1", "a.rs:1:2")]),
                blocked(&[waits("task 2", "join", "main", "a.rs:1:2")]),
            ),
        ] {
            assert_eq!(failure(one), failure(other));
        }
    }

    #[test]
    fn kinds_places_and_values_matter() {
        for (one, other) in [
            (
                panic("main", "a.rs:1:2", "boom"),
                panic("main", "a.rs:1:3", "boom"),
            ),
            (
                panic("main", "a.rs:1:2", "left: 1"),
                panic("main", "a.rs:1:2", "left: 2"),
            ),
            (
                // The words of a test are compared as they are.
                panic("main", "a.rs:1:2", "mutex 0.1; lost"),
                panic("main", "a.rs:1:2", "mutex 0.2; lost"),
            ),
            (
                blocked(&[waits("main", "lock", "mutex 0.1", "a.rs:1:2")]),
                blocked(&[waits("main", "read lock", "lock 0.1", "a.rs:1:2")]),
            ),
            (
                blocked(&[waits("main", "lock", "mutex 0.1", "a.rs:1:2")]),
                blocked(&[
                    waits("main", "lock", "mutex 0.1", "a.rs:1:2"),
                    waits("task 1", "lock", "mutex 0.1", "a.rs:1:2"),
                ]),
            ),
        ] {
            assert_ne!(failure(one), failure(other));
        }
    }

    #[test]
    fn a_monitors_finding_is_known_by_its_places() {
        let mut one = Finding::bare(FindingKind::DataRace, "main writes cell 0.1 at a.rs:1:2");
        one.monitor = FoundBy::Monitor("data-race".into());
        one.places.push(crate::report::NamedPlace {
            site: "a.rs:1:2".into(),
            what: "write".into(),
        });
        let mut other = one.clone();
        other.say("task 1 writes cell 1.3 at a.rs:1:2".into());
        assert_eq!(Failure::of(&one), Failure::of(&other));
        other.places[0].site = "a.rs:1:9".into();
        assert_ne!(Failure::of(&one), Failure::of(&other));
    }
}
