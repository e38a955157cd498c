//! The remaining work of a search with several workers, as text: each worker's own, and the shared nodes with all
//! branches that were tried and are planned there.
//!
//! It is saved while all workers pause, after each has added the results of its last execution. So every planned
//! sequence is either at a shared node or with a worker. Shared nodes are numbered in the order in which paths reach
//! them, each before those below it.

use super::Dpor;
use super::bound::{Bound, SavedBound};
use super::crew::{AllRemaining, Crew, Open, Remaining};
use super::saved::{SavedHand, SavedPath};
use super::shared_node::{Edge, PlannedNodes, Prefix, SavedPlace, SharedNode, SharedPath};
use super::sharing::Sharing;
use intermezzo_engine::serial::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
struct SavedCrew {
    bound: SavedBound,
    ways: Vec<SavedPath>,
    places: Vec<SavedPlace>,
    open: Vec<SavedOpen>,
    hands: Vec<SavedLeft>,
}

/// A step of a path that is a shared node: the number of the node, and the branch that the path takes.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct SavedAt {
    step: usize,
    place: usize,
    branch: usize,
}

#[derive(Serialize, Deserialize)]
struct SavedOpen {
    place: usize,
    above: Vec<SavedAt>,
}

#[derive(Serialize, Deserialize)]
struct SavedLeft {
    hand: SavedHand,
    places: Vec<SavedAt>,
    /// Tasks and shared nodes.
    line: Vec<(u32, usize)>,
    told: bool,
}

impl Dpor {
    /// Returns the remaining work of all workers, if there are several; otherwise the worker itself saves everything.
    /// Returns `None` if a part of the search is missing because its checkpoint was altered, so that the checkpoint is
    /// not overwritten.
    pub(super) fn save_all(&self) -> Option<String> {
        let saved = |crew: &Crew| text(crew, &self.bound);
        (!self.bound.has_lost()).then(|| self.part.crew().map_or_else(String::new, saved))
    }

    /// Continues a search of several workers, as the first of them, in a search that has not begun. Returns `None` if
    /// the text is malformed.
    pub(super) fn restored_all(&mut self, text: &str) -> Option<()> {
        self.part = Sharing::going_on(crew(text, &self.bound)?);
        self.begun = true;
        Some(())
    }
}

/// Returns all remaining work of these workers.
fn text(crew: &Crew, bound: &Bound) -> String {
    let saved = crew.look(|left| saved(&left, bound));
    intermezzo_engine::serial::to_string(&saved).expect("numbers and texts can be written")
}

fn saved(left: &AllRemaining<'_>, bound: &Bound) -> SavedCrew {
    let mut places = Numbered::default();
    let mut open = Vec::new();
    for Open { place, above } in left.open {
        let above = saved_path(above, &mut places);
        let place = places.number(place);
        open.push(SavedOpen { place, above });
    }
    let mut hands = Vec::new();
    for left in &left.hands {
        hands.push(SavedLeft {
            hand: left.hand.clone(),
            places: saved_path(&left.places, &mut places),
            line: left
                .line
                .iter()
                .map(|(task, place)| (*task, places.number(place)))
                .collect(),
            told: left.told,
        });
    }
    let mut ways = Numbered::default();
    let mut saved = Vec::new();
    // Saving a node numbers the nodes below it.
    while let Some(place) = places.all.get(saved.len()).cloned() {
        saved.push(place.saved(|way| ways.number(way), |below| places.number(below)));
    }
    let way = |way: &Arc<Prefix>| SavedPath::of(&way.choices, &way.nodes, &way.candidates, &way.sleepers);
    SavedCrew {
        bound: bound.saved(),
        ways: ways.all.iter().map(way).collect(),
        places: saved,
        open,
        hands,
    }
}

fn saved_path(path: &[Option<Edge>], places: &mut Numbered<SharedNode>) -> Vec<SavedAt> {
    let at = |(step, at): (usize, &Option<Edge>)| {
        let Edge { place, branch } = at.as_ref()?;
        Some(SavedAt {
            step,
            place: places.number(place),
            branch: *branch,
        })
    };
    path.iter().enumerate().filter_map(at).collect()
}

/// Shared objects, by number.
struct Numbered<T> {
    all: Vec<Arc<T>>,
    numbers: HashMap<*const T, usize>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Numbered<T> {
        Numbered {
            all: Vec::new(),
            numbers: HashMap::new(),
        }
    }
}

impl<T> Numbered<T> {
    fn number(&mut self, one: &Arc<T>) -> usize {
        let all = &mut self.all;
        *self.numbers.entry(Arc::as_ptr(one)).or_insert_with(|| {
            all.push(one.clone());
            all.len() - 1
        })
    }
}

/// Restores the workers' shared state from this remaining work, for one worker without work of its own; `None` if no
/// search can have this state.
fn crew(text: &str, bound: &Bound) -> Option<Crew> {
    let saved: SavedCrew = intermezzo_engine::serial::from_str(text).ok()?;
    let ways = saved.ways.iter().map(|way| way.way().map(Arc::new));
    let ways: Vec<Arc<Prefix>> = ways.collect::<Option<_>>()?;
    let mut loaded = Loaded::new(&saved.places, &ways)?;
    let left = saved.hands.into_iter().map(|left| loaded.left(left));
    let left: Vec<Remaining> = left.collect::<Option<_>>()?;
    let open = saved.open.iter().map(|open| loaded.open(open));
    let open: Vec<Open> = open.collect::<Option<_>>()?;
    bound.go_on_from(&saved.bound);
    Some(Crew::going_on(left, open))
}

/// Shared nodes that are loaded.
struct Loaded {
    places: Vec<Arc<SharedNode>>,
    /// `true` if some worker is about to reach the node for the first time.
    in_line: Vec<bool>,
}

impl Loaded {
    fn new(saved: &[SavedPlace], ways: &[Arc<Prefix>]) -> Option<Loaded> {
        let mut places: Vec<Option<Arc<SharedNode>>> = vec![None; saved.len()];
        // In reverse order, so that the nodes below a node exist already.
        for (number, saved) in saved.iter().enumerate().rev() {
            let below = |at: usize| (at > number).then(|| places.get(at)?.clone()).flatten();
            let place = SharedNode::restored(saved, ways, below)?;
            places[number] = Some(Arc::new(place));
        }
        Some(Loaded {
            in_line: vec![false; places.len()],
            places: places.into_iter().collect::<Option<_>>()?,
        })
    }

    fn left(&mut self, saved: SavedLeft) -> Option<Remaining> {
        let way = saved.hand.check().filter(|way| !way.nodes.is_empty())?;
        let last = saved.places.last();
        let length = last.map_or(Some(0), |last| last.step.checked_add(1))?;
        let mut line = PlannedNodes::new();
        for (task, number) in saved.line {
            let place = self.places.get(number)?;
            if place.way().is_some() || std::mem::replace(&mut self.in_line[number], true) {
                return None;
            }
            line.push((task, place.clone()));
        }
        Some(Remaining {
            places: self.path(&saved.places, length, &way)?,
            line,
            told: saved.told,
            hand: saved.hand,
        })
    }

    fn open(&self, saved: &SavedOpen) -> Option<Open> {
        let place = self.places.get(saved.place)?.clone();
        let (way, depth) = place.way()?.clone();
        Some(Open {
            above: self.path(&saved.above, depth, &way)?,
            place,
        })
    }

    /// Returns the shared nodes along a prefix with this many steps.
    fn path(&self, saved: &[SavedAt], steps: usize, way: &Prefix) -> Option<SharedPath> {
        if steps > way.nodes.len() {
            return None;
        }
        let mut path: SharedPath = vec![None; steps];
        for at in saved {
            let place = self.places.get(at.place)?.clone();
            if !place.is_on(way, at.step) || !place.has_branch(at.branch) {
                return None;
            }
            let branch = at.branch;
            *path.get_mut(at.step)? = Some(Edge { place, branch });
        }
        Some(path)
    }
}
