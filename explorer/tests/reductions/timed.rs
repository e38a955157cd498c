//! Programs that wait with limits, sleep, yield and read the clock: the outcomes of every reduction are those of a
//! search without reduction.
//!
//! Virtual time and fair scheduling let an operation depend on others that share no variable with it. So the order of
//! such programs' steps can matter more than it seems.

use crate::agreement::{Random, agree};
use crate::variable;
use intermezzo_explorer::sync::atomic::{AtomicU64, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex, mpsc};
use intermezzo_explorer::time::Instant;
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Strategy, thread};
use std::time::Duration;

/// The default number of random programs; `EXPLORED_TIMED` changes it.
const PROGRAMS: u64 = 250;

#[derive(Clone, Copy, Debug)]
enum Op {
    Yield,
    Sleep(u64),
    ParkTimeout(u64),
    WaitTimeout(u64),
    ReceiveTimeout(u64),
    Notify,
    Unpark(usize),
    Send,
    Store(u64),
    Load,
    Now,
    /// The rest of the task is in a new task, which is joined.
    Child,
}

impl Op {
    fn is_of_channel(&self) -> bool {
        matches!(self, Op::Send | Op::ReceiveTimeout(_))
    }
}

type Program = Vec<Vec<Op>>;

fn draw(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let tasks = 2 + random.below(2);
    let op = |random: &mut Random| match random.below(16) {
        0 => Op::Yield,
        1 => Op::Sleep(1 + random.below(3) as u64),
        2 | 3 => Op::ParkTimeout(1 + random.below(3) as u64),
        4 | 5 => Op::WaitTimeout(1 + random.below(3) as u64),
        6 => Op::ReceiveTimeout(1 + random.below(3) as u64),
        7 | 8 => Op::Notify,
        9 => Op::Unpark(random.below(tasks)),
        10 => Op::Send,
        11 => Op::Store(1 + random.below(2) as u64),
        12 => Op::Load,
        13 => Op::Child,
        _ => Op::Now,
    };
    let ops = |random: &mut Random| (0..1 + random.below(3)).map(|_| op(random)).collect();
    (0..tasks).map(|_| ops(&mut random)).collect()
}

/// The observations of a task.
type Seen = Vec<u64>;

struct Shared {
    word: AtomicU64,
    lock: Mutex<()>,
    condvar: Condvar,
    /// `None` unless the program uses it, because its last handles are dropped in steps of their own.
    channel: Option<Channel>,
    start: Instant,
}

/// A channel from which every task may receive.
pub(crate) struct Channel {
    pub(crate) sender: mpsc::Sender<u64>,
    pub(crate) receiver: Mutex<mpsc::Receiver<u64>>,
}

impl Channel {
    pub(crate) fn new() -> Channel {
        let (sender, receiver) = mpsc::channel();
        Channel {
            sender,
            receiver: Mutex::new(receiver),
        }
    }
}

fn run(program: &Program) -> Vec<Seen> {
    let uses_channel = program.iter().flatten().any(Op::is_of_channel);
    let shared = Shared {
        word: AtomicU64::new(0),
        lock: Mutex::new(()),
        condvar: Condvar::new(),
        channel: uses_channel.then(Channel::new),
        start: Instant::now(),
    };
    let shared = &shared;
    thread::scope(|scope| {
        let begun = program[1..]
            .iter()
            .map(|ops| scope.spawn(move || act(ops, shared, &[])));
        let begun: Vec<_> = begun.collect();
        let known: Vec<_> = begun.iter().map(|handle| handle.thread().clone()).collect();
        let mut seen = vec![act(&program[0], shared, &known)];
        seen.extend(begun.into_iter().map(|handle| handle.join().unwrap()));
        seen.push(vec![shared.word.load(SeqCst)]);
        seen
    })
}

fn act(ops: &[Op], shared: &Shared, known: &[thread::Thread]) -> Seen {
    let mut seen = Seen::new();
    let moments = Duration::from_millis;
    for (at, &op) in ops.iter().enumerate() {
        match op {
            Op::Yield => thread::yield_now(),
            Op::Sleep(time) => thread::sleep(moments(time)),
            Op::ParkTimeout(time) => thread::park_timeout(moments(time)),
            Op::WaitTimeout(time) => {
                let held = shared.lock.lock().unwrap();
                let (_held, result) = shared.condvar.wait_timeout(held, moments(time)).unwrap();
                seen.push(result.timed_out().into());
            }
            Op::ReceiveTimeout(time) => {
                let receiver = shared.channel.as_ref().unwrap().receiver.lock();
                let received = receiver.unwrap().recv_timeout(moments(time));
                seen.push(received.unwrap_or(9));
            }
            Op::Notify => shared.condvar.notify_one(),
            Op::Unpark(task) => {
                if let Some(thread) = known.get(task) {
                    thread.unpark();
                }
            }
            Op::Send => shared.channel.as_ref().unwrap().sender.send(1).unwrap(),
            Op::Store(value) => shared.word.store(value, SeqCst),
            Op::Load => seen.push(shared.word.load(SeqCst)),
            Op::Now => seen.push(shared.start.elapsed().as_millis() as u64),
            Op::Child => {
                let rest = || act(&ops[at + 1..], shared, known);
                seen.extend(thread::scope(|scope| scope.spawn(rest).join().unwrap()));
                return seen;
            }
        }
    }
    seen
}

/// Compares the reductions on a program. Returns `None` if it is too large, and the reduction that `dpor` ended with.
fn reduced_by(program: &Program) -> Option<String> {
    let report = agree(
        program,
        &[("environment", "spurious_wakeups=0"), ("spin_loops", "run")],
        || run(program),
    )
    .ok()?;
    if *report.coverage() == Coverage::Exhaustive && report.reduction() == "dpor" {
        assert_eq!(
            Some(report.executions()),
            report.traces(),
            "{program:?}: {report}"
        );
    }
    Some(report.reduction().to_owned())
}

/// Compares the reductions on a program. Returns `false` if it is too large.
fn compare(program: &Program) -> bool {
    reduced_by(program).is_some()
}

#[test]
fn random_timed_programs_agree() {
    let programs = variable("EXPLORED_TIMED").unwrap_or(PROGRAMS);
    let reduced: Vec<String> = (1..=programs)
        .filter_map(|seed| reduced_by(&draw(seed)))
        .collect();
    let by_dpor = reduced.iter().filter(|reduction| *reduction != "caching").count() as u64;
    assert!(by_dpor * 3 >= programs, "too few programs are small enough");
}

/// A time-out comes after steps that do not commute with it, and before the notification.
#[test]
fn time_outs_come_after_other_steps() {
    use Op::*;
    let timed = vec![
        vec![WaitTimeout(3), WaitTimeout(1)],
        vec![Notify],
        vec![ParkTimeout(2), Now],
    ];
    assert!(compare(&timed));
    for ops in [vec![Now], vec![ParkTimeout(2), Now], vec![Now, Now]] {
        for limit in 1..=3 {
            assert!(compare(&vec![
                vec![WaitTimeout(limit)],
                vec![Notify],
                ops.clone()
            ]));
            assert!(compare(&vec![
                ops.clone(),
                vec![ReceiveTimeout(limit)],
                vec![Send]
            ]));
            assert!(compare(&vec![
                vec![Unpark(1)],
                vec![ParkTimeout(limit)],
                ops.clone()
            ]));
        }
    }
}

/// A wait whose limit may end early or spuriously, and one with another limit or a read of the clock: one trace of
/// each is run twice, and is not counted as redundant.
#[test]
fn one_trace_of_a_wait_and_a_read_of_the_clock_is_run_twice() {
    let run = |other: fn()| {
        let explorer = Explorer::new()
            .strategy(Strategy::dfs())
            .reduction(Reduction::Dpor);
        let report = explorer.explore(|| {
            thread::spawn(other);
            let (lock, notified) = (Mutex::new(0), Condvar::new());
            let guard = lock.lock().unwrap();
            drop(notified.wait_timeout(guard, Duration::from_millis(5)));
        });
        (report.executions(), report.traces())
    };
    assert_eq!(
        run(|| thread::park_timeout(Duration::from_millis(10))),
        (16, Some(15))
    );
    assert_eq!(run(|| _ = Instant::now()), (7, Some(6)));
}

/// Two senders, and a receiver whose limit may pass before their messages: `dpor` runs each trace once.
#[test]
fn a_receiver_with_a_limit_is_reduced() {
    let explorer = Explorer::new()
        .environment(Environment::calm())
        .strategy(Strategy::dfs())
        .reduction(Reduction::Dpor);
    let report = explorer.explore(|| {
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for value in 0..2 {
                let sender = sender.clone();
                scope.spawn(move || sender.send(value));
            }
            _ = receiver.recv_timeout(Duration::from_millis(1));
        });
    });
    let ran = (report.reduction(), Some(report.executions()));
    assert_eq!(ran, ("dpor", report.traces()), "{report}");
}

/// Fair scheduling holds back a task whose step a reduction expects.
#[test]
fn fairness_holds_back_expected_tasks() {
    use Op::*;
    for program in [
        vec![vec![Load, Store(1)], vec![Sleep(1), Sleep(1), Load]],
        vec![vec![Store(1), Load], vec![Yield, Yield, Store(2)]],
        vec![vec![WaitTimeout(1), Load], vec![Yield, Yield, Store(2)]],
    ] {
        assert!(compare(&program));
    }
}
