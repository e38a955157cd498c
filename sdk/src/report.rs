//! What a monitor reports.

use crate::{EventId, FindingKind, SiteId};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Severity {
    /// Worth knowing. The exploration goes on, and its verdict is not changed.
    Warning = 0,
    /// The test fails.
    #[default]
    Error = 1,
}

/// A finding, as its monitor reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The kind of finding.
    pub kind: FindingKind,
    /// How bad it is.
    pub severity: Severity,
    /// What happened, for people. The same words are the same finding, however many executions show it: so no
    /// numbers of tasks, events or executions in it, but names.
    pub message: String,
    /// The events concerned, most telling first.
    pub events: Vec<EventId>,
    /// Where in the source what it is about is done, as far as events do not say: the two accesses of a data race. With
    /// `preempt_at_races` these places become schedule points.
    pub sites: Vec<SiteId>,
    /// What it is about and what is no event, in words: the two accesses of a data race.
    pub deeds: Vec<Deed>,
    /// What would mend it, for people.
    pub suggestion: Option<String>,
}

/// What a task did, for a finding that is about it, where events do not say: an access to plain memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// The last event of the task by then, or the event that it was.
    pub after: EventId,
    /// Where in the source it is.
    pub site: SiteId,
    /// In words: `write cell 1.1`.
    pub what: String,
}

impl Report {
    /// An error of that kind.
    pub fn new(kind: FindingKind, message: impl Into<String>) -> Report {
        Report {
            kind,
            severity: Severity::Error,
            message: message.into(),
            events: Vec::new(),
            sites: Vec::new(),
            deeds: Vec::new(),
            suggestion: None,
        }
    }

    /// It is about these events, most telling first.
    pub fn events(mut self, events: impl IntoIterator<Item = EventId>) -> Report {
        self.events.extend(events);
        self
    }

    /// It is about what is done at these places.
    pub fn sites(mut self, sites: impl IntoIterator<Item = SiteId>) -> Report {
        self.sites.extend(sites);
        self
    }

    /// It is about these deeds.
    pub fn deeds(mut self, deeds: impl IntoIterator<Item = Deed>) -> Report {
        self.deeds.extend(deeds);
        self
    }

    /// It is a warning, not an error.
    pub fn warning(mut self) -> Report {
        self.severity = Severity::Warning;
        self
    }

    /// This would mend it.
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Report {
        self.suggestion = Some(suggestion.into());
        self
    }
}
