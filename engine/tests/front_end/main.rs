//! A second front end on the engine, beside the look-alikes: searches, reductions, monitors, reports and replays work
//! with it as they do with those.

#[path = "../../../tests/common/by_workers.rs"]
mod by_workers;
mod numbered;

use by_workers::by_workers;
use intermezzo_engine::runtime::Does::{Read, Write};
use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Explorer, Reduction, Report, thread};
use intermezzo_monitors::data_race::DataRaces;
use numbered::{add, join, load, lock, name_places, plain, plain_bytes, spawn, store, unlock};
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;

/// An operation on one of two locks or two atomics, which have the numbers 0 to 3.
#[derive(Clone, Copy, Debug)]
enum Op {
    Locked(usize, usize),
    Load(usize),
    Store(usize),
    Add(usize),
}

fn program(random: &mut Xoshiro256PlusPlus) -> Vec<Vec<Op>> {
    let mut op = || match random.random_range(0..5) {
        0 => Op::Locked(random.random_range(0..2), random.random_range(2..4)),
        1 => Op::Load(random.random_range(2..4)),
        2 => Op::Store(random.random_range(2..4)),
        _ => Op::Add(random.random_range(2..4)),
    };
    (0..2).map(|_| (0..3).map(|_| op()).collect()).collect()
}

/// Runs a program through the numbered front end.
fn by_number(program: &[Vec<Op>]) {
    let run = |ops: Vec<Op>| {
        move || {
            for op in ops {
                match op {
                    Op::Locked(of, atomic) => {
                        lock(of, 1);
                        add(atomic, 2);
                        unlock(of, 3);
                    }
                    Op::Load(atomic) => _ = load(atomic, 4),
                    Op::Store(atomic) => store(atomic, 1, 5),
                    Op::Add(atomic) => _ = add(atomic, 6),
                }
            }
        }
    };
    let tasks: Vec<u32> = program.iter().map(|ops| spawn(run(ops.clone()), 7)).collect();
    tasks.into_iter().for_each(|task| join(task, 8));
}

/// Runs it through the look-alikes.
fn by_look_alikes(program: &[Vec<Op>]) {
    let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
    let atomics = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let run = |ops: Vec<Op>| {
        let (locks, atomics) = (Arc::clone(&locks), Arc::clone(&atomics));
        move || {
            for op in ops {
                match op {
                    Op::Locked(of, atomic) => {
                        let _held = locks[of].lock();
                        atomics[atomic - 2].fetch_add(1, SeqCst);
                    }
                    Op::Load(atomic) => _ = atomics[atomic - 2].load(SeqCst),
                    Op::Store(atomic) => atomics[atomic - 2].store(1, SeqCst),
                    Op::Add(atomic) => _ = atomics[atomic - 2].fetch_add(1, SeqCst),
                }
            }
        }
    };
    let tasks: Vec<_> = program
        .iter()
        .map(|ops| thread::spawn(run(ops.clone())))
        .collect();
    tasks.into_iter().for_each(|task| task.join().unwrap());
}

#[test]
fn every_search_runs_the_same_executions() {
    let mut executions = 0;
    for seed in 0..60 {
        let program = program(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        for reduction in [
            Reduction::None,
            Reduction::Caching,
            Reduction::SourceDpor,
            Reduction::Dpor,
        ] {
            let explorer = || Explorer::new().reduction(reduction);
            let ours = explorer().explore(|| by_number(&program));
            let theirs = explorer().explore(|| by_look_alikes(&program));
            assert_eq!(
                (ours.executions(), ours.traces(), ours.coverage()),
                (theirs.executions(), theirs.traces(), theirs.coverage()),
                "{program:?} {reduction:?}"
            );
            executions += ours.executions();
        }
    }
    assert!(executions > 8_000, "{executions}");
}

fn crosswise() {
    let other = spawn(
        || {
            lock(1, 11);
            lock(0, 12);
            unlock(0, 13);
            unlock(1, 14);
        },
        10,
    );
    lock(0, 15);
    lock(1, 16);
    unlock(1, 17);
    unlock(0, 18);
    join(other, 19);
}

fn only_finding(report: &Report) -> (String, &str) {
    assert_eq!(report.findings().len(), 1, "{report}");
    let finding = &report.findings()[0];
    (finding.kind.to_string(), &finding.message)
}

#[test]
fn a_deadlock_is_found_and_replayed_with_its_places() {
    name_places();
    let report = Explorer::new().explore(crosswise);
    let (kind, message) = only_finding(&report);
    assert_eq!(kind, "deadlock", "{report}");
    for part in ["numbered.bin:12:1", "numbered.bin:16:1"] {
        assert!(message.contains(part), "{message}");
    }
    let schedule = report.findings()[0].schedule.clone();
    let again = Explorer::new()
        .program(report.program())
        .replay(schedule)
        .explore(crosswise);
    assert_eq!(only_finding(&again), (kind, message), "{again}");
}

#[test]
fn plain_memory_races_by_its_address() {
    name_places();
    let race = |guarded: bool| {
        let explorer = Explorer::new().monitor(DataRaces::new());
        explorer.explore(move || {
            let access = move |does, at| {
                if guarded {
                    lock(0, 20);
                }
                plain(0x1000, does, at);
                if guarded {
                    unlock(0, 23);
                }
            };
            let other = spawn(move || access(Write, 21), 24);
            access(Read, 22);
            // Another piece of memory.
            plain(0x1008, Read, 26);
            join(other, 25);
        })
    };
    let report = race(false);
    let (kind, message) = only_finding(&report);
    assert_eq!(kind, "data_race", "{report}");
    for part in ["numbered.bin:21:1", "numbered.bin:22:1"] {
        assert!(message.contains(part), "{message}");
    }
    assert!(race(true).findings().is_empty());
}

/// A program of some tasks: each accesses bytes of plain memory, partly under locks.
#[derive(Clone, Copy, Debug)]
enum Step {
    Bytes(bool, usize, usize, usize),
    Lock(usize),
    Unlock(usize),
    Add(usize),
}

fn steps(random: &mut Xoshiro256PlusPlus, at: usize, sizes: &[usize], range: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    for number in 0..random.random_range(1..4) {
        let mut bytes = || {
            let size = sizes[random.random_range(0..sizes.len())];
            let address = 0x1000 + random.random_range(0..range);
            let writes = random.random_range(0..3) == 0;
            // Some of them at the same place, which only reads or only writes.
            let at = at + number * random.random_range(0..2) + 10 * usize::from(writes);
            Step::Bytes(writes, address, size, at)
        };
        let (one, other) = (bytes(), bytes());
        match random.random_range(0..4) {
            0 | 1 => steps.extend([Step::Lock(0), one, other, Step::Unlock(0)]),
            2 => steps.extend([one, Step::Add(1), other]),
            _ => steps.push(one),
        }
    }
    steps
}

fn do_steps(held: bool, steps: &[Step]) {
    for &step in steps {
        match step {
            Step::Bytes(writes, address, size, at) => {
                plain_bytes(held, address, size, if writes { Write } else { Read }, at);
            }
            Step::Lock(number) => lock(number, 1),
            Step::Unlock(number) => unlock(number, 2),
            Step::Add(number) => _ = add(number, 3),
        }
    }
}

/// Returns the races of a program, without the names of the memory: these are given when it is first published.
fn races(held: bool, of: &[Vec<Step>; 3]) -> (Vec<String>, u64) {
    let report = Explorer::new()
        .reduction(Reduction::None)
        .monitor(DataRaces::new())
        .set("data_points", "none")
        .set("keep_going", "true")
        .explore(|| {
            do_steps(held, &of[0]);
            let tasks = [&of[1], &of[2]].map(|steps| {
                let steps = steps.clone();
                spawn(move || do_steps(held, &steps), 4)
            });
            do_steps(held, &of[0]);
            tasks.into_iter().for_each(|task| join(task, 5));
            do_steps(held, &of[0]);
        });
    let message = |text: &str| text.split_once(": ").map_or(text, |(_, rest)| rest).to_owned();
    let mut messages: Vec<String> = report
        .findings()
        .iter()
        .map(|found| message(&found.message))
        .collect();
    messages.sort();
    messages.dedup();
    (messages, report.executions())
}

/// Compares the races of random programs with those that are found if nothing is held back. The accesses have these
/// sizes, and begin in that many bytes.
fn compare_races(programs: u64, sizes: &[usize], range: usize, least_clean: usize) {
    name_places();
    let are_racy = by_workers(0..programs, |seed| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let program = [100, 200, 300].map(|at| steps(&mut random, at, sizes, range));
        let at_once = races(false, &program);
        assert_eq!(races(true, &program), at_once, "seed {seed}: {program:?}");
        !at_once.0.is_empty()
    });
    let racy = are_racy.iter().filter(|is_racy| **is_racy).count();
    let clean = are_racy.len() - racy;
    assert!(
        racy > are_racy.len() / 2 && clean >= least_clean,
        "{racy} {clean}"
    );
}

#[test]
fn accesses_that_are_held_back_show_the_same_races() {
    compare_races(100, &[1, 2, 8, 16], 24, 6);
}

/// Large accesses are kept for whole chunks of 4 KiB, and small ones for each piece.
#[test]
fn large_accesses_that_are_held_back_show_the_same_races() {
    compare_races(8, &[1, 8, 8192], 5 << 10, 0);
}
