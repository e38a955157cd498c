//! A finding with a message only, for tests.

use super::{Finding, FindingDetail, FoundBy};
use intermezzo_engine::schedule::Schedule;
use intermezzo_sdk::{FindingKind, Severity};

impl Finding {
    /// Makes an error with nothing but a message.
    pub(crate) fn bare(kind: FindingKind, message: &str) -> Finding {
        Finding {
            kind,
            severity: Severity::Error,
            monitor: FoundBy::Engine,
            message: message.into(),
            detail: FindingDetail::Message { text: message.into() },
            suggestion: None,
            tasks: Vec::new(),
            events: Vec::new(),
            schedule: Schedule {
                program: String::new(),
                binary: Default::default(),
                monitors: Vec::new(),
                warm_up: 0,
                environment: crate::Environment::calm(),
                steps: 1,
                fair_yields: 1,
                all_listed: false,
                awaits: true,
                known_loops: Vec::new(),
                data_points: Vec::new(),
                breakpoints: Default::default(),
                choices: Vec::new(),
            },
            count: 1,
            found_by: None,
            replays: None,
            places: Vec::new(),
            deeds: Vec::new(),
            names: Default::default(),
            functions: Default::default(),
            layout: Default::default(),
            graph: None,
        }
    }
}
