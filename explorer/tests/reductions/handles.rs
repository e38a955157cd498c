//! Values with destructors that several tasks share by handles: random programs, in which the destructor shows which task
//! ran it and when. Every reduction has the outcomes of brute force, and wakeup trees run one execution for each trace.

use super::variable;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, Mutex};
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Report, thread};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeSet;
use std::sync::{Mutex as StdMutex, PoisonError};

/// An operation of a task.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// Appends the task's number to the list under this lock.
    Push(usize),
    /// Adds to an atomic, and records the previous value.
    Add(usize),
    /// Drops the task's handle on this value.
    Drop(usize),
    /// Clones the task's handle on this value, and drops the clone.
    Clone(usize),
    /// Records whether the task's handle on this value is the only one.
    IsOnly(usize),
}

#[derive(Clone, Debug)]
struct Program {
    tasks: Vec<Vec<Op>>,
    /// `true` if main keeps its handles until it has joined the tasks.
    main_keeps: bool,
    /// `true` if the destructors have visible operations.
    visible: bool,
}

impl Program {
    fn random(random: &mut Xoshiro256PlusPlus) -> Program {
        let tasks = random.random_range(2..=4);
        let most = [0, 0, 2, 2, 1][tasks];
        let op = |random: &mut Xoshiro256PlusPlus| {
            let which = random.random_range(0..2);
            match random.random_range(0..8) {
                0..3 => Op::Push(which),
                3..5 => Op::Add(which),
                5 => Op::Drop(which),
                6 => Op::Clone(which),
                _ => Op::IsOnly(which),
            }
        };
        Program {
            tasks: (0..tasks)
                .map(|_| (0..random.random_range(1..=most)).map(|_| op(random)).collect())
                .collect(),
            main_keeps: random.random(),
            visible: random.random(),
        }
    }
}

/// A value whose destructor reads the lists and the atomics.
struct Value {
    number: usize,
    visible: bool,
    shared: &'static Shared,
}

/// The state that the tasks share.
struct Shared {
    lists: [Mutex<Vec<usize>>; 2],
    atomics: [AtomicUsize; 2],
    seen: StdMutex<Vec<String>>,
}

impl Shared {
    fn note(&self, text: String) {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(text);
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        if self.visible {
            let found = self.shared.atomics[self.number].fetch_add(100, SeqCst);
            self.shared
                .note(format!("value {} dropped at {found}", self.number));
        }
    }
}

/// Runs the program once, and returns its outcome: the lists, and the notes of the tasks and destructors, sorted.
fn run(program: &Program) -> String {
    // Leaked, because destructors may run late: a few dozen bytes for each execution.
    let shared: &'static Shared = Box::leak(Box::new(Shared {
        lists: [const { Mutex::new(Vec::new()) }; 2],
        atomics: [const { AtomicUsize::new(0) }; 2],
        seen: StdMutex::new(Vec::new()),
    }));
    let values: [Arc<Value>; 2] = [0, 1].map(|number| {
        Arc::new(Value {
            number,
            visible: program.visible,
            shared,
        })
    });
    let tasks: Vec<_> = program
        .tasks
        .iter()
        .enumerate()
        .map(|(task, ops)| {
            let (ops, mut own) = (ops.clone(), values.clone().map(Some));
            thread::spawn(move || {
                for (at, op) in ops.into_iter().enumerate() {
                    match op {
                        Op::Push(list) => shared.lists[list].lock().unwrap().push(task),
                        Op::Add(which) => {
                            let found = shared.atomics[which].fetch_add(1, SeqCst);
                            shared.note(format!("{task}.{at} found {found}"));
                        }
                        Op::Drop(value) => drop(own[value].take()),
                        Op::Clone(value) => drop(own[value].clone()),
                        Op::IsOnly(value) => {
                            let only = own[value].as_mut().map(|value| Arc::get_mut(value).is_some());
                            shared.note(format!("{task}.{at} is only {only:?}"));
                        }
                    }
                }
            })
        })
        .collect();
    let kept = program.main_keeps.then_some(values);
    tasks.into_iter().for_each(|task| task.join().unwrap());
    drop(kept);
    let mut seen = shared.seen.lock().unwrap().clone();
    seen.sort();
    let lists = shared.lists.each_ref().map(|list| list.lock().unwrap().clone());
    format!("{lists:?} {seen:?}")
}

fn explore(program: &Program, reduction: Reduction, every_operation: bool) -> (Report, BTreeSet<String>) {
    let outcomes = StdMutex::new(BTreeSet::new());
    let report = Explorer::new()
        .set("strategy", "dfs")
        .reduction(reduction)
        .environment(Environment::calm())
        .set("executions", EXECUTIONS_MAX)
        .set("time", "none")
        .every_operation(every_operation)
        .explore(|| {
            let outcome = run(program);
            outcomes.lock().unwrap().insert(outcome);
        });
    (report, outcomes.into_inner().unwrap())
}

/// Programs with more executions are left out.
const EXECUTIONS_MAX: u64 = 20_000;

/// The number of programs, unless `EXPLORED_PROGRAMS` sets it.
const PROGRAMS: u64 = 30;

#[test]
fn reductions_show_which_task_drops_a_value_last() {
    let programs = variable("EXPLORED_PROGRAMS").map_or(PROGRAMS, |all| all / 5);
    let seed = variable("EXPLORED_SEED").unwrap_or(super::SEED);
    let (mut compared, mut by_brute_force, mut exact) = (0, 0, 0);
    for number in 0..programs {
        let mut random =
            Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        let program = Program::random(&mut random);
        // With more tasks there are too many executions, and states are compared, but not the order of steps.
        let reference = match program.tasks.len() {
            2 => Reduction::None,
            _ => Reduction::Caching,
        };
        let (whole, all) = explore(&program, reference, true);
        if whole.coverage() != &Coverage::Exhaustive {
            continue;
        }
        by_brute_force += u64::from(reference == Reduction::None);
        compared += 1;
        for reduction in [Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor] {
            let (report, outcomes) = explore(&program, reduction, false);
            assert_eq!(
                outcomes, all,
                "seed {seed}, program {number} by {reduction:?}: {program:?}"
            );
            if reduction == Reduction::Dpor {
                exact += u64::from(report.traces() == Some(report.executions()));
            }
        }
    }
    assert!(compared > programs / 2, "{compared} programs were compared");
    assert!(by_brute_force > 0, "no program was small enough");
    // A search that cannot distinguish two traces in advance gives way to another one.
    assert!(exact * 10 >= compared * 9, "{exact} of {compared}");
}

/// Four tasks that lock one of two lists each: four traces, whether or not a value with a destructor is shared.
#[test]
fn values_with_destructors_cost_no_executions() {
    let lists = |main_keeps| Program {
        tasks: [0, 1, 0, 1, 0].map(|list| vec![Op::Push(list)]).into(),
        main_keeps,
        visible: false,
    };
    let (report, _) = explore(&lists(true), Reduction::Dpor, false);
    assert_eq!((report.executions(), report.traces()), (12, Some(12)));
    // Any task may be the one that drops a value last, for each of two values.
    let (report, _) = explore(&lists(false), Reduction::Dpor, false);
    assert_eq!(report.traces(), Some(report.executions()));
}
