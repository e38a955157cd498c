//! What several suites share.

#![allow(dead_code, reason = "not every suite uses all of it")]

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Report, thread};
use intermezzo_sdk::{Context, Execution, Interests, Monitor, SyncVarOp};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// The interleavings seen: for each execution, whose visible steps came in which order.
type Seen = Arc<Mutex<Vec<Vec<u32>>>>;

/// A monitor that notes each execution's interleaving.
pub(crate) struct Collect(Seen);

impl Collect {
    /// A monitor, and what it will have seen.
    pub(crate) fn new() -> (Collect, Seen) {
        let seen = Seen::default();
        (Collect(seen.clone()), seen)
    }

    /// A monitor that notes what it sees there too.
    pub(crate) fn into(seen: Seen) -> Collect {
        Collect(seen)
    }
}

impl Monitor for Collect {
    fn name(&self) -> &str {
        "collect"
    }
    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, _: &mut Context<'_>) {
        use SyncVarOp::{Choice, TaskBegin, TaskEnd, TaskFork, TaskJoin};
        let no_step = |op| matches!(op, Choice | TaskFork | TaskBegin | TaskEnd | TaskJoin);
        let steps = execution.accesses.iter().filter(|access| !no_step(access.op));
        self.0
            .lock()
            .unwrap()
            .push(steps.map(|access| access.event.task.0).collect());
    }
}

/// How often each interleaving was seen.
pub(crate) fn counted(seen: &[Vec<u32>]) -> BTreeMap<Vec<u32>, u32> {
    let mut counts = BTreeMap::new();
    for path in seen {
        *counts.entry(path.clone()).or_default() += 1;
    }
    counts
}

/// The report without what may differ: the time, the estimate, and the traces where several workers ran some beyond
/// the first finding.
pub(crate) fn told(report: &Report) -> String {
    let mut told: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    let map = told.as_object_mut().unwrap();
    for key in ["elapsed_seconds", "estimate", "traces"] {
        map.remove(key);
    }
    told.to_string()
}

/// Two increments of each of three tasks.
pub(crate) fn counter() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                n.fetch_add(1, SeqCst);
                n.fetch_add(1, SeqCst);
            });
        }
    });
    assert_eq!(n.into_inner(), 6);
}

/// A directory that is gone at the end.
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    /// One of its own for whoever asks: tests run beside each other, some with the same name for theirs.
    pub(crate) fn new(name: &str) -> Directory {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let (process, made) = (std::process::id(), MADE.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(format!("intermezzo-checkpoints-{name}-{process}-{made}"));
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.join("search")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
