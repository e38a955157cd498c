//! Long histories of counters: the results of additions give their order.
//!
//! If no addition adds zero, and nothing wraps around, each addition returns the sum of those before it. So its place
//! is known, and so is that of each read: between two additions. The history is linearizable if and only if the
//! additions make a chain from the first value and nothing returns before something with an earlier place is called.
//!
//! A pending addition may fill a gap in the chain, if all additions add the same: then the first gap is best filled
//! by the one that was called first.

use super::time::{Placed, place};
use super::{CheckLong, Long, Violation};
use crate::history::History;
use crate::specs::counter::{Call, Counter};

/// Returns whether a counter's history is linearizable, in n log n.
pub fn check(counter: &Counter, history: &History<Call, u64>) -> Long {
    let (placed, _) = place(history);
    let mut steps = Vec::new();
    let mut pending = Vec::new();
    let mut sum: u64 = 0;
    for (operation, &at) in history.operations().iter().zip(&placed) {
        let adds = match operation.call {
            Call::FetchAdd(amount) => amount,
            Call::Get => 0,
        };
        sum = match sum.checked_add(adds) {
            Some(sum) => sum,
            None => return Long::NotApplicable("the counter may wrap around"),
        };
        match operation.returned {
            Some(value) => steps.push(Step {
                before: value.wrapping_sub(counter.0),
                adds,
                at,
            }),
            None if adds > 0 => pending.push(Pending { adds, at }),
            None => {}
        }
    }
    steps.sort_unstable_by_key(Step::place);
    match fill(&steps, &pending) {
        Ok(filled) => {
            steps.extend(filled);
            steps.sort_unstable_by_key(Step::place);
            late(&steps).map_or(Long::Linearizable, Long::Violation)
        }
        Err(decided) => decided,
    }
}

impl CheckLong for Counter {
    fn check_long(&self, history: &History<Call, u64>) -> Long {
        check(self, history)
    }
}

/// An operation whose place is known.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// The sum of the additions before it.
    before: u64,
    /// The amount that it adds; 0 for a read.
    adds: u64,
    at: Placed,
}

impl Step {
    /// Its place among all: each sum is first read, then added to.
    fn place(&self) -> (u64, bool, u32) {
        (self.before, self.adds > 0, self.at.id)
    }

    fn told(&self) -> String {
        format!("#{} found a sum of {}", self.at.id, self.before)
    }
}

/// An addition that may have happened.
#[derive(Clone, Copy, Debug)]
struct Pending {
    adds: u64,
    at: Placed,
}

/// Returns the steps with the pending additions that must have happened, each at its place.
fn fill(steps: &[Step], pending: &[Pending]) -> Result<Vec<Step>, Long> {
    let mut filled: Vec<Step> = Vec::new();
    let mut sum: u64 = 0;
    let mut previous: Option<&Step> = None;
    let amount = pending.first().map_or(0, |pending| pending.adds);
    let amounts = steps.iter().map(|step| step.adds).filter(|&adds| adds > 0);
    let is_uniform = amounts
        .chain(pending.iter().map(|pending| pending.adds))
        .all(|adds| adds == amount);
    for step in steps {
        if let Some(previous) = previous
            && step.before < sum
        {
            return Err(Long::Violation(Violation::new(
                format!(
                    "{}, and {} and added {} to it: they can come in neither order",
                    step.told(),
                    previous.told(),
                    previous.adds
                ),
                [step.at.id, previous.at.id],
            )));
        }
        let missing = step.before - sum;
        if missing > 0 {
            if !pending.is_empty() && !is_uniform {
                return Err(Long::NotApplicable("pending additions are of different amounts"));
            }
            let left = pending.len() - filled.len();
            if pending.is_empty() || !missing.is_multiple_of(amount) || missing / amount > left as u64 {
                let found = previous.into_iter().chain([step]).map(|step| step.at.id);
                return Err(Long::Violation(Violation::new(
                    format!(
                        "{}, but the additions before it add up to {sum}, and no others can make up for it",
                        step.told()
                    ),
                    found.chain(pending.iter().map(|pending| pending.at.id)),
                )));
            }
            while sum < step.before {
                filled.push(Step {
                    before: sum,
                    adds: amount,
                    at: pending[filled.len()].at,
                });
                sum += amount;
            }
        }
        if step.adds > 0 {
            sum += step.adds;
            previous = Some(step);
        }
    }
    Ok(filled)
}

/// Finds an operation that returned before one with an earlier place was called. The steps are in their places.
fn late(steps: &[Step]) -> Option<Violation> {
    let mut earlier: Option<&Step> = None;
    // Reads of one sum are not ordered among themselves.
    for same in steps.chunk_by(|one, next| one.before == next.before && next.adds == 0) {
        if let Some(earlier) = earlier
            && let Some(step) = same.iter().find(|step| step.at.ret < earlier.at.call)
        {
            return Some(Violation::new(
                format!(
                    "{} and returned before the call of the one that must come first: {}",
                    step.told(),
                    earlier.told()
                ),
                [step.at.id, earlier.at.id],
            ));
        }
        let last = same.iter().max_by_key(|step| step.at.call);
        earlier = earlier.into_iter().chain(last).max_by_key(|step| step.at.call);
    }
    None
}
