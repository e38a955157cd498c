//! The workers of one search: the work for idle ones, and the end of the search.

use super::bound::Bound;
use super::saved::SavedHand;
use super::shared_node::{Branch, PlannedNodes, SharedNode, SharedPath};
use intermezzo_engine::strategy::Idle;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The state that the workers of a search share.
pub(super) struct Crew {
    state: Mutex<State>,
    changed: Condvar,
    /// `true` if a worker waits that found nothing: a copy for frequent reads.
    has_idle_workers: AtomicBool,
}

struct State {
    /// The shared nodes with untried branches, the shallowest first. No node's lock is held when this one is taken.
    open: Vec<Open>,
    /// The workers' remaining work from a checkpoint, until it is acquired.
    left: Vec<Remaining>,
    /// The remaining work of each worker when it last paused, by number; before that, its initial work.
    rested: Vec<Option<Remaining>>,
    /// The number of workers, and the number of those that wait.
    hands: usize,
    waiting: usize,
    /// `true` if nothing remains, or nothing may be taken any more.
    over: bool,
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
    /// The shared nodes along its path, and those of the sequence that the next execution follows from the last of
    /// them.
    pub(super) places: SharedPath,
    pub(super) line: PlannedNodes,
    /// `true` if the footprint of the step from the last shared node has been published.
    pub(super) told: bool,
}

/// The work that an idle worker takes.
pub(super) enum Work {
    /// The remaining work of another worker, from a checkpoint.
    Remaining(Box<Remaining>),
    /// A branch of a shared node.
    Branch(Open, Branch),
}

/// All remaining work, to be written down while all workers pause.
pub(super) struct AllRemaining<'a> {
    pub(super) open: &'a [Open],
    pub(super) hands: Vec<&'a Remaining>,
}

impl Crew {
    /// Returns the state for one worker, which begins with this work.
    pub(super) fn new(first: Option<Remaining>) -> Crew {
        Crew::of(first, Vec::new())
    }

    /// Returns the state for one worker without work of its own, with all this remaining work.
    pub(super) fn going_on(left: Vec<Remaining>, open: Vec<Open>) -> Crew {
        let crew = Crew::of(None, left);
        crew.list(open);
        crew
    }

    fn of(first: Option<Remaining>, left: Vec<Remaining>) -> Crew {
        Crew {
            state: Mutex::new(State {
                open: Vec::new(),
                left,
                rested: vec![first],
                hands: 1,
                waiting: 0,
                over: false,
            }),
            changed: Condvar::new(),
            has_idle_workers: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a worker without work, which counts as waiting until it is first used, because it may begin late. Returns
    /// its number.
    pub(super) fn add_hand(&self) -> usize {
        let mut state = self.lock();
        state.hands += 1;
        state.waiting += 1;
        state.rested.push(None);
        state.rested.len() - 1
    }

    /// Notes that a worker pauses, with this remaining work.
    pub(super) fn rest(&self, hand: usize, left: Option<Remaining>) {
        self.lock().rested[hand] = left;
    }

    /// Passes all remaining work to `look`.
    pub(super) fn look<R>(&self, look: impl FnOnce(AllRemaining<'_>) -> R) -> R {
        let state = self.lock();
        look(AllRemaining {
            open: &state.open,
            hands: state.left.iter().chain(state.rested.iter().flatten()).collect(),
        })
    }

    /// Removes a worker. If it had work, that would be missing: then the search claims nothing.
    pub(super) fn remove_hand(&self, busy: bool, idle: bool) {
        let mut state = self.lock();
        state.hands -= 1;
        state.waiting -= usize::from(idle);
        state.over |= busy;
        self.changed.notify_all();
    }

    /// Returns `true` if another worker waits and there is no work for it.
    #[inline]
    pub(super) fn has_idle_workers(&self) -> bool {
        self.has_idle_workers.load(Relaxed)
    }

    /// Lists these shared nodes with untried branches, which may not be listed yet.
    pub(super) fn list(&self, places: impl IntoIterator<Item = Open>) {
        let mut state = self.lock();
        for open in places {
            if open.place.is_unlisted() && open.place.list() {
                let depth = open.place.depth();
                let at = state.open.partition_point(|other| other.place.depth() <= depth);
                state.open.insert(at, open);
            }
        }
        self.tell(&state);
    }

    /// Wakes waiting workers, because listed work may be ready by now.
    pub(super) fn wake(&self) {
        self.tell(&self.lock());
    }

    fn tell(&self, state: &State) {
        if state.waiting > 0 {
            self.has_idle_workers.store(false, Relaxed);
            self.changed.notify_all();
        }
    }

    /// Returns work for an idle worker: the remaining work of another one, or else a branch within the bound of the
    /// shallowest shared node that has one. Most is expected below the shallowest node.
    pub(super) fn take(&self, hand: usize, bound: &Bound) -> Option<Work> {
        let mut state = self.lock();
        state.rested[hand] = None;
        if state.over {
            return None;
        }
        if let Some(left) = state.left.pop() {
            return Some(Work::Remaining(Box::new(left)));
        }
        let take = |open: &Open| Some(Work::Branch(open.clone(), open.place.take(bound)?));
        let taken = state.open.iter().find_map(take);
        state.open.retain(|open| open.place.list());
        taken
    }

    /// Waits for work. Returns `true` if there may be some to take, and `false` if the search is over.
    pub(super) fn wait(&self) -> bool {
        let mut state = self.lock();
        state.waiting += 1;
        loop {
            if state.over || !state.left.is_empty() || state.open.iter().any(|open| open.place.is_ready()) {
                break;
            }
            if state.waiting == state.hands {
                state.over = true;
                self.changed.notify_all();
                break;
            }
            self.has_idle_workers.store(true, Relaxed);
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting -= 1;
        !state.over
    }

    /// Returns whether there is work, like [`Crew::wait`] but without waiting. The worker counts as waiting as long as
    /// `idle` is left `true`.
    pub(super) fn idle(&self, idle: &mut bool) -> Idle {
        let mut state = self.lock();
        state.waiting += usize::from(!std::mem::replace(idle, true));
        let work = !state.left.is_empty() || state.open.iter().any(|open| open.place.is_ready());
        if !work && state.waiting == state.hands {
            state.over = true;
            self.changed.notify_all();
        }
        let found = match (state.over, work) {
            (true, _) => Idle::Over,
            (false, true) => Idle::Work,
            (false, false) => Idle::Nothing,
        };
        if found == Idle::Nothing {
            self.has_idle_workers.store(true, Relaxed);
        } else {
            *idle = false;
            state.waiting -= 1;
        }
        found
    }

    /// Notes that a worker no longer counts as waiting.
    pub(super) fn begin(&self) {
        self.lock().waiting -= 1;
    }

    /// Stops handing out work.
    pub(super) fn stop(&self) {
        self.lock().over = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dpor, Insertion};
    use super::*;

    /// Returns the result of `wait` for the second of two workers, while the first does this.
    fn waits(first: impl FnOnce(&Crew)) -> bool {
        let crew = Crew::new(None);
        crew.add_hand();
        crew.begin();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| crew.wait());
            first(&crew);
            second.join().unwrap()
        })
    }

    #[test]
    fn the_search_is_over_when_all_wait_or_one_left_in_the_middle() {
        assert!(!waits(|crew| assert!(!crew.wait())));
        assert!(!waits(|crew| crew.remove_hand(false, false)));
        assert!(!waits(|crew| crew.remove_hand(true, false)));
        assert!(!waits(Crew::stop));
    }

    /// The remaining work of a search is acquired before the search is over. It then belongs to its worker until that
    /// pauses.
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
        assert_eq!((crew.wait(), hands(&crew)), (true, 1));
        let bound = Bound::new(Insertion::WakeupTrees);
        assert!(matches!(crew.take(0, &bound), Some(Work::Remaining(_))));
        assert_eq!(hands(&crew), 0);
        crew.rest(0, Some(left));
        assert_eq!(hands(&crew), 1);
        assert!(crew.take(0, &bound).is_none());
        assert_eq!((crew.wait(), hands(&crew)), (false, 0));
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
