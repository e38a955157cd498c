//! Races: pairs of steps that could have come in the other order.

use super::op_info::FOLLOWS;
use super::step::Begun;
use super::{Class, Key, KeyAccess, NONE, NewEntry, StepAccess, Trace};
use crate::record::Gates;
use intermezzo_sdk::SyncVarOp;

/// Two dependent steps that are ordered by nothing but their own dependence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The step that came first.
    pub earlier: u32,
    /// The step that came second, and could have come before it.
    pub later: u32,
}

impl Trace {
    /// Returns the races whose second step is `from` or later.
    pub fn races_from(&self, from: usize) -> &[Race] {
        let begin = self
            .steps
            .get(from)
            .map_or(self.races.len(), |step| step.races as usize);
        &self.races[begin..]
    }

    /// Orders the entry that is being added after the accesses to a key that do not commute with it, and finds its
    /// races. The entry begins a new group at `group` in the key's list, and not all of the group before is known to
    /// happen before it. It now comes after them, and races with those that it could have preceded. `waited` holds the
    /// gates at which the step waited, if it did. It is a separate function, to keep the common path short.
    #[inline(never)]
    pub(super) fn order_and_find_races(
        &mut self,
        step: Begun,
        by: &NewEntry,
        access: StepAccess,
        group: u32,
        waited: Option<(u32, Gates)>,
    ) {
        if !by.facts.any(FOLLOWS) {
            let gates = match waited {
                Some((var, gates)) if access.key.var() == Some(var) && step.stands == by.entry => gates,
                _ => 0,
            };
            if gates == 0
                && let Some(earlier) = self.only_step(access.key, group)
            {
                // It may already come after the step because of another entry than the access.
                if !self.known(self.steps[earlier as usize].stands, by.entry) {
                    self.add_race(step, earlier);
                }
            } else {
                let mut found = std::mem::take(&mut self.found);
                let later = self.steps.len() as u32;
                self.could_precede(access.key, group, gates, later, by.entry, &mut found);
                for earlier in found.drain(..) {
                    self.add_race(step, earlier as u32);
                }
                self.found = found;
            }
        }
        let list = &self.keys[access.key.index()][..group as usize];
        let first = list.last().map_or(group, |last| last.group);
        let mut joined = false;
        for earlier in list[first as usize..].iter().rev() {
            if !self.clocks.knows(by.entry, earlier) {
                self.clocks.join(by.entry, earlier.entry);
                joined = true;
            }
        }
        self.joined_late |=
            joined && by.entry > step.entries && by.task == step.task && by.op != SyncVarOp::TaskJoin;
    }

    /// Returns the step that made all accesses to a key right before `group` in its list, if it is one step that
    /// belongs to the accessing task and has ended. (The access for a task's end may belong to another task's step.)
    #[inline(always)]
    fn only_step(&self, key: Key, group: u32) -> Option<u32> {
        let key_access = &self.keys[key.index()][group as usize - 1];
        let entry = &self.entries[key_access.entry as usize];
        let step = self.steps.get(entry.step as usize)?;
        let is_its_own = step.task == entry.task && entry.op != SyncVarOp::TaskEnd;
        (key_access.group + 1 == group && is_its_own).then_some(entry.step)
    }

    /// Adds a race of the step that is being added with an earlier one, unless it was already noted.
    #[inline(always)]
    fn add_race(&mut self, step: Begun, earlier: u32) {
        let later = self.steps.len() as u32;
        let race = Race { earlier, later };
        if !self.races[step.races as usize..].contains(&race) {
            self.races.push(race);
        }
    }

    /// Returns the steps that released the operations completed in this step: the causes of the ends that it joined,
    /// and the notifications it received.
    pub fn waited_for(&self, step: usize) -> Vec<usize> {
        let end = self
            .steps
            .get(step + 1)
            .map_or(self.entries.len(), |next| next.entries as usize);
        let mut found = Vec::new();
        for entry in &self.entries[self.steps[step].entries as usize..end] {
            match entry.op {
                SyncVarOp::TaskJoin => {
                    if let Some(other) = self.end_joined(entry.key) {
                        self.causes_of_end(other, NONE, &mut found);
                    }
                }
                SyncVarOp::CondvarWake | SyncVarOp::BarrierPass if !found.contains(&step) => found.push(step),
                _ => {}
            }
        }
        found
    }

    /// Returns the entry with which a task ended, by the key of its life.
    fn end_joined(&self, life: Key) -> Option<u32> {
        let entries = self.keys[life.index()].iter().map(|key_access| key_access.entry);
        entries
            .rev()
            .find(|&entry| self.entries[entry as usize].op == SyncVarOp::TaskEnd)
    }

    /// Finds the steps that a task's end waited for and that do not happen before the entry `knows`. If one of them had
    /// come later, the end would have come later, too. They are the last step of the task itself, and the causes of the
    /// ends of tasks that it joined after that.
    fn causes_of_end(&self, end: u32, knows: u32, found: &mut Vec<usize>) {
        let task = self.entries[end as usize].task;
        let mut next = end;
        while next != NONE {
            let entry = &self.entries[next as usize];
            if entry.op == SyncVarOp::TaskJoin
                && let Some(other) = self.end_joined(entry.key)
            {
                self.causes_of_end(other, knows, found);
            }
            let step = &self.steps[entry.step as usize];
            if step.task == task && step.stands == next {
                let cause = entry.step as usize;
                if !self.known(next, knows) && !found.contains(&cause) {
                    found.push(cause);
                }
                return;
            }
            next = entry.before;
        }
    }

    /// Returns `true` if one of these gates of a key's variable would be open if only the accesses in the taken steps
    /// had happened. Among accesses that do not commute, the taken ones come first.
    pub fn is_gate_open_after(&self, key: Key, gates: Gates, is_taken: impl Fn(usize) -> bool) -> bool {
        let list = self.keys.get(key.index()).map_or(&[][..], Vec::as_slice);
        let taken = |access: &KeyAccess| is_taken(self.entries[access.entry as usize].step as usize);
        let next = list.iter().rposition(taken).map_or(0, |last| {
            // The senders of a channel open a gate only when all of them are closed.
            let group = list[last].group as usize;
            match list[group..=last].iter().all(taken) {
                true => last + 1,
                false => group,
            }
        });
        list.get(next).is_some_and(|next| next.gates & gates != 0)
    }

    /// Returns the steps with accesses to a key, before `group` in its list, that could have come after an operation.
    /// The operation comes after what happens before the entry `knows`, and waits for `gates`. The steps are those of
    /// the latest group that has any. If shares kept the gate closed since before that group, those of earlier groups
    /// are included.
    ///
    /// An operation that waits at a gate could not have preceded a step that opened the gate, but perhaps the one that
    /// closed it. So a lock races with the last time that the lock was taken, not with its release. Shares may keep the
    /// gate closed across several groups: another task fails to take the lock in between, or a writer becomes a reader.
    /// An earlier reader may have waited for a later one, so the operation may be able to precede only the earlier.
    #[inline(always)]
    pub(super) fn could_precede(
        &self,
        key: Key,
        mut group: u32,
        gates: Gates,
        step: u32,
        knows: u32,
        found: &mut Vec<usize>,
    ) {
        let list = &self.keys[key.index()];
        let mut found_share = false;
        while group > 0 {
            let first = list[group as usize - 1].group;
            let mut unknown = false;
            for at in (first..group).rev() {
                let key_access = &list[at as usize];
                let earlier = &self.entries[key_access.entry as usize];
                if earlier.step == step || self.clocks.knows(knows, key_access) {
                    continue;
                }
                unknown = true;
                // If several operations add, any of them may have come first, and the others may open the gate as well.
                // The exception is the closing of a channel, which needs all its senders.
                let one_of_many = key_access.class == Class::Add
                    && group - first > 1
                    && earlier.op != SyncVarOp::ChannelClose;
                if gates != 0 && key_access.open & gates == 0 && !one_of_many {
                    continue;
                }
                if earlier.op == SyncVarOp::TaskEnd {
                    self.causes_of_end(key_access.entry, knows, found);
                    continue;
                }
                // The access came after the beginning of its step, in the same task or another. So the operation would
                // have to come before the whole step.
                let owner = &self.steps[earlier.step as usize];
                if owner.stands != NONE && self.known(owner.stands, knows) {
                    continue;
                }
                // A race with a later access in the same group implies this one.
                let hidden = found.iter().any(|&other| {
                    let other = self.steps[other].stands;
                    self.clocks.knows(other, key_access)
                });
                // A race with a later share does not imply this one: the gate may be closed between the two.
                found_share |= gates != 0 && key_access.class == Class::Share;
                if !hidden || found_share {
                    found.push(earlier.step as usize);
                }
            }
            let stays_closed = found_share && list[first as usize].gates & gates == 0;
            if !unknown || !found.is_empty() && !stays_closed {
                return;
            }
            group = first;
        }
    }
}
