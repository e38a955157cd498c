//! The iRoots that an execution exposes: those whose pattern occurred in it. They are computed exactly, by the
//! definitions of [`super::iroot`].
//!
//! Accesses are added in the order of the execution. If an event makes two, the one to its own variable comes first.
//! Each access is matched with those on which it depends, and each dependency with those before it between the same two
//! tasks, within the vulnerability window.
//!
//! Each access is added once. The lists keep their memory from one execution to the next. Accesses before the last
//! write of a variable are dropped, because no later access depends on them.

use super::access::{Access, Classes};
use super::iroot::IRoot;
use crate::classic::slots::{of_var, slot};
use hashbrown::HashMap;
use intermezzo_engine::trace::Lock;
use intermezzo_sdk::{Class, EventId};

/// The number that stands for no access.
const NONE: u32 = u32::MAX;

/// A detector of the iRoots that executions expose, one execution after the other.
#[derive(Debug, Default)]
pub(crate) struct Detector {
    accesses: Vec<Linked>,
    /// The accesses to each variable that a later one may depend on.
    vars: Vec<Recent>,
    tasks: Vec<OfTask>,
    /// For each access, one after the other, those that it depends on.
    previous: Vec<u32>,
    /// For each access, a linked list of those that depend on it: the number of one, and the position of the next.
    next: Vec<(u32, u32)>,
    /// All iRoots found so far, each with the last execution that exposed it.
    found: HashMap<IRoot, u64>,
    /// The number of the execution.
    execution: u64,
    /// The iRoots found for the first time since the last call of [`Detector::take_new`].
    new: Vec<IRoot>,
    /// A buffer for the iRoots whose last access is the one being added.
    of_last: Vec<IRoot>,
}

/// An access, and its dependencies so far.
#[derive(Debug)]
struct Linked {
    access: Access,
    /// Its index among its task's accesses.
    at: u32,
    /// The index of the first access of the uninterrupted run of its task's accesses to the same variable in which it
    /// is.
    run: u32,
    /// The indices of the accesses of its task to its variable before it and after it.
    before: u32,
    after: u32,
    /// The range of [`Detector::previous`] with the accesses on which it depends.
    previous: (u32, u32),
    /// The position in [`Detector::next`] at which the list of accesses that depend on it begins.
    next: u32,
}

/// The accesses of a task, in order.
#[derive(Debug, Default)]
struct OfTask {
    /// The index of its last event that made an access.
    events: u32,
    accesses: Vec<u32>,
    /// The index of the last access to each variable.
    last: Vec<u32>,
}

/// The accesses to a variable from the last write on, in order.
#[derive(Debug, Default)]
struct Recent {
    accesses: Vec<u32>,
    /// The position at which each run of accesses of one class begins.
    runs: Vec<(Class, u32)>,
}

impl Recent {
    fn clear(&mut self) {
        self.accesses.clear();
        self.runs.clear();
    }
}

impl Linked {
    /// Returns `true` if `second` comes after it in the same task, and within the window.
    fn precedes(&self, second: &Linked, window: u32) -> bool {
        let (first, second) = (&self.access, &second.access);
        first.task == second.task && first.index < second.index && second.index - first.index <= window
    }

    /// Returns `true` if its task accesses neither variable between it and `second`, a later access of the task.
    fn is_clean_to(&self, second: &Linked) -> bool {
        (second.before == NONE || second.before <= self.at) && (self.after == NONE || self.after >= second.at)
    }
}

impl Detector {
    /// Forgets the last execution.
    pub(super) fn clear(&mut self) {
        self.accesses.clear();
        self.vars.iter_mut().for_each(Recent::clear);
        for task in &mut self.tasks {
            task.events = 0;
            task.accesses.clear();
            task.last.clear();
        }
        self.previous.clear();
        self.next.clear();
        self.execution += 1;
    }

    /// Returns `true` if the execution so far has this iRoot.
    pub(super) fn has_found(&self, iroot: &IRoot) -> bool {
        self.found.get(iroot) == Some(&self.execution)
    }

    /// Returns the iRoots of the execution so far.
    #[cfg(test)]
    pub(super) fn found(&self) -> impl Iterator<Item = &IRoot> {
        self.found.keys().filter(|iroot| self.has_found(iroot))
    }

    /// Returns the iRoots found for the first time since the last call of [`Detector::take_new`].
    pub(super) fn newly_found(&self) -> &[IRoot] {
        &self.new
    }

    /// Removes and returns the iRoots found for the first time since the last call.
    pub(super) fn take_new(&mut self) -> Vec<IRoot> {
        std::mem::take(&mut self.new)
    }

    /// Notes an event whose access does not depend on an access of another task, nor the other way round.
    #[inline(always)]
    pub(super) fn pass(&mut self, event: EventId) {
        slot(&mut self.tasks, event.task.0, OfTask::default).events = event.index;
    }

    /// Adds the next access. Two accesses of one task in an iRoot are at most `window` of its events apart.
    pub(super) fn add(&mut self, access: Access, window: u32) {
        let number = self.accesses.len() as u32;
        let previous = self.add_dependencies(&access, number);
        let task = slot(&mut self.tasks, access.task, OfTask::default);
        task.events = access.index;
        let at = task.accesses.len() as u32;
        let run = match task.accesses.last() {
            Some(&last) if self.accesses[last as usize].access.var == access.var => {
                self.accesses[last as usize].run
            }
            _ => at,
        };
        let last = slot(&mut task.last, of_var(access.var), || NONE);
        let before = std::mem::replace(last, at);
        if before != NONE {
            self.accesses[task.accesses[before as usize] as usize].after = at;
        }
        task.accesses.push(number);
        self.accesses.push(Linked {
            access,
            at,
            run,
            before,
            after: NONE,
            previous,
            next: NONE,
        });
        if previous.0 < previous.1 {
            self.match_dependencies(number, window);
        }
    }

    /// Returns the index of the last event of a task that made an access; 0 if none did.
    pub(crate) fn events_of(&self, task: u32) -> u32 {
        self.tasks.get(task as usize).map_or(0, |task| task.events)
    }

    /// Notes that the execution ended with tasks that wait forever for these locks. Two tasks of which each waits for a
    /// lock that the other holds expose an iRoot of idiom 5, whose second accesses never happen.
    pub(super) fn stuck(&mut self, wanted: &[Access], window: u32) {
        let held = |by: &Access, lock: &Access| {
            let of_task = &self.tasks.get(by.task as usize)?.accesses;
            let to = |var: u32| of_task.iter().rev().find(|&&other| self.access(other).var == var);
            let (taken, before) = (*to(lock.var)?, to(by.var));
            let access = self.access(taken);
            let near = by.index - access.index <= window && before.is_none_or(|&before| before < taken);
            (access.lock == Lock::Takes && access.depends(lock) && near).then_some(access.place)
        };
        let mut found = Vec::new();
        for one in wanted {
            for other in wanted.iter().filter(|other| other.var != one.var) {
                if let (Some(a), Some(c)) = (held(one, other), held(other, one)) {
                    found.extend(IRoot::new(5, &[a, other.place, c, one.place]));
                }
            }
        }
        found.into_iter().for_each(|iroot| self.expose(iroot));
    }

    /// Notes that the execution exposes this iRoot.
    #[inline]
    fn expose(&mut self, iroot: IRoot) {
        if self.found.insert(iroot, self.execution).is_none() {
            self.new.push(iroot);
        }
    }

    fn access(&self, number: u32) -> &Access {
        &self.linked(number).access
    }

    /// Finds the accesses on which the one being added depends directly, and adds it to those of its variable. Returns
    /// the range of [`Detector::previous`] with the accesses found.
    fn add_dependencies(&mut self, access: &Access, number: u32) -> (u32, u32) {
        let first = self.previous.len() as u32;
        let recent = slot(&mut self.vars, of_var(access.var), Recent::default);
        // The classes of accesses in between that depend on the new one.
        let mut between = Classes::default();
        let mut end = recent.accesses.len();
        for &(class, start) in recent.runs.iter().rev() {
            let run = start as usize..std::mem::replace(&mut end, start as usize);
            if class.commutes(access.class) {
                continue;
            }
            let hidden = between.depends(class);
            between.add(class);
            if !hidden {
                for &other in &recent.accesses[run] {
                    let earlier = &mut self.accesses[other as usize];
                    if earlier.access.leads_to(access) {
                        self.previous.push(other);
                        self.next.push((number, earlier.next));
                        earlier.next = self.next.len() as u32 - 1;
                    }
                }
            }
        }
        if access.class == Class::Write {
            // No later access depends directly on an access before a write.
            recent.clear();
        }
        if recent.runs.last().is_none_or(|(class, _)| *class != access.class) {
            recent.runs.push((access.class, recent.accesses.len() as u32));
        }
        recent.accesses.push(number);
        (first, self.previous.len() as u32)
    }

    /// Finds the iRoots of which `d` is the last access.
    fn match_dependencies(&mut self, d: u32, window: u32) {
        let mut found = std::mem::take(&mut self.of_last);
        let mut expose = |idiom: u8, of: &[u32]| {
            let mut places = [0; 4];
            for (place, &number) in places.iter_mut().zip(of) {
                *place = self.access(number).place;
            }
            let iroot = IRoot::new(idiom, &places[..of.len()]);
            found.push(iroot.expect("as many places as the idiom has"));
        };
        for &c in self.previous_of(d) {
            expose(1, &[c, d]);
        }
        self.one_variable(d, window, &mut expose);
        self.two_variables(d, window, &mut expose);
        found.drain(..).for_each(|iroot| self.expose(iroot));
        self.of_last = found;
    }

    /// Finds the iRoots of idioms 2 and 3 of which `d` is the last access.
    fn one_variable(&self, d: u32, window: u32, expose: &mut impl FnMut(u8, &[u32])) {
        let last = self.linked(d);
        let of_task = &self.tasks[last.access.task as usize].accesses;
        // The first access is the last one of the task before it to the same variable.
        let Some(&a) = of_task.get(last.before as usize) else {
            return;
        };
        if !self.is_near(a, d, window) {
            return;
        }
        for b in self.next_of(a) {
            for &c in self.previous_of(d) {
                if b == c {
                    expose(2, &[a, b, d]);
                } else if self.linked(b).precedes(self.linked(c), window) {
                    expose(3, &[a, b, c, d]);
                }
            }
        }
    }

    /// Finds the iRoots of idioms 4 to 6 of which `d` is the last access.
    fn two_variables(&self, d: u32, window: u32, expose: &mut impl FnMut(u8, &[u32])) {
        let last = self.linked(d);
        let of_task = &self.tasks[last.access.task as usize].accesses;
        let mut rest = last.at;
        let mut is_clean = true;
        while let Some(at) = rest.checked_sub(1) {
            let number = of_task[at as usize];
            let earlier = self.linked(number);
            if !self.is_near(number, d, window) {
                break;
            }
            if earlier.access.var == last.access.var {
                // Idioms 4 and 5 do not permit this access in between.
                is_clean = false;
                rest = earlier.run;
                continue;
            }
            rest = at;
            if earlier.access.index == last.access.index {
                // This is another access of the same event.
                continue;
            }
            if is_clean && earlier.after == NONE {
                for b in self.next_of(number) {
                    for &c in self.previous_of(d) {
                        let (first, second) = (self.linked(b), self.linked(c));
                        if first.precedes(second, window) {
                            expose(4, &[number, b, c, d]);
                        } else if second.precedes(first, window) && second.is_clean_to(first) {
                            expose(5, &[number, b, c, d]);
                        }
                    }
                }
            }
            for &a in self.previous_of(number) {
                for &c in self.previous_of(d) {
                    if self.linked(a).precedes(self.linked(c), window) {
                        expose(6, &[a, number, c, d]);
                    }
                }
            }
        }
    }

    #[inline]
    fn linked(&self, number: u32) -> &Linked {
        &self.accesses[number as usize]
    }

    /// Returns `true` if an access is within the window of a later access of its task, or of one of the same event.
    fn is_near(&self, first: u32, second: u32, window: u32) -> bool {
        self.access(second).index - self.access(first).index <= window
    }

    /// Returns the accesses on which this one depends.
    fn previous_of(&self, number: u32) -> &[u32] {
        let (first, end) = self.linked(number).previous;
        &self.previous[first as usize..end as usize]
    }

    /// Returns the accesses so far that depend on this one.
    fn next_of(&self, number: u32) -> impl Iterator<Item = u32> + '_ {
        let mut at = self.linked(number).next;
        std::iter::from_fn(move || {
            let &(number, following) = self.next.get(at as usize)?;
            at = following;
            Some(number)
        })
    }
}
