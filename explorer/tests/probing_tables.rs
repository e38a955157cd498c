//! Compares wakeup trees with source sets and caching, on random programs whose tasks probe a table. The variables that
//! come into use, their order, and the next operation of a task depend on the schedule. The programs are too large for a
//! search without reduction, with more tasks and more variables than those of `reductions`.
//!
//! `EXPLORED_PROGRAMS` sets the number of programs, `EXPLORED_SEED` the seed.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Environment, Explorer, Reduction, Report, Settings, thread};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use Op::{Claim, Follow, Free, Refuse};

const SEED: u64 = 7;
const PROGRAMS: u64 = 600;
/// The maximum number of executions of a program by source sets; larger programs are left out.
const EXECUTIONS_MAX: u64 = 300;
/// The maximum number of executions by others. Caching may need more, and is then left out.
const OTHERS_MAX: u64 = 100 * EXECUTIONS_MAX;

/// An operation of a task.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// Takes the first slot that holds 0, starting at this one and wrapping around.
    Claim(usize),
    /// Makes a slot hold 0.
    Free(usize),
    /// Writes to a slot; if that held 0, writes to another.
    Follow(usize, usize),
    /// Fails if a slot holds this value.
    Refuse(usize, usize),
}

#[derive(Clone, Debug)]
struct Program {
    slots: usize,
    /// `true` if all slots are read before there are tasks.
    known: bool,
    tasks: Vec<Vec<Op>>,
}

impl Program {
    fn draw(rng: &mut Xoshiro256PlusPlus) -> Program {
        let tasks: usize = rng.random_range(3..7);
        let slots = rng.random_range(6..12);
        // The slots are near each other, so that the tasks interact.
        let near = rng.random_range(1..=slots);
        let op = |rng: &mut Xoshiro256PlusPlus| match rng.random_range(0..12) {
            0 | 1 => Free(rng.random_range(0..near)),
            2 => Follow(rng.random_range(0..near), rng.random_range(0..near)),
            _ => Claim(rng.random_range(0..near)),
        };
        let ops = |rng: &mut Xoshiro256PlusPlus| {
            let count = rng.random_range(1..if tasks > 4 { 3 } else { 4 });
            (0..count).map(|_| op(rng)).collect()
        };
        Program {
            slots,
            known: rng.random_range(0..2) == 0,
            tasks: (0..tasks).map(|_| ops(rng)).collect(),
        }
    }

    /// Returns the same program, except that a task fails if it finds a value that another may have left.
    fn failing(mut self, rng: &mut Xoshiro256PlusPlus) -> Program {
        let task = rng.random_range(0..self.tasks.len());
        let other = (task + rng.random_range(1..self.tasks.len())) % self.tasks.len();
        let ops = &mut self.tasks[task];
        let at = rng.random_range(0..ops.len());
        ops[at] = Refuse(rng.random_range(0..self.slots.min(4)), other + 1);
        self
    }

    fn run(&self, found: &Mutex<BTreeSet<Vec<Deed>>>) {
        let table: Vec<AtomicUsize> = (0..self.slots).map(|_| AtomicUsize::new(0)).collect();
        if self.known {
            table.iter().for_each(|slot| _ = slot.load(SeqCst));
        }
        let deeds = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for (number, ops) in self.tasks.iter().enumerate() {
                let task = Task {
                    number,
                    table: &table,
                    deeds: &deeds,
                };
                scope.spawn(move || ops.iter().for_each(|op| task.perform(*op)));
            }
        });
        found
            .lock()
            .unwrap()
            .insert(canonical(deeds.into_inner().unwrap()));
    }

    fn explored(&self, reduction: Reduction, jobs: usize) -> (Report, BTreeSet<Vec<Deed>>) {
        let found = Arc::new(Mutex::new(BTreeSet::new()));
        let (program, seen) = (self.clone(), found.clone());
        let most = match reduction {
            Reduction::SourceDpor => EXECUTIONS_MAX,
            _ => OTHERS_MAX,
        };
        let explorer = Explorer::with_settings(Settings {
            environment: Environment::calm(),
            reduction,
            jobs,
            executions: Some(most),
            keep_going: true,
            minimise: 0,
            ..Settings::default()
        });
        let report = explorer.explore(move || program.run(&seen));
        let found = std::mem::take(&mut *found.lock().unwrap());
        (report, found)
    }
}

/// An access to a slot: the slot, the task, its number among all accesses, and `true` if it wrote.
type Deed = (usize, usize, usize, bool);

/// Returns the accesses in a form that is the same for all executions of a trace: slot by slot, and reads without a
/// write between them by task.
fn canonical(mut deeds: Vec<Deed>) -> Vec<Deed> {
    deeds.sort_by_key(|&(slot, ..)| slot);
    for reads in deeds.chunk_by_mut(|a, b| a.0 == b.0 && !a.3 && !b.3) {
        reads.sort_by_key(|&(_, task, ..)| task);
    }
    // The position among all accesses differs from one order to another.
    deeds.iter_mut().for_each(|deed| deed.2 = 0);
    deeds
}

#[derive(Clone, Copy)]
struct Task<'a> {
    number: usize,
    table: &'a [AtomicUsize],
    deeds: &'a Mutex<Vec<Deed>>,
}

impl Task<'_> {
    fn perform(self, op: Op) {
        let own = self.number + 1;
        match op {
            Free(slot) => {
                self.table[slot].store(0, SeqCst);
                self.note(slot, true);
            }
            Follow(first, second) => {
                let before = self.table[first].swap(own, SeqCst);
                self.note(first, true);
                if before == 0 {
                    self.table[second].store(own, SeqCst);
                    self.note(second, true);
                }
            }
            Refuse(slot, unwanted) => {
                let found = self.table[slot].load(SeqCst);
                self.note(slot, false);
                assert_ne!(found, unwanted);
            }
            Claim(first) => {
                for tries in 0..self.table.len() {
                    let slot = (first + tries) % self.table.len();
                    let result = self.table[slot].compare_exchange(0, own, SeqCst, SeqCst);
                    self.note(slot, result.is_ok());
                    if result.is_ok() {
                        return;
                    }
                }
            }
        }
    }

    fn note(self, slot: usize, wrote: bool) {
        let mut deeds = self.deeds.lock().unwrap();
        let number = deeds.len();
        deeds.push((slot, self.number, number, wrote));
    }
}

/// Compares all searches of a program. Returns `None` if it was too large, else `true` if the wakeup trees stayed
/// reliable.
fn compare(program: &Program) -> Option<bool> {
    let (report, found) = program.explored(Reduction::SourceDpor, 1);
    if report.executions() >= EXECUTIONS_MAX {
        return None;
    }
    assert_eq!(
        report.traces(),
        Some(found.len() as u64),
        "{program:?}: the traces are counted as they are seen"
    );
    let mut sure = true;
    for (reduction, jobs) in [
        (Reduction::Caching, 1),
        (Reduction::Dpor, 1),
        (Reduction::Dpor, 2),
        (Reduction::Dpor, 3),
    ] {
        let (report, others) = program.explored(reduction, jobs);
        if reduction == Reduction::Caching && report.executions() >= OTHERS_MAX {
            continue;
        }
        let name = format!("{program:?} by {reduction:?}, {jobs} workers");
        assert!(
            others == found,
            "{name}: misses {:?}",
            found.difference(&others).next()
        );
        assert_eq!(report.traces(), Some(found.len() as u64), "{name}");
        if (reduction, jobs) == (Reduction::Dpor, 1) {
            sure = report.reduction() == "dpor";
            if sure {
                assert_eq!(report.redundant(), 0, "{name}");
                assert_eq!(report.executions(), found.len() as u64, "{name}");
            }
        }
    }
    Some(sure)
}

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect(name))
}

#[test]
#[allow(clippy::print_stdout, reason = "figures for whoever runs the test by hand")]
fn wakeup_trees_find_all_traces_of_random_tables() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(variable("EXPLORED_SEED").unwrap_or(SEED));
    let programs = variable("EXPLORED_PROGRAMS").unwrap_or(PROGRAMS);
    let compared: Vec<bool> = (0..programs)
        .filter_map(|_| compare(&Program::draw(&mut rng)))
        .collect();
    let sure = compared.iter().filter(|sure| **sure).count();
    println!(
        "{} programs, in {sure} of which no other reduction took over",
        compared.len()
    );
    assert!(
        sure > compared.len() * 9 / 10,
        "it was sure of {sure} of {} only",
        compared.len()
    );
}

/// The execution would continue in an unknown way after a failure, so each search must find the traces with a failure
/// itself.
#[test]
fn failures_lose_no_traces_of_random_tables() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(variable("EXPLORED_SEED").unwrap_or(SEED));
    let programs = variable("EXPLORED_PROGRAMS").unwrap_or(PROGRAMS) / 3;
    let sure = (0..programs).filter_map(|_| compare(&Program::draw(&mut rng).failing(&mut rng)));
    let failing = sure.filter(|sure| !sure).count() as u64;
    assert!(failing > programs / 10, "only {failing} of {programs} fail");
}

/// Each program lost a trace when one part of the algorithm was left out, or something was assumed.
#[test]
fn wakeup_trees_find_all_traces_of_hard_tables() {
    let program = |slots, known, tasks: &[&[Op]]| Program {
        slots,
        known,
        tasks: tasks.iter().map(|ops| ops.to_vec()).collect(),
    };
    for program in [
        // The steps that follow a race that was known before belong to the sequence that reverses it.
        program(
            7,
            true,
            &[
                &[Claim(1), Claim(1)],
                &[Free(0)],
                &[Claim(0)],
                &[Claim(0)],
                &[Claim(2)],
            ],
        ),
        program(
            6,
            true,
            &[&[Free(0)], &[Follow(1, 0)], &[Free(1)], &[Free(2)], &[Free(2)]],
        ),
        program(
            6,
            false,
            &[&[Free(0)], &[Follow(1, 0)], &[Free(1)], &[Free(2)], &[Free(2)]],
        ),
        // A task that sleeps at the end of a tried sequence may keep sleeping if its accesses were not known.
        program(
            10,
            false,
            &[
                &[Claim(0)],
                &[Claim(2), Claim(2)],
                &[Claim(0), Claim(0), Claim(0)],
            ],
        ),
        // After a step that now comes before a race, its task continues differently.
        program(
            6,
            false,
            &[
                &[Claim(1), Free(4)],
                &[Claim(0)],
                &[Free(1)],
                &[Claim(0), Claim(2)],
            ],
        ),
        // A variable that has come into use since may be any of those that did.
        program(
            6,
            false,
            &[
                &[Claim(5), Claim(4)],
                &[Claim(1), Free(4)],
                &[Claim(0)],
                &[Free(1)],
                &[Claim(0), Claim(2)],
            ],
        ),
        // Two variables that were assumed to differ are one. Either that is noticed, or the trees run some traces
        // twice.
        program(
            6,
            false,
            &[
                &[Claim(4), Follow(3, 3)],
                &[Follow(0, 2)],
                &[Claim(3)],
                &[Claim(1)],
                &[Claim(1), Claim(1)],
            ],
        ),
    ] {
        assert!(compare(&program).is_some(), "{program:?} is small enough");
    }
}
