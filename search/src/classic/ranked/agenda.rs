//! The remaining prefixes, by rank, and within a rank by set of variables.

use super::orders::Orders;
use super::variables::{VariableId, Variables};
use crate::branch::Branch;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The rank of an execution, which determines the order of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Level {
    pub(super) preemptions: u32,
    pub(super) variables: u32,
    /// The number of tasks for which every order is tried; 0 without a bound on threads.
    pub(super) threads: u32,
}

/// The variables, or arrays, to which the preemptions of an execution are attributed: their identities in all
/// executions, and their numbers in this one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Set(SmallVec<[(VariableId, u32); 2]>);

impl Set {
    /// Returns the number of variables.
    pub(super) fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// Returns the set with this variable added, if there is one.
    pub(super) fn with(&self, variable: Option<(VariableId, u32)>) -> Set {
        let mut set = self.clone();
        if let Some(variable) = variable
            && let Err(at) = set.0.binary_search(&variable)
        {
            set.0.insert(at, variable);
        }
        set
    }

    /// Returns `true` if the set contains this variable.
    pub(super) fn has(&self, variable: (VariableId, u32)) -> bool {
        self.0.binary_search(&variable).is_ok()
    }

    /// Returns the identities of the variables in all executions.
    pub(super) fn known(&self) -> SmallVec<[VariableId; 2]> {
        self.0.iter().map(|(known, _)| *known).collect()
    }

    /// Returns the numbers of the variables in the execution.
    pub(super) fn numbers(&self) -> SmallVec<[u32; 2]> {
        self.0.iter().map(|(_, number)| *number).collect()
    }
}

/// An unexplored prefix.
#[derive(Clone)]
pub(super) struct Item {
    pub(super) branch: Branch,
    pub(super) level: Level,
    pub(super) set: Set,
    pub(super) orders: Orders,
}

/// Unexplored prefixes, by level and by the set of variables to which they belong.
#[derive(Default)]
pub(super) struct Agenda {
    levels: BTreeMap<Level, BTreeMap<SmallVec<[VariableId; 2]>, Vec<Item>>>,
    /// The items of the current set, with the next one last.
    under_way: Vec<Item>,
    /// `true` if sets are not searched one after the other.
    dynamic: bool,
}

impl Agenda {
    /// Returns an empty agenda. With `dynamic`, neither the number of variables nor the set determines the order.
    pub(super) fn new(dynamic: bool) -> Agenda {
        Agenda {
            dynamic,
            ..Agenda::default()
        }
    }

    /// Returns the level under which items of this level are stored.
    fn place(&self, level: Level) -> Level {
        Level {
            variables: if self.dynamic { 0 } else { level.variables },
            ..level
        }
    }

    pub(super) fn add(&mut self, item: Item) {
        let set = if self.dynamic {
            SmallVec::new()
        } else {
            item.set.known()
        };
        let level = self.place(item.level);
        let sets = self.levels.entry(level).or_default();
        sets.entry(set).or_default().push(item);
    }

    /// Returns the level of the next item, if there is one.
    pub(super) fn next_level(&self) -> Option<Level> {
        let first = self.levels.keys().next().copied();
        match self.under_way.last() {
            Some(item) => Some(self.place(item.level)),
            None => first,
        }
    }

    /// Removes and returns the next item, if there is one of this level or a lower one.
    pub(super) fn take(&mut self, level: Level, variables: &Variables) -> Option<Item> {
        if self.under_way.is_empty() {
            let mut first = self.levels.first_entry().filter(|first| *first.key() <= level)?;
            let sets = first.get_mut();
            let best = sets.keys().min_by(|one, other| variables.order(one, other));
            let best = best.expect("a level has a set").clone();
            self.under_way = sets.remove(&best).expect("one of the sets");
            if sets.is_empty() {
                first.remove();
            }
            self.under_way
                .sort_by(|one, other| one.branch.order(&other.branch).reverse());
        }
        self.under_way.pop()
    }

    /// Drops all items.
    pub(super) fn clear(&mut self) {
        self.levels.clear();
        self.under_way.clear();
    }
}
