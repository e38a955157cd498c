//! Helpers that several suites share.

#![allow(dead_code, reason = "not every suite uses all of it")]

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Report, thread};
use intermezzo_sdk::{Context, Execution, Interests, Monitor, SyncVarOp};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// The interleavings seen: the task of each visible step, for each execution.
type Seen = Arc<Mutex<Vec<Vec<u32>>>>;

/// A monitor that records each execution's interleaving.
pub(crate) struct Collect(Seen);

impl Collect {
    /// Makes a monitor, and the list that it fills.
    pub(crate) fn new() -> (Collect, Seen) {
        let seen = Seen::default();
        (Collect(seen.clone()), seen)
    }

    /// Makes a monitor that fills an existing list.
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

/// Counts how often each interleaving was seen.
pub(crate) fn counted(seen: &[Vec<u32>]) -> BTreeMap<Vec<u32>, u32> {
    let mut counts = BTreeMap::new();
    for path in seen {
        *counts.entry(path.clone()).or_default() += 1;
    }
    counts
}

/// Returns the report without the parts that may differ: the time, the estimate, the traces, since several workers may
/// run some beyond the first finding, and the note on unwound tasks, since all tests of the process share the memory for
/// tasks that are not unwound.
pub(crate) fn told(report: &Report) -> String {
    let mut told: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    let map = told.as_object_mut().unwrap();
    for key in ["elapsed_seconds", "estimate", "traces"] {
        map.remove(key);
    }
    if let Some(notes) = map.get_mut("notes").and_then(|notes| notes.as_array_mut()) {
        notes.retain(|note| !note.as_str().is_some_and(|note| note.contains("were unwound")));
    }
    told.to_string()
}

/// Three tasks with two increments each.
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

/// A directory that is removed at the end.
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    /// Makes a directory. Each call makes its own: tests run concurrently, some with the same name.
    pub(crate) fn new(name: &str) -> Directory {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let (process, made) = (std::process::id(), MADE.fetch_add(1, Relaxed));
        let name = format!("intermezzo-checkpoints-{name}-{process}-{made}");
        // Each part of a search ends by syncing a checkpoint to the disk, which takes longer than the part. So a file
        // system in memory is used, if there is one.
        let in_memory = Path::new("/dev/shm").join(&name);
        let path = match std::fs::create_dir_all(&in_memory) {
            Ok(()) => in_memory,
            Err(_) => {
                let on_disk = std::env::temp_dir().join(&name);
                std::fs::create_dir_all(&on_disk).unwrap();
                on_disk
            }
        };
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
