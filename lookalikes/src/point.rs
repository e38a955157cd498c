//! Schedule points that the test announces, and waits until all is quiet (`quiesce`).

use intermezzo_engine::runtime::{Access, Body, Engine, Gates, Object, Site, VarKind};
use intermezzo_sdk::SyncVarOp;

/// The state that tasks access at the points. Nothing is known about it, so it is one variable.
static POINTS: Points = Points(Object::new(Unknown(0)));

struct Points(Object<Unknown>);

/// It has a size, so that the static has an address of its own.
struct Unknown(#[allow(dead_code, reason = "for its size")] u8);

// SAFETY: there is no state to access; the identity is the engine's, which lets one task run at a time.
unsafe impl Sync for Points {}

impl Body for Unknown {
    const KIND: VarKind = VarKind::Points;
    fn gates(&self) -> Gates {
        0
    }
}

/// Waits until no other task can do anything: each has ended, waits for something that does not happen, or waits in a
/// loop for a change. Waits with a limit time out before that. Does nothing outside an exploration.
///
/// It is meant for tests that check the state when all is quiet, for example that a background task has drained a queue,
/// or how many tasks still wait. Everything that other tasks did happens before the return, also for the monitor
/// `data-race`. If several tasks wait in this way, they continue in any order.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::sync::{Mutex, mpsc::channel};
/// use intermezzo::{Explorer, quiesce, thread};
/// use std::sync::Arc;
///
/// let report = Explorer::new().explore(|| {
///     let (sender, receiver) = channel();
///     let sum = Arc::new(Mutex::new(0));
///     let theirs = sum.clone();
///     thread::spawn(move || receiver.iter().for_each(|n: u32| *theirs.lock().unwrap() += n));
///     sender.send(1).unwrap();
///     sender.send(2).unwrap();
///     // The other task has received both, and waits for more.
///     quiesce();
///     assert_eq!(*sum.lock().unwrap(), 3);
/// });
/// assert!(report.verdict().is_pass());
/// ```
///
/// `caching` takes over from `dpor` and `source-dpor`, and the report says so.
#[track_caller]
pub fn quiesce() {
    if let Some(engine) = Engine::current() {
        engine.quiesce(Site::caller());
    }
}

/// Lets other tasks continue here: a schedule point. Does nothing outside an exploration.
///
/// It is meant for code that shares something that intermezzo does not see, such as a file, the memory of a C library, or
/// one of std's own atomics. Call it right before each access. Nothing is known about the accesses, so no two points of
/// different tasks commute: every search tries all orders of them, even with a reduction. The call is not a yield, and
/// orders nothing for the monitor `data-race`. If the tasks share state of your own, a
/// [`Primitive`](crate::primitive::Primitive) is more precise: operations on different objects commute, and so do reads.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::{Explorer, schedule_point, thread};
/// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
///
/// let report = Explorer::new().explore(|| {
///     // One of std's own atomics, which no search sees.
///     let hits = AtomicUsize::new(0);
///     let hit = || {
///         schedule_point();
///         let before = hits.load(Relaxed);
///         schedule_point();
///         hits.store(before + 1, Relaxed);
///     };
///     thread::scope(|scope| {
///         scope.spawn(hit);
///         hit();
///     });
///     assert_eq!(hits.load(Relaxed), 2);
/// });
/// assert!(report.verdict().is_fail());
/// ```
#[track_caller]
pub fn schedule_point() {
    if let Some(engine) = Engine::current() {
        let site = Site::caller();
        let (var, _) = POINTS.0.inside(engine, site);
        let access = Access::new(SyncVarOp::SchedulePoint, var, site);
        engine.enter(access);
        engine.commit(access, 0, 0);
    }
}
