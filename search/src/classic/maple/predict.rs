//! Prediction of iRoots from single dependencies and pairs of accesses: Maple, section 3.6.
//!
//! A *local pair* is two accesses of one task in the vulnerability window. A pair of one task, a pair of another, and
//! two matching predicted dependencies between them are a predicted iRoot. It is not checked that both dependencies can
//! come true in one execution.

use super::iroot::IRoot;
use super::profile::Profiler;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The largest number of iRoots that one execution predicts: more would never be tested.
const PREDICTED_MAX: usize = 100_000;

/// The local pairs of an execution, as entries of its profile.
#[derive(Default)]
struct Pairs {
    /// Pairs on one variable with no access of the task between them.
    adjacent: HashSet<(u32, u32)>,
    /// Pairs on two variables without another access of the task to either in between.
    clean: HashSet<(u32, u32)>,
    /// The entries that follow an entry, whatever lies between.
    following: HashMap<u32, BTreeSet<u32>>,
}

impl Pairs {
    fn of(profiler: &Profiler, window: u32) -> Pairs {
        let mut pairs = Pairs::default();
        for task in profiler.tasks() {
            for (at, second) in task.iter().enumerate() {
                let mut seen = Vec::new();
                // `true` if the variable of the second was accessed in between.
                let mut again = false;
                for first in task[..at].iter().rev() {
                    if second.index - first.index > window {
                        break;
                    }
                    let same = first.var == second.var;
                    if first.index < second.index {
                        let pair = (first.entry, second.entry);
                        pairs.following.entry(pair.0).or_default().insert(pair.1);
                        if same && !again {
                            pairs.adjacent.insert(pair);
                        } else if !same && !again && !seen.contains(&first.var) {
                            pairs.clean.insert(pair);
                        }
                    }
                    again |= same;
                    seen.push(first.var);
                }
            }
        }
        pairs
    }

    fn following(&self, entry: u32) -> impl Iterator<Item = u32> + '_ {
        self.following.get(&entry).into_iter().flatten().copied()
    }
}

/// Returns the iRoots of idioms 1 to 5 that the execution predicts, and `true` if those are all.
pub(crate) fn predicted(profiler: &Profiler, window: u32) -> (BTreeSet<IRoot>, bool) {
    let mut found = BTreeSet::new();
    let mut add = |idiom: u8, places: &[u32]| {
        found.extend(IRoot::new(idiom, places));
        found.len() < PREDICTED_MAX
    };
    let place = |entry: u32| profiler.entry(entry).place;
    for a in 0..profiler.entries() {
        for &b in profiler.next(a) {
            if !add(1, &[a, b].map(place)) {
                return (found, false);
            }
        }
    }
    for [(a, d), (c, b)] in profiler.deadlocks() {
        if !add(5, &[a, b, c, d]) {
            return (found, false);
        }
    }
    let pairs = Pairs::of(profiler, window);
    let sorted = |pairs: &HashSet<(u32, u32)>| pairs.iter().copied().collect::<BTreeSet<_>>();
    for (a, d) in sorted(&pairs.adjacent) {
        for &b in profiler.next(a) {
            if profiler.leads(b, d) && !add(2, &[a, b, d].map(place)) {
                return (found, false);
            }
            let var = profiler.entry(a).var;
            for c in pairs
                .following(b)
                .filter(|&c| profiler.entry(c).var == var && profiler.leads(c, d))
            {
                if !add(3, &[a, b, c, d].map(place)) {
                    return (found, false);
                }
            }
        }
    }
    for (a, d) in sorted(&pairs.clean) {
        let y = profiler.entry(d).var;
        for &b in profiler.next(a) {
            for c in pairs
                .following(b)
                .filter(|&c| profiler.entry(c).var == y && profiler.leads(c, d))
            {
                if !add(4, &[a, b, c, d].map(place)) {
                    return (found, false);
                }
            }
        }
    }
    // The second pair ends at an entry to which the first of the first pair leads.
    let mut clean_to: HashMap<u32, Vec<u32>> = HashMap::new();
    for (first, second) in sorted(&pairs.clean) {
        clean_to.entry(second).or_default().push(first);
    }
    for (a, d) in sorted(&pairs.clean) {
        let y = profiler.entry(d).var;
        for &b in profiler.next(a) {
            let firsts = clean_to.get(&b).into_iter().flatten().copied();
            for c in firsts.filter(|&c| profiler.entry(c).var == y && profiler.leads(c, d)) {
                if !add(5, &[a, b, c, d].map(place)) {
                    return (found, false);
                }
            }
        }
    }
    (found, true)
}
