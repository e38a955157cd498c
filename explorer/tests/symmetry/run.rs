//! Runs the programs under the engine, and collects the observations of their tasks up to permutations of the groups.

use crate::program::{ATOMICS, Group, MUTEXES, Op, Program};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::mpsc::{Receiver, Sender, channel};
use intermezzo_explorer::sync::{
    Arc, Barrier, Condvar, Mutex, MutexGuard, Once, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};
use intermezzo_explorer::thread::{self, JoinHandle, Thread};
use intermezzo_explorer::{Explorer, Report, choose, quiesce};
use intermezzo_sdk::{Context, Execution, Interests, Monitor};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc as Plain, Mutex as PlainMutex};
use std::time::Duration;

/// The observations of an execution, for each group those of its tasks in an order that does not depend on their numbers.
/// The group with number 0 is the test's own body.
pub(crate) type Records = BTreeMap<usize, Vec<Vec<u8>>>;

/// The events of an execution, with the tasks of a group numbered in order of their first events.
type Orbit = Vec<(usize, u32, u32, u64, u64)>;

/// The observations of all executions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcomes {
    pub(crate) complete: BTreeSet<Records>,
    pub(crate) stuck: BTreeSet<Records>,
    /// The executions up to permutations of the groups, and not up to them.
    pub(crate) orbits: BTreeSet<Orbit>,
    pub(crate) executions: BTreeSet<Vec<(u32, u32, u64, u64)>>,
}

std::thread_local! {
    /// The observations of each task of the current execution on this worker, by group and number.
    static RECORDS: RefCell<BTreeMap<(usize, u32), Vec<u8>>> = const { RefCell::new(BTreeMap::new()) };
    /// The group of each task that has begun.
    static GROUPS: RefCell<BTreeMap<u32, usize>> = const { RefCell::new(BTreeMap::new()) };
}

/// A monitor that takes the observations at the end of each execution.
struct Take(Plain<PlainMutex<Outcomes>>);

impl Monitor for Take {
    fn name(&self) -> &str {
        "take"
    }
    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        RECORDS.take();
        GROUPS.take();
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, _: &mut Context<'_>) {
        let own = RECORDS.take();
        let mut records = Records::new();
        for (&(group, _), record) in &own {
            records.entry(group).or_default().push(record.clone());
        }
        records.values_mut().for_each(|group| group.sort());
        let group_of = GROUPS.take();
        let (mut numbers, mut counts) = (BTreeMap::new(), BTreeMap::new());
        let (mut orbit, mut plain) = (Vec::new(), Vec::new());
        for access in execution.accesses {
            use intermezzo_sdk::SyncVarOp::{TaskBegin, TaskEnd, TaskFork, TaskJoin};
            if matches!(access.op, TaskFork | TaskBegin | TaskEnd | TaskJoin) {
                continue;
            }
            let task = access.event.task.0;
            let group = group_of.get(&task).copied().unwrap_or(usize::MAX);
            let number = *numbers.entry(task).or_insert_with(|| {
                let count = counts.entry(group).or_insert(0);
                *count += 1;
                *count
            });
            orbit.push((group, number, access.op as u32, access.read, access.written));
            plain.push((task, access.op as u32, access.read, access.written));
        }
        let mut outcomes = self.0.lock().unwrap();
        outcomes.orbits.insert(orbit);
        outcomes.executions.insert(plain);
        if execution.complete {
            outcomes.complete.insert(records);
        } else {
            outcomes.stuck.insert(records);
        }
    }
}

/// Explores a program whose groups are symmetric tasks, or tasks that are created one by one. Returns the report, and the
/// observations of its executions.
pub(crate) fn explore(program: &Program, symmetric: bool, explorer: Explorer) -> (Report, Outcomes) {
    let outcomes = Plain::new(PlainMutex::new(Outcomes::default()));
    let shared = outcomes.clone();
    let program = Plain::new(program.clone());
    let report = explorer
        .program("symmetry")
        .monitor_with(move || Take(shared.clone()))
        .explore(|| execute(&program, symmetric));
    let outcomes = outcomes.lock().unwrap().clone();
    (report, outcomes)
}

#[derive(Default)]
struct Shared {
    atomics: [AtomicUsize; ATOMICS],
    mutexes: [Mutex<u8>; MUTEXES],
    rwlock: RwLock<u8>,
    condvar: Condvar,
    drops: AtomicUsize,
}

/// The objects of a task: copies for the tasks of a group.
#[derive(Clone)]
struct Own {
    shared: Plain<Shared>,
    once: Plain<Once>,
    barrier: Plain<Barrier>,
    receiver: Option<Arc<Mutex<Receiver<u8>>>>,
    sender: Option<Sender<u8>>,
    arc: Option<Arc<()>>,
    main: Thread,
    /// `true` if groups are symmetric tasks.
    symmetric: bool,
}

/// A result that shows where it is dropped.
struct Noisy(Plain<Shared>);

impl Drop for Noisy {
    fn drop(&mut self) {
        self.0.drops.fetch_add(1, SeqCst);
    }
}

enum Handles {
    Plain(Vec<JoinHandle<u8>>),
    Noisy(Vec<JoinHandle<Noisy>>),
}

/// Creates tasks that run copies of a closure: symmetric tasks, or one by one.
pub(crate) fn spawn<T: Send + 'static>(
    tasks: usize,
    symmetric: bool,
    f: impl FnOnce() -> T + Clone + Send + 'static,
) -> Vec<JoinHandle<T>> {
    if symmetric {
        return thread::spawn_symmetric(tasks, f);
    }
    let copies = vec![f; tasks];
    copies.into_iter().map(thread::spawn).collect()
}

fn execute(program: &Plain<Program>, symmetric: bool) {
    let counts = program.any(|op| matches!(op, Op::CountOfArc | Op::DropArc));
    let sends = program.any(|op| matches!(op, Op::Send(_) | Op::Receive | Op::TryReceive));
    let (sender, receiver) = sends.then(channel).unzip();
    let shared = Plain::new(Shared::default());
    let own = Own {
        shared: shared.clone(),
        once: Plain::new(Once::new()),
        barrier: Plain::new(Barrier::new(2)),
        receiver: receiver.map(|receiver| Arc::new(Mutex::new(receiver))),
        sender,
        arc: counts.then(|| Arc::new(())),
        main: thread::current(),
        symmetric,
    };
    let mut body = Body::new(&shared, own);
    let mut handles = Vec::new();
    let mut ops = program.body.iter();
    while let Some(&op) = ops.next() {
        match op {
            Op::Spawn(number) => {
                let group = program.groups[number].clone();
                handles.push(create(group, number + 1, body.own.clone(), symmetric));
            }
            // A panic would end the execution, whatever the state of the other tasks.
            Op::Panic => {
                record(0, 99);
                break;
            }
            op => body.perform(op, 0, &mut ops),
        }
    }
    body.holds.clear();
    let all_joined = program.groups.iter().all(|group| group.joined);
    body.own.sender = None;
    for (handles, joined) in handles {
        if !joined {
            continue;
        }
        let mut results = match handles {
            Handles::Plain(handles) => join(handles, |last| last),
            Handles::Noisy(handles) => join(handles, |_| 1),
        };
        results.sort_unstable();
        results.into_iter().for_each(|result| record(0, result));
    }
    for atomic in &shared.atomics {
        record(0, atomic.load(SeqCst) as u8);
    }
    let value = shared.atomics[0].load(SeqCst);
    assert!(
        !all_joined || value != 2,
        "the program must not end with this value"
    );
}

/// Returns the results of tasks as numbers: 99 for those that panicked.
fn join<T>(handles: Vec<JoinHandle<T>>, number: impl Fn(T) -> u8) -> Vec<u8> {
    // All joins come first, as in `SymmetricThreads`: nothing happens between two joins.
    let results: Vec<_> = handles.into_iter().map(JoinHandle::join).collect();
    let numbers = results.into_iter().map(|result| result.map_or(99, &number));
    numbers.collect()
}

fn create(group: Group, number: usize, own: Own, symmetric: bool) -> (Handles, bool) {
    let Group {
        tasks,
        ops,
        joined,
        drops,
    } = group;
    let shared = own.shared.clone();
    let work = move || {
        let shared = own.shared.clone();
        let mut body = Body::new(&shared, own);
        let mut rest = ops.iter();
        let task = thread::number_of(&thread::current()).unwrap_or(u32::MAX);
        GROUPS.with_borrow_mut(|groups| groups.insert(task, number));
        while let Some(&op) = rest.next() {
            body.perform(op, number, &mut rest);
        }
        body.last
    };
    let handles = match drops {
        true => Handles::Noisy(spawn(tasks, symmetric, move || {
            work();
            Noisy(shared)
        })),
        false => Handles::Plain(spawn(tasks, symmetric, work)),
    };
    (handles, joined)
}

/// Adds an observation of the current task, of this group.
fn record(group: usize, value: u8) {
    let task = thread::number_of(&thread::current()).unwrap_or(u32::MAX);
    RECORDS.with_borrow_mut(|records| records.entry((group, task)).or_default().push(value));
}

enum Hold<'a> {
    Mutex(MutexGuard<'a, u8>),
    Read(#[allow(dead_code, reason = "held")] RwLockReadGuard<'a, u8>),
    Write(#[allow(dead_code, reason = "held")] RwLockWriteGuard<'a, u8>),
}

/// The operations of a task.
struct Body<'a> {
    shared: &'a Shared,
    last: u8,
    holds: Vec<Hold<'a>>,
    own: Own,
}

impl<'a> Body<'a> {
    fn new(shared: &'a Shared, own: Own) -> Body<'a> {
        Body {
            shared,
            last: 0,
            holds: Vec::new(),
            own,
        }
    }

    fn saw(&mut self, group: usize, value: usize) {
        self.last = value as u8;
        record(group, value as u8);
    }

    fn perform<'b>(&mut self, op: Op, group: usize, rest: &mut impl Iterator<Item = &'b Op>) {
        let shared = self.shared;
        match op {
            Op::Load(at) => self.saw(group, shared.atomics[at].load(SeqCst)),
            Op::Store(at, value) => shared.atomics[at].store(value.into(), SeqCst),
            Op::Add(at) => self.saw(group, shared.atomics[at].fetch_add(1, SeqCst)),
            Op::Swap(at, value) => self.saw(group, shared.atomics[at].swap(value.into(), SeqCst)),
            Op::Exchange(at, expected, new) => {
                let exchange =
                    shared.atomics[at].compare_exchange(expected.into(), new.into(), SeqCst, SeqCst);
                self.saw(group, exchange.unwrap_or_else(|found| 50 + found));
            }
            Op::ExchangeWeak(at, expected, new) => {
                let exchange =
                    shared.atomics[at].compare_exchange_weak(expected.into(), new.into(), SeqCst, SeqCst);
                self.saw(group, exchange.unwrap_or_else(|found| 50 + found));
            }
            Op::Await(at, value) => {
                while shared.atomics[at].load(SeqCst) < value.into() {
                    thread::yield_now();
                }
            }
            Op::Lock(at) => {
                if let Ok(mut guard) = shared.mutexes[at].lock() {
                    *guard += 1;
                    self.saw(group, (*guard).into());
                    self.holds.push(Hold::Mutex(guard));
                }
            }
            Op::TryLock(at) => match shared.mutexes[at].try_lock() {
                Ok(guard) => self.holds.push(Hold::Mutex(guard)),
                Err(TryLockError::WouldBlock) => self.saw(group, 60),
                Err(TryLockError::Poisoned(_)) => self.saw(group, 61),
            },
            Op::Unlock => drop(self.holds.pop()),
            Op::Read => {
                if let Ok(guard) = shared.rwlock.read() {
                    self.saw(group, (*guard).into());
                    self.holds.push(Hold::Read(guard));
                }
            }
            Op::Write => {
                if let Ok(mut guard) = shared.rwlock.write() {
                    *guard += 1;
                    self.holds.push(Hold::Write(guard));
                }
            }
            Op::Wait | Op::WaitTimeout => self.wait(op == Op::WaitTimeout, group),
            Op::NotifyOne => shared.condvar.notify_one(),
            Op::NotifyAll => shared.condvar.notify_all(),
            Op::Send(value) => {
                if let Some(sender) = &self.own.sender {
                    let _ = sender.send(value);
                }
            }
            Op::Receive | Op::TryReceive => {
                let receiver = self.own.receiver.clone().expect("the program has a channel");
                let received = match receiver.lock() {
                    Ok(receiver) if op == Op::Receive => receiver.recv().ok(),
                    Ok(receiver) => receiver.try_recv().ok(),
                    Err(_) => None,
                };
                self.saw(group, received.unwrap_or(70).into());
            }
            Op::CallOnce => {
                let once = self.own.once.clone();
                once.call_once(|| {
                    shared.atomics[0].fetch_add(1, SeqCst);
                });
            }
            Op::Arrive => {
                let leads = self.own.barrier.wait().is_leader();
                self.saw(group, leads.into());
            }
            Op::Park => thread::park(),
            Op::UnparkMain => self.own.main.unpark(),
            Op::ParkTimeout => thread::park_timeout(Duration::from_millis(1)),
            Op::Yield => thread::yield_now(),
            Op::Sleep => thread::sleep(Duration::from_millis(1)),
            Op::CountOfArc => {
                if let Some(arc) = &self.own.arc {
                    let count = Arc::strong_count(arc);
                    self.saw(group, count);
                }
            }
            Op::DropArc => self.own.arc = None,
            Op::Choose => {
                let value = choose(2);
                self.saw(group, value);
            }
            Op::Child(at) => {
                let shared = self.own.shared.clone();
                thread::spawn(move || shared.atomics[at].fetch_add(1, SeqCst));
            }
            Op::Nested(at, joined) => {
                let shared = self.own.shared.clone();
                let add = move || shared.atomics[at].fetch_add(1, SeqCst) as u8;
                let handles = spawn(2, self.own.symmetric, add);
                if joined {
                    let mut results = join(handles, |last| last);
                    results.sort_unstable();
                    results
                        .into_iter()
                        .for_each(|result| self.saw(group, result.into()));
                }
            }
            Op::Panic => panic!("a task of the program panics"),
            Op::Quiesce => quiesce(),
            Op::OnlyIf(value) => {
                if self.last != value {
                    rest.next();
                }
            }
            Op::Spawn(_) => unreachable!("only the test's own body creates groups"),
        }
    }

    /// Waits with the mutex that was taken last, if that is the first one.
    fn wait(&mut self, has_limit: bool, group: usize) {
        let Some(Hold::Mutex(guard)) = self.holds.pop_if(|hold| matches!(hold, Hold::Mutex(_))) else {
            return;
        };
        let guard = match has_limit {
            false => self.shared.condvar.wait(guard).ok(),
            true => {
                let waited = self.shared.condvar.wait_timeout(guard, Duration::from_millis(1));
                waited.ok().map(|(guard, limit)| {
                    self.saw(group, 80 + usize::from(limit.timed_out()));
                    guard
                })
            }
        };
        self.holds.extend(guard.map(Hold::Mutex));
    }
}
