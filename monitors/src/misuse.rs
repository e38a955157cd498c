//! Locks and condition variables used in ways that cannot work, or that often do not.
//!
//! **Source.** The documentation of `std::sync::Condvar` and `Mutex`; there is no paper.
//!
//! **What is computed.** Each execution is judged by itself.
//! - A condition variable is used with two mutexes (error): `std` may panic.
//! - A lock is released by a task that does not hold it (error). `std`'s guards make that impossible; other locks may
//!   allow it.
//! - A lock is held while its task waits for something unrelated to the lock, as a warning: `park`, `sleep`, `join`,
//!   receiving from a channel, a barrier, or a wait on a condition variable with *another* lock. `held=false`
//!   switches it off.
//! - A wait outside a loop, as a warning. `loops=false` switches it off. The monitor cannot see the loop, but it sees
//!   that the wake-up was spurious and that no task has held the mutex since the wait began. So the guarded state is
//!   unchanged. If the task then releases the mutex without waiting again, and without reading anything else (such as
//!   an atomic) on which the condition might depend, it has not checked the condition.
//! - A task takes a read lock of a reader-writer lock while it holds one, and another task may be waiting to write
//!   (error). On most systems `std` admits no reader while a writer waits, so both wait for ever. `reads=false`
//!   switches it off. The writer need only be *able* to wait: its actions before it requested the lock do not have to
//!   come after the second read lock.
//!
//! **False positives**: a wait with a time limit that only serves as a pause, and a loop that ends after a fixed
//! number of rounds.
//!
//! **Misses.** Waits outside a loop, if the environment causes no spurious wake-up. Notifications without the mutex
//! are not reported: they are common, and often correct.
//!
//! **Reduction compatible**: the holders of each lock, and the actions of a task meanwhile, are the same on all
//! executions of a trace.

use crate::arguments::{self, Argument, SWITCH, switch};
use crate::held::{Change, Held, HeldLocks};
use intermezzo_sdk::{
    Context, EventId, Execution, FindingKind, Interests, Monitor, MonitorFinding, SiteId, SyncVar,
    SyncVarAccess, SyncVarOp, SyncVarOps, TaskId,
};
use std::collections::{BTreeMap, BTreeSet};

const NAME: &str = "misuse";

const ARGUMENTS: [Argument<Misuses>; 3] = [
    Argument {
        name: "held",
        values: SWITCH,
        set: |to, value| switch(&mut to.held_wanted, value),
    },
    Argument {
        name: "loops",
        values: SWITCH,
        set: |to, value| switch(&mut to.loops, value),
    },
    Argument {
        name: "reads",
        values: SWITCH,
        set: |to, value| switch(&mut to.reads, value),
    },
];

/// Finds locks and condition variables used in ways that cannot work. See the [module](self).
#[derive(Debug)]
pub struct Misuses {
    held_wanted: bool,
    loops: bool,
    reads: bool,
    held: HeldLocks,
    second_reads: Vec<SecondRead>,
    /// The first mutex of each condition variable, with event and place.
    mutexes: BTreeMap<SyncVar, (SyncVar, EventId, SiteId)>,
    waits: BTreeMap<TaskId, Wait>,
    /// The messages of the current execution.
    told: BTreeSet<String>,
}

/// A read lock that was taken by a task that already held one.
#[derive(Clone, Copy, Debug)]
struct SecondRead {
    lock: SyncVar,
    first: (EventId, SiteId),
    second: (EventId, SiteId),
}

/// A wait on a condition variable, until its task checks the condition again.
#[derive(Debug)]
struct Wait {
    mutex: SyncVar,
    /// The event and place where it began.
    event: EventId,
    site: SiteId,
    condvar: SyncVar,
    state: WaitState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitState {
    /// The task waits.
    Waiting,
    /// It was woken spuriously, and has not taken the mutex yet.
    Woken,
    /// It holds the mutex, and the condition is unchanged.
    Back,
}

impl Default for Misuses {
    fn default() -> Self {
        Misuses::new()
    }
}

impl Misuses {
    /// Creates a monitor that reports all of these.
    pub fn new() -> Misuses {
        Misuses {
            held_wanted: true,
            loops: true,
            reads: true,
            held: HeldLocks::default(),
            second_reads: Vec::new(),
            mutexes: BTreeMap::new(),
            waits: BTreeMap::new(),
            told: BTreeSet::new(),
        }
    }

    /// Creates the monitor with arguments: `held=false`, `loops=false`, `reads=false`.
    ///
    /// # Errors
    /// If there is no such argument, or it cannot have that value.
    pub fn with_arguments(arguments: &str) -> Result<Misuses, String> {
        arguments::with(Misuses::new(), NAME, &ARGUMENTS, arguments)
    }

    /// Reports this once in an execution.
    fn tell(&mut self, report: MonitorFinding, cx: &mut Context<'_>) {
        if self.told.insert(report.message.clone()) {
            cx.report(report);
        }
    }

    fn begin_wait(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        let mutex = access.other_var();
        let place = (mutex, access.event, access.site);
        let (first, event, site) = *self.mutexes.entry(access.var).or_insert(place);
        if first != mutex {
            let message = format!(
                "{} is used with two mutexes: with {} at {}, and with {} at {}",
                cx.var_name(access.var),
                cx.var_name(first),
                cx.site_name(site),
                cx.var_name(mutex),
                cx.site_name(access.site),
            );
            let report = MonitorFinding::new(FindingKind::Misuse, message).events([access.event, event]);
            self.tell(
                report.suggest("give each mutex a condition variable of its own"),
                cx,
            );
        }
        let wait = Wait {
            mutex,
            event: access.event,
            site: access.site,
            condvar: access.var,
            state: WaitState::Waiting,
        };
        self.waits.insert(access.event.task, wait);
    }

    /// Updates the current waits after this operation.
    fn follow_waits(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        use SyncVarOp::*;
        let task = access.event.task;
        // Another task that takes the mutex may change the guarded state.
        if matches!(access.op, LockAcquire | LockTryAcquire) {
            self.waits
                .retain(|waiter, wait| *waiter == task || wait.mutex != access.var);
        }
        let Some(wait) = self.waits.get_mut(&task) else {
            return;
        };
        let mutex = access.var == wait.mutex;
        match (wait.state, access.op) {
            (WaitState::Waiting, CondvarWake) if access.read == 1 => wait.state = WaitState::Woken,
            (WaitState::Woken, LockAcquire) if mutex => wait.state = WaitState::Back,
            (WaitState::Back, LockRelease) if mutex => {
                let Wait {
                    event, site, condvar, ..
                } = *wait;
                self.waits.remove(&task);
                self.tell_no_loop(condvar, [access.event, event], site, cx);
            }
            // Nothing on which a condition might depend.
            (WaitState::Back, Yield | Fence | Sleep | NotifyOne | NotifyAll) => {}
            _ => {
                self.waits.remove(&task);
            }
        }
    }

    fn tell_no_loop(&mut self, condvar: SyncVar, events: [EventId; 2], site: SiteId, cx: &mut Context<'_>) {
        let message = format!(
            "{} continues after a wait on {} at {} that ended without a notification, although its condition \
             cannot have changed",
            cx.task_name(events[0].task),
            cx.var_name(condvar),
            cx.site_name(site),
        );
        let report = MonitorFinding::new(FindingKind::Misuse, message)
            .warning()
            .events(events);
        self.tell(report.suggest("wait in a loop, or with `wait_while`"), cx);
    }

    /// Reports that the task waits for something while it holds these locks.
    fn tell_held(&mut self, access: &SyncVarAccess, held: &[Held], cx: &mut Context<'_>) {
        for held in held {
            let message = format!(
                "{} holds {} (taken at {}) while it waits at {} ({})",
                cx.task_name(access.event.task),
                cx.var_name(held.lock),
                cx.site_name(held.site),
                cx.site_name(access.site),
                access.op,
            );
            let report = MonitorFinding::new(FindingKind::Misuse, message).warning();
            self.tell(
                report
                    .events([access.event, held.event])
                    .suggest("drop the guard before the wait"),
                cx,
            );
        }
    }

    /// Follows acquisitions of read locks and write locks.
    fn follow_reads(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        let task = access.event.task;
        if access.op == SyncVarOp::SharedAcquire {
            let mut held = self.held.of(task).iter();
            let first = held.find(|held| held.lock == access.var && held.shared);
            self.second_reads.extend(first.map(|first| SecondRead {
                lock: access.var,
                first: (first.event, first.site),
                second: (access.event, access.site),
            }));
            return;
        }
        let EventId { task, index } = access.event;
        let before = EventId {
            task,
            index: index - 1,
        };
        for read in self.second_reads.clone() {
            let (first, second) = (read.first, read.second);
            if read.lock != access.var || second.0.task == task || cx.happens_before(second.0, before) {
                continue;
            }
            let message = format!(
                "{} takes a read lock on {} at {} while it already holds one, taken at {}: if {} requests the write lock in \
                 between, at {}, both may wait for ever",
                cx.task_name(second.0.task),
                cx.var_name(read.lock),
                cx.site_name(second.1),
                cx.site_name(first.1),
                cx.task_name(task),
                cx.site_name(access.site),
            );
            let report =
                MonitorFinding::new(FindingKind::Misuse, message).events([first.0, second.0, access.event]);
            self.tell(
                report
                    .suggest("take the read lock once and pass on the guard, or drop the first guard before"),
                cx,
            );
        }
    }

    fn tell_not_held(&mut self, access: &SyncVarAccess, lock: SyncVar, cx: &mut Context<'_>) {
        let owner = self.held.owner(lock);
        let whose = owner.map_or_else(
            || "no task holds it".into(),
            |owner| format!("{} holds it", cx.task_name(owner)),
        );
        let message = format!(
            "{} releases {} at {}, but does not hold it: {whose}",
            cx.task_name(access.event.task),
            cx.var_name(lock),
            cx.site_name(access.site),
        );
        let report = MonitorFinding::new(FindingKind::Misuse, message).events([access.event]);
        self.tell(report.suggest("release the lock in the task that took it"), cx);
    }
}

/// The operations on locks: without any of them there is nothing to find.
const ON_LOCKS: SyncVarOps = SyncVarOps::of(&[
    SyncVarOp::LockAcquire,
    SyncVarOp::LockTryAcquire,
    SyncVarOp::LockRelease,
    SyncVarOp::SharedAcquire,
    SyncVarOp::SharedTryAcquire,
    SyncVarOp::SharedRelease,
    SyncVarOp::CondvarWait,
]);

/// `true` if the operation matters regardless of the operations before it.
#[inline]
fn concerns(op: SyncVarOp) -> bool {
    use SyncVarOp::*;
    matches!(
        op,
        LockAcquire
            | LockTryAcquire
            | LockRelease
            | SharedAcquire
            | SharedTryAcquire
            | SharedRelease
            | CondvarWait
            | Park
            | Sleep
            | TaskJoin
            | ChannelReceive
            | BarrierArrive
    )
}

impl Misuses {
    /// Processes the next operation of the execution.
    fn judge(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        use SyncVarOp::*;
        if self.loops {
            self.follow_waits(access, cx);
        }
        let reads = access.op == SharedAcquire || access.op == LockAcquire && !self.second_reads.is_empty();
        if reads && self.reads {
            self.follow_reads(access, cx);
        }
        if let Change::NotHeld(lock) = self.held.add(access) {
            self.tell_not_held(access, lock, cx);
        }
        if access.op == CondvarWait {
            self.begin_wait(access, cx);
        }
        let waits = matches!(
            access.op,
            Park | Sleep | TaskJoin | ChannelReceive | BarrierArrive | CondvarWait
        );
        if waits && self.held_wanted {
            let held = self.held.of(access.event.task).to_vec();
            self.tell_held(access, &held, cx);
        }
    }
}

impl Monitor for Misuses {
    fn name(&self) -> &str {
        NAME
    }

    fn interests(&self) -> Interests {
        // An execution is judged when it is over.
        Interests::NONE
    }

    fn reduction_compatible(&self) -> bool {
        true
    }

    fn follows_stale_reads(&self) -> bool {
        true
    }

    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        if !cx.ops().intersects(ON_LOCKS) {
            return;
        }
        for access in execution.accesses {
            if concerns(access.op) || !self.waits.is_empty() {
                self.judge(access, cx);
            }
        }
        self.held.clear();
        self.second_reads.clear();
        self.mutexes.clear();
        self.waits.clear();
        self.told.clear();
    }
}
