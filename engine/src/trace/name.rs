//! Names of operations that hold in all executions of a test, where numbers of variables do not.

use super::{Key, NONE, NOTHING, Step, Trace, mix};
use intermezzo_sdk::SyncVarOp;
use serde::{Deserialize, Serialize};

/// What tells an operation from all others, in whichever execution of the test: whose it is, as the how-manieth, and the trace of
/// what happened before its task came to it. What it touches depends on nothing else: two operations touch the same variable in
/// every execution that has both, or in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Name {
    /// The task, by number: executions are compared only as long as a number stands for the same task in all.
    pub task: u32,
    /// The how-manieth entry of its task it is.
    pub local: u32,
    /// A fingerprint of what happened before.
    past: u64,
}

impl Trace {
    /// The name of the operation that a step is.
    ///
    /// `None` of a step that is not just one operation on one variable, and where what happened before cannot be told.
    pub fn name(&self, step: usize) -> Option<Name> {
        let (entry, before) = self.operation(step)?;
        let known = self.clocks.row(before).as_flattened();
        let (mut past, mut so_far) = (0_u128, 0);
        for Step {
            task,
            local,
            fingerprint,
            ..
        } in &self.steps[..step]
        {
            let own = fingerprint.wrapping_sub(std::mem::replace(&mut so_far, *fingerprint));
            if *local == NOTHING && own != 0 {
                // Whether it is part of the past is not to be told by its task.
                return None;
            }
            if known
                .get(*task as usize)
                .is_some_and(|&entries| entries >= *local)
            {
                past = past.wrapping_add(own);
            }
        }
        let entry = &self.entries[entry as usize];
        Some(Name {
            task: entry.task,
            local: entry.local,
            past: mix(past as u64, (past >> 64) as u64),
        })
    }

    /// The step that is the operation of this task and number, whatever happened before.
    pub fn step_of(&self, task: u32, local: u32) -> Option<usize> {
        let mut steps = self.steps.iter().enumerate();
        steps.find_map(|(number, step)| {
            // Its task's beginning may come first in it.
            let near = step.task == task && (step.local == local || step.local.wrapping_add(1) == local);
            let (entry, _) = near.then(|| self.operation(number)).flatten()?;
            (self.entries[entry as usize].local == local).then_some(number)
        })
    }

    /// The only entry of a step, apart from its task's beginning, and the entry of the same task before it: of another step, or
    /// that beginning.
    fn operation(&self, step: usize) -> Option<(u32, u32)> {
        let ([touch], None) = (self.touches(step), &self.voids) else {
            return None;
        };
        let Step { stands, local, .. } = self.steps[step];
        if local == NOTHING {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::StrategyKind;
    use crate::strategy::{ChoicePoint, Plan, Strategy};
    use crate::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use crate::{Coverage, Environment, Explorer, thread};
    use intermezzo_search::sampling::{Sampling, policy};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::{Arc, Mutex};

    const SLOTS: usize = 7;

    /// The slots that the running execution has touched, in order.
    type Deeds = Arc<Mutex<Vec<usize>>>;
    /// What operations of each name touched: which slots, and by which keys.
    type Touched = Arc<Mutex<BTreeMap<Name, (BTreeSet<usize>, BTreeSet<Key>)>>>;

    /// A random walk that notes the names of what was done.
    struct Naming {
        walk: Sampling,
        deeds: Deeds,
        touched: Touched,
    }

    impl Strategy for Naming {
        fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
            let deeds = std::mem::take(&mut *self.deeds.lock().unwrap());
            let of_tasks = (0..trace.steps().len())
                .filter(|&step| trace.steps()[step].task != 0 && !trace.touches(step).is_empty());
            let mut named = 0;
            for (step, slot) in of_tasks.zip(&deeds) {
                if let Some(name) = trace.name(step) {
                    assert_eq!(trace.step_of(name.task, name.local), Some(step));
                    let mut touched = self.touched.lock().unwrap();
                    let (slots, keys) = touched.entry(name).or_default();
                    slots.insert(*slot);
                    keys.insert(trace.touches(step)[0].key);
                    named += 1;
                }
            }
            assert_eq!(named, deeds.len(), "each of these operations has a name");
            self.walk.next(plan, trace)
        }
        fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
            self.walk.choose(point)
        }
        fn asks_always(&self) -> bool {
            true
        }
        fn name(&self) -> String {
            "naming".into()
        }
        fn coverage(&self, finished: bool) -> Coverage {
            self.walk.coverage(finished)
        }
    }

    /// What a task does with each slot that it comes to; from there it goes as far as the value says that it found.
    fn walk(table: &[AtomicUsize], ops: &[u8], deeds: &Deeds) {
        let mut slot = 0;
        for &op in ops {
            slot = (slot + usize::from(op)) % SLOTS;
            let found = match op % 3 {
                0 => table[slot].load(SeqCst),
                1 => table[slot].swap(usize::from(op), SeqCst),
                _ => {
                    table[slot].store(usize::from(op), SeqCst);
                    0
                }
            };
            deeds.lock().unwrap().push(slot);
            slot += found;
        }
    }

    #[test]
    fn operations_of_one_name_touch_one_variable_whatever_its_number() {
        let mut renumbered = 0;
        for seed in 0..60 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut ops = |_| -> Vec<u8> { (0..4).map(|_| random.random_range(0..12)).collect() };
            let program: Vec<Vec<u8>> = (0..3).map(&mut ops).collect();
            let (deeds, touched) = (Deeds::default(), Touched::default());
            let naming = Naming {
                walk: Sampling::new(seed, policy(&StrategyKind::Random, None)),
                deeds: deeds.clone(),
                touched: touched.clone(),
            };
            let explorer = Explorer::new().environment(Environment::calm()).executions(100);
            let report = explorer
                .strategy(crate::Strategy::custom(naming))
                .explore(move || {
                    let table: [AtomicUsize; SLOTS] = std::array::from_fn(|_| AtomicUsize::new(0));
                    thread::scope(|scope| {
                        for ops in &program {
                            scope.spawn(|| walk(&table, ops, &deeds));
                        }
                    });
                });
            assert!(report.verdict().is_pass(), "{report}");
            for (name, (slots, keys)) in &*touched.lock().unwrap() {
                assert_eq!(slots.len(), 1, "{name:?} of program {seed}");
                renumbered += usize::from(keys.len() > 1);
            }
        }
        assert!(
            renumbered > 1_000,
            "{renumbered} names of variables with several numbers"
        );
    }
}
