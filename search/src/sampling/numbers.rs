//! The numbers of executions, which are handed out in blocks to the workers of a search.
//!
//! An execution depends on its number, on the search's seed and on the results of the executions that are learned from,
//! never on the worker that runs it. So all workers wait until the executions that are learned from have ended.

use super::profile::{PROFILED, Profile};
use intermezzo_engine::serial::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The minimum number of executions that one of several workers takes at once.
const BLOCK_MIN: u64 = 32;

/// The state that the workers of a search share.
pub(super) struct Shared {
    numbers: Mutex<Numbers>,
    changed: Condvar,
}

/// The numbers that no worker has taken.
struct Numbers {
    hands: u64,
    /// Blocks that workers had when the search was saved. They are handed out first.
    back: Vec<Range<u64>>,
    next: u64,
    end: u64,
    /// The first number after the executions that are learned from.
    first: u64,
    /// The profile learned from the first executions; `None` if nothing is learned.
    learning: Option<Arc<Profile>>,
    /// `true` if an execution exceeded the profile.
    beyond: bool,
    /// `true` if a choice at a clone was left out in some execution.
    passed_clones: bool,
    /// `true` if only the blocks in `back` are still handed out.
    cut: bool,
    over: bool,
}

/// The numbers in a checkpoint.
#[derive(Serialize, Deserialize)]
struct Saved {
    next: u64,
    back: Vec<Range<u64>>,
    cut: bool,
    learned: Option<Profile>,
    beyond: bool,
    passed_clones: bool,
}

impl Shared {
    /// Returns all numbers. With `learns`, the policy learns from the first executions.
    pub(super) fn new(learns: bool) -> Shared {
        Shared {
            numbers: Mutex::new(Numbers {
                hands: 1,
                back: Vec::new(),
                next: 0,
                end: u64::MAX,
                first: 0,
                learning: learns.then(Arc::default),
                beyond: false,
                passed_clones: false,
                cut: false,
                over: false,
            }),
            changed: Condvar::new(),
        }
    }

    fn numbers(&self) -> MutexGuard<'_, Numbers> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a worker.
    pub(super) fn add_hand(&self) {
        self.numbers().hands += 1;
    }

    /// Makes this the first number that is not handed out.
    pub(super) fn end_at(&self, end: u64) {
        let mut numbers = self.numbers();
        numbers.end = numbers.end.min(end);
    }

    /// Returns `true` if the numbers end at this one, and all before it were handed out.
    pub(super) fn ends_at(&self, end: u64) -> bool {
        let numbers = self.numbers();
        numbers.end == end && numbers.next >= end && numbers.back.is_empty()
    }

    /// Makes this the first number after the executions that are learned from.
    pub(super) fn begin_at(&self, first: u64) {
        self.numbers().first = first;
    }

    /// Takes the next block; `None` if there is none at the moment.
    pub(super) fn take(&self) -> Option<Range<u64>> {
        self.numbers().take()
    }

    /// Returns the profile if it is complete.
    pub(super) fn learned(&self) -> Option<Arc<Profile>> {
        let numbers = self.numbers();
        numbers.learning.clone().filter(|profile| profile.is_complete())
    }

    /// Adds the results of one of the first executions. Returns the profile if that makes it complete.
    pub(super) fn learn(&self, shown: &Profile) -> Option<Arc<Profile>> {
        let mut numbers = self.numbers();
        let learning = numbers.learning.as_mut()?;
        Arc::make_mut(learning).add(shown);
        let complete = learning.is_complete().then(|| learning.clone());
        drop(numbers);
        self.changed.notify_all();
        complete
    }

    /// Notes that an execution exceeded the profile.
    pub(super) fn note_beyond(&self) {
        self.numbers().beyond = true;
    }

    /// Returns `true` if an execution exceeded the profile.
    pub(super) fn beyond(&self) -> bool {
        self.numbers().beyond
    }

    /// Notes that a choice at a clone was left out.
    pub(super) fn note_passed_clones(&self) {
        self.numbers().passed_clones = true;
    }

    /// Returns `true` if a choice at a clone was left out in some execution.
    pub(super) fn passed_clones(&self) -> bool {
        self.numbers().passed_clones
    }

    /// Waits until there are numbers to take. Returns `false` if there will be none.
    pub(super) fn wait(&self) -> bool {
        let mut numbers = self.numbers();
        loop {
            if numbers.over {
                return false;
            }
            if !numbers.back.is_empty() {
                return true;
            }
            if numbers.cut || numbers.next >= numbers.end {
                return false;
            }
            if !numbers.holds_back() {
                return true;
            }
            numbers = self.changed.wait(numbers).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// From now on, hands out only the blocks in `back`: the numbers that were never handed out are larger than all of
    /// theirs.
    pub(super) fn cut(&self) {
        self.numbers().cut = true;
        self.changed.notify_all();
    }

    /// Stops handing out numbers.
    pub(super) fn stop(&self) {
        self.numbers().over = true;
        self.changed.notify_all();
    }

    /// Returns the numbers that no worker has taken as text.
    pub(super) fn save(&self) -> Option<String> {
        let numbers = self.numbers();
        let saved = Saved {
            next: numbers.next,
            back: numbers.back.clone(),
            cut: numbers.cut,
            learned: numbers.learning.as_deref().cloned(),
            beyond: numbers.beyond,
            passed_clones: numbers.passed_clones,
        };
        intermezzo_engine::serial::to_string(&saved).ok()
    }

    /// Continues from the saved state and the blocks that workers had. Returns `false` if it is malformed.
    pub(super) fn restore(&self, saved: &str, hands: &[String]) -> bool {
        let hands = hands.iter().map(|hand| intermezzo_engine::serial::from_str(hand));
        let (Ok(saved), Ok(hands)) = (
            intermezzo_engine::serial::from_str::<Saved>(saved),
            hands.collect::<Result<Vec<Range<u64>>, _>>(),
        ) else {
            return false;
        };
        let mut numbers = self.numbers();
        if saved.learned.is_some() != numbers.learning.is_some() {
            return false;
        }
        numbers.learning = saved.learned.map(Arc::new);
        numbers.beyond = saved.beyond;
        numbers.passed_clones = saved.passed_clones;
        numbers.next = saved.next;
        numbers.cut = saved.cut;
        numbers.back = saved.back;
        numbers
            .back
            .extend(hands.into_iter().filter(|block| !block.is_empty()));
        // A block that ends where the numbers begin that no worker had taken is joined with them. A single worker had
        // taken all numbers, so its block may be endless.
        numbers.back.sort_by_key(|block| std::cmp::Reverse(block.end));
        while numbers
            .back
            .first()
            .is_some_and(|block| block.end == numbers.next)
        {
            numbers.next = numbers.back.remove(0).start;
        }
        true
    }
}

impl Numbers {
    /// Returns `true` if the next number is not handed out before the executions that are learned from have ended.
    fn holds_back(&self) -> bool {
        let learning = self.learning.as_ref();
        self.next >= PROFILED && learning.is_some_and(|profile| !profile.is_complete())
    }

    /// Takes the next block. Blocks grow with the number of executions, but are small enough that every worker has some
    /// until the end.
    fn take(&mut self) -> Option<Range<u64>> {
        if self.over {
            return None;
        }
        if let Some(block) = self.back.pop() {
            return Some(block);
        }
        if self.cut || self.holds_back() {
            return None;
        }
        let profiled = if self.learning.is_some() { PROFILED } else { 0 };
        if self.next == profiled {
            self.next = self.next.max(self.first);
        }
        let left = self.end.saturating_sub(self.next);
        if left == 0 {
            return None;
        }
        let length = match self.hands {
            _ if self.next < profiled => 1,
            1 => left,
            hands => (self.next / 128).max(BLOCK_MIN).min(left.div_ceil(4 * hands)),
        };
        let block = self.next..self.next + length;
        self.next = block.end;
        Some(block)
    }
}
