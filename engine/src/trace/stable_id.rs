//! Names of operations that hold in all executions of a test, where numbers of variables do not.

use super::{Key, NONE, NOTHING, Step, Trace, hash64};
use intermezzo_sdk::SyncVarOp;
use serde::{Deserialize, Serialize};

/// What tells an operation from all others, in whichever execution of the test: whose it is, as the how-manieth, and the trace of
/// what happened before its task came to it. What it touches depends on nothing else: two operations touch the same variable in
/// every execution that has both, or in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StableOpId {
    /// The task, by number: executions are compared only as long as a number stands for the same task in all.
    pub task: u32,
    /// The how-manieth entry of its task it is.
    pub index: u32,
    /// A fingerprint of what happened before.
    past: u64,
}

impl Trace {
    /// The name of the operation that a step is.
    ///
    /// `None` of a step that is not just one operation on one variable, and where what happened before cannot be told.
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
                // Whether it is part of the past is not to be told by its task.
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

    /// The step that is the operation of this task and number, whatever happened before.
    pub fn step_of(&self, task: u32, index: u32) -> Option<usize> {
        let mut steps = self.steps.iter().enumerate();
        steps.find_map(|(number, step)| {
            // Its task's beginning may come first in it.
            let near = step.task == task && (step.index == index || step.index.wrapping_add(1) == index);
            let (entry, _) = near.then(|| self.operation(number)).flatten()?;
            (self.entries[entry as usize].index == index).then_some(number)
        })
    }

    /// The only entry of a step, apart from its task's beginning, and the entry of the same task before it: of another step, or
    /// that beginning.
    fn operation(&self, step: usize) -> Option<(u32, u32)> {
        let ([touch], None) = (self.touches(step), &self.elided) else {
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
        (is_its_own && operation.key == touch.key && before != NONE).then_some((entry, before))
    }

    /// The steps that touched a key, in order.
    pub fn steps_on(&self, key: Key) -> impl Iterator<Item = usize> + '_ {
        let list = &self.keys[key.index()];
        list.iter()
            .map(|touched| self.entries[touched.entry as usize].step as usize)
    }
}
