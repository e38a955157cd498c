//! Objects whose operations return when others stop, and objects whose do not.

use intermezzo_explorer::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex};
use intermezzo_explorer::{Reduction, Verdict};
use intermezzo_explorer::{hint, thread};
use intermezzo_refinement::{Failure, Progress, Refinement, RefinementReport, fresh, refine};
use std::time::Duration;

const BOTH: [Progress; 2] = [Progress::ObstructionFree, Progress::LockFree];

/// Runs the test with scenarios of two tasks.
fn run<T: Sync + 'static>(test: Refinement<T>, progress: Progress) -> RefinementReport {
    test.progress(progress)
        .threads(2..=2)
        .init(0..=1)
        .scenarios(20)
        .run()
}

fn passes<T: Sync + 'static>(test: Refinement<T>, progress: Progress) {
    let report = run(test, progress);
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    assert!(report.short.is_empty() && report.solo_runs > 100, "{report}");
}

fn fails<T: Sync + 'static>(test: Refinement<T>, progress: Progress) -> Failure {
    let report = run(test, progress);
    assert_eq!(report.verdict(), Verdict::Fail, "{report}");
    let failure = report.failure.unwrap();
    assert_eq!(
        (&*failure.kind.as_str(), failure.progress),
        ("refinement", Some(progress))
    );
    failure
}

fn locked() -> Refinement<Mutex<Vec<u8>>> {
    refine(|| Mutex::new(Vec::new()))
        .op("push", fresh::<u8>(), |stack, value| {
            stack.lock().unwrap().push(value)
        })
        .op("pop", (), |stack, ()| stack.lock().unwrap().pop())
}

#[test]
fn a_lock_makes_others_wait() {
    for progress in BOTH {
        let failure = fails(locked(), progress);
        assert!(
            failure
                .message
                .contains("waits for what another task does; what it would do next: lock at"),
            "{failure}"
        );
        // One to hold the lock, one to wait for it.
        assert_eq!(failure.scenario.calls().count(), 2, "{failure}");
    }
}

/// A stack behind a spin lock.
#[derive(Default)]
struct Spinning {
    taken: AtomicBool,
    /// Used only by the task that has taken the lock. A mutex of `std`, which is never contended, is invisible.
    values: std::sync::Mutex<Vec<u8>>,
}

impl Spinning {
    fn with<R>(&self, wait: fn(&AtomicBool), change: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        wait(&self.taken);
        let result = change(&mut self.values.lock().unwrap());
        self.taken.store(false, SeqCst);
        result
    }
}

fn spinning(wait: fn(&AtomicBool)) -> Refinement<Spinning> {
    refine(Spinning::default)
        .op("push", fresh::<u8>(), move |stack, value| {
            stack.with(wait, |values| values.push(value))
        })
        .op("pop", (), move |stack, ()| stack.with(wait, Vec::pop))
}

#[test]
fn a_spin_lock_makes_others_wait() {
    let by_exchange: fn(&AtomicBool) = |taken| {
        while taken.compare_exchange(false, true, SeqCst, SeqCst).is_err() {
            hint::spin_loop();
        }
    };
    let by_swap: fn(&AtomicBool) = |taken| while taken.swap(true, SeqCst) {};
    let yielding: fn(&AtomicBool) = |taken| {
        while taken.swap(true, SeqCst) {
            thread::yield_now();
        }
    };
    for wait in [by_exchange, by_swap, yielding] {
        for progress in BOTH {
            let failure = fails(spinning(wait), progress);
            assert_eq!(failure.scenario.calls().count(), 2, "{failure}");
        }
    }
}

/// Without preemptions no task meets a lock that is taken, except in solo runs.
#[test]
fn solo_runs_find_what_executions_do_not_show() {
    let by_swap: fn(&AtomicBool) = |taken| while taken.swap(true, SeqCst) {};
    let test = || spinning(by_swap).solo_preemptions(0).solo_steps(100);
    for progress in BOTH {
        let failure = fails(test(), progress);
        let stopped = match progress {
            Progress::ObstructionFree => "its task ran alone for 100 steps",
            Progress::LockFree => "with `push(1)` of task 1 stopped for ever",
        };
        assert!(failure.message.contains(stopped), "{failure}");
    }
}

/// Treiber's stack over nodes in an array, each used once, so that no head comes back.
struct Treiber {
    /// The index of the first node, from 1.
    head: AtomicUsize,
    used: AtomicUsize,
    nodes: [(AtomicUsize, AtomicUsize); 8],
}

impl Treiber {
    fn new() -> Treiber {
        Treiber {
            head: AtomicUsize::new(0),
            used: AtomicUsize::new(0),
            nodes: Default::default(),
        }
    }
    fn push(&self, value: usize) {
        let node = self.used.fetch_add(1, SeqCst) + 1;
        self.nodes[node].0.store(value, SeqCst);
        loop {
            let head = self.head.load(SeqCst);
            self.nodes[node].1.store(head, SeqCst);
            if self.head.compare_exchange(head, node, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }
    fn pop(&self) -> Option<usize> {
        loop {
            let head = self.head.load(SeqCst);
            if head == 0 {
                return None;
            }
            let next = self.nodes[head].1.load(SeqCst);
            if self.head.compare_exchange(head, next, SeqCst, SeqCst).is_ok() {
                return Some(self.nodes[head].0.load(SeqCst));
            }
        }
    }
}

fn treiber() -> Refinement<Treiber> {
    refine(Treiber::new)
        .op("push", fresh::<usize>(), |stack, value| stack.push(value))
        .op("pop", (), |stack, ()| stack.pop())
}

#[test]
fn who_fails_in_treibers_stack_fails_because_another_did_not() {
    for progress in BOTH {
        passes(treiber(), progress);
    }
}

#[test]
fn an_increment_at_once_stops_nobody() {
    for progress in BOTH {
        let counter = refine(|| AtomicUsize::new(0))
            .op("add", (), |n: &AtomicUsize, ()| n.fetch_add(1, SeqCst))
            .op("get", (), |n: &AtomicUsize, ()| n.load(SeqCst));
        passes(counter, progress);
    }
}

/// A task that arrives becomes the owner, and only a task that still is the owner is done: two may do so to each
/// other for ever.
fn owned() -> Refinement<(AtomicUsize, AtomicUsize)> {
    let touch = |(owner, names): &(AtomicUsize, AtomicUsize), ()| {
        let me = names.fetch_add(1, SeqCst) + 1;
        loop {
            owner.store(me, SeqCst);
            if owner.compare_exchange(me, 0, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    };
    refine(Default::default).op("touch", (), touch)
}

#[test]
fn obstruction_freedom_is_less_than_lock_freedom() {
    // It has executions without end, so that only some of them can be compared.
    let bounded = owned().explorer(|explorer| explorer.reduction(Reduction::Dpor).preemptions(1));
    let report = run(bounded, Progress::ObstructionFree);
    assert!(report.failure.is_none() && report.solo_runs > 100, "{report}");
    let failure = fails(owned(), Progress::LockFree);
    assert!(failure.message.contains("when tasks run in turns"), "{failure}");
    assert!(failure.steps_left_out > 0, "{failure}");
    assert!(failure.to_string().contains(" more steps\n"), "{failure}");
}

#[test]
fn an_operation_that_is_meant_to_wait_has_no_such_progress() {
    let event = || {
        refine(|| (Mutex::new(false), Condvar::new()))
            .op("set", (), |(set, changed): &(Mutex<bool>, Condvar), ()| {
                *set.lock().unwrap() = true;
                changed.notify_all();
            })
            .op("wait", (), |(set, changed), ()| {
                let mut is_set = set.lock().unwrap();
                while !*is_set {
                    is_set = changed.wait(is_set).unwrap();
                }
            })
    };
    for progress in BOTH {
        let failure = fails(event(), progress);
        assert!(
            failure.message.contains("is meant to wait for others"),
            "{failure}"
        );
    }
    // With a model that says so, too.
    let report = event()
        .spec(|| false)
        .means("set", |set: &mut bool, (): &()| *set = true)
        .means("wait", |_, (): &()| ())
        .waits("wait", |set, (): &()| !*set)
        .progress(Progress::LockFree)
        .run();
    assert_eq!(report.failure.unwrap().progress, Some(Progress::LockFree));
}

/// A task that sleeps continues alone when the time is up.
#[test]
fn time_passes_for_who_is_alone() {
    for progress in BOTH {
        let slow = refine(|| AtomicUsize::new(0)).op("add", (), |n: &AtomicUsize, ()| {
            thread::sleep(Duration::from_millis(1));
            n.fetch_add(1, SeqCst)
        });
        passes(slow, progress);
    }
}

/// A loop that runs alone for longer than is allowed counts as one that does not end.
#[test]
fn steps_are_counted() {
    let long = || {
        refine(|| AtomicUsize::new(0)).op("count", (), |n: &AtomicUsize, ()| {
            for _ in 0..40 {
                n.fetch_add(1, SeqCst);
            }
        })
    };
    let test = |steps| {
        long()
            .threads(1..=1)
            .ops(1..=1)
            .post(0..=0)
            .progress(Progress::ObstructionFree)
            .solo_steps(steps)
            .run()
    };
    assert_eq!(test(50).verdict(), Verdict::Pass);
    let report = test(30);
    let failure = report.failure.unwrap();
    assert!(failure.message.contains("for 30 steps"), "{failure}");
}

#[test]
fn a_limit_that_was_reached_is_told() {
    let report = treiber()
        .threads(2..=2)
        .ops(2..=2)
        .scenarios(0)
        .pin(|s| {
            s.task(|t| t.op("push", 1usize).op("pop", ()))
                .task(|t| t.op("push", 2usize).op("pop", ()))
        })
        .executions(500)
        .progress(Progress::LockFree)
        .run();
    assert!(report.short.len() == 1, "{report}");
}

/// The same test, the same text.
#[test]
fn a_run_is_determined() {
    let text = || run(owned(), Progress::LockFree).to_string();
    assert_eq!(text(), text());
}

/// A schedule reproduces the finding, and settings may come before or after the model.
#[test]
fn a_schedule_shows_it_again() {
    let failure = fails(owned(), Progress::LockFree);
    let touches: Vec<usize> = failure.scenario.tasks.iter().map(Vec::len).collect();
    let again = owned()
        .pin(|mut s| {
            for touches in touches {
                s = s.task(|t| (0..touches).fold(t, |t, _| t.op("touch", ())));
            }
            s
        })
        .replay(&failure.schedule.token())
        .progress(Progress::LockFree)
        .run();
    let again = again
        .failure
        .unwrap_or_else(|| panic!("not found again: {failure}"));
    assert_eq!((again.kind, again.progress), (failure.kind, failure.progress));
    assert_eq!(again.schedule.choices, failure.schedule.choices);
    let late = refine(|| Mutex::new(0))
        .op("add", (), |n: &Mutex<usize>, ()| *n.lock().unwrap() += 1)
        .spec(|| 0)
        .means("add", |n: &mut usize, (): &()| *n += 1)
        .progress(Progress::LockFree)
        .solo_steps(100)
        .solo_preemptions(0)
        .scenarios(4)
        .run();
    let failure = late.failure.unwrap();
    let schedule = failure.schedule.token();
    let again = refine(|| Mutex::new(0))
        .op("add", (), |n: &Mutex<usize>, ()| *n.lock().unwrap() += 1)
        .pin(|s| s.task(|t| t.op("add", ())).task(|t| t.op("add", ())))
        .progress(Progress::LockFree)
        .replay(&schedule)
        .run();
    let again = again.failure.unwrap();
    let words = |message: &str| message.split(" at ").next().map(str::to_owned);
    assert_eq!(words(&again.message), words(&failure.message));
    assert_eq!(again.schedule.choices, failure.schedule.choices);
}
