//! The critical sections of an execution, and the memory accessed in each of them. They show whether a lock has an
//! order that accesses to memory do not show.
//!
//! If each section of a lock accesses the same observed variable, the order of the sections is that of these accesses.
//! But a lock around data that cannot be observed, such as the data of a mutex, has an order that nothing else shows.
//! So have locks that are held together, because of the order in which they are taken.

use hashbrown::HashMap;
use intermezzo_engine::record::Event;
use intermezzo_engine::site::Site;
use intermezzo_engine::trace::{Lock, lock};
use intermezzo_sdk::SyncVarOp;
use std::collections::{BTreeMap, BTreeSet};

/// For each place at which a lock was taken, its sections: for each section, the places of the memory accesses in it.
pub(super) type Sections = BTreeMap<String, BTreeSet<BTreeSet<String>>>;

/// A section that a task has entered and not left.
struct Open {
    task: u32,
    lock: u32,
    taken_at: Site,
    /// The places of the memory accesses in it, by the address of the place.
    accessed: HashMap<usize, Site>,
    /// `true` if the task held another lock at the same time.
    nested: bool,
}

/// Returns the complete sections of an execution. A nested section counts as one without accesses, because its lock has
/// an order of its own. So does a failed attempt to take a lock: whether it fails depends on the lock, whatever is
/// accessed in its sections.
pub(super) fn sections(events: &[Event]) -> Sections {
    let mut open: Vec<Open> = Vec::new();
    let mut sections = Sections::new();
    for event in events {
        let of_task = open.iter_mut().filter(|section| section.task == event.task);
        if is_memory(event.op) {
            for section in of_task {
                section.accessed.insert(event.site.word(), event.site);
            }
            continue;
        }
        let released = match (event.op, lock(event.op)) {
            // The mutex that the wait releases.
            (SyncVarOp::CondvarWait, _) => event.written as u32,
            (_, Lock::Releases) => event.var,
            (SyncVarOp::LockTryFailed, _) => {
                let shown = sections.entry(event.site.to_string()).or_default();
                shown.insert(BTreeSet::new());
                continue;
            }
            (_, Lock::Takes) => {
                let mut nested = false;
                for section in of_task {
                    section.nested = true;
                    nested = true;
                }
                open.push(Open {
                    task: event.task,
                    lock: event.var,
                    taken_at: event.site,
                    accessed: HashMap::new(),
                    nested,
                });
                continue;
            }
            (_, Lock::No) => continue,
        };
        let ended = open
            .iter()
            .rposition(|section| (section.task, section.lock) == (event.task, released));
        if let Some(ended) = ended.map(|at| open.remove(at)) {
            let accessed = match ended.nested {
                true => BTreeSet::new(),
                false => ended.accessed.values().map(|site| site.to_string()).collect(),
            };
            sections
                .entry(ended.taken_at.to_string())
                .or_default()
                .insert(accessed);
        }
    }
    sections
}

fn is_memory(op: SyncVarOp) -> bool {
    use SyncVarOp::*;
    matches!(
        op,
        AtomicLoad | AtomicStore | AtomicRmw | AtomicRmwFailed | DataRead | DataWrite
    )
}
