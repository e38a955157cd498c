//! The variables of a test: their identities across executions, which of them are shared, and which come from the same
//! loop.
//!
//! A variable is identified across executions by its name: its kind, the task that used it first, and its index among
//! that task's first uses. (The paper uses allocations. Here constructors are `const` and cannot observe that they run,
//! so a variable is first observed when it is first used.) If it depends on the schedule which of two tasks uses a
//! variable first, the variable has two names, and each is searched. That misses nothing: in every execution each
//! variable has one name, which is known before any preemption is attributed to it.
//!
//! Variables of one kind that were first used at the same place in the source are of the same type. The index of a
//! variable among those of its type in the execution is its iteration. (The paper uses call stacks. Here only the
//! innermost place outside std is known, or its caller's with `#[track_caller]`.)
//!
//! If arrays count as one variable each (`arrays.rs`), an array is identified by its kind and the place at which it
//! began.

use super::arrays::Arrays;
use crate::classic::slots::slot;
use hashbrown::HashMap;
use intermezzo_engine::record::VarKind;
use intermezzo_engine::runtime::{site_name, var_identity};
use intermezzo_engine::site::Place;
use intermezzo_engine::strategy::ChoicePoint;
use intermezzo_engine::trace::Trace;
use std::cmp::Ordering;

/// The identity of a variable in all executions.
pub(super) type VariableId = u32;

pub(super) struct Variables {
    /// The arrays; `None` if each element counts as a variable.
    arrays: Option<Arrays>,
    by_name: HashMap<Name, VariableId>,
    about: Vec<About>,
    /// The numbers of tasks in all executions, by the numbers of their creators and their indices among these tasks.
    tasks: HashMap<(u32, u32), u32>,
    /// The numbers of those tasks of the current execution that have been looked up.
    tasks_here: Vec<Option<u32>>,
    /// The identities of those variables of the current execution that have been looked up, by their numbers in it; for
    /// an array, by the number of its first variable.
    here: Vec<Option<VariableId>>,
    /// The position of each variable of the current execution among those of its place, as far as they have been
    /// queried, and the number of these variables by kind and place.
    positions: Vec<u32>,
    of_place: HashMap<(VarKind, Place), u32>,
}

/// The name of a variable or an array: [`var_identity`] in numbers.
#[derive(PartialEq, Eq, Hash)]
enum Name {
    /// Its kind, the number in all executions of the task that used it first, and its index among that task's first
    /// uses.
    Variable(VarKind, u32, u32),
    /// Its kind, and the place at which it began.
    Array(VarKind, Place),
}

struct About {
    name: String,
    /// `true` if tasks were seen to share it: two accessed it, and one of them wrote.
    shared: bool,
    iteration: usize,
}

impl Variables {
    /// Returns an empty set of variables. With `whole`, arrays count as one variable each.
    pub(super) fn new(whole: bool) -> Variables {
        Variables {
            arrays: whole.then(Arrays::default),
            by_name: HashMap::new(),
            about: Vec::new(),
            tasks: HashMap::new(),
            tasks_here: Vec::new(),
            here: Vec::new(),
            positions: Vec::new(),
            of_place: HashMap::new(),
        }
    }

    /// Returns `true` if arrays count as one variable each.
    pub(super) fn has_arrays(&self) -> bool {
        self.arrays.is_some()
    }

    /// Begins another execution, in which variables have other numbers.
    pub(super) fn begin(&mut self) {
        self.here.clear();
        self.tasks_here.clear();
        self.positions.clear();
        self.of_place.clear();
        if let Some(arrays) = &mut self.arrays {
            arrays.begin();
        }
    }

    /// Returns the variable or array to which a preemption is attributed that follows an access to this variable of the
    /// current execution: its identity, and its number in the execution.
    pub(super) fn counted(&mut self, point: &ChoicePoint<'_>, var: u32) -> (VariableId, u32) {
        let number = match &mut self.arrays {
            Some(arrays) => {
                arrays.catch_up(point);
                arrays.first_of(var)
            }
            None => var,
        };
        (self.known(point, number), number)
    }

    /// Returns the position of the variable with this number among those of its kind that the current execution first
    /// used at the same place. It is 0 for plain memory and park tokens, which have no place.
    pub(super) fn position(&mut self, point: &ChoicePoint<'_>, var: u32) -> u32 {
        for known in self.positions.len() as u32..=var {
            let known = &point.vars[known];
            let before = known.first_site.map_or(0, |site| {
                let count = self.of_place.entry((known.kind, site.place())).or_default();
                std::mem::replace(count, *count + 1)
            });
            self.positions.push(before);
        }
        self.positions[var as usize]
    }

    /// Returns the identity of the variable with this number in the current execution.
    fn known(&mut self, point: &ChoicePoint<'_>, var: u32) -> VariableId {
        let at = var as usize;
        if self.here.len() <= at {
            self.here.resize(at + 1, None);
        }
        if let Some(known) = self.here[at] {
            return known;
        }
        let entry = &point.vars[var];
        let name = match &self.arrays {
            Some(arrays) => Name::Array(entry.kind, arrays.begun_at(var).place()),
            None => match entry.kind {
                VarKind::Task => Name::Variable(entry.kind, self.task(point, entry.first_user), 0),
                VarKind::Clock => Name::Variable(entry.kind, 0, 0),
                kind => Name::Variable(kind, self.task(point, entry.first_user), entry.ordinal),
            },
        };
        let known = match self.by_name.get(&name) {
            Some(&known) => known,
            None => self.learn_of(point, var, name),
        };
        self.here[at] = Some(known);
        known
    }

    /// Returns the number of a task in all executions. It is identified by its creator and its index among the
    /// creator's tasks.
    fn task(&mut self, point: &ChoicePoint<'_>, task: u32) -> u32 {
        let known = self.tasks_here.get(task as usize).copied().flatten();
        if let Some(known) = known {
            return known;
        }
        let known = match task {
            0 => 0,
            _ => {
                let entry = &point.tasks[task as usize];
                let creator = self.task(point, entry.parent);
                let next = self.tasks.len() as u32 + 1;
                *self.tasks.entry((creator, entry.ordinal)).or_insert(next)
            }
        };
        *slot(&mut self.tasks_here, task, || None) = Some(known);
        known
    }

    fn learn_of(&mut self, point: &ChoicePoint<'_>, var: u32, name: Name) -> VariableId {
        let known = self.about.len() as VariableId;
        // An array is not created in one round of a loop.
        let iteration = if self.has_arrays() {
            0
        } else {
            iteration(point, var)
        };
        let in_words = match &self.arrays {
            Some(arrays) => format!(
                "{} at {}",
                point.vars[var].kind.name(),
                site_name(arrays.begun_at(var))
            ),
            None => var_identity(point.vars, point.tasks, var),
        };
        self.by_name.insert(name, known);
        self.about.push(About {
            name: in_words,
            shared: false,
            iteration,
        });
        known
    }

    /// Notes which variables tasks shared in the execution that has ended.
    pub(super) fn look_at(&mut self, trace: &Trace) {
        let about = &mut self.about;
        let mut look_at = |var: u32, known: Option<VariableId>| {
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

    /// Compares two sets in search order. The one with fewer variables that are not known to be shared comes first;
    /// then the one of earlier iterations; then the one that was found first.
    pub(super) fn order(&self, one: &[VariableId], other: &[VariableId]) -> Ordering {
        let worth = |set: &[VariableId]| {
            let about = || set.iter().map(|&known| &self.about[known as usize]);
            let unshared = about().filter(|about| !about.shared).count();
            let iterations = || about().map(|about| about.iteration);
            (unshared, iterations().max(), iterations().sum::<usize>())
        };
        worth(one).cmp(&worth(other)).then_with(|| one.cmp(other))
    }

    /// Returns a set as text.
    pub(super) fn in_words(&self, set: &[VariableId]) -> String {
        let names = set.iter().map(|&known| self.about[known as usize].name.as_str());
        names.collect::<Vec<_>>().join(", ")
    }
}

/// Returns the iteration of a variable: the number of variables of its type before it.
fn iteration(point: &ChoicePoint<'_>, var: u32) -> usize {
    let vars = point.vars;
    let kind_and_site = |var: u32| vars[var].first_site.map(|site| (vars[var].kind, site));
    let own = kind_and_site(var);
    let before = (0..var).filter(|&other| own.is_some() && kind_and_site(other) == own);
    before.count()
}
