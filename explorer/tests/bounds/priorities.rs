//! User-defined priority functions.

use crate::common::{Collect, counted};
use crate::interleavings::{Op, Program, run};
use intermezzo_explorer::search::{
    BestFirst, BuiltIn, Operation, Prefix, Priorities, Priority, PriorityKind, Within,
};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Coverage, Environment, Explorer, Strategy, preemptions_preferred, thread};
use std::sync::{Arc, Mutex};

/// Prefers prefixes in which the third task runs next, and records the operations that it learns.
struct ThirdFirst(Arc<Mutex<Vec<Operation>>>);

impl Priority for ThirdFirst {
    fn rank(&self, prefix: &Prefix<'_>) -> i64 {
        i64::from(prefix.operation.is_none_or(|operation| operation.task.0 != 3))
    }
    fn learn(&mut self, prefix: &Prefix<'_>) {
        self.0.lock().unwrap().extend(prefix.operation);
    }
    fn name(&self) -> String {
        "third-first".into()
    }
}

#[test]
fn a_priority_function_decides() {
    let learnt = Arc::default();
    let mine = Priorities::by(ThirdFirst(Arc::clone(&learnt)))
        .then(BuiltIn::new(PriorityKind::Shallowest, 0))
        .plus(3, BuiltIn::new(PriorityKind::Preemptions, 0));
    let (monitor, seen) = Collect::new();
    let program = Program(vec![vec![Op::Add(0), Op::Store(1)]; 3]);
    let report = Explorer::new()
        .environment(Environment::calm())
        .strategy(Strategy::custom(BestFirst::new(mine, None, 1_000)))
        .monitor(monitor)
        .explore(|| run(&program));
    assert_eq!(
        report.strategy(),
        "best-first(third-first,shallowest+3*preemptions)"
    );
    assert_eq!(*report.coverage(), Coverage::Exhaustive);
    let seen = seen.lock().unwrap();
    assert_eq!(seen[..2], [[1, 1, 2, 2, 3, 3], [3, 3, 1, 1, 2, 2]]);
    assert_eq!((seen.len(), counted(&seen).len()), (90, 90));
    // One operation for each decision that is not shared with an earlier execution: all paths of a tree with 90 leaves.
    let learnt = learnt.lock().unwrap();
    assert!(
        learnt
            .iter()
            .any(|operation| operation.task.0 == 3
                && operation.site.place().file.ends_with("interleavings.rs"))
    );
    assert!(learnt.len() > 90, "{}", learnt.len());
}

struct Last(AtomicUsize);

impl Last {
    fn act(&self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// Executions in which a task enters the method are run first, although others have as few choices.
#[test]
fn a_method_is_preferred() {
    let second = |order: Priorities| {
        let (monitor, seen) = Collect::new();
        let report = Explorer::new()
            .environment(Environment::calm())
            .strategy(Strategy::custom(BestFirst::new(order, None, 1_000)))
            .monitor(monitor)
            .explore(|| {
                let n = Last(AtomicUsize::new(0));
                thread::scope(|scope| {
                    scope.spawn(|| n.0.fetch_add(1, SeqCst));
                    scope.spawn(|| n.0.fetch_add(1, SeqCst));
                    scope.spawn(|| n.act());
                });
            });
        assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
        let seen = seen.lock().unwrap();
        assert_eq!(seen[0], [1, 2, 3]);
        (seen[1].clone(), report.strategy().to_owned())
    };
    let shallowest = || BuiltIn::new(PriorityKind::Shallowest, 0);
    let (without, _) = second(Priorities::by(shallowest()));
    let within = Within::parse("Last::act").unwrap();
    let (with, name) = second(Priorities::by(within).then(shallowest()));
    assert_eq!((without[0], with[0]), (2, 3));
    assert_eq!(name, "best-first(within(Last::act),shallowest)");
    for wrong in ["a b", "", "slots[_].seq", "`tail`"] {
        assert!(Within::parse(wrong).is_err(), "{wrong}");
    }
}

/// Three tasks of three steps. The second one is preempted in the middle before others are, because of its region.
#[test]
fn preemptions_of_a_region_come_first() {
    let executions = |preferred: bool| {
        let (monitor, seen) = Collect::new();
        let report = Explorer::new()
            .environment(Environment::calm())
            .set("strategy", "best-first(preferred,preemptions,shallowest)")
            .monitor(monitor)
            .explore(|| {
                let n = AtomicUsize::new(0);
                let steps = || {
                    for _ in 0..3 {
                        n.fetch_add(1, SeqCst);
                    }
                };
                thread::scope(|scope| {
                    scope.spawn(steps);
                    scope.spawn(|| match preferred {
                        true => preemptions_preferred(steps),
                        false => steps(),
                    });
                    scope.spawn(steps);
                });
            });
        assert_eq!(*report.coverage(), Coverage::Exhaustive, "{report}");
        let seen = seen.lock().unwrap();
        (seen[1].clone(), seen.len())
    };
    let ((without, all), (with, all_with)) = (executions(false), executions(true));
    assert_eq!((all, all_with), (1_680, 1_680));
    assert_eq!(without, [2, 2, 2, 3, 3, 3, 1, 1, 1]);
    assert_eq!(with, [1, 1, 1, 2, 3, 3, 3, 2, 2]);
}
