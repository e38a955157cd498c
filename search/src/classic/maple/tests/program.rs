//! Small random programs whose statements have different source places.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex, MutexGuard, RwLock};
use intermezzo_explorer::thread;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A source place that any statement can have.
#[derive(Clone, Copy)]
struct Site {
    load: fn(&AtomicUsize),
    store: fn(&AtomicUsize, usize),
    add: fn(&AtomicUsize),
    exchange: fn(&AtomicUsize),
    lock: for<'a> fn(&'a Mutex<()>) -> MutexGuard<'a, ()>,
    try_lock: for<'a> fn(&'a Mutex<()>) -> Option<MutexGuard<'a, ()>>,
    read: fn(&RwLock<()>),
    write: fn(&RwLock<()>),
    notify: fn(&Condvar),
}

macro_rules! site {
    () => {
        Site {
            load: |var| {
                let _ = var.load(SeqCst);
            },
            store: |var, value| var.store(value, SeqCst),
            add: |var| {
                let _ = var.fetch_add(1, SeqCst);
            },
            exchange: |var| {
                let _ = var.compare_exchange(0, 1, SeqCst, SeqCst);
            },
            lock: |lock| lock.lock().unwrap(),
            try_lock: |lock| lock.try_lock().ok(),
            read: |lock| drop(lock.read().unwrap()),
            write: |lock| drop(lock.write().unwrap()),
            notify: |var| var.notify_one(),
        }
    };
}

/// Each expansion is a different place.
const SITES: [Site; 12] = [
    site!(),
    site!(),
    site!(),
    site!(),
    site!(),
    site!(),
    site!(),
    site!(),
    site!(),
    site!(),
    site!(),
    site!(),
];

/// A statement, on one of two variables of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statement {
    Load(usize),
    Store(usize),
    Add(usize),
    /// Takes a lock, and holds it up to the end of its task or the next `Unlock`.
    Lock(usize),
    Unlock,
    /// An exchange that stores if it reads a zero.
    ExchangeFromZero(usize),
    /// A section that is skipped if the lock is held.
    Try(usize),
    ReadShared(usize),
    WriteShared(usize),
    Notify,
}

/// A program: the statements of each task, with their places.
#[derive(Clone, Debug)]
pub(super) struct Program(Vec<Vec<(Statement, usize)>>);

impl Program {
    /// Returns the random program with this number. With `straight`, the operations of its tasks do not depend on the
    /// order.
    pub(super) fn random(number: u64, straight: bool, statements_max: usize) -> Program {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(number);
        let tasks = random.random_range(2..4);
        let mut task = || {
            let length = random.random_range(1..=statements_max);
            let mut held: Vec<usize> = Vec::new();
            let mut statements = Vec::new();
            for _ in 0..length {
                let of = random.random_range(0..2);
                let statement = match random.random_range(0..if straight { 8 } else { 13 }) {
                    0 | 1 => Statement::Load(of),
                    2 => Statement::Store(of),
                    3 | 4 => Statement::Add(of),
                    5 | 6 if !held.contains(&of) => {
                        held.push(of);
                        Statement::Lock(of)
                    }
                    5..=7 if held.pop().is_some() => Statement::Unlock,
                    5..=7 => Statement::Load(of),
                    8 => Statement::ExchangeFromZero(of),
                    9 if !held.contains(&of) => Statement::Try(of),
                    10 => Statement::ReadShared(of),
                    11 => Statement::WriteShared(of),
                    _ => Statement::Notify,
                };
                statements.push((statement, random.random_range(0..SITES.len())));
            }
            statements
        };
        Program((0..tasks).map(|_| task()).collect())
    }

    /// Runs one execution.
    pub(super) fn run(&self) {
        let vars = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let locks = [Mutex::new(()), Mutex::new(())];
        let shared = [RwLock::new(()), RwLock::new(())];
        let condition = Condvar::new();
        let perform = |statements: &[(Statement, usize)]| {
            let mut held = Vec::new();
            for &(statement, site) in statements {
                let site = SITES[site];
                match statement {
                    Statement::Load(of) => (site.load)(&vars[of]),
                    Statement::Store(of) => (site.store)(&vars[of], 1),
                    Statement::Add(of) => (site.add)(&vars[of]),
                    Statement::Lock(of) => held.push((site.lock)(&locks[of])),
                    Statement::Unlock => drop(held.pop()),
                    Statement::ExchangeFromZero(of) => (site.exchange)(&vars[of]),
                    Statement::Try(of) => {
                        if let Some(_guard) = (site.try_lock)(&locks[of]) {
                            (site.add)(&vars[of]);
                        }
                    }
                    Statement::ReadShared(of) => (site.read)(&shared[of]),
                    Statement::WriteShared(of) => (site.write)(&shared[of]),
                    Statement::Notify => (site.notify)(&condition),
                }
            }
            while held.pop().is_some() {}
        };
        thread::scope(|scope| {
            let (first, others) = self.0.split_first().expect("a program has tasks");
            for task in others {
                scope.spawn(|| perform(task));
            }
            perform(first);
        });
    }
}
