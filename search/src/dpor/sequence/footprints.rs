//! The footprints of the steps of a sequence.

use super::super::sleep::only_key;
use super::{Planned, Sequence};
use intermezzo_engine::trace::{Key, StepAccess, Trace};

impl Sequence {
    /// Passes the footprint of a step of the sequence to `tell`.
    #[inline(always)]
    pub(super) fn with_footprint<R>(
        &self,
        trace: &Trace,
        planned: &Planned,
        tell: impl FnOnce(&[StepAccess]) -> R,
    ) -> R {
        match planned.step() {
            Some(step) if self.reversed != Some(step) => match trace.has_voids() {
                false => tell(trace.footprint(step)),
                true => tell(&trace.footprint_with_elided(step)),
            },
            step => self.with_footprint_of_last(trace, step, tell),
        }
    }

    /// Does the same for the second step of the race, or a blocked operation.
    #[inline(never)]
    fn with_footprint_of_last<R>(
        &self,
        trace: &Trace,
        step: Option<usize>,
        tell: impl FnOnce(&[StepAccess]) -> R,
    ) -> R {
        match (step, self.blocked, &self.otherwise) {
            (None, Some(blocked), _) => tell(&[blocked.access]),
            (_, _, Some(otherwise)) => tell(otherwise),
            // An operation in it that failed may succeed when it comes before the race.
            (Some(step), _, None) if self.fate.is_none() => trace.with_possible_footprint(step, tell),
            (Some(step), _, None) => tell(&trace.footprint_with_elided(step)),
            (None, None, None) => tell(&[]),
        }
    }

    /// Returns the distance from the step at a place back to the last one that accesses this key and no other, among
    /// the remaining steps and those that are done. Returns `None` if there is none, or if it is not certain.
    #[inline(never)]
    pub(in super::super) fn back_from(&self, trace: &Trace, place: usize, key: Key) -> Option<usize> {
        if self.counts_otherwise {
            return None;
        }
        let left = self.left()[..place].iter().rev();
        let keys = left.map(|planned| self.with_footprint(trace, planned, only_key));
        let done = self.done.iter().rev().map(|done| done.key(trace, self));
        Some(keys.chain(done).position(|one| one == Some(key))? + 1)
    }
}
