//! The reports of searches in which the environment does more.

use super::{Coverage, Finding, Limit, Report, Verdict, count};
use intermezzo_engine::runtime::interrupt::interrupted;
use intermezzo_sdk::Severity;

/// An action of the environment that a search leaves out, and that the next one explores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// A weak compare-exchange fails.
    WeakFailure,
    /// An allocation gets the address of freed memory.
    AddressReuse,
    /// A wait with a limit of time ends before it is over.
    EarlyTimeout,
}

impl Action {
    /// All actions, in the order of the searches.
    pub(crate) const ALL: [Action; 3] = [Action::WeakFailure, Action::AddressReuse, Action::EarlyTimeout];

    /// Returns the name of its bound in the environment, and of that of the search in the options of `auto`.
    pub(crate) fn setting(self) -> &'static str {
        match self {
            Action::WeakFailure => "weak_failures",
            Action::AddressReuse => "address_reuse",
            Action::EarlyTimeout => "timeouts",
        }
    }

    /// Returns the number of executions that a search with this action did not complete, in a limit about it.
    fn beyond(self, limit: &mut Limit) -> Option<&mut u64> {
        match (self, limit) {
            (Action::WeakFailure, Limit::WeakFailures { beyond, .. })
            | (Action::AddressReuse, Limit::AddressReuse { beyond, .. })
            | (Action::EarlyTimeout, Limit::Timeouts { beyond, .. }) => Some(beyond),
            _ => None,
        }
    }

    /// Returns `true` for a limit that says that this action was not explored, or only in part.
    fn is_left_out_by(self, limit: &Limit) -> bool {
        match (self, limit) {
            (Action::WeakFailure, Limit::WeakFailures { most, .. })
            | (Action::AddressReuse, Limit::AddressReuse { most, .. })
            | (Action::EarlyTimeout, Limit::Timeouts { most, .. }) => *most == 0,
            _ => false,
        }
    }

    /// Returns `true` for a limit about this action.
    fn is_of(self, limit: &Limit) -> bool {
        match self {
            Action::WeakFailure => matches!(limit, Limit::WeakFailures { .. }),
            Action::AddressReuse => matches!(limit, Limit::AddressReuse { .. }),
            Action::EarlyTimeout => matches!(limit, Limit::Timeouts { .. }),
        }
    }
}

/// Makes an error that needs an early time-out a warning.
fn warn_of_timeout(finding: &mut Finding) {
    if !finding.is_error() {
        return;
    }
    finding.severity = Severity::Warning;
    let otherwise = finding.suggestion.take().map(|text| format!("; {text}"));
    finding.suggestion = Some(format!(
        "a wait reached its limit of time before another thread ended it, as it may on a slow machine; if its limit is \
         long enough everywhere, `--strategy 'auto(timeouts=0)'` leaves out such executions{}",
        otherwise.unwrap_or_default()
    ));
}

impl Report {
    /// Returns `true` if the search left out this action, and an execution with several tasks could have had it.
    pub(crate) fn leaves_out(&self, action: Action) -> bool {
        self.limits.iter().any(|limit| action.is_of(limit)) && !self.limits.contains(&Limit::OneTask)
    }

    /// Returns the actions that the search left out, and that an execution with several tasks could have had.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = Action> {
        Action::ALL.into_iter().filter(|&action| self.leaves_out(action))
    }

    /// Lists that these actions were not explored together. Of one that was not explored at all, or only in part, the report
    /// says so already.
    pub(crate) fn note_apart(&mut self, possible: &[Action]) {
        let is_open = |action: &Action| {
            let mut limits = self.limits.iter();
            limits.any(|limit| action.is_left_out_by(limit))
        };
        let apart = Action::ALL
            .into_iter()
            .filter(|action| possible.contains(action) && !is_open(action));
        let mut actions: Vec<String> = apart.map(|action| action.setting().to_owned()).collect();
        // The searches with more actions do not run under the memory model.
        if self
            .weak_memory()
            .is_some_and(|part| part.coverage == Coverage::Exhaustive)
        {
            actions.insert(0, "stale_reads".to_owned());
        }
        if actions.len() > 1 {
            self.limits.push(Limit::Combined { actions });
        }
    }

    /// Adds the report of a search with this action, whose bound is `setting`. If that found an error, it replaces this one,
    /// and `true` is returned; but an error that needs an early time-out becomes a warning of this one. If it is complete, the
    /// action is no longer among what was not explored, up to its bound.
    pub(crate) fn take_with_action(&mut self, mut next: Report, action: Action, setting: &str) -> bool {
        next.elapsed_seconds += self.elapsed_seconds;
        if action == Action::EarlyTimeout {
            next.findings.iter_mut().for_each(warn_of_timeout);
        }
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
            // There is a warning.
            Verdict::Fail => {}
            _ if next.cut_off_failed && action != Action::EarlyTimeout => {
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
