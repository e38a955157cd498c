//! What is known of a test's variables: which are shared, and which come from one loop.
//!
//! A variable is known from one execution to the next by its name: what it is, who used it first, and the how-manieth first
//! use of that task it was. (The paper goes by allocations; here constructors are `const` and cannot tell that they run, so
//! the first use is the first that is heard of a variable.) Where two tasks use a variable first in an order that depends
//! on the schedule, it has two names, and each is searched. Nothing is missed by that: every execution has one name for each
//! of its variables, fixed before any preemption counts against it.
//!
//! Variables of one kind that were used first at the same place in the source are of one type, and the how-manieth of its
//! type a variable is in its execution is its iteration. (The paper goes by call stacks; what is kept of them is the innermost
//! place outside std's names, which `#[track_caller]` moves to the caller.)
//!
//! Where arrays count as one variable each (`arrays.rs`), an array is known by its kind and the place at which it began.

use super::arrays::Arrays;
use intermezzo_engine::runtime::{site_name, var_identity};
use intermezzo_engine::strategy::ChoicePoint;
use intermezzo_engine::trace::Trace;
use std::cmp::Ordering;
use std::collections::HashMap;

/// A variable, as it is known in all executions.
pub(super) type Known = u32;

pub(super) struct Variables {
    /// `None` if each element counts by itself.
    arrays: Option<Arrays>,
    by_name: HashMap<String, Known>,
    about: Vec<About>,
    /// Variables of the running execution that were asked for, by their number there: of an array, that of the first.
    here: Vec<Option<Known>>,
}

struct About {
    name: String,
    /// `true` if two tasks were seen to access it, one of them writing.
    shared: bool,
    iteration: usize,
}

impl Variables {
    /// None yet. `whole` says whether arrays count as one variable each.
    pub(super) fn new(whole: bool) -> Variables {
        Variables {
            arrays: whole.then(Arrays::default),
            by_name: HashMap::new(),
            about: Vec::new(),
            here: Vec::new(),
        }
    }

    /// Returns `true` if arrays count as one variable each.
    pub(super) fn has_arrays(&self) -> bool {
        self.arrays.is_some()
    }

    /// Another execution begins: its variables have numbers of their own.
    pub(super) fn begin(&mut self) {
        self.here.clear();
        if let Some(arrays) = &mut self.arrays {
            arrays.begin();
        }
    }

    /// What a preemption after an access to this variable of the running execution counts against: the variable or its array,
    /// as it is known and with its number in the execution.
    pub(super) fn counted(&mut self, point: &ChoicePoint<'_>, var: u32) -> (Known, u32) {
        let number = match &mut self.arrays {
            Some(arrays) => {
                arrays.catch_up(point);
                arrays.first_of(var)
            }
            None => var,
        };
        (self.known(point, number), number)
    }

    /// What has this number in the running execution.
    fn known(&mut self, point: &ChoicePoint<'_>, var: u32) -> Known {
        let at = var as usize;
        if self.here.len() <= at {
            self.here.resize(at + 1, None);
        }
        if let Some(known) = self.here[at] {
            return known;
        }
        let name = match &self.arrays {
            Some(arrays) => format!(
                "{} at {}",
                point.vars[var].kind.name(),
                site_name(arrays.begun_at(var))
            ),
            None => var_identity(point.vars, point.tasks, var),
        };
        let known = match self.by_name.get(&name) {
            Some(&known) => known,
            None => self.learn_of(point, var, name),
        };
        self.here[at] = Some(known);
        known
    }

    fn learn_of(&mut self, point: &ChoicePoint<'_>, var: u32, name: String) -> Known {
        let known = self.about.len() as Known;
        // An array has all of its elements from the first round on.
        let iteration = if self.has_arrays() {
            0
        } else {
            iteration(point, var)
        };
        self.by_name.insert(name.clone(), known);
        self.about.push(About {
            name,
            shared: false,
            iteration,
        });
        known
    }

    /// Looks at an execution that is over: who shared its variables.
    pub(super) fn look_at(&mut self, trace: &Trace) {
        let about = &mut self.about;
        let mut look_at = |var: u32, known: Option<Known>| {
            if let Some(known) = known
                && !about[known as usize].shared
            {
                about[known as usize].shared = trace.is_shared(var);
            }
        };
        match &self.arrays {
            Some(arrays) => {
                for (var, first) in arrays.members() {
                    look_at(var, self.here.get(first as usize).copied().flatten());
                }
            }
            None => (0..)
                .zip(&self.here)
                .for_each(|(var, known)| look_at(var, *known)),
        }
    }

    /// Which of two sets is searched first: the one with fewer variables that are not known to be shared; then the one
    /// from earlier iterations; then the one met first.
    pub(super) fn order(&self, one: &[Known], other: &[Known]) -> Ordering {
        let worth = |set: &[Known]| {
            let about = || set.iter().map(|&known| &self.about[known as usize]);
            let unshared = about().filter(|about| !about.shared).count();
            let iterations = || about().map(|about| about.iteration);
            (unshared, iterations().max(), iterations().sum::<usize>())
        };
        worth(one).cmp(&worth(other)).then_with(|| one.cmp(other))
    }

    /// Returns a set in words.
    pub(super) fn in_words(&self, set: &[Known]) -> String {
        let names = set.iter().map(|&known| self.about[known as usize].name.as_str());
        names.collect::<Vec<_>>().join(", ")
    }
}

/// How many variables of its type came before a variable.
fn iteration(point: &ChoicePoint<'_>, var: u32) -> usize {
    let vars = point.vars;
    let kind_and_site = |var: u32| vars[var].first_site.map(|site| (vars[var].kind, site));
    let own = kind_and_site(var);
    let before = (0..var).filter(|&other| own.is_some() && kind_and_site(other) == own);
    before.count()
}
