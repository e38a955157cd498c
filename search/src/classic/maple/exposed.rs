//! The iRoots that an execution exposes: those whose pattern occurred in it. Exact, by the definitions of
//! [`super::iroot`].
//!
//! Accesses come in the order of the execution; if an event makes two, that to its own variable comes first. Each
//! access is matched with the ones that it depends on. Each dependency is matched with those before it between the same
//! two tasks, within the vulnerability window.

use super::access::Access;
use super::iroot::IRoot;
use intermezzo_engine::trace::Lock;
use intermezzo_sdk::Class;
use std::collections::{HashMap, HashSet};

/// A detector of the iRoots of one execution after the other.
#[derive(Debug, Default)]
pub(crate) struct Detector {
    accesses: Vec<Linked>,
    /// The accesses to each variable, and those of each task, in order.
    of_var: HashMap<u32, Vec<u32>>,
    of_task: Vec<Vec<u32>>,
    found: HashSet<IRoot>,
}

/// An access, and its dependencies so far.
#[derive(Debug)]
struct Linked {
    access: Access,
    /// The accesses that depend on it, and those that it depends on.
    next: Vec<u32>,
    previous: Vec<u32>,
    /// Its index among its task's accesses.
    at: usize,
}

impl Detector {
    /// Forgets the last execution.
    pub(super) fn clear(&mut self) {
        self.accesses.clear();
        self.of_var.clear();
        self.of_task.iter_mut().for_each(Vec::clear);
        self.found.clear();
    }

    /// Returns the iRoots of the execution so far.
    pub(super) fn found(&self) -> &HashSet<IRoot> {
        &self.found
    }

    /// Adds the next access; two accesses of one task are at most `window` of its events apart.
    pub(super) fn add(&mut self, access: Access, window: u32) {
        let number = self.accesses.len() as u32;
        let previous = self.depends_on(&access);
        let task = access.task as usize;
        if self.of_task.len() <= task {
            self.of_task.resize_with(task + 1, Vec::new);
        }
        self.accesses.push(Linked {
            access,
            next: Vec::new(),
            previous: previous.clone(),
            at: self.of_task[task].len(),
        });
        self.of_task[task].push(number);
        self.of_var.entry(access.var).or_default().push(number);
        for from in previous {
            self.accesses[from as usize].next.push(number);
            self.expose(1, &[from, number]);
            self.one_variable(from, number, window);
            self.two_variables(from, number, window);
            self.one_direction(from, number, window);
        }
    }

    /// Returns the number of the last event of a task that made an access; 0 if none did.
    pub(crate) fn events_of(&self, task: u32) -> u32 {
        let last = self
            .of_task
            .get(task as usize)
            .and_then(|accesses| accesses.last());
        last.map_or(0, |&number| self.access(number).index)
    }

    /// Notes that the execution ended with tasks that want these locks, and wait for ever. Two that each want what the
    /// other holds expose an iRoot of idiom 5, of which the second accesses never happen.
    pub(super) fn stuck(&mut self, wanted: &[Access], window: u32) {
        let held = |by: &Access, lock: &Access| {
            let of_task = self.of_task.get(by.task as usize)?;
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
        self.found.extend(found);
    }

    fn access(&self, number: u32) -> &Access {
        &self.accesses[number as usize].access
    }

    /// Returns the accesses on which this one, about to be added, depends directly.
    fn depends_on(&self, access: &Access) -> Vec<u32> {
        let mut found = Vec::new();
        // The classes that lie between and depend on it.
        let mut between = [false; Class::ALL.len()];
        let earlier = self.of_var.get(&access.var).into_iter().flatten().rev();
        for &number in earlier {
            let other = self.access(number);
            if !other.depends(access) {
                continue;
            }
            let hidden = Class::ALL
                .into_iter()
                .any(|class| between[class as usize] && !class.commutes(other.class));
            if !hidden && other.leads_to(access) {
                found.push(number);
            }
            between[other.class as usize] = true;
            if other.class == Class::Write {
                // It depends on every access before.
                break;
            }
        }
        found
    }

    fn expose(&mut self, idiom: u8, accesses: &[u32]) {
        let mut places = [0; 4];
        for (place, &number) in places.iter_mut().zip(accesses) {
            *place = self.access(number).place;
        }
        let iroot = IRoot::new(idiom, &places[..accesses.len()]);
        self.found.insert(iroot.expect("as many places as the idiom has"));
    }

    /// Returns the accesses of a task before its access `number`, the last first, that are in the window.
    fn before(&self, number: u32, window: u32) -> impl Iterator<Item = u32> + '_ {
        let Linked { access, at, .. } = &self.accesses[number as usize];
        let earlier = self.of_task[access.task as usize][..*at].iter().rev().copied();
        let index = access.index;
        earlier.take_while(move |&other| index - self.access(other).index <= window)
    }

    /// Returns `true` if `second` comes after `first`, of the same task, in the window.
    fn within(&self, first: u32, second: u32, window: u32) -> bool {
        let (first, second) = (self.access(first), self.access(second));
        first.task == second.task && first.index < second.index && second.index - first.index <= window
    }

    /// Finds iRoots of idioms 2 and 3, of which `c => d` is the second dependency.
    fn one_variable(&mut self, c: u32, d: u32, window: u32) {
        let var = self.access(d).var;
        let last = self.before(d, window).find(|&a| self.access(a).var == var);
        let Some(a) = last else { return };
        for b in self.accesses[a as usize].next.clone() {
            if b == c {
                self.expose(2, &[a, b, d]);
            } else if self.within(b, c, window) {
                self.expose(3, &[a, b, c, d]);
            }
        }
    }

    /// Finds iRoots of idioms 4 and 5, of which `c => d` is the last dependency to come true.
    fn two_variables(&mut self, c: u32, d: u32, window: u32) {
        let y = self.access(d).var;
        let mut seen: Vec<u32> = Vec::new();
        let mut found = Vec::new();
        for a in self.before(d, window) {
            let x = self.access(a).var;
            if x == y {
                // Earlier ones have an access to it in between.
                break;
            }
            if seen.contains(&x) {
                continue;
            }
            seen.push(x);
            if !self.within(a, d, window) {
                // This is another access of the same event.
                continue;
            }
            for &b in &self.accesses[a as usize].next {
                if self.within(b, c, window) {
                    found.push((4, [a, b, c, d]));
                } else if self.within(c, b, window) && self.is_clean(c, b) {
                    found.push((5, [a, b, c, d]));
                }
            }
        }
        for (idiom, accesses) in found {
            self.expose(idiom, &accesses);
        }
    }

    /// Returns `true` if a task accesses neither variable between two of its accesses.
    fn is_clean(&self, first: u32, second: u32) -> bool {
        let from = &self.accesses[first as usize];
        let to = &self.accesses[second as usize];
        let task = &self.of_task[from.access.task as usize];
        let mut between = task[from.at + 1..to.at]
            .iter()
            .map(|&other| self.access(other).var);
        between.all(|var| var != from.access.var && var != to.access.var)
    }

    /// Finds iRoots of idiom 6, of which `c => d` is the second dependency.
    fn one_direction(&mut self, c: u32, d: u32, window: u32) {
        let y = self.access(d).var;
        let mut found = Vec::new();
        for b in self.before(d, window) {
            if self.access(b).var == y || !self.within(b, d, window) {
                continue;
            }
            let firsts = self.accesses[b as usize].previous.iter();
            found.extend(
                firsts
                    .filter(|&&a| self.within(a, c, window))
                    .map(|&a| [a, b, c, d]),
            );
        }
        for accesses in found {
            self.expose(6, &accesses);
        }
    }
}
