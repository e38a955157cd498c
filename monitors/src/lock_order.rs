//! Lock-order cycles: deadlocks that an execution did not run into.
//!
//! **Source.** Havelund, *Using runtime analysis to guide model checking of Java programs* (SPIN 2000: Goodlock);
//! Agarwal, Wang & Stoller (PADTAD 2005) and Bensalem & Havelund (PADTAD 2005) for more than two tasks, gate locks, and tasks
//! that do not run at the same time.
//!
//! **What is computed.** Each execution is judged by itself. A *wish* is an acquisition by a task that holds other
//! locks meanwhile. A finding is a ring of wishes of different tasks, each for a lock that the next one holds, where
//! - no two of the tasks hold a lock, at the time of their wishes, that keeps the other out: a *gate* would let only
//!   one of them in. Shares of a reader-writer lock keep no other share out;
//! - no wish is ordered before another by program order and synchronisation other than locks and reference counts.
//!   This order may differ in another execution, which is then judged by itself.
//!
//! `try_lock` never waits, and is no wish; the lock that it takes is held. The lock that a task takes again after a
//! wait on a condition variable is a wish like any other.
//!
//! **Differs.** The papers keep one graph for the whole run, and take only creation and end of tasks for order.
//!
//! **Misses.** Rings through anything but locks: joins, channels, one-time initialisation. A reader that queues
//! behind a waiting writer: this monitor and the engine give shares at once. Same lock, same task: the engine finds
//! that as a deadlock.
//! **False positives** where the values that tasks read under the locks rule the deadlock out, or where something
//! else does that they would need on the way there.
//!
//! **Reduction compatible**: the wishes of a task, and their order by anything but locks, are those of the trace.

use crate::arguments::{self, Argument};
use crate::held::{Change, Held, HeldLocks};
use crate::order::TraceOrder;
use intermezzo_sdk::{
    Context, EventId, Execution, FindingKind, Interests, Monitor, MonitorFinding, Severity, SyncVar,
    SyncVarAccess, SyncVarOp, TaskId, VectorClock,
};
use std::collections::{BTreeSet, HashSet};

const NAME: &str = "lock-order";

const ARGUMENTS: [Argument<LockOrder>; 1] = [Argument {
    name: "severity",
    values: "error or warning",
    set: |to, value| {
        to.severity = match value {
            "error" => Severity::Error,
            "warning" => Severity::Warning,
            _ => return None,
        };
        Some(())
    },
}];

/// Finds cycles in the order in which locks are taken. See the [module](self).
#[derive(Debug, Default)]
pub struct LockOrder {
    severity: Severity,
    held: HeldLocks,
    order: TraceOrder,
    /// The number of events of each task that were not of locks: between two of them, its wishes are ordered alike.
    segments: Vec<u32>,
    wishes: Vec<Wish>,
    known: HashSet<(u32, Held, Vec<Held>)>,
}

/// A lock that is taken while others are held.
#[derive(Debug)]
struct Wish {
    task: TaskId,
    wanted: Held,
    held: Vec<Held>,
    /// The task's knowledge at that time, by anything but locks.
    clock: VectorClock,
}

impl Wish {
    /// Returns the lock of the other task that this task waits for, once both have reached their wishes.
    fn waits_for<'a>(&self, other: &'a Wish) -> Option<&'a Held> {
        other.held.iter().find(|held| held.excludes(&self.wanted))
    }

    /// `true` if both tasks can have reached their wishes, as far as their locks and their order decide.
    fn beside(&self, other: &Wish) -> bool {
        let gate = |held: &Held| other.held.iter().any(|theirs| theirs.excludes(held));
        self.task != other.task
            && !self.held.iter().any(gate)
            && !self.clock.knows(other.wanted.event)
            && !other.clock.knows(self.wanted.event)
    }
}

impl LockOrder {
    /// Creates a monitor that reports errors.
    pub fn new() -> LockOrder {
        LockOrder::default()
    }

    /// Creates the monitor with arguments: `severity=warning` is for tests that take locks in any order for a reason.
    ///
    /// # Errors
    /// If there is no such argument, or it cannot have that value.
    pub fn with_arguments(arguments: &str) -> Result<LockOrder, String> {
        arguments::with(LockOrder::new(), NAME, &ARGUMENTS, arguments)
    }

    fn wish(&mut self, wanted: Held, held: Vec<Held>) {
        let task = wanted.event.task;
        // Repetitions differ only in the wanted event.
        let plain = |held: &Held| Held {
            event: EventId { task, index: 0 },
            ..*held
        };
        let segment = self.segments.get(task.index()).copied().unwrap_or(0);
        let key = (segment, plain(&wanted), held.iter().map(plain).collect());
        if self.known.insert(key) {
            let clock = self.order.known_to(task);
            self.wishes.push(Wish {
                task,
                wanted,
                held,
                clock,
            });
        }
    }

    fn next_segment(&mut self, task: TaskId) {
        if self.segments.len() <= task.index() {
            self.segments.resize(task.index() + 1, 0);
        }
        self.segments[task.index()] += 1;
    }

    /// Adds the rings that begin like this to `found`. The first wish is of the task with the lowest number.
    fn rings<'a>(&'a self, ring: &mut Vec<&'a Wish>, found: &mut Vec<Vec<&'a Wish>>) {
        let (first, last) = (ring[0], ring[ring.len() - 1]);
        if ring.len() > 1 && last.waits_for(first).is_some() {
            found.push(ring.clone());
        }
        for next in &self.wishes {
            if next.task > first.task
                && last.waits_for(next).is_some()
                && ring.iter().all(|wish| wish.beside(next))
            {
                ring.push(next);
                self.rings(ring, found);
                ring.pop();
            }
        }
    }
}

/// Describes the locks that each task of the ring holds and wants. The text begins with the task whose name is first,
/// so it is the same wherever the ring was entered. Names of variables do not decide the order, because they may
/// differ between executions of a trace.
fn describe(ring: &[&Wish], cx: &Context<'_>) -> String {
    let mut parts: Vec<String> = (0..ring.len())
        .map(|at| {
            let (wish, next) = (ring[at], ring[(at + 1) % ring.len()]);
            let before = ring[(at + ring.len() - 1) % ring.len()];
            let held = before
                .waits_for(wish)
                .expect("each waits for what the next one holds");
            let theirs = wish
                .waits_for(next)
                .expect("each waits for what the next one holds");
            let share = |held: &Held| if held.shared { "a share of " } else { "" };
            format!(
                "{} holds {}{} (taken at {}) and takes {}{} at {} (held by {})",
                cx.task_name(wish.task),
                share(held),
                cx.var_name(held.lock),
                cx.site_name(held.site),
                share(&wish.wanted),
                cx.var_name(theirs.lock),
                cx.site_name(wish.wanted.site),
                cx.task_name(next.task),
            )
        })
        .collect();
    let names = ring.iter().map(|wish| cx.task_name(wish.task)).enumerate();
    let first = names.min_by_key(|(_, name)| name.clone()).map_or(0, |(at, _)| at);
    parts.rotate_left(first);
    parts.join("; ")
}

impl Monitor for LockOrder {
    fn name(&self) -> &str {
        NAME
    }

    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES
    }

    fn reduction_compatible(&self) -> bool {
        true
    }

    fn follows_stale_reads(&self) -> bool {
        true
    }

    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        self.held.clear();
        self.order.clear();
        self.segments.clear();
        self.wishes.clear();
        self.known.clear();
    }

    fn on_sync_var_access(&mut self, access: &SyncVarAccess, _: &mut Context<'_>) {
        use SyncVarOp::*;
        let task = access.event.task;
        match access.op {
            LockAcquire | LockTryAcquire | LockTryFailed | LockRelease | SharedAcquire | SharedTryAcquire
            | SharedRelease | PoisonCheck | PoisonClear => self.order.add_unordered(access),
            // The task that counts down last may differ between executions of a trace.
            CountUp | CountDown | CountRead => self.order.add_unordered(access),
            // The mutex that it releases is a lock.
            CondvarWait => {
                let released = u64::from(SyncVar::NONE.0);
                self.order.add(&SyncVarAccess {
                    written: released,
                    ..*access
                });
                self.next_segment(task);
            }
            _ => {
                self.order.add(access);
                self.next_segment(task);
            }
        }
        let mut held = self.held.of(task).to_vec();
        if let Change::Taken(wanted) = self.held.add(access) {
            held.retain(|held| held.lock != wanted.lock);
            if !held.is_empty() {
                self.wish(wanted, held);
            }
        }
    }

    fn on_execution_end(&mut self, _: &Execution<'_>, cx: &mut Context<'_>) {
        let mut rings = Vec::new();
        for wish in &self.wishes {
            self.rings(&mut vec![wish], &mut rings);
        }
        let mut told = BTreeSet::new();
        for ring in rings {
            let text = describe(&ring, cx);
            if told.insert(text.clone()) {
                let report = MonitorFinding {
                    severity: self.severity,
                    ..MonitorFinding::new(FindingKind::LockOrder, format!("possible deadlock: {text}"))
                };
                let wanted = ring.iter().map(|wish| wish.wanted.event);
                let held = ring.iter().flat_map(|wish| &wish.held).map(|held| held.event);
                cx.report(
                    report
                        .events(wanted.chain(held))
                        .suggest("take these locks in the same order everywhere, or under another one"),
                );
            }
        }
    }
}
