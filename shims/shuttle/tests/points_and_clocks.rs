//! Parts of the drop-in for shuttle that code written for it rarely asks about: schedule points, clocks and spans.
#![cfg(feature = "vector-clocks")]

use shuttle::future::batch_semaphore::{BatchSemaphore, Fairness};
use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, ReplayScheduler, Schedule};
use shuttle::sync::atomic::{AtomicU128, AtomicUsize, Ordering::SeqCst};
use shuttle::sync::mpsc::sync_channel;
use shuttle::sync::{Arc, Mutex};
use shuttle::{Config, MaxSteps, Runner, current, future, thread};
use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Mutex as StdMutex;
use std::sync::atomic::AtomicUsize as AtomicUsizeOfStd;
use std::task::{Context, Poll, Waker};
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Metadata, Subscriber, dispatcher, warn, warn_span};
use tracing_core::span::Current;

/// Returns the number of all schedules of a test.
fn schedules(test: impl Fn() + Send + Sync + 'static) -> usize {
    Runner::new(DfsScheduler::new(None, false), Config::new()).run(test)
}

/// Returns the number of schedule points of an operation: those of as many loads, while another task performs three.
fn points<S: Send + Sync + 'static>(
    setup: impl Fn() -> S + Send + Sync + 'static,
    operation: impl Fn(&S) + Send + Sync + Copy + 'static,
) -> usize {
    let beside = |operation: Box<dyn Fn() + Send + Sync>| {
        let operation = Arc::new(operation);
        schedules(move || {
            let operation = Arc::clone(&operation);
            thread::spawn(move || operation());
            let other = AtomicUsize::new(0);
            (0..3).for_each(|_| _ = other.load(SeqCst));
        })
    };
    let all = schedules(move || {
        let state = Arc::new(setup());
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            operation(&shared);
            std::mem::forget(shared);
        });
        let other = AtomicUsize::new(0);
        (0..3).for_each(|_| _ = other.load(SeqCst));
        std::mem::forget(state);
    });
    let loads = |number: usize| {
        beside(Box::new(move || {
            let own = AtomicUsize::new(0);
            (0..number).for_each(|_| _ = own.load(SeqCst));
        }))
    };
    (0..6)
        .find(|&number| loads(number) == all)
        .expect("an operation has few points")
}

/// A future that wakes itself that many times.
struct Timer(u32);

impl Future for Timer {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(left) = self.0.checked_sub(1) else {
            return Poll::Ready(());
        };
        self.0 = left;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Polls a request for permits once, and forgets it or drops it.
fn poll_once(semaphore: &BatchSemaphore, permits: usize, drops: bool) {
    let mut request = std::mem::ManuallyDrop::new(Box::pin(semaphore.acquire(permits)));
    let _ = request.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    if drops {
        drop(std::mem::ManuallyDrop::into_inner(request));
    }
}

/// Operations have the schedule points that they have in shuttle: at most one, and none where the next one is as good.
#[test]
fn points_are_those_of_shuttle() {
    for fairness in [Fairness::StrictlyFair, Fairness::Unfair] {
        let of = move |operation: fn(&BatchSemaphore)| {
            points(
                move || BatchSemaphore::new(3, fairness),
                move |semaphore| operation(semaphore),
            )
        };
        assert_eq!(of(|semaphore| _ = semaphore.available_permits()), 0);
        assert_eq!(of(|semaphore| _ = semaphore.is_closed()), 0);
        assert_eq!(of(BatchSemaphore::close_no_scheduling_point), 0);
        assert_eq!(of(|semaphore| semaphore.release_no_scheduling_point(1)), 0);
        assert_eq!(of(BatchSemaphore::close), 1);
        assert_eq!(of(|semaphore| semaphore.release(1)), 1);
        assert_eq!(of(|semaphore| semaphore.try_acquire(1).unwrap()), 1);
        assert_eq!(of(|semaphore| _ = semaphore.try_acquire(4).unwrap_err()), 1);
        assert_eq!(of(|semaphore| semaphore.acquire_blocking(1).unwrap()), 1);
        // Any place in the queue of an unfair semaphore is as good as another.
        let queued = usize::from(fairness == Fairness::StrictlyFair);
        assert_eq!(of(|semaphore| poll_once(semaphore, 5, false)), queued);
        assert_eq!(of(|semaphore| poll_once(semaphore, 5, true)), queued + 1);
    }
    assert_eq!(points(|| (), |()| future::block_on(Timer(2))), 2);
    assert_eq!(points(|| (), |()| future::block_on(future::yield_now())), 1);
    assert_eq!(points(|| (), |()| thread::yield_now()), 1);
    assert_eq!(points(|| AtomicU128::new(0), |n| _ = n.fetch_add(1, SeqCst)), 1);
    assert_eq!(
        points(
            || AtomicU128::new(0),
            |n| _ = n.compare_exchange(0, 1, SeqCst, SeqCst)
        ),
        1
    );
}

/// Returns the clock of the calling task.
fn clock() -> Vec<u32> {
    current::clock().time
}

/// Returns the number of events of a task that come before the next one of the calling task.
fn known(task: usize) -> u32 {
    current::clock().get(task)
}

#[test]
fn clocks_say_what_comes_before() {
    shuttle::check_dfs(
        || {
            let (lock, n) = (Arc::new(Mutex::new(0)), Arc::new(AtomicUsize::new(0)));
            let (own, count) = (Arc::clone(&lock), Arc::clone(&n));
            let task = thread::spawn(move || {
                assert_eq!(clock(), [1, 0]);
                *own.lock().unwrap() += 1;
                assert_eq!(clock()[1], 2);
                count.store(1, SeqCst);
            });
            assert_eq!(clock(), [1]);
            // A load knows of the store whose value it reads, and the holder of a lock of those before it.
            let loaded = n.load(SeqCst);
            assert_eq!(known(1), if loaded == 1 { 3 } else { 0 });
            let held = *lock.lock().unwrap();
            assert_eq!(known(1) >= 2, held == 1);
            task.join().unwrap();
            assert_eq!(known(1), 3);
            assert_eq!(current::clock_for(1.into()).get(1), 3);
        },
        None,
    );
    assert!(clock().is_empty());
}

/// A sender knows of the receipt that made room for its message, and a receiver of the message.
#[test]
fn messages_bring_clocks() {
    shuttle::check_dfs(
        || {
            let (sender, receiver) = sync_channel(1);
            let task = thread::spawn(move || {
                sender.send(()).unwrap();
                assert_eq!(known(0), 1);
                sender.send(()).unwrap();
                assert!(known(0) > 1);
            });
            receiver.recv().unwrap();
            assert_eq!(known(1), 1);
            receiver.recv().unwrap();
            task.join().unwrap();
        },
        None,
    );
}

/// A task that gets permits comes after the tasks that gave them back, and after no others.
#[test]
fn permits_bring_clocks() {
    for fairness in [Fairness::StrictlyFair, Fairness::Unfair] {
        shuttle::check_dfs(
            move || {
                let semaphore = Arc::new(BatchSemaphore::new(0, fairness));
                let tasks: Vec<_> = (0..2)
                    .map(|_| {
                        let semaphore = Arc::clone(&semaphore);
                        thread::spawn(move || semaphore.release(1))
                    })
                    .collect();
                semaphore.acquire_blocking(1).unwrap();
                assert_ne!(known(1) > 0, known(2) > 0);
                for task in tasks {
                    task.join().unwrap();
                }
                semaphore.acquire_blocking(1).unwrap();
                // A request that is refused comes after those that took the permits.
                let refused = thread::spawn(move || {
                    let before = known(0);
                    assert!(semaphore.try_acquire(1).is_err());
                    assert_eq!(known(0), before);
                });
                refused.join().unwrap();
            },
            None,
        );
    }
    shuttle::check_dfs(
        || {
            let semaphore = Arc::new(BatchSemaphore::new(1, Fairness::StrictlyFair));
            let own = Arc::clone(&semaphore);
            thread::spawn(move || _ = own.try_acquire(1));
            if semaphore.try_acquire(1).is_err() {
                assert_eq!(known(1), 1);
            }
        },
        None,
    );
}

/// One that awaits a future comes after its end, also if it had ended before.
#[test]
fn results_bring_clocks() {
    shuttle::check_dfs(
        || {
            let n = Arc::new(AtomicUsize::new(0));
            let own = Arc::clone(&n);
            let task = future::spawn(async move { own.fetch_add(1, SeqCst) });
            assert_eq!(known(1), 0);
            future::block_on(task).unwrap();
            assert!(known(1) > 0);
        },
        None,
    );
    // A failed exchange gives nothing on.
    shuttle::check_dfs(
        || {
            let n = Arc::new(AtomicU128::new(0));
            let own = Arc::clone(&n);
            thread::spawn(move || own.compare_exchange(7, 8, SeqCst, SeqCst).unwrap_err());
            n.load(SeqCst);
            assert_eq!(known(1), 0);
        },
        None,
    );
}

/// Steps that do not come before the failure are left out of its schedule.
#[test]
fn steps_are_left_out_of_a_replay() {
    let seen = Arc::new(AtomicUsizeOfStd::new(0));
    let inside = Arc::clone(&seen);
    let run = move |target: Option<[u32; 3]>| {
        let steps = [0, 0, 1, 1, 0, 0, 3, 2, 0, 1, 2, 2];
        let mut scheduler = ReplayScheduler::new_from_schedule(Schedule::new_from_task_ids(0, steps));
        match target {
            Some(target) => scheduler.set_target_clock(&target),
            None => scheduler.set_allow_incomplete(),
        }
        let seen = Arc::clone(&inside);
        let test = move || {
            let lock = Arc::new(Mutex::new(0));
            let other = Arc::clone(&lock);
            thread::spawn(move || *other.lock().unwrap() = 1);
            thread::spawn(move || assert_eq!(*lock.lock().unwrap(), 0));
            let seen = Arc::clone(&seen);
            thread::spawn(move || seen.fetch_add(1, SeqCst));
        };
        let run = || Runner::new(scheduler, Config::new()).run(test);
        catch_unwind(AssertUnwindSafe(run)).is_err()
    };
    run(None);
    assert_eq!(seen.swap(0, SeqCst), 1);
    assert!(run(Some([2, 2, 1])), "the failure is still there");
    assert_eq!(seen.load(SeqCst), 0);
}

#[test]
fn steps_are_counted_from_where_the_test_says() {
    let run = |resets: bool, most: usize| {
        let mut config = Config::new();
        config.max_steps = MaxSteps::FailAfter(most);
        let test = move || {
            let n = AtomicUsize::new(0);
            for step in 0..30 {
                n.fetch_add(1, SeqCst);
                if resets && step % 10 == 9 {
                    current::reset_step_count();
                }
            }
            assert_eq!(current::context_switches(), 31);
        };
        let run = || Runner::new(RandomScheduler::new(3), config).run(test);
        catch_unwind(AssertUnwindSafe(run)).is_ok()
    };
    assert_eq!(
        (run(true, 12), run(false, 12), run(true, 8)),
        (true, false, false)
    );
}

/// At depth 1 each task runs as long as it can: a deadlock of two locks takes a change of priorities.
#[test]
fn pct_at_depth_1_changes_nothing() {
    let test = || {
        let locks = [(); 2].map(|()| Arc::new(Mutex::new(())));
        for order in [[0, 1], [1, 0]] {
            let [first, second] = order.map(|at| Arc::clone(&locks[at]));
            thread::spawn(move || {
                let _first = first.lock().unwrap();
                drop(second.lock().unwrap());
            });
        }
    };
    Runner::new(PctScheduler::new(1, 200), Config::new()).run(test);
    let run = || Runner::new(PctScheduler::new(2, 200), Config::new()).run(test);
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
}

/// Writes down each event with the spans around it, and has one stack of them, as all tasks run on one thread.
#[derive(Clone, Default)]
struct Log(Arc<StdMutex<Logged>>);

#[derive(Default)]
struct Logged {
    spans: Vec<&'static Metadata<'static>>,
    /// The spans that are entered.
    entered: Vec<u64>,
    /// The text of each event, and the names of the spans around it.
    events: Vec<(String, Vec<&'static str>)>,
    /// The spans that were closed.
    closed: Vec<&'static str>,
    /// The values of the fields of spans.
    fields: BTreeMap<(&'static str, &'static str), Vec<String>>,
}

/// The fields of a span or an event.
struct Fields<'a>(&'a mut dyn FnMut(&'static str, String));

impl tracing::field::Visit for Fields<'_> {
    fn record_str(&mut self, field: &tracing::field::Field, value: &str) {
        (self.0)(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        (self.0)(field.name(), format!("{value:?}"));
    }
}

impl Log {
    fn take(&self) -> Logged {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    /// Checks that there are at least this many events with this text, all of them with these spans around. An execution may
    /// be run once more, so there may be others.
    fn check(logged: &Logged, text: &str, spans: &[&'static str], least: usize) {
        let events = logged.events.iter().filter(|(event, _)| event == text);
        let around: Vec<_> = events.map(|(_, spans)| spans.clone()).collect();
        assert!(around.len() >= least, "{text}: {}", around.len());
        assert!(around.iter().all(|around| around == spans), "{text}: {around:?}");
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut logged = self.0.lock().unwrap();
        let name = span.metadata().name();
        logged.spans.push(span.metadata());
        span.record(&mut Fields(&mut |field, value| {
            logged.fields.entry((name, field)).or_default().push(value);
        }));
        Id::from_u64(logged.spans.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut logged = self.0.lock().unwrap();
        let name = logged.spans[span.into_u64() as usize - 1].name();
        values.record(&mut Fields(&mut |field, value| {
            logged.fields.entry((name, field)).or_default().push(value);
        }));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = String::new();
        event.record(&mut Fields(&mut |field, value| {
            if field == "message" {
                text = value;
            }
        }));
        let mut logged = self.0.lock().unwrap();
        let spans = logged
            .entered
            .iter()
            .map(|&span| logged.spans[span as usize - 1].name())
            .collect();
        logged.events.push((text, spans));
    }

    fn enter(&self, span: &Id) {
        self.0.lock().unwrap().entered.push(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        let mut logged = self.0.lock().unwrap();
        assert_eq!(logged.entered.pop(), Some(span.into_u64()));
    }

    fn try_close(&self, span: Id) -> bool {
        let mut logged = self.0.lock().unwrap();
        let name = logged.spans[span.into_u64() as usize - 1].name();
        logged.closed.push(name);
        true
    }

    fn current_span(&self) -> Current {
        let logged = self.0.lock().unwrap();
        match logged.entered.last() {
            Some(&span) => Current::new(Id::from_u64(span), logged.spans[span as usize - 1]),
            None => Current::none(),
        }
    }
}

/// A task has a span of its own, within that of the execution, and the spans that it has entered are entered while it runs.
#[test]
fn tasks_have_spans() {
    let log = Log::default();
    let subscriber = Dispatch::new(log.clone());
    let mut config = Config::new();
    config.record_steps_in_span = true;
    let test = || {
        let task = thread::Builder::new().name("worker".to_owned()).spawn(|| {
            let _entered = warn_span!("inner").entered();
            for _ in 0..3 {
                thread::yield_now();
                warn!("a worker");
            }
        });
        for _ in 0..3 {
            warn!("the body");
            thread::yield_now();
        }
        task.unwrap().join().unwrap();
    };
    dispatcher::with_default(&subscriber, || {
        Runner::new(RandomScheduler::new(20), config).run(test)
    });
    let logged = log.take();
    Log::check(&logged, "a worker", &["step", "inner"], 60);
    Log::check(&logged, "the body", &["step"], 60);
    let tasks = &logged.fields[&("step", "task")];
    assert_eq!(tasks[..2], ["main-thread(0)", "worker(1)"]);
    assert_eq!(logged.fields[&("execution", "i")][..3], ["0", "1", "2"]);
    assert!(logged.fields[&("step", "i")].len() > 40);
    assert!(logged.entered.is_empty());
    let closed = |name| logged.closed.iter().filter(|&&closed| closed == name).count();
    assert!(closed("inner") >= 20);
    assert_eq!(closed("step"), 2 * closed("inner"));
}

/// A subscriber that a task has set is its own.
#[test]
fn tasks_have_subscribers() {
    let (log, others) = (Log::default(), Log::default());
    let (subscriber, other) = (Dispatch::new(log.clone()), Dispatch::new(others.clone()));
    let test = move || {
        let other = other.clone();
        let task = thread::spawn(move || {
            let _entered = warn_span!("outer").entered();
            dispatcher::with_default(&other, || {
                let _entered = warn_span!("inner").entered();
                for _ in 0..3 {
                    thread::yield_now();
                    warn!("a worker");
                }
            });
            warn!("done");
        });
        for _ in 0..3 {
            warn!("the body");
            thread::yield_now();
        }
        task.join().unwrap();
    };
    dispatcher::with_default(&subscriber, || shuttle::check_random(test, 20));
    let (logged, others) = (log.take(), others.take());
    Log::check(&logged, "the body", &["step"], 60);
    Log::check(&logged, "done", &["step", "outer"], 20);
    Log::check(&others, "a worker", &["inner"], 60);
    assert!(logged.entered.is_empty() && others.entered.is_empty());
}
