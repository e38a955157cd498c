//! The work of a search that no worker has taken. Workers that have work publish parts of it, and idle workers take
//! them.
//!
//! Work comes in *runs*: items that follow each other in search order, with nothing between them. A worker takes a part
//! of one run, so the work that it does before it takes more is contiguous in that order. An iterative search puts work
//! aside for its next *round*, which begins when no worker has work of the current one left.

use super::work_pool::{Work, WorkPool};
use intermezzo_engine::strategy::Idle;
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

/// The work that no worker has taken.
struct Frontier<T> {
    runs: VecDeque<VecDeque<T>>,
    /// The items of the next round, not sorted.
    later: Vec<T>,
    round: u32,
    /// `true` if a part of this round was left out, so that no other round follows.
    cut: bool,
    /// The order of items within a round.
    order: fn(&T, &T) -> Ordering,
}

impl<T> Frontier<T> {
    /// Takes a part of the first run: all of it for a single worker, otherwise little enough to leave work for the
    /// others until the end.
    fn share(&mut self, workers: usize) -> Option<VecDeque<T>> {
        let mut run = self.runs.pop_front()?;
        if workers > 1 {
            let rest = run.split_off(run.len().div_ceil(2 * workers));
            if !rest.is_empty() {
                self.runs.push_front(rest);
            }
        }
        Some(run)
    }
}

impl<T> Work for Frontier<T> {
    fn is_ready(&self) -> bool {
        !self.runs.is_empty()
    }

    fn next_round(&mut self) -> bool {
        if !self.runs.is_empty() || self.later.is_empty() || self.cut {
            return false;
        }
        let mut items = std::mem::take(&mut self.later);
        items.sort_by(self.order);
        self.runs.push_back(items.into());
        self.round += 1;
        true
    }
}

/// The remaining work of a search that workers have not taken.
pub struct Remaining<T> {
    /// The current round.
    pub round: u32,
    /// The runs of items of this round.
    pub runs: Vec<Vec<T>>,
    /// The items of the next round.
    pub later: Vec<T>,
    /// `true` if a part of the round was left out, so that no other round follows.
    pub cut: bool,
}

/// The handle of one worker on a search that several share.
///
/// If it is dropped while its worker has work, it stops the search, because that work would be missing.
pub struct WorkHandle<T> {
    pool: Arc<WorkPool<Frontier<T>>>,
    /// `true` if the worker has work: the last call of `take` found some.
    busy: bool,
    /// `true` if the worker counts as waiting, although it does other work or has not begun: see [`WorkHandle::idle`].
    idle: bool,
    /// The round of the work taken last.
    round: u32,
}

impl<T> WorkHandle<T> {
    /// Returns the handle of the first worker on a search that begins or continues with this work. The items of a round
    /// are sorted in this order when the round begins.
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
        WorkHandle {
            pool: Arc::new(WorkPool::new(Frontier {
                runs,
                later,
                round,
                cut,
                order,
            })),
            busy: false,
            idle: false,
            round,
        }
    }

    /// Returns the handle of another worker. The worker counts as waiting until the handle is first used, because it
    /// may begin late.
    pub fn fork(&self) -> WorkHandle<T> {
        self.pool.lock().add_worker();
        WorkHandle {
            pool: self.pool.clone(),
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
        self.pool.lock().work.round
    }

    /// Returns the number of items that have been put aside for the next round.
    pub fn later(&self) -> usize {
        self.pool.lock().work.later.len()
    }

    /// Returns `true` if another worker waits and there is no work for it.
    #[inline]
    pub fn has_idle_workers(&self) -> bool {
        self.pool.has_idle_workers()
    }

    /// Takes a part of the available work: items in order, with nothing between them. Returns `None` if there is no
    /// work at the moment; see [`WorkHandle::wait`].
    pub fn take(&mut self) -> Option<VecDeque<T>> {
        let mut state = self.pool.lock();
        state.begin(&mut self.idle);
        let mut share = None;
        if !state.is_over {
            if state.others_wait() && state.work.next_round() {
                self.pool.wake_all(&state);
            }
            let workers = state.workers;
            share = state.work.share(workers);
            self.pool.note_idle(&state);
        }
        self.busy = share.is_some();
        self.round = state.work.round;
        share
    }

    /// Publishes a run of items, which another worker may take.
    pub fn publish(&mut self, run: VecDeque<T>) {
        if run.is_empty() {
            return;
        }
        let mut state = self.pool.lock();
        state.work.runs.push_back(run);
        self.pool.wake_one(&state);
    }

    /// Puts items aside for the next round.
    pub fn publish_later(&mut self, items: &mut Vec<T>) {
        if !items.is_empty() {
            self.pool.lock().work.later.append(items);
        }
    }

    /// Waits for work. Returns `true` if there may be work to take, and `false` if the search is over.
    pub fn wait(&mut self) -> bool {
        self.pool.wait(&mut self.idle)
    }

    /// Returns whether there is work, like [`WorkHandle::wait`], but without waiting. The worker counts as waiting
    /// until the next call that finds work.
    pub fn idle(&mut self) -> Idle {
        self.pool.idle(&mut self.idle)
    }

    /// Notes that a part of this round is left out, so that no other round follows.
    pub fn cut(&mut self) {
        self.busy = false;
        self.pool.lock().work.cut = true;
    }

    /// Stops handing out work.
    pub fn stop(&self) {
        self.pool.stop();
    }

    /// Returns the remaining work that workers have not taken.
    pub fn left(&self) -> Remaining<T>
    where
        T: Clone,
    {
        let Frontier {
            runs,
            later,
            round,
            cut,
            ..
        } = &self.pool.lock().work;
        Remaining {
            round: *round,
            runs: runs.iter().map(|run| run.iter().cloned().collect()).collect(),
            later: later.clone(),
            cut: *cut,
        }
    }
}

impl<T> Drop for WorkHandle<T> {
    fn drop(&mut self) {
        self.pool.remove_worker(self.busy, self.idle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

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

    /// Each item makes two smaller ones, in this round or the next. Three workers do each of them once.
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
