//! Where tasks may be preempted: regions of the test, and the scope that the settings give.
//!
//! A schedule point at which the running task could go on, but is not to be preempted, is *closed*: the task goes on,
//! and the strategy is not asked. When the task blocks, ends or yields, the choice is free as ever.
//!
//! A schedule must replay whatever the settings are then, so the closed points are in it, with the default taken:
//! a replay closes none. Reductions see all points too: what they leave out rests on the orders of all operations.
//!
//! Points before operations on quiet atomics (`ordered_atomics.rs`) are closed in the same way.
//!
//! Nothing here is reached unless a scope, a region or quiet atomics are in use: decisions are then made elaborately.

use super::naming::var_name;
use super::{Engine, Runtime};
use crate::record::Site;
use crate::schedule::{Choice, ChoiceKind};
use crate::scope::Scope;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What scoping did to an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scoping {
    /// A point out of the scope was closed.
    pub by_scope: bool,
    /// A point in a region was closed.
    pub by_region: bool,
    /// A region was met, and not heeded.
    pub region_unheeded: bool,
    /// An armed breakpoint kept somebody from going on.
    pub by_breakpoint: bool,
    /// The test armed breakpoints itself, which had no effect.
    pub arming_unheeded: bool,
}

impl Scoping {
    /// What it did to this execution or that.
    pub fn join(&mut self, other: Scoping) {
        self.by_scope |= other.by_scope;
        self.by_region |= other.by_region;
        self.region_unheeded |= other.region_unheeded;
        self.by_breakpoint |= other.by_breakpoint;
        self.arming_unheeded |= other.arming_unheeded;
    }
}

/// The scope of a worker's exploration, and what is known of the running execution in its terms.
pub(super) struct Preemptible {
    only_in: Entries,
    not_in: Entries,
    names_variables: bool,
    /// `true` if source places are in the scope; for the whole exploration.
    sites: HashMap<Site, Place>,
    /// `true` if variables of this execution are, by their number.
    vars: Vec<Option<Place>>,
}

/// A scope, and which of its entries have ever fitted.
struct Entries {
    scope: Scope,
    fitted: Vec<bool>,
}

impl Entries {
    fn new(scope: Scope) -> Entries {
        let fitted = vec![false; scope.len()];
        Entries { scope, fitted }
    }

    /// Returns `true` if there is an entry, which is noted.
    fn has(&mut self, entry: Option<usize>) -> bool {
        if let Some(at) = entry {
            self.fitted[at] = true;
        }
        entry.is_some()
    }

    fn unfitted(&self) -> impl Iterator<Item = String> + '_ {
        let unfitted = self.fitted.iter().enumerate().filter(|(_, fitted)| !**fitted);
        unfitted.map(|(at, _)| self.scope.entry(at).to_string())
    }
}

/// Where a place or a variable is.
#[derive(Clone, Copy, Default)]
struct Place {
    only_in: bool,
    not_in: bool,
}

impl Preemptible {
    pub(super) fn new(only_in: Scope, not_in: Scope) -> Preemptible {
        Preemptible {
            names_variables: only_in.names_variables() || not_in.names_variables(),
            only_in: Entries::new(only_in),
            not_in: Entries::new(not_in),
            sites: HashMap::new(),
            vars: Vec::new(),
        }
    }

    /// Another execution begins: its variables are not known.
    pub(super) fn begin(&mut self) {
        self.vars.clear();
    }

    fn site(&mut self, site: Site) -> Place {
        let Preemptible {
            sites,
            only_in,
            not_in,
            ..
        } = self;
        *sites.entry(site).or_insert_with(|| Place {
            only_in: only_in.has(only_in.scope.entry_of_file(site.file())),
            not_in: not_in.has(not_in.scope.entry_of_file(site.file())),
        })
    }

    fn variable(&mut self, var: u32, name: impl FnOnce() -> String) -> Place {
        if !self.names_variables {
            return Place::default();
        }
        let at = var as usize;
        if let Some(&Some(known)) = self.vars.get(at) {
            return known;
        }
        let name = name();
        let place = Place {
            only_in: self.only_in.has(self.only_in.scope.entry_of_variable(&name)),
            not_in: self.not_in.has(self.not_in.scope.entry_of_variable(&name)),
        };
        if self.vars.len() <= at {
            self.vars.resize(at + 1, None);
        }
        self.vars[at] = Some(place);
        place
    }

    /// Returns `true` if a task may be preempted before an operation there. What is left out wins.
    fn allows(&self, site: Place, variable: Place) -> bool {
        let within = self.only_in.scope.is_empty() || site.only_in || variable.only_in;
        within && !site.not_in && !variable.not_in
    }

    /// Entries that fitted nothing: misspelled, perhaps.
    pub(super) fn notes(&self) -> Vec<String> {
        let only_in = self.only_in.unfitted().map(|entry| ("preempt_in", entry));
        let not_in = self.not_in.unfitted().map(|entry| ("preempt_not_in", entry));
        let note = |(setting, entry)| format!("`{setting}`: no schedule point that was met is in `{entry}`");
        only_in.chain(not_in).map(note).collect()
    }
}

/// A closed point: a decision that was not put to the strategy.
pub(super) struct Closed {
    /// How many decisions were made before it.
    decided: usize,
    alternatives: u32,
}

impl Runtime {
    /// Returns `true` if the task that took the last step, and could go on, is to go on: the point is closed then.
    /// `alternatives` is how many tasks could go.
    pub(super) fn closes(&mut self, alternatives: u32) -> bool {
        if alternatives < 2 || !self.heeds_scope {
            return false;
        }
        let closed = match self.tasks[self.last as usize].preemptible {
            _ if self.ordered_atomics.is_some() => self.next_is_quiet(),
            Some(allowed) => {
                self.scoping.by_region |= !allowed;
                !allowed
            }
            None => {
                let out = self.out_of_scope();
                self.scoping.by_scope |= out;
                out
            }
        };
        if closed {
            let decided = self.decided;
            self.closed.push(Closed {
                decided,
                alternatives,
            });
        }
        closed
    }

    /// Returns `true` if the next operation of the task that took the last step is out of the settings' scope.
    fn out_of_scope(&mut self) -> bool {
        let Some(mut preemptible) = self.preemptible.take() else {
            return false;
        };
        let access = self.tasks[self.last as usize].pending.access;
        let site = preemptible.site(access.site);
        let variable = preemptible.variable(access.var, || var_name(self, access.var));
        let out = !preemptible.allows(site, variable);
        self.preemptible = Some(preemptible);
        out
    }

    /// Returns the decisions of the execution, those at closed points included.
    pub(super) fn choices_with_closed(&self) -> Vec<Choice> {
        let decided = self.plan.choices();
        let mut all = Vec::with_capacity(decided.len() + self.closed.len());
        let mut closed = self.closed.iter().peekable();
        for at in 0..=decided.len() {
            while let Some(point) = closed.next_if(|point| point.decided == at) {
                all.push(Choice {
                    kind: ChoiceKind::Task,
                    preempts: true,
                    alternatives: point.alternatives,
                    taken: 0,
                });
            }
            all.extend(decided.get(at));
        }
        all
    }
}

impl Engine {
    /// Returns the current task enters a region in which it may be preempted, or may not; what was so before.
    pub fn enter_region(self, allowed: bool) -> Option<bool> {
        let rt = self.rt();
        // Without schedule points at quiet atomics, one that a region closes could not be made up for by another.
        if rt.heeds_scope && rt.ordered_atomics.is_none() {
            (rt.scoped, rt.slow_path) = (true, true);
        } else {
            rt.scoping.region_unheeded |= !allowed;
        }
        let current = rt.current;
        rt.tasks[current as usize].preemptible.replace(allowed)
    }

    /// A task is back where it was before a region.
    pub fn leave_region(self, task: u32, before: Option<bool>) {
        self.rt().tasks[task as usize].preemptible = before;
    }
}
