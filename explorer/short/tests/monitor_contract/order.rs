//! Queries of monitors about an execution: enabled tasks, and happens-before.

use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use intermezzo_explorer::{Environment, Explorer, thread};
use intermezzo_sdk::{
    Choice, ChoiceKind, Context, EventAttribute, EventId, EventStatus, Execution, Interests, Monitor,
    SchedulePoint, SyncVarAccess, SyncVarOp, TaskId, VectorClock,
};
use std::sync::{Arc, Mutex as StdMutex};

/// The answers to the queries at the end of an execution.
#[derive(Clone, Debug, Default)]
struct Asked {
    accesses: Vec<SyncVarAccess>,
    enabled: Vec<Option<Vec<TaskId>>>,
    disabled: Vec<Option<Vec<TaskId>>>,
    held_back: Vec<Option<Vec<TaskId>>>,
    points: Vec<Option<usize>>,
    statuses: Vec<Option<EventStatus>>,
    prescribed: Vec<Choice>,
    /// The events whose schedule points were heard.
    heard_points: Vec<EventId>,
    /// For each event, those that come before it.
    before: Vec<Vec<EventId>>,
    clocks: Vec<VectorClock>,
}

/// A monitor that asks every query.
struct Asking(Arc<StdMutex<Vec<Asked>>>, Interests, Vec<EventId>);

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
    fn on_schedule_point(&mut self, next: &SchedulePoint, cx: &mut Context<'_>) {
        self.2.push(next.event);
        let status = cx.status(next.event).unwrap();
        assert!(
            matches!(status, EventStatus::Ready | EventStatus::Preempted),
            "{status:?}"
        );
        assert_eq!(cx.point_of(next.event), None);
    }
    fn on_event_attribute(&mut self, attribute: &EventAttribute<'_>, cx: &mut Context<'_>) {
        let status = cx.status(attribute.event).unwrap();
        assert_eq!(format!("{status:?}").to_lowercase(), attribute.value);
    }
    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        // The answer is the same at every moment as at the end.
        assert_eq!(cx.accesses().last(), Some(access));
        let at = |index| EventId {
            index,
            ..access.event
        };
        assert_eq!(cx.status(access.event), Some(EventStatus::Committed));
        assert_eq!(cx.status(at(0)), None);
        assert_eq!(cx.status(at(access.event.index + 2)), None);
        let absent = EventId {
            task: TaskId(99),
            index: 1,
        };
        assert_eq!((cx.status(absent), cx.point_of(absent)), (None, None));
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
            disabled: steps.clone().map(|step| cx.disabled_at(step)).collect(),
            held_back: steps.map(|step| cx.held_back_at(step)).collect(),
            points: ids.iter().map(|&id| cx.point_of(id)).collect(),
            statuses: ids.iter().map(|&id| cx.status(id)).collect(),
            prescribed: cx.prescribed(),
            heard_points: std::mem::take(&mut self.2),
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
        .monitor(Asking(Arc::clone(&asked), interests, Vec::new()))
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

/// Under fairness a task that yields again and again gives way. The alternatives of a decision are the enabled tasks
/// without those that were held back.
#[test]
fn tasks_that_fairness_held_back_are_listed() {
    let all = asked(Interests::ALL, || {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    n.fetch_add(1, Relaxed);
                    n.fetch_add(1, Relaxed);
                });
            }
            // Each round changes something, so it is not taken for a wait.
            for _ in 0..4 {
                n.fetch_add(1, Relaxed);
                thread::yield_now();
            }
        });
    });
    let mut held = 0;
    let mut compared = 0;
    for execution in &all {
        let mut alternatives = Vec::new();
        for (at, access) in execution.accesses.iter().enumerate() {
            let enabled = execution.enabled[at].as_ref().unwrap();
            let held_back = execution.held_back[at].as_ref().unwrap();
            assert!(
                held_back.iter().all(|task| enabled.contains(task)),
                "{execution:?}"
            );
            if execution.points[at].is_none() {
                assert_eq!(held_back, &[]);
                continue;
            }
            assert!(!held_back.contains(&access.event.task), "{execution:?}");
            held += held_back.len();
            let could = enabled.len() - held_back.len();
            if could > 1 {
                alternatives.push(could as u32);
            }
        }
        for (choice, could) in execution.prescribed.iter().zip(&alternatives) {
            assert_eq!((choice.kind, choice.alternatives), (ChoiceKind::Task, *could));
            compared += 1;
        }
    }
    assert!(held > 100 && compared > 500, "{held}, {compared}");
}

#[test]
fn each_schedule_point_has_a_number() {
    for execution in asked(Interests::ALL, locks) {
        let numbered = execution.points.iter().zip(&execution.accesses);
        let with_point: Vec<EventId> = numbered
            .clone()
            .filter(|(point, _)| point.is_some())
            .map(|(_, access)| access.event)
            .collect();
        assert_eq!(with_point, execution.heard_points);
        let numbers: Vec<usize> = execution.points.iter().copied().flatten().collect();
        assert_eq!(numbers, (1..=with_point.len()).collect::<Vec<_>>());
        assert!(with_point.len() < execution.accesses.len());
    }
    let without_interest = asked(Interests::NONE, locks);
    assert!(
        without_interest
            .iter()
            .flat_map(|execution| &execution.points)
            .all(Option::is_none)
    );
}

#[test]
fn events_of_rounds_that_changed_nothing_are_redundant() {
    for interests in [Interests::ALL, Interests::NONE] {
        let straight = asked(interests, locks);
        let committed = |execution: &Asked| {
            let mut statuses = execution.statuses.iter();
            statuses.all(|status| *status == Some(EventStatus::Committed))
        };
        assert!(straight.iter().all(committed));
        let all = asked(interests, || {
            let flag = AtomicUsize::new(0);
            thread::scope(|scope| {
                scope.spawn(|| flag.store(1, Relaxed));
                while flag.load(Relaxed) == 0 {
                    thread::yield_now();
                }
            });
        });
        let mut redundant = 0;
        for execution in &all {
            for (access, status) in execution.accesses.iter().zip(&execution.statuses) {
                if *status == Some(EventStatus::Redundant) {
                    assert!(
                        matches!(access.op, SyncVarOp::AtomicLoad | SyncVarOp::Yield),
                        "{access:?}"
                    );
                    assert_eq!(access.read, 0);
                    redundant += 1;
                } else {
                    assert_eq!(*status, Some(EventStatus::Committed));
                }
            }
        }
        assert!(redundant > 0);
    }
}
