//! Programs that sleep while another task waits for its own time and yields: compared with a search without fairness, and
//! with the behaviour in reality.

use crate::agreement::Random;
use crate::variable;
use intermezzo_explorer::sync::atomic::{AtomicU64, Ordering::SeqCst};
use intermezzo_explorer::sync::{self, Condvar, mpsc};
use intermezzo_explorer::time::Instant;
use intermezzo_explorer::{Explorer, Reduction, Report, Strategy, thread};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

/// The default number of random programs; `EXPLORED_SLEEPERS` changes it.
const PROGRAMS: u64 = 70;

/// The number of executions without fairness at which a program is too large.
const EXECUTIONS_MAX: u64 = 20_000;

const REDUCTIONS: [Reduction; 4] = [
    Reduction::None,
    Reduction::Caching,
    Reduction::SourceDpor,
    Reduction::Dpor,
];

#[derive(Clone, Copy, Debug)]
enum Op {
    Sleep(u64),
    Yield,
    Store,
    Load,
    /// Checks if this time has passed since the beginning.
    Passed(u64),
    /// Yields this many times between two reads of the clock, until the word is set or this time has passed.
    Spin(u32, u64),
    /// Sleeps this long between two reads of the word, at most this many times.
    Poll(u64, u32),
}

type Program = Vec<Vec<Op>>;

fn micros(time: u64) -> Duration {
    Duration::from_micros(time)
}

fn draw(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let tasks = 2 + random.below(2);
    let op = |random: &mut Random| match random.below(12) {
        0..=2 => Op::Sleep(1 + random.below(40) as u64),
        3 => Op::Yield,
        4..=6 => Op::Store,
        7 => Op::Load,
        8 => Op::Passed(1 + random.below(20) as u64),
        9 | 10 => Op::Spin(1 + random.below(4) as u32, 1 + random.below(8) as u64),
        _ => Op::Poll(1 + random.below(9) as u64, 1 + random.below(4) as u32),
    };
    let ops = |random: &mut Random| (0..1 + random.below(3)).map(|_| op(random)).collect();
    (0..tasks).map(|_| ops(&mut random)).collect()
}

fn run(program: &Program) -> Vec<Vec<u64>> {
    let word = AtomicU64::new(0);
    let start = Instant::now();
    let act = |ops: &[Op]| {
        let mut seen = Vec::new();
        for &op in ops {
            match op {
                Op::Sleep(time) => thread::sleep(micros(time)),
                Op::Yield => thread::yield_now(),
                Op::Store => word.store(1, SeqCst),
                Op::Load => seen.push(word.load(SeqCst)),
                Op::Passed(time) => seen.push((start.elapsed() >= micros(time)).into()),
                Op::Spin(yields, limit) => seen.push(spin(&word, yields, limit).into()),
                Op::Poll(time, most) => {
                    let is_set = |_| {
                        let is_set = word.load(SeqCst) != 0;
                        if !is_set {
                            thread::sleep(micros(time));
                        }
                        is_set
                    };
                    seen.push((0..most).any(is_set).into());
                }
            }
        }
        seen
    };
    thread::scope(|scope| {
        let begun: Vec<_> = program[1..].iter().map(|ops| scope.spawn(|| act(ops))).collect();
        let mut seen = vec![act(&program[0])];
        seen.extend(begun.into_iter().map(|handle| handle.join().unwrap()));
        seen
    })
}

/// Returns `true` if the word is set before this time has passed.
fn spin(word: &AtomicU64, yields: u32, limit: u64) -> bool {
    let start = Instant::now();
    loop {
        for _ in 0..yields {
            if word.load(SeqCst) != 0 {
                return true;
            }
            thread::yield_now();
        }
        if start.elapsed() >= micros(limit) {
            return false;
        }
    }
}

fn searched(reduction: Reduction, fair_yields: &str) -> Explorer {
    Explorer::new()
        .strategy(Strategy::dfs())
        .reduction(reduction)
        .executions(EXECUTIONS_MAX)
        .set("environment", "spurious_wakeups=0")
        .set("spin_loops", format!("fair_yields={fair_yields}"))
        .set("monitors", "none")
}

fn outcomes(program: &Program, reduction: Reduction, fair_yields: &str) -> (BTreeSet<Vec<Vec<u64>>>, Report) {
    let outcomes = Mutex::new(BTreeSet::new());
    let report = searched(reduction, fair_yields).explore(|| {
        let outcome = run(program);
        outcomes.lock().unwrap().insert(outcome);
    });
    assert!(report.findings().is_empty(), "{program:?}: {report}");
    (outcomes.into_inner().unwrap(), report)
}

#[test]
fn random_programs_have_only_outcomes_that_occur_without_fairness() {
    let programs = variable("EXPLORED_SLEEPERS").unwrap_or(PROGRAMS);
    let (mut compared, mut same) = (0, 0);
    for seed in 1..=programs {
        let program = draw(seed);
        let (all, unfair) = outcomes(&program, Reduction::None, "1000000");
        let fair = REDUCTIONS.map(|reduction| outcomes(&program, reduction, "1"));
        let is_whole = |report: &Report| report.executions() < EXECUTIONS_MAX;
        if !is_whole(&unfair) || !fair.iter().all(|(_, report)| is_whole(report)) {
            continue;
        }
        for (shown, report) in &fair {
            assert!(shown.is_subset(&all), "{seed}: {program:?}: {report}");
            assert!(shown.is_superset(&fair[0].0), "{seed}: {program:?}: {report}");
        }
        compared += 1;
        same += u64::from(fair[0].0 == all);
    }
    assert!(
        compared * 2 >= programs && same * 2 >= compared,
        "{compared} {same}"
    );
}

/// In reality, the time of the task that yields is over long before the other one has woken.
#[test]
fn a_task_that_yields_finds_its_time_over_before_a_longer_sleep_is() {
    use Op::*;
    let spin = (1..=12).flat_map(|yields| [1, 3, 50, 900].map(|limit| Spin(yields, limit)));
    let poll = (1..=40).map(|most| Poll(10, most));
    for op in spin.chain(poll) {
        let program = vec![vec![op], vec![Sleep(1_000), Store]];
        for reduction in REDUCTIONS {
            let (shown, report) = outcomes(&program, reduction, "1");
            assert!(shown.contains(&vec![vec![0], vec![]]), "{program:?}: {report}");
            assert!(shown.contains(&vec![vec![1], vec![]]), "{program:?}: {report}");
            assert!(report.executions() < 500, "{program:?}: {report}");
        }
    }
}

/// A limit on the other task's wait is like a sleep: nothing else ends it.
#[test]
fn a_task_that_yields_finds_its_time_over_before_a_longer_wait_is() {
    let waits: [fn(Duration); 3] = [
        thread::park_timeout,
        |limit| {
            let (_sender, receiver) = mpsc::channel::<()>();
            assert!(receiver.recv_timeout(limit).is_err());
        },
        |limit| {
            let lock = sync::Mutex::new(());
            let held = lock.lock().unwrap();
            assert!(Condvar::new().wait_timeout(held, limit).unwrap().1.timed_out());
        },
    ];
    for wait in waits {
        for reduction in REDUCTIONS {
            for yields in [1, 4, 12] {
                for limit in [1, 900] {
                    let seen = Mutex::new(BTreeSet::new());
                    let report = searched(reduction, "1").explore(|| {
                        let word = AtomicU64::new(0);
                        let is_set = thread::scope(|scope| {
                            scope.spawn(|| {
                                wait(micros(1_000));
                                word.store(1, SeqCst);
                            });
                            spin(&word, yields, limit)
                        });
                        seen.lock().unwrap().insert(is_set);
                    });
                    let seen = seen.into_inner().unwrap();
                    assert_eq!(
                        seen,
                        BTreeSet::from([false, true]),
                        "{yields} {limit} {reduction:?}: {report}"
                    );
                    assert!(report.executions() < 5_000, "{report}");
                }
            }
        }
    }
}

/// The loop counts its rounds, so it is not recognised as one that only waits.
#[test]
fn a_loop_that_yields_until_a_sleeping_task_does_something_ends() {
    let looks: [fn(&mut Option<Instant>); 3] = [
        |_| {},
        |start| _ = start.get_or_insert_with(Instant::now),
        |start| _ = start.insert(Instant::now()),
    ];
    for look in looks {
        for sleeps in 1..=2 {
            let report = Explorer::new().reduction(Reduction::None).explore(|| {
                let word = AtomicU64::new(0);
                thread::scope(|scope| {
                    scope.spawn(|| {
                        for _ in 0..sleeps {
                            thread::sleep(Duration::from_millis(20));
                        }
                        word.store(1, SeqCst);
                    });
                    let (mut rounds, mut start) = (0_u64, None);
                    while word.load(SeqCst) == 0 {
                        look(&mut start);
                        rounds += 1;
                        thread::yield_now();
                    }
                    std::hint::black_box(rounds);
                });
            });
            assert!(report.verdict().is_pass(), "{report}");
            assert!(report.executions() < EXECUTIONS_MAX, "{report}");
        }
    }
}
