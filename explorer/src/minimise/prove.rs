//! A run of every execution in order of preemptions, as far as the budget goes. It finds a smaller execution, or proves
//! that there is none.

use super::trial::{Budget, Size, Trial};
use super::{Crashed, Search};
use intermezzo_engine::runtime::Executor;
use intermezzo_engine::strategy::Coverage;
use intermezzo_search::IterativePreemptionBounding;
use std::cmp::Ordering;

/// The certainty about the smallest execution found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proven {
    /// None: there may be a smaller one.
    Nothing,
    /// No execution with fewer preemptions shows the failure.
    Preemptions,
    /// No smaller execution shows the failure.
    All,
}

impl Search<'_> {
    /// Runs executions in order of preemptions, as far as the budget goes. First come those with fewer stale operations than
    /// the smallest execution so far. Then come those with no more stale operations and no more preemptions than it has.
    pub(super) fn prove(&mut self) -> Result<Proven, Crashed> {
        let has_fewest = self.with_fewer_stale()?;
        // Without a memory model there is nothing to limit.
        self.worker.limit_stale_operations(Some(self.best.size.stale));
        let proven = self.with_fewer_preemptions();
        self.worker.limit_stale_operations(None);
        match proven? {
            _ if !has_fewest => Ok(Proven::Nothing),
            proven => Ok(proven),
        }
    }

    /// Looks for executions with fewer stale operations. Returns `true` if none is left.
    fn with_fewer_stale(&mut self) -> Result<bool, Crashed> {
        while let Some(fewer) = self.best.size.stale.checked_sub(1) {
            self.worker.limit_stale_operations(Some(fewer));
            let proven = self.run_in_order(u32::MAX, |_, budget, best| {
                (best.stale <= fewer || budget.is_mostly_spent()).then_some(Proven::Nothing)
            });
            self.worker.limit_stale_operations(None);
            let proven = proven?;
            if self.best.size.stale > fewer {
                return Ok(proven == Proven::All);
            }
        }
        Ok(true)
    }

    /// Runs executions up to the number of preemptions of the smallest one so far, with the rest of the budget.
    fn with_fewer_preemptions(&mut self) -> Result<Proven, Crashed> {
        self.run_in_order(self.best.size.preemptions, |worker, budget, best| {
            let complete = rounds_complete(&worker.strategy().coverage(false));
            match complete.cmp(&best.preemptions) {
                Ordering::Greater => Some(Proven::All),
                _ if !budget.is_spent() => None,
                Ordering::Equal => Some(Proven::Preemptions),
                Ordering::Less => Some(Proven::Nothing),
            }
        })
    }

    /// Runs executions in order of preemptions, up to this many, and keeps the smallest one that shows the failure. Returns
    /// the certainty once `ended` gives it; [`Proven::All`] if every execution was run.
    fn run_in_order(
        &mut self,
        preemptions: u32,
        ended: impl Fn(&mut Executor, &Budget, &Size) -> Option<Proven>,
    ) -> Result<Proven, Crashed> {
        let Search {
            worker,
            subject,
            failure,
            heard,
            others,
            budget,
            best,
        } = self;
        let strategy = IterativePreemptionBounding::new(preemptions);
        worker.apart(Box::new(strategy), *heard, |worker| {
            loop {
                if let Some(proven) = ended(worker, budget, &best.size) {
                    return Ok(proven);
                }
                match subject.run(worker, failure, budget) {
                    Trial::None => return Ok(Proven::All),
                    Trial::Shown(shown) if shown.improves(best, others) => *best = shown,
                    Trial::Shown(_) | Trial::Other => {}
                    Trial::Departed => return Ok(Proven::Nothing),
                    Trial::Crashed(findings) => return Err(Crashed(findings)),
                }
            }
        })
    }
}

/// Returns the number of complete rounds: every execution with fewer preemptions than that was run.
fn rounds_complete(coverage: &Coverage) -> u32 {
    match coverage {
        Coverage::Bounded {
            preemptions: Some(most),
            ..
        } => most + 1,
        _ => 0,
    }
}
