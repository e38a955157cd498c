//! Objects that behave like their sequential specifications, and objects that do not.

#[path = "common/waiting.rs"]
mod waiting_queue;

use intermezzo_explorer::Verdict;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex};
use intermezzo_refinement::{Refinement, Same, fresh, one_of, refine};
use std::collections::VecDeque;
use waiting_queue::Waiting;

/// A stack behind a lock.
#[derive(Default)]
struct Locked(Mutex<Vec<u8>>);

impl Locked {
    fn push(&self, value: u8) {
        self.0.lock().unwrap().push(value);
    }
    fn pop(&self) -> Option<u8> {
        self.0.lock().unwrap().pop()
    }
    /// Looks, releases the lock, and takes.
    fn pop_in_two(&self) -> Option<u8> {
        let top = *self.0.lock().unwrap().last()?;
        self.0.lock().unwrap().pop();
        Some(top)
    }
}

fn stack(pop: fn(&Locked) -> Option<u8>) -> Refinement<Locked> {
    refine(Locked::default)
        .op("push", fresh::<u8>(), |stack, value| stack.push(value))
        .op("pop", (), move |stack, ()| pop(stack))
}

#[test]
fn a_locked_stack_is_a_stack() {
    let report = stack(Locked::pop).run();
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    assert_eq!((report.scenarios, report.short.len()), (60, 0), "{report}");
    let report = stack(Locked::pop)
        .spec(Vec::new)
        .means("push", |stack: &mut Vec<u8>, value: &u8| stack.push(*value))
        .means("pop", |stack, (): &()| stack.pop())
        .run();
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
}

#[test]
fn a_stack_that_looks_before_it_takes_is_none() {
    let against_itself = stack(Locked::pop_in_two).run();
    let against_a_model = stack(Locked::pop_in_two)
        .spec(Vec::new)
        .means("push", |stack: &mut Vec<u8>, value: &u8| stack.push(*value))
        .means("pop", |stack, (): &()| stack.pop())
        .run();
    for report in [against_itself, against_a_model] {
        assert_eq!(report.verdict(), Verdict::Fail, "{report}");
        let failure = report.failure.as_ref().unwrap();
        assert_eq!(failure.kind.as_str(), "refinement");
        // Two that take the same value.
        let calls: Vec<&str> = failure.scenario.calls().collect();
        assert_eq!(calls, ["push(1)", "pop()", "pop()"], "{report}");
        assert!(
            report
                .pin
                .as_ref()
                .unwrap()
                .contains(r#".task(|t| t.op("pop", ()))"#),
            "{report}"
        );
    }
}

#[test]
fn a_pinned_scenario_comes_first() {
    let report = stack(Locked::pop_in_two)
        .scenarios(0)
        .pin(|s| {
            s.init("push", 1u8)
                .task(|t| t.op("pop", ()))
                .task(|t| t.op("pop", ()))
        })
        .run();
    assert_eq!(
        (report.verdict(), report.scenarios),
        (Verdict::Fail, 1),
        "{report}"
    );
}

/// Increments that may be lost: not linearizable, not sequentially consistent.
#[test]
fn levels_are_told_apart() {
    // Adds now, and shows it at the next call of the same kind: the last addition may be missing.
    struct Lazy {
        shown: AtomicUsize,
        real: AtomicUsize,
    }
    let lazy = || {
        refine(|| Lazy {
            shown: AtomicUsize::new(0),
            real: AtomicUsize::new(0),
        })
        .op("add", (), |lazy: &Lazy, ()| {
            let now = lazy.real.fetch_add(1, SeqCst);
            lazy.shown.store(now + 1, SeqCst);
        })
        .op("get", (), |lazy: &Lazy, ()| lazy.shown.load(SeqCst))
        .threads(2..=2)
        .ops(1..=2)
        .init(0..=0)
        .post(0..=0)
    };
    let model = |test: Refinement<Lazy>| {
        test.spec(|| 0)
            .means("add", |n: &mut usize, (): &()| *n += 1)
            .means("get", |n, (): &()| *n)
            .run()
    };
    assert_eq!(model(lazy()).verdict(), Verdict::Fail);
    // A late `add` explains what the others miss, but not that 2 becomes 1 again.
    let report = model(lazy().late("add"));
    assert_eq!(report.verdict(), Verdict::Fail, "{report}");
    assert_eq!(model(lazy().same(Same::Sequential)).verdict(), Verdict::Fail);
}

/// Each task finds the values that were put in before the tasks, whether or not real time counts.
#[test]
fn operations_before_the_tasks_come_first_at_every_level() {
    let empty = || {
        refine(|| Mutex::new(Vec::new()))
            .op("push", fresh::<u8>(), |stack: &Mutex<Vec<u8>>, value| {
                stack.lock().unwrap().push(value)
            })
            .op("pop", (), |_: &Mutex<Vec<u8>>, ()| None::<u8>)
            .scenarios(0)
    };
    let model = |test: Refinement<Mutex<Vec<u8>>>| {
        test.spec(Vec::new)
            .means("push", |stack: &mut Vec<u8>, value: &u8| stack.push(*value))
            .means("pop", |stack: &mut Vec<u8>, (): &()| stack.pop())
            .run()
    };
    for same in [Same::Linearizable, Same::Sequential, Same::Quiescent] {
        let before = model(
            empty()
                .same(same)
                .pin(|s| s.init("push", 1u8).task(|t| t.op("pop", ()))),
        );
        assert_eq!(before.verdict(), Verdict::Fail, "{same:?}: {before}");
        let after = model(
            empty()
                .same(same)
                .pin(|s| s.task(|t| t.op("push", 1u8)).post("pop", ())),
        );
        assert_eq!(after.verdict(), Verdict::Fail, "{same:?}: {after}");
    }
}

/// As long as something waits there is no quiet moment, so the others may come in any order.
#[test]
fn an_operation_that_waits_leaves_no_quiet_moment() {
    /// A value that is put in while an operation waits is never seen.
    #[derive(Default)]
    struct Slot {
        waiting: AtomicUsize,
        shown: Mutex<bool>,
        end: Mutex<bool>,
        news: Condvar,
    }
    let test = |same| {
        refine(Slot::default)
            .op("wait", (), |slot: &Slot, ()| {
                let mut end = slot.end.lock().unwrap();
                slot.waiting.store(1, SeqCst);
                while !*end {
                    end = slot.news.wait(end).unwrap();
                }
            })
            .op("put", (), |slot: &Slot, ()| {
                let mut shown = slot.shown.lock().unwrap();
                *shown = slot.waiting.load(SeqCst) == 0;
            })
            .op("look", (), |slot: &Slot, ()| *slot.shown.lock().unwrap())
            .scenarios(0)
            .same(same)
            .pin(|s| {
                s.task(|t| t.op("wait", ()))
                    .task(|t| t.op("put", ()))
                    .task(|t| t.op("look", ()))
            })
    };
    for (same, verdict) in [
        (Same::Linearizable, Verdict::Fail),
        (Same::Quiescent, Verdict::Pass),
        (Same::Sequential, Verdict::Pass),
    ] {
        let itself = test(same).run();
        assert_eq!(itself.verdict(), verdict, "{same:?}: {itself}");
        let model = test(same)
            .spec(|| false)
            .means("wait", |_: &mut bool, (): &()| ())
            .waits("wait", |_, (): &()| true)
            .means("put", |shown: &mut bool, (): &()| *shown = true)
            .means("look", |shown: &mut bool, (): &()| *shown)
            .run();
        assert_eq!(model.verdict(), verdict, "{same:?}: {model}");
    }
}

/// A late operation is of no use without a model, and ignoring it would find fault with what is right.
#[test]
fn late_operations_need_a_model() {
    let late = refine(|| ()).op("add", (), |(), ()| ()).late("add").scenarios(1);
    let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| late.run())).unwrap_err();
    let message = refused.downcast_ref::<String>().unwrap();
    assert!(message.contains("`add` may take effect late"), "{message}");
}

fn waiting(push: fn(&Waiting, u8)) -> Refinement<Waiting> {
    refine(Waiting::default)
        .op("push", fresh::<u8>(), push)
        .op("pop", (), |queue, ()| queue.pop())
        .init(0..=1)
        .scenarios(30)
}

#[test]
fn operations_may_wait() {
    for report in [
        waiting(Waiting::push).run(),
        waiting(Waiting::push)
            .spec(VecDeque::new)
            .means("push", |queue: &mut VecDeque<u8>, value: &u8| {
                queue.push_back(*value)
            })
            .means("pop", |queue, (): &()| queue.pop_front().unwrap_or(0))
            .waits("pop", |queue, (): &()| queue.is_empty())
            .run(),
    ] {
        assert_eq!(report.verdict(), Verdict::Pass, "{report}");
        assert!(report.short.is_empty(), "{report}");
    }
}

/// Two wait; two values arrive before either has woken; the second value causes no notification.
#[test]
fn a_lost_wake_up_is_a_wait_that_should_end() {
    let report = waiting(Waiting::push_tells_only_of_the_first)
        .threads(2..=4)
        .scenarios(200)
        .run();
    assert_eq!(report.verdict(), Verdict::Fail, "{report}");
    let failure = report.failure.unwrap();
    assert_eq!(failure.kind.as_str(), "refinement");
    assert!(failure.message.contains("pop() waits"), "{failure}");
    let mut calls: Vec<&str> = failure.scenario.calls().collect();
    calls.sort_unstable();
    assert_eq!(calls, ["pop()", "pop()", "push(1)", "push(2)"], "{failure}");
}

#[test]
fn an_object_that_is_not_determined_is_told_of() {
    let report = refine(|| ())
        .op("guess", (), |(), ()| intermezzo_explorer::choose(2))
        .run();
    assert_eq!(report.verdict(), Verdict::Fail, "{report}");
    let failure = report.failure.unwrap();
    assert_eq!(failure.kind.as_str(), "nondeterministic_spec", "{failure}");
    assert!(
        failure.message.contains("guess() returns different things"),
        "{failure}"
    );
    // A model can say so.
    refine(|| ())
        .op("guess", (), |(), ()| intermezzo_explorer::choose(2))
        .spec(|| ())
        .may("guess", |(), (): &()| vec![((), 0usize), ((), 1)])
        .check();
}

/// An operation's panic is a finding of the engine.
#[test]
fn panics_are_findings() {
    let report = stack(|stack| {
        let value = stack.pop();
        assert!(value != Some(2), "two is too much");
        value
    })
    .run();
    assert_eq!(report.verdict(), Verdict::Fail, "{report}");
    let failure = report.failure.unwrap();
    assert!(failure.message.contains("two is too much"), "{failure}");
}

#[test]
fn groups_have_one_task() {
    let report = stack(Locked::pop_in_two)
        .exclusive("taker", ["pop"])
        .init(0..=3)
        .post(0..=0)
        .run();
    // A single taker among pushers still takes something else than it looked at.
    assert_eq!(report.verdict(), Verdict::Fail, "{report}");
    let failure = report.failure.unwrap();
    let takers = failure
        .scenario
        .tasks
        .iter()
        .filter(|task| task.iter().any(|call| call == "pop()"));
    assert_eq!(takers.count(), 1, "{failure}");
}

#[test]
fn arguments_are_made_simple() {
    let report = refine(|| Mutex::new(0u32))
        .op("add", one_of([1u32, 7, 100]), |n, amount| {
            let before = *n.lock().unwrap();
            *n.lock().unwrap() = before + amount;
            before
        })
        .run();
    let failure = report.failure.unwrap();
    let calls: Vec<&str> = failure.scenario.calls().collect();
    assert_eq!(calls, ["add(1)", "add(1)"], "{failure}");
}

/// The lines that pin a scenario are the test's own language: numbers have their type.
#[test]
fn pinned_lines_can_be_pasted() {
    let cell = || refine(|| Mutex::new(0u32));
    let add = |n: &Mutex<u32>, amount: u32| {
        let before = *n.lock().unwrap();
        *n.lock().unwrap() = before + amount;
        before
    };
    let report = cell().op("add", one_of([1u32]), add).run();
    let line = r#".task(|t| t.op("add", 1u32))"#;
    assert!(report.pin.unwrap().contains(line));
    let report = cell()
        .op("add", (one_of([1u32]), one_of(["x"])), move |n, (amount, _)| {
            add(n, amount)
        })
        .run();
    let line = r#".task(|t| t.op("add", (1u32, "x")))"#;
    assert!(report.pin.unwrap().contains(line));
    let pinned = cell()
        .op("add", one_of([1u32]), add)
        .scenarios(0)
        .pin(|s| s.task(|t| t.op("add", 1u32)).task(|t| t.op("add", 1u32)));
    assert_eq!(pinned.run().verdict(), Verdict::Fail);
}

/// The same test, the same text.
#[test]
fn a_run_is_determined() {
    let text = || stack(Locked::pop_in_two).run().to_string();
    assert_eq!(text(), text());
}

/// A scenario from which nothing can be left out is not always the smallest: operations may have to change places first.
#[test]
fn a_local_minimum_is_left() {
    // Fails if `c` comes before `a`, or after `a` and `b` together.
    #[derive(Default)]
    struct Picky(AtomicUsize);
    let report = refine(Picky::default)
        .op("a", (), |picky: &Picky, ()| {
            _ = picky.0.compare_exchange(0, 1, SeqCst, SeqCst)
        })
        .op("b", (), |picky, ()| {
            _ = picky.0.compare_exchange(1, 2, SeqCst, SeqCst)
        })
        .op("c", (), |picky, ()| {
            assert!(!matches!(picky.0.swap(9, SeqCst), 2 | 0), "out of order")
        })
        .scenarios(0)
        .pin(|s| s.task(|t| t.op("a", ()).op("b", ()).op("c", ())))
        .run();
    let failure = report.failure.unwrap();
    let calls: Vec<&str> = failure.scenario.calls().collect();
    assert_eq!(calls, ["c()"], "{failure}");
}
