//! Monitors that panic, that use look-alikes, and that are compatible with no reduction.

use super::recorder::Recorder;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, Mutex};
use intermezzo_explorer::{Explorer, Reduction, thread};
use intermezzo_sdk::{Context, Execution, FindingKind, Interests, Monitor, SyncVarAccess};

/// A monitor that panics at the `at`-th event, or at the shutdown.
struct Broken {
    at: usize,
    seen: usize,
}

impl Monitor for Broken {
    fn name(&self) -> &str {
        "broken"
    }
    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_execution_begin(&mut self, execution: &Execution<'_>) {
        assert!(self.at > 0 || execution.number < 2, "at the beginning");
    }
    fn on_sync_var_access(&mut self, _: &SyncVarAccess, _: &mut Context<'_>) {
        self.seen += 1;
        assert!(self.seen != self.at, "seen {} events", self.seen);
    }
    fn on_shutdown(&mut self, _: &mut Context<'_>) {
        panic!("at the end");
    }
}

fn two_tasks() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| n.store(1, SeqCst));
        n.store(2, SeqCst);
    });
}

/// A monitor that counts with look-alikes, of which its owner has one as well.
struct Counting {
    all: Arc<Mutex<usize>>,
    own: AtomicUsize,
}

impl Monitor for Counting {
    fn name(&self) -> &str {
        "counting"
    }
    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_sync_var_access(&mut self, _: &SyncVarAccess, _: &mut Context<'_>) {
        *self.all.lock().unwrap() += 1;
        self.own.fetch_add(1, SeqCst);
    }
}

/// A monitor is no task, although it is called in the middle of a step: look-alikes do what std does.
#[test]
fn look_alikes_in_a_monitor_are_stds() {
    let all = Arc::new(Mutex::new(0));
    let counting = Counting {
        all: all.clone(),
        own: AtomicUsize::new(0),
    };
    let explorer = || Explorer::new().keep_going(true);
    let report = explorer().monitor(counting).explore(two_tasks);
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(report.executions(), explorer().explore(two_tasks).executions());
    assert!(*all.lock().unwrap() > 0);
}

#[test]
fn the_panic_of_a_monitor_is_a_finding() {
    for (at, callback, says) in [
        (0, "on_execution_begin", "at the beginning"),
        (5, "on_sync_var_access", "seen 5 events"),
        (usize::MAX, "on_shutdown", "at the end"),
    ] {
        let (recorder, noted) = Recorder::new(Interests::SYNC_ACCESSES);
        let report = Explorer::new()
            .keep_going(true)
            .monitor(Broken { at, seen: 0 })
            .monitor(recorder)
            .explore(two_tasks);
        let [finding] = report.findings() else {
            panic!("{report}")
        };
        assert_eq!((&finding.kind, finding.count), (&FindingKind::Misuse, 1));
        assert_eq!(finding.monitor, "engine");
        let begins = format!(
            "the monitor `broken` panicked in {callback} at explorer/short/tests/monitor_contract/panics.rs:"
        );
        assert!(finding.message.starts_with(&begins), "{report}");
        assert!(finding.message.contains(says), "{report}");
        assert_eq!(finding.replays, None);
        // All executions were run, and the other monitor received all of them.
        assert_eq!(report.executions(), 2);
        assert_eq!(noted.lock().unwrap().len(), 2);
        assert!(noted.lock().unwrap().iter().all(|execution| execution.len() > 5));
    }
}

#[test]
fn the_panic_of_a_task_and_of_a_monitor_are_told_apart() {
    let report = Explorer::new()
        .keep_going(true)
        .monitor(Broken { at: 3, seen: 0 })
        .explore(|| {
            let n = AtomicUsize::new(0);
            n.store(1, SeqCst);
            n.store(2, SeqCst);
            panic!("the test fails");
        });
    let kinds: Vec<_> = report
        .findings()
        .iter()
        .map(|finding| finding.kind.clone())
        .collect();
    assert_eq!(kinds, [FindingKind::Panic, FindingKind::Misuse], "{report}");
    assert!(
        report.findings()[0].message.contains("the test fails"),
        "{report}"
    );
}

#[test]
fn reductions_are_off_for_whom_they_do_not_suit() {
    let explorer = |reduction| Explorer::new().reduction(reduction);
    let reduced = explorer(Reduction::Dpor).explore(two_tasks);
    assert_eq!(reduced.reduction(), "dpor");
    let (recorder, _) = Recorder::new(Interests::NONE);
    let report = explorer(Reduction::Dpor).monitor(recorder).explore(two_tasks);
    assert_eq!(report.reduction(), "none");
    let note = "reduction: off, because the monitor `recorder` distinguishes executions that it would treat as equal";
    assert_eq!(report.notes(), [note]);
    let text: Vec<String> = report.to_string().split_whitespace().map(str::to_owned).collect();
    assert!(text.join(" ").contains(note), "{report}");
    let plain = explorer(Reduction::None).explore(two_tasks);
    assert_eq!(report.executions(), plain.executions());
    assert!(plain.notes().is_empty());
}
