//! Restrictions of preemptions: regions in the test, and the scope in the settings.
//!
//! A schedule point at which the running task could continue, but must not be preempted, is *closed*: the task
//! continues, and the strategy is not asked. When the task blocks, ends or yields, the choice is free as usual.
//!
//! A schedule must replay under any settings. So it includes the closed points, with the default taken, and a replay
//! closes none. Reductions also see all points, because they rely on the order of all operations.
//!
//! Points before operations on ordered atomics (`ordered_atomics.rs`) are closed in the same way.
//!
//! None of this runs unless a scope, a region or ordered atomics are in use; decisions then take the slow path.

use super::naming::{site_name, var_name};
use super::{Engine, Runtime, SourceNames, VarKind};
use crate::schedule::ChoiceKind;
use crate::scope::Scope;
use crate::serial::{Deserialize, Serialize};
use crate::site::Site;
use std::collections::HashMap;

/// The effects of scoping on an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scoping {
    /// A point outside the scope was closed.
    pub by_scope: bool,
    /// A point in a region was closed.
    pub by_region: bool,
    /// A region was entered, but ignored.
    pub region_unheeded: bool,
    /// An armed breakpoint kept a task from continuing.
    pub by_breakpoint: bool,
    /// The test armed breakpoints itself, which had no effect.
    pub arming_unheeded: bool,
}

impl Scoping {
    /// Adds the effects on another execution.
    pub fn join(&mut self, other: Scoping) {
        self.by_scope |= other.by_scope;
        self.by_region |= other.by_region;
        self.region_unheeded |= other.region_unheeded;
        self.by_breakpoint |= other.by_breakpoint;
        self.arming_unheeded |= other.arming_unheeded;
    }
}

/// The scope of a worker's exploration, and the current execution's data for it.
pub(super) struct Preemptible {
    only_in: Entries,
    not_in: Entries,
    names_variables: bool,
    has_names: bool,
    names: Box<dyn SourceNames + Send>,
    /// For each source place and kind of variable, the position of the variable that the source names there.
    named: HashMap<(Site, VarKind), Place>,
    /// For each source place, its position in the scope; kept for the whole exploration.
    sites: HashMap<Site, Position>,
    has_items: bool,
    /// For each variable of this execution, by its number, its position in the scope.
    vars: Vec<Option<Place>>,
}

/// A scope, with a mark on each of its entries that has matched something.
struct Entries {
    scope: Scope,
    fitted: Vec<bool>,
}

impl Entries {
    fn new(scope: Scope) -> Entries {
        let fitted = vec![false; scope.len()];
        Entries { scope, fitted }
    }

    /// Returns the depth of the most specific entry that includes a place in this file and these items. All entries
    /// that include it are marked.
    fn depth(&mut self, file: &str, items: &[String]) -> Option<usize> {
        let mut deepest = None;
        for (at, depth) in self.scope.entries_of_place(file, items) {
            self.fitted[at] = true;
            deepest = deepest.max(Some(depth));
        }
        deepest
    }

    /// Marks an entry, if there is one, and returns `true` if there is.
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

/// The position of a variable in the scope.
#[derive(Clone, Copy, Default)]
struct Place {
    only_in: bool,
    not_in: bool,
}

/// The position of a source place in the scope: the depth of the most specific entry that includes it, of either kind.
#[derive(Clone, Copy, Default)]
struct Position {
    only_in: Option<usize>,
    not_in: Option<usize>,
}

impl Preemptible {
    pub(super) fn new(only_in: Scope, not_in: Scope, names: Box<dyn SourceNames + Send>) -> Preemptible {
        Preemptible {
            has_names: only_in.has_names() || not_in.has_names(),
            has_items: only_in.may_name_items() || not_in.may_name_items(),
            names,
            named: HashMap::new(),
            names_variables: only_in.names_variables() || not_in.names_variables(),
            only_in: Entries::new(only_in),
            not_in: Entries::new(not_in),
            sites: HashMap::new(),
            vars: Vec::new(),
        }
    }

    /// Begins another execution, whose variables are not known yet.
    pub(super) fn begin(&mut self) {
        self.vars.clear();
    }

    fn site(&mut self, site: Site) -> Position {
        let Preemptible {
            sites,
            only_in,
            not_in,
            has_items,
            names,
            ..
        } = self;
        *sites.entry(site).or_insert_with(|| {
            let file = site.place().file;
            let items = match has_items {
                true => names.items(&site_name(site)),
                false => Vec::new(),
            };
            Position {
                only_in: only_in.depth(file, &items),
                not_in: not_in.depth(file, &items),
            }
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

    /// Returns the position of a variable by the name that the test gave it, or else by the one that the source has for
    /// it at this place.
    fn named(&mut self, kind: VarKind, site: Site, given: Option<&str>) -> Place {
        if !self.has_names || kind == VarKind::Task {
            return Place::default();
        }
        let Preemptible {
            named,
            names,
            only_in,
            not_in,
            ..
        } = self;
        let mut place = |name: &str| Place {
            only_in: only_in.has(only_in.scope.entry_of_name(name)),
            not_in: not_in.has(not_in.scope.entry_of_name(name)),
        };
        match given {
            Some(given) => place(given),
            None => *named
                .entry((site, kind))
                .or_insert_with(|| place(&names.name(kind.name(), &[site_name(site)]).name)),
        }
    }

    /// Returns `true` if a task may be preempted before an operation at a place and on a variable with these positions.
    /// Among entries for places, the most specific one wins: a function in an excluded module may be in the scope.
    /// Otherwise, exclusions win.
    fn allows(&self, site: Position, of: [Place; 2]) -> bool {
        let by_var = of.iter().any(|place| place.only_in);
        let within = self.only_in.scope.is_empty() || by_var || site.only_in.is_some();
        let is_left_out = site.not_in.is_some_and(|not_in| Some(not_in) >= site.only_in);
        within && !is_left_out && !of.iter().any(|place| place.not_in)
    }

    /// Returns notes on entries that matched nothing: they may be misspelled.
    pub(super) fn notes(&self) -> Vec<String> {
        let not_in = self.not_in.unfitted().map(|entry| format!("!{entry}"));
        let note = |entry| format!("`preempt`: no schedule point that was met is in `{entry}`");
        self.only_in.unfitted().chain(not_in).map(note).collect()
    }
}

impl Runtime {
    /// Returns `true` if the task that took the last step can and must continue: the point is then closed.
    /// `alternatives` is the number of tasks that could go.
    pub(super) fn closes(&mut self, alternatives: u32) -> bool {
        if alternatives < 2 || !self.decisions.heeds_scope {
            return false;
        }
        let closed = match self.tasks[self.ready.last()].preemptible {
            _ if self.constraints.ordered_atomics.is_some() => self.next_is_quiet(),
            Some(allowed) => {
                self.constraints.scoping.by_region |= !allowed;
                !allowed
            }
            None => {
                let out = self.out_of_scope();
                self.constraints.scoping.by_scope |= out;
                out
            }
        };
        if closed {
            self.decisions.close(ChoiceKind::Task, true, alternatives);
        }
        closed
    }

    /// Returns `true` if the next operation of the task that took the last step is outside the settings' scope.
    fn out_of_scope(&mut self) -> bool {
        let Some(mut preemptible) = self.constraints.preemptible.take() else {
            return false;
        };
        let access = self.tasks[self.ready.last()].pending.access;
        let site = preemptible.site(access.site);
        let variable = preemptible.variable(access.var, || var_name(self, access.var));
        let known =
            ((access.var as usize) < self.objects.vars.count()).then(|| self.objects.vars[access.var].kind);
        let named = known.map_or_else(Place::default, |kind| {
            preemptible.named(kind, access.site, self.objects.given_names.of(access.var))
        });
        let out = !preemptible.allows(site, [variable, named]);
        self.constraints.preemptible = Some(preemptible);
        out
    }
}

impl Engine {
    /// Enters a region in which the current task may be preempted, or may not. Returns the previous setting.
    pub fn enter_region(self, allowed: bool) -> Option<bool> {
        self.with(|rt| {
            // Without schedule points at ordered atomics, another point could not make up for one that a region closes.
            if rt.decisions.heeds_scope && rt.constraints.ordered_atomics.is_none() {
                rt.constraints.scoped = true;
                rt.ready.take_slow_path();
            } else {
                rt.constraints.scoping.region_unheeded |= !allowed;
            }
            rt.tasks.current_task().preemptible.replace(allowed)
        })
    }

    /// Enters a region in which preemptions of the current task are preferred. Returns `true` if it was in one already.
    pub fn enter_preferred(self) -> bool {
        self.with(|rt| std::mem::replace(&mut rt.tasks.current_task().preferred, true))
    }

    /// Restores a task's setting from before a region with preferred preemptions.
    pub fn leave_preferred(self, task: u32, before: bool) {
        self.with_task(task, |entry| entry.preferred = before);
    }

    /// Restores a task's setting from before a region.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn leave_region(self, task: u32, before: Option<bool>) {
        self.with_task(task, |entry| entry.preemptible = before);
    }
}
