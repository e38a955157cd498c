//! Parts of reports that the engine fills in: the events of a finding, the places and accesses that it names, and the
//! figures of armed breakpoints.

use crate::serial::{Deserialize, Serialize};
use crate::words::plural;
use intermezzo_breakpoint::Statistics;
use intermezzo_sdk::SyncVarOp;
use std::fmt;

/// One event of a failing execution, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingEvent {
    /// `task.index`, with the index from 1 in its task.
    pub id: String,
    /// The name of the task.
    pub task: String,
    /// The operation: `lock`, `store`.
    pub op: String,
    /// Its effect, if that is unusual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// The event whose store it read, if a newer one was there. Absent for a value that no operation has stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The events with earlier stores that are newer than the store that it read or made, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newer: Vec<String>,
    /// The memory ordering, for atomics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// The name of the variable, or empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub var: String,
    /// The value read, as bits, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
    /// The value written, as bits, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    /// `file:line:column`; empty for the beginning and end of the test's own body.
    pub site: String,
    /// `true` if the task of the event before could have continued, and was preempted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preempts: bool,
    /// `true` if the finding is about this event.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub concerned: bool,
}

impl FindingEvent {
    /// Returns `true` if the event may change its variable for other tasks.
    pub fn may_change(&self) -> bool {
        self.written.is_some() || self.read.is_none()
    }
}

/// An unusual effect of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// No effect: it belongs to a round of a loop that only waits, and the round is left out of the trace.
    Elided,
    /// It read a store although there was a newer one, under a memory model.
    Stale,
    /// Its store comes before a newer one that was performed earlier, under a memory model.
    Overwritten,
    /// A wait ended without a notification, or a weak exchange failed although the value was the expected one.
    Spurious,
    /// An allocation got memory that was freed before.
    Reused,
}

impl Effect {
    /// Every effect.
    pub const ALL: [Effect; 5] = [
        Effect::Elided,
        Effect::Stale,
        Effect::Overwritten,
        Effect::Spurious,
        Effect::Reused,
    ];
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Effect::Elided => "no effect",
            Effect::Stale => "stale",
            Effect::Overwritten => "behind a newer store",
            Effect::Spurious => "spuriously",
            Effect::Reused => "gets freed memory",
        })
    }
}

/// Returns the values that an operation read and wrote, if they are useful to a reader.
pub fn values(op: SyncVarOp, read: u64, written: u64) -> (Option<u64>, Option<u64>) {
    let carries = matches!(
        op,
        SyncVarOp::AtomicLoad
            | SyncVarOp::AtomicStore
            | SyncVarOp::AtomicRmw
            | SyncVarOp::AtomicRmwFailed
            | SyncVarOp::CountUp
            | SyncVarOp::CountDown
            | SyncVarOp::CountRead
    );
    (
        (carries && op.is_read() || op == SyncVarOp::Choice).then_some(read),
        (carries && op.is_write()).then_some(written),
    )
}

/// A place that a finding names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedPlace {
    /// `file:line:column`.
    pub site: String,
    /// The object that is accessed there, as text.
    pub what: String,
}

/// An access to plain memory that a finding concerns, and that is not an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingDeed {
    /// The last event of the task before the access, with no operation of another task in between; or the access's own
    /// event, if it had one.
    pub after: String,
    /// The name of the task.
    pub task: String,
    /// The access and its object: `write cell 1.1`.
    pub what: String,
    /// `file:line:column`.
    pub site: String,
}

/// The figures of an armed breakpoint, over all executions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakpointFigures {
    /// The name of the breakpoint; for one between places in the source, its text in the settings.
    pub name: String,
    /// The number of times a task reached one of its places while its local predicate held.
    pub visits: u64,
    /// The number of these visits that were skipped, or that came after the maximum number of hits.
    pub skipped: u64,
    /// The number of times tasks met there.
    pub hits: u64,
    /// The number of times a task waited until no other task could continue.
    pub timeouts: u64,
    /// The number of hits after which the second task continued before the first one's turn was over, because no other
    /// task could continue.
    pub unordered: u64,
    /// The number of executions in which tasks met there.
    pub executions_hit: u64,
}

impl BreakpointFigures {
    /// Returns the figures of one execution.
    pub fn of(statistics: &Statistics) -> BreakpointFigures {
        let Statistics {
            name,
            visits,
            skipped,
            hits,
            timeouts,
            unordered,
        } = statistics.clone();
        BreakpointFigures {
            name,
            visits,
            skipped,
            hits,
            timeouts,
            unordered,
            executions_hit: u64::from(hits > 0),
        }
    }

    /// Adds the figures of other executions to these, breakpoint by breakpoint.
    pub fn add(sum: &mut Vec<BreakpointFigures>, others: &[BreakpointFigures]) {
        for other in others {
            match sum.iter_mut().find(|known| known.name == other.name) {
                None => sum.push(other.clone()),
                Some(known) => {
                    known.visits += other.visits;
                    known.skipped += other.skipped;
                    known.hits += other.hits;
                    known.timeouts += other.timeouts;
                    known.unordered += other.unordered;
                    known.executions_hit += other.executions_hit;
                }
            }
        }
    }
}

impl fmt::Display for BreakpointFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BreakpointFigures {
            name,
            visits,
            skipped,
            hits,
            timeouts,
            unordered,
            executions_hit,
        } = self;
        if *visits == 0 {
            return write!(f, "{name}: no task reached any of its places");
        }
        write!(
            f,
            "{name}: hit in {executions_hit} {} ({visits} {}, {skipped} skipped, {hits} {}, {timeouts} timed out",
            plural(*executions_hit, "execution"),
            plural(*visits, "visit"),
            plural(*hits, "hit"),
        )?;
        match unordered {
            0 => f.write_str(")"),
            _ => write!(f, ", {unordered} out of order)"),
        }
    }
}
