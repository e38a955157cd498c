//! Code written for shuttle, as its users write it, with each part of its interface.
#![cfg(feature = "vector-clocks")]

use shuttle::future::batch_semaphore::{BatchSemaphore, Fairness};
use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{
    DfsScheduler, PctScheduler, RandomScheduler, Schedule, Scheduler, Task, TaskId, UrwRandomScheduler,
};
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use shuttle::sync::{Arc, Condvar, Mutex};
use shuttle::{Config, FailurePersistence, MaxSteps, PortfolioRunner, Runner, current, future, thread};
use std::collections::BTreeSet;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex as StdMutex;
use std::sync::atomic::AtomicUsize as AtomicUsizeOfStd;

/// Returns the message of a run that fails; `None` if it passes.
fn failure<T>(run: impl FnOnce() -> T) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(run)).err()?;
    let text = match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic
            .downcast::<&str>()
            .expect("a failure has a text")
            .to_string(),
    };
    Some(text)
}

/// Runs a test that fails, and returns its message and its schedule.
fn failure_with_schedule<S: Scheduler + 'static>(
    scheduler: S,
    test: impl Fn() + Send + Sync + 'static,
) -> (String, String) {
    static NUMBER: AtomicUsizeOfStd = AtomicUsizeOfStd::new(0);
    let name = format!(
        "shuttle-style-{}-{}",
        std::process::id(),
        NUMBER.fetch_add(1, SeqCst)
    );
    let directory = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&directory).unwrap();
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::File(Some(directory.clone()));
    let said = failure(|| Runner::new(scheduler, config).run(test)).expect("the test fails");
    let files: Vec<_> = std::fs::read_dir(&directory).unwrap().collect();
    assert_eq!(files.len(), 1, "a failure has one schedule");
    let schedule = std::fs::read_to_string(files[0].as_ref().unwrap().path()).unwrap();
    std::fs::remove_dir_all(directory).unwrap();
    (said, schedule)
}

fn update_is_lost() {
    let n = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&n);
    let task = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
    n.store(n.load(SeqCst) + 1, SeqCst);
    task.join().unwrap();
    assert_eq!(n.load(SeqCst), 2, "an update is lost");
}

/// Every check finds the bug, and replays it.
#[test]
fn checks_find_and_replay() {
    let checks: [fn(); 5] = [
        || shuttle::check_random(update_is_lost, 1_000),
        || shuttle::check_random_with_seed(update_is_lost, 7, 1_000),
        || shuttle::check_pct(update_is_lost, 1_000, 3),
        || shuttle::check_urw(update_is_lost, 1_000),
        || shuttle::check_dfs(update_is_lost, None),
    ];
    for check in checks {
        let said = failure(check).expect("the bug is found");
        assert!(said.contains("an update is lost"), "{said}");
    }
    let boxed: [Box<dyn Scheduler + Send>; 4] = [
        Box::new(RandomScheduler::new(1_000)),
        Box::new(PctScheduler::new(3, 1_000)),
        Box::new(UrwRandomScheduler::new(1_000)),
        Box::new(DfsScheduler::new(None, false)),
    ];
    for scheduler in boxed {
        let (said, schedule) = failure_with_schedule(scheduler, update_is_lost);
        let again = failure(|| shuttle::replay(update_is_lost, &schedule)).expect("the bug is replayed");
        assert_eq!(again, said);
    }
    // A file instead, and nothing at all.
    let directory = std::env::temp_dir().join(format!("shuttle-style-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::File(Some(directory.clone()));
    let said = failure(|| Runner::new(DfsScheduler::new(None, false), config.clone()).run(update_is_lost));
    assert!(said.unwrap().contains("an update is lost"));
    let file = std::fs::read_dir(&directory)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    assert!(failure(|| shuttle::replay_from_file(update_is_lost, file)).is_some());
    std::fs::remove_dir_all(directory).unwrap();
    config.failure_persistence = FailurePersistence::None;
    let said = failure(|| Runner::new(DfsScheduler::new(None, false), config).run(update_is_lost));
    assert!(!said.unwrap().contains("schedule"));
}

/// The test is correct, and each scheduler runs as many executions as it says.
#[test]
fn passes_are_counted() {
    let body = || {
        let n = Arc::new(Mutex::new(0));
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let n = Arc::clone(&n);
                thread::spawn(move || *n.lock().unwrap() += 1)
            })
            .collect();
        for task in tasks {
            task.join().unwrap();
        }
        assert_eq!(*n.lock().unwrap(), 2);
    };
    assert_eq!(Runner::new(RandomScheduler::new(50), Config::new()).run(body), 50);
    assert_eq!(Runner::new(PctScheduler::new(3, 50), Config::new()).run(body), 50);
    assert_eq!(
        Runner::new(UrwRandomScheduler::new(50), Config::new()).run(body),
        50
    );
    assert_eq!(
        Runner::new(DfsScheduler::new(Some(5), false), Config::new()).run(body),
        5
    );
    let mut portfolio = PortfolioRunner::new(true, Config::new());
    portfolio.add(RandomScheduler::new(20));
    portfolio.add(PctScheduler::new(2, 20));
    portfolio.run(body);
    shuttle::check_uncontrolled_nondeterminism(body, 20);
}

/// A scheduler of a user's own: it lets the task with the largest number go, and gives long executions up.
struct Last {
    executions: usize,
    steps: usize,
}

impl Scheduler for Last {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.executions = self.executions.checked_sub(1)?;
        self.steps = 0;
        Some(Schedule::new(0))
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, _: bool) -> Option<TaskId> {
        assert_eq!(current.is_none(), self.steps == 0);
        self.steps += 1;
        let last = tasks.last().map(|task| task.id());
        last.filter(|_| self.steps <= 20)
    }

    fn next_u64(&mut self) -> u64 {
        77
    }
}

#[test]
fn a_scheduler_of_ones_own_decides() {
    let last = || Last {
        executions: 3,
        steps: 0,
    };
    let seen = Arc::new(StdMutex::new(Vec::new()));
    let inside = Arc::clone(&seen);
    let count = Runner::new(last(), Config::new()).run(move || {
        let n = Arc::new(AtomicUsize::new(0));
        let task = {
            let n = Arc::clone(&n);
            thread::spawn(move || n.store(1, SeqCst))
        };
        inside
            .lock()
            .unwrap()
            .push((n.load(SeqCst), thread_rng().r#gen::<u64>()));
        task.join().unwrap();
    });
    // The created task, whose number is larger, always goes first.
    assert_eq!((count, &*seen.lock().unwrap()), (3, &vec![(1, 77); 3]));
    let rounds = Arc::new(StdMutex::new(0));
    let inside = Arc::clone(&rounds);
    let endless = move || {
        let n = AtomicUsize::new(0);
        loop {
            *inside.lock().unwrap() += 1;
            n.fetch_add(1, SeqCst);
        }
    };
    assert_eq!(Runner::new(last(), Config::new()).run(endless), 3);
    let rounds = *rounds.lock().unwrap();
    assert!((57..=63).contains(&rounds), "{rounds}");
}

#[test]
fn limits_of_steps_are_heeded() {
    let endless = || {
        let n = AtomicUsize::new(0);
        loop {
            n.fetch_add(1, SeqCst);
        }
    };
    let mut config = Config::new();
    config.max_steps = MaxSteps::ContinueAfter(50);
    assert_eq!(
        Runner::new(RandomScheduler::new(4), config.clone()).run(endless),
        4
    );
    config.max_steps = MaxSteps::FailAfter(50);
    let said = failure(|| Runner::new(RandomScheduler::new(4), config).run(endless));
    assert!(said.unwrap().contains("exceeded max_steps bound"));
}

#[test]
fn random_numbers_are_replayed() {
    let unlucky = || assert_ne!(thread_rng().gen_range(0..10), 7, "found failing value");
    let (said, schedule) = failure_with_schedule(RandomScheduler::new(1_000), unlucky);
    assert!(said.contains("found failing value"));
    assert!(failure(|| shuttle::replay(unlucky, &schedule)).is_some());
    let said = failure(|| shuttle::check_dfs(unlucky, None)).unwrap();
    assert!(
        said.contains("requested random data from DFS scheduler"),
        "{said}"
    );
}

#[test]
fn deadlocks_and_panics_of_tasks_fail() {
    let lost = || {
        let shared = Arc::new((Mutex::new(()), Condvar::new()));
        let other = Arc::clone(&shared);
        thread::spawn(move || other.1.notify_one());
        let held = shared.0.lock().unwrap();
        drop(shared.1.wait(held));
    };
    assert!(
        failure(|| shuttle::check_dfs(lost, None))
            .unwrap()
            .contains("deadlock")
    );
    // Whether or not it is joined.
    let panics = || drop(thread::spawn(|| panic!("a task panics")).join());
    assert!(
        failure(|| shuttle::check_random(panics, 1))
            .unwrap()
            .contains("a task panics")
    );
}

#[test]
fn futures_are_aborted_or_awaited() {
    let seen = Arc::new(StdMutex::new(BTreeSet::new()));
    let inside = Arc::clone(&seen);
    shuttle::check_dfs(
        move || {
            let task = future::spawn(async {
                future::yield_now().await;
                5
            });
            task.abort();
            inside.lock().unwrap().insert(future::block_on(task).ok());
        },
        None,
    );
    assert_eq!(*seen.lock().unwrap(), BTreeSet::from([None, Some(5)]));
    shuttle::check_random(
        || {
            let permits = Arc::new(BatchSemaphore::new(1, Fairness::StrictlyFair));
            let local = std::rc::Rc::new(2);
            let tasks: Vec<_> = (0..2)
                .map(|_| {
                    let (permits, local) = (Arc::clone(&permits), local.clone());
                    future::spawn_local(async move {
                        permits.acquire(1).await.unwrap();
                        permits.release(1);
                        *local
                    })
                })
                .collect();
            // The execution does not wait for a future whose handle was dropped.
            drop(future::spawn(std::future::pending::<()>()));
            for task in tasks {
                assert_eq!(future::block_on(task).unwrap(), 2);
            }
            assert_eq!(permits.available_permits(), 1);
        },
        100,
    );
}

#[test]
fn labels_are_handed_down() {
    shuttle::check_random(
        || {
            let me = current::me();
            assert_eq!(usize::from(me), 0);
            current::set_label_for_task(me, 5_u8);
            current::set_name_for_task(me, "first");
            let task = thread::spawn(move || {
                let own = current::me();
                assert_eq!(usize::from(thread::current().id()), usize::from(own));
                current::set_label_for_task(me, 6_u8);
                (own, current::get_label_for_task::<u8>(own))
            });
            let (task, label) = task.join().unwrap();
            assert_eq!((usize::from(task), label), (1, Some(5)));
            assert_eq!(current::get_label_for_task::<u8>(me), Some(6));
            assert_eq!(current::get_name_for_task(task), Some("first".into()));
            assert!(current::context_switches() > 0);
        },
        20,
    );
}

shuttle::lazy_static! {
    static ref MADE: AtomicUsize = AtomicUsize::new(7);
}

#[test]
fn statics_are_fresh() {
    shuttle::check_random(|| assert_eq!(MADE.fetch_add(1, SeqCst), 7), 5);
}

/// Runs something when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Leaves a future that is dropped with this value at the end of the execution, between two polls.
fn leave(value: impl Sized + 'static) {
    let (begun, has_begun) = shuttle::sync::mpsc::channel();
    drop(future::spawn_local(async move {
        let _value = value;
        begun.send(()).unwrap();
        pending::<()>().await;
    }));
    has_begun.recv().unwrap();
}

/// Leaves one in the middle of a poll.
fn leave_spinning(value: impl Sized + 'static) {
    let (begun, has_begun) = shuttle::sync::mpsc::channel();
    drop(future::spawn_local(async move {
        let _value = value;
        begun.send(()).unwrap();
        let spins = AtomicUsize::new(0);
        loop {
            spins.fetch_add(1, SeqCst);
        }
    }));
    has_begun.recv().unwrap();
}

/// Futures that the execution does not wait for are dropped at its end: those between two polls, and then the
/// stacks of those in the middle of one, each as its task. Locks are not poisoned by that.
#[test]
fn futures_are_torn_down() {
    let seen = Arc::new(StdMutex::new(Vec::new()));
    let inside = Arc::clone(&seen);
    shuttle::check_random(
        move || {
            inside.lock().unwrap().clear();
            let lock = Arc::new(Mutex::new(()));
            let see = |number: u32| {
                let (seen, lock) = (Arc::clone(&inside), Arc::clone(&lock));
                OnDrop(move || {
                    assert!(lock.lock().is_ok());
                    seen.lock().unwrap().push((number, usize::from(current::me())));
                })
            };
            leave_spinning(see(3));
            leave(see(1));
            leave(see(2));
            // This one holds a lock that the others need, and is dropped last of the three.
            let held = Arc::clone(&lock);
            drop(future::spawn_local(async move {
                let _held = held.lock().unwrap();
                pending::<()>().await;
            }));
        },
        20,
    );
    // The first two wait for the lock, and go on in any order.
    let mut seen = std::mem::take(&mut *seen.lock().unwrap());
    seen[..2].sort_unstable();
    assert_eq!(seen, [(1, 2), (2, 3), (3, 1)]);
    // A thread leaves one after the test's own body has ended.
    let dropped = Arc::new(AtomicUsizeOfStd::new(0));
    let inside = Arc::clone(&dropped);
    shuttle::check_random(
        move || {
            let dropped = Arc::clone(&inside);
            drop(thread::spawn(move || {
                leave(OnDrop(move || _ = dropped.fetch_add(1, SeqCst)))
            }));
        },
        20,
    );
    assert_eq!(dropped.load(SeqCst), 20);
}

/// A destructor that cannot end fails the test, with words that say where, and so does one that panics.
#[test]
fn destructors_are_judged() {
    let blocks = || {
        let lock = Arc::new(Mutex::new(()));
        leave(OnDrop(move || {
            let _first = lock.lock();
            drop(lock.lock());
        }));
    };
    let said = failure(|| shuttle::check_random(blocks, 1)).unwrap();
    assert!(said.contains("deadlock while dropping the tasks"), "{said}");
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(500);
    let spins = || {
        let flag = AtomicUsize::new(0);
        leave(OnDrop(move || {
            while flag.load(SeqCst) == 0 {
                thread::yield_now()
            }
        }));
    };
    let said = failure(|| Runner::new(RandomScheduler::new(1), config).run(spins)).unwrap();
    assert!(said.contains("exceeded the step bound (500)"), "{said}");
    let panics = || leave(OnDrop(|| panic!("a destructor")));
    assert_eq!(
        failure(|| shuttle::check_random(panics, 1)).unwrap(),
        "a destructor"
    );
}

/// Tasks that a destructor creates then do not run.
#[test]
fn tasks_of_destructors_are_cancelled() {
    let seen = Arc::new(StdMutex::new(Vec::new()));
    let inside = Arc::clone(&seen);
    let test = move || {
        let seen = Arc::clone(&inside);
        leave(OnDrop(move || {
            let future = future::block_on(future::spawn(async { 1 }));
            let thread = thread::spawn(|| 1).join();
            seen.lock().unwrap().push((future.is_err(), thread.is_err()));
        }));
    };
    shuttle::check_random(test, 1);
    assert_eq!(*seen.lock().unwrap(), [(true, true)]);
}

/// An execution that is given up at its limit of steps: a panic that is caught is none, and one that is not counts.
#[test]
fn panics_at_the_limit_are_finished() {
    let run = |catches: bool| {
        let most = (1..30).map(move |most| {
            let mut config = Config::new();
            config.max_steps = MaxSteps::ContinueAfter(most);
            let test = move || {
                let lock = Arc::new(Mutex::new(()));
                let panics = move || {
                    let _held = lock.lock().unwrap();
                    panic!("in a task");
                };
                drop(thread::spawn(move || match catches {
                    true => drop(catch_unwind(AssertUnwindSafe(panics))),
                    false => panics(),
                }));
                loop {
                    thread::yield_now();
                }
            };
            failure(|| Runner::new(RandomScheduler::new(5), config).run(test))
        });
        most.flatten().collect::<Vec<_>>()
    };
    assert_eq!(run(true), Vec::<String>::new());
    let failed = run(false);
    assert!(
        !failed.is_empty() && failed.iter().all(|said| said == "in a task"),
        "{failed:?}"
    );
}

/// A task does not read twice what a lock guards, even if no other task writes.
#[test]
fn a_lock_is_read_once() {
    let twice = || {
        let lock = shuttle::sync::RwLock::new(());
        let _first = lock.read().unwrap();
        assert!(lock.try_read().is_err());
        drop(lock.read());
    };
    let said = failure(|| shuttle::check_dfs(twice, None)).unwrap();
    assert!(
        said.contains("tried to acquire a RwLock it already holds"),
        "{said}"
    );
    let in_turn = || {
        let lock = shuttle::sync::RwLock::new(());
        drop(lock.read().unwrap());
        drop(lock.read().unwrap());
    };
    shuttle::check_dfs(in_turn, None);
}

/// A test that keeps something from one execution to the next is not the same twice.
#[test]
fn what_executions_leave_is_found() {
    let lock = Mutex::new(0_u64);
    let test = move || {
        let mut runs = lock.lock().unwrap();
        *runs += 1;
        if runs.is_multiple_of(2) {
            drop(thread::spawn(|| ()).join());
        }
    };
    let said = failure(|| shuttle::check_uncontrolled_nondeterminism(test, 10)).unwrap();
    assert!(said.contains("possible nondeterminism"), "{said}");
    // The other searches refuse it.
    let lock = Mutex::new(0_u64);
    let said = failure(|| shuttle::check_random(move || *lock.lock().unwrap() += 1, 10)).unwrap();
    assert!(said.contains("already used before this execution"), "{said}");
}

#[test]
fn pct_needs_a_second_task() {
    let said = failure(|| shuttle::check_pct(|| (), 10, 2)).unwrap();
    assert!(said.contains("did not exercise any concurrency"), "{said}");
}

/// An upgrade in an unfair semaphore comes before later requests; and permits do not go to a task that has ended.
#[test]
fn semaphores_keep_permits_for_those_that_take_them() {
    let upgrade = || {
        future::block_on(async {
            let semaphore = BatchSemaphore::new(2, Fairness::Unfair);
            semaphore.acquire(1).await.unwrap();
            semaphore.acquire(1).await.unwrap();
            let mut upgrade = Box::pin(semaphore.upgrade(1, 2));
            let polled = std::future::poll_fn(|context| {
                std::task::Poll::Ready(std::future::Future::poll(upgrade.as_mut(), context))
            });
            assert!(polled.await.is_pending());
            semaphore.release(1);
            assert!(semaphore.try_acquire(1).is_err());
            upgrade.await.unwrap();
        });
    };
    shuttle::check_dfs(upgrade, None);
}

#[test]
fn no_task_is_outside() {
    assert!(current::try_get_current_task().is_none());
}
