//! Runs the programs under the engine, and collects the values that executions read.

use crate::model::{DISCONNECTED, FAILED, Record, counted_up, noted};
use crate::program::{ATOMICS, BOUND, BOUNDED, CHANNELS, MUTEXES, Op, Program, SLOTS, TASKS, slot_from};
use intermezzo_explorer::sync::atomic::AtomicU8;
use intermezzo_explorer::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
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

/// The values that the tasks of an execution read.
pub(crate) type Records = [Record; TASKS];

/// The values that executions read: of those that ended, and of those that did not.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcomes {
    pub(crate) complete: BTreeSet<Records>,
    pub(crate) stuck: BTreeSet<Records>,
}

impl Outcomes {
    /// Adds the outcomes of other executions.
    pub(crate) fn append(&mut self, mut others: Outcomes) {
        self.complete.append(&mut others.complete);
        self.stuck.append(&mut others.stuck);
    }
}

/// The values that the current execution has read so far, and those of earlier executions.
#[derive(Default)]
struct Journal {
    running: Option<Records>,
    /// The number of its tasks that have begun and not ended.
    tasks: u32,
    outcomes: Outcomes,
}

impl Journal {
    /// Records that the current execution has not ended.
    fn give_up(&mut self) {
        if let Some(records) = self.running.take() {
            self.outcomes.stuck.insert(records);
        }
    }
}

/// A journal for each worker.
struct Journals {
    /// The worker of each journal in use.
    workers: Plain<Vec<ThreadId>>,
    journals: Vec<Plain<Journal>>,
}

impl Journals {
    /// Returns the journal of the calling worker.
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

/// Explores a program. With `timed`, every second wait has a time-out, and compare-exchanges are weak.
pub(crate) fn explore(program: &Program, explorer: Explorer, timed: bool) -> (Report, Outcomes) {
    let (report, outcomes, _) = explore_by(1, program, explorer, timed);
    (report, outcomes)
}

/// Explores a program by this many workers. Also returns the number of those that ran anything.
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
        if journals.workers.lock().unwrap().len() < jobs {
            // Yields until every worker has run something, even if there are few processors. Not longer, because on a busy
            // machine each yield is a long wait for other processes.
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

/// The state that the tasks of a program share. Each end of a channel belongs to one task, so the std lock around it is
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
    /// The senders of channels to which no task sends.
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
    // A scope also returns if an execution is cleared away and its tasks are unwound.
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
    Writer { guard: RwLockWriteGuard<'a, u8> },
}

/// A running task.
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

    /// Records an attempt to take a lock that was not free.
    fn fail<G>(&mut self, error: TryLockError<G>) {
        assert!(matches!(error, TryLockError::WouldBlock), "no lock is poisoned");
        self.read(FAILED);
        self.holds.push(Hold::Nothing);
    }

    /// `true` if this operation has a time-out.
    fn hurries(&self) -> bool {
        self.shared.timed && self.at.is_multiple_of(2)
    }

    fn perform(&mut self, op: Op) {
        /// The duration of a wait with a time-out.
        const LIMIT: Duration = Duration::from_millis(1);
        let shared = self.shared;
        // The orderings make a difference only under a memory model.
        let (load, store, both) = match self.at % 3 {
            0 => (Acquire, Release, AcqRel),
            1 => (Relaxed, Relaxed, Relaxed),
            _ => (SeqCst, SeqCst, SeqCst),
        };
        match op {
            Op::Load(at) => self.read(shared.atomics[at].load(load)),
            Op::Store(at, value) => shared.atomics[at].store(value, store),
            Op::Swap(at, value) => self.read(shared.atomics[at].swap(value, both)),
            Op::Add(at, value) => self.read(shared.atomics[at].fetch_add(value, both)),
            Op::Exchange(at, expected, value) => {
                let atomic = &shared.atomics[at];
                let result = if shared.timed {
                    // The value shows a failure only if it was not spurious.
                    let result = atomic.compare_exchange_weak(expected, value, both, load);
                    self.read(u8::from(result.is_ok()));
                    result
                } else {
                    atomic.compare_exchange(expected, value, both, load)
                };
                self.read(result.unwrap_or_else(|found| found));
            }
            Op::Claim(slot) => {
                for tries in 0..SLOTS {
                    let atomic = &shared.atomics[slot_from(slot, tries)];
                    let result = match shared.timed {
                        true => atomic.compare_exchange_weak(0, 1, both, load),
                        false => atomic.compare_exchange(0, 1, both, load),
                    };
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
            Op::Downgrade => match self.holds.pop() {
                Some(Hold::Writer { guard }) => self.holds.push(Hold::Share {
                    _guard: RwLockWriteGuard::downgrade(guard),
                }),
                other => self.holds.extend(other),
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
        self.holds.push(Hold::Writer { guard });
    }
}
