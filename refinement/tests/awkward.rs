//! Objects and tests that are awkward: panics, operations that never return, results that differ when repeated.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, Mutex};
use intermezzo_explorer::{Verdict, choose, thread};
use intermezzo_refinement::{
    Progress, Refinement, RefinementReport, any, callback, fresh, observe, one_of, refine,
};
use std::collections::HashSet;

fn small<T: Sync + 'static>(test: Refinement<T>) -> Refinement<T> {
    test.scenarios(6).threads(2..=2)
}

fn kind(report: &RefinementReport) -> String {
    let failure = report
        .failure
        .as_ref()
        .unwrap_or_else(|| panic!("no failure: {report}"));
    assert!(!report.to_string().is_empty() && !report.to_json().is_empty());
    failure.kind.as_str().into_owned()
}

fn panics(test: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = std::panic::catch_unwind(test).expect_err("it panics");
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast::<&str>().unwrap()).to_owned(),
    }
}

#[test]
fn without_operations_there_is_no_test() {
    let words = panics(|| _ = refine(|| ()).run());
    assert!(words.contains("give some with `op`"), "{words}");
    let words = panics(|| _ = refine(|| ()).op("a", (), |(), ()| ()).replay("imz1.nothing"));
    assert!(words.starts_with("replay: "), "{words}");
    // A pinned scenario in which nothing is done.
    let report = refine(|| ())
        .op("a", (), |(), ()| ())
        .scenarios(0)
        .pin(|s| s)
        .run();
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    let report = refine(|| ())
        .op("a", (), |(), ()| ())
        .scenarios(0)
        .pin(|s| s.task(|t| t))
        .run();
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
}

#[test]
fn operations_that_panic() {
    for orders in [0, 1_000] {
        let test = refine(|| AtomicUsize::new(0)).op("add", (), |n: &AtomicUsize, ()| {
            assert!(n.fetch_add(1, SeqCst) < 1, "twice");
        });
        assert_eq!(kind(&small(test).orders(orders).run()), "panic");
    }
    // The constructor of the object, and the function that shows it.
    let test = refine(|| -> AtomicUsize { panic!("cannot be made") }).op("a", (), |_, ()| ());
    assert_eq!(kind(&small(test).run()), "panic");
    let test = refine(|| Mutex::new(0)).show(|_| -> u8 { panic!("not to be seen") });
    let test = test.op("add", (), |n: &Mutex<u8>, ()| {
        let before = *n.lock().unwrap();
        *n.lock().unwrap() = before + 1;
        before
    });
    let report = small(test).run();
    assert_eq!(kind(&report), "refinement");
}

#[test]
fn operations_that_never_return() {
    let test = |round: fn(&AtomicUsize)| {
        refine(|| AtomicUsize::new(0)).op("turn", (), move |n: &AtomicUsize, ()| {
            while n.load(SeqCst) == 0 {
                round(n);
            }
        })
    };
    // A loop that waits for an event that never happens is no operation that waits: no task wakes it.
    assert_eq!(kind(&small(test(|_| thread::yield_now())).run()), "livelock");
    let goes_round = test(|n| {
        n.fetch_add(2, SeqCst);
        n.fetch_sub(2, SeqCst);
    });
    let report = small(goes_round)
        .explorer(|explorer| explorer.steps_per_execution(500))
        .run();
    assert!(report.failure.is_some(), "{report}");
    let report = small(test(|_| thread::yield_now()))
        .progress(Progress::LockFree)
        .run();
    assert_eq!(kind(&report), "refinement");
}

#[test]
fn large_arguments() {
    let large: Vec<u8> = vec![7; 20_000];
    let test = refine(|| Mutex::new(Vec::new()))
        .op("put", one_of([large]), |held: &Mutex<Vec<u8>>, value| {
            let before = held.lock().unwrap().len();
            let mut held = held.lock().unwrap();
            held.resize(before + value.len(), 1);
            held.clone()
        })
        .op("get", any::<Vec<u64>>(), |held, _| held.lock().unwrap().len());
    let report = small(test).run();
    assert_eq!(kind(&report), "refinement");
    let shown = report.failure.unwrap().to_string();
    assert!(shown.len() < 5_000, "{}", shown.len());
}

/// Actions when the object is dropped come in every execution.
#[test]
fn objects_that_do_something_when_they_go() {
    struct Loud(Arc<AtomicUsize>, Mutex<u8>);
    impl Drop for Loud {
        fn drop(&mut self) {
            let held = self.1.lock().unwrap();
            self.0.fetch_add(usize::from(*held) + 1, SeqCst);
            let other = Arc::clone(&self.0);
            thread::spawn(move || other.fetch_add(1, SeqCst)).join().unwrap();
        }
    }
    let test = refine(|| Loud(Arc::new(AtomicUsize::new(0)), Mutex::new(0)))
        .op("add", (), |loud: &Loud, ()| *loud.1.lock().unwrap() += 1)
        .show(|loud| *loud.1.lock().unwrap());
    let report = small(test).run();
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    struct Fragile(AtomicUsize);
    impl Drop for Fragile {
        fn drop(&mut self) {
            assert!(self.0.load(SeqCst) < 2, "too much");
        }
    }
    let test = refine(|| Fragile(AtomicUsize::new(0))).op("add", (), |fragile: &Fragile, ()| {
        fragile.0.fetch_add(1, SeqCst);
    });
    assert_eq!(kind(&small(test).run()), "panic");
}

#[test]
fn objects_that_are_not_the_same_twice() {
    for orders in [0, 1_000] {
        // By a choice that is explored.
        let test = refine(|| AtomicUsize::new(choose(2))).op("get", (), |n: &AtomicUsize, ()| n.load(SeqCst));
        assert_eq!(kind(&small(test).orders(orders).run()), "nondeterministic_spec");
        // By something unknown to the tool: time, or a count of the process.
        static MADE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let make = || AtomicUsize::new(MADE.fetch_add(1, std::sync::atomic::Ordering::SeqCst) % 3);
        let test = refine(make).op("get", (), |n: &AtomicUsize, ()| n.load(SeqCst));
        let kind = kind(&small(test).orders(orders).run());
        assert!(
            ["divergence", "nondeterministic_spec", "refinement"].contains(&&*kind),
            "{kind}"
        );
    }
}

/// Tasks of the object's own have columns of their own.
#[test]
fn operations_that_spawn() {
    let test = refine(|| AtomicUsize::new(0)).op("add", (), |n: &AtomicUsize, ()| {
        let before = n.load(SeqCst);
        thread::scope(|scope| {
            scope.spawn(|| n.store(before + 1, SeqCst));
        });
        before
    });
    for orders in [0, 1_000] {
        let again = refine(|| AtomicUsize::new(0)).op("add", (), |n: &AtomicUsize, ()| {
            thread::scope(|scope| scope.spawn(|| n.fetch_add(1, SeqCst)).join().unwrap())
        });
        assert_eq!(small(again).orders(orders).run().verdict(), Verdict::Pass);
    }
    let report = small(test).run();
    assert_eq!(kind(&report), "refinement");
    let failure = report.failure.unwrap();
    assert_eq!(failure.columns.len(), 5, "{failure}");
}

/// A queue for one producer and one consumer, which loses an item if the producer is late.
#[derive(Default)]
struct Lossy {
    items: Mutex<Vec<u32>>,
    length: AtomicUsize,
}

impl Lossy {
    fn push(&self, item: u32) {
        let at = self.length.load(SeqCst);
        self.items.lock().unwrap().push(item);
        self.length.store(at + 1, SeqCst);
    }

    fn pop(&self) -> Option<u32> {
        match self.length.load(SeqCst) {
            0 => None,
            length => {
                self.length.store(length - 1, SeqCst);
                Some(self.items.lock().unwrap().remove(0))
            }
        }
    }
}

/// Every operation belongs to a task of its own kind: the ordinary test of a queue with one producer and one consumer.
#[test]
fn every_operation_in_an_exclusive_group() {
    for threads in [2..=2, 2..=3, 3..=3] {
        let report = refine(Lossy::default)
            .op("push", fresh::<u32>(), |queue, item| queue.push(item))
            .op("pop", (), |queue, ()| queue.pop())
            .exclusive("producer", ["push"])
            .exclusive("consumer", ["pop"])
            .threads(threads)
            .run();
        assert_eq!(report.verdict(), Verdict::Fail, "{report}");
        let failure = report.failure.as_ref().expect("it fails");
        let text = failure.scenario.to_string();
        assert!(text.contains("push") && text.contains("pop"), "{text}");
    }
    let sound = refine(|| Mutex::new(Vec::new()))
        .op("push", fresh::<u32>(), |queue, item| {
            queue.lock().unwrap().push(item)
        })
        .op("pop", (), |queue, ()| queue.lock().unwrap().pop())
        .exclusive("producer", ["push"])
        .exclusive("consumer", ["pop"]);
    let report = sound.run();
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
}

/// Iteration over a hash table has another order in each table.
#[test]
fn results_with_hash_tables() {
    let test = refine(|| Mutex::new(HashSet::new()))
        .op("insert", one_of([1, 2, 3, 4]), |set, key| {
            set.lock().unwrap().insert(key)
        })
        .op("all", (), |set, ()| set.lock().unwrap().clone());
    let report = test.scenarios(20).init(2..=4).run();
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
}

/// An operation that returns nothing, and calls the test back with the number that it has seen.
fn adds(add: impl Fn(&AtomicUsize) + Send + Sync + 'static) -> RefinementReport {
    let test = refine(|| AtomicUsize::new(0)).op("add", (), move |n, ()| add(n));
    test.threads(2..=2).ops(1..=1).init(0..=0).post(0..=1).run()
}

/// Two additions that overlap both see 0, and the results do not show it.
#[test]
fn values_and_callbacks_are_compared_as_results_are() {
    fn add(n: &AtomicUsize, say: impl Fn(usize)) {
        say(n.load(SeqCst));
        n.fetch_add(1, SeqCst);
    }
    let without = adds(|n| add(n, |_| {}));
    assert_eq!(without.verdict(), Verdict::Pass, "{without}");
    // A label that says so is left out.
    let ignored = adds(|n| {
        add(n, |seen| {
            observe("_seen", &seen);
            callback("_sees", &seen, || ());
        });
    });
    assert_eq!(ignored.verdict(), Verdict::Pass, "{ignored}");
    let with_value = adds(|n| add(n, |seen| observe("seen", &seen)));
    assert_eq!(with_value.verdict(), Verdict::Fail, "{with_value}");
    assert!(with_value.to_string().contains("() [seen: 0]"), "{with_value}");
    let with_callback = adds(|n| add(n, |seen| assert!(callback("sees", &seen, || true))));
    assert_eq!(with_callback.verdict(), Verdict::Fail, "{with_callback}");
    let told = "() [sees(0), sees returns true]";
    assert!(with_callback.to_string().contains(told), "{with_callback}");
}

/// A model says what the object says, or the two differ.
#[test]
fn models_say_values_and_call_back() {
    let test = |says: fn(usize)| {
        let object = refine(|| Mutex::new(0_usize)).op("add", (), |n, ()| {
            let mut n = n.lock().unwrap();
            observe("seen", &*n);
            // In another task, it is no part of the operation.
            thread::spawn(|| observe("elsewhere", &1)).join().unwrap();
            *n += 1;
        });
        let modelled = object.spec(|| 0_usize).means("add", move |n, _: &()| {
            says(*n);
            *n += 1;
        });
        modelled.scenarios(5).run()
    };
    let same = test(|n| observe("seen", &n));
    assert_eq!(same.verdict(), Verdict::Pass, "{same}");
    for other in [
        test(|_| {}),
        test(|n| observe("saw", &n)),
        test(|n| observe("seen", &(n + 1))),
    ] {
        assert_eq!(other.verdict(), Verdict::Fail, "{other}");
    }
    // Outside of operations nothing is said.
    observe("seen", &1);
}

/// An operation that goes on for ever once another overlaps it ends with the time of the search.
#[test]
fn operations_that_go_on_end_with_the_time() {
    let began = std::time::Instant::now();
    let report = refine(|| (AtomicUsize::new(0), AtomicUsize::new(0)))
        .op("count", (), |(inside, n): &(AtomicUsize, AtomicUsize), ()| {
            let overlaps = inside.fetch_add(1, SeqCst) > 0;
            if overlaps {
                loop {
                    n.fetch_add(1, SeqCst);
                }
            }
            inside.fetch_sub(1, SeqCst);
        })
        .scenarios(2)
        .threads(2..=2)
        .ops(1..=1)
        .explorer(|explorer| {
            explorer
                .steps_per_execution(u64::MAX)
                .time(std::time::Duration::from_secs(1))
        })
        .run();
    assert!(began.elapsed().as_secs() < 60, "{report}");
    assert!(report.failure.is_none(), "{report}");
    assert!(report.to_string().contains("limit of 1 second"), "{report}");
}
