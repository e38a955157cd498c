//! The second step of a race, where it comes before the first step and is known to be another one there.
//!
//! - A step that ended a wait with a limit may have to time out. If its time is not up, the race cannot be reversed.
//! - A step that gave up the last share of a value leaves a share, and runs no destructor.

use super::super::sleep::Footprint;
use super::{Planned, Sequence};
use intermezzo_engine::trace::{Class, Key, StepAccess, Trace};

impl Sequence {
    /// Works out the footprint of the second step of the race before the step `earlier`, after the other steps of the
    /// sequence. Returns `false` if it cannot be taken there.
    #[inline(always)]
    pub(in super::super) fn can_reverse(&mut self, trace: &Trace, earlier: usize) -> bool {
        let Some(later) = self.reversed else {
            return true;
        };
        if trace.is_timed_wait(later) {
            return self.ends_timed_wait(trace, earlier, later);
        }
        if trace.gives_up_share(later) {
            let only = trace.without_destructor(later, earlier);
            self.otherwise = only.map(|access| Footprint::from_slice(&[access]));
        }
        true
    }

    #[cold]
    fn ends_timed_wait(&mut self, trace: &Trace, earlier: usize, later: usize) -> bool {
        let footprint = trace.footprint(later);
        let timed_out = footprint.iter().any(|access| access.key == Key::CLOCK);
        if !timed_out && self.is_notified(trace, earlier, later, footprint) {
            return true;
        }
        let time = trace.time_after(self.last_move(trace, earlier, Some(later)));
        let Some(class) = trace.class_of_time_out(later, time) else {
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

    /// Returns the last step that moves time: of those before `earlier`, and those of the sequence without `later`. Such
    /// steps are in one order, and the sequence has the first of them.
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
