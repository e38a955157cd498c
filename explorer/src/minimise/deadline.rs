//! The deadline of minimising, which holds even if the budget of executions is not used up.
//!
//! Usually the budgets of executions and steps end it first. They are the same on each machine, and so is the result. The
//! clock is the last resort, and a note says if it was needed.

use crate::settings::Settings;
use intermezzo_engine::runtime::CutOffTime;
use intermezzo_engine::runtime::interrupt::interrupted;
use intermezzo_engine::words::seconds;
use std::time::{Duration, Instant};

/// The deadline of minimising.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    /// `None` for never.
    at: Option<Instant>,
    /// The time that was granted, for notes.
    limit: Duration,
}

impl Deadline {
    /// Makes the deadline for a search that took `elapsed`. It grants the rest of the search's own limit of time, or a
    /// quarter of that limit if less is left, and never more than the setting `minimise` has.
    pub(crate) fn new(settings: &Settings, elapsed: Duration) -> Deadline {
        let share = settings
            .time
            .map(|most| most.saturating_sub(elapsed).max(most / 4));
        let limit = match (settings.minimise_time, share) {
            (Some(most), Some(share)) => Some(most.min(share)),
            (most, share) => most.or(share),
        };
        Deadline {
            at: limit.and_then(|limit| Instant::now().checked_add(limit)),
            limit: limit.unwrap_or_default(),
        }
    }

    /// Returns the reason why minimising ended.
    pub(super) fn why(&self) -> String {
        if interrupted() {
            return "it was interrupted".into();
        }
        format!(
            "the limit of {} was reached (`time` in the setting `minimise`)",
            seconds(self.limit)
        )
    }

    /// Returns the time at which the executions of minimising are cut off.
    pub(super) fn cut_off_at(&self) -> CutOffTime {
        CutOffTime { at: self.at }
    }

    /// `true` if it has passed, or if the user interrupted the process.
    pub(super) fn is_over(&self) -> bool {
        interrupted() || self.at.is_some_and(|at| Instant::now() >= at)
    }
}
