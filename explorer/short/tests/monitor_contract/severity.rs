//! Warnings and errors, and the suggestions with them.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Explorer, Reduction, thread};
use intermezzo_sdk::{
    Context, FindingKind, Interests, Monitor, MonitorFinding, Severity, SyncVarAccess, SyncVarOp,
};

/// A monitor that warns of each store, and reports an error for each that stores more than a limit.
struct Stores {
    most: u64,
}

impl Monitor for Stores {
    fn name(&self) -> &str {
        "stores"
    }
    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        if access.op != SyncVarOp::AtomicStore {
            return;
        }
        let kind = FindingKind::Plugin("store".into());
        let report = MonitorFinding::new(kind, "a store").events([access.event]);
        if access.written > self.most {
            cx.report(report.suggest("store less"));
        } else {
            cx.report(report.warning());
        }
    }
}

fn stores() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| n.store(1, SeqCst));
        n.store(n.load(SeqCst) + 1, SeqCst);
    });
}

#[test]
fn warnings_change_nothing_but_the_list() {
    for reduction in [Reduction::None, Reduction::Dpor] {
        for jobs in [1, 2] {
            if jobs > 1 && reduction != Reduction::None {
                continue;
            }
            let explorer = || Explorer::new().program("stores").jobs(jobs).reduction(reduction);
            let unheard = explorer().explore(stores);
            let report = explorer().monitor_with(|| Stores { most: 9 }).explore(stores);
            assert!(report.verdict().is_pass(), "{report}");
            assert_eq!(report.coverage(), unheard.coverage());
            assert_eq!(
                (report.executions(), report.traces(), report.first_failure()),
                (unheard.executions(), unheard.traces(), None)
            );
            let [finding] = report.findings() else {
                panic!("{report}")
            };
            assert_eq!((finding.severity, finding.is_error()), (Severity::Warning, false));
            assert_eq!(finding.count, 2 * report.executions(), "each is counted");
            assert_eq!(finding.suggestion, None);
            let text = report.to_string();
            assert!(
                text.starts_with("warning[plugin/store]: a store\n\n[1] "),
                "{text}"
            );
            assert!(text.contains("stores passed: "), "{text}");
            let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
            assert_eq!(json["findings"][0]["severity"], "warning");
            assert_eq!(json["findings"][0].get("suggestion"), None);
        }
    }
}

#[test]
fn errors_come_first_and_stop_the_search() {
    let report = Explorer::new()
        .program("stores")
        .monitor(Stores { most: 1 })
        .explore(stores);
    assert!(report.verdict().is_fail(), "{report}");
    let found: Vec<_> = report
        .findings()
        .iter()
        .map(|finding| (finding.severity, finding.suggestion.as_deref()))
        .collect();
    assert_eq!(
        found,
        [(Severity::Error, Some("store less")), (Severity::Warning, None)]
    );
    assert_eq!(report.first_failure(), Some(report.executions()));
    let text = report.to_string();
    assert!(
        text.starts_with("error[plugin/store]: a store\n") && text.contains("\nhelp: store less\n"),
        "{text}"
    );
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!(json["findings"][0]["severity"], "error");
    assert_eq!(json["findings"][0]["suggestion"], "store less");
}

#[test]
fn what_the_engine_finds_is_an_error() {
    let report = Explorer::new().explore(|| panic!("it fails"));
    assert_eq!(report.findings()[0].severity, Severity::Error);
}
