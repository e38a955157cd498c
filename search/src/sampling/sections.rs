//! Critical sections of an execution, and which memory is accessed in each: whether a lock has an order of its own.
//!
//! Where each section of a lock accesses one variable that can be seen, the order of the sections is that of these
//! accesses. A lock around what cannot be seen, the data of a mutex, stands for it; and so do locks that are held together, for
//! the order in which they are taken.

use super::profile::place;
use intermezzo_engine::record::{Event, Site};
use intermezzo_engine::trace::{Lock, lock};
use intermezzo_sdk::SyncVarOp;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The sections of one lock, by the place at which it was taken: places of the memory accessed in each of them.
pub(super) type Sections = BTreeMap<String, BTreeSet<BTreeSet<String>>>;

/// A section that a task is in.
struct Open {
    task: u32,
    lock: u32,
    taken_at: Site,
    /// Places of memory accessed in it; by address.
    accessed: HashMap<usize, Site>,
    /// `true` if the task held another lock meanwhile.
    nested: bool,
}

/// Returns the sections of an execution that came to their end. One that is nested shows no memory: it stands for
/// itself. So does a try that failed: what decides it is the lock, whatever is accessed where others hold it.
pub(super) fn sections(events: &[Event]) -> Sections {
    let mut open: Vec<Open> = Vec::new();
    let mut sections = Sections::new();
    for event in events {
        let of_task = open.iter_mut().filter(|section| section.task == event.task);
        if is_memory(event.op) {
            for section in of_task {
                section.accessed.insert(address(event.site), event.site);
            }
            continue;
        }
        let released = match (event.op, lock(event.op)) {
            // The mutex that a wait releases.
            (SyncVarOp::CondvarWait, _) => event.written as u32,
            (_, Lock::Releases) => event.var,
            (SyncVarOp::LockTryFailed, _) => {
                let shown = sections.entry(place(event.site)).or_default();
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
                false => ended.accessed.values().map(|&site| place(site)).collect(),
            };
            sections
                .entry(place(ended.taken_at))
                .or_default()
                .insert(accessed);
        }
    }
    sections
}

fn address(site: Site) -> usize {
    std::ptr::from_ref(site) as usize
}

fn is_memory(op: SyncVarOp) -> bool {
    use SyncVarOp::*;
    matches!(
        op,
        AtomicLoad | AtomicStore | AtomicRmw | AtomicRmwFailed | DataRead | DataWrite
    )
}
