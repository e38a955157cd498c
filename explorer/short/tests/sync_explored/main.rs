//! Explorations of the look-alikes of `std::sync`: they show exactly the outcomes that std allows, and findings in
//! cases where std would hang.

mod arcs;
mod channels;

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, Barrier, LazyLock, Once, OnceLock, RwLock, mpsc};
use intermezzo_explorer::{Environment, Explorer, Report, sync, thread};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(1);

/// Returns the results of a test in all its executions.
fn outcomes_in<T: Ord + Send>(environment: Environment, test: impl Fn() -> T + Send + Sync) -> BTreeSet<T> {
    let seen = Mutex::new(BTreeSet::new());
    let report = Explorer::new().environment(environment).explore(|| {
        let outcome = test();
        seen.lock().unwrap().insert(outcome);
    });
    assert!(report.verdict().is_pass(), "{report}");
    seen.into_inner().unwrap()
}

fn outcomes<T: Ord + Send>(test: impl Fn() -> T + Send + Sync) -> BTreeSet<T> {
    outcomes_in(Environment::calm(), test)
}

fn explore(test: impl Fn() + Send + Sync) -> Report {
    Explorer::new().environment(Environment::calm()).explore(test)
}

/// Returns the number of executions of a test that passes.
fn executions(test: impl Fn() + Send + Sync) -> u64 {
    let report = explore(test);
    assert!(report.verdict().is_pass(), "{report}");
    report.executions()
}

/// Asserts that the test hangs, and that the report contains these words.
#[track_caller]
fn assert_hangs(test: impl Fn() + Send + Sync, words: &str) {
    // Hanging tasks are unwound, so that the drops of their values can be counted.
    let explorer = Explorer::new()
        .environment(Environment::calm())
        .set("stack", "forgotten=0");
    let report = explorer.explore(test);
    let found = report.findings().first().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(found.kind.as_str(), "deadlock", "{report}");
    assert!(found.message.contains(words), "{report}");
}

#[track_caller]
fn assert_set<T: Ord + Debug, const N: usize>(seen: BTreeSet<T>, expected: [T; N]) {
    assert_eq!(seen, BTreeSet::from(expected));
}

#[test]
fn readers_overlap() {
    let seen = outcomes(|| {
        let (lock, readers, most) = (RwLock::new(()), AtomicUsize::new(0), AtomicUsize::new(0));
        let read = || {
            let _guard = lock.read().unwrap();
            most.fetch_max(readers.fetch_add(1, SeqCst) + 1, SeqCst);
            readers.fetch_sub(1, SeqCst);
        };
        thread::scope(|s| {
            s.spawn(read);
            s.spawn(read);
        });
        most.into_inner()
    });
    assert_set(seen, [1, 2]);
}

#[test]
fn a_writer_excludes() {
    let seen = outcomes(|| {
        let (lock, there) = (RwLock::new(0), AtomicUsize::new(0));
        thread::scope(|s| {
            s.spawn(|| {
                let mut guard = lock.write().unwrap();
                assert_eq!(there.fetch_add(1, SeqCst), 0);
                *guard = 1;
                there.fetch_sub(1, SeqCst);
            });
            let guard = lock.read().unwrap();
            assert_eq!(there.fetch_add(1, SeqCst), 0);
            there.fetch_sub(1, SeqCst);
            *guard
        })
    });
    assert_set(seen, [0, 1]);
}

#[test]
fn a_downgraded_writer_keeps_writers_out_and_lets_readers_in() {
    let seen = outcomes(|| {
        let lock = RwLock::new(0);
        thread::scope(|s| {
            s.spawn(|| *lock.write().unwrap() = 2);
            let reader = s.spawn(|| lock.try_read().is_ok());
            let mut guard = lock.write().unwrap();
            *guard = 1;
            let guard = sync::RwLockWriteGuard::downgrade(guard);
            let alone = lock.try_write().is_err();
            assert_eq!((*guard, alone), (1, true));
            let beside = reader.join().unwrap();
            assert_eq!(*guard, 1);
            beside
        })
    });
    assert_set(seen, [false, true]);
    let outside = RwLock::new(1);
    let guard = sync::RwLockWriteGuard::downgrade(outside.write().unwrap());
    assert!(outside.try_read().is_ok() && outside.try_write().is_err());
    drop(guard);
    assert!(outside.try_write().is_ok());
}

#[test]
fn a_try_of_a_free_lock_fails_only_if_the_environment_may() {
    let try_both = || {
        let lock = RwLock::new(());
        let read = lock.try_read().is_ok();
        let written = lock.try_write().is_ok();
        (read, written)
    };
    assert_set(outcomes(try_both), [(true, true)]);
    let adverse = Environment {
        try_lock_failures: 1,
        ..Environment::calm()
    };
    assert_set(
        outcomes_in(adverse, try_both),
        [(true, true), (false, true), (true, false)],
    );
}

#[test]
fn a_lock_that_is_held_hangs() {
    let read_then_write = || {
        let lock = RwLock::new(());
        let _reader = lock.read();
        let _writer = lock.write();
    };
    assert_hangs(read_then_write, "waits to lock");
    let write_then_read = || {
        let lock = RwLock::new(());
        let _writer = lock.write();
        let _reader = lock.read();
    };
    assert_hangs(write_then_read, "which it holds itself");
}

/// Counts its drops, outside the exploration.
struct Counted(&'static std::sync::atomic::AtomicUsize);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn statics_are_fresh_in_every_execution() {
    static DROPS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    static MADE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    static CELL: OnceLock<(usize, Counted)> = OnceLock::new();
    static ONCE: Once = Once::new();
    static LAZY: LazyLock<Box<Counted>> = LazyLock::new(|| {
        MADE.fetch_add(1, SeqCst);
        Box::new(Counted(&DROPS))
    });
    static LOCK: RwLock<Vec<u8>> = RwLock::new(Vec::new());
    // Changes outside an exploration stay outside.
    assert!(CELL.set((0, Counted(&DROPS))).is_ok());
    LAZY.0.load(SeqCst);
    LOCK.write().unwrap().push(1);
    MADE.store(0, SeqCst);
    let executions = executions(|| {
        assert!(CELL.get().is_none() && LazyLock::get(&LAZY).is_none() && !ONCE.is_completed());
        thread::scope(|s| {
            for mine in [1, 2] {
                s.spawn(move || {
                    let (won, _) = CELL.get_or_init(|| (mine, Counted(&DROPS)));
                    ONCE.call_once(|| LOCK.write().unwrap().push(2));
                    assert!(std::ptr::eq(&**LAZY, &**LAZY));
                    assert!([1, 2].contains(won));
                });
            }
        });
        assert_eq!(*LOCK.read().unwrap(), [2]);
    });
    assert!(executions > 2);
    assert_eq!(MADE.load(SeqCst) as u64, executions);
    assert_eq!(DROPS.load(SeqCst) as u64, 2 * executions);
    assert_eq!((CELL.get().unwrap().0, LOCK.read().unwrap().len()), (0, 1));
}

#[test]
fn either_initialises() {
    let seen = outcomes(|| {
        let cell = OnceLock::new();
        thread::scope(|s| {
            let other = s.spawn(|| cell.set(2).is_ok());
            let won = *cell.get_or_init(|| 1);
            assert_eq!(other.join().unwrap(), won == 2);
            (won, cell.get().copied())
        })
    });
    assert_set(seen, [(1, Some(1)), (2, Some(2))]);
}

#[test]
fn a_look_does_not_wait() {
    let seen = outcomes(|| {
        let (once, begun) = (Once::new(), AtomicUsize::new(0));
        thread::scope(|s| {
            s.spawn(|| once.call_once(|| begun.store(1, SeqCst)));
            (once.is_completed(), begun.load(SeqCst))
        })
    });
    assert_set(seen, [(false, 0), (false, 1), (true, 1)]);
}

#[test]
fn initialising_inside_itself_hangs() {
    let cell = || {
        let cell = OnceLock::new();
        cell.get_or_init(|| *cell.get_or_init(|| 1));
    };
    assert_hangs(cell, "which it holds itself");
    let once = || {
        let once = Once::new();
        once.call_once(|| once.call_once(|| ()));
    };
    assert_hangs(once, "which it holds itself");
    let unset = || {
        OnceLock::<u8>::new().wait();
    };
    assert_hangs(unset, "for once");
}

#[test]
fn either_leads() {
    let seen = outcomes(|| {
        let barrier = Barrier::new(2);
        thread::scope(|s| {
            let other = s.spawn(|| barrier.wait().is_leader());
            let first = barrier.wait().is_leader();
            (first, other.join().unwrap())
        })
    });
    assert_set(seen, [(true, false), (false, true)]);
    let alone = || {
        Barrier::new(2).wait();
    };
    assert_hangs(alone, "for barrier");
}

#[test]
fn nothing_is_lost_when_an_execution_is_given_up() {
    static DROPS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    static RUNS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let hang = || {
        RUNS.fetch_add(1, SeqCst);
        let arc = Arc::new(Counted(&DROPS));
        let cell = OnceLock::from(arc.clone());
        let (sender, receiver) = mpsc::sync_channel(1);
        sender.send((arc.clone(), Counted(&DROPS))).unwrap();
        let (meeting, _other_end) = mpsc::sync_channel(0);
        thread::scope(|s| {
            s.spawn(|| meeting.send(Counted(&DROPS)));
            s.spawn(|| sender.send((arc.clone(), Counted(&DROPS))));
            let (barrier, lock) = (Barrier::new(2), RwLock::new(Arc::downgrade(&arc)));
            let _guard = lock.write();
            cell.get_or_init(|| unreachable!());
            LazyLock::force(&LazyLock::new(|| barrier.wait()));
        });
        drop(receiver);
    };
    assert_hangs(hang, "for barrier");
    assert_eq!(DROPS.load(SeqCst), 4 * RUNS.load(SeqCst));
}

/// The place of the failure is that of the call in the test.
#[test]
fn a_poisoned_initialisation_panics_at_its_caller() {
    fn poisoned() -> Once {
        let once = Once::new();
        _ = catch_unwind(AssertUnwindSafe(|| once.call_once(|| panic!("first"))));
        once
    }
    fn spoiled() -> LazyLock<u32> {
        let lazy: LazyLock<u32> = LazyLock::new(|| panic!("first"));
        _ = catch_unwind(AssertUnwindSafe(|| *lazy));
        lazy
    }
    let line = line!();
    let tests: [fn(); 5] = [
        || poisoned().call_once(|| {}),
        || poisoned().wait(),
        || _ = *spoiled(),
        || _ = LazyLock::force(&spoiled()),
        || _ = LazyLock::force_mut(&mut spoiled()),
    ];
    for (test, line) in tests.into_iter().zip(line + 2..) {
        let report = explore(test);
        let place = format!("main panicked at {}:{line}:", file!());
        let message = &report.findings()[0].message;
        assert!(
            message.starts_with(&place) && message.contains("poisoned"),
            "{message}"
        );
    }
}
