//! When minimising has to end, whatever executions it has left.
//!
//! Executions and steps bound it first: they are the same on each machine, and so is what comes of them. The clock is
//! the last resort, and a note says where it was needed.

use crate::settings::Settings;
use intermezzo_engine::runtime::interrupt::interrupted;
use std::time::{Duration, Instant};

/// When minimising has to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    /// `None` for never.
    at: Option<Instant>,
    /// The time there was, for notes.
    limit: Duration,
}

impl Deadline {
    /// A deadline as the settings have it, for a search that took so long: what is left of its own limit of time, or a
    /// quarter of that, and never more than `minimise_time`.
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

    /// Says why minimising ended.
    pub(super) fn why(&self) -> String {
        if interrupted() {
            return "it was interrupted".into();
        }
        let seconds = self.limit.as_secs_f64();
        format!("there was no more time than {seconds} seconds for it (`minimise_time`)")
    }

    /// `true` if it has passed, or the user wants all of it to end.
    pub(super) fn is_over(&self) -> bool {
        interrupted() || self.at.is_some_and(|at| Instant::now() >= at)
    }
}
