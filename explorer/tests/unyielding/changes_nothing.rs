//! Operations that change nothing, in a loop that waits for something else. The loop must end.

use intermezzo_explorer::sync::mpsc::{self, Receiver, Sender, SyncSender};
use intermezzo_explorer::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, Weak};
use intermezzo_explorer::thread::{self, JoinHandle};
use intermezzo_explorer::{Coverage, Environment, Explorer, Report, TestBinary, Verdict};
use intermezzo_lookalikes::sync::atomic::by_address::AtomicUsize;
use intermezzo_lookalikes::sync::atomic::fence;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::time::Duration;

/// The objects of all tasks. Only the flag changes while tasks wait.
struct Shared {
    flag: AtomicUsize,
    number: AtomicUsize,
    /// Channels whose receivers were dropped: unbounded, bounded, and a rendezvous.
    refused: (Sender<u32>, SyncSender<u32>, SyncSender<u32>),
    done: Once,
    not_done: Once,
    set: OnceLock<u32>,
    unset: OnceLock<u32>,
    lazy: LazyLock<u32>,
    mutex: Mutex<u32>,
    rwlock: RwLock<u32>,
    condvar: Condvar,
    counted: Arc<u32>,
    weak: Weak<u32>,
    dead: Weak<u32>,
}

impl Shared {
    fn new() -> Shared {
        let set = OnceLock::new();
        set.set(1).unwrap();
        let done = Once::new();
        done.call_once(|| {});
        let lazy: LazyLock<u32> = LazyLock::new(|| 1);
        assert_eq!(*lazy, 1);
        let counted = Arc::new(1);
        Shared {
            flag: AtomicUsize::new(0),
            number: AtomicUsize::new(1),
            refused: (
                mpsc::channel().0,
                mpsc::sync_channel(1).0,
                mpsc::sync_channel(0).0,
            ),
            done,
            not_done: Once::new(),
            set,
            unset: OnceLock::new(),
            lazy,
            mutex: Mutex::new(0),
            rwlock: RwLock::new(0),
            condvar: Condvar::new(),
            weak: Arc::downgrade(&counted),
            counted,
            dead: Weak::new(),
        }
    }
}

/// The objects of one task that waits.
struct Own {
    /// Channels whose senders are gone.
    closed: [Receiver<u32>; 3],
    /// Channels with both ends, and without a message.
    empty: [(SyncSender<u32>, Receiver<u32>); 2],
    /// A channel without room.
    full: (SyncSender<u32>, Receiver<u32>),
    alone: Barrier,
    /// The task for which it waits.
    other: JoinHandle<()>,
}

impl Own {
    fn new(other: JoinHandle<()>) -> Own {
        let full = mpsc::sync_channel(1);
        full.0.send(1).unwrap();
        Own {
            closed: [
                mpsc::channel().1,
                mpsc::sync_channel(1).1,
                mpsc::sync_channel(0).1,
            ],
            empty: [mpsc::sync_channel(1), mpsc::sync_channel(0)],
            full,
            alone: Barrier::new(1),
            other,
        }
    }
}

const NO_TIME: Duration = Duration::ZERO;
const SOME_TIME: Duration = Duration::from_millis(1);

type Operation = fn(&Shared, &Own);

const OPERATIONS: &[(&str, Operation)] = &[
    ("receive from a closed channel", |_, own| {
        assert!(own.closed[0].recv().is_err())
    }),
    ("try to receive from a closed channel", |_, own| {
        assert!(own.closed[0].try_recv().is_err())
    }),
    ("receive with a limit from a closed channel", |_, own| {
        assert!(own.closed[0].recv_timeout(SOME_TIME).is_err());
    }),
    ("receive from a closed bounded channel", |_, own| {
        assert!(own.closed[1].recv().is_err())
    }),
    ("receive from a closed rendezvous", |_, own| {
        assert!(own.closed[2].recv().is_err())
    }),
    ("try to receive from a closed rendezvous", |_, own| {
        assert!(own.closed[2].try_recv().is_err())
    }),
    ("receive with a limit from a closed rendezvous", |_, own| {
        assert!(own.closed[2].recv_timeout(SOME_TIME).is_err());
    }),
    ("iterate over a closed channel", |_, own| {
        assert_eq!(own.closed[0].iter().next(), None)
    }),
    ("iterate over what a closed channel has", |_, own| {
        assert_eq!(own.closed[0].try_iter().next(), None);
    }),
    ("try to receive from three channels", |_, own| {
        for channel in &own.closed {
            assert!(channel.try_recv().is_err());
        }
    }),
    ("try to receive from an empty channel", |_, own| {
        assert!(own.empty[0].1.try_recv().is_err())
    }),
    ("try to receive from an empty rendezvous", |_, own| {
        assert!(own.empty[1].1.try_recv().is_err())
    }),
    ("receive without time from an empty channel", |_, own| {
        assert!(own.empty[0].1.recv_timeout(NO_TIME).is_err());
    }),
    ("receive without time from an empty rendezvous", |_, own| {
        assert!(own.empty[1].1.recv_timeout(NO_TIME).is_err());
    }),
    ("send to a closed channel", |shared, _| {
        assert!(shared.refused.0.send(1).is_err())
    }),
    ("send to a closed bounded channel", |shared, _| {
        assert!(shared.refused.1.send(1).is_err())
    }),
    ("send to a closed rendezvous", |shared, _| {
        assert!(shared.refused.2.send(1).is_err())
    }),
    ("try to send to a closed channel", |shared, _| {
        assert!(shared.refused.1.try_send(1).is_err())
    }),
    ("try to send to a full channel", |_, own| {
        assert!(own.full.0.try_send(1).is_err())
    }),
    ("try to send to an empty rendezvous", |_, own| {
        assert!(own.empty[1].0.try_send(1).is_err())
    }),
    ("pass a barrier for one", |_, own| {
        assert!(own.alone.wait().is_leader())
    }),
    ("call what was called once", |shared, _| {
        shared.done.call_once(|| unreachable!())
    }),
    ("force what was called once", |shared, _| {
        shared.done.call_once_force(|_| unreachable!())
    }),
    ("wait for what was called once", |shared, _| shared.done.wait()),
    ("ask whether it was called", |shared, _| {
        assert!(shared.done.is_completed())
    }),
    ("ask whether something else was called", |shared, _| {
        assert!(!shared.not_done.is_completed())
    }),
    ("get a value", |shared, _| assert!(shared.set.get().is_some())),
    ("get no value", |shared, _| assert!(shared.unset.get().is_none())),
    ("get or set a value", |shared, _| {
        assert_eq!(*shared.set.get_or_init(|| 2), 1)
    }),
    ("wait for a value", |shared, _| assert_eq!(*shared.set.wait(), 1)),
    ("set a value again", |shared, _| {
        assert!(shared.set.set(2).is_err())
    }),
    ("read a lazy value", |shared, _| assert_eq!(*shared.lazy, 1)),
    ("look whether a task has ended", |_, own| {
        own.other.is_finished();
    }),
    ("unpark a task", |_, own| own.other.thread().unpark()),
    ("park without time", |_, _| thread::park_timeout(NO_TIME)),
    ("sleep without time", |_, _| thread::sleep(NO_TIME)),
    ("notify no task", |shared, _| shared.condvar.notify_one()),
    ("notify all of no tasks", |shared, _| shared.condvar.notify_all()),
    ("wait without time", |shared, _| {
        drop(
            shared
                .condvar
                .wait_timeout(shared.mutex.lock().unwrap(), NO_TIME)
                .unwrap(),
        );
    }),
    ("upgrade", |shared, _| assert!(shared.weak.upgrade().is_some())),
    ("upgrade what is gone", |shared, _| {
        assert!(shared.dead.upgrade().is_none())
    }),
    ("count handles", |shared, _| {
        assert!(Arc::strong_count(&shared.counted) > 0)
    }),
    ("count weak handles", |shared, _| {
        assert!(Arc::weak_count(&shared.counted) > 0)
    }),
    ("take a handle and give it back", |shared, _| {
        drop(shared.counted.clone())
    }),
    ("take a weak handle and give it back", |shared, _| {
        drop(Arc::downgrade(&shared.counted))
    }),
    ("lock", |shared, _| drop(shared.mutex.lock().unwrap())),
    ("try to lock", |shared, _| drop(shared.mutex.try_lock())),
    ("read under a lock", |shared, _| {
        drop(shared.rwlock.read().unwrap())
    }),
    ("write under a lock", |shared, _| {
        drop(shared.rwlock.write().unwrap())
    }),
    ("try to read under a lock", |shared, _| {
        drop(shared.rwlock.try_read())
    }),
    ("try to lock what it has locked", |shared, _| {
        let locked = shared.rwlock.read().unwrap();
        assert!(shared.rwlock.try_write().is_err());
        drop(locked);
    }),
    ("ask whether it is poisoned", |shared, _| {
        assert!(!shared.mutex.is_poisoned())
    }),
    ("clear no poison", |shared, _| shared.mutex.clear_poison()),
    ("clear no poison of a lock with readers", |shared, _| {
        shared.rwlock.clear_poison()
    }),
    ("load", |shared, _| assert_eq!(shared.number.load(SeqCst), 1)),
    ("store what is there", |shared, _| shared.number.store(1, SeqCst)),
    ("swap what is there", |shared, _| {
        assert_eq!(shared.number.swap(1, SeqCst), 1)
    }),
    ("add nothing", |shared, _| {
        assert_eq!(shared.number.fetch_add(0, SeqCst), 1)
    }),
    ("exchange what is not there", |shared, _| {
        assert!(shared.number.compare_exchange(2, 3, SeqCst, SeqCst).is_err());
    }),
    ("exchange what is there for the same", |shared, _| {
        assert!(shared.number.compare_exchange(1, 1, SeqCst, SeqCst).is_ok());
    }),
    ("update nothing", |shared, _| {
        assert!(shared.number.fetch_update(SeqCst, Relaxed, |_| None).is_err());
    }),
    ("a fence", |_, _| fence(SeqCst)),
];

/// A loop that waits.
#[derive(Clone, Copy, Debug)]
struct Loop {
    operation: Operation,
    /// The number of tasks that wait in such a loop.
    waiters: usize,
    /// `true` if it yields in each round.
    yields: bool,
    /// `true` if the task that ends it first waits for time to pass.
    is_slow: bool,
}

/// Performs the operation repeatedly until another task sets the flag.
fn wait(shared: &Arc<Shared>, of: Loop) {
    let flagged = shared.clone();
    let own = Own::new(thread::spawn(move || {
        if of.is_slow {
            let condvar = Condvar::new();
            let never = Mutex::new(());
            drop(condvar.wait_timeout(never.lock().unwrap(), SOME_TIME).unwrap());
        }
        flagged.flag.store(1, Release);
    }));
    while shared.flag.load(Acquire) == 0 {
        (of.operation)(shared, &own);
        if of.yields {
            thread::yield_now();
        }
    }
    own.other.join().unwrap();
}

/// Explores `waiters` tasks with such a loop.
fn explore(explorer: Explorer, of: Loop) -> Report {
    explorer.monitors("none").set("steps", "2000").explore(move || {
        let shared = Arc::new(Shared::new());
        let others: Vec<_> = (1..of.waiters)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || wait(&shared, of))
            })
            .collect();
        wait(&shared, of);
        others.into_iter().for_each(|other| other.join().unwrap());
    })
}

/// Returns the operations with which this fails, each with the failure.
fn failing(of: Loop, explorer: impl Fn() -> Explorer) -> Vec<String> {
    let mut failing = Vec::new();
    for &(name, operation) in OPERATIONS {
        let explorer = explorer().set("executions", "2000");
        let report = explore(explorer, Loop { operation, ..of });
        // A task that only checks repeatedly is parked. If it yields by itself, that leaves out no schedule.
        let only_looks = name.contains("closed") && !name.contains("with a limit");
        let is_covered = *report.coverage() == Coverage::Exhaustive;
        if report.verdict() != Verdict::Pass
            || of.yields && !of.is_slow && of.waiters == 1 && only_looks && !is_covered
        {
            failing.push(format!("{name}: {report}"));
        }
    }
    failing
}

const LOOP: Loop = Loop {
    operation: |_, _| {},
    waiters: 1,
    yields: false,
    is_slow: false,
};

fn unmodified() -> Explorer {
    Explorer::new().binary(TestBinary::default().unmodified(false))
}

#[test]
fn without_a_yield() {
    let failing = failing(LOOP, unmodified);
    assert!(failing.is_empty(), "{}", failing.join("\n"));
}

#[test]
fn without_a_yield_slow() {
    let failing = failing(
        Loop {
            is_slow: true,
            ..LOOP
        },
        unmodified,
    );
    assert!(failing.is_empty(), "{}", failing.join("\n"));
}

#[test]
fn without_a_yield_under_a_memory_model() {
    let explorer = || {
        unmodified().environment(Environment {
            stale_reads: 1,
            ..Environment::calm()
        })
    };
    let failing = failing(LOOP, explorer);
    assert!(failing.is_empty(), "{}", failing.join("\n"));
}

#[test]
fn with_a_yield() {
    let failing = failing(Loop { yields: true, ..LOOP }, Explorer::new);
    assert!(failing.is_empty(), "{}", failing.join("\n"));
}

#[test]
fn with_a_yield_slow() {
    let failing = failing(
        Loop {
            yields: true,
            is_slow: true,
            ..LOOP
        },
        Explorer::new,
    );
    assert!(failing.is_empty(), "{}", failing.join("\n"));
}

/// A parked task does not continue just because the other one has also checked.
#[test]
fn by_two_tasks() {
    let waits = Loop { waiters: 2, ..LOOP };
    let failing = [
        failing(waits, unmodified),
        failing(
            Loop {
                yields: true,
                ..waits
            },
            Explorer::new,
        ),
    ];
    let failing = failing.concat();
    assert!(failing.is_empty(), "{}", failing.join("\n"));
}
