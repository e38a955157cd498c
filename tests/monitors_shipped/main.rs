//! The monitors that ship with intermezzo, with programs that a user might write. Each finds its bug, which replays, and
//! finds nothing in the corrected program.

mod allocations;
mod defaults;
mod memory;
mod observers;

use intermezzo::monitors::{Atomicity, LockOrder, Misuses};
use intermezzo::sdk::{FindingKind, Monitor, Severity};
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::sync::{Arc, Condvar, Mutex, RwLock};
use intermezzo::{Environment, Explorer, Finding, Reduction, Report, atomically, thread};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Explores everything with this monitor, and replays its findings.
fn explore<M: Monitor + 'static>(make: fn() -> M, test: fn()) -> Report {
    let explorer = || {
        Explorer::new()
            .monitors("none")
            .program("shipped")
            .keep_going(true)
            .monitor(make())
    };
    let report = explorer().explore(test);
    for finding in report.findings() {
        let again = explorer().replay(finding.schedule.clone()).explore(test);
        assert!(
            again
                .findings()
                .iter()
                .any(|other| other.message == finding.message),
            "it replays: {again}"
        );
    }
    report
}

/// Returns the only finding of a report.
fn only(report: &Report) -> &Finding {
    let [finding] = report.findings() else {
        panic!("one finding: {report}")
    };
    finding
}

fn nothing(report: &Report) {
    assert!(
        report.verdict().is_pass() && report.findings().is_empty(),
        "{report}"
    );
}

/// Takes one lock and then the other.
fn both(first: &Mutex<u32>, second: &Mutex<u32>) {
    let mut first = first.lock().unwrap();
    *first += 1;
    *second.lock().unwrap() += *first;
}

#[test]
fn an_execution_without_a_deadlock_shows_that_one_is_possible() {
    let crossed = || {
        let (a, b) = (Mutex::new(0), Mutex::new(0));
        thread::scope(|scope| {
            scope.spawn(|| both(&a, &b));
            scope.spawn(|| both(&b, &a));
        });
    };
    let explorer = || {
        Explorer::new()
            .monitors("none")
            .executions(1)
            .monitor(LockOrder::new())
    };
    let report = explorer().explore(crossed);
    let finding = only(&report);
    assert_eq!(
        (&finding.kind, finding.monitor.as_str(), finding.tasks.as_slice()),
        (
            &FindingKind::LockOrder,
            "lock-order",
            &["task 1".to_owned(), "task 2".to_owned()][..]
        )
    );
    assert!(
        finding
            .message
            .starts_with("possible deadlock: task 1 holds mutex 1.1"),
        "{report}"
    );
    let again = explorer().replay(finding.schedule.clone()).explore(crossed);
    assert_eq!(again.findings(), report.findings());

    let gated = || {
        let (gate, a, b) = (Mutex::new(()), Mutex::new(0), Mutex::new(0));
        thread::scope(|scope| {
            for (first, second) in [(&a, &b), (&b, &a)] {
                let gate = &gate;
                scope.spawn(move || {
                    let _gate = gate.lock().unwrap();
                    both(first, second);
                });
            }
        });
    };
    nothing(&explore(LockOrder::new, gated));
    let joined = || {
        let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
        let shared = locks.clone();
        thread::spawn(move || both(&shared.0, &shared.1)).join().unwrap();
        both(&locks.1, &locks.0);
    };
    nothing(&explore(LockOrder::new, joined));
}

#[test]
fn readers_do_not_wait_for_readers() {
    let readers = || {
        let (a, b) = (RwLock::new(()), RwLock::new(()));
        thread::scope(|scope| {
            for (first, second) in [(&a, &b), (&b, &a)] {
                scope.spawn(move || {
                    let _first = first.read().unwrap();
                    drop(second.read().unwrap());
                });
            }
        });
    };
    nothing(&explore(LockOrder::new, readers));
}

/// Random nested sections of three mutexes by two tasks: a lock-order cycle is reported in the first execution if and
/// only if some execution deadlocks.
#[test]
fn rings_are_deadlocks_that_the_search_finds() {
    const PROGRAMS: u32 = if cfg!(debug_assertions) { 60 } else { 600 };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0x100c);
    let mut deadlocks = 0;
    for _ in 0..PROGRAMS {
        // Each section is two or three locks, one within the other.
        let mut section = || {
            let mut locks = vec![0, 1, 2];
            for _ in 0..random.random_range(0..2) {
                locks.remove(random.random_range(0..locks.len()));
            }
            let turn = random.random_range(0..locks.len());
            locks.rotate_left(turn);
            locks
        };
        let program: [Vec<Vec<usize>>; 2] = std::array::from_fn(|_| vec![section(), section()]);
        let run = {
            let program = program.clone();
            move || {
                let locks = &[Mutex::new(()), Mutex::new(()), Mutex::new(())];
                thread::scope(|scope| {
                    for sections in &program {
                        scope.spawn(move || {
                            for section in sections {
                                let _held: Vec<_> =
                                    section.iter().map(|lock| locks[*lock].lock().unwrap()).collect();
                            }
                        });
                    }
                });
            }
        };
        let first = Explorer::new()
            .monitors("none")
            .executions(1)
            .monitor(LockOrder::new())
            .explore(run.clone());
        let all = Explorer::new()
            .monitors("none")
            .reduction(Reduction::Dpor)
            .explore(run);
        assert_eq!(
            first.verdict().is_fail(),
            all.verdict().is_fail(),
            "{program:?}\n{first}\n{all}"
        );
        deadlocks += u32::from(all.verdict().is_fail());
    }
    assert!(
        (PROGRAMS / 10..PROGRAMS * 9 / 10).contains(&deadlocks),
        "{deadlocks} of {PROGRAMS}"
    );
}

#[test]
fn a_block_with_another_tasks_operation_in_it_is_not_atomic() {
    let lost = || {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| atomically("increment", || n.store(n.load(SeqCst) + 1, SeqCst)));
            }
        });
    };
    let report = explore(Atomicity::new, lost);
    assert!(report.verdict().is_fail(), "{report}");
    for finding in report.findings() {
        assert_eq!(finding.kind, FindingKind::Atomicity);
        assert!(finding.message.contains("in `increment`"), "{report}");
    }
    let fixed = || {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| atomically("increment", || n.fetch_add(1, SeqCst)));
            }
        });
    };
    nothing(&explore(Atomicity::new, fixed));
    let locked = || {
        let n = Mutex::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| atomically("increment", || *n.lock().unwrap() += 1));
            }
        });
    };
    nothing(&explore(Atomicity::new, locked));
    // A panic leaves the block.
    let panicking = || {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            let left = scope.spawn(|| atomically("left", || std::panic::panic_any(n.load(SeqCst))));
            scope.spawn(|| n.store(1, SeqCst));
            assert!(left.join().is_err());
        });
        n.load(SeqCst);
    };
    nothing(&explore(Atomicity::new, panicking));
}

#[test]
fn a_triple_is_a_warning() {
    let check_then_act = || {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| n.store(1, SeqCst));
            if n.load(SeqCst) == 0 {
                n.store(2, SeqCst);
            }
        });
    };
    let triples = || Atomicity::with_arguments("triples=true").unwrap();
    let report = explore(triples, check_then_act);
    let finding = only(&report);
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(
        finding
            .message
            .ends_with("the value written depends on one that was overwritten"),
        "{report}"
    );
    let fixed = || {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| n.store(1, SeqCst));
            let _ = n.compare_exchange(0, 2, SeqCst, SeqCst);
        });
    };
    nothing(&explore(triples, fixed));
}

#[test]
fn a_wait_outside_a_loop_is_a_warning() {
    fn waits(in_loop: bool) {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = pair.clone();
        let setter = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let mut ready = pair.0.lock().unwrap();
        if in_loop {
            while !*ready {
                ready = pair.1.wait(ready).unwrap();
            }
        } else if !*ready {
            ready = pair.1.wait(ready).unwrap();
        }
        drop(ready);
        setter.join().unwrap();
    }
    let report = explore(Misuses::new, || waits(false));
    let finding = only(&report);
    assert_eq!(
        (&finding.kind, finding.severity),
        (&FindingKind::Misuse, Severity::Warning)
    );
    assert!(
        finding.message.contains("continues after a wait on condvar"),
        "{report}"
    );
    nothing(&explore(Misuses::new, || waits(true)));
    // Without spurious wake-ups there is nothing to report.
    let calm = Explorer::new()
        .monitors("none")
        .environment(Environment::calm())
        .monitor(Misuses::new());
    nothing(&calm.explore(|| waits(false)));
}

#[test]
fn a_guard_that_is_held_over_a_join_is_a_warning() {
    fn joins(held: bool) {
        let lock = Arc::new(Mutex::new(0));
        let task = thread::spawn(|| ());
        let guard = lock.lock().unwrap();
        if !held {
            drop(guard);
            task.join().unwrap();
        } else {
            task.join().unwrap();
            drop(guard);
        }
    }
    let report = explore(Misuses::new, || joins(true));
    let finding = only(&report);
    assert_eq!(finding.severity, Severity::Warning);
    assert!(
        finding.message.contains("main holds mutex 0.") && finding.message.ends_with("(join)"),
        "{report}"
    );
    nothing(&explore(Misuses::new, || joins(false)));
}

#[test]
fn a_condition_variable_with_two_mutexes_is_an_error() {
    fn waits(two: bool) {
        let (a, b, condvar) = (Mutex::new(()), Mutex::new(()), Condvar::new());
        for mutex in [&a, if two { &b } else { &a }] {
            let guard = mutex.lock().unwrap();
            let limit = std::time::Duration::from_millis(1);
            drop(condvar.wait_timeout(guard, limit).unwrap());
        }
    }
    let monitor = || Misuses::with_arguments("loops=false").unwrap();
    let report = explore(monitor, || waits(true));
    assert!(
        only(&report).message.contains("is used with two mutexes"),
        "{report}"
    );
    assert!(report.verdict().is_fail());
    nothing(&explore(monitor, || waits(false)));
}

#[test]
fn a_second_read_while_a_writer_may_wait_is_an_error() {
    /// Reads twice. Another task stores something and then writes, so that it waits between the reads only in few
    /// executions.
    fn reads(second: fn(&RwLock<u32>) -> u32, writer_waits: bool) {
        let lock = Arc::new(RwLock::new(0));
        let begun = Arc::new(AtomicUsize::new(0));
        let writer = {
            let (lock, begun) = (lock.clone(), begun.clone());
            move || {
                begun.store(1, SeqCst);
                *lock.write().unwrap() += 1;
            }
        };
        let early = writer_waits.then(|| thread::spawn(writer.clone()));
        let first = lock.read().unwrap();
        let _ = *first + second(&lock);
        let late = (!writer_waits).then(|| thread::spawn(writer));
        drop(first);
        early.or(late).unwrap().join().unwrap();
    }
    let again: fn(&RwLock<u32>) -> u32 = |lock| *lock.read().unwrap();
    for reduction in [Reduction::None, Reduction::Dpor] {
        let explorer = || Explorer::new().reduction(reduction).keep_going(true);
        let explore = |second, waits| {
            explorer()
                .monitor(Misuses::new())
                .explore(move || reads(second, waits))
        };
        let report = explore(again, true);
        let message = &only(&report).message;
        assert!(
            message.starts_with("main takes a read lock on rwlock 0.3 at "),
            "{report}"
        );
        assert!(
            message.contains("if task 1 requests the write lock in between"),
            "{report}"
        );
        assert!(report.verdict().is_fail());
        // The writer is created after the second read; the second read does not wait; there is no second read.
        nothing(&explore(again, false));
        nothing(&explore(|lock| lock.try_read().map_or(0, |read| *read), true));
        nothing(&explore(|_| 0, true));
        let silent = Misuses::with_arguments("reads=false").unwrap();
        nothing(&explorer().monitor(silent).explore(move || reads(again, true)));
    }
}
