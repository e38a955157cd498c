//! The same programs for the engine, and what its executions read.

use crate::model::{DISCONNECTED, FAILED, Record, counted_up, noted};
use crate::program::{ATOMICS, BOUND, BOUNDED, CHANNELS, MUTEXES, Op, Program, SLOTS, TASKS, slot_from};
use intermezzo_explorer::sync::atomic::{AtomicU8, Ordering::SeqCst};
use intermezzo_explorer::sync::mpsc::{
    Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, channel, sync_channel,
};
use intermezzo_explorer::sync::{
    Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};
use intermezzo_explorer::thread::{Scope, ScopedJoinHandle, Thread};
use intermezzo_explorer::{Explorer, Report, choose, thread};
use std::collections::BTreeSet;
use std::sync::Mutex as Plain;
use std::thread::ThreadId;
use std::time::Duration;

/// What the tasks of an execution read.
pub(crate) type Records = [Record; TASKS];

/// What executions read: those that came to their end, and those that did not.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcomes {
    pub(crate) complete: BTreeSet<Records>,
    pub(crate) stuck: BTreeSet<Records>,
}

impl Outcomes {
    /// Adds those of other executions.
    pub(crate) fn append(&mut self, mut others: Outcomes) {
        self.complete.append(&mut others.complete);
        self.stuck.append(&mut others.stuck);
    }
}

/// What the execution that runs has read so far, and what those before it read.
#[derive(Default)]
struct Journal {
    running: Option<Records>,
    /// How many of its tasks have begun and not come to their end.
    tasks: u32,
    outcomes: Outcomes,
}

impl Journal {
    /// An execution that has not come to its end never will.
    fn give_up(&mut self) {
        if let Some(records) = self.running.take() {
            self.outcomes.stuck.insert(records);
        }
    }
}

/// A journal for each worker.
struct Journals {
    /// Whose they are, of those that are somebody's.
    workers: Plain<Vec<ThreadId>>,
    journals: Vec<Plain<Journal>>,
}

impl Journals {
    /// The journal of the worker that asks.
    fn own(&self) -> &Plain<Journal> {
        let worker = std::thread::current().id();
        let mut workers = self.workers.lock().unwrap();
        let known = workers.iter().position(|known| *known == worker);
        &self.journals[known.unwrap_or_else(|| {
            workers.push(worker);
            workers.len() - 1
        })]
    }
}

/// Explores a program; `timed` says whether every second wait has a time-out, and compare-exchanges are weak.
pub(crate) fn explore(program: &Program, explorer: Explorer, timed: bool) -> (Report, Outcomes) {
    let (report, outcomes, _) = explore_by(1, program, explorer, timed);
    (report, outcomes)
}

/// Explores a program by so many workers. Also says how many of them ran anything.
pub(crate) fn explore_by(
    jobs: usize,
    program: &Program,
    explorer: Explorer,
    timed: bool,
) -> (Report, Outcomes, usize) {
    let journals = Journals {
        workers: Plain::default(),
        journals: (0..jobs).map(|_| Plain::default()).collect(),
    };
    let report = explorer.jobs(jobs).explore(|| {
        if jobs > 1 {
            // Others come to run something even where there are few processors.
            std::thread::yield_now();
        }
        let journal = journals.own();
        let mut at = journal.lock().unwrap();
        at.give_up();
        (at.running, at.tasks) = (Some([0; TASKS]), 0);
        drop(at);
        execute(program, journal, timed);
    });
    let workers = journals.workers.into_inner().unwrap().len();
    let mut outcomes = Outcomes::default();
    for journal in journals.journals {
        let mut journal = journal.into_inner().unwrap();
        journal.give_up();
        outcomes.append(journal.outcomes);
    }
    (report, outcomes, workers)
}

enum Sending {
    Unbounded(Sender<u8>),
    Bounded(SyncSender<u8>),
}

/// What the tasks of a program share. Each end of a channel is one task's own: the lock of std around it is
/// never waited for.
struct Shared<'a> {
    program: &'a Program,
    journal: &'a Plain<Journal>,
    timed: bool,
    atomics: [AtomicU8; ATOMICS],
    mutexes: [Mutex<u8>; MUTEXES],
    rwlock: RwLock<u8>,
    condvar: Condvar,
    senders: [[Plain<Option<Sending>>; TASKS]; CHANNELS],
    receivers: [Plain<Option<Receiver<u8>>>; CHANNELS],
    /// The senders of channels that nobody sends to.
    _idle: Vec<Sending>,
}

fn execute(program: &Program, journal: &Plain<Journal>, timed: bool) {
    let mut shared = Shared {
        program,
        journal,
        timed,
        atomics: Default::default(),
        mutexes: Default::default(),
        rwlock: RwLock::new(0),
        condvar: Condvar::new(),
        senders: Default::default(),
        receivers: Default::default(),
        _idle: Vec::new(),
    };
    for which in (0..CHANNELS).filter(|&which| used(program, which)) {
        let (sender, receiver) = if which == BOUNDED {
            let (sender, receiver) = sync_channel(BOUND);
            (Sending::Bounded(sender), receiver)
        } else {
            let (sender, receiver) = channel();
            (Sending::Unbounded(sender), receiver)
        };
        shared.receivers[which] = Plain::new(Some(receiver));
        let mut last = Some(sender);
        let senders: Vec<usize> = program.senders(which).collect();
        for (at, task) in senders.iter().enumerate() {
            let own = match &last {
                Some(Sending::Unbounded(sender)) if at + 1 < senders.len() => {
                    Some(Sending::Unbounded(sender.clone()))
                }
                Some(Sending::Bounded(sender)) if at + 1 < senders.len() => {
                    Some(Sending::Bounded(sender.clone()))
                }
                _ => last.take(),
            };
            shared.senders[which][*task] = Plain::new(own);
        }
        shared._idle.extend(last);
    }
    let own = &shared;
    thread::scope(|scope| Body::new(scope, own, 0, Default::default()).run());
    let mut journal = journal.lock().unwrap();
    // A scope returns as well where an execution is cleared away, and its tasks were unwound.
    if journal.tasks == 0
        && let Some(records) = journal.running.take()
    {
        journal.outcomes.complete.insert(records);
    }
}

fn used(program: &Program, channel: usize) -> bool {
    program.receiver(channel).is_some() || program.senders(channel).next().is_some()
}

enum Hold<'a> {
    Nothing,
    Mutex(MutexGuard<'a, u8>),
    Share { _guard: RwLockReadGuard<'a, u8> },
    Writer { _guard: RwLockWriteGuard<'a, u8> },
}

/// A task that runs.
struct Body<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    shared: &'scope Shared<'scope>,
    task: usize,
    at: usize,
    last_read: u8,
    holds: Vec<Hold<'scope>>,
    known: [Option<Thread>; TASKS],
    handles: [Option<ScopedJoinHandle<'scope, ()>>; TASKS],
}

impl<'scope, 'env> Body<'scope, 'env> {
    fn new(
        scope: &'scope Scope<'scope, 'env>,
        shared: &'scope Shared<'scope>,
        task: usize,
        known: [Option<Thread>; TASKS],
    ) -> Body<'scope, 'env> {
        Body {
            scope,
            shared,
            task,
            at: 0,
            last_read: 0,
            holds: Vec::new(),
            known,
            handles: Default::default(),
        }
    }

    fn run(mut self) {
        self.shared.journal.lock().unwrap().tasks += 1;
        while let Some(op) = self.shared.program.0[self.task].get(self.at) {
            self.at += 1;
            self.perform(*op);
        }
        while let Some(hold) = self.holds.pop() {
            drop(hold);
        }
        self.shared.journal.lock().unwrap().tasks -= 1;
    }

    fn read(&mut self, value: u8) {
        self.last_read = value;
        let mut journal = self.shared.journal.lock().unwrap();
        if let Some(records) = &mut journal.running {
            records[self.task] = noted(records[self.task], value);
        }
    }

    fn take(&mut self, mut guard: MutexGuard<'scope, u8>) {
        self.read(*guard);
        *guard = counted_up(*guard);
        self.holds.push(Hold::Mutex(guard));
    }

    /// A try to take a lock that was not free.
    fn fail<G>(&mut self, error: TryLockError<G>) {
        assert!(matches!(error, TryLockError::WouldBlock), "no lock is poisoned");
        self.read(FAILED);
        self.holds.push(Hold::Nothing);
    }

    /// Whether this operation is to have a time-out.
    fn hurries(&self) -> bool {
        self.shared.timed && self.at.is_multiple_of(2)
    }

    fn perform(&mut self, op: Op) {
        /// How long a wait with a time-out waits.
        const LIMIT: Duration = Duration::from_millis(1);
        let shared = self.shared;
        match op {
            Op::Load(at) => self.read(shared.atomics[at].load(SeqCst)),
            Op::Store(at, value) => shared.atomics[at].store(value, SeqCst),
            Op::Swap(at, value) => self.read(shared.atomics[at].swap(value, SeqCst)),
            Op::Add(at, value) => self.read(shared.atomics[at].fetch_add(value, SeqCst)),
            Op::Exchange(at, expected, value) => {
                let atomic = &shared.atomics[at];
                let result = if shared.timed {
                    // Whether it failed can be told from the value only if it failed with reason.
                    let result = atomic.compare_exchange_weak(expected, value, SeqCst, SeqCst);
                    self.read(u8::from(result.is_ok()));
                    result
                } else {
                    atomic.compare_exchange(expected, value, SeqCst, SeqCst)
                };
                self.read(result.unwrap_or_else(|found| found));
            }
            Op::Claim(slot) => {
                for tries in 0..SLOTS {
                    let atomic = &shared.atomics[slot_from(slot, tries)];
                    let result = atomic.compare_exchange(0, 1, SeqCst, SeqCst);
                    self.read(result.unwrap_or_else(|found| found));
                    if result.is_ok() {
                        break;
                    }
                }
            }
            Op::Lock(mutex) => self.take(shared.mutexes[mutex].lock().unwrap()),
            Op::TryLock(mutex) => match shared.mutexes[mutex].try_lock() {
                Ok(guard) => self.take(guard),
                Err(error) => self.fail(error),
            },
            Op::Read => self.share(shared.rwlock.read().unwrap()),
            Op::Write => self.write(shared.rwlock.write().unwrap()),
            Op::TryRead => match shared.rwlock.try_read() {
                Ok(guard) => self.share(guard),
                Err(error) => self.fail(error),
            },
            Op::TryWrite => match shared.rwlock.try_write() {
                Ok(guard) => self.write(guard),
                Err(error) => self.fail(error),
            },
            Op::Release => drop(self.holds.pop()),
            Op::Wait => match self.holds.pop() {
                Some(Hold::Mutex(guard)) if self.hurries() => {
                    let (guard, result) = shared.condvar.wait_timeout(guard, LIMIT).unwrap();
                    self.read(u8::from(result.timed_out()));
                    self.take(guard);
                }
                Some(Hold::Mutex(guard)) => {
                    let guard = shared.condvar.wait(guard).unwrap();
                    self.take(guard);
                }
                other => self.holds.extend(other),
            },
            Op::NotifyOne => shared.condvar.notify_one(),
            Op::NotifyAll => shared.condvar.notify_all(),
            Op::Send(channel, value) => {
                let sender = shared.senders[channel][self.task].lock().unwrap();
                match &*sender {
                    Some(Sending::Unbounded(sender)) => sender.send(value).unwrap(),
                    Some(Sending::Bounded(sender)) => sender.send(value).unwrap(),
                    None => {}
                }
            }
            Op::Close(channel) => {
                let sender = shared.senders[channel][self.task].lock().unwrap().take();
                drop(sender);
            }
            Op::Receive(channel) | Op::TryReceive(channel) => {
                if shared.program.receiver(channel) != Some(self.task) {
                    return;
                }
                let receiver = shared.receivers[channel].lock().unwrap();
                let receiver = receiver.as_ref().expect("a channel that is used");
                self.read(if matches!(op, Op::TryReceive(_)) {
                    receiver.try_recv().unwrap_or_else(|error| match error {
                        TryRecvError::Empty => FAILED,
                        TryRecvError::Disconnected => DISCONNECTED,
                    })
                } else if self.hurries() {
                    receiver.recv_timeout(LIMIT).unwrap_or_else(|error| match error {
                        RecvTimeoutError::Timeout => FAILED,
                        RecvTimeoutError::Disconnected => DISCONNECTED,
                    })
                } else {
                    receiver.recv().unwrap_or(DISCONNECTED)
                });
            }
            Op::Park if self.hurries() => thread::park_timeout(LIMIT),
            Op::Park => thread::park(),
            Op::Unpark(task) => {
                if let Some(thread) = &self.known[task] {
                    thread.unpark();
                }
            }
            Op::Choose => {
                let value = choose(2);
                self.read(value as u8);
            }
            Op::Spawn(task) => {
                let mut known = self.known.clone();
                known[self.task] = Some(thread::current());
                let scope = self.scope;
                let handle = scope.spawn(move || Body::new(scope, shared, task, known).run());
                self.known[task] = Some(handle.thread().clone());
                self.handles[task] = Some(handle);
            }
            Op::Join(task) => {
                if let Some(handle) = self.handles[task].take() {
                    handle.join().unwrap();
                }
            }
            Op::IsFinished(task) => {
                if let Some(handle) = &self.handles[task] {
                    let ended = handle.is_finished();
                    self.read(u8::from(ended));
                }
            }
            Op::OnlyIf(value) => self.at += usize::from(self.last_read != value),
        }
    }

    fn share(&mut self, guard: RwLockReadGuard<'scope, u8>) {
        self.read(*guard);
        self.holds.push(Hold::Share { _guard: guard });
    }

    fn write(&mut self, mut guard: RwLockWriteGuard<'scope, u8>) {
        self.read(*guard);
        *guard = counted_up(*guard);
        self.holds.push(Hold::Writer { _guard: guard });
    }
}
