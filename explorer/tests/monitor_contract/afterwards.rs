//! A monitor that receives plain memory events after the execution receives the same ones as a monitor that receives
//! them at once.

use intermezzo_explorer::cell::UnsafeCell;
use intermezzo_explorer::sync::Arc;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Environment, Explorer, thread};
use intermezzo_sdk::{
    Allocation, Context, DataVarAccess, Execution, Interests, MemoryDeed, MemoryEvent, Monitor, Release,
    SiteId,
};
use std::sync::{Arc as StdArc, Mutex};

/// The memory events received, execution by execution.
type Heard = StdArc<Mutex<Vec<Vec<MemoryEvent>>>>;

struct Hearing {
    heard: Heard,
    afterwards: bool,
    ended: bool,
}

impl Hearing {
    fn hear(&mut self, what: MemoryDeed, cx: &Context<'_>) {
        assert!(!self.afterwards, "it is not told at once");
        let events = cx.accesses().len();
        self.add(&[MemoryEvent { events, what }]);
    }

    fn add(&mut self, memory: &[MemoryEvent]) {
        assert!(!self.ended, "the end comes last");
        let mut heard = self.heard.lock().unwrap();
        let heard = heard.last_mut().unwrap();
        for event in memory {
            heard.push(without_site(*event));
        }
    }
}

/// Removes source places, which are numbered in the order in which they are met. That order differs if all events come
/// at the end.
fn without_site(mut event: MemoryEvent) -> MemoryEvent {
    match &mut event.what {
        MemoryDeed::Access(access) => access.site = SiteId(0),
        MemoryDeed::Allocation(allocation) => allocation.site = SiteId(0),
        MemoryDeed::Release(release) => release.site = SiteId(0),
    }
    event
}

impl Monitor for Hearing {
    fn name(&self) -> &str {
        "hearing"
    }
    fn interests(&self) -> Interests {
        Interests::DATA_ACCESSES | Interests::ALLOCATIONS
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn memory_afterwards(&self) -> bool {
        self.afterwards
    }
    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        self.ended = false;
        self.heard.lock().unwrap().push(Vec::new());
    }
    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
        self.hear(MemoryDeed::Access(*access), cx);
    }
    fn on_allocation(&mut self, allocation: &Allocation, cx: &mut Context<'_>) {
        self.hear(MemoryDeed::Allocation(*allocation), cx);
    }
    fn on_release(&mut self, release: &Release, cx: &mut Context<'_>) {
        self.hear(MemoryDeed::Release(*release), cx);
    }
    fn on_memory(&mut self, memory: &[MemoryEvent], _: &mut Context<'_>) {
        assert!(self.afterwards, "it is told at once");
        self.add(memory);
    }
    fn on_execution_end(&mut self, _: &Execution<'_>, _: &mut Context<'_>) {
        self.ended = true;
    }
}

struct Shared {
    cell: UnsafeCell<usize>,
    ready: AtomicUsize,
}

// SAFETY: the cell is read only once `ready` says so.
unsafe impl Sync for Shared {}

/// Accesses a cell `accesses` times before another task reads it.
fn publish(accesses: usize) {
    let shared = Arc::new(Shared {
        cell: UnsafeCell::new(0),
        ready: AtomicUsize::new(0),
    });
    let other = Arc::clone(&shared);
    let reader = thread::spawn(move || {
        if other.ready.load(SeqCst) == 1 {
            // SAFETY: it has been written, and is not written any more.
            other.cell.with(|at| unsafe { *at });
        }
    });
    for number in 0..accesses {
        // SAFETY: no other task reads it yet.
        shared.cell.with_mut(|at| unsafe { *at = number });
    }
    shared.ready.store(1, SeqCst);
    reader.join().unwrap();
}

/// Returns the events that each of these monitors received.
fn heard(afterwards: &[bool], accesses: usize) -> Vec<Vec<Vec<MemoryEvent>>> {
    let heard: Vec<Heard> = afterwards.iter().map(|_| Heard::default()).collect();
    let mut explorer = Explorer::new().environment(Environment::calm());
    for (heard, &afterwards) in heard.iter().zip(afterwards) {
        explorer = explorer.monitor(Hearing {
            heard: heard.clone(),
            afterwards,
            ended: true,
        });
    }
    let report = explorer.explore(|| publish(accesses));
    assert!(report.verdict().is_pass(), "{report}");
    let executions = report.executions() as usize;
    let heard: Vec<_> = heard
        .iter()
        .map(|heard| std::mem::take(&mut *heard.lock().unwrap()))
        .collect();
    assert!(heard.iter().all(|heard| heard.len() == executions), "{report}");
    heard
}

#[test]
fn a_monitor_that_is_told_afterwards_hears_the_same() {
    let alone = heard(&[false], 3);
    assert!(alone[0].iter().all(|memory| memory.len() >= 5));
    assert_eq!(heard(&[true], 3), alone);
    let both = heard(&[true, false, true], 3);
    assert!(both.iter().all(|one| *one == alone[0]));
}

/// There are more events than are kept: they arrive in several pieces.
#[test]
fn what_is_kept_for_later_is_bounded() {
    let alone = heard(&[false], 70_000);
    assert!(alone[0].iter().all(|memory| memory.len() > 70_000));
    assert_eq!(heard(&[true], 70_000), alone);
}
