//! Estimates of the progress of a search and of the remaining work, from its position in the tree of choices.
//!
//! Depth-first search uses the weighted backtrack estimator (Kilby, Slaney, Thiebaux, Walsh, "Estimating search tree
//! size", AAAI 2006). The weight of an execution is the probability with which a random walk (Knuth 1975) reaches it:
//! one divided by the product of its numbers of alternatives. In a fixed order, the weights of all executions so far
//! add up to the position of the last one, so nothing has to be stored. A search within a preemption bound has no such
//! tree: its remaining work is counted in unfinished prefixes (`Pace`). For a random walk, it is Knuth's original
//! estimate.
//!
//! Bias: unexplored subtrees are assumed to be as large as explored siblings. A search that lets one task run to its
//! end first begins where fewer tasks are left to choose from, so the estimate is too low. A partial-order reduction
//! discovers during the search what else it has to try, so early estimates are too low. With a bound, the first
//! prefixes of a round lead to more executions than the later ones, so the estimate is too high.

use intermezzo_engine::schedule::Choice;
use intermezzo_engine::serial::Serialize;
use std::fmt;
use std::time::Duration;

/// An estimate of the progress of a search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The fraction of the executions that has been run, from 0 to 1.
    pub share: f64,
    /// The expected number of executions at the end of the search. For a random walk, which has no end, the expected
    /// number of schedules.
    pub executions_expected: u64,
    /// The expected time for the rest at this pace. It is not in reports: the only time that they contain is that of
    /// the exploration.
    #[serde(skip)]
    pub time_left: Duration,
}

impl Estimate {
    /// Returns the estimate for a completed fraction after this many executions, in this much time.
    pub fn new(share: f64, executions: u64, elapsed: Duration) -> Estimate {
        let executions_expected = (executions as f64 / share).round() as u64;
        let share = share.clamp(0.0, 1.0);
        let seconds_left = elapsed.as_secs_f64() * (1.0 - share) / share;
        Estimate {
            share,
            executions_expected,
            time_left: Duration::try_from_secs_f64(seconds_left).unwrap_or(Duration::MAX),
        }
    }

    /// Returns the estimate for this search and those before it, which had this many executions.
    pub fn after(self, executions: u64) -> Estimate {
        let all = self.executions_expected.saturating_add(executions);
        let run = self.share * self.executions_expected as f64 + executions as f64;
        Estimate {
            share: if all == 0 {
                self.share
            } else {
                (run / all as f64).min(1.0)
            },
            executions_expected: all,
            time_left: self.time_left,
        }
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Estimate {
            share,
            executions_expected,
            ..
        } = self;
        // More than two digits would not be meaningful in an estimate.
        let percent = share * 100.0;
        match percent {
            10.0.. => write!(f, "{percent:.0} %")?,
            0.01.. => write!(f, "{percent:.2} %")?,
            _ => write!(f, "{percent:.1e} %")?,
        }
        match *executions_expected {
            u64::MAX => f.write_str(" of more executions than can be counted"),
            1_000_000.. => write!(f, " of some {:.1e} executions", *executions_expected as f64),
            _ => write!(f, " of some {executions_expected} executions"),
        }
    }
}

/// Returns the fraction of a tree, searched in the order of alternatives, up to and including the path with these
/// choices. It is 1 exactly at the last path.
pub(crate) fn share_until(choices: &[Choice]) -> f64 {
    choices.iter().rev().fold(1.0, |share, choice| {
        (f64::from(choice.taken) + share) / f64::from(choice.alternatives)
    })
}

/// Returns the same as [`share_until`] for the tree in which no choice preempts.
pub(crate) fn share_until_free(choices: &[Choice]) -> f64 {
    let free = choices.iter().rev().filter(|choice| !choice.preempts);
    free.fold(1.0, |share, choice| {
        (f64::from(choice.taken) + share) / f64::from(choice.alternatives)
    })
}

/// The progress of a search in rounds with more and more preemptions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pace {
    /// The number of executions before the current one.
    pub executions: u64,
    /// The number of items done in this round.
    pub(crate) items: u64,
    round: u32,
    begun: bool,
    /// The number of all items of this round, and of the executions before the round.
    items_all: usize,
    executions_before: u64,
}

impl Pace {
    /// Notes that an execution of this round begins. It belongs to an item after which `items_left` others are left.
    pub(crate) fn begin_execution(&mut self, round: u32, items_left: usize) {
        if self.items_all == 0 || round != self.round {
            self.begin_round(items_left + 1);
            self.round = round;
        }
        if self.begun {
            self.executions += 1;
        }
        self.begun = true;
        self.items = self.items_all.saturating_sub(items_left + 1) as u64;
    }

    /// Notes that a round with this many items begins.
    fn begin_round(&mut self, items: usize) {
        if self.items_all > 0 {
            self.round += 1;
        }
        (self.items, self.items_all, self.executions_before) = (0, items, self.executions);
    }

    /// Returns the completed fraction of all rounds, given the completed fraction of the current item, the number of
    /// items of the next round that are known so far, and the number of rounds after this one.
    pub(crate) fn share(&self, item: f64, next_items: usize, rounds_left: u32) -> f64 {
        let done = self.items as f64 + item;
        let executions = self.executions + 1;
        let in_round = (executions - self.executions_before) as f64;
        // The multiplication comes first, so that the result for a completed round is exact.
        let of = |items: f64| in_round * items / done;
        let mut expected = self.executions_before as f64 + of(self.items_all as f64);
        // The number of prefixes with one more preemption for each item. For k preemptions at n places there are "n
        // choose k" prefixes.
        let mut growth = next_items as f64 / done;
        let mut items = growth * self.items_all as f64;
        for round in (self.round + 1..).take(rounds_left as usize) {
            if items < 0.5 || !items.is_finite() {
                break;
            }
            expected += of(items);
            growth *= f64::from(round) / f64::from(round + 1);
            items *= growth;
        }
        executions as f64 / expected.max(executions as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use intermezzo_engine::schedule::ChoiceKind;

    fn choice(taken: u32, alternatives: u32, preempts: bool) -> Choice {
        Choice {
            kind: ChoiceKind::Task,
            preempts,
            alternatives,
            taken,
        }
    }

    #[test]
    fn a_position_is_a_share() {
        let path = |taken: [u32; 3]| taken.map(|taken| choice(taken, 3, false));
        assert_eq!(share_until(&[]), 1.0);
        assert_eq!(share_until(&path([2, 2, 2])), 1.0);
        assert!((share_until(&path([0, 0, 0])) - 1.0 / 27.0).abs() < 1e-12);
        assert!((share_until(&path([1, 0, 2])) - 12.0 / 27.0).abs() < 1e-12);
        let mixed = [choice(0, 2, true), choice(1, 4, false)];
        assert_eq!((share_until(&mixed), share_until_free(&mixed)), (0.25, 0.5));
    }

    #[test]
    fn what_cannot_be_told_is_a_great_deal() {
        let estimate = Estimate::new(0.0, 10, Duration::from_secs(1));
        assert_eq!(
            (estimate.executions_expected, estimate.time_left),
            (u64::MAX, Duration::MAX)
        );
        let half = Estimate::new(0.5, 10, Duration::from_secs(1));
        assert_eq!(
            (half.executions_expected, half.time_left),
            (20, Duration::from_secs(1))
        );
    }

    /// Of ten places for two preemptions: 1, 10 and 45 items of one execution each.
    #[test]
    fn rounds_to_come_are_reckoned() {
        let mut pace = Pace::default();
        pace.begin_round(1);
        assert!((pace.share(1.0, 10, 2) - 1.0 / 61.0).abs() < 1e-12);
        pace.executions = 1;
        pace.begin_round(10);
        pace.executions = 10;
        pace.items = 9;
        assert!((pace.share(1.0, 45, 1) - 11.0 / 56.0).abs() < 1e-12);
        pace.executions = 11;
        pace.begin_round(45);
        (pace.executions, pace.items) = (55, 44);
        assert_eq!(pace.share(1.0, 0, 0), 1.0);
    }
}
