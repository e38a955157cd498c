//! Steps that release shares of values, in sequences with other steps before them than in the last execution.

use super::super::sleep::counts;
use super::{Done, Planned, Sequence};
use intermezzo_engine::trace::{Key, NOTHING, StepAccess, Trace};

impl Sequence {
    /// Notes that the step at a place was done, and makes `made` counts. Removes it, and the next steps of its task
    /// that consist only of such counts.
    #[inline(always)]
    pub(in super::super) fn take_counting(&mut self, trace: &Trace, place: usize, made: usize) {
        let planned = self.left()[place];
        let own = match planned.step() {
            Some(step) => counts(trace.footprint(step)),
            None => 0,
        };
        self.take(place);
        if own != made {
            self.count_otherwise(trace, planned.task, made.saturating_sub(own));
        }
    }

    #[inline(never)]
    fn count_otherwise(&mut self, trace: &Trace, task: u32, mut made: usize) {
        self.counts_otherwise = true;
        if let Some(done) = self.done.last_mut() {
            done.counts_known = false;
        }
        while made > 0
            && let Some(place) = self.place_of_step(task)
            && let Some(step) = self.left()[place].step()
            && counts(trace.footprint(step)) == trace.footprint(step).len()
            && trace.footprint(step).len() <= made
            && self.can_be_first(trace, place)
        {
            made -= trace.footprint(step).len();
            self.take(place);
        }
    }

    /// Returns `true` if a step of the sequence may leave one share of a value that an operation with this footprint
    /// releases: see [`Trace::makes_last`].
    ///
    /// The last execution may have released more shares before the step than the sequence does. Then the sequence
    /// leaves more.
    #[inline(never)]
    pub(super) fn makes_last(&self, trace: &Trace, step: usize, footprint: &[StepAccess]) -> bool {
        if !trace.makes_last(step, footprint) {
            return false;
        }
        if self.done.iter().any(|done| !done.counts_known) {
            return true;
        }
        let is_taken = |other: usize| {
            let left = self.left().iter().filter_map(Planned::step);
            left.chain(self.done.iter().map(|done| done.in_sequence as usize))
                .any(|taken| taken == other)
        };
        let outside = |key: Key| {
            let of_key = |done: &&Done| done.in_sequence == NOTHING && done.key == Some(key);
            self.done.iter().filter(of_key).count()
        };
        !trace.leaves_more(step, footprint, self.depth, is_taken, outside)
    }
}
