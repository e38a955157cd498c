//! A worker's remaining work as text: the path to the prepared execution, and all planned sequences along it.
//!
//! It already includes the results of the last execution, so no trace is needed to continue. Failed rounds are not
//! included, because a search that elides rounds is not saved.

use super::bound::SavedBound;
use super::held_back::Held;
use super::node::{Candidate, Node};
use super::shared_node::Prefix;
use super::sleep::{SavedFootprint, Sleeper, restored_footprint, saved_footprint};
use super::tree::{SavedBranch, Tree};
use super::values::{Values, Wanted};
use super::{Dpor, Insertion, Planned};
use intermezzo_engine::schedule::{Choice, ChoiceKind, pack, unpack};
use intermezzo_engine::serial::{Deserialize, Serialize};
use intermezzo_engine::strategy::{Parallel, Plan, Resumable, SearchState};
use intermezzo_engine::trace::{Key, Step, Trace};

/// The maximum number of executions that a saved search may have prepared: no search has nearly as many.
const EXECUTIONS_MAX: u64 = u64::MAX / 2;

/// A worker between two executions.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct SavedHand {
    /// The number of executions that it has prepared.
    executions: u64,
    bound: SavedBound,
    /// The path and the choices prescribed for the next execution; empty if the search is over.
    path: SavedPath,
    values: Vec<u32>,
    fresh: usize,
}

/// A path, and the choices along it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct SavedPath {
    choices: String,
    nodes: Vec<SavedNode>,
}

#[derive(Clone, Serialize, Deserialize)]
struct SavedNode {
    task: u32,
    candidates: Vec<(u32, Option<Key>)>,
    /// The candidates that fairness holds back here, and those that it always holds back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    held_here: Vec<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    held_always: Vec<u32>,
    sleepers: Vec<(u32, SavedFootprint)>,
    /// The sleepers that overslept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    overslept: Vec<u32>,
    /// The sleepers that may release a share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    giving_up: Vec<u32>,
    /// The values of each sleeper; empty if none has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    values_asleep: Vec<Vec<u32>>,
    /// The beginnings of the values to explore, if not all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    wanted: Vec<Vec<u32>>,
    /// The beginnings of the values that were explored, with the step's footprint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    explored: Vec<(Vec<u32>, SavedFootprint)>,
    may_time_out: bool,
    fair: bool,
    choice: Option<usize>,
    preempts: bool,
    preemptions: u32,
    #[serde(rename = "touches")]
    footprint: SavedFootprint,
    sequences: Vec<SavedBranch>,
    tried: u32,
    pending: Vec<SavedBranch>,
}

impl Dpor {
    /// Returns the worker's remaining work as text. In a shared search the work goes to the crew instead, because other
    /// workers change the shared nodes in it.
    pub(super) fn save_hand(&self, choices: &[Choice]) -> Option<String> {
        // If the search continues an earlier one and its first execution was not requested yet, these are the choices.
        let choices = self.prepared.as_deref().unwrap_or(choices);
        if self.part.is_shared() {
            self.part.rest(|| self.saved(choices));
            return None;
        }
        Some(
            intermezzo_engine::serial::to_string(&self.saved(choices))
                .expect("numbers and texts can be written"),
        )
    }

    /// Returns the remaining work, once an execution with these choices is prepared.
    pub(super) fn saved(&self, choices: &[Choice]) -> SavedHand {
        let path = match self.is_over {
            true => SavedPath::of(&[], &[], &[], &[]),
            false => SavedPath::of(choices, &self.nodes, &self.candidates, &self.sleepers),
        };
        SavedHand {
            executions: self.executions,
            bound: self.bound.saved(),
            values: self.values.to_vec(),
            fresh: self.fresh.min(path.nodes.len()),
            path,
        }
    }

    /// Restores the state of a call of `saved`, in a search that has not begun. Returns `None` if the text is
    /// malformed.
    pub(super) fn restored(&mut self, text: &str) -> Option<()> {
        let hand: SavedHand = intermezzo_engine::serial::from_str(text).ok()?;
        hand.check()?;
        self.begun = true;
        self.is_over = hand.path.nodes.is_empty();
        self.executions = hand.executions;
        self.prepared = Some(self.resume(&hand)?);
        self.part.unproved = true;
        self.planned = Planned::default();
        self.note_planned();
        Some(())
    }

    /// Returns `true` if the loaded path fits the execution: each choice of a task was made at its own step, which that
    /// task took. Otherwise the file belongs to another search, and no coverage is claimed.
    #[cold]
    pub(super) fn is_proved(&mut self, choices: &[Choice], trace: &Trace) -> bool {
        self.part.unproved = false;
        let own = self.cut.as_ref().map_or(choices.len(), |cut| cut.choices);
        let of_tasks = |&(_, choice): &(usize, &Choice)| choice.kind == ChoiceKind::Task;
        let made = choices.iter().take(own).enumerate().filter(of_tasks);
        let steps = trace.steps();
        let begins = [0].into_iter().chain(steps.iter().map(|step| step.choices_end));
        let is_there = |((node, step), begin): ((&Node, &Step), usize)| {
            let is_its_own = |choice| (begin..step.choices_end).contains(&choice);
            node.task == step.task && node.choice.is_none_or(is_its_own)
        };
        let proved = self.nodes.len() <= steps.len() + 1
            && made
                .map(|(at, _)| at)
                .eq(self.nodes.iter().filter_map(|node| node.choice))
            && self.nodes.iter().zip(steps).zip(begins).all(is_there);
        if !proved {
            self.bound.lose();
            self.discard();
        }
        proved
    }

    /// Takes over the path of a worker. Returns the choices prescribed for the next execution; `None` if the path is
    /// malformed.
    pub(super) fn resume(&mut self, hand: &SavedHand) -> Option<Vec<Choice>> {
        let way = hand.path.way()?;
        self.bound.go_on_from(&hand.bound);
        self.examined.clear();
        self.footprints.truncate(0);
        // With several workers each step of a sequence must be one step, not one for each value.
        self.part.keeps = self.insertion == Insertion::WakeupTrees && hand.path.has_values(&way.choices);
        for node in way.nodes {
            *self.nodes.push() = node;
        }
        (self.candidates, self.sleepers) = (way.candidates, way.sleepers);
        self.values = Values::from_slice(&hand.values);
        self.fresh = hand.fresh;
        Some(way.choices)
    }
}

impl SavedHand {
    /// Checks everything that can be checked without the test. Returns `None` if no search can have this state.
    pub(super) fn check(&self) -> Option<Prefix> {
        let way = self.path.way()?;
        (self.fresh <= way.nodes.len() && self.executions < EXECUTIONS_MAX).then_some(way)
    }
}

impl SavedPath {
    /// Returns the path of these nodes, with their data.
    pub(super) fn of(
        choices: &[Choice],
        nodes: &[Node],
        candidates: &[Candidate],
        sleepers: &[Sleeper],
    ) -> SavedPath {
        let ends = nodes.iter().skip(1).map(|node| node.sleepers);
        let ends = ends.chain([sleepers.len()]);
        let saved = nodes.iter().zip(ends).map(|(node, end)| SavedNode {
            task: node.task,
            candidates: candidates[node.candidates.clone()]
                .iter()
                .map(|candidate| (candidate.task, candidate.waits_for))
                .collect(),
            held_here: held(Held::Here, &candidates[node.candidates.clone()]),
            held_always: held(Held::Always, &candidates[node.candidates.clone()]),
            sleepers: sleepers[node.sleepers..end]
                .iter()
                .map(|sleeper| (sleeper.task, saved_footprint(&sleeper.footprint)))
                .collect(),
            overslept: sleepers[node.sleepers..end]
                .iter()
                .filter(|sleeper| sleeper.overslept)
                .map(|sleeper| sleeper.task)
                .collect(),
            giving_up: sleepers[node.sleepers..end]
                .iter()
                .filter(|sleeper| sleeper.gives_up)
                .map(|sleeper| sleeper.task)
                .collect(),
            values_asleep: saved_values(&sleepers[node.sleepers..end]),
            wanted: node
                .wanted
                .beginnings()
                .iter()
                .map(|values| values.to_vec())
                .collect(),
            explored: node
                .explored
                .iter()
                .map(|(values, footprint)| (values.to_vec(), saved_footprint(footprint)))
                .collect(),
            may_time_out: node.may_time_out,
            fair: node.fair,
            choice: node.choice,
            preempts: node.preempts,
            preemptions: node.preemptions,
            footprint: saved_footprint(&node.footprint),
            sequences: node.sequences.saved(),
            tried: node.tried,
            pending: node.pending.saved(),
        });
        SavedPath {
            choices: pack(choices),
            nodes: saved.collect(),
        }
    }

    /// Restores the path with the data of its nodes; `None` if it is malformed.
    pub(super) fn way(&self) -> Option<Prefix> {
        let mut way = Prefix {
            choices: unpack(&self.choices)?,
            nodes: Vec::with_capacity(self.nodes.len()),
            candidates: Vec::new(),
            sleepers: Vec::new(),
        };
        if !is_path(&self.nodes, &way.choices) {
            return None;
        }
        for saved in &self.nodes {
            saved.add_to(&mut way)?;
        }
        Some(way)
    }

    /// Returns `true` if values are chosen along the path, or in planned sequences.
    fn has_values(&self, choices: &[Choice]) -> bool {
        let chosen = |choice: &Choice| choice.kind != ChoiceKind::Task;
        let in_tree = |tree: &[SavedBranch]| tree.iter().any(SavedBranch::has_values);
        let at_node = |node: &SavedNode| in_tree(&node.sequences) || in_tree(&node.pending);
        choices.iter().any(chosen) || self.nodes.iter().any(at_node)
    }
}

/// Returns the candidates that are held back in this way.
fn held(held: Held, candidates: &[Candidate]) -> Vec<u32> {
    let such = candidates.iter().filter(|candidate| candidate.held == held);
    such.map(|candidate| candidate.task).collect()
}

/// Returns the values of each sleeper; nothing if no sleeper has any.
fn saved_values(sleepers: &[Sleeper]) -> Vec<Vec<u32>> {
    if sleepers.iter().all(|sleeper| sleeper.values.is_empty()) {
        return Vec::new();
    }
    sleepers.iter().map(|sleeper| sleeper.values.to_vec()).collect()
}

impl SavedNode {
    /// Adds the node to a path.
    fn add_to(&self, way: &mut Prefix) -> Option<()> {
        let (candidates, sleepers) = (way.candidates.len(), way.sleepers.len());
        for &(task, waits_for) in &self.candidates {
            let held = match () {
                () if self.held_here.contains(&task) => Held::Here,
                () if self.held_always.contains(&task) => Held::Always,
                () => Held::Not,
            };
            let candidate = Candidate {
                task,
                waits_for,
                held,
            };
            way.candidates.push(candidate);
        }
        if !self.values_asleep.is_empty() && self.values_asleep.len() != self.sleepers.len() {
            return None;
        }
        for (at, (task, footprint)) in self.sleepers.iter().enumerate() {
            way.sleepers.push(Sleeper {
                task: *task,
                footprint: restored_footprint(footprint)?,
                values: Values::from_slice(self.values_asleep.get(at).map_or(&[], |values| values)),
                gives_up: self.giving_up.contains(task),
                across_elided: false,
                overslept: self.overslept.contains(task),
            });
        }
        // A step costs at most one preemption. Each candidate is tried once, or is asleep with the values that were
        // tried.
        let before = way.nodes.len();
        let tried_most = self.candidates.len().max(self.sleepers.len());
        if self.preemptions as usize > before || self.tried as usize > tried_most {
            return None;
        }
        let explored = self.explored.iter();
        let explored = explored
            .map(|(values, footprint)| Some((Values::from_slice(values), restored_footprint(footprint)?)));
        way.nodes.push(Node {
            task: self.task,
            candidates: candidates..way.candidates.len(),
            sleepers,
            may_time_out: self.may_time_out,
            fair: self.fair,
            choice: self.choice,
            preempts: self.preempts,
            preemptions: self.preemptions,
            went_on: None,
            footprint: restored_footprint(&self.footprint)?,
            wanted: Wanted::beginning_with(self.wanted.iter().map(|values| &values[..])),
            explored: explored.collect::<Option<_>>()?,
            sequences: Tree::restored(&self.sequences)?,
            tried: self.tried,
            pending: Tree::restored(&self.pending)?,
            ..Node::blank()
        });
        Some(())
    }
}

/// Returns `true` if these are the nodes of a path with these choices: each choice of a task is made at one of them,
/// among its candidates.
fn is_path(nodes: &[SavedNode], choices: &[Choice]) -> bool {
    let made = (0..)
        .zip(choices)
        .filter(|(_, choice)| choice.kind == ChoiceKind::Task);
    let at = nodes.iter().filter_map(|node| Some((node.choice?, node)));
    let fits = |((made, choice), (at, node)): &((usize, &Choice), (usize, &SavedNode))| {
        let taken = node.candidates.get(choice.taken as usize);
        made == at
            && node.candidates.len() == choice.alternatives as usize
            && taken.is_some_and(|&(task, _)| task == node.task)
    };
    made.clone().count() == at.clone().count()
        && made.zip(at).all(|pair| fits(&pair))
        && nodes.first().is_none_or(|first| first.choice.is_none())
        && (!nodes.is_empty() || choices.is_empty())
}

impl Resumable for Dpor {
    fn prepares_before_save(&self) -> bool {
        true
    }

    fn save(&mut self, plan: &Plan) -> Option<String> {
        self.save_hand(plan.choices())
    }

    fn save_prepared(&mut self, plan: &Plan) -> Option<String> {
        self.save(plan)
    }

    fn save_shared(&mut self) -> Option<String> {
        self.save_all()
    }

    fn restore(&mut self, state: &SearchState) -> bool {
        // Known states are not saved in a checkpoint.
        self.known = None;
        match &state.hands[..] {
            [] if !state.shared.is_empty() => self.restored_all(&state.shared).is_some(),
            // Nothing remained when the worker finished.
            [] => {
                self.is_over = true;
                true
            }
            [hand] if state.shared.is_empty() => self.restored(hand).is_some(),
            _ => false,
        }
    }
}
