//! The attributes of events: from the engine, and from the test.

use super::recorder::{lines_with, recorded};
use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Environment, Explorer, attribute, thread};
use intermezzo_sdk::{Context, Interests, Monitor, SchedulePoint, SyncVarAccess, SyncVarOp};
use std::sync::{Arc, Mutex as StdMutex};

fn explorer() -> Explorer {
    Explorer::new().environment(Environment::calm())
}

#[test]
fn the_test_says_something_about_its_last_event() {
    attribute("outside", "nobody hears it");
    let seen = recorded(explorer(), Interests::ATTRIBUTES, || {
        let n = AtomicUsize::new(0);
        n.store(1, SeqCst);
        attribute("step", "stored");
        let task = thread::spawn(|| attribute("step", "begun"));
        task.join().unwrap();
    });
    assert_eq!(
        seen,
        [["0.2 step=stored", "0.4 status=blocked", "1.1 step=begun"].map(str::to_owned)]
    );
}

/// A monitor that takes the stack at each store.
struct Stacks(Arc<StdMutex<Vec<String>>>);

impl Monitor for Stacks {
    fn name(&self) -> &str {
        "stacks"
    }
    fn interests(&self) -> Interests {
        Interests::SCHEDULE_POINTS | Interests::SYNC_ACCESSES
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_schedule_point(&mut self, next: &SchedulePoint, _: &mut Context<'_>) {
        self.take(next.op);
    }
    fn on_sync_var_access(&mut self, access: &SyncVarAccess, _: &mut Context<'_>) {
        self.take(access.op);
    }
}

impl Stacks {
    fn take(&self, op: SyncVarOp) {
        if op == SyncVarOp::AtomicStore {
            let stack = std::backtrace::Backtrace::force_capture().to_string();
            self.0.lock().unwrap().push(stack);
        }
    }
}

#[inline(never)]
fn stores_deep_inside(n: &AtomicUsize) -> usize {
    n.store(1, SeqCst);
    // The store is not the last call, so its caller stays on the stack.
    n.load(SeqCst)
}

#[test]
fn a_monitor_is_called_on_the_stack_of_the_task() {
    let stacks = Arc::new(StdMutex::new(Vec::new()));
    let report = explorer().monitor(Stacks(stacks.clone())).explore(|| {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| stores_deep_inside(&n));
        });
    });
    assert!(report.verdict().is_pass(), "{report}");
    let stacks = stacks.lock().unwrap();
    assert!(stacks.len() >= 2);
    for stack in &*stacks {
        assert!(stack.contains("stores_deep_inside"), "{stack}");
    }
}

#[test]
fn who_cannot_go_on_is_blocked() {
    let seen = recorded(explorer(), Interests::ATTRIBUTES, || {
        let taken = Mutex::new(());
        let held = taken.lock().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| drop(taken.lock()));
            thread::yield_now();
            drop(held);
        });
    });
    assert!(!lines_with(&seen, "1.2 status=blocked").is_empty(), "{seen:?}");
}

#[test]
fn who_could_go_on_is_preempted() {
    let two_stores = || {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| n.store(1, SeqCst));
            n.store(2, SeqCst);
            n.store(3, SeqCst);
        });
    };
    let seen = recorded(explorer(), Interests::ATTRIBUTES, two_stores);
    let preempted = |execution: &Vec<String>| {
        let lines = execution.iter().filter(|line| line.ends_with("status=preempted"));
        lines.cloned().collect::<Vec<_>>()
    };
    let mut executions: Vec<Vec<String>> = seen.iter().map(preempted).collect();
    executions.sort();
    // The other task runs last, first, or between the two stores.
    assert_eq!(
        executions,
        [
            vec![],
            vec!["0.3 status=preempted".to_owned()],
            vec!["0.4 status=preempted".to_owned()]
        ]
    );
    // The presence of a monitor changes nothing.
    let unheard = explorer().explore(two_stores);
    assert_eq!(unheard.executions(), 3);
}
