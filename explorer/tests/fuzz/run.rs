//! Runs the programs under the engine, and collects the observations of their tasks.

use crate::program::{ATOMICS, MUTEXES, Op, Program, TASKS, is_count, is_weak, receives_from, sends_to};
use crate::records::{Outcomes, Take, record};
use crate::tokens::Tokens;
use intermezzo_explorer::primitive::Primitive;
use intermezzo_explorer::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst, fence};
use intermezzo_explorer::sync::mpsc::{
    Receiver, RecvTimeoutError, SendError, Sender, SyncSender, TryRecvError, TrySendError, channel,
    sync_channel,
};
use intermezzo_explorer::sync::{
    Arc, Barrier, Condvar, LazyLock, Mutex, MutexGuard, Once, OnceLock, RwLock, RwLockReadGuard,
    RwLockWriteGuard, TryLockError, Weak,
};
use intermezzo_explorer::thread::{JoinHandle, Thread};
use intermezzo_explorer::time::{SystemTime, UNIX_EPOCH};
use intermezzo_explorer::{Explorer, Report, any_bool, choose, future, quiesce, schedule_point, thread};
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc as Plain, Mutex as PlainMutex};
use std::task::{Poll, Waker};
use std::time::Duration;

/// Explores a program. Returns the report, and the observations of its executions.
pub(crate) fn explore(program: &Program, explorer: Explorer) -> (Report, Outcomes) {
    let outcomes = Plain::new(PlainMutex::new(Outcomes::default()));
    let shared = outcomes.clone();
    let program = Plain::new(program.clone());
    let report = explorer
        .program("fuzz")
        .monitor_with(move || Take(shared.clone()))
        .explore(|| execute(&program));
    let outcomes = outcomes.lock().unwrap().clone();
    (report, outcomes)
}

static COUNTER: AtomicUsize = AtomicUsize::new(5);
static LAZY: LazyLock<usize> = LazyLock::new(|| COUNTER.fetch_add(1, SeqCst));

thread::thread_local! {
    static LOCAL: Ending = const { Ending(RefCell::new(None)) };
}

/// Stores into an atomic when its task ends.
struct Ending(RefCell<Option<(Plain<Shared>, usize, usize)>>);

impl Drop for Ending {
    fn drop(&mut self) {
        if let Some((shared, which, task)) = self.0.take() {
            record(task, shared.atomics[which].swap(7, SeqCst) as u8);
        }
    }
}

/// A value that records on which task it is dropped.
struct Noisy(Plain<Marks>);

struct Marks(AtomicUsize);

impl Drop for Noisy {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, SeqCst);
    }
}

enum Sending {
    Unbounded(Sender<u8>),
    Bounded(SyncSender<u8>),
}

struct Shared {
    atomics: [AtomicUsize; ATOMICS],
    toggle: AtomicBool,
    mutexes: [Mutex<u8>; MUTEXES],
    rwlock: RwLock<u8>,
    condvar: Condvar,
    once: Once,
    cell: OnceLock<u8>,
    lazy: LazyLock<usize>,
    barrier: Barrier,
    waker: Mutex<Option<Waker>>,
    primitives: [Primitive<Tokens>; 2],
    /// Searches do not see it. They reach different orders of accesses only by the schedule points before each access.
    unseen: std::sync::atomic::AtomicUsize,
    marks: Plain<Marks>,
    program: Plain<Program>,
    /// The initial objects of tasks. Those of a task that is never created are leaked, since it would belong to no task
    /// to drop them.
    ends: PlainMutex<[Option<ManuallyDrop<Own>>; TASKS]>,
}

/// The objects of a single task.
#[derive(Default)]
struct Own {
    senders: [Option<Sending>; 3],
    receivers: [Option<Receiver<u8>>; 3],
    arc: Option<Arc<Noisy>>,
    weak: Option<Weak<Noisy>>,
}

enum Hold<'a> {
    Mutex(MutexGuard<'a, u8>),
    Read(#[allow(dead_code, reason = "held")] RwLockReadGuard<'a, u8>),
    Write(RwLockWriteGuard<'a, u8>),
}

fn execute(program: &Plain<Program>) {
    let marks = Plain::new(Marks(AtomicUsize::new(0)));
    let uses = |channel: usize| {
        let ends = |op: &Op| sends_to(op).or(receives_from(op)) == Some(channel);
        program.any(ends)
    };
    let unbounded = uses(0).then(channel);
    let bounded = [1, 0].map(|bound| uses(2 - bound).then(|| sync_channel(bound)));
    let tasks = program.0.len();
    let arc = program.any(is_count).then(|| Arc::new(Noisy(marks.clone())));
    let mut ends: [Option<Own>; TASKS] = std::array::from_fn(|_| None);
    for (task, own) in ends.iter_mut().enumerate().take(tasks) {
        // Handles that the test's own body makes before there is another task, so that these steps add no orders.
        let sends = |channel: usize| program.0[task].iter().any(|op| sends_to(op) == Some(channel));
        *own = Some(Own {
            senders: [
                unbounded
                    .as_ref()
                    .filter(|_| sends(0))
                    .map(|ends| Sending::Unbounded(ends.0.clone())),
                bounded[0]
                    .as_ref()
                    .filter(|_| sends(1))
                    .map(|ends| Sending::Bounded(ends.0.clone())),
                bounded[1]
                    .as_ref()
                    .filter(|_| sends(2))
                    .map(|ends| Sending::Bounded(ends.0.clone())),
            ],
            receivers: Default::default(),
            weak: arc
                .as_ref()
                .filter(|_| program.0[task].iter().any(is_weak))
                .map(Arc::downgrade),
            arc: arc
                .as_ref()
                .filter(|_| program.0[task].iter().any(is_count))
                .cloned(),
        });
    }
    let receives = |channel: usize| {
        let receives = |ops: &Vec<Op>| ops.iter().any(|op| receives_from(op) == Some(channel));
        program.0.iter().position(receives).unwrap_or(0)
    };
    let unbounded = unbounded.map(|(sender, receiver)| (drop(sender), receiver).1);
    let [one, none] = bounded.map(|ends| ends.map(|(sender, receiver)| (drop(sender), receiver).1));
    for (channel, receiver) in [unbounded, one, none].into_iter().enumerate() {
        let own = ends[receives(channel)].as_mut().expect("there is such a task");
        own.receivers[channel] = receiver;
    }
    drop(arc);
    let shared = Plain::new(Shared {
        atomics: Default::default(),
        toggle: AtomicBool::new(false),
        mutexes: Default::default(),
        rwlock: RwLock::new(0),
        condvar: Condvar::new(),
        once: Once::new(),
        cell: OnceLock::new(),
        lazy: LazyLock::new(|| COUNTER.fetch_add(10, SeqCst)),
        barrier: Barrier::new(2),
        waker: Mutex::new(None),
        primitives: [const { Primitive::new(Tokens(1)) }; 2],
        unseen: std::sync::atomic::AtomicUsize::new(0),
        marks,
        program: program.clone(),
        ends: PlainMutex::new(ends.map(|own| own.map(ManuallyDrop::new))),
    });
    let known = [Some(thread::current()), None, None, None];
    let ended = catch_unwind(AssertUnwindSafe(|| Body::new(&shared, 0, known).run(&shared)));
    if let Err(payload) = ended {
        // A panic of the test's own body would end the execution, whatever the state of other tasks.
        if payload.downcast_ref::<Expected>().is_none() && !is_text(&*payload) {
            resume_unwind(payload);
        }
        record(0, 99);
    }
}

/// The payload of a program's own panics.
struct Expected;

fn is_text(payload: &(dyn std::any::Any + Send)) -> bool {
    payload.is::<String>() || payload.is::<&str>()
}

struct Body<'a> {
    shared: &'a Shared,
    me: usize,
    last: u8,
    holds: Vec<Hold<'a>>,
    own: Own,
    known: [Option<Thread>; TASKS],
    handles: [Option<JoinHandle<u8>>; TASKS],
    futures: Vec<future::JoinHandle<u8>>,
}

const MOMENT: Duration = Duration::from_millis(5);

impl<'a> Body<'a> {
    fn new(shared: &'a Shared, me: usize, known: [Option<Thread>; TASKS]) -> Body<'a> {
        let own = shared.ends.lock().unwrap()[me].take();
        let own = own.map_or_else(Own::default, ManuallyDrop::into_inner);
        Body {
            shared,
            me,
            last: 0,
            holds: Vec::new(),
            own,
            known,
            handles: Default::default(),
            futures: Vec::new(),
        }
    }

    fn read(&mut self, value: impl Into<u64>) {
        self.last = value.into() as u8;
        record(self.me, self.last);
    }

    fn run(mut self, plain: &Plain<Shared>) -> u8 {
        let ops = &self.shared.program.0[self.me];
        let mut at = 0;
        while let Some(op) = ops.get(at) {
            at += 1;
            match *op {
                Op::OnlyIf(value) => at += usize::from(self.last != value),
                op => self.perform(op, plain),
            }
        }
        self.last
    }

    fn perform(&mut self, op: Op, plain: &Plain<Shared>) {
        let shared = self.shared;
        let atomic = |which: usize| &shared.atomics[which];
        match op {
            Op::Load(at) => self.read(atomic(at).load(SeqCst) as u64),
            Op::Store(at, value) => atomic(at).store(value.into(), SeqCst),
            Op::Swap(at, value) => self.read(atomic(at).swap(value.into(), SeqCst) as u64),
            Op::Add(at) => self.read(atomic(at).fetch_add(1, SeqCst) as u64),
            Op::Max(at, value) => self.read(atomic(at).fetch_max(value.into(), SeqCst) as u64),
            Op::Exchange(at, from, to) => {
                let done = atomic(at).compare_exchange(from.into(), to.into(), SeqCst, SeqCst);
                self.read(done.map_or_else(|was| was as u64 + 10, |was| was as u64));
            }
            Op::ExchangeWeak(at, from, to) => {
                let done = atomic(at).compare_exchange_weak(from.into(), to.into(), SeqCst, SeqCst);
                self.read(done.map_or_else(|was| was as u64 + 10, |was| was as u64));
            }
            Op::Update(at) => {
                let done = atomic(at).fetch_update(SeqCst, SeqCst, |was| (was < 2).then_some(was + 1));
                self.read(done.map_or_else(|was| was as u64 + 10, |was| was as u64));
            }
            Op::Toggle => self.read(shared.toggle.fetch_xor(true, SeqCst)),
            Op::Fence => fence(SeqCst),
            Op::Lock(which) => {
                let result = shared.mutexes[which].lock();
                let poisoned = result.is_err();
                let mut guard = result.unwrap_or_else(|poisoned| poisoned.into_inner());
                self.read(*guard + 20 * u8::from(poisoned));
                *guard += 1;
                self.holds.push(Hold::Mutex(guard));
            }
            Op::TryLock(which) => match shared.mutexes[which].try_lock() {
                Ok(guard) => {
                    self.read(*guard);
                    self.holds.push(Hold::Mutex(guard));
                }
                Err(TryLockError::Poisoned(poisoned)) => {
                    self.read(40_u8);
                    self.holds.push(Hold::Mutex(poisoned.into_inner()));
                }
                Err(TryLockError::WouldBlock) => self.read(41_u8),
            },
            Op::Unlock => drop(self.holds.pop()),
            Op::PoisonMutex(which) => {
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    let _guard = shared.mutexes[which].lock();
                    resume_unwind(Box::new(Expected));
                }));
                self.caught(caught);
            }
            Op::IsPoisoned(which) => self.read(shared.mutexes[which].is_poisoned()),
            Op::ClearPoison(which) => shared.mutexes[which].clear_poison(),
            Op::Read => {
                let result = shared.rwlock.read();
                let poisoned = result.is_err();
                let guard = result.unwrap_or_else(|poisoned| poisoned.into_inner());
                self.read(*guard + 20 * u8::from(poisoned));
                self.holds.push(Hold::Read(guard));
            }
            Op::TryRead => match shared.rwlock.try_read() {
                Ok(guard) => {
                    self.read(*guard);
                    self.holds.push(Hold::Read(guard));
                }
                Err(TryLockError::Poisoned(_)) => self.read(40_u8),
                Err(TryLockError::WouldBlock) => self.read(41_u8),
            },
            Op::Write => {
                let result = shared.rwlock.write();
                let poisoned = result.is_err();
                let mut guard = result.unwrap_or_else(|poisoned| poisoned.into_inner());
                self.read(*guard + 20 * u8::from(poisoned));
                *guard += 1;
                self.holds.push(Hold::Write(guard));
            }
            Op::TryWrite => match shared.rwlock.try_write() {
                Ok(mut guard) => {
                    self.read(*guard);
                    *guard += 1;
                    self.holds.push(Hold::Write(guard));
                }
                Err(TryLockError::Poisoned(_)) => self.read(40_u8),
                Err(TryLockError::WouldBlock) => self.read(41_u8),
            },
            Op::Downgrade => match self.holds.pop() {
                Some(Hold::Write(guard)) => self.holds.push(Hold::Read(RwLockWriteGuard::downgrade(guard))),
                Some(other) => self.holds.push(other),
                None => {}
            },
            Op::PoisonRwLock => {
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    let _guard = shared.rwlock.write();
                    resume_unwind(Box::new(Expected));
                }));
                self.caught(caught);
            }
            Op::Wait | Op::WaitTimeout => match self.holds.pop() {
                Some(Hold::Mutex(guard)) if op == Op::Wait => {
                    let guard = shared
                        .condvar
                        .wait(guard)
                        .unwrap_or_else(|poisoned| poisoned.into_inner());
                    self.read(*guard);
                    self.holds.push(Hold::Mutex(guard));
                }
                Some(Hold::Mutex(guard)) => {
                    let result = shared.condvar.wait_timeout(guard, MOMENT);
                    let (guard, timeout) = result.unwrap_or_else(|poisoned| poisoned.into_inner());
                    self.read(*guard + 50 * u8::from(timeout.timed_out()));
                    self.holds.push(Hold::Mutex(guard));
                }
                Some(other) => self.holds.push(other),
                None => {}
            },
            Op::NotifyOne => shared.condvar.notify_one(),
            Op::NotifyAll => shared.condvar.notify_all(),
            Op::Send(channel, value) => {
                let sent = match &self.own.senders[channel] {
                    Some(Sending::Unbounded(sender)) => sender.send(value),
                    Some(Sending::Bounded(sender)) => sender.send(value),
                    None => return,
                };
                self.read(match sent {
                    Ok(()) => 1_u8,
                    Err(SendError(_)) => 2,
                });
            }
            Op::TrySend(channel, value) => {
                let Some(Sending::Bounded(sender)) = &self.own.senders[channel] else {
                    return;
                };
                let sent = sender.try_send(value);
                self.read(match sent {
                    Ok(()) => 1_u8,
                    Err(TrySendError::Full(_)) => 3,
                    Err(TrySendError::Disconnected(_)) => 2,
                });
            }
            Op::Receive(channel) => {
                let Some(receiver) = &self.own.receivers[channel] else {
                    return;
                };
                let received = receiver.recv();
                self.read(received.unwrap_or(60));
            }
            Op::TryReceive(channel) => {
                let Some(receiver) = &self.own.receivers[channel] else {
                    return;
                };
                let received = receiver.try_recv();
                self.read(match received {
                    Ok(value) => value,
                    Err(TryRecvError::Empty) => 61,
                    Err(TryRecvError::Disconnected) => 60,
                });
            }
            Op::ReceiveTimeout(channel) => {
                let Some(receiver) = &self.own.receivers[channel] else {
                    return;
                };
                let received = receiver.recv_timeout(MOMENT);
                self.read(match received {
                    Ok(value) => value,
                    Err(RecvTimeoutError::Timeout) => 62,
                    Err(RecvTimeoutError::Disconnected) => 60,
                });
            }
            Op::CloneSender(channel) => match &self.own.senders[channel] {
                Some(Sending::Unbounded(sender)) => drop(sender.clone()),
                Some(Sending::Bounded(sender)) => drop(sender.clone()),
                None => {}
            },
            Op::CloseSender(channel) => drop(self.own.senders[channel].take()),
            Op::CloseReceiver(channel) => drop(self.own.receivers[channel].take()),
            Op::CloneArc => {
                let more = self.own.arc.clone();
                self.read(shared.marks.0.load(SeqCst) as u64);
                drop(more);
            }
            Op::DropArc => {
                drop(self.own.arc.take());
                self.read(shared.marks.0.load(SeqCst) as u64);
            }
            Op::StrongCount => {
                let count = self.own.arc.as_ref().map_or(9, Arc::strong_count);
                self.read(count as u64);
            }
            Op::WeakCount => {
                let count = self.own.arc.as_ref().map_or(9, Arc::weak_count);
                self.read(count as u64);
            }
            Op::GetMut => {
                let alone = self.own.arc.as_mut().map(|arc| Arc::get_mut(arc).is_some());
                self.read(alone.map_or(9, u8::from));
            }
            Op::TryUnwrap => {
                let Some(arc) = self.own.arc.take() else { return };
                match Arc::try_unwrap(arc) {
                    Ok(_) => self.read(1_u8),
                    Err(arc) => {
                        self.read(0_u8);
                        self.own.arc = Some(arc);
                    }
                }
            }
            Op::IntoInner => {
                let Some(arc) = self.own.arc.take() else { return };
                let inner = Arc::into_inner(arc);
                self.read(inner.is_some());
            }
            Op::Downgraded => self.own.weak = self.own.arc.as_ref().map(Arc::downgrade),
            Op::Upgrade => {
                let Some(weak) = &self.own.weak else { return };
                let arc = weak.upgrade();
                self.read(arc.is_some());
                drop(arc);
            }
            Op::CountOfWeak => {
                let Some(weak) = &self.own.weak else { return };
                let count = weak.strong_count() + 8 * weak.weak_count();
                self.read(count as u64);
            }
            Op::DropWeak => drop(self.own.weak.take()),
            Op::CallOnce(fails) => {
                let me = self.me as u8;
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    let mut ran = 70 + me;
                    shared.once.call_once(|| {
                        ran = shared.atomics[0].load(SeqCst) as u8;
                        if fails {
                            resume_unwind(Box::new(Expected));
                        }
                    });
                    ran
                }));
                match caught {
                    Ok(ran) => self.read(ran),
                    Err(payload) => self.caught(Err(payload)),
                }
            }
            Op::IsCompleted => self.read(shared.once.is_completed()),
            Op::SetOnce(value) => self.read(shared.cell.set(value).is_ok()),
            Op::GetOnce => self.read(shared.cell.get().map_or(9, |value| *value)),
            Op::InitOnce(value) => {
                let value = *shared
                    .cell
                    .get_or_init(|| shared.atomics[0].load(SeqCst) as u8 * 4 + value);
                self.read(value);
            }
            Op::Lazy => self.read(*shared.lazy as u64),
            Op::Static => self.read(COUNTER.fetch_add(1, SeqCst) as u64),
            Op::StaticLazy => self.read(*LAZY as u64),
            Op::Arrive => self.read(shared.barrier.wait().is_leader()),
            Op::Spawn(task) => {
                let mut known = self.known.clone();
                known[self.me] = Some(thread::current());
                let theirs = plain.clone();
                let handle = thread::spawn(move || {
                    let shared = theirs;
                    Body::new(&shared, task, known).run(&shared)
                });
                self.known[task] = Some(handle.thread().clone());
                self.handles[task] = Some(handle);
            }
            Op::Join(task) => {
                if let Some(handle) = self.handles[task].take() {
                    let joined = handle.join();
                    self.read(joined.unwrap_or(98));
                }
            }
            Op::IsFinished(task) => {
                if let Some(handle) = &self.handles[task] {
                    let finished = handle.is_finished();
                    self.read(finished);
                }
            }
            Op::DropHandle(task) => drop(self.handles[task].take()),
            Op::Unpark(task) => {
                if let Some(thread) = &self.known[task] {
                    thread.unpark();
                }
            }
            Op::Park => thread::park(),
            Op::ParkTimeout => {
                thread::park_timeout(MOMENT);
                self.read(0_u8);
            }
            Op::Yield => thread::yield_now(),
            Op::Sleep => thread::sleep(2 * MOMENT),
            // Every execution begins at a whole second.
            Op::Look => self.read(
                (SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .unwrap()
                    .subsec_micros()
                    % 251) as u8,
            ),
            Op::Scope(which) => {
                let value = thread::scope(|scope| {
                    let first = scope.spawn(|| atomic(which).swap(3, SeqCst) as u8);
                    let finished = u8::from(first.is_finished());
                    atomic(which).fetch_add(1, SeqCst);
                    let joined = first.join().unwrap_or(97);
                    joined * 2 + finished
                });
                self.read(value);
            }
            // No operation joins the task, so the scope ends before its thread-local is dropped, or after that. Its records
            // are separate, because their order with those of this task is not compared.
            Op::ScopeAlone(which) => thread::scope(|scope| {
                let (theirs, records) = (plain.clone(), TASKS + ATOMICS * self.me + which);
                scope.spawn(move || {
                    LOCAL.with(|local| *local.0.borrow_mut() = Some((theirs, which, records)))
                });
            }),
            Op::Panic => resume_unwind(Box::new(Expected)),
            Op::Catch(which) => {
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    let _guard = shared.mutexes[which].lock();
                    atomic(which).fetch_add(1, SeqCst);
                    resume_unwind(Box::new(Expected));
                }));
                self.caught(caught);
                self.read(std::thread::panicking());
            }
            Op::Local(which) => LOCAL.with(|local| {
                *local.0.borrow_mut() = Some((plain.clone(), which, self.me));
            }),
            Op::Choose => self.read(choose(3) as u64),
            Op::AnyBool => self.read(any_bool()),
            Op::Await(which) => {
                let value = future::block_on(future::poll_fn(|context| {
                    *shared.waker.lock().unwrap() = Some(context.waker().clone());
                    match atomic(which).load(SeqCst) {
                        0 => Poll::Pending,
                        value => Poll::Ready(value),
                    }
                }));
                self.read(value as u64);
            }
            Op::Wake => {
                atomic(0).store(1, SeqCst);
                let waker = shared.waker.lock().unwrap().take();
                self.read(waker.is_some());
                if let Some(waker) = waker {
                    waker.wake();
                }
            }
            Op::SpawnFuture(which) => {
                let theirs = plain.clone();
                self.futures.push(future::spawn(async move {
                    theirs.atomics[which].swap(4, SeqCst) as u8
                }));
            }
            Op::AwaitFuture => {
                if let Some(spawned) = self.futures.pop() {
                    let value = future::block_on(spawned);
                    self.read(value.unwrap_or(96));
                }
            }
            Op::IsFutureFinished => {
                if let Some(spawned) = self.futures.last() {
                    let finished = spawned.is_finished();
                    self.read(finished);
                }
            }
            Op::Inspect(at) => self.read(shared.primitives[at].read(SeqCst, |tokens| tokens.0)),
            Op::Put(at, more) => self.read(shared.primitives[at].change(SeqCst, |tokens| {
                tokens.0 += more;
                tokens.0
            })),
            Op::Take(at, gates) => {
                let taken = shared.primitives[at].wait(gates, SeqCst, |tokens| tokens.take(gates));
                self.read(taken);
            }
            Op::TryTake(at, gates) => {
                let taken = shared.primitives[at].change(SeqCst, |tokens| tokens.take(gates));
                self.read(taken);
            }
            Op::TakeTimeout(at, gates) => {
                let taken =
                    shared.primitives[at].wait_timeout(gates, MOMENT, SeqCst, |tokens| tokens.take(gates));
                self.read(taken.unwrap_or(91));
            }
            Op::Unseen => {
                schedule_point();
                self.read(shared.unseen.fetch_add(1, SeqCst) as u64);
            }
            Op::Quiesce => {
                quiesce();
                self.read(shared.atomics[0].load(SeqCst) as u64);
            }
            Op::OnlyIf(_) => unreachable!("seen to by the caller"),
        }
    }

    /// Handles a caught panic. A panic of the engine, which unwinds remaining tasks, continues.
    fn caught(&mut self, caught: std::thread::Result<()>) {
        if let Err(payload) = caught {
            if !payload.is::<Expected>() && !is_text(&*payload) {
                resume_unwind(payload);
            }
            self.read(u8::from(payload.is::<Expected>()) + 80);
        }
    }
}
