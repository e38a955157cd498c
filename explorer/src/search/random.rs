//! Random walk: each choice uniform over its alternatives. The baseline.
//!
//! Each execution has a generator of its own, seeded from the search's seed and the execution's number,
//! so that any one can be run again alone, and so that it does not matter which worker runs it. With a
//! preemption bound, a walk that has used it up takes the default wherever another alternative would
//! preempt. Misses: anything; it says how many it ran.

use super::{ChoicePoint, Plan, Rank, SearchState, Strategy};
use crate::report::Coverage;
use crate::schedule::Choice;
use crate::trace::Trace;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Least numbers that one of several hands takes at once.
const BLOCK_MIN: u64 = 32;

/// A random walk, for ever or so many times.
pub struct RandomWalk {
    seed: u64,
    preemptions_max: Option<u32>,
    numbers: Arc<Mutex<Numbers>>,
    /// Numbers of executions that this hand is to run, the next one first.
    block: Range<u64>,
    /// The number of the execution that runs.
    number: u64,
    /// Where the block begins that was taken last, until somebody asks.
    span: Option<Rank>,
    /// Executions that this hand began.
    executions: u64,
    preemptions: u32,
    /// The product of the numbers of alternatives in the running walk, and the sum of those of all walks before: on
    /// average, the number of schedules (Knuth 1975).
    schedules_like: f64,
    schedules: f64,
    random: Xoshiro256PlusPlus,
}

/// The numbers of executions that no hand has taken.
#[derive(Clone)]
struct Numbers {
    hands: u64,
    /// Blocks given back: they come first.
    back: Vec<Range<u64>>,
    next: u64,
    end: u64,
    /// Nothing is to be handed out beyond what was given back.
    cut: bool,
    over: bool,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    next: u64,
    back: Vec<Range<u64>>,
    cut: bool,
}

impl RandomWalk {
    /// A walk with this seed, and at most that many preemptions in each execution if a bound is given.
    pub fn new(seed: u64, preemptions_max: Option<u32>) -> RandomWalk {
        let numbers = Numbers {
            hands: 1,
            back: Vec::new(),
            next: 0,
            end: u64::MAX,
            cut: false,
            over: false,
        };
        RandomWalk {
            seed,
            preemptions_max,
            numbers: Arc::new(Mutex::new(numbers)),
            block: 0..0,
            number: 0,
            span: None,
            executions: 0,
            preemptions: 0,
            schedules_like: 0.0,
            schedules: 0.0,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// Ends after so many executions, if a number is given.
    #[must_use]
    pub fn up_to(self, executions: Option<u64>) -> RandomWalk {
        self.numbers().end = executions.unwrap_or(u64::MAX);
        self
    }

    fn numbers(&self) -> MutexGuard<'_, Numbers> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Numbers {
    /// The next block: the larger, the longer the search has run, but with some for every hand to the end.
    fn take(&mut self) -> Option<Range<u64>> {
        if self.over {
            return None;
        }
        if let Some(block) = self.back.pop() {
            return Some(block);
        }
        let left = self.end.saturating_sub(self.next);
        if left == 0 || self.cut {
            return None;
        }
        let length = match self.hands {
            1 => left,
            hands => (self.next / 128).max(BLOCK_MIN).min(left.div_ceil(4 * hands)),
        };
        let block = self.next..self.next + length;
        self.next = block.end;
        Some(block)
    }
}

impl RandomWalk {
    /// Begins the walk of this number.
    fn restart(&mut self) {
        // An odd multiplier keeps the seeds of different executions different.
        let seed = self
            .seed
            .wrapping_add(self.number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        self.random = Xoshiro256PlusPlus::seed_from_u64(seed);
        self.preemptions = 0;
        self.schedules_like = 1.0;
    }
}

impl Strategy for RandomWalk {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        plan.truncate(0);
        if self.block.is_empty() {
            let taken = self.numbers().take();
            let Some(block) = taken else {
                return false;
            };
            self.span = Some(Rank::of_number(block.start));
            self.block = block;
        }
        self.schedules += self.schedules_like;
        self.number = self.block.start;
        self.block.start += 1;
        self.executions += 1;
        self.restart();
        true
    }

    fn again(&mut self) {
        self.restart();
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        if point.preempts && self.preemptions_max.is_some_and(|max| self.preemptions >= max) {
            return Some(0);
        }
        self.schedules_like *= f64::from(point.alternatives);
        let taken = self.random.random_range(0..point.alternatives);
        self.preemptions += u32::from(point.preempts && taken != 0);
        Some(taken)
    }

    /// As if no walk had been drawn twice.
    fn share(&self, _: &[Choice]) -> Option<f64> {
        let executions = self.executions as f64;
        Some(executions * executions / (self.schedules + self.schedules_like))
    }

    fn coverage(&self, _: bool) -> Coverage {
        Coverage::Sampled {
            executions: self.executions,
        }
    }

    fn name(&self) -> String {
        "random".into()
    }

    fn fork(&mut self) -> Option<Box<dyn Strategy>> {
        self.numbers().hands += 1;
        Some(Box::new(RandomWalk {
            numbers: self.numbers.clone(),
            ..RandomWalk::new(self.seed, self.preemptions_max)
        }))
    }

    fn skip(&mut self) {
        self.block = 0..0;
        // Numbers that were never handed out are larger than this one.
        self.numbers().cut = true;
    }

    fn stop(&mut self) {
        self.numbers().over = true;
    }

    fn span(&mut self) -> Option<Rank> {
        self.span.take()
    }

    fn rank(&self, _: &[Choice]) -> Rank {
        Rank::of_number(self.number)
    }

    fn save(&self, _: &Plan) -> Option<String> {
        serde_json::to_string(&self.block).ok()
    }

    fn save_shared(&self) -> Option<String> {
        let numbers = self.numbers();
        let saved = Saved {
            next: numbers.next,
            back: numbers.back.clone(),
            cut: numbers.cut,
        };
        serde_json::to_string(&saved).ok()
    }

    fn restore(&mut self, state: &SearchState) -> bool {
        let hands = state.hands.iter().map(|hand| serde_json::from_str(hand));
        let (Ok(saved), Ok(hands)) = (
            serde_json::from_str::<Saved>(&state.shared),
            hands.collect::<Result<Vec<Range<u64>>, _>>(),
        ) else {
            return false;
        };
        let mut numbers = self.numbers();
        numbers.next = saved.next;
        numbers.cut = saved.cut;
        numbers.back = saved.back;
        numbers
            .back
            .extend(hands.into_iter().filter(|block| !block.is_empty()));
        // A block may reach up to what no hand has taken, without end even: it is no block of one hand any more.
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
