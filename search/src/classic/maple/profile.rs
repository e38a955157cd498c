//! The single dependencies that could come true in an execution or similar ones: Maple's online profiler (sections 3.3
//! to 3.5).
//!
//! Each variable has a history of the accesses of each task. An access is annotated with the task's clock
//! ([`super::order`]) and the critical sections in which it was. For two accesses that conflict, `A => B` is predicted
//! if `B` does not come before `A` in that order, and if each lock that was held at both permits it. A lock permits it
//! if neither of the two sections has an access in between that would depend on both. The later accesses of a section
//! are known only at its end, so an access is added to the history then. Accesses whose annotations are equal except
//! for the clock are one entry, so rounds of a loop add nothing to the history.
//!
//! Differs: the paper requires the last access of one section and the first one of the other, whatever the accesses
//! are. But a read after a write does not prevent others from reading the written value, so the annotations are classes
//! of accesses instead of two bits. And sections have no numbers in an entry, so that rounds of a loop are equal.
//! Misses: the effects of different control flow, and dependencies that the order of this execution happened to rule
//! out. It also predicts dependencies that no execution has, because it does not know about an order that follows from
//! values.

use super::access::{Access, Classes};
use super::locks::{Held, Section};
use super::order::{Moment, Order};
use crate::classic::slots::{of_var, slot};
use hashbrown::{HashMap, HashTable};
use intermezzo_engine::trace::{Lock, hash64};
use intermezzo_sdk::{Class, SyncVarAccess, SyncVarOp};
use smallvec::SmallVec;

/// A critical section in which an access was, with the classes of its task's accesses to the same variable in it,
/// before and after that access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Annotated {
    lock: u32,
    exclusive: bool,
    /// The place where the lock was taken, if that was within the vulnerability window.
    place: Option<u32>,
    earlier: Classes,
    later: Classes,
}

/// The accesses of one task with equal annotations, whatever their moments.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub access: Access,
    sections: SmallVec<[Annotated; 1]>,
}

/// Returns a hash of an entry.
fn hash(access: &Access, sections: &[Annotated]) -> u64 {
    let Access {
        task,
        var,
        place,
        class,
        lock,
        ..
    } = *access;
    let effect = u64::from(class as u8) << 8 | u64::from(lock as u8);
    let who = u64::from(task) << 32 | u64::from(var);
    let own = hash64(who, u64::from(place) << 32 | effect);
    sections.iter().fold(own, |hash, section| {
        let classes = u64::from(section.earlier.0) << 8 | u64::from(section.later.0);
        hash64(hash ^ u64::from(section.lock), classes)
    })
}

impl Entry {
    /// Returns `true` if it is the entry of this access.
    #[inline(always)]
    fn is_of(&self, access: &Access, sections: &[Annotated]) -> bool {
        self.access == *access && self.sections.as_slice() == sections
    }

    /// Returns `true` if `next` could directly depend on it, unless `next` comes first in every execution.
    #[inline]
    pub(super) fn can_lead_to(&self, next: &Entry) -> bool {
        self.access.leads_to(&next.access) && self.locks_allow(next)
    }

    /// Returns the places of a possible deadlock: two tasks take two locks in opposite orders, and no common third lock
    /// prevents that they do so at the same time. For each of the two takings, these are the place where its task took
    /// the lock that the other one wants, and the place of the taking itself.
    pub(super) fn blocks(&self, other: &Entry) -> Option<[(u32, u32); 2]> {
        let holds = |entry: &Entry, wanted: &Entry| {
            let mut sections = entry
                .sections
                .iter()
                .filter(|section| section.lock == wanted.access.var);
            let conflicts = |section: &&Annotated| section.exclusive || wanted.access.class == Class::Write;
            sections.find(conflicts)?.place
        };
        let kept_apart = self.sections.iter().any(|own| {
            let same = |theirs: &Annotated| theirs.lock == own.lock && (theirs.exclusive || own.exclusive);
            other.sections.iter().any(same)
        });
        let (own, theirs) = (holds(self, other)?, holds(other, self)?);
        let free = self.access.task < other.access.task && !kept_apart;
        free.then_some([(own, self.access.place), (theirs, other.access.place)])
    }

    /// Returns `true` if it takes a lock while its task holds another one.
    pub(super) fn is_nested_taking(&self) -> bool {
        self.access.lock == Lock::Takes && !self.sections.is_empty()
    }

    #[inline]
    fn locks_allow(&self, next: &Entry) -> bool {
        self.sections.iter().all(|own| {
            let common = next.sections.iter().filter(|other| other.lock == own.lock);
            common
                .filter(|other| own.exclusive || other.exclusive)
                .all(|other| {
                    let (first, second) = (self.access.class, next.access.class);
                    !own.later.separate(first, second) && !other.earlier.separate(first, second)
                })
        })
    }
}

/// An access that is not in the history yet, because a section in which it was has not ended.
#[derive(Debug)]
struct Waiting {
    number: u32,
    entry: Entry,
    /// The numbers of its sections, and how many of them have not ended.
    sections: SmallVec<[u32; 1]>,
    open: usize,
}

/// An access in the order of its task, for the search for pairs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profiled {
    /// The index of its event among those of its task.
    pub index: u32,
    /// The number of its entry.
    pub entry: u32,
    /// Its moment.
    pub moment: Moment,
}

/// The accesses of a task.
#[derive(Debug, Default)]
struct OfTask {
    accesses: Vec<Profiled>,
    waiting: Vec<Waiting>,
    /// The entry of the last access at each place. It may be the number of an entry of an earlier execution, so the
    /// entry has to be compared.
    recent: Vec<u32>,
}

/// No entry.
const NONE: u32 = u32::MAX;

/// A profiler that predicts the dependencies of one execution after the other.
#[derive(Debug, Default)]
pub(crate) struct Profiler {
    order: Order,
    held: Held,
    tasks: Vec<OfTask>,
    entries: Vec<Entry>,
    numbers: HashTable<u32>,
    of_var: Vec<Vec<u32>>,
    /// The accesses of each task to each variable in its open sections.
    in_section: HashMap<(u32, u32), Classes>,
    /// The entry of each access, by the number of the access.
    settled: Vec<u32>,
    /// The later accesses to each variable in a section that ends, while its accesses are processed from the last one.
    later: Vec<Classes>,
    /// Buffers for the computation of a digest: the numbers of variables, and the digests of entries.
    vars: Vec<u32>,
    digests: Vec<Option<Digest>>,
}

impl Profiler {
    /// Forgets the last execution.
    pub(super) fn clear(&mut self) {
        self.order.clear();
        self.held.clear();
        for task in &mut self.tasks {
            task.accesses.clear();
            task.waiting.clear();
        }
        self.entries.clear();
        self.numbers.clear();
        self.of_var.iter_mut().for_each(Vec::clear);
        self.in_section.clear();
        self.settled.clear();
    }

    /// Adds the next event, which makes these accesses. Accesses of one task are near if they are at most `window` of
    /// its events apart.
    pub(super) fn add(&mut self, event: &SyncVarAccess, accesses: &[Access], window: u32) {
        // Operations on locks are always accesses that matter.
        let ended = match accesses {
            [first, ..] if first.lock != Lock::No || event.op == SyncVarOp::CondvarWait => {
                self.held.add(event, first.place, self.settled.len() as u32)
            }
            _ => None,
        };
        for access in accesses {
            self.note(access, ended, window);
        }
        // This comes after the access is noted, so that a task that receives what the event publishes comes after the
        // access.
        self.order.add(event);
        if let Some(section) = ended {
            self.end(event.event.task.0, section);
        }
    }

    /// Adds an access of an event. If the event ends a section, that is `ended`.
    fn note(&mut self, access: &Access, ended: Option<Section>, window: u32) {
        let Access { task, var, index, .. } = *access;
        let number = self.settled.len() as u32;
        let moment = self.order.now(task);
        let of_task = slot(&mut self.tasks, task, OfTask::default);
        of_task.accesses.push(Profiled {
            index,
            entry: number,
            moment,
        });
        // Its index is not a part of an entry.
        let access = Access { index: 0, ..*access };
        let held = self.held.by(task);
        if held.is_empty() && ended.is_none() {
            let entry = self.entry_of(&access, SmallVec::new());
            self.settled.push(entry);
            return;
        }
        // Taking or releasing a lock is not an access within its own section. A wait on a condition variable is still
        // an access within the section that it ends.
        let sections = held.iter().copied().chain(ended);
        let sections = sections.filter(|section| section.lock != var);
        let mut numbers = SmallVec::new();
        let mut annotated = SmallVec::new();
        for section in sections {
            numbers.push(section.number);
            let classes = self.in_section.entry((section.number, var)).or_default();
            annotated.push(Annotated {
                lock: section.lock,
                exclusive: section.exclusive,
                place: Some(section.place).filter(|_| index - section.index <= window),
                earlier: *classes,
                later: Classes::default(),
            });
            classes.add(access.class);
        }
        if numbers.is_empty() {
            let entry = self.entry_of(&access, annotated);
            self.settled.push(entry);
        } else {
            self.settled.push(NONE);
            let entry = Entry {
                access,
                sections: annotated,
            };
            self.tasks[task as usize].waiting.push(Waiting {
                number,
                entry,
                open: numbers.len(),
                sections: numbers,
            });
        }
    }

    /// Ends a section of the task.
    fn end(&mut self, task: u32, section: Section) {
        let Some(of_task) = self.tasks.get_mut(task as usize) else {
            return;
        };
        let mut waiting = std::mem::take(&mut of_task.waiting);
        let first = waiting.partition_point(|one| one.number < section.first);
        self.annotate(&mut waiting[first..], section.number);
        let mut kept = first;
        for at in first..waiting.len() {
            if waiting[at].open > 0 {
                waiting.swap(kept, at);
                kept += 1;
            } else {
                let Waiting { number, entry, .. } = &mut waiting[at];
                let sections = std::mem::take(&mut entry.sections);
                self.settled[*number as usize] = self.entry_of(&entry.access, sections);
            }
        }
        waiting.truncate(kept);
        self.tasks[task as usize].waiting = waiting;
    }

    /// Annotates the accesses of a section that ends with the accesses after them in it.
    fn annotate(&mut self, waiting: &mut [Waiting], section: u32) {
        for one in waiting.iter_mut().rev() {
            if let Some(at) = one.sections.iter().position(|number| *number == section) {
                let later = slot(&mut self.later, of_var(one.entry.access.var), Classes::default);
                one.entry.sections[at].later = *later;
                later.add(one.entry.access.class);
                one.open -= 1;
            }
        }
        for one in waiting {
            *slot(&mut self.later, of_var(one.entry.access.var), Classes::default) = Classes::default();
        }
    }

    /// Returns the number of the entry of an access whose annotations are complete.
    #[inline]
    fn entry_of(&mut self, access: &Access, sections: SmallVec<[Annotated; 1]>) -> u32 {
        let recent = slot(&mut self.tasks[access.task as usize].recent, access.place, || {
            NONE
        });
        if let Some(entry) = self.entries.get(*recent as usize)
            && entry.is_of(access, &sections)
        {
            return *recent;
        }
        let entries = &mut self.entries;
        let own = *self
            .numbers
            .entry(
                hash(access, &sections),
                |&known| entries[known as usize].is_of(access, &sections),
                |&known| {
                    let Entry { access, sections } = &entries[known as usize];
                    hash(access, sections)
                },
            )
            .or_insert(entries.len() as u32)
            .get();
        *recent = own;
        if own as usize == entries.len() {
            slot(&mut self.of_var, of_var(access.var), Vec::new).push(own);
            entries.push(Entry {
                access: *access,
                sections,
            });
        }
        own
    }

    /// Ends the execution, and all sections that have not ended.
    pub(crate) fn finish(&mut self) {
        for task in 0..self.tasks.len() {
            let mut waiting = std::mem::take(&mut self.tasks[task].waiting);
            for at in 0..self.held.by(task as u32).len() {
                let section = self.held.by(task as u32)[at];
                self.annotate(&mut waiting, section.number);
            }
            for one in waiting.drain(..) {
                self.settled[one.number as usize] = self.entry_of(&one.entry.access, one.entry.sections);
            }
            self.tasks[task].waiting = waiting;
        }
        for access in self.tasks.iter_mut().flat_map(|task| &mut task.accesses) {
            access.entry = self.settled[access.entry as usize];
        }
    }

    /// Returns a digest of everything that predictions depend on, after the execution has ended. Executions with the
    /// same digest predict the same iRoots. Variables are numbered in the order of their first uses, task by task,
    /// because their numbers in the execution depend on its order.
    pub(super) fn digest(&mut self) -> u128 {
        let mut digest = Digest::default();
        let vars = &mut self.vars;
        vars.clear();
        let mut used = 0;
        let mut number = |var: u32| {
            let known = slot(vars, of_var(var), || NONE);
            if *known == NONE {
                *known = used;
                used += 1;
            }
            u64::from(*known)
        };
        self.digests.clear();
        self.digests.resize(self.entries.len(), None);
        let mut last_moment = None;
        for (task, of_task) in (0..).zip(&self.tasks) {
            // There may have been more tasks in earlier executions.
            if of_task.accesses.is_empty() {
                continue;
            }
            digest.add(u64::MAX, task);
            let mut before = 0;
            for access in &of_task.accesses {
                let of_entry = self.digests[access.entry as usize].get_or_insert_with(|| {
                    let Entry { access, sections } = &self.entries[access.entry as usize];
                    let mut digest = Digest::default();
                    digest.add(number(access.var), u64::from(access.place));
                    digest.add(access.class as u64, access.lock as u64);
                    for section in sections {
                        digest.add(number(section.lock), section.place.map_or(u64::MAX, u64::from));
                        let classes = u64::from(section.earlier.0) << 8 | u64::from(section.later.0);
                        digest.add(u64::from(section.exclusive), classes);
                    }
                    digest
                });
                let Digest(one, other) = *of_entry;
                if last_moment != Some(access.moment) {
                    last_moment = Some(access.moment);
                    let clock = self.order.clock(access.moment);
                    digest.add(u64::MAX - 1, clock.len() as u64);
                    clock.iter().for_each(|&known| digest.add(u64::from(known), 0));
                }
                digest.add(one ^ u64::from(access.index - before), other);
                before = access.index;
            }
        }
        u128::from(digest.0) << 64 | u128::from(digest.1)
    }

    /// Returns the entry with this number.
    pub(super) fn entry(&self, number: u32) -> &Entry {
        &self.entries[number as usize]
    }

    /// Returns the number of entries.
    pub(super) fn entries(&self) -> usize {
        self.entries.len()
    }

    /// Returns the entries with accesses to a variable.
    pub(super) fn of_var(&self, var: u32) -> &[u32] {
        &self.of_var[of_var(var) as usize]
    }

    /// Returns the accesses of each task in order, after the execution has ended.
    pub(super) fn tasks(&self) -> impl Iterator<Item = &[Profiled]> {
        self.tasks.iter().map(|task| task.accesses.as_slice())
    }

    /// Returns the number of events of a task that are known at a moment.
    #[inline]
    pub(super) fn known(&self, at: Moment, task: u32) -> u32 {
        self.order.known(at, task)
    }
}

/// A digest: two numbers into which others are mixed in different ways.
#[derive(Clone, Copy, Debug, Default)]
struct Digest(u64, u64);

impl Digest {
    #[inline(always)]
    fn add(&mut self, one: u64, other: u64) {
        let Digest(first, second) = *self;
        // The constant has the digits of the golden ratio, which have no pattern.
        let mixed = (second ^ other).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        *self = Digest(hash64(first ^ one, other), mixed.rotate_left(29) ^ one);
    }
}
