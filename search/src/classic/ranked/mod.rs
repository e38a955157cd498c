//! Ranked search: executions in the order of the numbers of preemptions, variables and tasks that a failure needs
//! (Bindal, Bansal, Lal: Variable and Thread Bounding for Systematic Testing of Multithreaded Programs).
//!
//! A preemption is attributed to the variable that the preempted task accessed last, or to none, if it comes before the
//! task's first access. An execution of rank (c, v) has c preemptions, which are attributed to v variables. Ranks are
//! searched in order, and within each rank one set of variables after the other (`variables.rs`). With a bound on
//! threads, tasks run by strict priorities (`orders.rs`). As many orders of priorities are drawn as make it probable
//! that every order of that many tasks is among them (`permutations.rs`). A rank is then (c, v, t).
//!
//! Differs: the paper searches each set from the beginning. Here, an execution is run once, for the set of its own
//! variables, and executions with one more preemption continue from its prefixes. So nothing is run twice, and no set
//! has to be known before the rank to which it belongs.
//!
//! With `dynamic`, sets are not searched one by one: the first preemptions determine the variables, and later ones are
//! attributed to the same variables (the paper's VT-CHESS). In the paper, the first v preemptions determine the set,
//! even if two of them are attributed to the same variable, so a third one at another variable is left out. Here the
//! set may have v variables, so both modes cover the same executions.
//!
//! With `per_place`, preemptions may be attributed only to the first variables of each place, of those of one kind that
//! were first used there. The position of a variable among them is known at its first use, before any preemption is
//! attributed to it. So an execution within the bound is still within it without its last preemption, and the search
//! reaches all of them.
//!
//! Each element of an array counts as a variable, or each array as one (`arrays.rs`).
//!
//! Misses: executions beyond the bounds, which the report states; with a bound on threads, also some order, with at
//! most the requested probability. Memory: some hundred bytes for each prefix put aside.

mod agenda;
mod arrays;
mod claim;
mod orders;
mod permutations;
mod pruning;
mod threads;
mod variables;

pub use threads::ThreadBound;

use crate::branch::Branch;
use agenda::{Agenda, Item, Level, Set};
use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::strategy::{ChoicePoint, Coverage, Needs, Plan, SoFar, Status, Strategy};
use intermezzo_engine::trace::Trace;
use orders::{Orders, Preempting, Way};
use pruning::Pruning;
use smallvec::SmallVec;
use std::sync::Arc;
use threads::{More, Threads};
use variables::{VariableId, Variables};

/// A search that runs executions in the order of their ranks.
pub struct Ranked {
    preemptions_max: Option<u32>,
    variables_max: Option<u32>,
    /// The number of variables of each place to which preemptions may be attributed.
    per_place_max: Option<u32>,
    dynamic: bool,
    /// The bound on threads, if there is one.
    threads: Option<Threads>,
    /// The states for pruning; `None` if nothing is pruned.
    pruning: Option<Pruning>,
    variables: Variables,
    agenda: Agenda,
    /// The current level: all lower levels are complete.
    level: Level,
    /// The set of the current execution, and its level.
    set: Set,
    own_level: Level,
    /// The number of choices of the current item, and of the prescribed choices of the current execution.
    fixed: usize,
    prescribed: usize,
    /// The orders in the current execution, and those after its prescribed choices.
    orders: Orders,
    orders_prescribed: Orders,
    /// The choices of the current execution after the fixed ones.
    points: Vec<Point>,
    begun: bool,
    left_out: LeftOut,
    /// The maximum number of preemptions that an execution within the bounds could have, in some order.
    preemptions: u32,
}

/// The executions that were left out.
#[derive(Clone, Copy, Debug, Default)]
struct LeftOut {
    /// Executions with more preemptions than the bound, but within the bound on variables.
    preemptions: bool,
    /// Executions with more variables than the bound, but within the bound on preemptions.
    variables: bool,
    /// Executions beyond both bounds.
    both: bool,
    /// Executions within both, with a preemption attributed to a variable that is not among the first ones of its
    /// place.
    of_place: bool,
}

/// A choice of the current execution.
struct Point {
    /// The ways to continue that have not been tried, with the next one last.
    untried: SmallVec<[Way; 2]>,
    preemption: Preemption,
}

/// A preemption at a choice.
enum Preemption {
    /// There can be none, in any order.
    None,
    /// There can be one within the bounds: the ways that preempt, and the variable to which the preemption is
    /// attributed.
    Within(Preempting, Option<(VariableId, u32)>),
    /// It would exceed the bound on preemptions, the bound on variables, or both.
    Beyond { preemptions: bool, variables: bool },
    /// It would be attributed to a variable that is not among the first ones of its place.
    BeyondPlace,
}

impl Ranked {
    /// Returns a search within these bounds, where given. With `dynamic`, the first preemptions determine the
    /// variables.
    pub fn new(
        preemptions_max: Option<u32>,
        variables_max: Option<u32>,
        threads: Option<ThreadBound>,
        dynamic: bool,
    ) -> Ranked {
        let threads = threads.map(Threads::new);
        let level = Level {
            threads: if threads.is_some() { 2 } else { 0 },
            ..Level::default()
        };
        Ranked {
            preemptions_max,
            variables_max,
            per_place_max: None,
            dynamic,
            threads,
            pruning: None,
            variables: Variables::new(false),
            agenda: Agenda::new(dynamic),
            level,
            set: Set::default(),
            own_level: level,
            fixed: 0,
            prescribed: 0,
            orders: Orders::Free,
            orders_prescribed: Orders::Free,
            points: Vec::new(),
            begun: false,
            left_out: LeftOut::default(),
            preemptions: 0,
        }
    }

    /// Makes each array count as one variable.
    pub fn with_whole_arrays(mut self) -> Ranked {
        self.variables = Variables::new(true);
        self
    }

    /// Lets preemptions be attributed only to the first `most` variables of each place, if that is given.
    pub fn within_place(mut self, most: Option<u32>) -> Ranked {
        self.per_place_max = most;
        self
    }

    /// Keeps the search from continuing from known states, for which this many bytes are used.
    pub fn pruned(mut self, bytes: usize) -> Ranked {
        self.pruning = Some(Pruning::new(bytes));
        self
    }

    /// Adds the executions without a preemption in which tasks run in these orders.
    fn add_from_the_beginning(&mut self, orders: Orders) {
        self.agenda.add(Item {
            branch: Branch::along(&[]),
            level: Level {
                threads: self.level.threads,
                ..Level::default()
            },
            set: Set::default(),
            orders,
        });
    }

    /// Removes and returns the next prefix to continue from; `None` if none is left.
    fn pop(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.agenda.take(self.level, &self.variables) {
                return Some(item);
            }
            match self.threads.as_mut().and_then(|threads| threads.more(self.level)) {
                Some(More::Drawn(orders)) => self.add_from_the_beginning(orders),
                Some(More::All(orders)) => {
                    self.agenda.clear();
                    self.add_from_the_beginning(orders);
                }
                None => self.level = self.next_level()?,
            }
        }
    }

    /// Returns the level after the current one, which is complete; `None` if nothing is left.
    fn next_level(&self) -> Option<Level> {
        let threads_max = self.threads.as_ref().map_or(0, Threads::threads_max);
        if self.level.threads < threads_max {
            return Some(Level {
                threads: self.level.threads + 1,
                ..self.level
            });
        }
        let next = match self.agenda.next_level() {
            Some(next) => next,
            // No execution with another preemption was found in the orders so far, but others may have one.
            None if self.preemptions > self.level.preemptions => Level {
                preemptions: self.level.preemptions + 1,
                ..Level::default()
            },
            None => return None,
        };
        Some(Level {
            threads: threads_max.min(2),
            ..next
        })
    }

    /// Returns the level of the current execution with one more preemption, which is attributed to this variable.
    fn level_with(&self, variable: Option<(VariableId, u32)>) -> Level {
        let is_more = variable.is_some_and(|variable| !self.set.has(variable));
        Level {
            preemptions: self.own_level.preemptions + 1,
            variables: self.set.len() + u32::from(is_more),
            ..self.own_level
        }
    }

    /// Returns the preemption at a choice that these ways make, compared with the bounds.
    fn judge(&mut self, point: &ChoicePoint<'_>, ways: Preempting) -> Preemption {
        let last = point.trace().last_accessed(point.running.0);
        let variable = last.map(|var| self.variables.counted(point, var));
        let level = self.level_with(variable);
        let preemptions = self.preemptions_max.is_some_and(|most| level.preemptions > most);
        let variables = self.variables_max.is_some_and(|most| level.variables > most);
        if preemptions || variables {
            return Preemption::Beyond {
                preemptions,
                variables,
            };
        }
        match (self.per_place_max, variable) {
            (Some(most), Some((_, number))) if self.variables.position(point, number) >= most => {
                Preemption::BeyondPlace
            }
            _ => Preemption::Within(ways, variable),
        }
    }

    /// Puts the ways that preempt at a choice aside for their ranks, when the search is done with the choice. `path`
    /// shares the choices of `plan`, once they have been needed.
    fn put_aside(&mut self, plan: &Plan, path: &mut Option<Arc<[Choice]>>, at: usize, point: Point) {
        let left_out = &mut self.left_out;
        match point.preemption {
            Preemption::None => {}
            Preemption::BeyondPlace => left_out.of_place = true,
            Preemption::Beyond {
                preemptions: true,
                variables: true,
            } => left_out.both = true,
            Preemption::Beyond {
                preemptions: true, ..
            } => left_out.preemptions = true,
            Preemption::Beyond { .. } => left_out.variables = true,
            Preemption::Within(ways, variable) => {
                let level = self.level_with(variable);
                self.preemptions = self.preemptions.max(level.preemptions);
                let set = self.set.with(variable);
                let path = path.get_or_insert_with(|| plan.choices().into());
                let agenda = &mut self.agenda;
                ways.for_each(|Way { taken, orders }| {
                    agenda.add(Item {
                        branch: Branch::beside(path.clone(), at + 1, taken),
                        level,
                        set: set.clone(),
                        orders,
                    });
                });
            }
        }
    }

    /// Begins the first execution of an item.
    fn begin(&mut self, item: Item, plan: &mut Plan) {
        item.branch.prescribe(plan);
        self.fixed = item.branch.length();
        self.own_level = item.level;
        self.set = item.set;
        self.prescribe(plan, item.orders);
    }

    fn prescribe(&mut self, plan: &Plan, orders: Orders) {
        self.prescribed = plan.choices().len();
        self.orders = orders.clone();
        self.orders_prescribed = orders;
        self.variables.begin();
    }
}

impl Strategy for Ranked {
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        if !self.begun {
            self.begun = true;
            if self.threads.is_none() {
                self.add_from_the_beginning(Orders::Free);
            }
        }
        if let Some(own) = self.pruning.as_mut().and_then(Pruning::take) {
            // The rest of the execution is not part of the search.
            plan.truncate(own);
        }
        self.variables.look_at(trace);
        let mut path = None;
        while let Some(mut point) = self.points.pop() {
            let at = self.fixed + self.points.len();
            match point.untried.pop() {
                Some(Way { taken, orders }) => {
                    plan.truncate(at + 1);
                    plan.take(at, taken);
                    self.points.push(point);
                    self.prescribe(plan, orders);
                    return true;
                }
                None => self.put_aside(plan, &mut path, at, point),
            }
        }
        match self.pop() {
            Some(item) => {
                self.begin(item, plan);
                true
            }
            None => false,
        }
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        if let Some(threads) = &mut self.threads {
            threads.tasks = threads.tasks.max(point.tasks.len() as u32);
        }
        if let Some(pruning) = &mut self.pruning
            && (pruning.has_pruned() || point.kind == ChoiceKind::Task && pruning.prunes(point, &self.set))
        {
            return Some(0);
        }
        let mut ways = self.orders.ways(point, self.own_level.preemptions);
        let preemption = match ways.could_preempt {
            true => self.judge(point, ways.preempting),
            false => Preemption::None,
        };
        ways.free.reverse();
        let Way { taken, orders } = ways.free.pop().expect("some task goes at no cost");
        self.orders = orders;
        self.points.push(Point {
            untried: ways.free,
            preemption,
        });
        Some(taken)
    }

    fn retry(&mut self) {
        if let Some(pruning) = &mut self.pruning {
            pruning.again();
        }
        self.points.truncate(self.prescribed - self.fixed);
        self.orders = self.orders_prescribed.clone();
        self.variables.begin();
    }

    fn coverage(&self, finished: bool) -> Coverage {
        self.claim(finished)
    }

    fn status(&self, _: &SoFar<'_>) -> Status {
        Status {
            reduction: if self.pruning.is_some() { "caching" } else { "none" },
            redundant: self.pruning.as_ref().map_or(0, |pruning| pruning.redundant),
            notes: self.notes_on_orders(),
            part: Some(self.place_in_words()),
            ..Status::named("ranked")
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            scope: self.pruning.is_none(),
            // Ranks are in the order of preemptions only without the other bounds.
            in_order: self.threads.is_none() && self.variables_max.is_none() && self.per_place_max.is_none(),
            ..Needs::default()
        }
    }
}
