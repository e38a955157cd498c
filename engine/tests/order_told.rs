//! The order of events that monitors receive, against the order that the search uses.
//!
//! The two are computed separately: `sdk::HappensBefore` from accesses alone, `trace` from the footprints of steps. The
//! first may order more, because it does not know of writes that commute, but not less. Programs are random, without
//! virtual time and without ends that belong to another step: there the search orders whole steps.

mod support;

use intermezzo_engine::environment::Environment;
use intermezzo_engine::runtime::{Executor, Limits, Listeners};
use intermezzo_engine::strategy::{ChoicePoint, Coverage, Needs, Plan, SoFar, Status, Strategy};
use intermezzo_engine::trace::{Analysis, Trace, class_of};
use intermezzo_explorer::sync::atomic::AtomicUsize;
use intermezzo_explorer::sync::{Barrier, Condvar, Mutex, Once, RwLock, mpsc};
use intermezzo_explorer::thread;
use intermezzo_sdk::{Context, Execution, Interests, Monitor, SyncVarAccess, SyncVarOp, VectorClock};
use intermezzo_search::kinds::StrategyKind;
use intermezzo_search::policies::policy;
use intermezzo_search::sampling::Sampling;
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex as StdMutex};

/// A program: each number is an operation.
type Program = Vec<Vec<u8>>;

/// The objects that tasks share.
struct Shared {
    atomics: [AtomicUsize; 2],
    mutex: Mutex<()>,
    lock: RwLock<()>,
    condvar: Condvar,
    once: Once,
    barrier: Barrier,
    sender: mpsc::Sender<()>,
    receiver: Mutex<mpsc::Receiver<()>>,
}

impl Shared {
    fn perform(&self, op: u8) {
        match op {
            0 | 1 => drop(self.atomics[op as usize].load(Relaxed)),
            2 | 3 => self.atomics[op as usize - 2].store(1, Relaxed),
            4 => drop(self.atomics[0].fetch_add(1, Relaxed)),
            5 => drop(self.mutex.lock()),
            6 => drop(self.mutex.try_lock()),
            7 => drop(self.lock.read()),
            8 => drop(self.lock.write()),
            9 => self.condvar.notify_all(),
            10 => drop(self.condvar.wait(self.mutex.lock().unwrap())),
            11 => self.once.call_once(|| {}),
            12 => drop(self.sender.send(())),
            13 => drop(self.receiver.lock().unwrap().try_recv()),
            14 => drop(self.barrier.wait()),
            _ => thread::yield_now(),
        }
    }
}

fn run(program: &Program) {
    let (sender, receiver) = mpsc::channel();
    let shared = Shared {
        atomics: [AtomicUsize::new(0), AtomicUsize::new(0)],
        mutex: Mutex::new(()),
        lock: RwLock::new(()),
        condvar: Condvar::new(),
        once: Once::new(),
        barrier: Barrier::new(2),
        sender,
        receiver: Mutex::new(receiver),
    };
    thread::scope(|scope| {
        for ops in program {
            let shared = &shared;
            scope.spawn(move || ops.iter().for_each(|&op| shared.perform(op)));
        }
    });
    // The ends of these objects do not belong to the test.
    std::mem::forget(shared);
}

/// The last execution: its accesses, and the clock of each.
type Heard = Arc<StdMutex<Vec<(SyncVarAccess, VectorClock)>>>;

struct Hearing(Heard);

impl Monitor for Hearing {
    fn name(&self) -> &str {
        "hearing"
    }
    fn interests(&self) -> Interests {
        Interests::NONE
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        let known = |access: &SyncVarAccess| (*access, cx.clock(access.event).unwrap().clone());
        *self.0.lock().unwrap() = execution.accesses.iter().map(known).collect();
    }
}

/// A random walk for which everything is analysed.
struct InDetail(Sampling);

impl Strategy for InDetail {
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        self.0.next(plan, trace)
    }
    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        self.0.choose(point)
    }
    fn needs(&self) -> Needs {
        Needs {
            every_step: true,
            analysis: Analysis::Races,
            ..Needs::default()
        }
    }
    fn status(&self, so_far: &SoFar<'_>) -> Status {
        self.0.status(so_far)
    }
    fn coverage(&self, finished: bool) -> Coverage {
        self.0.coverage(finished)
    }
}

#[test]
fn the_order_that_monitors_see_contains_that_of_the_search() {
    let (mut ordered, mut executions) = (0_u64, 0_u64);
    for seed in 0..150 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut ops = |_| -> Vec<u8> {
            let length = random.random_range(1..5);
            (0..length).map(|_| random.random_range(0..16)).collect()
        };
        let program: Program = (0..2 + seed % 2).map(&mut ops).collect();
        let heard = Heard::default();
        let limits = Limits {
            tasks: 64,
            awaits: true,
            ..support::limits()
        };
        let mut worker = Executor::new(
            Box::new(InDetail(Sampling::new(seed, policy(&StrategyKind::Random, None)))),
            Environment::calm(),
            limits,
            None,
            Listeners::new(vec![Box::new(Hearing(heard.clone()))]),
        );
        for _ in 0..20 {
            assert!(worker.prepare());
            worker.execute(&|| run(&program));
            executions += 1;
            let heard = heard.lock().unwrap();
            let shown: Vec<&(SyncVarAccess, VectorClock)> = heard
                .iter()
                .filter(|(access, _)| class_of(access.op, access.var.0, false).is_some())
                .filter(|(access, _)| access.op != SyncVarOp::TaskEnd)
                .collect();
            let trace = worker.trace();
            let tasks: Vec<u32> = shown.iter().map(|(access, _)| access.event.task.0).collect();
            // All entries except the joins that nothing follows.
            let entries = trace.tasks_of_entries();
            assert!(tasks.starts_with(&entries), "{program:?}");
            assert!(
                shown[entries.len()..]
                    .iter()
                    .all(|(access, _)| access.op == SyncVarOp::TaskJoin)
            );
            let shown = &shown[..entries.len()];
            for (later, (access, clock)) in shown.iter().enumerate() {
                for (earlier, (before, _)) in shown[..later].iter().enumerate() {
                    if trace.entry_precedes(earlier, later) {
                        ordered += 1;
                        assert!(
                            clock.knows(before.event),
                            "{program:?}: {before:?} comes before {access:?}"
                        );
                    }
                }
            }
        }
    }
    assert!(ordered > 10 * executions, "{ordered} in {executions}");
}
