//! Semaphores, events, waits for several objects, thread pools and timers.

#[path = "../common/by_workers.rs"]
mod by_workers;
mod model;
mod program;
#[path = "../../explorer/tests/fuzz/records.rs"]
mod records;
mod searches;
mod symmetric;

use intermezzo::extras::{Event, Semaphore, ThreadPool, Timer, WaitSet};
use intermezzo::sync::{Arc, Mutex};
use intermezzo::{Coverage, Explorer, Reduction, Report, name, thread};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Mutex as Plain;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// Returns the results of all executions, which are the same with every reduction.
fn seen<T: Ord + Clone + std::fmt::Debug + Send>(test: impl Fn() -> T + Send + Sync) -> BTreeSet<T> {
    let explore = |explorer: Explorer| {
        let seen = Arc::new(Plain::new(BTreeSet::new()));
        let report = explorer.keep_going(true).minimise(0).explore(|| {
            let saw = test();
            seen.lock().unwrap().insert(saw);
        });
        assert!(report.verdict().is_pass(), "{report}");
        assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
        seen.lock().unwrap().clone()
    };
    let wanted = explore(Explorer::new().reduction(Reduction::Caching));
    for reduction in [Reduction::SourceDpor, Reduction::Dpor] {
        assert_eq!(
            explore(Explorer::new().reduction(reduction)),
            wanted,
            "{reduction:?}"
        );
    }
    wanted
}

fn only_finding(report: &Report) -> String {
    let [finding] = report.findings() else {
        panic!("{report}")
    };
    format!("{}: {}", finding.kind, finding.message)
}

#[test]
fn as_many_pass_as_there_are_permits() {
    let most = seen(|| {
        let (slots, inside) = (Semaphore::new(2), Plain::new((0, 0)));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    slots.acquire();
                    {
                        let mut inside = inside.lock().unwrap();
                        inside.0 += 1;
                        inside.1 = inside.0.max(inside.1);
                    }
                    intermezzo::schedule_point();
                    inside.lock().unwrap().0 -= 1;
                    slots.release();
                });
            }
        });
        assert_eq!(slots.available(), 2);
        inside.into_inner().unwrap().1
    });
    assert_eq!(most, [1, 2].into());
}

#[test]
fn an_auto_reset_event_lets_one_waiter_through_and_a_manual_one_all() {
    let passed = |event: fn() -> Event| {
        move || {
            let (event, passed) = (event(), AtomicUsize::new(0));
            thread::scope(|scope| {
                let tasks = [(); 2].map(|()| {
                    scope.spawn(|| {
                        event.wait();
                        passed.fetch_add(1, SeqCst);
                    })
                });
                event.set();
                intermezzo::quiesce();
                let seen = passed.load(SeqCst);
                event.set();
                tasks.into_iter().for_each(|task| task.join().unwrap());
                seen
            })
        }
    };
    assert_eq!(seen(passed(|| Event::auto_reset(false))), [1].into());
    assert_eq!(seen(passed(|| Event::manual_reset(false))), [2].into());
}

#[test]
fn a_wait_for_all_takes_all_or_nothing() {
    // While one fork is taken, the other one stays available to the neighbour: no philosopher holds a single fork.
    let seen = seen(|| {
        let set = WaitSet::new();
        let forks = [set.semaphore(1), set.semaphore(1), set.semaphore(1)];
        let left = Plain::new(Vec::new());
        thread::scope(|scope| {
            for at in 0..3 {
                let (set, forks, left) = (&set, &forks, &left);
                scope.spawn(move || {
                    let (one, other) = (&forks[at], &forks[(at + 1) % 3]);
                    set.wait_all(&[one, other]);
                    left.lock().unwrap().push(at);
                    one.release();
                    other.release();
                });
            }
        });
        left.into_inner().unwrap()
    });
    assert_eq!(seen.len(), 6);
}

#[test]
fn a_deadlock_names_the_objects() {
    let texts = [
        Explorer::new().explore(|| {
            let slots = Semaphore::new(0);
            slots.acquire();
        }),
        Explorer::new().explore(|| {
            let ready = Event::manual_reset(false);
            ready.wait();
        }),
        Explorer::new().explore(|| {
            let inbox = WaitSet::new();
            let (work, quit) = (inbox.auto_event(false), inbox.manual_event(false));
            inbox.wait_any(&[&work, &quit]);
        }),
        Explorer::new().explore(|| {
            let slots = Semaphore::new(0);
            name(&slots, "parking");
            slots.acquire();
        }),
    ]
    .map(|report| (only_finding(&report), report.to_string()));
    for ((finding, text), (kind, name)) in texts.iter().zip([
        ("semaphore 0.1", "`slots`"),
        ("manualevent 0.1", "`ready`"),
        ("waitset 0.1", "`inbox`"),
        ("semaphore 0.1", "`parking`"),
    ]) {
        let waits = format!("deadlock: no task can continue: main waits for {kind} at ");
        assert!(finding.starts_with(&waits), "{finding}");
        assert!(text.contains(&format!("waits for {name} at ")), "{text}");
    }
}

#[test]
fn a_static_semaphore_is_fresh_in_every_execution() {
    static SLOTS: Semaphore = Semaphore::new(1);
    let report = Explorer::new().keep_going(true).explore(|| {
        assert_eq!(SLOTS.available(), 1);
        let task = thread::spawn(|| SLOTS.try_acquire());
        assert_ne!(SLOTS.try_acquire(), task.join().unwrap());
    });
    assert!(report.verdict().is_pass(), "{report}");
}

#[test]
fn a_pool_runs_each_job_once_and_jobs_at_the_same_time() {
    let seen = seen(|| {
        let order = Arc::new(Plain::new(Vec::new()));
        let pool = ThreadPool::new(2);
        let jobs = [1, 2].map(|number| {
            let order = order.clone();
            pool.run(move || {
                intermezzo::schedule_point();
                order.lock().unwrap().push(number);
                number
            })
        });
        let sum: usize = jobs.into_iter().map(|job| job.join().unwrap()).sum();
        assert_eq!(sum, 3);
        drop(pool);
        order.lock().unwrap().clone()
    });
    assert_eq!(seen, [vec![1, 2], vec![2, 1]].into());
}

#[test]
fn a_pool_waits_until_it_is_idle() {
    let report = Explorer::new().preemptions(2).explore(|| {
        let (pool, done) = (ThreadPool::new(1), Arc::new(AtomicUsize::new(0)));
        for _ in 0..2 {
            let done = done.clone();
            drop(pool.run(move || done.fetch_add(1, SeqCst)));
        }
        pool.wait_idle();
        assert_eq!(done.load(SeqCst), 2);
    });
    assert!(report.verdict().is_pass(), "{report}");
}

/// Jobs that panic: with a handle that is joined, and with one that is dropped.
fn panicking_job(joins: bool) -> Result<(), &'static str> {
    let both = || {
        let pool = ThreadPool::new(1);
        let job = pool.run(|| panic_any("the job's"));
        if !joins {
            drop(job);
            return Ok(());
        }
        job.join().map_err(|payload| *payload.downcast::<&str>().unwrap())
    };
    match catch_unwind(AssertUnwindSafe(both)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(text)) => Err(text),
        Err(payload) => {
            assert_eq!(*payload.downcast::<&str>().unwrap(), "the job's");
            Err("resumed")
        }
    }
}

#[test]
fn a_panic_of_a_job_is_seen() {
    for joins in [true, false] {
        let wanted = if joins { "the job's" } else { "resumed" };
        let results = seen(move || panicking_job(joins));
        assert_eq!(results, [Err(wanted)].into());
        assert_eq!(panicking_job(joins), Err(wanted));
    }
}

#[test]
fn jobs_that_wait_for_each_other_need_two_threads() {
    let with = |threads: usize| {
        Explorer::new().preemptions(1).explore(move || {
            let (pool, ready) = (ThreadPool::new(threads), Arc::new(Event::auto_reset(false)));
            let theirs = ready.clone();
            let waits = pool.run(move || theirs.wait());
            let sets = pool.run(move || ready.set());
            waits.join().unwrap();
            sets.join().unwrap();
        })
    };
    assert!(with(2).verdict().is_pass(), "{}", with(2));
    let found = only_finding(&with(1));
    assert!(
        found.starts_with("deadlock") && found.contains("worker 1 waits for autoevent"),
        "{found}"
    );
}

#[test]
fn a_timer_may_fire_at_any_moment_and_after_all_others() {
    let fired = seen(|| {
        let calls = Arc::new(AtomicUsize::new(0));
        let theirs = calls.clone();
        let timer = Timer::once(Duration::from_secs(60), move || {
            theirs.fetch_add(1, SeqCst);
        });
        intermezzo::schedule_point();
        let (before, calls_told) = (calls.load(SeqCst), timer.cancel());
        let after = calls.load(SeqCst);
        assert_eq!(after as u64, calls_told);
        (before, after)
    });
    assert_eq!(fired, [(0, 0), (0, 1), (1, 1)].into());
    // No task can continue, so time passes until the timer fires.
    let waited = seen(|| {
        let timer = Timer::once(Duration::from_secs(60), || {});
        timer.join();
    });
    assert_eq!(waited.len(), 1);
}

#[test]
fn a_periodic_timer_fires_until_it_is_cancelled() {
    let report = Explorer::new().executions(500).explore(|| {
        let (calls, enough) = (Arc::new(Mutex::new(0)), Arc::new(Semaphore::new(0)));
        let (theirs, more) = (calls.clone(), enough.clone());
        let timer = Timer::periodic(Duration::from_secs(1), move || {
            *theirs.lock().unwrap() += 1;
            more.release();
        });
        enough.acquire();
        enough.acquire();
        let told = timer.cancel();
        assert!(told >= 2);
        assert_eq!(*calls.lock().unwrap(), told);
    });
    assert!(!report.verdict().is_fail(), "{report}");
}

#[test]
fn misuses_are_refused() {
    let set = WaitSet::new();
    let (one, other) = (set.auto_event(true), Event::auto_reset(true));
    let message = |f: &dyn Fn()| {
        let payload = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
        match payload.downcast::<String>() {
            Ok(text) => *text,
            Err(payload) => (*payload.downcast::<&str>().unwrap()).to_owned(),
        }
    };
    assert_eq!(
        message(&|| _ = set.wait_any(&[])),
        "there is no object to wait for"
    );
    assert_eq!(
        message(&|| _ = set.wait_any(&[&other])),
        "an object is not of this set"
    );
    assert_eq!(
        message(&|| set.wait_all(&[&one, &one])),
        "an object is to be taken twice"
    );
    assert_eq!(
        message(&|| _ = ThreadPool::new(0)),
        "a pool without threads runs no jobs"
    );
    let full = WaitSet::new();
    let _objects: Vec<_> = (0..8).map(|_| full.semaphore(1)).collect();
    assert_eq!(message(&|| _ = full.semaphore(1)), "a set has at most 8 objects");
    let many = Semaphore::new(usize::MAX);
    assert_eq!(
        message(&|| many.release()),
        "a semaphore has at most usize::MAX permits"
    );
    assert_eq!(many.available(), usize::MAX);
}

#[test]
fn objects_work_outside_of_explorations() {
    let set = Arc::new(WaitSet::new());
    let (first, second) = (Arc::new(set.semaphore(0)), Arc::new(set.auto_event(false)));
    let (theirs, one, two) = (set.clone(), first.clone(), second.clone());
    let waits = std::thread::spawn(move || theirs.wait_all(&[&*one, &*two]));
    first.release();
    assert!(!set.wait_all_timeout(&[&*first, &*second], Duration::from_millis(5)));
    assert_eq!(set.wait_any_timeout(&[&*second], Duration::from_millis(5)), None);
    second.set();
    waits.join().unwrap();
    assert!(!second.is_set());
    assert_eq!(first.available(), 0);
    let ticks = Arc::new(Semaphore::new(0));
    let theirs = ticks.clone();
    let timer = Timer::periodic(Duration::from_millis(1), move || theirs.release());
    ticks.acquire();
    ticks.acquire();
    let told = timer.cancel();
    assert_eq!(ticks.available() as u64 + 2, told);
}
