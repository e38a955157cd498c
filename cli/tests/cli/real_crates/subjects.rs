//! Refinement tests of unchanged queues and deques from crates.io. `real_crates.rs` runs them by `cargo intermezzo test
//! --unmodified`, and reads their output: a line of JSON for each subject.

use concurrent_queue::{ConcurrentQueue, PopError, PushError};
use crossbeam_deque::{Injector, Steal, Stealer, Worker};
use crossbeam_queue::{ArrayQueue, SegQueue};
use crossbeam_utils::Backoff;
use intermezzo::refinement::{Modelled, Refinement, RefinementReport, fresh, refine};
use intermezzo::{Environment, Explorer, Reduction};
use serde_json::json;
use std::collections::VecDeque;
use std::hint;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Instant;

/// Rules out weak failures: each of them would only add a schedule of a loop that retries.
fn strong(explorer: Explorer) -> Explorer {
    let environment = Environment {
        weak_failures: 0,
        ..Environment::default()
    };
    explorer.environment(environment)
}

/// Runs every execution of scenarios with two tasks.
fn in_full<T: Sync + 'static>(test: Refinement<T>) -> Refinement<T> {
    test.threads(2..=2)
        .ops(1..=2)
        .init(0..=2)
        .post(0..=1)
        .explorer(strong)
}

/// Every execution of scenarios of an owner and a thief. The work of an epoch at the end of two thieves' tasks
/// multiplies the traces far too much, so two thieves have other bounds: see [`two_thieves`].
fn one_thief(test: Refinement<Deque>, steals: &str) -> Refinement<Deque> {
    in_full(test.exclusive("thief", [steals]))
}

/// Runs scenarios with three tasks, with at most two preemptions, none of them in the epoch code.
fn two_thieves(test: Refinement<Deque>) -> Refinement<Deque> {
    test.threads(3..=3)
        .ops(1..=1)
        .init(1..=2)
        .scenarios(10)
        .explorer(|explorer| {
            let epochs = "!internal.rs,!collector.rs,!guard.rs,!list.rs,!queue.rs,!epoch.rs,!default.rs,!atomic.rs";
            strong(explorer)
                .reduction(Reduction::None)
                .preemptions(2)
                // The scope's tasks drop their thread-locals after the scope has ended.
                .executions(200_000)
                .set("preempt", epochs)
        })
}

/// Runs larger scenarios, with at most two preemptions.
fn bounded<T: Sync + 'static>(test: Refinement<T>) -> Refinement<T> {
    test.threads(3..=3)
        .ops(1..=2)
        .scenarios(12)
        .explorer(|explorer| strong(explorer).reduction(Reduction::Dpor).preemptions(2))
}

/// Runs scenarios with at most one weak failure, and at most two preemptions.
fn weak<T: Sync + 'static>(test: Refinement<T>) -> Refinement<T> {
    test.threads(2..=2)
        .ops(1..=2)
        .scenarios(20)
        .explorer(|explorer| {
            explorer
                .reduction(Reduction::Caching)
                .preemptions(2)
                .executions(100_000)
        })
}

/// Runs a test, and prints its result.
fn say(subject: &str, run: impl FnOnce() -> RefinementReport) {
    let began = Instant::now();
    let report = run();
    let failure = report.failure.as_ref().map(|failure| {
        let calls: Vec<&str> = failure.scenario.calls().collect();
        json!({ "kind": failure.kind.as_str(), "calls": calls, "text": report.to_string() })
    });
    let line = json!({
        "subject": subject,
        "verdict": format!("{:?}", report.verdict()),
        "scenarios": report.scenarios,
        "executions": report.executions,
        "traces": report.traces,
        "histories": report.histories,
        "short": report.short,
        "failure": failure,
        "seconds": began.elapsed().as_secs_f64(),
    });
    println!("{line}");
}

const FOR_EVER: &str = "Backoff for ever";

/// A wait by `Backoff` for something that never comes: when its back-off no longer grows, the task is parked.
fn waits_for_ever() {
    let began = Instant::now();
    let report = Explorer::new().reduction(Reduction::Dpor).explore(|| {
        let (done, backoff) = (AtomicBool::new(false), Backoff::new());
        while !done.load(SeqCst) {
            backoff.snooze();
        }
    });
    let failure = report
        .findings()
        .first()
        .map(|finding| json!({ "kind": finding.kind.as_str(), "calls": [], "text": report.to_string() }));
    let line = json!({
        "subject": FOR_EVER,
        "verdict": format!("{:?}", report.verdict()),
        "scenarios": 0,
        "executions": report.executions(),
        "traces": report.traces(),
        "histories": 0,
        "short": [],
        "failure": failure,
        "seconds": began.elapsed().as_secs_f64(),
    });
    println!("{line}");
}

fn seg_queue(filled: usize) -> Refinement<SegQueue<u8>> {
    let make = move || {
        let queue = SegQueue::new();
        (0..filled).for_each(|_| queue.push(0));
        (0..filled).for_each(|_| drop(queue.pop()));
        queue
    };
    refine(make)
        .op("push", fresh::<u8>(), |queue, value| queue.push(value))
        .op("pop", (), |queue, ()| queue.pop())
}

fn array_queue() -> Refinement<ArrayQueue<u8>> {
    refine(|| ArrayQueue::new(2))
        .op("push", fresh::<u8>(), |queue, value| queue.push(value))
        .op("force_push", fresh::<u8>(), |queue, value| {
            queue.force_push(value)
        })
        .op("pop", (), |queue, ()| queue.pop())
}

fn concurrent_queue(make: fn() -> ConcurrentQueue<u8>) -> Refinement<ConcurrentQueue<u8>> {
    refine(make)
        .op("push", fresh::<u8>(), |queue, value| queue.push(value))
        .op("pop", (), |queue, ()| queue.pop())
        .op("close", (), |queue, ()| queue.close())
}

/// The specification of a queue of any length.
fn queue<T: Sync + 'static>(test: Refinement<T>) -> Modelled<T, VecDeque<u8>> {
    test.spec(VecDeque::new)
        .means("push", |queue: &mut VecDeque<u8>, value: &u8| {
            queue.push_back(*value)
        })
        .means("pop", |queue: &mut VecDeque<u8>, (): &()| queue.pop_front())
}

/// The specification of a queue of two places.
fn two_places<T: Sync + 'static>(test: Refinement<T>) -> Modelled<T, VecDeque<u8>> {
    test.spec(VecDeque::new)
        .means("push", |queue: &mut VecDeque<u8>, value: &u8| {
            if queue.len() == 2 {
                return Err(*value);
            }
            queue.push_back(*value);
            Ok(())
        })
        .means("force_push", |queue: &mut VecDeque<u8>, value: &u8| {
            let oldest = (queue.len() == 2).then(|| queue.pop_front().expect("there are two"));
            queue.push_back(*value);
            oldest
        })
        .means("pop", |queue: &mut VecDeque<u8>, (): &()| queue.pop_front())
}

/// The specification of a queue of one place, which can be closed, and may report that it is full while another task
/// uses it.
fn one_place(test: Refinement<ConcurrentQueue<u8>>) -> Modelled<ConcurrentQueue<u8>, (Option<u8>, bool)> {
    type Place = (Option<u8>, bool);
    test.spec(|| (None, false))
        .may("push", |&(held, closed): &Place, &value: &u8| {
            let refused = match closed {
                true => PushError::Closed(value),
                false => PushError::Full(value),
            };
            let mut outcomes = vec![((held, closed), Err(refused))];
            if held.is_none() && !closed {
                outcomes.push(((Some(value), false), Ok(())));
            }
            outcomes
        })
        .means("pop", |(held, closed): &mut Place, (): &()| {
            held.take().ok_or(match closed {
                true => PopError::Closed,
                false => PopError::Empty,
            })
        })
        .means("close", |(_, closed): &mut Place, (): &()| {
            !std::mem::replace(closed, true)
        })
}

/// The owner's end and the thieves'. The lock only satisfies the compiler: one task takes it, which the test declares.
struct Deque {
    owner: Mutex<Worker<u8>>,
    thief: Stealer<u8>,
}

impl Deque {
    fn new(worker: Worker<u8>) -> Deque {
        Deque {
            thief: worker.stealer(),
            owner: Mutex::new(worker),
        }
    }
    fn push(&self, value: u8) {
        self.owner.lock().unwrap().push(value);
    }
    fn pop(&self) -> Option<u8> {
        self.owner.lock().unwrap().pop()
    }
    fn steal_batch(&self) -> (Steal<()>, Vec<u8>) {
        let own = Worker::new_fifo();
        let stolen = self.thief.steal_batch(&own);
        (stolen, std::iter::from_fn(|| own.pop()).collect())
    }
}

/// Repeats an attempt as long as the answer is "retry".
fn insist<R>(mut attempt: impl FnMut() -> Steal<R>) -> Option<R> {
    loop {
        match attempt() {
            Steal::Success(value) => return Some(value),
            Steal::Empty => return None,
            Steal::Retry => hint::spin_loop(),
        }
    }
}

fn owned(make: fn() -> Worker<u8>) -> Refinement<Deque> {
    // The collector is in a static that is never dropped.
    refine(move || Deque::new(make())).monitors("-leak")
        .op("push", fresh::<u8>(), |deque, value| deque.push(value))
        .op("pop", (), |deque, ()| deque.pop())
        .exclusive("owner", ["push", "pop"])
}

/// Allows thieves the answer "retry", too.
fn with_retries(
    test: Refinement<Deque>,
    bounds: fn(Refinement<Deque>) -> Refinement<Deque>,
    is_lifo: bool,
) -> Modelled<Deque, VecDeque<u8>> {
    bounds(test.op("steal", (), |deque, ()| deque.thief.steal()))
        .spec(VecDeque::new)
        .means("push", |deque: &mut VecDeque<u8>, value: &u8| {
            deque.push_back(*value)
        })
        .means("pop", move |deque: &mut VecDeque<u8>, (): &()| match is_lifo {
            true => deque.pop_back(),
            false => deque.pop_front(),
        })
        .may("steal", |deque: &VecDeque<u8>, (): &()| {
            let mut rest = deque.clone();
            let stolen = rest.pop_front().map_or(Steal::Empty, Steal::Success);
            vec![(rest, stolen), (deque.clone(), Steal::Retry)]
        })
}

fn injector() -> Refinement<Injector<u8>> {
    refine(Injector::new)
        .op("push", fresh::<u8>(), |injector: &Injector<u8>, value| {
            injector.push(value)
        })
        .op("steal", (), |injector, ()| insist(|| injector.steal()))
}

/// The variable `SUBJECTS` has the subjects to run, separated by commas. Without it, all are run.
#[test]
fn subjects() {
    let only = std::env::var("SUBJECTS").ok();
    let is_meant = |subject: &str| {
        only.as_ref()
            .is_none_or(|only| only.split(',').any(|name| name == subject))
    };
    let say = |subject: &str, run: &dyn Fn() -> RefinementReport| {
        if is_meant(subject) {
            say(subject, run);
        }
    };
    say("SegQueue itself", &|| in_full(seg_queue(0)).run());
    say("SegQueue model", &|| queue(in_full(seg_queue(0))).run());
    say("SegQueue model bounded", &|| queue(bounded(seg_queue(0))).run());
    // A block has thirty-one places. The next push, or the one after it, installs another block, and a task that comes
    // meanwhile waits.
    say("SegQueue next-block model", &|| {
        queue(in_full(seg_queue(30))).run()
    });
    say("SegQueue len", &|| {
        let test = seg_queue(0).op("len", (), |queue, ()| queue.len());
        in_full(test).run()
    });
    say("SegQueue is_empty", &|| {
        let test = seg_queue(0).op("is_empty", (), |queue, ()| queue.is_empty());
        in_full(test).run()
    });
    say("ArrayQueue itself", &|| in_full(array_queue()).run());
    say("ArrayQueue model", &|| two_places(in_full(array_queue())).run());
    say("ArrayQueue model bounded", &|| {
        two_places(bounded(array_queue())).run()
    });
    say("ArrayQueue len", &|| {
        let test = array_queue().op("len", (), |queue, ()| queue.len());
        in_full(test).run()
    });
    say("ArrayQueue is_empty", &|| {
        let test = array_queue().op("is_empty", (), |queue, ()| queue.is_empty());
        in_full(test).run()
    });
    say("ArrayQueue is_full", &|| {
        let test = array_queue().op("is_full", (), |queue, ()| queue.is_full());
        in_full(test).run()
    });
    say("SegQueue weak", &|| queue(weak(seg_queue(0))).run());
    say("ArrayQueue weak", &|| two_places(weak(array_queue())).run());
    let single = || concurrent_queue(|| ConcurrentQueue::bounded(1));
    say("ConcurrentQueue single itself", &|| in_full(single()).run());
    say("ConcurrentQueue single model", &|| {
        one_place(in_full(single())).run()
    });
    say("ConcurrentQueue single model bounded", &|| {
        one_place(bounded(single())).run()
    });
    let kinds: [(&str, fn() -> ConcurrentQueue<u8>); 2] = [
        ("bounded", || ConcurrentQueue::bounded(2)),
        ("unbounded", ConcurrentQueue::unbounded),
    ];
    for (kind, make) in kinds {
        say(&format!("ConcurrentQueue {kind} itself"), &|| {
            in_full(concurrent_queue(make)).run()
        });
        say(&format!("ConcurrentQueue {kind} three tasks"), &|| {
            in_full(concurrent_queue(make)).threads(3..=3).ops(1..=1).run()
        });
        say(&format!("ConcurrentQueue {kind} itself bounded"), &|| {
            bounded(concurrent_queue(make)).run()
        });
        say(&format!("ConcurrentQueue {kind} weak"), &|| {
            weak(concurrent_queue(make)).run()
        });
        say(&format!("ConcurrentQueue {kind} len"), &|| {
            let test = concurrent_queue(make).op("len", (), |queue, ()| queue.len());
            in_full(test).run()
        });
    }
    let forced = |queue: &ConcurrentQueue<u8>, value| queue.force_push(value);
    say("ConcurrentQueue bounded force_push", &|| {
        let test = refine(|| ConcurrentQueue::bounded(2))
            .op("push", fresh::<u8>(), |queue: &ConcurrentQueue<u8>, value| {
                queue.push(value)
            })
            .op("force_push", fresh::<u8>(), forced)
            .op("pop", (), |queue, ()| queue.pop());
        in_full(test).run()
    });
    say("ConcurrentQueue bounded force_push and close", &|| {
        let test = concurrent_queue(|| ConcurrentQueue::bounded(2)).op("force_push", fresh::<u8>(), forced);
        in_full(test).run()
    });
    let kinds: [(&str, fn() -> Worker<u8>); 2] = [("fifo", Worker::new_fifo), ("lifo", Worker::new_lifo)];
    for (kind, make) in kinds {
        say(&format!("Worker {kind} itself"), &|| {
            let test = owned(make).op("steal", (), |deque, ()| insist(|| deque.thief.steal()));
            one_thief(test, "steal").run()
        });
        say(&format!("Worker {kind} model"), &|| {
            with_retries(owned(make), |test| one_thief(test, "steal"), kind == "lifo").run()
        });
        say(&format!("Worker {kind} model bounded"), &|| {
            with_retries(owned(make), two_thieves, kind == "lifo").run()
        });
        say(&format!("Worker {kind} steal_batch"), &|| {
            let test = owned(make).op("steal_batch", (), |deque, ()| {
                loop {
                    match deque.steal_batch() {
                        (Steal::Retry, _) => hint::spin_loop(),
                        (_, stolen) => return stolen,
                    }
                }
            });
            one_thief(test, "steal_batch").run()
        });
    }
    say("Injector itself", &|| in_full(injector()).run());
    if is_meant(FOR_EVER) {
        waits_for_ever();
    }
    // Deliberate mistakes, which must be found.
    say("mistake: force_push in two", &|| {
        let test = refine(|| ArrayQueue::new(1))
            .op(
                "force_push",
                fresh::<u8>(),
                |queue: &ArrayQueue<u8>, value| match queue.push(value) {
                    Ok(()) => None,
                    Err(value) => {
                        let oldest = queue.pop();
                        queue.push(value).ok();
                        oldest
                    }
                },
            )
            .op("pop", (), |queue, ()| queue.pop());
        in_full(test).run()
    });
    say("mistake: pop after a look", &|| {
        let test = refine(SegQueue::new)
            .op("push", fresh::<u8>(), |queue: &SegQueue<u8>, value| {
                queue.push(value)
            })
            .op("pop", (), |queue, ()| {
                (!queue.is_empty()).then(|| queue.pop().unwrap())
            });
        in_full(test).run()
    });
}
