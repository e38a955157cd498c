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
    /// Runs executions in order of preemptions, up to the number of the smallest execution so far, with the rest of the
    /// budget.
    pub(super) fn prove(&mut self) -> Result<Proven, Crashed> {
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
