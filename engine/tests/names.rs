//! An operation has one stable identity in all executions, whatever numbers its variables have.

use intermezzo_engine::strategy::{ChoicePoint, Needs, Plan, SoFar, Status, Strategy};
use intermezzo_engine::trace::{Analysis, Key, StableOpId, Trace};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Coverage, Environment, Explorer, thread};
use intermezzo_search::kinds::StrategyKind;
use intermezzo_search::policies::policy;
use intermezzo_search::sampling::Sampling;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

const SLOTS: usize = 7;

/// The slots that the running execution has accessed, in order.
type Deeds = Arc<Mutex<Vec<usize>>>;
/// The footprint of the operations with each identity: the slots, and the keys.
type Accessed = Arc<Mutex<BTreeMap<StableOpId, (BTreeSet<usize>, BTreeSet<Key>)>>>;

/// A random walk that notes the stable identities of the operations.
struct Naming {
    walk: Sampling,
    deeds: Deeds,
    accessed: Accessed,
}

impl Strategy for Naming {
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        let deeds = std::mem::take(&mut *self.deeds.lock().unwrap());
        let of_tasks = (0..trace.steps().len())
            .filter(|&step| trace.steps()[step].task != 0 && !trace.footprint(step).is_empty());
        let mut named = 0;
        for (step, slot) in of_tasks.zip(&deeds) {
            if let Some(name) = trace.stable_id(step) {
                assert_eq!(trace.step_of(name.task, name.index), Some(step));
                let mut accessed = self.accessed.lock().unwrap();
                let (slots, keys) = accessed.entry(name).or_default();
                slots.insert(*slot);
                keys.insert(trace.footprint(step)[0].key);
                named += 1;
            }
        }
        assert_eq!(named, deeds.len(), "each of these operations has a name");
        self.walk.next(plan, trace)
    }
    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        self.walk.choose(point)
    }
    fn needs(&self) -> Needs {
        Needs {
            every_step: true,
            analysis: Analysis::Races,
            ..Needs::default()
        }
    }
    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("naming")
    }
    fn coverage(&self, finished: bool) -> Coverage {
        self.walk.coverage(finished)
    }
}

/// Performs a task's operations on each slot that it reaches; the value that it finds decides the next slot.
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
fn operations_of_one_name_access_one_variable_whatever_its_number() {
    let mut renumbered = 0;
    for seed in 0..60 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut ops = |_| -> Vec<u8> { (0..4).map(|_| random.random_range(0..12)).collect() };
        let program: Vec<Vec<u8>> = (0..3).map(&mut ops).collect();
        let (deeds, accessed) = (Deeds::default(), Accessed::default());
        let naming = Naming {
            walk: Sampling::new(seed, policy(&StrategyKind::Random, None)),
            deeds: deeds.clone(),
            accessed: accessed.clone(),
        };
        let explorer = Explorer::new().environment(Environment::calm()).executions(100);
        let report = explorer
            .strategy(intermezzo_explorer::Strategy::custom(naming))
            .explore(move || {
                let table: [AtomicUsize; SLOTS] = std::array::from_fn(|_| AtomicUsize::new(0));
                thread::scope(|scope| {
                    for ops in &program {
                        scope.spawn(|| walk(&table, ops, &deeds));
                    }
                });
            });
        assert!(report.verdict().is_pass(), "{report}");
        for (name, (slots, keys)) in &*accessed.lock().unwrap() {
            assert_eq!(slots.len(), 1, "{name:?} of program {seed}");
            renumbered += usize::from(keys.len() > 1);
        }
    }
    assert!(
        renumbered > 1_000,
        "{renumbered} names of variables with several numbers"
    );
}
