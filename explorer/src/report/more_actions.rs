//! The reports of searches in which the environment does more.

use super::{Coverage, Limit, Report, Verdict, count};
use intermezzo_engine::runtime::interrupt::interrupted;

/// An action of the environment that a search leaves out, and that the next one explores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// A weak compare-exchange fails.
    WeakFailure,
    /// An allocation gets the address of freed memory.
    AddressReuse,
}

impl Action {
    /// Returns the number of executions that a search with this action did not complete, in a limit about it.
    fn beyond(self, limit: &mut Limit) -> Option<&mut u64> {
        match (self, limit) {
            (Action::WeakFailure, Limit::WeakFailures { beyond, .. })
            | (Action::AddressReuse, Limit::AddressReuse { beyond, .. }) => Some(beyond),
            _ => None,
        }
    }

    /// Returns `true` for a limit about this action.
    fn is_of(self, limit: &Limit) -> bool {
        match self {
            Action::WeakFailure => matches!(limit, Limit::WeakFailures { .. }),
            Action::AddressReuse => matches!(limit, Limit::AddressReuse { .. }),
        }
    }
}

impl Report {
    /// Returns `true` if the search left out this action, and an execution with several tasks could have had it.
    pub(crate) fn leaves_out(&self, action: Action) -> bool {
        self.limits.iter().any(|limit| action.is_of(limit)) && !self.limits.contains(&Limit::OneTask)
    }

    /// Adds the report of a search with this action, whose bound is `setting`. If that found an error, it replaces this one,
    /// and `true` is returned. If it is complete, the action is no longer among what was not explored, up to its bound.
    pub(crate) fn take_with_action(&mut self, mut next: Report, action: Action, setting: &str) -> bool {
        next.elapsed_seconds += self.elapsed_seconds;
        if next.errors().next().is_some() {
            next.note(&format!(
                "without `{setting}` no error was found: {}; {}",
                count(self.executions, "execution"),
                self.coverage
            ));
            next.note_settled(self.settled, &format!(" without `{setting}`"));
            // There are only warnings among them.
            next.take_unknown(std::mem::take(&mut self.findings));
            self.replace_by(next);
            return true;
        }
        self.elapsed_seconds = next.elapsed_seconds;
        self.note_settled(next.settled, &format!(" with `{setting}`"));
        // Warnings.
        self.take_unknown(std::mem::take(&mut next.findings));
        let is_fair = |limit: &Limit| matches!(limit, Limit::Fairness { .. });
        let is_complete = next.verdict == Verdict::Pass
            && next.is_complete_but_for_fairness()
            && (self.limits.iter().any(is_fair) || !next.limits.iter().any(is_fair));
        if is_complete {
            self.limits.retain(|limit| !action.is_of(limit));
            self.limits
                .extend(next.limits.into_iter().filter(|limit| action.is_of(limit)));
            return false;
        }
        match next.verdict {
            _ if interrupted() => self.undecide(&format!("it was interrupted with `{setting}`")),
            _ if next.cut_off_failed => {
                self.undecide(&format!(
                    "with `{setting}`, an execution that was cut off had failed"
                ));
            }
            Verdict::Pass => {
                if let Some(beyond) = self.limits.iter_mut().find_map(|limit| action.beyond(limit)) {
                    *beyond = next.executions;
                }
            }
            _ => {
                let why = match &next.coverage {
                    Coverage::Bounded {
                        reason: Some(reason), ..
                    } => format!(": {reason}"),
                    _ => String::new(),
                };
                self.note(&format!("with `{setting}`, there was no verdict{why}"));
            }
        }
        false
    }
}
