//! Wakeup trees against source sets and caching, on random programs whose tasks probe a table: which variables come into
//! use, in which order, and what a task does next depends on the schedule. They are larger than what brute force goes
//! through, with more tasks and more variables than those of `reductions`.
//!
//! `EXPLORED_PROGRAMS`, a number, sets how many programs; `EXPLORED_SEED` which.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Environment, Explorer, Reduction, Report, Settings, thread};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use Op::{Claim, Follow, Free, Refuse};

const SEED: u64 = 7;
const PROGRAMS: u64 = 1_500;
/// Most executions of a program by source sets; larger ones are left out.
const EXECUTIONS_MAX: u64 = 300;
/// Most executions by others; caching may need more, and is left out then.
const OTHERS_MAX: u64 = 100 * EXECUTIONS_MAX;

/// What a task does, one after the other.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// Takes the first slot that holds 0, from this one on and around.
    Claim(usize),
    /// Makes a slot hold 0.
    Free(usize),
    /// Writes into a slot; and if that held 0, writes into another.
    Follow(usize, usize),
    /// Fails if a slot holds this.
    Refuse(usize, usize),
}

#[derive(Clone, Debug)]
struct Program {
    slots: usize,
    /// Whether all slots are looked at before there are tasks.
    known: bool,
    tasks: Vec<Vec<Op>>,
}

impl Program {
    fn draw(rng: &mut Xoshiro256PlusPlus) -> Program {
        let tasks: usize = rng.random_range(3..7);
        let slots = rng.random_range(6..12);
        // Near each other, so that they meet.
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

    /// The same, but that a task fails somewhere if it finds what another may have left there.
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

/// An access of a slot: which one, by which task, the how-manieth of all, and whether it wrote.
type Deed = (usize, usize, usize, bool);

/// The accesses in a form that is the same for all executions of a trace: slot by slot, and reads with nothing in between by
/// task.
fn canonical(mut deeds: Vec<Deed>) -> Vec<Deed> {
    deeds.sort_by_key(|&(slot, ..)| slot);
    for reads in deeds.chunk_by_mut(|a, b| a.0 == b.0 && !a.3 && !b.3) {
        reads.sort_by_key(|&(_, task, ..)| task);
    }
    // Which of all it was is another in another order.
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

/// Compares all searches of a program: whether it was small enough, and whether wakeup trees were sure of themselves.
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
fn wakeup_trees_come_to_all_traces_of_random_tables() {
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

/// What comes after a failure is not known: each search has to come to all that others of the same tasks show.
#[test]
fn failures_lose_no_traces_of_random_tables() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(variable("EXPLORED_SEED").unwrap_or(SEED));
    let programs = variable("EXPLORED_PROGRAMS").unwrap_or(PROGRAMS) / 3;
    let sure = (0..programs).filter_map(|_| compare(&Program::draw(&mut rng).failing(&mut rng)));
    let failing = sure.filter(|sure| !sure).count() as u64;
    assert!(failing > programs / 10, "only {failing} of {programs} fail");
}

/// Each lost a trace where something of this was left out, or taken for granted.
#[test]
fn wakeup_trees_come_to_all_traces_of_hard_tables() {
    let program = |slots, known, tasks: &[&[Op]]| Program {
        slots,
        known,
        tasks: tasks.iter().map(|ops| ops.to_vec()).collect(),
    };
    for program in [
        // What follows a race that was known before belongs to what reverses it.
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
        // What sleeps at the end of a sequence that is tried may go on sleeping, if it was not known what it touches.
        program(
            10,
            false,
            &[
                &[Claim(0)],
                &[Claim(2), Claim(2)],
                &[Claim(0), Claim(0), Claim(0)],
            ],
        ),
        // After a step that comes before a race now, its task goes on with something else.
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
        // A variable that came into use since may be any of those that did.
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
        // What was taken to be two variables is one: that is noticed, or the trees run some traces twice.
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
