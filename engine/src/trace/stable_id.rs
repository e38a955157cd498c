//! Identities of operations that are the same in all executions of a test. The numbers of variables are not.

use super::{Key, NONE, NOTHING, Step, Trace, hash64};
use crate::serial::{Deserialize, Serialize};
use intermezzo_sdk::SyncVarOp;

/// Identifies an operation across executions: its task, its index in that task, and a fingerprint of its causal past.
/// Its variable depends on nothing else: two such operations access the same variable either in every execution that
/// has both, or in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StableOpId {
    /// The task, by number. Executions are compared only as long as a number means the same task in all of them.
    pub task: u32,
    /// The index of the entry in its task.
    pub index: u32,
    /// A fingerprint of the causal past.
    past: u64,
}

impl Trace {
    /// Returns the stable identity of a step's operation.
    ///
    /// Returns `None` for a step that is more than one operation on one variable, or whose causal past cannot be
    /// determined.
    pub fn stable_id(&self, step: usize) -> Option<StableOpId> {
        let (entry, before) = self.operation(step)?;
        let known = self.clocks.row(before).as_flattened();
        let (mut past, mut so_far) = (0_u128, 0);
        for Step {
            task,
            index,
            fingerprint,
            ..
        } in &self.steps[..step]
        {
            let own = fingerprint.wrapping_sub(std::mem::replace(&mut so_far, *fingerprint));
            if *index == NOTHING && own != 0 {
                // It cannot be determined if this step is part of the past.
                return None;
            }
            if known
                .get(*task as usize)
                .is_some_and(|&entries| entries >= *index)
            {
                past = past.wrapping_add(own);
            }
        }
        let entry = &self.entries[entry as usize];
        Some(StableOpId {
            task: entry.task,
            index: entry.index,
            past: hash64(past as u64, (past >> 64) as u64),
        })
    }

    /// Returns the step with the operation of this task and index, whatever happened before.
    pub fn step_of(&self, task: u32, index: u32) -> Option<usize> {
        let mut steps = self.steps.iter().enumerate();
        steps.find_map(|(number, step)| {
            // The beginning of its task may be the step's first entry.
            let near = step.task == task && (step.index == index || step.index.wrapping_add(1) == index);
            let (entry, _) = near.then(|| self.operation(number)).flatten()?;
            (self.entries[entry as usize].index == index).then_some(number)
        })
    }

    /// Returns the only entry of a step, apart from its task's beginning, and the entry of the same task before it. The
    /// latter belongs to another step, or is that beginning.
    fn operation(&self, step: usize) -> Option<(u32, u32)> {
        let ([access], None) = (self.footprint(step), &self.elided) else {
            return None;
        };
        let Step { stands, index, .. } = self.steps[step];
        if index == NOTHING {
            return None;
        }
        let first = &self.entries[stands as usize];
        let (entry, before) = match first.op {
            SyncVarOp::TaskBegin => (stands + 1, stands),
            _ => (stands, first.before),
        };
        let operation = self.entries.get(entry as usize)?;
        let is_its_own = operation.task == first.task && operation.step == first.step;
        (is_its_own && operation.key == access.key && before != NONE).then_some((entry, before))
    }

    /// Returns the steps that accessed a key, in order.
    pub fn steps_on(&self, key: Key) -> impl Iterator<Item = usize> + '_ {
        let list = &self.keys[key.index()];
        list.iter()
            .map(|key_access| self.entries[key_access.entry as usize].step as usize)
    }
}
