//! Queries of monitors about an execution: enabled tasks, and happens-before.

use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use intermezzo_explorer::{Environment, Explorer, thread};
use intermezzo_sdk::{
    Context, EventId, Execution, Interests, Monitor, SyncVarAccess, SyncVarOp, TaskId, VectorClock,
};
use std::sync::{Arc, Mutex as StdMutex};

/// The answers to the queries at the end of an execution.
#[derive(Clone, Debug, Default)]
struct Asked {
    accesses: Vec<SyncVarAccess>,
    enabled: Vec<Option<Vec<TaskId>>>,
    disabled: Vec<Option<Vec<TaskId>>>,
    /// For each event, those that come before it.
    before: Vec<Vec<EventId>>,
    clocks: Vec<VectorClock>,
}

/// A monitor that asks every query.
struct Asking(Arc<StdMutex<Vec<Asked>>>, Interests);

impl Monitor for Asking {
    fn name(&self) -> &str {
        "asking"
    }
    fn interests(&self) -> Interests {
        self.1
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        // The answer is the same at every moment as at the end.
        assert_eq!(cx.accesses().last(), Some(access));
        assert!(cx.clock(access.event).unwrap().knows(access.event));
        let step = cx.accesses().len() - 1;
        assert!(cx.enabled_at(step).is_some() && cx.enabled_at(step + 1).is_none());
        assert!(cx.happens_before(access.event, access.event) == (access.event.index == 0));
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        let accesses = execution.accesses.to_vec();
        let steps = 0..accesses.len();
        let ids: Vec<EventId> = accesses.iter().map(|access| access.event).collect();
        let mut before = Vec::new();
        for &later in &ids {
            let comes = |earlier: &EventId, cx: &mut Context<'_>| cx.happens_before(*earlier, later);
            before.push(ids.iter().copied().filter(|earlier| comes(earlier, cx)).collect());
        }
        let asked = Asked {
            enabled: steps.clone().map(|step| cx.enabled_at(step)).collect(),
            disabled: steps.map(|step| cx.disabled_at(step)).collect(),
            before,
            clocks: ids.iter().map(|&id| cx.clock(id).unwrap().clone()).collect(),
            accesses,
        };
        self.0.lock().unwrap().push(asked);
    }
}

fn asked(interests: Interests, test: impl Fn() + Send + Sync) -> Vec<Asked> {
    let asked = Arc::default();
    let report = Explorer::new()
        .environment(Environment::calm())
        .monitor(Asking(Arc::clone(&asked), interests))
        .explore(test);
    assert!(report.verdict().is_pass(), "{report}");
    Arc::into_inner(asked).unwrap().into_inner().unwrap()
}

fn locks() {
    let n = Mutex::new(0);
    let relaxed = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| *n.lock().unwrap() += 1);
        relaxed.store(1, Relaxed);
        *n.lock().unwrap() += 1;
    });
}

#[test]
fn who_could_have_gone() {
    let all = asked(Interests::ALL, locks);
    assert!(all.len() > 2);
    let mut waited = false;
    for execution in &all {
        for (at, access) in execution.accesses.iter().enumerate() {
            let enabled = execution.enabled[at].as_ref().unwrap();
            let disabled = execution.disabled[at].as_ref().unwrap();
            assert!(enabled.iter().all(|task| !disabled.contains(task)));
            if access.op == SyncVarOp::LockAcquire {
                assert!(enabled.contains(&access.event.task));
                assert!(!disabled.contains(&access.event.task));
            }
            let holds = access.op == SyncVarOp::LockRelease;
            waited |= holds && !disabled.is_empty();
        }
    }
    assert!(waited, "somebody waited for the mutex");
    // A monitor that does not ask for it does not pay for it.
    for execution in asked(Interests::NONE, locks) {
        assert!(
            execution
                .enabled
                .iter()
                .chain(&execution.disabled)
                .all(Option::is_none)
        );
    }
}

#[test]
fn what_came_before_what() {
    for interests in [Interests::ALL, Interests::NONE] {
        for execution in asked(interests, locks) {
            for (at, access) in execution.accesses.iter().enumerate() {
                let clock = &execution.clocks[at];
                for (other, earlier) in execution.accesses.iter().enumerate() {
                    let before = execution.before[at].contains(&earlier.event);
                    assert_eq!(before, other != at && clock.knows(earlier.event));
                    let same_task = earlier.event.task == access.event.task;
                    let same_var = earlier.var == access.var;
                    let writes = earlier.op.is_write() || access.op.is_write();
                    if same_task || same_var && writes {
                        assert_eq!(before, other < at, "{earlier:?} and {access:?}");
                    }
                    assert!(!before || other < at);
                }
            }
        }
    }
}
