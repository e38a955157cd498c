//! The limits at which an exploration ends.

use crate::settings::{Settings, StrategyKind};
use std::num::NonZero;
use std::time::Duration;

/// The limit of executions for `auto` if neither executions nor time are limited: some seconds for a short test.
const EXECUTIONS: u64 = 50_000;

/// The factor by which that limit grows for a search of every trace that seems to be within reach of its end.
const WITHIN_REACH: u64 = 4;

/// The part of each limit that is kept for an exploration that follows: one `REST`th, but no more executions than it may run.
const REST: u32 = 4;

/// The limit of time for any search if neither executions nor time are limited.
const TIME: Duration = Duration::from_secs(120);

/// The time that an exploration after another one may take however short the first was, if no limit was set. Executions
/// under a memory model may take much longer than those before.
const TIME_AFTER: Duration = Duration::from_secs(5);

/// The limits at which an exploration ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) executions: Option<u64>,
    pub(super) time: Option<Duration>,
    /// The most executions that an exploration after this one may run, if the strategy has such a number.
    most_after: Option<u64>,
    /// `true` if they apply because none was set.
    pub(super) by_default: bool,
}

impl Limits {
    /// Returns the limits of these settings, or the default ones if none is set.
    pub(super) fn of(settings: &Settings) -> Limits {
        let by_default = settings.executions.is_none() && settings.time.is_none();
        let by_turns = settings.strategy.is_auto();
        Limits {
            executions: settings
                .executions
                .or((by_default && by_turns).then_some(EXECUTIONS)),
            time: settings.time.or(by_default.then_some(TIME)),
            most_after: match settings.strategy {
                StrategyKind::Auto(options) => options.weak_executions.map(NonZero::get),
                _ => None,
            },
            by_default,
        }
    }

    /// Returns these limits for a search that continues beyond the default limit of executions, because every trace seems
    /// to be within reach.
    pub(super) fn extended(self) -> Limits {
        Limits {
            executions: self.executions.map(|most| most * WITHIN_REACH),
            ..self
        }
    }

    /// Returns the limits of a search that ran this many executions.
    pub(super) fn of_search(settings: &Settings, executions: u64) -> Limits {
        let limits = Limits::of(settings);
        match limits.executions {
            Some(most) if limits.by_default && executions > most => limits.extended(),
            _ => limits,
        }
    }

    /// Returns the limit of executions, without the rest if that is kept.
    pub(super) fn executions(&self, keeps_rest: bool) -> Option<u64> {
        let most = self.executions?;
        Some(if keeps_rest {
            let rest = most / u64::from(REST);
            most - self.most_after.map_or(rest, |after| rest.min(after))
        } else {
            most
        })
    }

    /// Returns the limit of time, without the rest if that is kept.
    pub(super) fn time(&self, keeps_rest: bool) -> Option<Duration> {
        let most = self.time?;
        Some(if keeps_rest { most - most / REST } else { most })
    }

    /// No limits.
    pub(super) const NONE: Limits = Limits {
        executions: None,
        time: None,
        most_after: None,
        by_default: false,
    };
}

/// Returns what the settings allow after explorations of this many executions, which took this long in this process; `None`
/// for no limit. If another exploration follows (`keeps_rest`), a part is left for that; otherwise that part is allowed even
/// if writing checkpoints took the time.
pub(crate) fn limits_left(
    settings: &Settings,
    executions: u64,
    elapsed: Duration,
    keeps_rest: bool,
) -> (Option<u64>, Option<Duration>) {
    let limits = Limits::of_search(settings, executions);
    let time = limits.time(keeps_rest).map(|most| {
        let left = most.saturating_sub(elapsed);
        let left = if keeps_rest { left } else { left.max(most / REST) };
        let left = match limits.by_default {
            true => left.min(elapsed.max(TIME_AFTER)),
            false => left,
        };
        // A report may name it.
        Duration::from_millis(left.as_millis().try_into().unwrap_or(u64::MAX))
    });
    (
        limits
            .executions(keeps_rest)
            .map(|most| most.saturating_sub(executions)),
        time,
    )
}
