//! Queries about variables, for searches that count preemptions by variable: the last variable that a task accessed,
//! whether several tasks share a variable, and its identity in every execution of the trace.

use super::hash::{hash64, hash128};
use super::{Class, Key, KeyAccess, NONE, Trace};
use intermezzo_sdk::SyncVarOp;

impl Trace {
    /// Returns the variable that a task accessed last; `None` before its first access.
    ///
    /// Creating, beginning, ending and joining tasks do not count as accesses, because they have no schedule point.
    /// Neither do choices, and the calls and returns of operations.
    pub fn last_accessed(&self, task: u32) -> Option<u32> {
        let mut at = self.head(task);
        while at != NONE {
            let entry = &self.entries[at as usize];
            if is_access(entry.op) {
                return entry.key.var();
            }
            at = entry.before;
        }
        None
    }

    /// Returns `true` if several tasks accessed the variable, and one of them did more than read it.
    pub fn is_shared(&self, var: u32) -> bool {
        let mut tasks = self.accesses_of(var).map(|(task, _)| task);
        let first = tasks.next();
        let by_others = tasks.any(|task| Some(task) != first);
        by_others && self.accesses_of(var).any(|(_, class)| class != Class::Read)
    }

    /// Returns a number for the state of the execution, together with the variables against which its preemptions
    /// count, and the task that could continue. It is the same in all executions of the trace for which these are the
    /// same.
    pub fn state_fingerprint(&self, vars: &[u32], going_on: Option<u32>) -> u128 {
        self.fingerprint().wrapping_add(self.context_hash(vars, going_on))
    }

    /// Returns the number that these variables and this task add to the fingerprint of a state.
    fn context_hash(&self, vars: &[u32], going_on: Option<u32>) -> u128 {
        let sum = |sum: u64, &var: &u32| sum.wrapping_add(self.signature(var));
        let going_on = going_on.map_or(u64::MAX, |task| {
            self.tasks.get(task as usize).map_or(0, |task| task.lineage)
        });
        hash128(vars.iter().fold(0, sum), going_on, vars.len() as u64)
    }

    /// Returns the fingerprint of the first `steps` steps.
    pub fn fingerprint_after(&self, steps: usize) -> u128 {
        let last = steps.checked_sub(1);
        last.map_or(0, |last| self.steps[last].fingerprint)
    }

    /// Returns the number that identifies a task in all executions, if it has entries: see
    /// [`lineages`](Self::lineages).
    pub fn lineage(&self, task: u32) -> Option<u64> {
        let task = self.tasks.get(task as usize).filter(|task| task.head != NONE)?;
        Some(task.lineage)
    }

    /// Returns the keys that the first `steps` steps accessed, each with a number that is the same in each execution of
    /// their trace. The key itself may differ there.
    pub fn stable_keys(&self, steps: usize) -> impl Iterator<Item = (Key, u64)> + '_ {
        let keys = (0..self.keys.len()).map(Key::at);
        keys.filter_map(move |key| Some((key, self.stable_key(key, steps)?)))
    }

    /// Returns the number of a key that [`stable_keys`](Self::stable_keys) gives; `None` if none of the first `steps`
    /// steps accessed it.
    pub fn stable_key(&self, key: Key, steps: usize) -> Option<u64> {
        let is_before = |access: &&KeyAccess| (self.entries[access.entry as usize].step as usize) < steps;
        let list = self.keys.get(key.index())?;
        let group = list.iter().take_while(|access| access.group == 0);
        let last = group.take_while(is_before).last()?;
        Some(key.var().map_or(key.index() as u64, |_| last.sum))
    }

    /// Returns a number for a variable that was accessed, the same in each execution of the trace, where the variable
    /// may have another number of its own. It depends on the accesses up to the first that does not commute with those
    /// before it.
    fn signature(&self, var: u32) -> u64 {
        let first_group = |key: Key| {
            let list = self.keys.get(key.index()).map_or(&[][..], Vec::as_slice);
            let group = list.iter().take_while(|key_access| key_access.group == 0);
            group.last().map_or(0, |last| last.sum)
        };
        let [life, token] = aspects(var).map(first_group);
        hash64(life, token)
    }

    /// Returns the tasks that accessed a variable, with the class of each access.
    fn accesses_of(&self, var: u32) -> impl Iterator<Item = (u32, Class)> {
        let lists = aspects(var)
            .into_iter()
            .filter_map(|key| self.keys.get(key.index()));
        lists
            .flatten()
            .map(|key_access| (self.entries[key_access.entry as usize].task, key_access.class))
    }
}

/// Returns the keys of a variable: its life and its park token.
fn aspects(var: u32) -> [Key; 2] {
    [SyncVarOp::AtomicLoad, SyncVarOp::Unpark].map(|op| Key::of(op, var))
}

/// Returns `true` if a preemption after this operation counts against its variable.
pub fn is_access(op: SyncVarOp) -> bool {
    use SyncVarOp::*;
    !matches!(
        op,
        TaskFork
            | TaskBegin
            | TaskEnd
            | TaskJoin
            | Choice
            | Fence
            | Yield
            | Sleep
            | TimeOut
            | OperationCall
            | OperationReturn
            | Quiesce
    )
}
