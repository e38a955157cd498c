//! Threads that are not controlled and use objects of an execution: they are named, and what they do releases tasks.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use super::kinds;
use intermezzo_explorer::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock, mpsc};
use intermezzo_explorer::{Coverage, Explorer, Report, Verdict, thread};
use std::time::Duration;

/// Starts a thread that is not controlled, and does this after a while.
fn outsider<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> std::thread::JoinHandle<T> {
    let late = move || {
        std::thread::sleep(Duration::from_millis(20));
        act()
    };
    std::thread::Builder::new()
        .name("outsider".into())
        .spawn(late)
        .unwrap()
}

/// Explores a test in which such a thread releases tasks. All executions come to their end, and the coverage names the
/// thread and the line of its operation.
fn released(line: u32, test: impl Fn() + Sync + Send + 'static) -> Report {
    let report = Explorer::new().executions(40).explore(test);
    assert_eq!(kinds(&report).len(), 0, "{report}");
    assert_ne!(report.verdict(), Verdict::Fail, "{report}");
    let says = format!("the thread `outsider` at explorer/short/tests/teardown/outsiders.rs:{line}:");
    assert!(reason(&report).starts_with(&says), "{says}\n{report}");
    report
}

/// Returns the reason why not every schedule was run.
fn reason(report: &Report) -> &str {
    match report.coverage() {
        Coverage::Bounded {
            reason: Some(reason), ..
        } => reason,
        _ => panic!("{report}"),
    }
}

#[test]
fn a_message_from_outside_releases_its_receiver() {
    let line = line!() + 3;
    let report = released(line, || {
        let (sender, receiver) = mpsc::channel();
        let outsider = outsider(move || sender.send(1));
        assert_eq!(receiver.recv(), Ok(1));
        outsider.join().unwrap().unwrap();
        assert!(receiver.recv().is_err());
    });
    assert_eq!(report.executions(), 1, "{report}");
}

/// A thread that runs, or would if it had a processor, gets more time than one that sleeps.
#[test]
fn a_thread_that_computes_for_long_is_waited_for() {
    let line = line!() + 6;
    let report = released(line, || {
        let (sender, receiver) = mpsc::channel();
        let outsider = outsider(move || {
            let begun = std::time::Instant::now();
            while begun.elapsed() < Duration::from_millis(600) {}
            sender.send(1)
        });
        assert_eq!(receiver.recv(), Ok(1));
        outsider.join().unwrap().unwrap();
    });
    assert_eq!(report.executions(), 1, "{report}");
}

/// The order of the tasks is explored as if time had passed when the thread released one of them.
#[test]
fn tasks_are_explored_around_an_operation_from_outside() {
    let line = line!() + 10;
    let report = released(line, || {
        let n = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = mpsc::channel();
        let counts = n.clone();
        let task = thread::spawn(move || {
            counts.fetch_add(1, SeqCst);
            counts.fetch_add(1, SeqCst);
        });
        let outsider = outsider(move || {
            sender.send(1).unwrap();
            std::mem::forget(sender);
        });
        assert_eq!(receiver.recv(), Ok(1));
        // No task could continue when the message was taken up.
        assert_eq!(n.load(SeqCst), 2);
        task.join().unwrap();
        outsider.join().unwrap();
    });
    assert!(
        report.notes().iter().all(|note| !note.contains("departed")),
        "{report}"
    );
}

#[test]
fn a_rendezvous_works_in_both_directions() {
    let line = line!() + 4;
    released(line, || {
        let (sender, receiver) = mpsc::sync_channel(0);
        let (back, answer) = mpsc::sync_channel(0);
        let outsider = outsider(move || receiver.recv().map(|n: u32| back.send(n + 1)));
        sender.send(1).unwrap();
        assert_eq!(answer.recv(), Ok(2));
        outsider.join().unwrap().unwrap().unwrap();
    });
}

#[test]
fn a_thread_that_does_not_wait_may_come_first() {
    let report = Explorer::new().explore(|| {
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::Builder::new().name("outsider".into());
        let thread = thread.spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap_or(());
        });
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(receiver.recv(), Ok(2));
        thread.unwrap().join().unwrap();
    });
    assert!(report.verdict().is_pass(), "{report}");
    let says = "used objects of executions, at times that are not controlled";
    assert!(reason(&report).ends_with(says), "{report}");
}

#[test]
fn an_unlocked_mutex_releases_a_task() {
    let line = line!() + 9;
    released(line, || {
        let mutex = Arc::new(Mutex::new(0));
        drop(mutex.lock());
        let (holds, held) = std::sync::mpsc::channel();
        let shared = mutex.clone();
        let outsider = std::thread::Builder::new()
            .name("outsider".into())
            .spawn(move || {
                let mut guard = shared.lock().unwrap();
                holds.send(()).unwrap();
                std::thread::sleep(Duration::from_millis(20));
                *guard += 1;
            });
        held.recv().unwrap();
        assert!(mutex.try_lock().is_err());
        assert_eq!(*mutex.lock().unwrap(), 1);
        outsider.unwrap().join().unwrap();
        // The other way round: the thread waits for the task.
        let guard = mutex.lock().unwrap();
        let shared = mutex.clone();
        let waits = std::thread::spawn(move || *shared.lock().unwrap() += 1);
        drop(guard);
        waits.join().unwrap();
        assert_eq!(*mutex.lock().unwrap(), 2);
    });
}

#[test]
fn an_unlocked_reader_writer_lock_releases_tasks() {
    let line = line!() + 9;
    released(line, || {
        let lock = Arc::new(RwLock::new(0));
        drop(lock.read());
        let (holds, held) = std::sync::mpsc::channel();
        let shared = lock.clone();
        let outsider = std::thread::Builder::new()
            .name("outsider".into())
            .spawn(move || {
                let mut guard = shared.write().unwrap();
                holds.send(()).unwrap();
                std::thread::sleep(Duration::from_millis(20));
                *guard += 1;
            });
        held.recv().unwrap();
        assert!(lock.try_read().is_err());
        assert_eq!(*lock.read().unwrap(), 1);
        outsider.unwrap().join().unwrap();
        assert!(lock.try_write().is_ok());
    });
}

#[test]
fn an_unparked_task_continues() {
    let line = line!() + 3;
    released(line, || {
        let me = thread::current();
        let outsider = outsider(move || me.unpark());
        thread::park();
        outsider.join().unwrap();
    });
}

#[test]
fn notified_tasks_continue() {
    for all in [false, true] {
        let line = line!() + 6;
        released(line, move || {
            let pair = Arc::new((Mutex::new(false), Condvar::new()));
            let shared = pair.clone();
            let mut done = pair.0.lock().unwrap();
            let outsider = outsider(move || {
                *shared.0.lock().unwrap() = true;
                if all {
                    shared.1.notify_all();
                } else {
                    shared.1.notify_one();
                }
            });
            while !*done {
                done = pair.1.wait(done).unwrap();
            }
            drop(done);
            outsider.join().unwrap();
        });
    }
}

#[test]
fn a_task_notifies_a_thread() {
    let line = line!() + 5;
    released(line, || {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let shared = pair.clone();
        let outsider = outsider(move || {
            let mut n = shared.0.lock().unwrap();
            *n = 1;
            shared.1.notify_all();
            while *n < 2 {
                n = shared.1.wait(n).unwrap();
            }
        });
        let first = pair.0.lock().unwrap();
        let mut n = pair.1.wait_while(first, |n| *n == 0).unwrap();
        *n = 2;
        drop(n);
        pair.1.notify_all();
        outsider.join().unwrap();
    });
}

#[test]
fn a_barrier_is_passed_together() {
    let line = line!() + 5;
    released(line, || {
        let barrier = Arc::new(Barrier::new(3));
        let (shared, other) = (barrier.clone(), barrier.clone());
        let task = thread::spawn(move || other.wait().is_leader());
        let outsider = outsider(move || shared.wait().is_leader());
        let mut leaders = usize::from(barrier.wait().is_leader());
        leaders += usize::from(task.join().unwrap()) + usize::from(outsider.join().unwrap());
        assert_eq!(leaders, 1);
    });
}

#[test]
fn an_initialisation_from_outside_is_waited_for() {
    released(line!() + 8, || {
        let cell = Arc::new((Once::new(), OnceLock::new()));
        assert!(!cell.0.is_completed() && cell.1.get().is_none());
        let shared = cell.clone();
        let (begun, begins) = std::sync::mpsc::channel();
        let outsider = std::thread::Builder::new()
            .name("outsider".into())
            .spawn(move || {
                shared.0.call_once(|| {
                    begun.send(()).unwrap();
                    std::thread::sleep(Duration::from_millis(20));
                    shared.1.get_or_init(|| 3);
                });
            });
        begins.recv().unwrap();
        cell.0.call_once(|| panic!("it is called twice"));
        assert_eq!(*cell.1.wait(), 3);
        outsider.unwrap().join().unwrap();
    });
}

#[test]
fn a_loop_that_waits_for_a_thread_ends() {
    let line = line!() + 5;
    released(line, || {
        let flag = Arc::new(AtomicBool::new(false));
        assert!(!flag.load(SeqCst));
        let shared = flag.clone();
        let outsider = outsider(move || shared.store(true, SeqCst));
        while !flag.load(SeqCst) {
            thread::yield_now();
        }
        outsider.join().unwrap();
    });
}

/// No update is lost, whatever the moment.
#[test]
fn a_counter_counts_threads_and_tasks() {
    released(line!() + 7, || {
        let n = Arc::new(AtomicUsize::new(0));
        n.fetch_add(1, SeqCst);
        let shared = n.clone();
        let outsider = std::thread::Builder::new()
            .name("outsider".into())
            .spawn(move || {
                (0..1000).for_each(|_| _ = shared.fetch_add(1, SeqCst));
            });
        (0..200).for_each(|_| _ = n.fetch_add(1, SeqCst));
        outsider.unwrap().join().unwrap();
        assert_eq!(n.load(SeqCst), 1201);
    });
}

/// A thread of std and the tasks of an execution have copies of their own of a static.
#[test]
fn a_static_is_not_shared_with_a_thread() {
    static MUTEX: Mutex<u32> = Mutex::new(0);
    static CHANGED: Condvar = Condvar::new();
    let report = Explorer::new().minimise(0).explore(|| {
        let n = MUTEX.lock().unwrap();
        let outsider = outsider(|| {
            *MUTEX.lock().unwrap() += 1;
            CHANGED.notify_all();
        });
        let n = CHANGED.wait_while(n, |n| *n == 0).unwrap();
        assert_eq!(*n, 1);
        outsider.join().unwrap();
    });
    assert_eq!(kinds(&report), ["deadlock"], "{report}");
    assert_eq!(report.verdict(), Verdict::Inconclusive, "{report}");
    let says = "(in a static, of which the execution has a copy of its own), which is not controlled";
    assert!(report.findings()[0].message.contains(says), "{report}");
}

#[test]
fn a_thread_that_releases_nothing_is_named() {
    let line = line!() + 9;
    let report = Explorer::new().minimise(0).explore(|| {
        let (sender, receiver) = mpsc::channel();
        let n = Arc::new(AtomicUsize::new(0));
        n.fetch_add(1, SeqCst);
        let seen = n.clone();
        let outsider = std::thread::Builder::new().name("outsider".into());
        let send = move || {
            std::thread::sleep(Duration::from_millis(20));
            seen.load(SeqCst);
            std::mem::forget((sender, seen));
        };
        outsider.spawn(send).unwrap();
        receiver.recv().unwrap_or(());
    });
    assert_eq!(kinds(&report), ["deadlock"], "{report}");
    // The thread may yet release the task: it is not said that the test deadlocks.
    assert_eq!(report.verdict(), Verdict::Inconclusive, "{report}");
    let says = format!(
        "; meanwhile the thread `outsider` at explorer/short/tests/teardown/outsiders.rs:{line}:18, which is not controlled, used \
         an object of this execution: a task may wait for it"
    );
    assert!(report.findings()[0].message.ends_with(&says), "{report}");
}

#[test]
fn a_pass_says_that_a_thread_was_not_controlled() {
    let line = line!() + 6;
    let report = Explorer::new().explore(|| {
        let n = Arc::new(AtomicUsize::new(0));
        n.fetch_add(1, SeqCst);
        let seen = n.clone();
        let outsider = std::thread::spawn(move || {
            seen.load(SeqCst);
            std::mem::forget(seen);
        });
        outsider.join().unwrap();
    });
    assert_eq!(kinds(&report).len(), 0, "{report}");
    assert_eq!(
        reason(&report),
        format!(
            "a thread without a name at explorer/short/tests/teardown/outsiders.rs:{line}:18 may have used objects of executions, at \
             times that are not controlled"
        )
    );
}

/// The same by default, with all that follows a finding: replays, and attempts to make it smaller.
#[test]
fn a_deadlock_that_a_thread_of_std_may_end_is_inconclusive() {
    let test = || {
        let (sender, receiver) = mpsc::channel();
        let outsider = std::thread::spawn(move || {
            sender.send(1).unwrap();
            std::thread::sleep(Duration::from_millis(400));
            std::mem::forget(sender);
        });
        assert_eq!(receiver.recv(), Ok(1));
        let received = receiver.recv();
        let _ = outsider.join();
        assert_eq!(received, Ok(1));
    };
    let report = Explorer::new().program("outsider").explore(test);
    assert_eq!(report.verdict(), Verdict::Inconclusive, "{report}");
    assert_eq!(kinds(&report), ["deadlock"], "{report}");
}

/// Tasks that wait for each other are in a deadlock, whatever other threads of the process do.
#[test]
fn a_deadlock_without_such_a_thread_is_one() {
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let other = std::thread::spawn(move || stopped.recv());
    let report = Explorer::new().explore(|| {
        let (sender, receiver) = mpsc::channel::<()>();
        let _ = receiver.recv();
        drop(sender);
    });
    assert_eq!(report.verdict(), Verdict::Fail, "{report}");
    drop(stop);
    other.join().unwrap().unwrap_err();
}
