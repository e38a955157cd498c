//! Code written for shuttle, on intermezzo: `real_crates.rs` builds and runs it. It prints a line for each part that works,
//! and panics otherwise.

use shuttle::future::batch_semaphore::{BatchSemaphore, Fairness};
use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{
    DfsScheduler, PctScheduler, RandomScheduler, Schedule, Scheduler, Task, TaskId, UrwRandomScheduler,
};
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use shuttle::sync::{Arc, Condvar, Mutex};
use shuttle::{Config, FailurePersistence, MaxSteps, PortfolioRunner, Runner, current, future, thread};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex as StdMutex;

/// Returns the message of a run that fails; `None` if it passes.
fn failure(run: impl FnOnce()) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(run)).err()?;
    Some(*panic.downcast::<String>().expect("a failure has a text"))
}

/// Returns the schedule in a message.
fn schedule_in(message: &str) -> &str {
    let (_, rest) = message.split_once("failing schedule:\n\"\n").expect(message);
    rest.split('\n').next().unwrap()
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
        let schedule = schedule_in(&said).to_owned();
        let again = failure(|| shuttle::replay(update_is_lost, &schedule)).expect("the bug is replayed");
        assert_eq!(again, said);
    }
    // A file instead, and nothing at all.
    let directory = std::env::temp_dir().join(format!("shuttle-style-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::File(Some(directory.clone()));
    let said = failure(|| drop(Runner::new(DfsScheduler::new(None, false), config.clone()).run(update_is_lost)));
    let said = said.unwrap();
    let file = said.split("persisted to file: ").nth(1).unwrap().lines().next().unwrap();
    assert!(failure(|| shuttle::replay_from_file(update_is_lost, file)).is_some());
    std::fs::remove_dir_all(directory).unwrap();
    config.failure_persistence = FailurePersistence::None;
    let said = failure(|| drop(Runner::new(DfsScheduler::new(None, false), config).run(update_is_lost)));
    assert!(!said.unwrap().contains("schedule"));
}

/// The test is correct, and each scheduler runs as many executions as it says.
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
    assert_eq!(Runner::new(UrwRandomScheduler::new(50), Config::new()).run(body), 50);
    assert_eq!(Runner::new(DfsScheduler::new(Some(5), false), Config::new()).run(body), 5);
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
        inside.lock().unwrap().push((n.load(SeqCst), thread_rng().r#gen::<u64>()));
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

fn limits_of_steps_are_heeded() {
    let endless = || {
        let n = AtomicUsize::new(0);
        loop {
            n.fetch_add(1, SeqCst);
        }
    };
    let mut config = Config::new();
    config.max_steps = MaxSteps::ContinueAfter(50);
    assert_eq!(Runner::new(RandomScheduler::new(4), config.clone()).run(endless), 4);
    config.max_steps = MaxSteps::FailAfter(50);
    let said = failure(|| drop(Runner::new(RandomScheduler::new(4), config).run(endless)));
    assert!(said.unwrap().contains("exceeded max_steps bound"));
}

fn random_numbers_are_replayed() {
    let unlucky = || assert_ne!(thread_rng().gen_range(0..10), 7, "found failing value");
    let said = failure(|| shuttle::check_random(unlucky, 1_000)).expect("a seven is drawn");
    assert!(said.contains("found failing value"));
    let schedule = schedule_in(&said).to_owned();
    assert!(failure(|| shuttle::replay(unlucky, &schedule)).is_some());
    let said = failure(|| shuttle::check_dfs(unlucky, None)).unwrap();
    assert!(said.contains("requested random data from DFS scheduler"), "{said}");
}

fn deadlocks_and_panics_of_tasks_fail() {
    let lost = || {
        let shared = Arc::new((Mutex::new(()), Condvar::new()));
        let other = Arc::clone(&shared);
        thread::spawn(move || other.1.notify_one());
        let held = shared.0.lock().unwrap();
        drop(shared.1.wait(held));
    };
    assert!(failure(|| shuttle::check_dfs(lost, None)).unwrap().contains("deadlock"));
    // Whether or not it is joined.
    let panics = || drop(thread::spawn(|| panic!("a task panics")).join());
    assert!(failure(|| shuttle::check_random(panics, 1)).unwrap().contains("a task panics"));
}

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

fn statics_are_fresh() {
    shuttle::check_random(|| assert_eq!(MADE.fetch_add(1, SeqCst), 7), 5);
}

fn main() {
    let parts: [(&str, fn()); 10] = [
        ("checks find and replay", checks_find_and_replay),
        ("passes are counted", passes_are_counted),
        ("a scheduler of one's own decides", a_scheduler_of_ones_own_decides),
        ("limits of steps are heeded", limits_of_steps_are_heeded),
        ("random numbers are replayed", random_numbers_are_replayed),
        (
            "deadlocks and panics of tasks fail",
            deadlocks_and_panics_of_tasks_fail,
        ),
        ("futures are aborted or awaited", futures_are_aborted_or_awaited),
        ("labels are handed down", labels_are_handed_down),
        ("statics are fresh", statics_are_fresh),
        ("no task is outside", || assert!(current::try_get_current_task().is_none())),
    ];
    for (name, part) in parts {
        part();
        println!("{name}");
    }
}
