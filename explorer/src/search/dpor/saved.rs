//! What is left of the search, as text: the path to the execution that was prepared, and all that is to be tried along it.
//!
//! What the last execution showed is in it by then, so no trace is needed to go on. Rounds of loops in vain are not in
//! it: where they count as not having happened, no search is kept.

use super::node::Candidate;
use super::sequence::Values;
use super::sleep::{SavedTouches, Sleeper, restored_touches, saved_touches};
use super::tree::{SavedBranch, Tree};
use super::{Dpor, Planned};
use crate::schedule::{Choice, ChoiceKind, pack, unpack};
use crate::trace::Key;
use serde::{Deserialize, Serialize};

/// A search between two executions.
#[derive(Serialize, Deserialize)]
struct Saved {
    /// How many executions were prepared.
    executions: u64,
    left_out: bool,
    unsure: bool,
    /// Those prescribed for the next execution.
    choices: String,
    values: Vec<u32>,
    fresh: usize,
    /// None, if the search is over.
    nodes: Vec<SavedNode>,
}

#[derive(Serialize, Deserialize)]
struct SavedNode {
    task: u32,
    candidates: Vec<(u32, Option<Key>)>,
    sleepers: Vec<(u32, SavedTouches)>,
    unasked: bool,
    fair: bool,
    choice: Option<usize>,
    preempts: bool,
    preemptions: u32,
    touches: SavedTouches,
    sequences: Vec<SavedBranch>,
    tried: u32,
    pending: Vec<SavedBranch>,
}

impl Dpor {
    /// What is left to do, once an execution with these choices is prepared.
    pub(super) fn saved(&self, choices: &[Choice]) -> String {
        let over = self.is_over;
        let nodes = if over { 0 } else { self.nodes.len() };
        let saved = Saved {
            executions: self.executions,
            left_out: self.bound.left_out(),
            unsure: self.unsure,
            choices: pack(if over { &[] } else { choices }),
            values: self.values.to_vec(),
            fresh: if over { 0 } else { self.fresh },
            nodes: (0..nodes).map(|depth| self.saved_node(depth)).collect(),
        };
        serde_json::to_string(&saved).expect("numbers and texts can be written")
    }

    fn saved_node(&self, depth: usize) -> SavedNode {
        let node = &self.nodes[depth];
        let candidates = &self.candidates[node.candidates.clone()];
        SavedNode {
            task: node.task,
            candidates: candidates
                .iter()
                .map(|candidate| (candidate.task, candidate.waits_for))
                .collect(),
            sleepers: self.sleepers[node.sleepers..self.sleepers_end(depth)]
                .iter()
                .map(|sleeper| (sleeper.task, saved_touches(&sleeper.touches)))
                .collect(),
            unasked: node.unasked,
            fair: node.fair,
            choice: node.choice,
            preempts: node.preempts,
            preemptions: node.preemptions,
            touches: saved_touches(&node.touches),
            sequences: node.sequences.saved(),
            tried: node.tried,
            pending: node.pending.saved(),
        }
    }

    /// Goes on where `saved` was called, in a search that has not begun. `None` if the text is not from there.
    pub(super) fn restored(&mut self, text: &str) -> Option<()> {
        let saved: Saved = serde_json::from_str(text).ok()?;
        let choices = unpack(&saved.choices)?;
        if !is_path(&saved.nodes, &choices) || saved.fresh > saved.nodes.len() {
            return None;
        }
        self.begun = true;
        self.is_over = saved.nodes.is_empty();
        self.executions = saved.executions;
        if saved.left_out {
            self.bound.leave_out();
        }
        self.unsure = saved.unsure;
        self.values = Values::from_vec(saved.values);
        self.fresh = saved.fresh;
        for node in saved.nodes {
            self.push_saved(node)?;
        }
        self.prepared = Some(choices);
        self.planned = Planned::default();
        self.note_planned();
        Some(())
    }

    fn push_saved(&mut self, saved: SavedNode) -> Option<()> {
        let (candidates, sleepers) = (self.candidates.len(), self.sleepers.len());
        for (task, waits_for) in saved.candidates {
            self.candidates.push(Candidate { task, waits_for });
        }
        for (task, touches) in saved.sleepers {
            self.sleepers.push(Sleeper {
                task,
                touches: restored_touches(&touches)?,
                over_void: false,
            });
        }
        let node = self.nodes.push();
        node.task = saved.task;
        (node.candidates, node.sleepers) = (candidates..self.candidates.len(), sleepers);
        (node.unasked, node.fair, node.choice) = (saved.unasked, saved.fair, saved.choice);
        (node.preempts, node.preemptions) = (saved.preempts, saved.preemptions);
        node.touches = restored_touches(&saved.touches)?;
        node.sequences = Tree::restored(saved.sequences)?;
        node.tried = saved.tried;
        node.pending = Tree::restored(saved.pending)?;
        Some(())
    }
}

/// Whether these are the nodes of a path with these choices: each choice of a task is made at one of them, among its
/// candidates.
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
