//! User-defined priority functions.

use crate::common::{Collect, counted};
use crate::interleavings::{Op, Program, run};
use intermezzo_explorer::search::{
    BestFirst, BuiltIn, Operation, Prefix, Priorities, Priority, PriorityKind,
};
use intermezzo_explorer::{Coverage, Environment, Explorer, Strategy};
use std::sync::{Arc, Mutex};

/// Prefers prefixes in which the third task runs next, and records the operations that it learns.
struct ThirdFirst(Arc<Mutex<Vec<Operation>>>);

impl Priority for ThirdFirst {
    fn rank(&self, prefix: &Prefix<'_>) -> i64 {
        i64::from(prefix.operation.is_none_or(|operation| operation.task.0 != 3))
    }
    fn learn(&mut self, operation: &Operation) {
        self.0.lock().unwrap().push(*operation);
    }
    fn name(&self) -> String {
        "third-first".into()
    }
}

#[test]
fn a_priority_of_ones_own_decides() {
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
