//! SURW, the selectively uniform random walk (Zhao, Wolff, Mathur, Roychoudhury, ASPLOS 2025).
//!
//! Some operations are *interesting*. A task is drawn to take the next interesting step, with a probability
//! proportional to the number of interesting steps that it has left, including those of tasks that it has yet to
//! create. Until it has taken that step, other tasks that are about to take an interesting step wait. Tasks that are
//! about to do anything else continue, by random priorities of these operations, as in the paper's experiments. So an
//! operation of low priority may stay behind many others, which would be unlikely with a uniform draw at each choice.
//!
//! So all orders of interesting steps have the same probability, if the counts are right and no task waits for another
//! one. If n steps are ordered only within their tasks and after the creation of their task, they form a forest, and
//! the number of their orders is n! divided by the product of the sizes of its subtrees.
//!
//! Differs: counts are averages over the executions that were learned from. A task that has taken that many interesting
//! steps, and is about to take another one, counts as having one left. If a drawn task creates others before it takes
//! an interesting step, the draw is repeated among itself and them. Misses: orders are not equally likely where tasks
//! wait for each other (a task that joins others is drawn only once it can continue), where counts depend on the
//! schedule, and among uninteresting operations.

use super::pending::Pending;
use super::profile::{FIRST_LINEAGE, Places, is_access, lineage};
use super::{Draw, Drawn, Generator, Policy, Profile, uniform};
use hashbrown::HashMap;
use intermezzo_engine::schedule::ChoiceKind;
use intermezzo_engine::site::Site;
use intermezzo_engine::strategy::{ChoicePoint, operations};
use intermezzo_sdk::{SyncVarOp, TaskId};
use rand::RngExt;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The operations whose orders are sampled uniformly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Interesting {
    /// The operations on one variable, which is drawn for each execution from those that tasks were seen to share; all
    /// operations, if they share none.
    #[default]
    OneVariable,
    /// All operations.
    All,
    /// The operations at places in the source whose `file:line:column` contains this text.
    At(String),
}

impl fmt::Display for Interesting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Interesting::OneVariable => "one",
            Interesting::All => "all",
            Interesting::At(text) => text,
        })
    }
}

/// Random walks that are uniform over the orders of interesting steps.
pub(crate) struct Surw {
    interesting: Interesting,
    focus: Focus,
    /// The expected interesting steps, by the variable whose operations are interesting.
    forests: BTreeMap<Option<u32>, Arc<Forest>>,
    forest: Arc<Forest>,
    /// The tasks of the execution.
    tasks: Vec<Walker>,
    /// The task that must take the next interesting step.
    drawn: Option<u32>,
    /// The tasks that it has created since the last choice, and those that these have created.
    heirs: Vec<u32>,
    /// The number of steps of the execution that have been processed.
    steps: usize,
    /// The priorities among the tasks that may continue.
    priorities: Pending,
    /// Buffers for tasks with their weights, and for alternatives.
    weights: Vec<(u32, f64)>,
    allowed: Vec<(u32, TaskId)>,
}

/// The interesting operations in an execution.
#[derive(Default)]
struct Focus {
    /// The variable, if they are the operations on one variable.
    variable: Option<u32>,
    /// The text that the name of a place contains, if they are chosen by place.
    text: Option<String>,
    places: Places,
    /// `true` if the name of a place contains the text, by the place's address.
    held: HashMap<usize, bool>,
}

impl Focus {
    fn holds(&mut self, (op, var, site): (SyncVarOp, u32, Site), known: &Profile) -> bool {
        is_access(op, var)
            && match (self.variable, &self.text) {
                (Some(variable), _) => self.places.variable(site, known) == Some(variable),
                (None, Some(text)) => {
                    let held = self.held.entry(site.word());
                    *held.or_insert_with(|| site.to_string().contains(text))
                }
                (None, None) => true,
            }
    }
}

/// The interesting steps of a test's tasks by lineage.
type Forest = BTreeMap<u64, Tree>;

/// The interesting steps of a task, and those of all tasks below it.
#[derive(Clone, Copy, Debug, Default)]
struct Tree {
    own: f64,
    below: f64,
}

/// A task of the execution, with the number of interesting steps that it has left, and that of the tasks that it has
/// yet to create.
#[derive(Clone, Copy, Debug)]
struct Walker {
    lineage: u64,
    own: f64,
    unborn: f64,
}

impl Surw {
    /// Returns the policy whose walks are uniform over the orders of these steps.
    pub(crate) fn new(interesting: Interesting) -> Surw {
        let text = match &interesting {
            Interesting::At(text) => Some(text.clone()),
            _ => None,
        };
        Surw {
            interesting,
            focus: Focus {
                text,
                ..Focus::default()
            },
            forests: BTreeMap::new(),
            forest: Arc::default(),
            tasks: Vec::new(),
            drawn: None,
            heirs: Vec::new(),
            steps: 0,
            priorities: Pending::default(),
            weights: Vec::new(),
            allowed: Vec::new(),
        }
    }

    /// Returns the expected interesting steps, if the operations on this variable are interesting.
    fn forest(&self, variable: Option<u32>, known: &Profile) -> Forest {
        let places = variable.map(|variable| &known.variables()[variable as usize].places);
        let text = self.focus.text.as_deref().unwrap_or_default();
        let counts = known.counts(|place| match places {
            Some(places) => places.contains(place),
            None => place.contains(text),
        });
        let counts: BTreeMap<u64, (u64, f64)> = counts
            .map(|(lineage, parent, steps)| (lineage, (parent, steps)))
            .collect();
        let mut forest = Forest::new();
        for (&lineage, &(parent, steps)) in &counts {
            forest.entry(lineage).or_default().own = steps;
            let (mut child, mut above) = (lineage, parent);
            while child != FIRST_LINEAGE {
                forest.entry(above).or_default().below += steps;
                (child, above) = (above, counts.get(&above).map_or(FIRST_LINEAGE, |up| up.0));
            }
        }
        forest
    }

    /// Processes the tasks created and the interesting steps taken since the last choice. If the drawn task created
    /// others, they are its heirs: the draw is repeated among itself and them.
    fn catch_up(&mut self, point: &ChoicePoint<'_>, known: &Profile) {
        self.heirs.clear();
        for (number, task) in point.created_tasks().iter().enumerate().skip(self.tasks.len()) {
            let parent = task.parent as usize;
            let lineage = match number {
                0 => FIRST_LINEAGE,
                _ => lineage(self.tasks[parent].lineage, task.ordinal),
            };
            let Tree { own, below } = self.forest.get(&lineage).copied().unwrap_or_default();
            if number > 0 {
                let creator = &mut self.tasks[parent];
                creator.unborn = (creator.unborn - own - below).max(0.0);
                if self.drawn == Some(task.parent) || self.heirs.contains(&task.parent) {
                    self.heirs.push(number as u32);
                }
            }
            self.tasks.push(Walker {
                lineage,
                own,
                unborn: below,
            });
        }
        for (_, event) in operations(point.events, point.trace, self.steps) {
            if self.focus.holds((event.op, event.var, event.site), known) {
                let walker = &mut self.tasks[event.task as usize];
                walker.own = (walker.own - 1.0).max(0.0);
                self.drawn = None;
            }
        }
        self.steps = point.trace.steps().len();
    }

    /// Returns `true` if the task is about to take an interesting step.
    fn is_about_to(&mut self, task: TaskId, point: &ChoicePoint<'_>, known: &Profile) -> bool {
        let access = point.tasks[task.0 as usize].pending.access;
        self.focus.holds((access.op, access.var, access.site), known)
    }

    /// Draws the task that takes the next interesting step, among those that can continue and for which `may` returns
    /// `true`.
    fn draw(
        &mut self,
        point: &ChoicePoint<'_>,
        known: &Profile,
        random: &mut Generator,
        may: impl Fn(u32) -> bool,
    ) {
        let mut weights = std::mem::take(&mut self.weights);
        weights.clear();
        point.for_each_task(|task| {
            if may(task.0) {
                let Walker { own, unborn, .. } = self.tasks[task.0 as usize];
                let least = f64::from(u8::from(self.is_about_to(task, point, known)));
                weights.push((task.0, own.max(least) + unborn));
            }
        });
        let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
        let mut at = random.random::<f64>() * sum;
        self.drawn = None;
        for &(task, weight) in weights.iter().filter(|(_, weight)| *weight > 0.0) {
            self.drawn = Some(task);
            at -= weight;
            if at < 0.0 {
                break;
            }
        }
        self.weights = weights;
    }

    /// Finds the alternatives whose tasks may continue: that of the drawn task, and those of tasks that are not about
    /// to take an interesting step.
    fn allowed(&mut self, point: &ChoicePoint<'_>, known: &Profile, allowed: &mut Vec<(u32, TaskId)>) {
        let mut alternative = 0;
        allowed.clear();
        point.for_each_task(|task| {
            if self.drawn == Some(task.0) || !self.is_about_to(task, point, known) {
                allowed.push((alternative, task));
            }
            alternative += 1;
        });
    }
}

/// Returns the variables that may be drawn: the shared ones, except locks whose order is that of another variable.
fn candidates(known: &Profile) -> Vec<u32> {
    let all = (0_u32..).zip(known.variables());
    let candidates = all.filter(|(_, variable)| variable.shared && !variable.represented);
    candidates.map(|(at, _)| at).collect()
}

impl Policy for Surw {
    fn name(&self) -> String {
        format!("surw({})", self.interesting)
    }

    fn begin(&mut self, _: Draw, known: &Profile, random: &mut Generator) {
        if self.interesting == Interesting::OneVariable {
            let candidates = candidates(known);
            self.focus.variable = match candidates.len() {
                0 => None,
                many => Some(candidates[random.random_range(0..many)]),
            };
        }
        let variable = self.focus.variable;
        self.forest = match self.forests.get(&variable) {
            Some(forest) => forest.clone(),
            None => {
                let forest = Arc::new(self.forest(variable, known));
                self.forests.insert(variable, forest.clone());
                forest
            }
        };
        self.tasks.clear();
        (self.drawn, self.steps) = (None, 0);
        self.priorities.begin();
    }

    fn choose(&mut self, point: &ChoicePoint<'_>, known: &Profile, random: &mut Generator) -> u32 {
        if point.kind != ChoiceKind::Task {
            return uniform(point, random);
        }
        self.catch_up(point, known);
        match self.drawn {
            Some(drawn) if !self.heirs.is_empty() => {
                let heirs = std::mem::take(&mut self.heirs);
                self.draw(point, known, random, |task| {
                    task == drawn || heirs.contains(&task)
                });
                self.heirs = heirs;
            }
            Some(_) => {}
            None => self.draw(point, known, random, |_| true),
        }
        let mut allowed = std::mem::take(&mut self.allowed);
        self.allowed(point, known, &mut allowed);
        if allowed.is_empty() {
            // The drawn task cannot continue, and all others wait for its interesting step.
            self.draw(point, known, random, |_| true);
            self.allowed(point, known, &mut allowed);
        }
        let first = allowed
            .iter()
            .max_by_key(|(_, task)| self.priorities.of(*task, point, random));
        let (taken, _) = *first.expect("the task drawn can continue");
        self.allowed = allowed;
        taken
    }

    fn notes(&self, drawn: &Drawn<'_>) -> Vec<String> {
        if self.interesting != Interesting::OneVariable {
            return Vec::new();
        }
        let of = match candidates(drawn.known).len() {
            0 => "all accesses, because no variable was seen to be shared".to_owned(),
            1 => "accesses to the one variable that tasks were seen to share".to_owned(),
            many => {
                format!("accesses to one of {many} variables that tasks were seen to share, drawn each time")
            }
        };
        vec![format!("{}: uniform over the orders of {of}", self.name())]
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(Surw::new(self.interesting.clone()))
    }
}
