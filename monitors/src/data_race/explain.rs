//! The suggestion of a data race: the stronger orderings with which an atomic would have ordered the two accesses.
//!
//! The execution is examined once more from the first access on. What is known here is not an action but the *way* on
//! which knowledge of that access travels: the operations on it that would have to be stronger. Of several ways the
//! one with the fewest such operations counts, and of several reads of one variable by a task the last. If there is
//! none, the last publication of the first access's task that the other task has read is named: an access before it
//! would be ordered.

use intermezzo_sdk::{
    Context, EventId, Knowledge, MemoryOrder, Side, SyncVarAccess, SyncVarOp, Synchronisation, TaskId,
};
use std::cmp::Ordering;

/// The operations on a way that lack the ordering it needs, first to last; `None` where no way leads.
#[derive(Clone, Debug, Default)]
struct Way(Option<Vec<Missing>>);

#[derive(Clone, Copy, Debug)]
struct Missing {
    access: SyncVarAccess,
    side: Side,
}

impl Way {
    /// `true` if the last operations of both are of one task on one variable, and this one's comes later. The other one may
    /// be the load of a lock before it is taken, whose value is not the one that lets the task in.
    fn ends_later_than(&self, other: &Way) -> bool {
        let last = |way: &Way| Some(way.0.as_ref()?.last()?.access);
        let (Some(own), Some(others)) = (last(self), last(other)) else {
            return false;
        };
        own.var == others.var && own.event.task == others.event.task && own.event.index > others.event.index
    }
}

impl Knowledge for Way {
    fn join(&mut self, other: &Way) {
        let length = |way: &Way| way.0.as_ref().map_or(usize::MAX, Vec::len);
        let is_better = match length(other).cmp(&length(self)) {
            Ordering::Less => true,
            Ordering::Equal => other.ends_later_than(self),
            Ordering::Greater => false,
        };
        if is_better {
            self.clone_from(other);
        }
    }

    fn forget(&mut self) {
        self.0 = None;
    }

    /// `false`: a way that is known may be shorter than one that is given.
    fn covers(&self, _: EventId) -> bool {
        false
    }

    fn if_it_did(&self, side: Side, access: &SyncVarAccess) -> Option<Way> {
        let mut missing = self.0.clone()?;
        missing.push(Missing {
            access: *access,
            side,
        });
        Some(Way(Some(missing)))
    }
}

/// The suggestion where no atomic leads from one access to the other.
const NOTHING: &str = "no synchronisation leads from one to the other: a lock that both hold, a join, or a store with \
                       `Release` after the first that the other's task reads with `Acquire` would order them";

/// Returns what would order an access before the actions of task `later` that follow these events of the execution.
/// `known_by` is the first event of the access's own task by which others could learn of it.
pub(super) fn suggestion(
    known_by: EventId,
    later: TaskId,
    events: &[SyncVarAccess],
    cx: &Context<'_>,
) -> String {
    let mut ways = Synchronisation::<Way>::default();
    for access in events {
        let EventId { task, index } = access.event;
        if task == known_by.task && index >= known_by.index {
            *ways.known(task) = Way(Some(Vec::new()));
        }
        ways.observe(access);
    }
    match &ways.known(later).0 {
        Some(missing) if !missing.is_empty() => stronger(missing, cx),
        _ => too_late(known_by, later, events, cx).unwrap_or_else(|| NOTHING.into()),
    }
}

/// The index of the last event of a task that is known.
#[derive(Clone, Debug, Default)]
struct Newest(Option<u32>);

impl Knowledge for Newest {
    fn join(&mut self, other: &Newest) {
        self.0 = self.0.max(other.0);
    }

    fn forget(&mut self) {
        self.0 = None;
    }

    fn covers(&self, event: EventId) -> bool {
        self.0 >= Some(event.index)
    }
}

/// Returns the advice to make an access before a releasing store instead of after it, if the other task has read that
/// store.
fn too_late(known_by: EventId, later: TaskId, events: &[SyncVarAccess], cx: &Context<'_>) -> Option<String> {
    let mut known = Synchronisation::<Newest>::default();
    for access in events {
        let EventId { task, index } = access.event;
        if task == known_by.task {
            *known.known(task) = Newest(Some(index));
        }
        known.observe(access);
    }
    let index = known.known(later).0.filter(|&index| index < known_by.index)?;
    let published = EventId {
        task: known_by.task,
        index,
    };
    let access = events.iter().find(|access| access.event == published)?;
    let what = match access.op {
        SyncVarOp::AtomicStore => "store",
        SyncVarOp::AtomicRmw => "read-modify-write",
        _ => return None,
    };
    let (first, later) = (cx.task_name(known_by.task), cx.task_name(later));
    Some(format!(
        "{first} makes its access only after the {what} of {} at {}, which {later} has read: made before that {what}, it \
         would be ordered",
        cx.var_name(access.var),
        cx.site_name(access.site)
    ))
}

/// Returns a text like "`Release` at the store at a.rs:1:2 (now `Relaxed`) and .. would order them".
fn stronger(missing: &[Missing], cx: &Context<'_>) -> String {
    let mut changes: Vec<(SyncVarAccess, MemoryOrder)> = Vec::new();
    for Missing { access, side } in missing {
        let needed = match side {
            Side::Acquire => MemoryOrder::Acquire,
            Side::Release => MemoryOrder::Release,
        };
        match changes.last_mut().filter(|(last, _)| last.event == access.event) {
            Some((_, order)) => *order = order.join(needed),
            None => changes.push((*access, access.order.join(needed))),
        }
    }
    let words = changes.iter().map(|(access, order)| {
        let what = match access.op {
            SyncVarOp::AtomicStore => "the store",
            SyncVarOp::AtomicLoad => "the load",
            SyncVarOp::AtomicRmwFailed => "a failure of the compare-exchange",
            _ => "the read-modify-write",
        };
        format!(
            "`{order:?}` at {what} of {} at {} (now `{:?}`)",
            cx.var_name(access.var),
            cx.site_name(access.site),
            access.order
        )
    });
    let words: Vec<String> = words.collect();
    format!("{} would order them", words.join(", and "))
}
