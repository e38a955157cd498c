//! When two executions show the same failure.
//!
//! The same: findings of one kind, by one monitor, in the same words, but that tasks and variables may have other names
//! (`task 1`, `mutex 0.2`) and addresses other values, and what a message lists of several tasks may come in another
//! order. Places in the source and values count: an assertion that fails with another value is another failure.

use crate::report::Finding;
use intermezzo_sdk::{FindingKind, Severity};

/// A failure, up to names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    kind: FindingKind,
    severity: Severity,
    monitor: String,
    parts: Vec<String>,
}

impl Failure {
    /// The failure that a finding shows.
    pub(super) fn of(finding: &Finding) -> Failure {
        let mut parts: Vec<String> = finding.message.split("; ").map(without_names).collect();
        parts.sort();
        Failure {
            kind: finding.kind.clone(),
            severity: finding.severity,
            monitor: finding.monitor.clone(),
            parts,
        }
    }

    /// The one of these findings that shows the failure.
    pub(super) fn among(&self, findings: Vec<Finding>) -> Option<Finding> {
        findings.into_iter().find(|finding| Failure::of(finding) == *self)
    }
}

/// The text without what names tasks and variables: `main`, `task 1.2`, `mutex 0.2`; and without addresses.
fn without_names(text: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in text.split(' ') {
        let bare = word.trim_end_matches([',', ':', ';']);
        let numbered =
            |bare: &str| !bare.is_empty() && bare.split('.').all(|part| !part.is_empty() && is_number(part));
        let named = match words.last() {
            Some(&"task") => numbered(bare),
            _ => bare.contains('.') && numbered(bare),
        };
        let rest = &word[bare.len()..];
        if bare == "main" || named {
            if named && words.last() == Some(&"task") {
                words.pop();
            }
            words.push("NAME");
            words.push(rest);
        } else if bare.strip_prefix("0x").is_some_and(is_hexadecimal) {
            words.push("ADDRESS");
            words.push(rest);
        } else {
            words.push(word);
        }
    }
    words.join(" ")
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_hexadecimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Environment;
    use crate::schedule::Schedule;

    fn failure(message: &str) -> Failure {
        Failure::of(&Finding {
            kind: FindingKind::Deadlock,
            monitor: "engine".into(),
            message: message.into(),
            tasks: Vec::new(),
            events: Vec::new(),
            schedule: Schedule {
                program: String::new(),
                environment: Environment::default(),
                steps: 0,
                fair_yields: 1,
                awaits: true,
                known_loops: Vec::new(),
                data_points: Vec::new(),
                breakpoints: Default::default(),
                choices: Vec::new(),
            },
            count: 1,
            replays: None,
            found_by: None,
            places: Vec::new(),
            deeds: Vec::new(),
            evidence: Default::default(),
            suggestion: None,
            severity: Severity::Error,
        })
    }

    #[test]
    fn names_and_their_order_do_not_matter() {
        for (one, other) in [
            (
                "task 1 panicked at a.rs:1:2: boom",
                "main panicked at a.rs:1:2: boom",
            ),
            (
                "task 1.2 waits to lock mutex 0.2 at a.rs:1:2",
                "task 12 waits to lock mutex 3.1 at a.rs:1:2",
            ),
            (
                "main waits at a.rs:1:2; task 1 waits at a.rs:5:2",
                "task 2 waits at a.rs:5:2; main waits at a.rs:1:2",
            ),
            ("at 0x7f10 of main", "at 0x55aa of main"),
        ] {
            assert_eq!(failure(one), failure(other));
        }
    }

    #[test]
    fn words_places_and_values_matter() {
        for (one, other) in [
            (
                "main panicked at a.rs:1:2: boom",
                "main panicked at a.rs:1:3: boom",
            ),
            ("left: 1", "left: 2"),
            ("main waits to lock mutex 0.1", "main waits to read lock 0.1"),
            (
                "main waits at a.rs:1:2",
                "main waits at a.rs:1:2; task 1 waits at a.rs:1:2",
            ),
        ] {
            assert_ne!(failure(one), failure(other));
        }
    }
}
