//! Sequences that end with a task that takes a lock exclusively after readers shared it.
//!
//! The operations of readers commute, so a sequence may contain those of readers other than the one in the race. But
//! its last step is possible only while no task has a share. So the sequence keeps the shares that are released in it,
//! and leaves out the others.

use super::{Planned, Sequence};
use intermezzo_engine::trace::{Key, ShareChange, Trace, conflict};
use smallvec::SmallVec;

/// The shares of a task, and the step in which it took the first of them.
struct Shares {
    task: u32,
    held: u32,
    since: usize,
}

impl Sequence {
    /// Leaves out the shares that are not released, with everything that comes after them. Returns `false` if the last
    /// step is still not possible.
    #[cold]
    pub(super) fn give_back_shares(&mut self, trace: &Trace, key: Key) -> bool {
        let Some(last) = self.pop() else {
            return true;
        };
        let is_free = self.leave_out_shares(trace, key);
        self.push(last);
        is_free && !self.left_out.iter().any(|&step| self.last_knows(trace, step))
    }

    /// Does that for the steps before the last. Returns `false` if a share that was taken before the sequence is not
    /// released in it.
    fn leave_out_shares(&mut self, trace: &Trace, key: Key) -> bool {
        let changes: Vec<ShareChange> = trace.share_changes(key).collect();
        loop {
            let mut all: SmallVec<[Shares; 4]> = SmallVec::new();
            for change in &changes {
                if change.step >= self.depth && !self.has_step(change.step) {
                    continue;
                }
                let own = all.iter().position(|own| own.task == change.task);
                let own = own.unwrap_or_else(|| {
                    let (task, since) = (change.task, change.step);
                    all.push(Shares { task, held: 0, since });
                    all.len() - 1
                });
                // A guard may have been passed to the task that drops it.
                let given = all.iter().position(|other| other.held > 0);
                let at = match (change.takes, all[own].held, given) {
                    (false, 0, Some(given)) => given,
                    _ => own,
                };
                let own = &mut all[at];
                match change.takes {
                    true if own.held == 0 => (own.held, own.since) = (1, change.step),
                    true => own.held += 1,
                    false => own.held = own.held.saturating_sub(1),
                }
            }
            all.retain(|own| own.held > 0);
            if all.iter().any(|own| own.since < self.depth) {
                return false;
            }
            if all.is_empty() {
                return true;
            }
            self.left_out.extend(all.iter().map(|own| own.since));
            // The steps that come after them may have released other shares.
            self.leave_out(trace);
        }
    }

    /// Removes the steps in `left_out`, and all steps that come after one of them.
    #[cold]
    pub(super) fn leave_out(&mut self, trace: &Trace) {
        let left_out = std::mem::take(&mut self.left_out);
        self.retain(|planned| {
            let comes_after = |step: usize| {
                let precedes = |&out: &usize| out <= step && trace.precedes(out, step);
                left_out.iter().any(precedes)
            };
            !planned.step().is_some_and(comes_after)
        });
        self.left_out = left_out;
    }

    /// Returns `true` if a step of the last execution is one of the sequence, whose steps are in order.
    fn has_step(&self, step: usize) -> bool {
        let at = self.left().binary_search_by_key(&Some(step), Planned::step);
        at.is_ok()
    }

    /// Returns `true` if a step happened before the last one for a reason other than the race.
    fn last_knows(&self, trace: &Trace, step: usize) -> bool {
        if let Some(blocked) = &self.blocked {
            return trace.precedes_blocked(step, blocked);
        }
        let of = &trace.steps()[step];
        self.reversed.is_some_and(|later| {
            let known = trace.known_before(later).get(of.task as usize);
            known.is_some_and(|&entries| entries >= of.index)
        })
    }

    /// Returns the steps of the sequence that do not commute with the blocked operation.
    pub(super) fn shares_before_blocked(&self, trace: &Trace) -> SmallVec<[usize; 4]> {
        let steps = self.left().iter().filter_map(Planned::step);
        let is_share = |step: &usize| {
            let blocked = self.blocked.as_ref();
            blocked.is_some_and(|blocked| conflict(&trace.footprint_with_elided(*step), &[blocked.access]))
        };
        steps.filter(is_share).collect()
    }
}
