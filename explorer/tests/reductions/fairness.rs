//! Programs in which fairness holds tasks back: every reduction has the outcomes of a search without reduction.
//!
//! Fairness depends on the order of steps that commute. So a reduction that runs one execution for each trace may run those
//! steps in the one order in which a task is held back.

use crate::agreement::{Random, agree};
use crate::timed::Channel;
use crate::variable;
use intermezzo_explorer::sync::atomic::{AtomicU64, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex};
use intermezzo_explorer::{Explorer, Reduction, Schedule, Strategy, thread};
use std::time::Duration;

/// The default number of random programs; `EXPLORED_FAIR` changes it.
const PROGRAMS: u64 = 60;

#[derive(Clone, Copy, Debug)]
enum Op {
    Yield,
    Sleep,
    Load(usize),
    Store(usize),
    Add(usize),
    /// Takes the lock, and increments the number that it guards.
    Lock,
    /// Does the same, and yields twice while it has the lock.
    Hold,
    /// Reads the word at most this many times, yielding after each read, until it is not 0.
    Spin(usize, u32),
    /// Waits until the first task has done everything else, yielding in each round: the task is parked.
    Await,
    /// Reads the word until two successive reads, with a yield in between, have the same value.
    Settle(usize),
    ParkTimeout(u64),
    WaitTimeout(u64),
    ReceiveTimeout(u64),
    Unpark(usize),
    Notify,
    Send,
}

impl Op {
    fn is_of_channel(&self) -> bool {
        matches!(self, Op::Send | Op::ReceiveTimeout(_))
    }
}

type Program = Vec<Vec<Op>>;

/// Draws a program; one that `is_timed` also has waits with limits. The first task never waits for itself.
fn draw(seed: u64, is_timed: bool) -> Program {
    let mut random = Random::new(seed);
    let tasks = 2 + random.below(5) / 4;
    let op = |random: &mut Random, task: usize| {
        let word = random.below(4) / 3;
        match random.below(if is_timed { 22 } else { 16 }) {
            0..=3 => Op::Yield,
            4 | 5 => Op::Sleep,
            6 | 7 => Op::Load(word),
            8 | 9 => Op::Store(word),
            10 => Op::Add(word),
            11 => [Op::Lock, Op::Hold][random.below(2)],
            12 | 13 => Op::Spin(word, 2 + random.below(6) as u32),
            14 if task > 0 => Op::Await,
            14 | 15 => Op::Settle(word),
            16 => Op::ParkTimeout(1 + random.below(3) as u64),
            17 => Op::WaitTimeout(1 + random.below(3) as u64),
            18 => Op::ReceiveTimeout(1 + random.below(3) as u64),
            19 => Op::Unpark(random.below(tasks)),
            20 => Op::Notify,
            _ => Op::Send,
        }
    };
    let most = if tasks == 2 { 5 } else { 3 };
    let ops = |random: &mut Random, task| (0..1 + random.below(most)).map(|_| op(random, task)).collect();
    (0..tasks).map(|task| ops(&mut random, task)).collect()
}

struct Shared {
    words: [AtomicU64; 2],
    over: AtomicU64,
    lock: Mutex<u64>,
    condvar: Condvar,
    /// `None` unless the program uses it, because its last handles are dropped in steps of their own.
    channel: Option<Channel>,
}

fn run(program: &Program) -> Vec<Vec<u64>> {
    let uses_channel = program.iter().flatten().any(Op::is_of_channel);
    let shared = Shared {
        words: Default::default(),
        over: AtomicU64::new(0),
        lock: Mutex::new(0),
        condvar: Condvar::new(),
        channel: uses_channel.then(Channel::new),
    };
    let shared = &shared;
    thread::scope(|scope| {
        let begun = program[1..]
            .iter()
            .map(|ops| scope.spawn(move || act(ops, shared, &[])));
        let begun: Vec<_> = begun.collect();
        let known: Vec<_> = begun.iter().map(|handle| handle.thread().clone()).collect();
        let mut seen = vec![act(&program[0], shared, &known)];
        shared.over.store(1, SeqCst);
        seen.extend(begun.into_iter().map(|handle| handle.join().unwrap()));
        seen
    })
}

fn act(ops: &[Op], shared: &Shared, known: &[thread::Thread]) -> Vec<u64> {
    let mut seen = Vec::new();
    let millis = Duration::from_millis;
    for &op in ops {
        match op {
            Op::Yield => thread::yield_now(),
            Op::Sleep => thread::sleep(millis(1)),
            Op::Load(word) => seen.push(shared.words[word].load(SeqCst)),
            Op::Store(word) => shared.words[word].store(1, SeqCst),
            Op::Add(word) => seen.push(shared.words[word].fetch_add(2, SeqCst)),
            Op::Lock | Op::Hold => {
                let mut held = shared.lock.lock().unwrap();
                if let Op::Hold = op {
                    thread::yield_now();
                    thread::yield_now();
                }
                *held += 1;
                seen.push(*held);
            }
            Op::Spin(word, most) => {
                let mut rounds = 0;
                while rounds < most && shared.words[word].load(SeqCst) == 0 {
                    rounds += 1;
                    thread::yield_now();
                }
                seen.push(rounds.into());
            }
            Op::Await => {
                while shared.over.load(SeqCst) == 0 {
                    thread::yield_now();
                }
            }
            Op::Settle(word) => {
                let mut last = shared.words[word].load(SeqCst);
                loop {
                    thread::yield_now();
                    let next = shared.words[word].load(SeqCst);
                    if std::mem::replace(&mut last, next) == next {
                        break;
                    }
                }
                seen.push(last);
            }
            Op::ParkTimeout(limit) => thread::park_timeout(millis(limit)),
            Op::WaitTimeout(limit) => {
                let held = shared.lock.lock().unwrap();
                let (_held, result) = shared.condvar.wait_timeout(held, millis(limit)).unwrap();
                seen.push(result.timed_out().into());
            }
            Op::ReceiveTimeout(limit) => {
                let receiver = shared.channel.as_ref().unwrap().receiver.lock();
                let received = receiver.unwrap().recv_timeout(millis(limit));
                seen.push(received.unwrap_or(9));
            }
            Op::Unpark(task) => {
                if let Some(thread) = known.get(task) {
                    thread.unpark();
                }
            }
            Op::Notify => shared.condvar.notify_one(),
            Op::Send => shared.channel.as_ref().unwrap().sender.send(1).unwrap(),
        }
    }
    seen
}

/// Compares the searches in two environments. In the second one, time passes only if every task waits or yields. The
/// third comparison runs every round of a loop that waits.
/// Returns the reductions that `dpor` ended with; none if the program is too large.
fn reduced_by(program: &Program) -> Vec<String> {
    let agreed = [
        [("environment", "spurious_wakeups=0"), ("spin_loops", "park")],
        [("environment", "calm"), ("spin_loops", "park")],
        [("environment", "calm"), ("spin_loops", "run")],
    ]
    .map(|settings| agree(program, &settings, || run(program)));
    let reduced = agreed
        .iter()
        .flatten()
        .map(|report| report.reduction().to_owned());
    reduced.collect()
}

/// Compares the searches. Returns `false` if the program is too large.
fn compare(program: &Program) -> bool {
    !reduced_by(program).is_empty()
}

#[test]
fn random_programs_that_yield_agree() {
    let programs = variable("EXPLORED_FAIR").unwrap_or(PROGRAMS);
    let reduced: Vec<_> = (1..=programs)
        .map(|seed| reduced_by(&draw(seed, seed % 5 == 0)))
        .collect();
    let is_by_dpor = |reduced: &&Vec<String>| reduced.iter().any(|reduction| reduction != "caching");
    let by_dpor = reduced.iter().filter(is_by_dpor).count() as u64;
    assert!(
        by_dpor * 3 >= programs,
        "too few programs are small enough, and no cause for caching: {by_dpor}"
    );
}

/// Fairness holds back the second task if it sleeps twice in a row. It does not if the first one takes a step in between.
#[test]
fn a_step_of_another_task_between_two_yields_is_tried() {
    use Op::*;
    for program in [
        vec![vec![Load(0), Yield, Load(0)], vec![Sleep, Sleep, Store(0)]],
        vec![vec![Load(0), Yield, Load(0)], vec![Yield, Yield, Store(0)]],
        vec![
            vec![Load(0), Load(1), Load(0)],
            vec![Sleep, Sleep, Sleep, Store(0)],
        ],
        vec![vec![Lock, Load(0)], vec![Yield, Yield, Store(0)]],
        vec![vec![Spin(1, 4), Store(0)], vec![Load(0), Load(0), Store(1)]],
    ] {
        assert!(compare(&program));
        let apart = [vec![Vec::new()], program].concat();
        assert!(compare(&apart));
    }
}

/// Fairness holds a task back at every other yield, if each time the other one takes a step: it takes more rounds than the
/// other one has steps.
#[test]
fn two_rounds_for_each_step_of_another_task_are_tried() {
    use Op::*;
    for program in [
        vec![vec![Spin(0, 20)], vec![Load(1), Load(1), Load(1), Store(0)]],
        vec![
            vec![Spin(0, 20)],
            vec![Load(1), Load(1), Load(1), Load(1), Store(0)],
        ],
        vec![vec![Spin(0, 9)], vec![Load(1), Yield, Store(0)]],
        vec![vec![Load(0), Spin(1, 9)], vec![Store(0), Load(0), Store(1)]],
        vec![vec![Spin(0, 2)], vec![Add(1), Store(0)], vec![Spin(1, 9)]],
        vec![
            vec![Load(0), Sleep, Store(0)],
            vec![Yield, Sleep, Spin(0, 6), Sleep],
        ],
        vec![vec![Yield, Sleep], vec![Sleep, Sleep, Await]],
    ] {
        assert!(compare(&program), "{program:?} is too large");
    }
}

/// Loads twice, with a yield in between, while another task sleeps twice and stores. Returns both values.
fn loads_while_another_sleeps() -> (u64, u64) {
    let word = AtomicU64::new(0);
    thread::scope(|scope| {
        let loads = scope.spawn(|| {
            let first = word.load(SeqCst);
            thread::yield_now();
            (first, word.load(SeqCst))
        });
        scope.spawn(|| {
            thread::sleep(Duration::from_nanos(29));
            thread::sleep(Duration::from_nanos(38));
            word.store(1, SeqCst);
        });
        loads.join().unwrap()
    })
}

/// No time-out comes early here, so time passes only if every task waits or yields.
#[test]
fn loads_while_another_task_sleeps_if_time_passes_only_then() {
    assert!(
        agree(
            &"two sleeps",
            &[("environment", "calm")],
            loads_while_another_sleeps
        )
        .is_ok()
    );
}

/// The schedule says that the task was an alternative, although fairness held it back.
#[test]
fn an_execution_in_which_a_held_back_task_ran_is_replayed() {
    let test = || assert_ne!(loads_while_another_sleeps(), (0, 1));
    for reduction in [Reduction::SourceDpor, Reduction::Dpor] {
        let explorer = Explorer::new().set("environment", "calm");
        let report = explorer
            .strategy(Strategy::dfs())
            .reduction(reduction)
            .explore(test);
        let [finding] = report.findings() else {
            panic!("{report}")
        };
        assert!(finding.schedule.all_listed, "{report}");
        let token = Schedule::from_token(&finding.schedule.token()).unwrap();
        let file = Schedule::from_json(&finding.schedule.to_json(None)).unwrap();
        for schedule in [token, file] {
            let again = Explorer::new().replay(schedule).explore(test);
            let [replayed] = again.findings() else {
                panic!("{again}")
            };
            assert_eq!(replayed.message, finding.message);
        }
    }
}
