//! The work of one search that is available to its workers: at shared nodes, and from a checkpoint.

use super::bound::Bound;
use super::saved::SavedHand;
use super::shared_node::{Branch, PlannedNodes, SharedNode, SharedPath};
use crate::work_pool::{Work, WorkPool};
use std::sync::Arc;

/// The state that the workers of a search share.
pub(super) type Crew = WorkPool<Available>;

/// The work that no worker has taken, and the work of paused workers.
pub(super) struct Available {
    /// The shared nodes with untried branches, the shallowest first. No node's lock is held when the pool's is taken.
    open: Vec<Open>,
    /// The workers' remaining work from a checkpoint, until it is acquired.
    left: Vec<Remaining>,
    /// The remaining work of each worker when it last paused, by number; before that, its initial work.
    rested: Vec<Option<Remaining>>,
}

/// A shared node with an untried branch, and those above it.
#[derive(Clone)]
pub(super) struct Open {
    pub(super) place: Arc<SharedNode>,
    pub(super) above: SharedPath,
}

/// The remaining work of a worker between two executions.
#[derive(Clone)]
pub(super) struct Remaining {
    pub(super) hand: SavedHand,
    /// The shared nodes along its path.
    pub(super) places: SharedPath,
    /// The shared nodes of the sequence that the next execution follows from the last one.
    pub(super) line: PlannedNodes,
    /// `true` if the footprint of the step from the last shared node has been published.
    pub(super) told: bool,
}

/// The work that an idle worker takes.
pub(super) enum Taken {
    /// The remaining work of another worker, from a checkpoint.
    Remaining(Box<Remaining>),
    /// A branch of a shared node.
    Branch(Open, Branch),
}

/// All remaining work, to be saved while all workers pause.
pub(super) struct AllRemaining<'a> {
    pub(super) open: &'a [Open],
    pub(super) hands: Vec<&'a Remaining>,
}

impl Work for Available {
    fn is_ready(&self) -> bool {
        !self.left.is_empty() || self.open.iter().any(|open| open.place.is_ready())
    }
}

impl Crew {
    /// Returns the state for a single worker, which begins with this work.
    pub(super) fn beginning(first: Option<Remaining>) -> Crew {
        Crew::of(first, Vec::new())
    }

    /// Returns the state for a single worker without work of its own, with all this remaining work available.
    pub(super) fn going_on(left: Vec<Remaining>, open: Vec<Open>) -> Crew {
        let crew = Crew::of(None, left);
        crew.list(open);
        crew
    }

    fn of(first: Option<Remaining>, left: Vec<Remaining>) -> Crew {
        Crew::new(Available {
            open: Vec::new(),
            left,
            rested: vec![first],
        })
    }

    /// Adds a worker without work, which counts as waiting until it is first used. Returns its number.
    pub(super) fn add_hand(&self) -> usize {
        let mut state = self.lock();
        state.add_worker();
        state.work.rested.push(None);
        state.work.rested.len() - 1
    }

    /// Notes that a worker pauses, with this remaining work.
    pub(super) fn rest(&self, hand: usize, left: Option<Remaining>) {
        self.lock().work.rested[hand] = left;
    }

    /// Passes all remaining work to `look`.
    pub(super) fn look<R>(&self, look: impl FnOnce(AllRemaining<'_>) -> R) -> R {
        let Available { open, left, rested } = &self.lock().work;
        look(AllRemaining {
            open,
            hands: left.iter().chain(rested.iter().flatten()).collect(),
        })
    }

    /// Lists these shared nodes with untried branches, which may not be listed yet.
    pub(super) fn list(&self, places: impl IntoIterator<Item = Open>) {
        let mut state = self.lock();
        let listed = &mut state.work.open;
        for open in places {
            if open.place.is_unlisted() && open.place.list() {
                let depth = open.place.depth();
                let at = listed.partition_point(|other| other.place.depth() <= depth);
                listed.insert(at, open);
            }
        }
        self.wake_all(&state);
    }

    /// Wakes waiting workers, because listed work may be ready by now.
    pub(super) fn wake(&self) {
        self.wake_all(&self.lock());
    }

    /// Returns work for an idle worker: the remaining work of another worker, or else a branch within the bound of the
    /// shallowest shared node that has one, because most work is expected there.
    pub(super) fn take(&self, hand: usize, bound: &Bound) -> Option<Taken> {
        let mut state = self.lock();
        let is_over = state.is_over;
        let Available { open, left, rested } = &mut state.work;
        rested[hand] = None;
        if is_over {
            return None;
        }
        if let Some(left) = left.pop() {
            return Some(Taken::Remaining(Box::new(left)));
        }
        let take = |open: &Open| Some(Taken::Branch(open.clone(), open.place.take(bound)?));
        let taken = open.iter().find_map(take);
        open.retain(|open| open.place.list());
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dpor, Insertion};
    use super::*;

    /// Returns the result of `wait` for the second of two workers, while the first does this.
    fn waits(first: impl FnOnce(&Crew)) -> bool {
        let crew = Crew::beginning(None);
        crew.add_hand();
        crew.lock().begin(&mut true);
        std::thread::scope(|scope| {
            let second = scope.spawn(|| crew.wait(&mut false));
            first(&crew);
            second.join().unwrap()
        })
    }

    #[test]
    fn the_search_is_over_when_all_wait_or_one_left_in_the_middle() {
        assert!(!waits(|crew| assert!(!crew.wait(&mut false))));
        assert!(!waits(|crew| crew.remove_worker(false, false)));
        assert!(!waits(|crew| crew.remove_worker(true, false)));
        assert!(!waits(Crew::stop));
    }

    /// The remaining work of a search is acquired before the search is over. It then belongs to its worker until the
    /// worker pauses.
    #[test]
    fn what_is_left_is_taken_up() {
        let first = Dpor::new(Insertion::WakeupTrees).saved(&[]);
        let left = Remaining {
            hand: first,
            places: Vec::new(),
            line: Vec::new(),
            told: false,
        };
        let crew = Crew::going_on(vec![left.clone()], Vec::new());
        let hands = |crew: &Crew| crew.look(|all| all.hands.len());
        assert_eq!((crew.wait(&mut false), hands(&crew)), (true, 1));
        let bound = Bound::new(Insertion::WakeupTrees);
        assert!(matches!(crew.take(0, &bound), Some(Taken::Remaining(_))));
        assert_eq!(hands(&crew), 0);
        crew.rest(0, Some(left));
        assert_eq!(hands(&crew), 1);
        assert!(crew.take(0, &bound).is_none());
        assert_eq!((crew.wait(&mut false), hands(&crew)), (false, 0));
    }

    #[test]
    fn who_waits_is_seen_to() {
        assert!(!waits(|crew| {
            while !crew.has_idle_workers() {
                std::thread::yield_now();
            }
            crew.list([]);
            assert!(crew.take(0, &Bound::new(Insertion::WakeupTrees)).is_none());
            crew.stop();
        }));
    }
}
