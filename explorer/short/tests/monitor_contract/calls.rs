//! The monitor contract as the engine keeps it: the calls, their order, and the treatment of findings.

use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering, fence};
use intermezzo_explorer::{Environment, Explorer, Strategy, choose, event, thread};
use intermezzo_sdk::{
    ChoiceKind, Context, EventId, Execution, FindingKind, Interests, Monitor, MonitorFinding, PointKind,
    SchedulePoint, SyncVarAccess, SyncVarOp, TaskId, UserEvent,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex as StdMutex};

/// A monitor that reports a task that yields while it holds a lock.
#[derive(Default)]
struct YieldUnderLock {
    /// The number of locks that each task holds, and the event at which it took the last.
    held: BTreeMap<TaskId, (u32, EventId)>,
}

impl Monitor for YieldUnderLock {
    fn name(&self) -> &str {
        "yield-under-lock"
    }
    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        self.held.clear();
    }
    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        let (held, taken) = self.held.entry(access.event.task).or_insert((0, access.event));
        match access.op {
            SyncVarOp::LockAcquire => (*held, *taken) = (*held + 1, access.event),
            SyncVarOp::LockRelease => *held -= 1,
            SyncVarOp::Yield if *held > 0 => {
                let message = format!(
                    "{} yields at {} while it holds a lock",
                    cx.task_name(access.event.task),
                    cx.site_name(access.site)
                );
                let kind = FindingKind::Plugin("yield-under-lock".into());
                cx.report(MonitorFinding::new(kind, message).events([access.event, *taken]));
            }
            _ => {}
        }
    }
}

#[test]
fn a_monitors_finding_is_reported_and_replays() {
    let test = || {
        let n = Mutex::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *n.lock().unwrap() += 1);
            let mut held = n.lock().unwrap();
            *held += 1;
            if *held == 2 {
                thread::yield_now();
            }
        });
    };
    let explorer = || {
        Explorer::new()
            .program("monitors")
            .monitor(YieldUnderLock::default())
    };
    let report = explorer().explore(test);
    let [finding] = report.findings() else {
        panic!("{report}")
    };
    assert_eq!(finding.kind.as_str(), "plugin/yield-under-lock");
    assert_eq!(
        (finding.monitor.as_str(), finding.tasks.as_slice()),
        ("yield-under-lock", &["main".to_owned()][..])
    );
    assert!(
        finding
            .message
            .starts_with("main yields at explorer/short/tests/monitor_contract/calls.rs:"),
        "{report}"
    );
    for _ in 0..100 {
        let again = explorer().replay(finding.schedule.clone()).explore(test);
        assert_eq!(again.findings(), report.findings());
    }
    let unmonitored = Explorer::new().program("monitors").explore(test);
    assert!(unmonitored.verdict().is_pass(), "{unmonitored}");
}

/// A monitor that records every call, in a word.
struct Calls(Arc<StdMutex<Vec<String>>>, Interests);

impl Calls {
    fn note(&self, call: String) {
        self.0.lock().unwrap().push(call);
    }
}

impl Monitor for Calls {
    fn name(&self) -> &str {
        "calls"
    }
    fn interests(&self) -> Interests {
        self.1
    }
    fn reduction_compatible(&self) -> bool {
        false
    }
    fn on_execution_begin(&mut self, execution: &Execution<'_>) {
        assert!(execution.accesses.is_empty() && !execution.complete);
        self.note(format!("begin {}", execution.number));
    }
    fn on_schedule_point(&mut self, next: &SchedulePoint, cx: &mut Context<'_>) {
        assert!(cx.enabled().contains(&next.event.task));
        self.note(format!("before {} {}", next.event, next.op));
    }
    fn on_sync_var_access(&mut self, access: &SyncVarAccess, _: &mut Context<'_>) {
        self.note(format!("after {} {}", access.event, access.op));
    }
    fn on_user_event(&mut self, event: &UserEvent<'_>, _: &mut Context<'_>) {
        self.note(format!("user {} {}", event.after, event.text));
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, _: &mut Context<'_>) {
        self.note(format!(
            "end {} {} {}",
            execution.number,
            execution.accesses.len(),
            execution.complete
        ));
    }
    fn on_shutdown(&mut self, _: &mut Context<'_>) {
        self.note("shutdown".into());
    }
}

fn calls(interests: Interests) -> Vec<String> {
    let noted = Arc::default();
    let explorer = Explorer::new()
        .environment(Environment::calm())
        .monitor(Calls(Arc::clone(&noted), interests));
    let report = explorer.explore(|| {
        let n = AtomicUsize::new(0);
        n.store(1, Ordering::Relaxed);
        event("stored");
        thread::yield_now();
        n.load(Ordering::Acquire);
    });
    assert_eq!((report.executions(), report.verdict().is_pass()), (1, true));
    Arc::try_unwrap(noted).unwrap().into_inner().unwrap()
}

#[test]
fn calls_come_in_the_order_of_the_contract() {
    let expected = [
        "begin 1",
        "after 0.1 begin",
        "before 0.2 store",
        "after 0.2 store",
        "user 0.2 stored",
        "after 0.3 yield",
        "before 0.4 load",
        "after 0.4 load",
        "after 0.5 end",
        "end 1 5 true",
        "shutdown",
    ];
    assert_eq!(calls(Interests::ALL), expected);
    assert_eq!(
        calls(Interests::NONE),
        ["begin 1", "end 1 5 true", "shutdown"],
        "nothing else is wanted"
    );
    let points: Vec<_> = expected
        .into_iter()
        .filter(|call| !call.starts_with("after") && !call.starts_with("user"))
        .collect();
    let found = calls(Interests::SCHEDULE_POINTS);
    assert_eq!(found[..found.len() - 2], points[..points.len() - 2]);
}

/// A monitor that records the kinds of schedule points.
struct Points(Arc<StdMutex<Vec<(PointKind, SyncVarOp, EventId)>>>);

impl Monitor for Points {
    fn name(&self) -> &str {
        "points"
    }
    fn interests(&self) -> Interests {
        Interests::SCHEDULE_POINTS
    }
    fn reduction_compatible(&self) -> bool {
        false
    }
    fn on_schedule_point(&mut self, next: &SchedulePoint, _: &mut Context<'_>) {
        self.0.lock().unwrap().push((next.kind, next.op, next.event));
    }
}

#[test]
fn a_choice_is_a_schedule_point() {
    let seen = Arc::new(StdMutex::new(Vec::new()));
    let explorer = Explorer::new().environment(Environment::calm());
    let report = explorer.monitor(Points(seen.clone())).explore(|| {
        let n = AtomicUsize::new(choose(2));
        n.load(Ordering::SeqCst);
    });
    assert_eq!(report.executions(), 2, "{report}");
    let event = |index| EventId {
        task: TaskId(0),
        index,
    };
    let execution = [
        (PointKind::Choice, SyncVarOp::Choice, event(2)),
        (PointKind::Access, SyncVarOp::AtomicLoad, event(3)),
    ];
    assert_eq!(*seen.lock().unwrap(), [execution, execution].concat());
}

/// Another task could not change what they do, so no schedule point announces them.
#[test]
fn operations_of_tasks_and_fences_have_no_schedule_point() {
    let seen = Arc::new(StdMutex::new(Vec::new()));
    let explorer = Explorer::new().environment(Environment::calm());
    let report = explorer.monitor(Points(seen.clone())).explore(|| {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| n.store(1, Ordering::SeqCst));
        });
        fence(Ordering::SeqCst);
        n.load(Ordering::SeqCst);
    });
    assert_eq!(report.executions(), 1, "{report}");
    let ops: Vec<SyncVarOp> = seen.lock().unwrap().iter().map(|(_, op, _)| *op).collect();
    assert_eq!(ops, [SyncVarOp::AtomicStore, SyncVarOp::AtomicLoad]);
}

/// A monitor does not receive executions that are run for findings of others. The last call of all comes nevertheless.
#[test]
fn monitors_are_shut_down_after_executions_that_they_did_not_hear() {
    let calls = Arc::new(StdMutex::new(Vec::new()));
    let explorer = Explorer::new().keep_going(true).environment(Environment::calm());
    let report = explorer
        .monitor(Calls(calls.clone(), Interests::SYNC_ACCESSES))
        .explore(|| {
            let n = AtomicUsize::new(0);
            thread::scope(|scope| {
                scope.spawn(|| n.store(1, Ordering::SeqCst));
                if n.load(Ordering::SeqCst) == 0 {
                    thread::park();
                }
                (0..10).for_each(|_| n.store(2, Ordering::SeqCst));
            });
        });
    assert_eq!(report.findings()[0].kind, FindingKind::Deadlock, "{report}");
    let last = calls.lock().unwrap().last().cloned();
    assert_eq!(last.as_deref(), Some("shutdown"));
}

/// A monitor that notes the prescribed and the repeated choices of each execution, at its beginning and its end.
struct Prefixes(Arc<StdMutex<Vec<[u64; 2]>>>);

impl Monitor for Prefixes {
    fn name(&self) -> &str {
        "prefixes"
    }
    fn interests(&self) -> Interests {
        Interests::NONE
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_execution_begin(&mut self, execution: &Execution<'_>) {
        let mut prefixes = self.0.lock().unwrap();
        prefixes.push([execution.prescribed, execution.repeated]);
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        let prefixes = self.0.lock().unwrap();
        assert_eq!(prefixes.last(), Some(&[execution.prescribed, execution.repeated]));
        assert_eq!(cx.prescribed().len() as u64, execution.prescribed);
    }
}

/// A monitor that lists the alternatives that were prescribed, at a schedule point of each execution.
struct Began(Arc<StdMutex<Vec<Vec<u32>>>>);

impl Monitor for Began {
    fn name(&self) -> &str {
        "began"
    }
    fn interests(&self) -> Interests {
        Interests::SCHEDULE_POINTS
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_schedule_point(&mut self, next: &SchedulePoint, cx: &mut Context<'_>) {
        if next.event.index == 2 {
            let prescribed = cx.prescribed();
            assert!(
                prescribed
                    .iter()
                    .all(|choice| choice.kind == ChoiceKind::Value && !choice.preempts)
            );
            let taken = prescribed.iter().map(|choice| choice.taken);
            self.0.lock().unwrap().push(taken.collect());
        }
    }
    fn on_shutdown(&mut self, cx: &mut Context<'_>) {
        assert_eq!(cx.prescribed(), []);
    }
}

#[test]
fn a_monitor_lists_the_choices_with_which_an_execution_began() {
    let began = Arc::new(StdMutex::new(Vec::new()));
    let report = Explorer::new().monitor(Began(began.clone())).explore(|| {
        choose(2);
        choose(3);
    });
    assert!(report.verdict().is_pass(), "{report}");
    let expected: [&[u32]; 6] = [&[], &[0, 1], &[0, 2], &[1], &[1, 1], &[1, 2]];
    assert_eq!(*began.lock().unwrap(), expected);
}

#[test]
fn a_monitor_hears_how_much_of_an_execution_is_a_replay() {
    let prefixes = |explorer: Explorer| {
        let heard = Arc::new(StdMutex::new(Vec::new()));
        let theirs = heard.clone();
        let report = explorer
            .monitor_with(move || Prefixes(theirs.clone()))
            .explore(|| {
                choose(2);
                choose(3);
            });
        assert!(report.verdict().is_pass(), "{report}");
        heard.lock().unwrap().clone()
    };
    // The last choice that is prescribed is another one than before; the search decides about those that follow.
    let by_depth = [[0, 0], [2, 1], [2, 1], [1, 0], [2, 1], [2, 1]];
    assert_eq!(prefixes(Explorer::new()), by_depth);
    // What is drawn is not prescribed.
    let sampled = Explorer::new().strategy(Strategy::random()).executions(3);
    assert_eq!(prefixes(sampled), [[0, 0]; 3]);
}
