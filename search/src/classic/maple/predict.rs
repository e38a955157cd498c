//! Prediction of iRoots from single dependencies and pairs of accesses: Maple, section 3.6.
//!
//! A *local pair* is two accesses of one task in the vulnerability window. A pair of one task, a pair of another, and
//! two matching predicted dependencies between them are a predicted iRoot. It is not checked that both dependencies can
//! come true in one execution.
//!
//! Accesses of one entry differ only in their moments. A task's clock only grows. So if `A => B` is possible at all, it
//! is possible at the first moment of A and the last one of B. Pairs of equal entries are one pair here, with the list
//! of their moments.

use super::iroot::IRoot;
use super::order::Moment;
use super::profile::{Entry, Profiled, Profiler};
use super::slots::{of_var, slot};
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

/// Moments of accesses, or of pairs of accesses, in order; the same moments are there once.
type Moments = SmallVec<[(Moment, Moment); 1]>;

fn add_moments(moments: &mut Moments, first: Moment, second: Moment) {
    if moments.last() != Some(&(first, second)) {
        moments.push((first, second));
    }
}

/// A local pair.
struct Pair {
    first: u32,
    second: u32,
    /// The moments of its second and first accesses, whatever lies between them.
    near: Moments,
    /// The moments of those between which the task accesses neither variable.
    clean: Moments,
    /// The position of the last second access.
    position: usize,
}

/// The local pairs of an execution, as entries of its profile.
#[derive(Default)]
struct Pairs {
    list: Vec<Pair>,
    numbers: HashMap<(u32, u32), u32>,
    /// The pairs that begin with each entry, and the clean ones of two variables that end with it.
    from: Vec<Vec<u32>>,
    clean_to: Vec<Vec<u32>>,
}

impl Pairs {
    fn of(profiler: &Profiler, window: u32) -> Pairs {
        let mut pairs = Pairs::default();
        let entries = profiler.entries().len();
        pairs.from.resize_with(entries, Vec::new);
        pairs.clean_to.resize_with(entries, Vec::new);
        for accesses in profiler.tasks() {
            pairs.add_task(profiler, accesses, window);
        }
        for (number, pair) in (0..).zip(&pairs.list) {
            pairs.from[pair.first as usize].push(number);
            let var = |entry: u32| profiler.entry(entry).access.var;
            if !pair.clean.is_empty() && var(pair.first) != var(pair.second) {
                pairs.clean_to[pair.second as usize].push(number);
            }
        }
        pairs
    }

    fn add_task(&mut self, profiler: &Profiler, accesses: &[Profiled], window: u32) {
        let var = |access: &Profiled| profiler.entry(access.entry).access.var;
        let mut again = Again::default();
        // The last position at which each variable was seen before the second access, plus 1.
        let mut seen: Vec<usize> = Vec::new();
        for (position, second) in accesses.iter().enumerate() {
            if again.has_all(accesses, position, window) {
                continue;
            }
            let own = var(second);
            // `true` if the variable of the second was accessed in between.
            let mut is_between = false;
            for first in accesses[..position].iter().rev() {
                if second.index - first.index > window {
                    break;
                }
                let var = var(first);
                let seen = slot(&mut seen, of_var(var), || 0);
                let is_last = std::mem::replace(seen, position + 1) != position + 1;
                if first.index < second.index {
                    let is_clean = !is_between && (var == own || is_last);
                    self.add(first, second, position, is_clean);
                }
                is_between |= var == own;
            }
        }
    }

    fn add(&mut self, first: &Profiled, second: &Profiled, position: usize, is_clean: bool) {
        let number = *self
            .numbers
            .entry((first.entry, second.entry))
            .or_insert_with(|| {
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
        // Of several first accesses the last is enough: the fewest accesses of other tasks come after it.
        if std::mem::replace(&mut pair.position, position) != position {
            add_moments(&mut pair.near, second.moment, first.moment);
        }
        if is_clean {
            add_moments(&mut pair.clean, first.moment, second.moment);
        }
    }
}

/// A search for accesses whose windows are alike, so that the later one has no new pairs.
#[derive(Default)]
struct Again {
    /// The last position of each entry, plus 1.
    last: Vec<usize>,
    /// The position that the one before equals, and the number of events up to there that are equal.
    like: Option<usize>,
    events: u32,
}

impl Again {
    /// Returns `true` if the accesses in the window before this position, and the one there, are the same as at an
    /// earlier position. Positions come in order.
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

/// Adds the iRoots of idioms 1 to 5 that the execution predicts to those that are known, up to `known_max` of them.
/// Returns the new ones, and `true` if none was left out.
pub(super) fn predict(
    profiler: &Profiler,
    window: u32,
    known: &mut HashSet<IRoot>,
    known_max: usize,
) -> (Vec<IRoot>, bool) {
    let mut prediction = Prediction {
        profiler,
        moments: vec![Moments::new(); profiler.entries().len()],
        next: vec![Vec::new(); profiler.entries().len()],
        known,
        known_max,
        new: Vec::new(),
    };
    for access in profiler.tasks().flatten() {
        let moments = &mut prediction.moments[access.entry as usize];
        add_moments(moments, access.moment, access.moment);
    }
    let whole = prediction.all(window).is_some();
    (prediction.new, whole)
}

/// A prediction under way.
struct Prediction<'a> {
    profiler: &'a Profiler,
    /// The moments of the accesses of each entry.
    moments: Vec<Moments>,
    /// The entries that could depend on each entry.
    next: Vec<Vec<u32>>,
    known: &'a mut HashSet<IRoot>,
    known_max: usize,
    new: Vec<IRoot>,
}

impl Prediction<'_> {
    /// Finds all. Returns `None` if one had to be left out.
    fn all(&mut self, window: u32) -> Option<()> {
        self.single()?;
        self.deadlocks()?;
        let pairs = Pairs::of(self.profiler, window);
        for pair in pairs.list.iter().filter(|pair| !pair.clean.is_empty()) {
            let next = std::mem::take(&mut self.next[pair.first as usize]);
            let found = self.with_pair(&pairs, pair, &next);
            self.next[pair.first as usize] = next;
            found?;
        }
        Some(())
    }

    /// Finds the iRoots of idiom 1.
    fn single(&mut self) -> Option<()> {
        for a in 0..self.next.len() as u32 {
            let entry = self.entry(a);
            let others = self.profiler.of_var(entry.access.var).iter().copied();
            let next: Vec<u32> = others
                .filter(|&b| entry.can_lead_to(self.entry(b)) && self.may_come_before(a, b))
                .collect();
            for &b in &next {
                self.add(1, &[a, b])?;
            }
            self.next[a as usize] = next;
        }
        Some(())
    }

    /// Finds the iRoots of idiom 5 of two takings of locks that can block each other.
    fn deadlocks(&mut self) -> Option<()> {
        let takes = |&entry: &u32| self.entry(entry).is_nested_taking();
        let takes: Vec<u32> = (0..self.next.len() as u32).filter(takes).collect();
        for &one in &takes {
            for &other in &takes {
                let Some([(a, d), (c, b)]) = self.entry(one).blocks(self.entry(other)) else {
                    continue;
                };
                let [first, second] = [one, other].map(|entry| &self.moments[entry as usize]);
                if self.fit(self.task(one), first, self.task(other), second) {
                    self.insert(5, &[a, b, c, d])?;
                }
            }
        }
        Some(())
    }

    /// Finds the iRoots of idioms 2 to 5 of which this is the pair of the first task.
    fn with_pair(&mut self, pairs: &Pairs, pair: &Pair, next: &[u32]) -> Option<()> {
        let (a, d) = (pair.first, pair.second);
        let (task, var) = (self.task(a), self.var(d));
        let is_one = self.var(a) == var;
        for &b in next {
            let other = self.task(b);
            let fit = |this: &Self, moments: &Moments| this.fit(task, &pair.clean, other, moments);
            if is_one && self.leads(b, d) && fit(self, &self.moments[b as usize]) {
                self.add(2, &[a, b, d])?;
            }
            for second in pairs.from[b as usize]
                .iter()
                .map(|&number| &pairs.list[number as usize])
            {
                let c = second.second;
                if self.var(c) == var && self.leads(c, d) && fit(self, &second.near) {
                    self.add(if is_one { 3 } else { 4 }, &[a, b, c, d])?;
                }
            }
            if is_one {
                continue;
            }
            for second in pairs.clean_to[b as usize]
                .iter()
                .map(|&number| &pairs.list[number as usize])
            {
                let c = second.first;
                if self.var(c) == var && self.leads(c, d) && fit(self, &second.clean) {
                    self.add(5, &[a, b, c, d])?;
                }
            }
        }
        Some(())
    }

    fn entry(&self, number: u32) -> &Entry {
        self.profiler.entry(number)
    }

    fn task(&self, entry: u32) -> u32 {
        self.entry(entry).access.task
    }

    fn var(&self, entry: u32) -> u32 {
        self.entry(entry).access.var
    }

    /// Returns `true` if the second entry could depend on the first directly, at some moments.
    fn leads(&self, first: u32, second: u32) -> bool {
        self.entry(first).can_lead_to(self.entry(second))
    }

    /// Returns `true` if an access of the first entry, the first one, need not come after one of the second, the last.
    fn may_come_before(&self, first: u32, second: u32) -> bool {
        let one = self.moments[first as usize].first();
        let other = self.moments[second as usize].last();
        let (Some(&(one, _)), Some(&(other, _))) = (one, other) else {
            return false;
        };
        self.precedes_not(other, self.task(second), one)
    }

    /// Returns `true` if a moment of a task is not known at a moment of another, so that it need not come before it.
    fn precedes_not(&self, moment: Moment, task: u32, other: Moment) -> bool {
        self.profiler.known(other, task) < self.profiler.known(moment, task)
    }

    /// Returns `true` if of the moments of pairs of two tasks there are some that permit two dependencies: the second of
    /// the other task's need not come before the first of the one's, and the second of the one's need not come before the
    /// first of the other's.
    fn fit(&self, one: u32, ones: &Moments, other: u32, others: &Moments) -> bool {
        let mut rest = others.iter();
        let mut candidate = rest.next();
        for &(first, second) in ones {
            // Skip pairs whose second access must come before `first`. Of the others the earliest knows least, so it
            // fits best.
            while let Some(&(_, last)) = candidate
                && !self.precedes_not(last, other, first)
            {
                candidate = rest.next();
            }
            let Some(&(known, _)) = candidate else {
                return false;
            };
            if self.precedes_not(second, one, known) {
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
