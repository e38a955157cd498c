//! Steps that several hands explore the alternatives of: who has tried what there, and what is left to try.
//!
//! A hand that gives work away makes places of the first steps of its path. From then on what is to be tried at one of them
//! is in the place, under its lock: whoever runs an execution that passes it may add something, and whoever has nothing to
//! do may take something.
//!
//! Branches of a place are numbered as they are taken, and each sleeps in those that are taken later, whether it is through
//! with or not. A hand leaves to an earlier branch what that one comes to. What may as well begin with a branch taken later
//! is tried there: if that was taken with nothing particular to be tried after it, it comes to all anyway. Else who sleeps may
//! still sleep while its sequence lasts, and leave just that back: so all steps of the sequence are places from the beginning,
//! and more can be added to them at any time.

use super::Candidate;
use super::bound::Bound;
use super::node::Node;
use super::sequence::{Sequence, Values};
use super::sleep::{SavedTouches, Sleeper, Touches, restored_touches, saved_touches};
use super::tree::{Leads, SavedBranch, Tree};
use intermezzo_engine::schedule::Choice;
use intermezzo_engine::trace::Trace;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The path of the hand that came to places first, down to the deepest of them.
pub(super) struct Prefix {
    pub(super) choices: Vec<Choice>,
    /// Its steps, without what is to be tried.
    pub(super) nodes: Vec<Node>,
    pub(super) candidates: Vec<Candidate>,
    pub(super) sleepers: Vec<Sleeper>,
}

impl Prefix {
    /// Those who slept before a step when the way was made.
    pub(super) fn asleep(&self, depth: usize) -> &[Sleeper] {
        let next = self.nodes.get(depth + 1);
        let end = next.map_or(self.sleepers.len(), |next| next.sleepers);
        &self.sleepers[self.nodes[depth].sleepers..end]
    }
}

/// A branch of a place that some hand has taken.
struct Taken {
    task: u32,
    /// What its step touches, with all the values that it can choose; `None` as long as that is not known.
    touches: Option<Touches>,
    /// Its step as it was to be tried.
    tried: Tree,
    /// The next step of the sequence that it began; `None` if it was the last.
    below: Option<Arc<SharedNode>>,
}

/// What is known of the branches of a place.
pub(super) struct Branches {
    /// Those that were taken, in order.
    taken: Vec<Taken>,
    /// What is to be tried after those, in order.
    pending: Tree,
    /// `true` if some of what was to be tried could not be.
    lost: bool,
    /// `true` if the place is among those that hands without work look through.
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

    /// Adds the step of a task, unless it is there or was.
    fn add_leaf(&mut self, task: u32, touches: Touches) {
        if !self.has(task) {
            self.pending.add_leaf(task, &touches);
        }
    }

    /// Returns `true` if a task was tried, or is to be.
    pub(super) fn has(&self, task: u32) -> bool {
        self.taken.iter().any(|taken| taken.task == task) || self.pending.begins_with(task)
    }

    fn last_is_known(&self) -> bool {
        self.taken.last().is_some_and(|last| last.touches.is_some())
    }
}

/// A step that several hands explore the alternatives of.
pub(super) struct SharedNode {
    /// How one comes there, and which step of that way it is; nothing, until somebody did.
    found: OnceLock<(Arc<Prefix>, usize)>,
    branches: Mutex<Branches>,
}

/// A place, and which of its branches a path goes through.
#[derive(Clone)]
pub(super) struct Edge {
    pub(super) place: Arc<SharedNode>,
    pub(super) branch: usize,
}

/// The places along a path, by step; `None` where nobody but one can go on.
pub(super) type SharedPath = Vec<Option<Edge>>;

/// The tasks of the further steps of a sequence, and their places.
pub(super) type PlannedNodes = Vec<(u32, Arc<SharedNode>)>;

/// A branch that a hand has taken.
pub(super) struct Branch {
    pub(super) number: usize,
    pub(super) task: u32,
    pub(super) alternative: u32,
    /// The sequence that it begins.
    pub(super) line: PlannedNodes,
    /// The branches that were taken before.
    pub(super) sleepers: Vec<Sleeper>,
    /// `true` if all who sleep at the place overslept.
    pub(super) overslept: bool,
}

/// Places for the first sequence of a tree; what else is in the tree is to be tried at them.
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
            touches: None,
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
    /// Returns a step of a way, of which a hand explores the branch of the task that takes it there.
    pub(super) fn new(way: Arc<Prefix>, depth: usize, touches: Touches, pending: Tree) -> SharedNode {
        let first = Taken {
            task: way.nodes[depth].task,
            touches: Some(touches),
            tried: Tree::default(),
            below: None,
        };
        SharedNode {
            found: OnceLock::from((way, depth)),
            branches: Branches::new(first, pending),
        }
    }

    /// The hand that took the sequence that the place is a step of has come to it, and then taken a step that touches this.
    pub(super) fn come_to(&self, way: Arc<Prefix>, depth: usize, touches: Touches) {
        let first = &mut self.lock().taken[0];
        if first.task != way.nodes[depth].task {
            // What was wanted next was done on the way: from here on anything went.
            (first.tried, first.below) = (Tree::default(), None);
            first.task = way.nodes[depth].task;
        }
        first.touches = Some(touches);
        let _ = self.found.set((way, depth));
    }

    /// What is known of its branches. No other lock is taken meanwhile.
    pub(super) fn lock(&self) -> MutexGuard<'_, Branches> {
        self.branches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How one comes there, and which step of that way it is.
    pub(super) fn way(&self) -> Option<&(Arc<Prefix>, usize)> {
        self.found.get()
    }

    /// Which step it is.
    pub(super) fn depth(&self) -> usize {
        self.way().map_or(usize::MAX, |(_, depth)| *depth)
    }

    /// Takes what is to be tried next within the bound; `None` if there is nothing, or if it is not known yet who sleeps then.
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
            let tried = asleep.iter().any(|sleeper| sleeper.task == task)
                || branches.taken.iter().any(|taken| taken.task == task);
            if tried {
                continue;
            }
            let Some(alternative) = listed.iter().position(|candidate| candidate.task == task) else {
                // As where one hand does without its plan.
                branches.lost = true;
                for candidate in listed {
                    branches.add_leaf(candidate.task, Touches::new());
                }
                continue;
            };
            if !bound.allows(node, alternative) {
                continue;
            }
            let sleeper = |taken: &Taken| {
                Some(Sleeper {
                    task: taken.task,
                    touches: taken.touches.clone()?,
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
                touches: None,
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

    /// What the step of a branch touches is known. Whether that is news to hands without work.
    pub(super) fn tell_touches(&self, branch: usize, touches: Touches) -> bool {
        let mut branches = self.lock();
        branches.taken[branch].touches = Some(touches);
        branches.last_is_known() && !branches.pending.is_empty()
    }

    /// Adds the step of a task, unless it is there or was.
    pub(super) fn add_leaf(&self, task: u32, touches: Touches) {
        self.lock().add_leaf(task, touches);
    }

    /// Returns `true` if a hand without work could take something. What sleeps in it has to be known.
    pub(super) fn is_ready(&self) -> bool {
        let branches = self.lock();
        self.way().is_some() && branches.last_is_known() && !branches.pending.is_empty()
    }

    /// Returns `true` if there is something to try for whoever can come there, and the place is not listed.
    pub(super) fn is_unlisted(&self) -> bool {
        let branches = self.lock();
        self.way().is_some() && !branches.listed && !branches.pending.is_empty()
    }

    /// Returns the place is listed from now on, or not any more if there is nothing to try. Whether it is.
    pub(super) fn list(&self) -> bool {
        let mut branches = self.lock();
        branches.listed = !branches.pending.is_empty();
        branches.listed
    }

    /// Returns the places below that it alone knows of, maybe.
    fn take_below(&mut self) -> Vec<Arc<SharedNode>> {
        let branches = self.branches.get_mut().unwrap_or_else(PoisonError::into_inner);
        let below = branches.taken.iter_mut().filter_map(|taken| taken.below.take());
        below.collect()
    }
}

fn is_false(lost: &bool) -> bool {
    !lost
}

/// A place, to be saved: what it has to do with others by their numbers.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedPlace {
    /// The way, and the step of it.
    found: Option<(usize, usize)>,
    taken: Vec<SavedTaken>,
    pending: Vec<SavedBranch>,
    #[serde(default, skip_serializing_if = "is_false")]
    lost: bool,
}

#[derive(Serialize, Deserialize)]
struct SavedTaken {
    task: u32,
    touches: Option<SavedTouches>,
    tried: Vec<SavedBranch>,
    below: Option<usize>,
}

impl SharedNode {
    /// Returns the place, to be saved, where ways and places have these numbers.
    pub(super) fn saved(
        &self,
        mut number_of_way: impl FnMut(&Arc<Prefix>) -> usize,
        mut number_of_place: impl FnMut(&Arc<SharedNode>) -> usize,
    ) -> SavedPlace {
        let branches = self.lock();
        let taken = branches.taken.iter().map(|taken| SavedTaken {
            task: taken.task,
            touches: taken.touches.as_deref().map(saved_touches),
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

    /// Returns the place that was saved, by these ways and places of numbers; `None` if that cannot be.
    pub(super) fn restored(
        saved: &SavedPlace,
        ways: &[Arc<Prefix>],
        place: impl Fn(usize) -> Option<Arc<SharedNode>>,
    ) -> Option<SharedNode> {
        let taken = |saved: &SavedTaken| {
            let touches = saved.touches.as_ref().map(restored_touches);
            Some(Taken {
                task: saved.task,
                touches: match touches {
                    Some(touches) => Some(touches?),
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
        // Somebody took the first branch of each.
        (!branches.taken.is_empty()).then(|| SharedNode {
            found,
            branches: Mutex::new(branches),
        })
    }

    /// Returns `true` if the place is this step of the way, as far as it matters to who goes on from it: the same
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

    /// Returns `true` if so many branches were taken, and one more.
    pub(super) fn has_branch(&self, number: usize) -> bool {
        number < self.lock().taken.len()
    }
}

impl Drop for SharedNode {
    /// One by one, for there may be many below each other.
    fn drop(&mut self) {
        let mut left = self.take_below();
        while let Some(place) = left.pop() {
            if let Some(mut place) = Arc::into_inner(place) {
                left.append(&mut place.take_below());
            }
        }
    }
}

/// Where a sequence was added: the places that it was added below, and the one that it was added to.
type Added = (Vec<Edge>, Arc<SharedNode>);

impl Edge {
    /// Adds a sequence found below this branch: to the place, or below a branch taken later with which it may as well begin.
    /// Where; `None` if it is come to anyway. And whether that cannot be relied on, as with [`Tree::insert`].
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
                unsure |= branches.pending.insert(trace, choices, sequence);
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
