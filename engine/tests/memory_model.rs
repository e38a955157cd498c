//! A toy memory model, under which a load may read either of the last two stores: the seam between the engine and memory
//! models, compared with brute force.

mod support;

use intermezzo_engine::environment::Environment;
use intermezzo_engine::memory_model::{MemoryAccess, MemoryModel, MemoryOp};
use intermezzo_engine::runtime::{Executor, Listeners};
use intermezzo_explorer::sync::atomic::{AtomicU32, Ordering, fence};
use intermezzo_explorer::thread;
use intermezzo_sdk::{EventId, MemoryOrder, SyncVar, SyncVarAccess, SyncVarOp, TaskId};
use intermezzo_search::DepthFirst;
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// A load may read either of the last two stores to its variable; other operations read the last one.
#[derive(Default)]
struct LastTwo {
    /// The calls, for comparison.
    calls: Arc<Mutex<Vec<Call>>>,
}

/// A call of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Begin,
    Read(MemoryAccess, u32),
    Store(MemoryAccess, u32),
    Overwritten,
    Fence(MemoryOrder),
}

impl LastTwo {
    fn note(&self, call: Call) {
        self.calls.lock().unwrap().push(call);
    }
}

impl MemoryModel for LastTwo {
    fn begin(&mut self) {
        self.note(Call::Begin);
    }
    fn readable(&mut self, read: &MemoryAccess, values: &[u64], readable: &mut Vec<u32>) {
        let stores = 0..values.len() as u32;
        let many = if read.kind == MemoryOp::Load { 2 } else { 1 };
        readable.extend(stores.rev().take(many));
    }
    fn reads(&mut self, read: &MemoryAccess, store: u32) {
        self.note(Call::Read(*read, store));
    }
    fn places(&mut self, _: &MemoryAccess, places: &mut Vec<u32>) {
        places.push(0);
    }
    fn stores(&mut self, write: &MemoryAccess, store: u32, _: u32) -> bool {
        self.note(Call::Store(*write, store));
        true
    }
    fn is_consistent(&mut self, _: &MemoryAccess, _: &[u64], _: u32) -> bool {
        true
    }
    fn overwrites(&mut self, _: SyncVar) {
        self.note(Call::Overwritten);
    }
    fn observes(&mut self, event: &SyncVarAccess) {
        if event.op == SyncVarOp::Fence {
            self.note(Call::Fence(event.order));
        }
    }
}

/// The stores to a variable come to be in the opposite of the order in which they are performed: the first one stays
/// the newest.
struct FirstIsNewest;

impl MemoryModel for FirstIsNewest {
    fn begin(&mut self) {}
    fn readable(&mut self, _: &MemoryAccess, values: &[u64], readable: &mut Vec<u32>) {
        readable.push(u32::from(values.len() > 1));
    }
    fn reads(&mut self, _: &MemoryAccess, _: u32) {}
    fn places(&mut self, _: &MemoryAccess, places: &mut Vec<u32>) {
        places.push(0);
    }
    fn stores(&mut self, _: &MemoryAccess, store: u32, _: u32) -> bool {
        store == 1
    }
    fn is_consistent(&mut self, _: &MemoryAccess, _: &[u64], _: u32) -> bool {
        true
    }
    fn overwrites(&mut self, _: SyncVar) {}
}

/// An operation on one of two atomics.
#[derive(Clone, Copy, Debug)]
enum Op {
    Load(usize),
    Store(usize, u32),
    Add(usize),
    Exchange(usize, u32),
}

type Program = Vec<Vec<Op>>;

/// The values that the operations of each task read.
type Outcome = Vec<Vec<u32>>;

fn program(random: &mut Xoshiro256PlusPlus) -> Program {
    let mut op = || {
        let var = random.random_range(0..2);
        match random.random_range(0..6) {
            0..=2 => Op::Load(var),
            3 => Op::Add(var),
            4 => Op::Exchange(var, random.random_range(0..3)),
            _ => Op::Store(var, random.random_range(1..4)),
        }
    };
    (0..2).map(|_| (0..3).map(|_| op()).collect()).collect()
}

fn perform(op: Op, atomics: &[AtomicU32; 2]) -> Option<u32> {
    use Ordering::{Acquire, Relaxed};
    match op {
        Op::Load(var) => Some(atomics[var].load(Acquire)),
        Op::Store(var, value) => {
            atomics[var].store(value, Relaxed);
            None
        }
        Op::Add(var) => Some(atomics[var].fetch_add(1, Relaxed)),
        Op::Exchange(var, from) => {
            let (Ok(read) | Err(read)) = atomics[var].compare_exchange(from, 7, Acquire, Relaxed);
            Some(read)
        }
    }
}

/// Performs the operations in tasks, and returns the values that they read.
fn run(program: &Program) -> Outcome {
    let atomics = [AtomicU32::new(0), AtomicU32::new(0)];
    let mut outcome = vec![Vec::new(); program.len()];
    thread::scope(|scope| {
        for (ops, read) in program.iter().zip(&mut outcome) {
            let atomics = &atomics;
            scope.spawn(move || read.extend(ops.iter().filter_map(|&op| perform(op, atomics))));
        }
    });
    outcome
}

fn executor() -> Executor {
    Executor::new(
        Box::new(DepthFirst::new()),
        Environment::calm(),
        support::limits(),
        None,
        Listeners::new(Vec::new()),
    )
}

/// Runs every execution, and returns how often each result came.
fn explored<T: Ord>(mut executor: Executor, test: impl Fn() -> T) -> BTreeMap<T, u64> {
    let results = Mutex::new(BTreeMap::new());
    while executor.prepare() {
        let outcome = executor.execute(&|| {
            let result = test();
            *results.lock().unwrap().entry(result).or_insert(0) += 1;
        });
        assert!(outcome.trouble.is_none());
    }
    results.into_inner().unwrap()
}

/// Adds every outcome of the rest of a program, by brute force. `next` has the operations that the tasks have done.
fn enumerate(
    program: &Program,
    (next, stores, read): (&[usize], &[Vec<u32>; 2], &Outcome),
    loads: usize,
    outcomes: &mut BTreeMap<Outcome, u64>,
) {
    let mut at_end = true;
    for task in 0..program.len() {
        let Some(&op) = program[task].get(next[task]) else {
            continue;
        };
        at_end = false;
        let mut then = next.to_vec();
        then[task] += 1;
        let mut go = |value: Option<u32>, written: Option<(usize, u32)>| {
            let (mut stores, mut read) = (stores.clone(), read.clone());
            read[task].extend(value);
            if let Some((var, value)) = written {
                stores[var].push(value);
            }
            enumerate(program, (&then, &stores, &read), loads, outcomes);
        };
        let last = |var: usize| *stores[var].last().unwrap();
        match op {
            Op::Load(var) => stores[var]
                .iter()
                .rev()
                .take(loads)
                .for_each(|&value| go(Some(value), None)),
            Op::Store(var, value) => go(None, Some((var, value))),
            Op::Add(var) => go(Some(last(var)), Some((var, last(var) + 1))),
            Op::Exchange(var, from) => go(Some(last(var)), (last(var) == from).then_some((var, 7))),
        }
    }
    if at_end {
        *outcomes.entry(read.clone()).or_insert(0) += 1;
    }
}

#[test]
fn searches_reach_what_the_model_allows_as_often_as_brute_force() {
    let (mut weaker, mut executions) = (0, 0);
    for seed in 0..300 {
        let program = program(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        let by_force = |loads| {
            let mut outcomes = BTreeMap::new();
            let begin = (vec![0; 2], [vec![0], vec![0]], vec![Vec::new(); 2]);
            enumerate(&program, (&begin.0, &begin.1, &begin.2), loads, &mut outcomes);
            outcomes
        };
        let mut with_model = executor();
        with_model.read_by(Box::new(LastTwo::default()), u32::MAX);
        let found = explored(with_model, || run(&program));
        assert_eq!(found, by_force(2), "{program:?}");
        assert_eq!(explored(executor(), || run(&program)), by_force(1), "{program:?}");
        weaker += u32::from(by_force(2).keys().ne(by_force(1).keys()));
        executions += found.values().sum::<u64>();
    }
    // What must not happen is that nothing was weak.
    assert!(weaker > 200 && executions > 15_000, "{weaker} {executions}");
}

#[test]
fn a_store_buffer_has_four_outcomes() {
    use Op::{Load, Store};
    let program = vec![vec![Store(0, 1), Load(1)], vec![Store(1, 1), Load(0)]];
    let outcomes =
        |executor| -> BTreeSet<Outcome> { explored(executor, || run(&program)).into_keys().collect() };
    let mut weak = executor();
    weak.read_by(Box::new(LastTwo::default()), u32::MAX);
    let (weak, strong) = (outcomes(weak), outcomes(executor()));
    assert_eq!((weak.len(), strong.len()), (4, 3));
    assert!(weak.contains(&vec![vec![0], vec![0]]) && !strong.contains(&vec![vec![0], vec![0]]));
}

#[test]
fn a_model_is_told_every_operation_with_its_orderings() {
    use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    let calls = Arc::default();
    let mut executor = executor();
    let model = LastTwo {
        calls: Arc::clone(&calls),
    };
    executor.read_by(Box::new(model), u32::MAX);
    let results = explored(executor, || {
        let mut atomic = AtomicU32::new(5);
        atomic.store(6, Release);
        *atomic.get_mut() = 7;
        let added = atomic.fetch_add(1, AcqRel);
        fence(SeqCst);
        let exchanged = atomic.compare_exchange(8, 9, Acquire, Relaxed);
        let loaded = atomic.load(Relaxed);
        (added, exchanged, loaded, atomic.into_inner())
    });
    // The load may read the last store or the one before.
    assert_eq!(
        results,
        BTreeMap::from([((7, Ok(8), 8, 9), 1), ((7, Ok(8), 9, 9), 1)])
    );
    let calls = calls.lock().unwrap();
    let access = |index, kind, order| MemoryAccess {
        event: EventId {
            task: TaskId(0),
            index,
        },
        var: first_var(&calls),
        order,
        kind,
    };
    let exchange = MemoryOp::Exchange {
        expected: 8,
        failure: MemoryOrder::Relaxed,
        weak: false,
    };
    let shared = [
        Call::Begin,
        Call::Store(access(2, MemoryOp::Store, MemoryOrder::Release), 1),
        Call::Overwritten,
        Call::Read(access(3, MemoryOp::Modify, MemoryOrder::AcqRel), 2),
        Call::Store(access(3, MemoryOp::Modify, MemoryOrder::AcqRel), 3),
        Call::Fence(MemoryOrder::SeqCst),
        Call::Read(access(5, exchange, MemoryOrder::Acquire), 3),
        Call::Store(access(5, exchange, MemoryOrder::Acquire), 4),
    ];
    let load = access(6, MemoryOp::Load, MemoryOrder::Relaxed);
    let expected: Vec<Call> = [4, 3]
        .iter()
        .flat_map(|&store| shared.iter().copied().chain([Call::Read(load, store)]))
        .collect();
    assert_eq!(*calls, expected);
}

fn first_var(calls: &[Call]) -> intermezzo_sdk::SyncVar {
    calls
        .iter()
        .find_map(|call| match call {
            Call::Read(access, _) | Call::Store(access, _) => Some(access.var),
            _ => None,
        })
        .expect("an operation")
}

#[test]
fn the_newest_store_is_the_models_not_the_last_one() {
    let mut executor = executor();
    executor.read_by(Box::new(FirstIsNewest), u32::MAX);
    let results = explored(executor, || {
        let atomic = AtomicU32::new(1);
        atomic.store(2, Ordering::Relaxed);
        atomic.store(3, Ordering::Relaxed);
        (atomic.load(Ordering::Relaxed), atomic.into_inner())
    });
    assert_eq!(results, BTreeMap::from([((2, 2), 1)]));
}
