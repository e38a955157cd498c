//! The second step of a race, if it is known to be different when it comes before the first step.
//!
//! - A step that ended a wait with a limit may have to time out, because the step that ended the wait is missing. If
//!   the time-out is not due, the race cannot be reversed.
//! - A step that released the last share of a value leaves a share, and runs no destructor.

use super::super::sleep::Footprint;
use super::{Planned, Sequence};
use intermezzo_engine::record::Gates;
use intermezzo_engine::trace::{Class, Key, Limit, StepAccess, Trace};

impl Sequence {
    /// Determines the footprint of the second step of the race when it comes before the step `earlier`, after the other
    /// steps of the sequence. Returns `false` if it cannot be taken there.
    #[inline(always)]
    pub(in super::super) fn can_reverse(&mut self, trace: &Trace, earlier: usize) -> bool {
        let Some(later) = self.reversed else {
            return true;
        };
        if let Some(limit) = trace.limit(later) {
            return self.ends_timed_wait(trace, earlier, later, limit);
        }
        if trace.gives_up_share(later) {
            let only = trace.without_destructor(later, earlier);
            self.otherwise = only.map(|access| Footprint::from_slice(&[access]));
        }
        true
    }

    #[cold]
    fn ends_timed_wait(&mut self, trace: &Trace, earlier: usize, later: usize, limit: Limit) -> bool {
        let footprint = trace.footprint(later);
        let timed_out = footprint.iter().any(|access| access.key == Key::CLOCK);
        let own = footprint.first().filter(|_| limit.gates() != 0);
        let is_over = || match own {
            Some(own) => self.is_gate_open(trace, own.key, limit.gates(), earlier),
            None => self.is_notified(trace, earlier, later, footprint),
        };
        if !timed_out && is_over() {
            return true;
        }
        let time = trace.time_after(self.last_move(trace, earlier, Some(later)));
        let Some(class) = limit.class_at(time) else {
            return false;
        };
        let mut otherwise = Footprint::from_slice(footprint);
        otherwise.retain(|access| access.key != Key::CLOCK);
        otherwise.push(StepAccess {
            key: Key::CLOCK,
            class,
        });
        self.otherwise = Some(otherwise);
        true
    }

    /// Returns `true` if one of these gates is open after the steps before `earlier` and those of the sequence, without
    /// the second step of the race.
    fn is_gate_open(&self, trace: &Trace, key: Key, gates: Gates, earlier: usize) -> bool {
        let is_planned = |step| self.left().iter().any(|planned| planned.step() == Some(step));
        trace.is_gate_open_after(key, gates, |step| {
            step < earlier || self.reversed != Some(step) && is_planned(step)
        })
    }

    /// Returns the last step that moves time, among those before `earlier` and those of the sequence without `later`.
    /// Such steps do not commute, and the sequence contains the first of them.
    pub(super) fn last_move(&self, trace: &Trace, earlier: usize, later: Option<usize>) -> usize {
        let steps = self.left().iter().filter_map(Planned::step);
        let moves = steps.filter(|&step| Some(step) != later && trace.writes_time(step));
        moves.max().unwrap_or(0).max(earlier - 1)
    }

    /// Returns `true` if a notification still ends the wait of the step `later`, without the step `earlier`.
    fn is_notified(&self, trace: &Trace, earlier: usize, later: usize, footprint: &[StepAccess]) -> bool {
        let Some(own) = footprint.first() else {
            return true;
        };
        let notifies = StepAccess {
            key: own.key,
            class: Class::Add,
        };
        if !trace.footprint(earlier).contains(&notifies) {
            return true;
        }
        let accesses: Vec<usize> = trace.steps_on(own.key).take_while(|&step| step < later).collect();
        let notifications = accesses.into_iter().rev();
        let mut notifications = notifications.take_while(|&step| trace.footprint(step).contains(&notifies));
        notifications.any(|step| step < earlier || !trace.precedes(earlier, step) && step != earlier)
    }
}
