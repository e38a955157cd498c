//! The work of one search that no worker has taken: published by workers that have more than they can do, taken by idle
//! ones.
//!
//! Work comes in *runs*: items that follow each other in search order, with nothing between them. A worker takes a
//! share of one run, so its uninterrupted work is a contiguous part of the order. An iterative search puts work aside
//! for its next *round*, which begins when no worker has work of this one left.
//!
//! A mutex guards everything: items are coarse, and workers publish only when another one waits.

use intermezzo_engine::strategy::Idle;
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The state that the workers of a search share.
struct Frontier<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    /// `true` if a worker waits and there is no work for it: a copy for frequent reads.
    has_idle_workers: AtomicBool,
    /// The order of items within a round.
    order: fn(&T, &T) -> Ordering,
}

struct State<T> {
    runs: VecDeque<VecDeque<T>>,
    /// The items of the next round, in no order.
    later: Vec<T>,
    round: u32,
    /// The number of workers, and the number of those that wait.
    hands: usize,
    waiting: usize,
    /// `true` if a part of this round was left out: no other round follows.
    cut: bool,
    /// `true` if nothing remains, or nothing may be taken any more.
    over: bool,
}

/// The remaining work of a search, without the work that workers have taken.
pub struct Remaining<T> {
    /// The current round.
    pub round: u32,
    /// Its runs of items.
    pub runs: Vec<Vec<T>>,
    /// The items of the next round.
    pub later: Vec<T>,
    /// `true` if a part of the round was left out: no other round follows.
    pub cut: bool,
}

/// A worker's handle on a search that several share.
///
/// If it is dropped while it has taken work, it stops the search, because that work would be missing.
pub struct WorkHandle<T> {
    frontier: Arc<Frontier<T>>,
    /// `true` if it took something since it last found nothing.
    busy: bool,
    /// `true` if it counts as waiting, though it does other work or has not begun: see [`WorkHandle::idle`].
    idle: bool,
    /// The round of the work that it took.
    round: u32,
}

impl<T> WorkHandle<T> {
    /// Returns the handle of the first worker on a search that begins, or continues, with this work. Items of a round
    /// are put in this order when it begins.
    pub fn new(left: Remaining<T>, order: fn(&T, &T) -> Ordering) -> WorkHandle<T> {
        let Remaining {
            round,
            runs,
            later,
            cut,
        } = left;
        let runs = runs
            .into_iter()
            .filter(|run| !run.is_empty())
            .map(VecDeque::from)
            .collect();
        let state = State {
            runs,
            later,
            round,
            hands: 1,
            waiting: 0,
            cut,
            over: false,
        };
        WorkHandle {
            frontier: Arc::new(Frontier {
                state: Mutex::new(state),
                changed: Condvar::new(),
                has_idle_workers: AtomicBool::new(false),
                order,
            }),
            busy: false,
            idle: false,
            round,
        }
    }

    /// Returns the handle of another worker. It counts as waiting until it is first used, because that worker may begin
    /// late.
    pub fn fork(&self) -> WorkHandle<T> {
        let mut state = self.lock();
        state.hands += 1;
        state.waiting += 1;
        WorkHandle {
            frontier: self.frontier.clone(),
            busy: false,
            idle: true,
            round: self.round,
        }
    }

    /// Returns the round of the work taken last.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Returns the round of the whole search.
    pub fn search_round(&self) -> u32 {
        self.lock().round
    }

    /// Returns the number of items that were put aside for the next round.
    pub fn later(&self) -> usize {
        self.lock().later.len()
    }

    /// Returns `true` if another worker waits and there is no work for it.
    #[inline]
    pub fn has_idle_workers(&self) -> bool {
        self.frontier.has_idle_workers.load(Relaxed)
    }

    /// Takes a share of the available work: items in order, with nothing between them. Returns `None` if there is none
    /// at the moment; see [`WorkHandle::wait`].
    pub fn take(&mut self) -> Option<VecDeque<T>> {
        let frontier = self.frontier.clone();
        let mut state = frontier.lock();
        state.waiting -= usize::from(std::mem::take(&mut self.idle));
        if state.waiting + 1 == state.hands {
            frontier.next_round(&mut state);
        }
        let share = frontier.share(&mut state);
        self.busy = share.is_some();
        self.round = state.round;
        share
    }

    /// Publishes a run of items, which another worker may take.
    pub fn publish(&mut self, run: VecDeque<T>) {
        if run.is_empty() {
            return;
        }
        let mut state = self.lock();
        state.runs.push_back(run);
        self.frontier.look(&state);
        self.frontier.changed.notify_one();
    }

    /// Puts items aside for the next round.
    pub fn publish_later(&mut self, items: &mut Vec<T>) {
        if !items.is_empty() {
            self.lock().later.append(items);
        }
    }

    /// Waits for work. Returns `true` if there may be some to take, and `false` if the search is over.
    pub fn wait(&mut self) -> bool {
        let frontier = self.frontier.clone();
        let mut state = frontier.lock();
        state.waiting += usize::from(!std::mem::take(&mut self.idle));
        loop {
            if state.waiting == state.hands {
                frontier.next_round(&mut state);
                if state.runs.is_empty() {
                    frontier.end(&mut state);
                }
            }
            if state.over || !state.runs.is_empty() {
                break;
            }
            frontier.look(&state);
            state = frontier
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting -= 1;
        frontier.look(&state);
        !state.over
    }

    /// Returns whether there is work, like [`WorkHandle::wait`] but without waiting. The worker counts as waiting until
    /// the next call that finds some.
    pub fn idle(&mut self) -> Idle {
        let frontier = self.frontier.clone();
        let mut state = frontier.lock();
        if !std::mem::replace(&mut self.idle, true) {
            state.waiting += 1;
        }
        if state.waiting == state.hands && !state.over {
            frontier.next_round(&mut state);
            if state.runs.is_empty() {
                frontier.end(&mut state);
            }
        }
        let idle = match (state.over, state.runs.is_empty()) {
            (true, _) => Idle::Over,
            (false, true) => Idle::Nothing,
            (false, false) => Idle::Work,
        };
        if idle != Idle::Nothing {
            self.idle = false;
            state.waiting -= 1;
        }
        frontier.look(&state);
        idle
    }

    /// Notes that a part of this round is left out: no other round follows.
    pub fn cut(&mut self) {
        self.busy = false;
        self.lock().cut = true;
    }

    /// Stops handing out work.
    pub fn stop(&self) {
        self.frontier.end(&mut self.lock());
    }

    /// Returns the remaining work, without the work that workers have taken.
    pub fn left(&self) -> Remaining<T>
    where
        T: Clone,
    {
        let state = self.lock();
        Remaining {
            round: state.round,
            runs: state
                .runs
                .iter()
                .map(|run| run.iter().cloned().collect())
                .collect(),
            later: state.later.clone(),
            cut: state.cut,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.frontier.lock()
    }
}

impl<T> Drop for WorkHandle<T> {
    fn drop(&mut self) {
        let mut state = self.lock();
        state.hands -= 1;
        state.waiting -= usize::from(self.idle);
        if self.busy {
            self.frontier.end(&mut state);
        } else {
            // The waiting workers may be the only ones left.
            self.frontier.changed.notify_all();
        }
    }
}

impl<T> Frontier<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the next round if this one is over and complete; all other workers are idle.
    fn next_round(&self, state: &mut State<T>) {
        if !state.runs.is_empty() || state.later.is_empty() || state.cut || state.over {
            return;
        }
        let mut items = std::mem::take(&mut state.later);
        items.sort_by(self.order);
        state.runs.push_back(items.into());
        state.round += 1;
        self.changed.notify_all();
    }

    /// Returns a share of the first run: all of it for a single worker, otherwise little enough that there is work for
    /// the others to the end.
    fn share(&self, state: &mut State<T>) -> Option<VecDeque<T>> {
        if state.over {
            return None;
        }
        let mut run = state.runs.pop_front()?;
        if state.hands > 1 {
            let rest = run.split_off(run.len().div_ceil(2 * state.hands));
            if !rest.is_empty() {
                state.runs.push_front(rest);
            }
        }
        self.look(state);
        Some(run)
    }

    fn end(&self, state: &mut State<T>) {
        state.over = true;
        self.look(state);
        self.changed.notify_all();
    }

    fn look(&self, state: &State<T>) {
        let has_idle_workers = state.waiting > 0 && state.runs.is_empty() && !state.over;
        self.has_idle_workers.store(has_idle_workers, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    fn hand(runs: Vec<Vec<u32>>) -> WorkHandle<u32> {
        let left = Remaining {
            round: 0,
            runs,
            later: Vec::new(),
            cut: false,
        };
        WorkHandle::new(left, u32::cmp)
    }

    #[test]
    fn a_single_hand_takes_rounds_whole_and_in_order() {
        let mut hand = hand(vec![vec![1, 2, 3]]);
        assert_eq!(hand.take().unwrap(), [1, 2, 3]);
        hand.publish_later(&mut vec![9, 7]);
        hand.publish_later(&mut vec![8]);
        assert_eq!((hand.round(), hand.take().unwrap()), (0, [7, 8, 9].into()));
        assert_eq!(hand.round(), 1);
        assert!(hand.take().is_none());
        assert!(!hand.wait());
    }

    #[test]
    fn a_cut_round_is_the_last() {
        let mut hand = hand(vec![vec![1]]);
        hand.take();
        hand.publish_later(&mut vec![2]);
        hand.cut();
        assert!(hand.take().is_none());
        assert!(!hand.wait());
        assert_eq!(hand.left().later, [2]);
    }

    #[test]
    fn a_hand_dropped_in_the_middle_stops_the_others() {
        let mut first = hand(vec![vec![1]]);
        let mut second = first.fork();
        first.take();
        first.publish_later(&mut vec![2]);
        let waiting = std::thread::spawn(move || second.wait());
        drop(first);
        assert!(!waiting.join().unwrap());
    }

    /// Each item makes two smaller ones, now or in the next round: three workers do all of them once.
    #[test]
    fn everything_is_done_once() {
        let first = hand(vec![vec![1 << 12]]);
        let done = AtomicU64::new(0);
        let sum = AtomicU64::new(0);
        let hands = [first.fork(), first.fork(), first];
        std::thread::scope(|scope| {
            for mut hand in hands {
                let (done, sum) = (&done, &sum);
                scope.spawn(move || {
                    let mut own: VecDeque<u32> = VecDeque::new();
                    loop {
                        let Some(item) = own.pop_front() else {
                            match hand.take() {
                                Some(share) => own = share,
                                None if hand.wait() => {}
                                None => return,
                            }
                            continue;
                        };
                        done.fetch_add(1, Relaxed);
                        if item == 1 {
                            sum.fetch_add(1, Relaxed);
                        } else if item.trailing_zeros() % 3 == 0 {
                            hand.publish_later(&mut vec![item / 2, item / 2]);
                        } else {
                            own.extend([item / 2, item / 2]);
                        }
                        if hand.has_idle_workers() {
                            let tail = own.split_off(own.len() / 2);
                            hand.publish(tail);
                        }
                    }
                });
            }
        });
        assert_eq!(sum.into_inner(), 1 << 12);
        assert_eq!(done.into_inner(), (2 << 12) - 1);
    }
}
