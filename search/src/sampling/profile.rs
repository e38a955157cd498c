//! The profile of a test, learned from its first executions: the numbers of tasks and steps, and the accesses of each
//! task.
//!
//! Executions are compared by what is the same in all of them. A task is identified by its creator and its index among
//! the creator's tasks. An access is identified by its place in the source. A variable has no name that is the same in
//! each schedule. So two places are assumed to belong to one *variable* if they accessed the same one in any execution
//! that was learned from. Everything that one line allocates or accesses many times is one variable.

use super::Draw;
use super::sections::{Sections, sections};
use hashbrown::HashMap;
use intermezzo_engine::serial::{Deserialize, Serialize};
use intermezzo_engine::site::Site;
use intermezzo_engine::strategy::{CompletedExecution, operations};
use intermezzo_engine::trace::hash64;
use intermezzo_sdk::{Class, SyncVar, SyncVarOp};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// The number of executions that are learned from. A random walk shows what each task does when others interfere, and
/// the default execution shows what it does when they do not. The walk comes first, because it finds more bugs of the
/// two. More executions would cost more than they teach, because they find only as much as random walks do.
pub(crate) const PROFILED: u64 = 2;

/// A profile of executions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Profile {
    executions: u64,
    /// The maximum number of tasks, and of steps from the first choice on, in an execution.
    tasks: u64,
    steps: u64,
    /// The maximum number of these steps that do not clone a handle.
    steps_without_clones: u64,
    /// The tasks by lineage.
    lineages: BTreeMap<u64, Lineage>,
    places: BTreeMap<String, Place>,
    /// Pairs of places that accessed the same variable.
    together: BTreeSet<(String, String)>,
    sections: Sections,
    #[serde(skip)]
    variables: OnceLock<Vec<Variable>>,
}

/// A task, over all executions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Lineage {
    parent: u64,
    /// The number of its accesses at each place, over all executions.
    accesses: BTreeMap<String, u64>,
}

/// A place in the source where variables are accessed.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Place {
    /// `true` if tasks shared a variable that was accessed there: two accessed it, and the order made a difference.
    shared: bool,
    /// The maximum number of accesses in an execution from its first choice on.
    most: u64,
}

/// A set of places that is assumed to be one variable.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub places: BTreeSet<String>,
    pub shared: bool,
    /// `true` if it is a lock whose sections have the order in which they access another, shared variable.
    pub(crate) represented: bool,
    /// The maximum number of accesses in an execution from its first choice on.
    pub most: u64,
}

/// Returns `true` if other tasks may notice the operation.
pub(crate) fn is_access(op: SyncVarOp, var: u32) -> bool {
    var != SyncVar::NONE.0 && Class::of(op, false).is_some()
}

/// The lineage of the first task. The lineage of another task is computed from its creator's, and from its index among
/// the creator's tasks.
pub(crate) const FIRST_LINEAGE: u64 = 0;

/// Returns the lineage of a task: see [`FIRST_LINEAGE`].
pub(crate) fn lineage(parent: u64, ordinal: u32) -> u64 {
    hash64(parent, u64::from(ordinal))
}

impl Profile {
    /// Returns what one execution shows.
    pub(crate) fn of(past: &CompletedExecution<'_>) -> Profile {
        let mut profile = Profile {
            executions: 1,
            tasks: past.tasks() as u64,
            steps: past.steps_since_choice() as u64,
            steps_without_clones: past.steps_since_choice() as u64,
            sections: sections(past.events),
            ..Profile::default()
        };
        let mut lineages: Vec<u64> = Vec::with_capacity(past.tasks.len());
        for (number, task) in past.tasks.iter().enumerate() {
            let (parent, own) = match number {
                0 => (FIRST_LINEAGE, FIRST_LINEAGE),
                _ => {
                    let parent = lineages[task.parent as usize];
                    (parent, lineage(parent, task.ordinal))
                }
            };
            lineages.push(own);
            profile.lineages.entry(own).or_default().parent = parent;
        }
        let mut names: HashMap<Site, String> = HashMap::new();
        let mut variables: BTreeMap<u32, Vec<Met>> = BTreeMap::new();
        let steps = past.trace.steps();
        for (at, event) in operations(past.events, past.trace, 1) {
            let counts = steps[at].choices_end > 0;
            if counts && event.op == SyncVarOp::CountUp {
                profile.steps_without_clones -= 1;
            }
            if !is_access(event.op, event.var) {
                continue;
            }
            let name = names.entry(event.site).or_insert_with(|| event.site.to_string());
            let own = profile.lineages.get_mut(&lineages[event.task as usize]);
            *own.expect("all tasks are there")
                .accesses
                .entry(name.clone())
                .or_default() += 1;
            let free = steps[at].choices_end > steps[at - 1].choices_end;
            profile.places.entry(name.clone()).or_default().most += u64::from(counts);
            variables.entry(event.var).or_default().push(Met {
                site: event.site,
                task: event.task,
                class: Class::of(event.op, false).expect("an access has a class"),
                free,
            });
        }
        for met in variables.values() {
            profile.add_variable(met, &names);
        }
        profile
    }

    fn add_variable(&mut self, met: &[Met], names: &HashMap<Site, String>) {
        let free = met.iter().filter(|access| access.free);
        let mut meetings = free.flat_map(|one| met.iter().map(move |other| (one, other)));
        let shared = meetings.any(|(one, other)| one.task != other.task && !one.class.commutes(other.class));
        let first = &names[&met[0].site];
        for access in met {
            let name = &names[&access.site];
            self.places.entry(name.clone()).or_default().shared |= shared;
            if name != first {
                self.together.insert((first.clone(), name.clone()));
            }
        }
    }

    /// Adds what was learned from other executions.
    pub(crate) fn add(&mut self, other: &Profile) {
        self.executions += other.executions;
        self.tasks = self.tasks.max(other.tasks);
        self.steps = self.steps.max(other.steps);
        self.steps_without_clones = self.steps_without_clones.max(other.steps_without_clones);
        for (&lineage, known) in &other.lineages {
            let own = self.lineages.entry(lineage).or_default();
            own.parent = known.parent;
            for (place, accesses) in &known.accesses {
                *own.accesses.entry(place.clone()).or_default() += accesses;
            }
        }
        for (name, place) in &other.places {
            let own = self.places.entry(name.clone()).or_default();
            own.shared |= place.shared;
            own.most = own.most.max(place.most);
        }
        self.together.extend(other.together.iter().cloned());
        for (taken_at, sections) in &other.sections {
            let own = self.sections.entry(taken_at.clone()).or_default();
            own.extend(sections.iter().cloned());
        }
        self.variables = OnceLock::new();
    }

    /// Returns `true` if the profile includes all executions that are learned from.
    pub(crate) fn is_complete(&self) -> bool {
        self.executions >= PROFILED
    }

    /// Returns `true` if an execution had more tasks than the profile, or more choices between tasks than the profile
    /// has steps.
    pub(crate) fn is_exceeded_by(&self, past: &CompletedExecution<'_>) -> bool {
        past.tasks() as u64 > self.tasks || past.task_choices() as u64 > self.steps
    }

    /// Returns the maximum number of tasks in an execution.
    pub(crate) fn tasks(&self) -> u64 {
        self.tasks
    }

    /// Returns the maximum number of steps from the first choice on in an execution. An execution whose tasks take the
    /// same steps has no more choices.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the same for this execution, without the steps at which its policy makes no choice.
    pub(crate) fn steps_of(&self, draw: Draw) -> u64 {
        match draw.passes_clones {
            true => self.steps_without_clones,
            false => self.steps,
        }
    }

    /// Returns `true` if a task cloned a handle after the first choice.
    pub(crate) fn has_clones(&self) -> bool {
        self.steps_without_clones < self.steps
    }

    /// Returns the assumed variables, in the order of their first places.
    pub(crate) fn variables(&self) -> &[Variable] {
        self.variables.get_or_init(|| self.find_variables())
    }

    fn find_variables(&self) -> Vec<Variable> {
        let mut neighbours: BTreeMap<&String, Vec<&String>> = BTreeMap::new();
        for (one, other) in &self.together {
            neighbours.entry(one).or_default().push(other);
            neighbours.entry(other).or_default().push(one);
        }
        let mut variables = Vec::new();
        let mut left: BTreeSet<&String> = self.places.keys().collect();
        while let Some(first) = left.pop_first() {
            let mut variable = Variable {
                places: BTreeSet::new(),
                shared: false,
                represented: false,
                most: 0,
            };
            let mut open = vec![first];
            while let Some(place) = open.pop() {
                let known = self.places[place];
                variable.shared |= known.shared;
                variable.most += known.most;
                variable.places.insert(place.clone());
                let next = neighbours.get(place).into_iter().flatten();
                open.extend(next.filter(|place| left.remove(*place)));
            }
            variables.push(variable);
        }
        let represented: Vec<bool> = variables
            .iter()
            .map(|variable| self.is_represented(variable, &variables))
            .collect();
        for (variable, represented) in variables.iter_mut().zip(represented) {
            variable.represented = represented;
        }
        variables
    }

    /// Returns `true` if a lock is represented by another variable: see [`Variable::represented`].
    fn is_represented(&self, lock: &Variable, variables: &[Variable]) -> bool {
        let taken_at = lock.places.iter().filter_map(|place| self.sections.get(place));
        let sections: Vec<&BTreeSet<String>> = taken_at.flatten().collect();
        let in_each = |other: &Variable| {
            let accessed = |section: &&BTreeSet<String>| !section.is_disjoint(&other.places);
            !std::ptr::eq(lock, other) && other.shared && sections.iter().all(accessed)
        };
        !sections.is_empty() && variables.iter().any(in_each)
    }

    /// Returns for each task its lineage, that of its creator, and the average number of its accesses at these places.
    pub(crate) fn counts(&self, at: impl Fn(&str) -> bool) -> impl Iterator<Item = (u64, u64, f64)> {
        let executions = self.executions.max(1) as f64;
        self.lineages.iter().map(move |(&lineage, known)| {
            let own = known.accesses.iter().filter(|(place, _)| at(place));
            let sum: u64 = own.map(|(_, accesses)| accesses).sum();
            (lineage, known.parent, sum as f64 / executions)
        })
    }
}

/// The variable to which each place belongs. Each place is looked up by its name only once.
#[derive(Default)]
pub(crate) struct Places {
    /// The variables by the address of the place: one place may have several addresses.
    of: HashMap<usize, Option<u32>>,
}

impl Places {
    /// Returns the number of the variable among those of the profile; `None` for a place that was never reached. All
    /// calls must have the same profile.
    pub(crate) fn variable(&mut self, site: Site, known: &Profile) -> Option<u32> {
        *self.of.entry(site.word()).or_insert_with(|| {
            let name = site.to_string();
            let mut variables = known.variables().iter();
            let at = variables.position(|variable| variable.places.contains(&name));
            at.map(|at| at as u32)
        })
    }
}

/// An access in an execution.
struct Met {
    site: Site,
    task: u32,
    class: Class,
    /// `true` if there was a choice before it.
    free: bool,
}
