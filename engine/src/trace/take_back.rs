//! Undoing of steps, from the end.

use super::{KeyAccess, StepAccess, Trace};
use crate::record::Gates;

impl Trace {
    /// Undoes all steps but the first `steps`, for good.
    pub(super) fn take_back_to(&mut self, steps: usize) {
        if let Some(elided) = &mut self.elided {
            (steps..self.steps.len()).for_each(|_| elided.undo());
        }
        self.take_back_steps(steps);
        while self.given_up.pop_if(|share| share.is_from(steps)).is_some() {}
        while self
            .failed_counts
            .pop_if(|step| *step as usize >= steps)
            .is_some()
        {}
        self.take_back_timed(steps);
    }

    /// Undoes all steps but the first `steps`.
    pub(super) fn take_back_steps(&mut self, steps: usize) {
        let Some(&step) = self.steps.get(steps) else {
            return;
        };
        let mut undo = |access| take_back_access(&mut self.keys, &mut self.gates, access);
        // From the end, because a variable has several keys, and the first access to any of them has the gates to
        // restore.
        for number in (steps..self.steps.len()).rev() {
            if self.followed.len() == step.followed as usize {
                break;
            }
            let (followed, accesses) = (self.steps[number].followed, self.steps[number].accesses);
            self.followed.drain(followed as usize..).rev().for_each(&mut undo);
            self.accesses.drain(accesses as usize..).rev().for_each(&mut undo);
        }
        self.accesses.drain(step.accesses as usize..).rev().for_each(undo);
        self.steps.truncate(steps);
        #[cfg(feature = "unmodified")]
        self.changes.take_back_to(steps);
        for entry in self.entries[step.entries as usize..].iter().rev() {
            let task = &mut self.tasks[entry.task as usize];
            (task.head, task.entries) = (entry.before, entry.index - 1);
        }
        self.entries.truncate(step.entries as usize);
        self.races.truncate(step.races as usize);
    }
}

/// Undoes an access, the last of its key.
#[inline(always)]
fn take_back_access(keys: &mut [Vec<KeyAccess>], gates: &mut [Gates], StepAccess { key, .. }: StepAccess) {
    if let Some(key_access) = keys[key.index()].pop()
        && let Some(var) = key.var()
    {
        gates[var as usize] = key_access.gates;
    }
}
