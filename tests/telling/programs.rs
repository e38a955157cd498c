//! Programs that a user might write, with a finding of each kind.

use super::Case;
use intermezzo::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use intermezzo::sync::{Arc, Condvar, Mutex, mpsc};
use intermezzo::{atomically, choose, thread};
use intermezzo_corpus::find;

/// The cases, each with its settings. The first is shown with every level of detail.
pub(crate) const CASES: &[Case] = &[
    case("assertion", &[], assertion),
    case("panic", &[], panic_of_a_task),
    case("long_execution", &[], long_execution),
    case("deadlock_of_crossed_locks", &[], crossed_locks),
    case("deadlock_of_one_task", &[], lock_taken_twice),
    case("deadlock_of_a_lost_wake_up", CALM, lost_wake_up),
    case("deadlock_of_channels", &[], channels),
    case("livelock", &[], gives_way_for_ever),
    case("livelock_of_a_flag", &[], flag_that_nobody_sets),
    case("unfair_spin", &[], never_gives_way),
    case("step_limit", &[], counts_for_ever),
    case("misuse", &[], nothing_to_choose),
    case("crash", &[], aborts),
    case("divergence", &[], assertion),
    case("data_race", &[("monitors", "data-race")], || corpus("racy")),
    case(
        "stale_load",
        &[("monitors", "stale-load:errors=true")],
        store_buffers,
    ),
    case(
        "lock_order",
        &[("monitors", "lock-order"), ("executions", "1")],
        crossed_locks,
    ),
    case("atomicity", &[("monitors", "atomicity")], not_atomic),
    case(
        "atomicity_of_a_triple",
        &[("monitors", "atomicity:triples=true")],
        check_then_act,
    ),
    case("leak", &[("monitors", "leak")], cycle),
    case(
        "misuse_of_a_condvar",
        &[("monitors", "misuse:loops=false")],
        two_mutexes,
    ),
    case("misuse_warnings", &[("monitors", "misuse")], waits_once),
    case("contention", &[("monitors", "contention")], counts),
    case("statistics", &[("monitors", "statistics")], counts),
    case(
        "happens_before_counter",
        &[("monitors", "happens-before-counter")],
        counts,
    ),
    case("event_log", &[("monitors", "event-log:file=/dev/full")], counts),
];

const CALM: &[(&str, &str)] = &[("environment", "spurious_wakeups=0")];

const fn case(name: &'static str, settings: &'static [(&'static str, &'static str)], body: fn()) -> Case {
    Case { name, settings, body }
}

fn corpus(name: &str) {
    let program = find(name).unwrap();
    let arguments = program.arguments::<&str>(&[]).unwrap();
    program.test(&arguments)();
}

fn assertion() {
    let counter = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let seen = counter.load(SeqCst);
                counter.store(seen + 1, SeqCst);
            });
        }
    });
    assert_eq!(counter.load(SeqCst), 2, "an increment is lost");
}

fn panic_of_a_task() {
    let slot = Mutex::new(None);
    thread::scope(|scope| {
        scope.spawn(|| *slot.lock().unwrap() = Some(1));
        scope.spawn(|| slot.lock().unwrap().take().expect("the slot is filled"));
    });
}

fn long_execution() {
    let (work, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..12 {
                work.fetch_add(1, SeqCst);
            }
            let seen = done.load(SeqCst);
            done.store(seen + 1, SeqCst);
        });
        for _ in 0..12 {
            work.fetch_add(1, SeqCst);
        }
        done.fetch_add(1, SeqCst);
    });
    assert!(done.load(SeqCst) == 2);
}

fn crossed_locks() {
    let (accounts, journal) = (Mutex::new(0), Mutex::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut accounts = accounts.lock().unwrap();
            let mut journal = journal.lock().unwrap();
            (*accounts, *journal) = (1, 1);
        });
        let mut journal = journal.lock().unwrap();
        let mut accounts = accounts.lock().unwrap();
        (*accounts, *journal) = (2, 2);
    });
}

fn lock_taken_twice() {
    let lock = Mutex::new(0);
    let held = lock.lock().unwrap();
    let again = lock.lock().unwrap();
    assert_eq!(*held, *again);
}

/// Checks the flag and then waits, without holding the lock in between.
fn lost_wake_up() {
    let (ready, lock, wake) = (AtomicBool::new(false), Mutex::new(()), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            ready.store(true, SeqCst);
            wake.notify_one();
        });
        if !ready.load(SeqCst) {
            let held = lock.lock().unwrap();
            drop(wake.wait(held).unwrap());
        }
    });
}

fn channels() {
    let (requests, received) = mpsc::channel::<u8>();
    let (answers, answered) = mpsc::channel::<u8>();
    let server = thread::spawn(move || {
        let request = received.recv().unwrap();
        answers.send(request).unwrap();
    });
    assert_eq!(answered.recv(), Ok(1));
    requests.send(1).unwrap();
    server.join().unwrap();
}

/// Sets a flag that no task reads, so that no round fails.
fn gives_way_for_ever() {
    let flag = AtomicUsize::new(0);
    loop {
        flag.store(1, SeqCst);
        flag.store(0, SeqCst);
        thread::yield_now();
    }
}

fn flag_that_nobody_sets() {
    let ready = AtomicBool::new(false);
    while !ready.load(SeqCst) {
        thread::yield_now();
    }
}

fn never_gives_way() {
    let ready = AtomicBool::new(false);
    while !ready.load(SeqCst) {}
}

fn counts_for_ever() {
    let n = AtomicUsize::new(0);
    loop {
        n.fetch_add(1, SeqCst);
    }
}

fn nothing_to_choose() {
    choose(0);
}

fn aborts() {
    std::process::abort();
}

fn store_buffers() {
    let (x, y) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            x.store(1, std::sync::atomic::Ordering::Release);
            y.load(std::sync::atomic::Ordering::Acquire)
        });
        y.store(1, std::sync::atomic::Ordering::Release);
        x.load(std::sync::atomic::Ordering::Acquire);
    });
}

fn not_atomic() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| atomically("increment", || n.store(n.load(SeqCst) + 1, SeqCst)));
        }
    });
}

fn check_then_act() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| n.store(1, SeqCst));
        if n.load(SeqCst) == 0 {
            n.store(2, SeqCst);
        }
    });
}

#[derive(Default)]
struct Node(Mutex<Option<Arc<Node>>>);

fn cycle() {
    let node = Arc::new(Node::default());
    *node.0.lock().unwrap() = Some(node.clone());
}

fn two_mutexes() {
    let (a, b, condvar) = (Mutex::new(()), Mutex::new(()), Condvar::new());
    for mutex in [&a, &b] {
        let guard = mutex.lock().unwrap();
        let limit = std::time::Duration::from_millis(1);
        drop(condvar.wait_timeout(guard, limit).unwrap());
    }
}

fn waits_once() {
    let (lock, wake) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            *lock.lock().unwrap() = true;
            wake.notify_all();
        });
        let ready = lock.lock().unwrap();
        if !*ready {
            drop(wake.wait(ready).unwrap());
        }
    });
}

fn counts() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| n.fetch_add(1, SeqCst));
        n.fetch_add(1, SeqCst);
    });
}
