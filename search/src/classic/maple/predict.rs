//! Prediction of iRoots from single dependencies and pairs of accesses: Maple, section 3.6.
//!
//! A *local pair* is two accesses of one task within the vulnerability window. A pair of one task, a pair of another
//! one, and two matching predicted dependencies between them are a predicted iRoot. It is not checked that both
//! dependencies can come true in the same execution.
//!
//! The accesses of an entry differ only in their moments, and the clock of a task only grows. So if `A => B` is
//! possible at all, it is possible at the first moment of A and the last one of B. Pairs of the same two entries are
//! one pair here, with the list of their moments.

use super::iroot::IRoot;
use super::order::Moment;
use super::profile::{Entry, Profiled, Profiler};
use crate::classic::slots::{of_var, slot};
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

/// The moments of accesses, or of pairs of accesses, in order and without repetitions.
type Moments = SmallVec<[(Moment, Moment); 1]>;

fn add_moments(moments: &mut Moments, first: Moment, second: Moment) {
    if moments.last() != Some(&(first, second)) {
        moments.push((first, second));
    }
}

/// Lists for the numbers from 0 on, stored one after the other.
struct Lists<T> {
    items: Vec<T>,
    ends: Vec<u32>,
}

impl<T> Default for Lists<T> {
    fn default() -> Lists<T> {
        Lists {
            items: Vec::new(),
            ends: Vec::new(),
        }
    }
}

impl<T: Copy + Default> Lists<T> {
    fn clear(&mut self) {
        self.items.clear();
        self.ends.clear();
    }

    /// Ends the list of the current number.
    fn end(&mut self) {
        self.ends.push(self.items.len() as u32);
    }

    /// Creates the lists for the numbers below `count` from these items, each of which comes with the number of its
    /// list.
    fn fill(&mut self, count: usize, all: impl Iterator<Item = (u32, T)> + Clone) {
        self.clear();
        self.ends.resize(count, 0);
        for (number, _) in all.clone() {
            self.ends[number as usize] += 1;
        }
        let mut begin = 0;
        for end in &mut self.ends {
            begin += std::mem::replace(end, begin);
        }
        self.items.resize(begin as usize, T::default());
        // Each entry of `ends` is the beginning of its list before this loop, and its end afterwards.
        for (number, item) in all {
            let next = &mut self.ends[number as usize];
            self.items[*next as usize] = item;
            *next += 1;
        }
    }

    #[inline]
    fn of(&self, number: u32) -> &[T] {
        let begin = number
            .checked_sub(1)
            .map_or(0, |before| self.ends[before as usize]);
        &self.items[begin as usize..self.ends[number as usize] as usize]
    }
}

/// A local pair.
struct Pair {
    first: u32,
    second: u32,
    /// The moments of its second and first accesses, whatever comes between them.
    near: Moments,
    /// The moments of its first and second accesses between which the task accesses neither variable.
    clean: Moments,
    /// The position of the last second access.
    position: usize,
}

/// The other end of a pair.
#[derive(Clone, Copy, Default)]
struct End {
    /// The number of the pair.
    pair: u32,
    /// The entry at that end, and its variable.
    entry: u32,
    var: u32,
}

/// The local pairs of an execution, as pairs of entries of its profile.
#[derive(Default)]
struct Pairs {
    list: Vec<Pair>,
    numbers: HashMap<u64, u32>,
    /// The pairs that begin with each entry, and the clean pairs of two variables that end with it.
    from: Lists<End>,
    clean_to: Lists<End>,
}

impl Pairs {
    /// Finds the pairs of an execution.
    fn find(&mut self, profiler: &Profiler, dependencies: &Dependencies, window: u32) {
        self.list.clear();
        self.numbers.clear();
        for accesses in profiler.tasks() {
            self.add_task(profiler, dependencies, accesses, window);
        }
        let var = |entry: u32| profiler.entry(entry).access.var;
        let end = |pair: u32, entry: u32| End {
            pair,
            entry,
            var: var(entry),
        };
        let pairs = (0..).zip(&self.list);
        let count = profiler.entries();
        self.from.fill(
            count,
            pairs
                .clone()
                .map(|(number, pair)| (pair.first, end(number, pair.second))),
        );
        let is_clean =
            |&(_, pair): &(u32, &Pair)| !pair.clean.is_empty() && var(pair.first) != var(pair.second);
        self.clean_to.fill(
            count,
            pairs
                .filter(is_clean)
                .map(|(number, pair)| (pair.second, end(number, pair.first))),
        );
    }

    fn add_task(
        &mut self,
        profiler: &Profiler,
        dependencies: &Dependencies,
        accesses: &[Profiled],
        window: u32,
    ) {
        let var = |access: &Profiled| profiler.entry(access.entry).access.var;
        let mut again = Again::default();
        // For each variable, the position of the last second access for which it was seen, plus 1.
        let mut seen: Vec<usize> = Vec::new();
        for (position, second) in accesses.iter().enumerate() {
            let roles = dependencies.roles(second.entry);
            if again.has_all(accesses, position, window) || roles == Roles::NONE {
                continue;
            }
            let own = var(second);
            // `true` if the variable of the second access was accessed in between.
            let mut is_between = false;
            for first in accesses[..position].iter().rev() {
                if second.index - first.index > window {
                    break;
                }
                let var = var(first);
                let seen = slot(&mut seen, of_var(var), || 0);
                let is_last = std::mem::replace(seen, position + 1) != position + 1;
                if first.index < second.index && dependencies.roles(first.entry).complete(roles) {
                    let is_clean = !is_between && (var == own || is_last);
                    self.add(first, second, position, is_clean);
                }
                is_between |= var == own;
            }
        }
    }

    fn add(&mut self, first: &Profiled, second: &Profiled, position: usize, is_clean: bool) {
        let both = u64::from(first.entry) << 32 | u64::from(second.entry);
        let number = *self.numbers.entry(both).or_insert_with(|| {
            self.list.push(Pair {
                first: first.entry,
                second: second.entry,
                near: Moments::new(),
                clean: Moments::new(),
                position: usize::MAX,
            });
            self.list.len() as u32 - 1
        });
        let pair = &mut self.list[number as usize];
        // Of several first accesses, the last one is enough: it has the fewest accesses of other tasks after it.
        if std::mem::replace(&mut pair.position, position) != position {
            add_moments(&mut pair.near, second.moment, first.moment);
        }
        if is_clean {
            add_moments(&mut pair.clean, first.moment, second.moment);
        }
    }
}

/// Recognises accesses whose windows equal that of an earlier access, so that they have no new pairs.
#[derive(Default)]
struct Again {
    /// The last position of each entry, plus 1.
    last: Vec<usize>,
    /// The earlier position that equals the position before the current one, and the number of events up to there that
    /// are equal.
    like: Option<usize>,
    events: u32,
}

impl Again {
    /// Returns `true` if the access at this position and those in the window before it are the same as at an earlier
    /// position. It has to be called for all positions in order.
    fn has_all(&mut self, accesses: &[Profiled], position: usize, window: u32) -> bool {
        let own = accesses[position];
        let gap = |at: usize| accesses[at].index - accesses[at - 1].index;
        let is_like = |other: Profiled| (other.entry, other.moment) == (own.entry, own.moment);
        let last = slot(&mut self.last, own.entry, || 0);
        let before = std::mem::replace(last, position + 1).checked_sub(1);
        match self.like {
            Some(like) if is_like(accesses[like + 1]) && gap(like + 1) == gap(position) => {
                self.like = Some(like + 1);
                self.events = self.events.saturating_add(gap(position));
            }
            _ => {
                self.like = before.filter(|&before| is_like(accesses[before]));
                self.events = 0;
            }
        }
        self.like.is_some() && self.events > window
    }
}

/// The sides of possible dependencies on which the accesses of an entry can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Roles {
    /// `true` if an access of another task could depend on one of them.
    leads: bool,
    /// `true` if one of them could depend on an access of another task.
    follows: bool,
}

impl Roles {
    const NONE: Roles = Roles {
        leads: false,
        follows: false,
    };

    /// Returns `true` if a pair with these roles can be part of an iRoot: one of its accesses can begin a dependency,
    /// and the other one can end one.
    fn complete(self, other: Roles) -> bool {
        self.leads && other.follows || self.follows && other.leads
    }
}

/// The possible dependencies between entries.
#[derive(Default)]
struct Dependencies {
    /// For each entry, and each entry of its variable, `true` if that one could depend on it.
    leads: Vec<bool>,
    /// For each entry, the position in `leads` at which it begins, and its position among the entries of its variable.
    begins: Vec<(usize, usize)>,
    roles: Vec<Roles>,
    /// The entries that could depend on each entry at the moments of this execution.
    next: Lists<u32>,
    /// The moments of the accesses of each entry. The list may be longer than the number of entries.
    moments: Vec<Moments>,
}

impl Dependencies {
    /// Finds the dependencies of an execution.
    fn find(&mut self, profiler: &Profiler) {
        let count = profiler.entries();
        self.moments.iter_mut().for_each(Moments::clear);
        if self.moments.len() < count {
            self.moments.resize_with(count, Moments::new);
        }
        for access in profiler.tasks().flatten() {
            add_moments(
                &mut self.moments[access.entry as usize],
                access.moment,
                access.moment,
            );
        }
        self.leads.clear();
        self.next.clear();
        self.begins.clear();
        self.begins.resize(count, (0, 0));
        self.roles.clear();
        self.roles.resize(count, Roles::NONE);
        for a in 0..count as u32 {
            let entry = profiler.entry(a);
            let begin = self.leads.len();
            for (at, &b) in profiler.of_var(entry.access.var).iter().enumerate() {
                let leads = entry.can_lead_to(profiler.entry(b));
                self.leads.push(leads);
                if leads {
                    self.roles[a as usize].leads = true;
                    self.roles[b as usize].follows = true;
                    if self.may_come_before(profiler, a, b) {
                        self.next.items.push(b);
                    }
                }
                if a == b {
                    self.begins[a as usize] = (begin, at);
                }
            }
            self.next.end();
        }
    }

    fn roles(&self, entry: u32) -> Roles {
        self.roles[entry as usize]
    }

    /// Returns `true` if the second entry could directly depend on the first, at some moments. Both have to be of the
    /// same variable.
    #[inline]
    fn lead(&self, first: u32, second: u32) -> bool {
        let ((begin, _), (_, at)) = (self.begins[first as usize], self.begins[second as usize]);
        self.leads[begin + at]
    }

    /// Returns `true` if the first access of the first entry need not come after the last access of the second one.
    fn may_come_before(&self, profiler: &Profiler, first: u32, second: u32) -> bool {
        let one = self.moments[first as usize].first();
        let other = self.moments[second as usize].last();
        let (Some(&(one, _)), Some(&(other, _))) = (one, other) else {
            return false;
        };
        need_not_precede(profiler, other, profiler.entry(second).access.task, one)
    }
}

/// Returns `true` if a moment of a task need not come before a moment of another task, because it is not known there.
fn need_not_precede(profiler: &Profiler, moment: Moment, task: u32, other: Moment) -> bool {
    profiler.known(other, task) < profiler.known(moment, task)
}

/// A predictor of iRoots from one profile after the other. From one to the next it keeps only its buffers.
#[derive(Default)]
pub(super) struct Predictor {
    dependencies: Dependencies,
    pairs: Pairs,
}

impl Predictor {
    /// Adds the iRoots of idioms 1 to 5 that the execution predicts to `known`, up to `known_max` iRoots. Returns the
    /// new ones, and `true` if none was left out.
    pub(super) fn predict(
        &mut self,
        profiler: &Profiler,
        window: u32,
        known: &mut HashSet<IRoot>,
        known_max: usize,
    ) -> (Vec<IRoot>, bool) {
        let Predictor { dependencies, pairs } = self;
        dependencies.find(profiler);
        pairs.find(profiler, dependencies, window);
        let mut prediction = Prediction {
            profiler,
            dependencies,
            pairs,
            known,
            known_max,
            new: Vec::new(),
        };
        let whole = prediction.all().is_some();
        (prediction.new, whole)
    }
}

/// A prediction in progress.
struct Prediction<'a> {
    profiler: &'a Profiler,
    dependencies: &'a Dependencies,
    pairs: &'a Pairs,
    known: &'a mut HashSet<IRoot>,
    known_max: usize,
    new: Vec<IRoot>,
}

impl Prediction<'_> {
    /// Finds all predicted iRoots. Returns `None` if one had to be left out.
    fn all(&mut self) -> Option<()> {
        self.single()?;
        self.deadlocks()?;
        let pairs = self.pairs;
        for pair in pairs.list.iter().filter(|pair| !pair.clean.is_empty()) {
            self.with_pair(pair)?;
        }
        Some(())
    }

    /// Finds the iRoots of idiom 1.
    fn single(&mut self) -> Option<()> {
        let dependencies = self.dependencies;
        for a in 0..self.profiler.entries() as u32 {
            for &b in dependencies.next.of(a) {
                self.add(1, &[a, b])?;
            }
        }
        Some(())
    }

    /// Finds the iRoots of idiom 5 in which two takings of locks block each other.
    fn deadlocks(&mut self) -> Option<()> {
        let takes = |&entry: &u32| self.entry(entry).is_nested_taking();
        let takes: Vec<u32> = (0..self.profiler.entries() as u32).filter(takes).collect();
        for &one in &takes {
            for &other in &takes {
                let Some([(a, d), (c, b)]) = self.entry(one).blocks(self.entry(other)) else {
                    continue;
                };
                let [first, second] = [one, other].map(|entry| self.moments(entry));
                if self.fit(self.task(one), first, self.task(other), second) {
                    self.insert(5, &[a, b, c, d])?;
                }
            }
        }
        Some(())
    }

    /// Finds the iRoots of idioms 2 to 5 in which this is the pair of the first task.
    fn with_pair(&mut self, pair: &Pair) -> Option<()> {
        let Prediction {
            dependencies, pairs, ..
        } = *self;
        let (a, d) = (pair.first, pair.second);
        let (task, var) = (self.task(a), self.var(d));
        let is_one = self.var(a) == var;
        for &b in dependencies.next.of(a) {
            let other = self.task(b);
            let fit = |this: &Self, moments: &Moments| this.fit(task, &pair.clean, other, moments);
            if is_one && dependencies.lead(b, d) && fit(self, self.moments(b)) {
                self.add(2, &[a, b, d])?;
            }
            let from = pairs.from.of(b).iter().filter(|end| end.var == var);
            for &End { pair, entry: c, .. } in from {
                if dependencies.lead(c, d) && fit(self, &pairs.list[pair as usize].near) {
                    self.add(if is_one { 3 } else { 4 }, &[a, b, c, d])?;
                }
            }
            if is_one {
                continue;
            }
            let to = pairs.clean_to.of(b).iter().filter(|end| end.var == var);
            for &End { pair, entry: c, .. } in to {
                if dependencies.lead(c, d) && fit(self, &pairs.list[pair as usize].clean) {
                    self.add(5, &[a, b, c, d])?;
                }
            }
        }
        Some(())
    }

    fn entry(&self, number: u32) -> &Entry {
        self.profiler.entry(number)
    }

    fn moments(&self, entry: u32) -> &Moments {
        &self.dependencies.moments[entry as usize]
    }

    fn task(&self, entry: u32) -> u32 {
        self.entry(entry).access.task
    }

    fn var(&self, entry: u32) -> u32 {
        self.entry(entry).access.var
    }

    fn need_not_precede(&self, moment: Moment, task: u32, other: Moment) -> bool {
        need_not_precede(self.profiler, moment, task, other)
    }

    /// Returns `true` if some of these moments of pairs of two tasks permit both dependencies: the second access of
    /// each task need not come before the first access of the other task.
    fn fit(&self, one: u32, ones: &Moments, other: u32, others: &Moments) -> bool {
        let mut rest = others.iter();
        let mut candidate = rest.next();
        for &(first, second) in ones {
            // Pairs whose second access has to come before `first` are skipped. Of the others, the earliest one knows
            // least, so it fits best.
            while let Some(&(_, last)) = candidate
                && !self.need_not_precede(last, other, first)
            {
                candidate = rest.next();
            }
            let Some(&(known, _)) = candidate else {
                return false;
            };
            if self.need_not_precede(second, one, known) {
                return true;
            }
        }
        false
    }

    fn add(&mut self, idiom: u8, entries: &[u32]) -> Option<()> {
        let mut places = [0; 4];
        for (place, &entry) in places.iter_mut().zip(entries) {
            *place = self.entry(entry).access.place;
        }
        self.insert(idiom, &places[..entries.len()])
    }

    fn insert(&mut self, idiom: u8, places: &[u32]) -> Option<()> {
        let iroot = IRoot::new(idiom, places).expect("as many places as the idiom has");
        if self.known.contains(&iroot) {
            return Some(());
        }
        if self.known.len() >= self.known_max {
            return None;
        }
        self.known.insert(iroot);
        self.new.push(iroot);
        Some(())
    }
}
