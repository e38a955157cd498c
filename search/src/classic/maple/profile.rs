//! The single dependencies that could have come true in an execution, and in similar ones: Maple's online profiler
//! (sections 3.3 to 3.5).
//!
//! For each variable there is a history of the accesses of each task, annotated with its task's clock
//! ([`super::order`]) and the critical sections it was in. Of two accesses that conflict, `A => B` is predicted if `B`
//! does not come before `A` in that order, and if each lock that both held permits it. A lock permits it if neither of
//! the two sections has an access in between that would depend on both. The later accesses of a section are known at
//! its end, so an access waits until then for its predictions. Accesses with equal annotations are one entry.
//!
//! Differs: the paper asks for the last access of one section and the first of the other, whatever they do. But a read
//! after a write does not prevent others from reading the written value, so the classes of the accesses are annotated
//! instead of two bits. And sections have no number in an entry, so that rounds of a loop are alike. Misses: the
//! effects of other control flow, and dependencies that the order of this execution ruled out by chance. It predicts
//! some that no execution has, because an order that follows from values is not seen.

use super::access::Access;
use super::locks::{Held, Section};
use super::order::Order;
use intermezzo_engine::trace::Lock;
use intermezzo_sdk::{Class, SyncVarAccess, TaskId, VectorClock};
use std::collections::{HashMap, HashSet};

/// The classes of some accesses, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Classes(u8);

impl Classes {
    fn add(&mut self, class: Class) {
        self.0 |= 1 << class as u8;
    }

    /// Returns `true` if one of them depends on both.
    fn separate(self, first: Class, second: Class) -> bool {
        let separates = |class: &Class| !class.commutes(first) && !class.commutes(second);
        Class::ALL
            .iter()
            .filter(|&&class| self.0 & 1 << class as u8 != 0)
            .any(separates)
    }
}

/// A critical section from the point of view of an access: its task's accesses to the same variable in it, before and
/// after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Annotated {
    lock: u32,
    exclusive: bool,
    /// The place where the lock was taken, if that was in the vulnerability window.
    place: Option<u32>,
    earlier: Classes,
    later: Classes,
}

/// Accesses of one task with equal annotations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub task: u32,
    pub var: u32,
    pub place: u32,
    class: Class,
    lock: Lock,
    known: VectorClock,
    sections: Vec<Annotated>,
}

impl Entry {
    /// Returns `true` if it comes before the other in every execution, as far as known.
    fn precedes(&self, other: &Entry) -> bool {
        let own = self.known.get(TaskId(self.task));
        other.known.get(TaskId(self.task)) >= own
    }

    fn access(&self) -> Access {
        Access {
            task: self.task,
            index: 0,
            var: self.var,
            place: self.place,
            class: self.class,
            lock: self.lock,
        }
    }

    /// Returns `true` if `next` could depend on it directly.
    fn can_lead_to(&self, next: &Entry) -> bool {
        self.access().leads_to(&next.access()) && !next.precedes(self) && self.locks_allow(next)
    }

    /// Returns the pairs of places at which the two takings can block each other: see [`Profiler::deadlocks`].
    fn blocks(&self, other: &Entry) -> Option<[(u32, u32); 2]> {
        let holds = |entry: &Entry, wanted: &Entry| {
            let mut sections = entry.sections.iter().filter(|section| section.lock == wanted.var);
            let conflicts = |section: &&Annotated| section.exclusive || wanted.class == Class::Write;
            sections.find(conflicts)?.place
        };
        let kept_apart = self.sections.iter().any(|own| {
            let same = |theirs: &Annotated| theirs.lock == own.lock && (theirs.exclusive || own.exclusive);
            other.sections.iter().any(same)
        });
        let free = self.task < other.task && !self.precedes(other) && !other.precedes(self) && !kept_apart;
        let (own, theirs) = (holds(self, other)?, holds(other, self)?);
        free.then_some([(own, self.place), (theirs, other.place)])
    }

    fn locks_allow(&self, next: &Entry) -> bool {
        let common = self.sections.iter().flat_map(|own| {
            let same = next.sections.iter().filter(move |other| other.lock == own.lock);
            same.map(move |other| (own, other))
        });
        common
            .filter(|(own, other)| own.exclusive || other.exclusive)
            .all(|(own, other)| {
                !own.later.separate(self.class, next.class) && !other.earlier.separate(self.class, next.class)
            })
    }
}

/// An access that is not in its history yet, because a section that it was in continues.
#[derive(Debug)]
struct Waiting {
    number: u32,
    entry: Entry,
    /// The numbers of its sections, each with `true` if it continues.
    sections: Vec<(u32, bool)>,
}

/// An access in the order of its task, for the search for pairs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profiled {
    /// The index of its event among those of its task.
    pub index: u32,
    pub var: u32,
    /// The number of its entry.
    pub entry: u32,
}

/// A profiler that predicts the dependencies of one execution after the other.
#[derive(Debug, Default)]
pub(crate) struct Profiler {
    order: Order,
    held: Held,
    waiting: Vec<Vec<Waiting>>,
    entries: Vec<Entry>,
    numbers: HashMap<Entry, u32>,
    of_var: HashMap<u32, Vec<u32>>,
    /// The entries that could depend on each entry.
    next: Vec<Vec<u32>>,
    edges: HashSet<(u32, u32)>,
    /// The accesses of each task to each variable in its open sections.
    in_section: HashMap<(u32, u32), Classes>,
    tasks: Vec<Vec<Profiled>>,
    /// The entry of each access, by its number.
    settled: Vec<u32>,
}

impl Profiler {
    /// Forgets the last execution.
    pub(super) fn clear(&mut self) {
        *self = Profiler::default();
    }

    /// Adds the next event, which makes these accesses; near accesses are at most `window` events of a task away.
    pub(super) fn add(&mut self, event: &SyncVarAccess, accesses: &[Access], window: u32) {
        let task = event.event.task.0;
        if self.tasks.len() <= task as usize {
            self.tasks.resize_with(task as usize + 1, Vec::new);
            self.waiting.resize_with(task as usize + 1, Vec::new);
        }
        let place = accesses.first().map_or(u32::MAX, |access| access.place);
        let ended = self.held.add(event, place);
        for access in accesses {
            self.note(access, ended, window);
        }
        // Every task that receives what it publishes comes after it.
        self.order.add(event);
        if let Some(section) = ended {
            self.end(task, section.number);
        }
    }

    /// Adds an access of an event, which ends that section, if it ends one.
    fn note(&mut self, access: &Access, ended: Option<Section>, window: u32) {
        let (task, var) = (access.task, access.var);
        let held = self.held.by(task).iter().copied();
        // Taking or releasing a lock is no access within its own section. The section that a wait ends still holds for
        // its condition variable.
        let sections: Vec<Section> = held.chain(ended).filter(|section| section.lock != var).collect();
        for waiting in &mut self.waiting[task as usize] {
            if waiting.entry.var == var {
                let open = waiting.sections.iter().zip(&mut waiting.entry.sections);
                open.filter(|((_, open), _)| *open)
                    .for_each(|(_, annotated)| annotated.later.add(access.class));
            }
        }
        let annotated = |section: &Section| Annotated {
            lock: section.lock,
            exclusive: section.exclusive,
            place: Some(section.place).filter(|_| access.index - section.index <= window),
            earlier: self
                .in_section
                .get(&(section.number, var))
                .copied()
                .unwrap_or_default(),
            later: Classes::default(),
        };
        let entry = Entry {
            task,
            var,
            place: access.place,
            class: access.class,
            lock: access.lock,
            sections: sections.iter().map(annotated).collect(),
            known: self.order.clock(task).clone(),
        };
        for section in &sections {
            self.in_section
                .entry((section.number, var))
                .or_default()
                .add(access.class);
        }
        let number = self.settled.len() as u32;
        self.settled.push(u32::MAX);
        self.tasks[task as usize].push(Profiled {
            index: access.index,
            var,
            entry: number,
        });
        let waiting = Waiting {
            number,
            entry,
            sections: sections.iter().map(|section| (section.number, true)).collect(),
        };
        if sections.is_empty() {
            self.settle(waiting);
        } else {
            self.waiting[task as usize].push(waiting);
        }
    }

    /// Ends a section of the task.
    fn end(&mut self, task: u32, number: u32) {
        let mut waiting = std::mem::take(&mut self.waiting[task as usize]);
        for one in &mut waiting {
            let ended = one.sections.iter_mut().filter(|(section, _)| *section == number);
            ended.for_each(|(_, open)| *open = false);
        }
        let (open, closed): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .partition(|one| one.sections.iter().any(|(_, open)| *open));
        self.waiting[task as usize] = open;
        closed.into_iter().for_each(|one| self.settle(one));
    }

    /// Predicts the dependencies of an access of which everything is known, if there is no entry like it.
    fn settle(&mut self, waiting: Waiting) {
        let Waiting { number, entry, .. } = waiting;
        if let Some(&known) = self.numbers.get(&entry) {
            self.settled[number as usize] = known;
            return;
        }
        let own = self.entries.len() as u32;
        self.settled[number as usize] = own;
        self.next.push(Vec::new());
        let history = self.of_var.entry(entry.var).or_default();
        for &other in history.iter() {
            let there = &self.entries[other as usize];
            if there.task == entry.task {
                continue;
            }
            if there.can_lead_to(&entry) {
                self.next[other as usize].push(own);
                self.edges.insert((other, own));
            }
            if entry.can_lead_to(there) {
                self.next[own as usize].push(other);
                self.edges.insert((own, other));
            }
        }
        history.push(own);
        self.numbers.insert(entry.clone(), own);
        self.entries.push(entry);
    }

    /// Ends the execution, and with it all sections.
    pub(crate) fn finish(&mut self) {
        for waiting in std::mem::take(&mut self.waiting).into_iter().flatten() {
            self.settle(waiting);
        }
        for access in self.tasks.iter_mut().flatten() {
            access.entry = self.settled[access.entry as usize];
        }
    }

    /// Returns the pairs of takings of locks that can block each other: for each the place where the lock was taken
    /// that the other wants, and the place of the taking itself. Two tasks take two locks in opposite orders, and no
    /// gate lock keeps them apart.
    pub(crate) fn deadlocks(&self) -> impl Iterator<Item = [(u32, u32); 2]> + '_ {
        let takes = |entry: &&Entry| entry.lock == Lock::Takes && !entry.sections.is_empty();
        let entries = move || self.entries.iter().filter(takes);
        entries().flat_map(move |one| entries().filter_map(move |other| one.blocks(other)))
    }

    /// Returns the entry with that number.
    pub(super) fn entry(&self, number: u32) -> &Entry {
        &self.entries[number as usize]
    }

    /// Returns the number of entries.
    pub(super) fn entries(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Returns the entries that could depend on this one directly.
    pub(super) fn next(&self, entry: u32) -> &[u32] {
        &self.next[entry as usize]
    }

    /// Returns `true` if the second entry could depend on the first directly.
    pub(super) fn leads(&self, first: u32, second: u32) -> bool {
        self.edges.contains(&(first, second))
    }

    /// Returns the accesses of each task in order, once the execution has ended.
    pub(super) fn tasks(&self) -> &[Vec<Profiled>] {
        &self.tasks
    }
}
