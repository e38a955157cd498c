//! Sequences that end with an operation that never happened, because its task was blocked until the end.

use super::{Planned, Sequence, Sequences};
use intermezzo_engine::trace::{Blocked, Trace, conflict};

impl Sequences {
    /// Like [`Sequences::reversing`], for an operation that never happened.
    pub(in super::super) fn reversing_blocked(
        &mut self,
        trace: &Trace,
        earlier: usize,
        blocked: &Blocked,
        steps: usize,
    ) -> &mut Sequence {
        self.begin(trace, earlier);
        self.add_independent(trace, earlier + 1, steps);
        // Other conflicting steps come later, and so does everything after them.
        let mut later: Vec<usize> = Vec::new();
        self.sequence.retain(|planned| {
            let Some(step) = planned.step() else {
                return true;
            };
            let in_the_way =
                conflict(&[blocked.access], trace.footprint(step)) && !trace.precedes_blocked(step, blocked);
            let comes_later = in_the_way || later.iter().any(|&other| trace.precedes(other, step));
            if comes_later {
                later.push(step);
            }
            !comes_later
        });
        self.sequence.push(Planned::blocked(blocked.task));
        self.sequence.blocked = Some(*blocked);
        &mut self.sequence
    }
}
