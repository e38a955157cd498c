//! A run of every execution in order of preemptions, as far as the budget goes. It finds a smaller execution, or proves
//! that there is none.

use super::trial::Trial;
use super::{Crashed, Search};
use intermezzo_engine::strategy::Coverage;
use intermezzo_search::IterativePreemptionBounding;

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
            let found = self.with_at_most(fewer);
            self.worker.limit_stale_operations(None);
            match found? {
                Some(true) => {}
                Some(false) => return Ok(true),
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Runs executions with at most this many stale operations: the worker has that limit. Returns `true` if one shows the
    /// failure, `false` if none does, and `None` if that is not known.
    fn with_at_most(&mut self, stale: u32) -> Result<Option<bool>, Crashed> {
        let Search {
            worker,
            subject,
            failure,
            heard,
            others,
            budget,
            best,
        } = self;
        let strategy = IterativePreemptionBounding::new(u32::MAX);
        worker.apart(Box::new(strategy), *heard, |worker| {
            while !budget.is_mostly_spent() {
                match subject.run(worker, failure, budget) {
                    Trial::None => return Ok(Some(false)),
                    Trial::Shown(shown) if shown.improves(best, others) => {
                        *best = shown;
                        return Ok(Some(best.size.stale <= stale));
                    }
                    Trial::Shown(_) | Trial::Other => {}
                    Trial::Departed => return Ok(None),
                    Trial::Crashed(findings) => return Err(Crashed(findings)),
                }
            }
            Ok(None)
        })
    }

    /// Runs executions up to the number of preemptions of the smallest one so far, with the rest of the budget.
    fn with_fewer_preemptions(&mut self) -> Result<Proven, Crashed> {
        let Search {
            worker,
            subject,
            failure,
            heard,
            others,
            budget,
            best,
        } = self;
        let strategy = IterativePreemptionBounding::new(best.size.preemptions);
        worker.apart(Box::new(strategy), *heard, |worker| {
            loop {
                let complete = rounds_complete(&worker.strategy().coverage(false));
                if complete > best.size.preemptions {
                    return Ok(Proven::All);
                }
                if budget.is_spent() {
                    return Ok(if complete == best.size.preemptions {
                        Proven::Preemptions
                    } else {
                        Proven::Nothing
                    });
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
