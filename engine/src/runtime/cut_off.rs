//! The time at which an execution that still runs is cut off.
//!
//! A search has a limit of time, and a single execution may take longer than that. So an execution checks the clock
//! every few thousand steps, or more often if its steps are slow. The steps are counted anyway, and compared with the
//! number of the next check in place of the limit on steps. So a check costs nothing at the other steps.
//!
//! With a limit on the time of each execution, it checks the clock at every step, so that it ends before the next
//! operation once the time is over. A task that performs no operation is the watchdog's concern.
//!
//! An execution that is cut off is abandoned like one that departs from its schedule: its prescribed choices are
//! prescribed once more, and the search does not learn of it.

use super::dispatch::Next;
use super::interrupt::interrupted;
use super::naming::site_name;
use super::stop::Stop;
use super::{Engine, Runtime};
use crate::record::Status;
use crate::strategy::TimeIsOver;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The time at which executions are cut off.
#[derive(Clone, Copy, Debug, Default)]
pub struct CutOffTime {
    /// The time; `None` for never. An interrupt by the user cuts them off in any case.
    pub at: Option<Instant>,
}

impl CutOffTime {
    /// Returns `true` if a running execution must be cut off now.
    fn is_due(self, now: Instant) -> bool {
        interrupted() || self.at.is_some_and(|at| now >= at)
    }

    /// Returns a function that tells if a search has to stop preparing an execution. The search gets some extra time to
    /// finish, because one that stops there cannot continue from a checkpoint.
    fn for_search(self) -> TimeIsOver {
        let noticed = OnceLock::new();
        Arc::new(move || {
            let now = Instant::now();
            self.is_due(now) && now.saturating_duration_since(*noticed.get_or_init(|| now)) >= GRACE
        })
    }
}

/// The time that a search has to prepare an execution once its time is over.
const GRACE: Duration = Duration::from_secs(1);

/// An execution that was cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutOffExecution {
    /// The failures that it had shown by then, in words. They are not findings, because its schedule has no end.
    pub shown: Vec<String>,
}

/// The number of steps between two checks of the clock: initially, and at most.
const STEPS_FIRST: u64 = 64;
const STEPS_MOST: u64 = 4096;

/// The approximate time between two checks of the clock.
const TIME: Duration = Duration::from_millis(5);

/// The checks of the clock by executions.
#[derive(Debug)]
pub(super) struct Looks {
    cut_off_at: Option<CutOffTime>,
    /// The step after which the execution does not simply continue: it checks the clock, or its limit is reached.
    pub(super) after: u64,
    /// The step after which the limit on steps is reached.
    most_steps: u64,
    /// The number of steps between two checks.
    every: u64,
    /// The time of the last check in this execution, or of its beginning, if it is known.
    last: Option<Instant>,
    /// `true` until the first execution begins.
    new: bool,
    /// The longest time that an execution may take.
    most: Option<Duration>,
    /// The beginning of this execution, if there is such a limit.
    began: Option<Instant>,
}

/// The reason to end an execution, found by a check of the clock.
enum Due {
    /// The time of the search is over.
    CutOff,
    /// The execution has taken longer than this.
    TookTooLong(Duration),
}

impl Looks {
    pub(super) fn new(most: Option<Duration>) -> Looks {
        Looks {
            cut_off_at: None,
            after: 0,
            most_steps: 0,
            every: STEPS_FIRST,
            last: None,
            new: true,
            most,
            began: None,
        }
    }

    /// Begins an execution with this limit on steps.
    pub(super) fn begin(&mut self, steps: u64) {
        self.most_steps = steps;
        if self.most.is_some() {
            (self.after, self.began) = (0, Some(Instant::now()));
            return;
        }
        self.after = match self.cut_off_at {
            Some(_) => steps.min(self.every),
            None => steps,
        };
        // Long executions have to find out how slow their steps are. That of short ones does not matter.
        self.last = (self.cut_off_at.is_some() && std::mem::take(&mut self.new)).then(Instant::now);
    }

    /// Sets the limit to `steps` steps after this one.
    pub(super) fn count_from(&mut self, step: u64, steps: u64) {
        self.most_steps = step.saturating_add(steps);
        if self.cut_off_at.is_none() && self.most.is_none() {
            self.after = self.most_steps;
        }
    }

    /// Checks the clock after `step` steps. Returns the reason if the execution has to end.
    fn look(&mut self, step: u64) -> Option<Due> {
        let steps = self.most_steps;
        if let (Some(most), Some(began)) = (self.most, self.began) {
            let now = Instant::now();
            self.after = step;
            return match self.cut_off_at {
                Some(at) if at.is_due(now) => Some(Due::CutOff),
                _ => (now.saturating_duration_since(began) > most).then_some(Due::TookTooLong(most)),
            };
        }
        let Some(cut_off_at) = self.cut_off_at else {
            self.after = steps;
            return None;
        };
        let now = Instant::now();
        if let Some(last) = self.last {
            let each = now.saturating_duration_since(last).as_nanos() / u128::from(self.every);
            let every = TIME.as_nanos() / each.max(1);
            self.every = u64::try_from(every).unwrap_or(STEPS_MOST).clamp(1, STEPS_MOST);
        }
        self.last = Some(now);
        self.after = steps.min(step.saturating_add(self.every));
        cut_off_at.is_due(now).then_some(Due::CutOff)
    }

    /// Sets the time at which executions are cut off; `None` if they are not.
    pub(super) fn cut_off(&mut self, cut_off_at: Option<CutOffTime>) {
        self.cut_off_at = cut_off_at;
    }

    /// Returns a function that tells whether the time of a search is over, if it has an end.
    pub(super) fn for_search(&self) -> Option<TimeIsOver> {
        self.cut_off_at.map(CutOffTime::for_search)
    }
}

impl Engine {
    /// Counts the steps of the execution from here on, for their limit.
    pub fn reset_step_count(self) {
        self.with(|rt| rt.looks.count_from(rt.record.steps, rt.limits.steps));
    }
}

impl Runtime {
    /// Checks the limit on steps and the clock. Returns the next action if the execution has to end.
    #[cold]
    #[inline(never)]
    pub(super) fn look_at_limits(&mut self) -> Option<Next> {
        if self.record.steps > self.looks.most_steps {
            self.end.stop = Some(match self.limits.long_allowed {
                true => Stop::GivenUp,
                false => Stop::StepLimit(self.endless()),
            });
            return Some(Next::Stop);
        }
        match self.looks.look(self.record.steps)? {
            Due::CutOff => {
                self.depart();
                self.end.stop = Some(Stop::CutOff);
            }
            Due::TookTooLong(limit) => {
                let task = &self.tasks[self.tasks.current()];
                let site = (task.status != Status::Ended).then(|| site_name(task.pending.access.site));
                self.end.stop = Some(Stop::TookTooLong { limit, site });
            }
        }
        Some(Next::Stop)
    }

    /// Returns the failures that the execution has shown.
    pub(super) fn shown(&mut self) -> Vec<String> {
        let panics = self.end.panics.iter().filter(|note| note.unhandled());
        let panics = panics.map(|note| format!("panic: {}", note.message));
        let mut shown: Vec<String> = panics.collect();
        let reported = std::mem::take(&mut self.monitors.listeners.reported);
        let errors = reported.into_iter().map(|reported| reported.report);
        let errors = errors.filter(|report| report.severity == intermezzo_sdk::Severity::Error);
        shown.extend(errors.map(|report| format!("{}: {}", report.kind, report.message)));
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_time_the_limit_of_steps_is_the_only_one() {
        let mut looks = Looks::new(None);
        looks.begin(20_000);
        assert_eq!(looks.after, 20_000);
    }

    #[test]
    fn steps_are_counted_from_where_the_test_says() {
        let mut looks = Looks::new(None);
        looks.begin(20_000);
        looks.count_from(500, 20_000);
        assert_eq!((looks.after, looks.most_steps), (20_500, 20_500));
        looks.cut_off(Some(CutOffTime::default()));
        looks.begin(20_000);
        looks.count_from(STEPS_FIRST, STEPS_FIRST);
        // It looks at the clock before, and no later than at the limit.
        assert_eq!(looks.after, STEPS_FIRST);
        looks.every = STEPS_MOST;
        assert!(looks.look(STEPS_FIRST).is_none());
        assert_eq!(looks.after, 2 * STEPS_FIRST);
    }

    #[test]
    fn slow_steps_look_more_often_and_fast_ones_less() {
        let mut looks = Looks::new(None);
        looks.cut_off(Some(CutOffTime::default()));
        looks.begin(20_000);
        assert_eq!(looks.after, STEPS_FIRST);
        looks.last = Some(Instant::now() - Duration::from_secs(1));
        assert!(looks.look(STEPS_FIRST).is_none());
        assert_eq!((looks.every, looks.after), (1, STEPS_FIRST + 1));
        looks.every = STEPS_MOST;
        assert!(looks.look(STEPS_FIRST + 1).is_none());
        assert_eq!(
            (looks.every, looks.after),
            (STEPS_MOST, STEPS_FIRST + 1 + STEPS_MOST)
        );
        looks.begin(1000);
        assert_eq!(looks.after, 1000);
    }

    #[test]
    fn it_is_due_once_the_time_has_come() {
        let now = Instant::now();
        let later = now + Duration::from_secs(60);
        assert!(!CutOffTime::default().is_due(now));
        assert!(!CutOffTime { at: Some(later) }.is_due(now));
        assert!(CutOffTime { at: Some(later) }.is_due(later));
    }
}
