//! Shared nodes: steps whose alternatives are explored by several workers, with the branches that were taken and those
//! still to be taken.
//!
//! A worker that donates work turns the first steps of its path into shared nodes. From then on the plan of such a step
//! is in the node, under its lock. A worker whose execution passes the node may add to it, and an idle worker may take
//! from it.
//!
//! Branches of a node are numbered as they are taken. The task of each sleeps in the branches that are taken later,
//! whether or not it is finished. A sequence that an earlier branch covers is left to that branch. A sequence that may
//! begin with a branch that was taken later is added below that branch. If nothing was planned there after the first
//! step, the branch covers every such sequence anyway. Otherwise tasks may stay asleep there during the planned
//! sequence, and so would skip the added one. That is why all steps of a planned sequence are shared nodes from the
//! beginning: further sequences can be added to them at any time.

use super::Candidate;
use super::bound::Bound;
use super::node::Node;
use super::sequence::Sequence;
use super::sleep::{Footprint, SavedFootprint, Sleeper, is_asleep, restored_footprint, saved_footprint};
use super::tree::{Leads, SavedBranch, Tree};
use super::values::Values;
use intermezzo_engine::schedule::Choice;
use intermezzo_engine::serial::{Deserialize, Serialize};
use intermezzo_engine::trace::Trace;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The path of the worker that reached shared nodes first, down to the deepest of them.
pub(super) struct Prefix {
    pub(super) choices: Vec<Choice>,
    /// Its steps, without their plans.
    pub(super) nodes: Vec<Node>,
    pub(super) candidates: Vec<Candidate>,
    pub(super) sleepers: Vec<Sleeper>,
}

impl Prefix {
    /// Returns the tasks that slept before a step when the prefix was made.
    pub(super) fn asleep(&self, depth: usize) -> &[Sleeper] {
        let next = self.nodes.get(depth + 1);
        let end = next.map_or(self.sleepers.len(), |next| next.sleepers);
        &self.sleepers[self.nodes[depth].sleepers..end]
    }
}

/// A branch of a shared node that some worker has taken.
struct Taken {
    task: u32,
    /// The footprint of its step, with all the values that it can choose; `None` as long as that is not known.
    footprint: Option<Footprint>,
    /// Its planned step.
    tried: Tree,
    /// The next step of the sequence that it began; `None` if it was the last.
    below: Option<Arc<SharedNode>>,
}

/// The branches of a shared node.
pub(super) struct Branches {
    /// The branches that were taken, in order.
    taken: Vec<Taken>,
    /// The sequences to be explored after those, in order.
    pending: Tree,
    /// `true` if a part of the plan could not be followed.
    lost: bool,
    /// `true` if the node is listed for idle workers.
    listed: bool,
}

impl Branches {
    fn new(first: Taken, pending: Tree) -> Mutex<Branches> {
        Mutex::new(Branches {
            taken: vec![first],
            pending,
            lost: false,
            listed: false,
        })
    }

    /// Plans the step of a task, unless it is planned or was taken.
    fn add_leaf(&mut self, task: u32, footprint: Footprint) {
        if !self.has(task) {
            self.pending.add_leaf(task, &footprint);
        }
    }

    /// Returns `true` if a task was tried, or is planned.
    pub(super) fn has(&self, task: u32) -> bool {
        self.taken.iter().any(|taken| taken.task == task) || self.pending.begins_with(task)
    }

    fn last_is_known(&self) -> bool {
        self.taken.last().is_some_and(|last| last.footprint.is_some())
    }
}

/// A step whose alternatives several workers explore.
pub(super) struct SharedNode {
    /// The prefix that leads there, and the number of the step in it; unset until a worker reaches it.
    found: OnceLock<(Arc<Prefix>, usize)>,
    branches: Mutex<Branches>,
}

/// A shared node, and the branch of it that a path takes.
#[derive(Clone)]
pub(super) struct Edge {
    pub(super) place: Arc<SharedNode>,
    pub(super) branch: usize,
}

/// The shared nodes along a path, by step; `None` where only one task can continue.
pub(super) type SharedPath = Vec<Option<Edge>>;

/// The tasks of the further steps of a sequence, and their shared nodes.
pub(super) type PlannedNodes = Vec<(u32, Arc<SharedNode>)>;

/// A branch that a worker has taken.
pub(super) struct Branch {
    pub(super) number: usize,
    pub(super) task: u32,
    pub(super) alternative: u32,
    /// The sequence that it begins.
    pub(super) line: PlannedNodes,
    /// The branches that were taken before.
    pub(super) sleepers: Vec<Sleeper>,
    /// `true` if all sleepers at the node overslept.
    pub(super) overslept: bool,
}

/// Returns shared nodes for the first sequence of a tree; the rest of the tree is planned at them.
fn line(mut tree: Tree) -> PlannedNodes {
    let mut steps = Vec::new();
    let mut own = Tree::default();
    while let Some(task) = tree.take_first(&mut own) {
        steps.push((task, own.first_steps(), std::mem::take(&mut tree)));
        own.take_after(&Values::new(), &mut tree);
    }
    let mut below = None;
    let mut line = Vec::new();
    for (task, tried, pending) in steps.into_iter().rev() {
        let first = Taken {
            task,
            footprint: None,
            tried,
            below: below.take(),
        };
        let place = Arc::new(SharedNode {
            found: OnceLock::new(),
            branches: Branches::new(first, pending),
        });
        below = Some(place.clone());
        line.push((task, place));
    }
    line.reverse();
    line
}

impl SharedNode {
    /// Returns a shared node for a step of a prefix. A worker explores the branch of the task that the prefix takes
    /// there.
    pub(super) fn new(way: Arc<Prefix>, depth: usize, footprint: Footprint, pending: Tree) -> SharedNode {
        let first = Taken {
            task: way.nodes[depth].task,
            footprint: Some(footprint),
            tried: Tree::default(),
            below: None,
        };
        SharedNode {
            found: OnceLock::from((way, depth)),
            branches: Branches::new(first, pending),
        }
    }

    /// Notes that the worker that took the planned sequence has reached this node, and then taken a step with this
    /// footprint.
    pub(super) fn come_to(&self, way: Arc<Prefix>, depth: usize, footprint: Footprint) {
        let first = &mut self.lock().taken[0];
        if first.task != way.nodes[depth].task {
            // The planned step had already been done, so from here on any task could go.
            (first.tried, first.below) = (Tree::default(), None);
            first.task = way.nodes[depth].task;
        }
        first.footprint = Some(footprint);
        let _ = self.found.set((way, depth));
    }

    /// Locks its branches. No other lock is taken in the meantime.
    pub(super) fn lock(&self) -> MutexGuard<'_, Branches> {
        self.branches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the prefix that leads there, and the number of the step in it.
    pub(super) fn way(&self) -> Option<&(Arc<Prefix>, usize)> {
        self.found.get()
    }

    /// Returns the number of the step.
    pub(super) fn depth(&self) -> usize {
        self.way().map_or(usize::MAX, |(_, depth)| *depth)
    }

    /// Takes the next planned branch within the bound; `None` if there is none, or if its sleepers are not known yet.
    pub(super) fn take(&self, bound: &Bound) -> Option<Branch> {
        let (way, depth) = self.way()?;
        let branches = &mut *self.lock();
        if !branches.last_is_known() {
            return None;
        }
        let asleep = way.asleep(*depth);
        let node = &way.nodes[*depth];
        let listed = &way.candidates[node.candidates.clone()];
        let mut sequences = Tree::default();
        while let Some(task) = branches.pending.take_first(&mut sequences) {
            let tried = is_asleep(asleep, task) || branches.taken.iter().any(|taken| taken.task == task);
            if tried {
                continue;
            }
            let Some(alternative) = listed.iter().position(|candidate| candidate.task == task) else {
                // As in a search by one worker that cannot follow its plan.
                branches.lost = true;
                for candidate in listed {
                    branches.add_leaf(candidate.task, Footprint::new());
                }
                continue;
            };
            if !bound.allows(node, alternative) {
                continue;
            }
            let sleeper = |taken: &Taken| {
                Some(Sleeper {
                    task: taken.task,
                    footprint: taken.footprint.clone()?,
                    values: Values::new(),
                    gives_up: true,
                    across_elided: false,
                    overslept: false,
                })
            };
            let sleepers = branches.taken.iter().filter_map(sleeper).collect();
            let tried = sequences.first_steps();
            let mut after = Tree::default();
            sequences.take_after(&Values::new(), &mut after);
            let line = line(after);
            branches.taken.push(Taken {
                task,
                footprint: None,
                tried,
                below: line.first().map(|(_, place)| place.clone()),
            });
            return Some(Branch {
                number: branches.taken.len() - 1,
                task,
                alternative: alternative as u32,
                line,
                sleepers,
                overslept: branches.lost,
            });
        }
        None
    }

    /// Publishes the footprint of the step of a branch. Returns `true` if idle workers should be notified.
    pub(super) fn publish_footprint(&self, branch: usize, footprint: Footprint) -> bool {
        let mut branches = self.lock();
        branches.taken[branch].footprint = Some(footprint);
        branches.last_is_known() && !branches.pending.is_empty()
    }

    /// Plans the step of a task, unless it is planned or was taken.
    pub(super) fn add_leaf(&self, task: u32, footprint: Footprint) {
        self.lock().add_leaf(task, footprint);
    }

    /// Returns `true` if an idle worker could take something. The sleepers in it must be known.
    pub(super) fn is_ready(&self) -> bool {
        let branches = self.lock();
        self.way().is_some() && branches.last_is_known() && !branches.pending.is_empty()
    }

    /// Returns `true` if a worker can reach the node, something is planned at it, and it is not listed.
    pub(super) fn is_unlisted(&self) -> bool {
        let branches = self.lock();
        self.way().is_some() && !branches.listed && !branches.pending.is_empty()
    }

    /// Marks the node as listed, or as not listed if nothing is planned at it. Returns the mark.
    pub(super) fn list(&self) -> bool {
        let mut branches = self.lock();
        branches.listed = !branches.pending.is_empty();
        branches.listed
    }

    /// Removes and returns the references to the nodes below, of which this may be the last owner.
    fn take_below(&mut self) -> Vec<Arc<SharedNode>> {
        let branches = self.branches.get_mut().unwrap_or_else(PoisonError::into_inner);
        let below = branches.taken.iter_mut().filter_map(|taken| taken.below.take());
        below.collect()
    }
}

fn is_false(lost: &bool) -> bool {
    !lost
}

/// A shared node, to be saved; it refers to others by number.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedPlace {
    /// The number of the prefix, and of the step in it.
    found: Option<(usize, usize)>,
    taken: Vec<SavedTaken>,
    pending: Vec<SavedBranch>,
    #[serde(default, skip_serializing_if = "is_false")]
    lost: bool,
}

#[derive(Serialize, Deserialize)]
struct SavedTaken {
    task: u32,
    #[serde(rename = "touches")]
    footprint: Option<SavedFootprint>,
    tried: Vec<SavedBranch>,
    below: Option<usize>,
}

impl SharedNode {
    /// Returns the node, to be saved, with these numbers of prefixes and nodes.
    pub(super) fn saved(
        &self,
        mut number_of_way: impl FnMut(&Arc<Prefix>) -> usize,
        mut number_of_place: impl FnMut(&Arc<SharedNode>) -> usize,
    ) -> SavedPlace {
        let branches = self.lock();
        let taken = branches.taken.iter().map(|taken| SavedTaken {
            task: taken.task,
            footprint: taken.footprint.as_deref().map(saved_footprint),
            tried: taken.tried.saved(),
            below: taken.below.as_ref().map(&mut number_of_place),
        });
        SavedPlace {
            found: self.way().map(|(way, depth)| (number_of_way(way), *depth)),
            taken: taken.collect(),
            pending: branches.pending.saved(),
            lost: branches.lost,
        }
    }

    /// Restores the saved node, with these prefixes and nodes by number; `None` if it is malformed.
    pub(super) fn restored(
        saved: &SavedPlace,
        ways: &[Arc<Prefix>],
        place: impl Fn(usize) -> Option<Arc<SharedNode>>,
    ) -> Option<SharedNode> {
        let taken = |saved: &SavedTaken| {
            let footprint = saved.footprint.as_ref().map(restored_footprint);
            Some(Taken {
                task: saved.task,
                footprint: match footprint {
                    Some(footprint) => Some(footprint?),
                    None => None,
                },
                tried: Tree::restored(&saved.tried)?,
                below: match saved.below {
                    Some(number) => Some(place(number)?),
                    None => None,
                },
            })
        };
        let found = match saved.found {
            Some((way, depth)) => {
                let way = ways.get(way)?.clone();
                way.nodes.get(depth)?;
                OnceLock::from((way, depth))
            }
            None => OnceLock::new(),
        };
        let taken: Vec<Taken> = saved.taken.iter().map(taken).collect::<Option<_>>()?;
        let pending = Tree::restored(&saved.pending)?;
        let branches = Branches {
            taken,
            pending,
            lost: saved.lost,
            listed: false,
        };
        // The first branch of each node was taken by some worker.
        (!branches.taken.is_empty()).then(|| SharedNode {
            found,
            branches: Mutex::new(branches),
        })
    }

    /// Returns `true` if the node fits this step of the prefix, for a worker that continues from it: it has the same
    /// candidates, at the same choice.
    pub(super) fn is_on(&self, way: &Prefix, step: usize) -> bool {
        let (Some((own, depth)), Some(there)) = (self.way(), way.nodes.get(step)) else {
            return false;
        };
        let tasks = |way: &Prefix, node: &Node| -> Vec<u32> {
            let candidates = &way.candidates[node.candidates.clone()];
            candidates.iter().map(|candidate| candidate.task).collect()
        };
        let here = &own.nodes[*depth];
        *depth == step && here.choice == there.choice && tasks(own, here) == tasks(way, there)
    }

    /// Returns `true` if the branch with this number was taken.
    pub(super) fn has_branch(&self, number: usize) -> bool {
        number < self.lock().taken.len()
    }
}

impl Drop for SharedNode {
    /// Drops the nodes below one by one, because they may form a long chain.
    fn drop(&mut self) {
        let mut left = self.take_below();
        while let Some(place) = left.pop() {
            if let Some(mut place) = Arc::into_inner(place) {
                left.append(&mut place.take_below());
            }
        }
    }
}

/// The place where a sequence was added: the edges above it, and the node.
type Added = (Vec<Edge>, Arc<SharedNode>);

impl Edge {
    /// Adds a sequence that was found below this branch: to the node, or below a branch taken later that may begin it.
    /// Returns the place where it was added, or `None` if it is covered anyway; and `true` if that is not reliable, as
    /// [`Tree::insert`] does.
    pub(super) fn insert(
        &self,
        trace: &Trace,
        choices: &[Choice],
        sequence: &mut Sequence,
    ) -> (Option<Added>, bool) {
        let (mut above, mut unsure) = (Vec::new(), false);
        let (mut place, mut from) = (self.place.clone(), self.branch + 1);
        loop {
            let mut branches = place.lock();
            let begins = |&at: &usize| {
                let tried = &branches.taken[at].tried;
                let leads = tried.leads(trace, choices, sequence);
                unsure |= matches!(leads, Leads::Unsure);
                matches!(leads, Leads::Along)
            };
            let Some(branch) = (from..branches.taken.len()).find(begins) else {
                unsure |= branches.pending.insert(trace, choices, sequence, None);
                drop(branches);
                return (Some((above, place)), unsure);
            };
            let taken = &branches.taken[branch];
            let Some(below) = taken.below.clone().filter(|_| !sequence.is_empty()) else {
                return (None, unsure);
            };
            drop(branches);
            above.push(Edge { place, branch });
            (place, from) = (below, 0);
        }
    }
}
