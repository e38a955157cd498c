//! Regions of a test in which a task is not preempted, or preferably is.

use intermezzo_engine::runtime::Engine;

/// Runs a closure with preemptions off: inside an exploration, schedules are left out in which the calling task is
/// preempted right before an operation of `body`.
///
/// If the task has to wait, yields or ends, other tasks continue as usual. Regions nest, and the innermost one counts.
/// Each belongs to the task that entered it, and not to tasks created inside. Leaving by a panic leaves the region. The
/// report of an exploration that left schedules out says so. Searches with a partial-order reduction ignore regions,
/// and say so.
///
/// Use it for code that is known to be right, or for the parts of a test that only set it up.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::{Explorer, preemptions_off, sync::atomic::{AtomicUsize, Ordering::SeqCst}, thread};
///
/// let report = Explorer::new().explore(|| {
///     let n = AtomicUsize::new(0);
///     thread::scope(|s| {
///         for _ in 0..2 {
///             s.spawn(|| preemptions_off(|| n.store(n.load(SeqCst) + 1, SeqCst)));
///         }
///     });
///     assert_eq!(n.load(SeqCst), 2);
/// });
/// assert!(report.verdict().is_pass(), "{report}");
/// ```
pub fn preemptions_off<R>(body: impl FnOnce() -> R) -> R {
    within(false, body)
}

/// Runs a closure with preemptions on, inside a region where they are off or outside the scope that the settings give.
pub fn preemptions_on<R>(body: impl FnOnce() -> R) -> R {
    within(true, body)
}

/// Runs a closure in which preemptions are preferred: `strategy = "best-first(preferred)"` first runs the executions that
/// preempt the calling task right before an operation of `body`.
///
/// Other searches ignore it, and so does every report: it decides only the order of executions. Such regions belong to
/// the task that entered them, as those of [`preemptions_off`] do.
///
/// Use it for code that is suspect, in a test that has more executions than there is time for.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::{Explorer, preemptions_preferred, sync::atomic::{AtomicUsize, Ordering::SeqCst}, thread};
///
/// let report = Explorer::new().set("strategy", "best-first(preferred)").explore(|| {
///     let n = AtomicUsize::new(0);
///     thread::scope(|s| {
///         for _ in 0..2 {
///             s.spawn(|| preemptions_preferred(|| n.store(n.load(SeqCst) + 1, SeqCst)));
///         }
///     });
///     assert_eq!(n.load(SeqCst), 2);
/// });
/// assert!(!report.verdict().is_pass(), "{report}");
/// ```
pub fn preemptions_preferred<R>(body: impl FnOnce() -> R) -> R {
    let _region = Engine::current().map(|engine| Preferred {
        task: engine.task(),
        before: engine.enter_preferred(),
    });
    body()
}

fn within<R>(allowed: bool, body: impl FnOnce() -> R) -> R {
    let _region = Engine::current().map(|engine| Region {
        task: engine.task(),
        before: engine.enter_region(allowed),
    });
    body()
}

/// A guard of a region that a task is in.
struct Region {
    task: u32,
    before: Option<bool>,
}

impl Drop for Region {
    fn drop(&mut self) {
        if let Some(engine) = Engine::current() {
            engine.leave_region(self.task, self.before);
        }
    }
}

/// A guard of a region in which preemptions are preferred.
struct Preferred {
    task: u32,
    before: bool,
}

impl Drop for Preferred {
    fn drop(&mut self) {
        if let Some(engine) = Engine::current() {
            engine.leave_preferred(self.task, self.before);
        }
    }
}
