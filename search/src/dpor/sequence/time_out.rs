//! Sequences that end with the time-out of a task that was woken in another way.

use super::super::sleep::{Footprint, time_out};
use super::{Planned, Sequence, Sequences};
use intermezzo_engine::trace::{EndedWait, Trace, conflict};
use smallvec::SmallVec;

impl Sequences {
    /// Returns the steps after `earlier` that need not come after it, of the first `steps` steps, followed by the
    /// time-out of a task whose wait was ended in another way. The step that ended it is left out, with everything that
    /// comes after it.
    ///
    /// Returns `None` if the time-out is not due then, if it commutes with `earlier`, or if it commutes with all other
    /// steps, so that it can come before them.
    pub(in super::super) fn timing_out(
        &mut self,
        trace: &Trace,
        wait: &EndedWait,
        earlier: usize,
        steps: usize,
    ) -> Option<&mut Sequence> {
        let [on_key, mut on_clock] = time_out(wait.key);
        if !conflict(&[on_key, on_clock], &trace.footprint_with_elided(earlier)) {
            return None;
        }
        self.begin(trace, earlier);
        self.add_independent(trace, earlier + 1, steps);
        let mut later: SmallVec<[usize; 4]> = SmallVec::new();
        self.sequence.retain(|planned| {
            planned.step().is_none_or(|step| {
                let begins = step == wait.ender as usize || planned.task == wait.task;
                let comes_later = begins || later.iter().any(|&other| trace.precedes(other, step));
                if begins {
                    later.push(step);
                }
                !comes_later
            })
        });
        let time = trace.time_after(self.sequence.last_move(trace, earlier, None));
        on_clock.class = wait.limit.class_at(time)?;
        let footprint = [on_key, on_clock];
        let commutes = |step: usize| !conflict(&footprint, &trace.footprint_with_elided(step));
        if self
            .sequence
            .left()
            .iter()
            .filter_map(Planned::step)
            .all(commutes)
        {
            return None;
        }
        self.sequence.otherwise = Some(Footprint::from_buf(footprint));
        self.sequence.push(Planned::blocked(wait.task));
        Some(&mut self.sequence)
    }
}
