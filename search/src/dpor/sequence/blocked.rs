//! Sequences that end with an operation that was blocked at the end of the execution, or where it was cut.

use super::{Planned, Sequence, Sequences};
use intermezzo_engine::trace::{Blocked, Class, StepAccess, Trace, conflict};

impl Sequences {
    /// Like [`Sequences::reversing_up_to`], for a blocked operation. The sequence has steps up to the end, or the cut.
    pub(in super::super) fn reversing_blocked(
        &mut self,
        trace: &Trace,
        earlier: usize,
        blocked: &Blocked,
        steps: usize,
    ) -> Option<&mut Sequence> {
        self.begin(trace, earlier);
        self.add_independent(trace, earlier + 1, steps);
        let share = StepAccess {
            class: Class::Share,
            ..blocked.access
        };
        // Other conflicting steps come later, and so does everything after them. The exception is readers, which may
        // have released their shares.
        let mut later: Vec<usize> = Vec::new();
        self.sequence.retain(|planned| {
            let Some(step) = planned.step() else {
                return true;
            };
            let in_the_way = conflict(&[blocked.access], trace.footprint(step))
                && !trace.footprint(step).contains(&share)
                && !trace.precedes_blocked(step, blocked);
            let comes_later = in_the_way || later.iter().any(|&other| trace.precedes(other, step));
            if comes_later {
                later.push(step);
            }
            !comes_later
        });
        self.sequence.push(Planned::blocked(blocked.task));
        self.sequence.blocked = Some(*blocked);
        let waits_for_readers = share.conflicts(blocked.access);
        let is_possible = !waits_for_readers || self.sequence.give_back_shares(trace, share.key);
        is_possible.then_some(&mut self.sequence)
    }
}
