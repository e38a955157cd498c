//! The findings that monitors report.

use crate::{EventId, FindingKind, SiteId};

/// The severity of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Severity {
    /// Worth knowing. The exploration continues, and its verdict is not changed.
    Warning = 0,
    /// The test fails.
    #[default]
    Error = 1,
}

/// A finding, as its monitor reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorFinding {
    /// The kind of finding.
    pub kind: FindingKind,
    /// The severity.
    pub severity: Severity,
    /// A description for people. Reports with the same message are one finding, however many executions show it. So
    /// it contains names, and no numbers of tasks, events or executions.
    pub message: String,
    /// The events concerned, the most important first.
    pub events: Vec<EventId>,
    /// Source places of the finding that are not those of its events: the two accesses of a data race. With
    /// `data_points = "races"` these places become schedule points.
    pub sites: Vec<SiteId>,
    /// Actions of the finding that are not events, in words: the two accesses of a data race.
    pub deeds: Vec<Deed>,
    /// A suggested fix, for people.
    pub suggestion: Option<String>,
}

/// An action of a finding that is not an event: an access to plain memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// The task's last event at that time, or the event itself.
    pub after: EventId,
    /// The source place of the action.
    pub site: SiteId,
    /// A description: `write cell 1.1`.
    pub what: String,
}

impl MonitorFinding {
    /// Creates an error of that kind.
    pub fn new(kind: FindingKind, message: impl Into<String>) -> MonitorFinding {
        MonitorFinding {
            kind,
            severity: Severity::Error,
            message: message.into(),
            events: Vec::new(),
            sites: Vec::new(),
            deeds: Vec::new(),
            suggestion: None,
        }
    }

    /// Adds the events concerned, the most important first.
    pub fn events(mut self, events: impl IntoIterator<Item = EventId>) -> MonitorFinding {
        self.events.extend(events);
        self
    }

    /// Adds the source places concerned.
    pub fn sites(mut self, sites: impl IntoIterator<Item = SiteId>) -> MonitorFinding {
        self.sites.extend(sites);
        self
    }

    /// Adds the deeds concerned.
    pub fn deeds(mut self, deeds: impl IntoIterator<Item = Deed>) -> MonitorFinding {
        self.deeds.extend(deeds);
        self
    }

    /// Makes it a warning instead of an error.
    pub fn warning(mut self) -> MonitorFinding {
        self.severity = Severity::Warning;
        self
    }

    /// Sets the suggested fix.
    pub fn suggest(mut self, suggestion: impl Into<String>) -> MonitorFinding {
        self.suggestion = Some(suggestion.into());
        self
    }
}
