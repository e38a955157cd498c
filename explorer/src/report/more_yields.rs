//! The reports of searches that count fewer yields for fairness.

use super::limits::narrowed;
use super::{Coverage, Limit, Report, Verdict, count};
use intermezzo_engine::runtime::interrupt::interrupted;

/// Returns `true` if there were no executions. The JSON form leaves their number out then.
#[cfg(feature = "files")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_none(executions: &u64) -> bool {
    *executions == 0
}

impl Report {
    /// Returns the number of executions of the searches before the one that the report is about: those in which more yields
    /// counted, and those with sequentially consistent memory.
    pub fn executions_before(&self) -> u64 {
        self.executions_before
    }

    /// Returns `true` if the search ran every schedule, or every fair one.
    pub(crate) fn is_complete_but_for_fairness(&self) -> bool {
        let narrowing: Vec<Limit> = self
            .limits
            .iter()
            .filter(|limit| limit.narrows())
            .cloned()
            .collect();
        narrowing
            .iter()
            .all(|limit| matches!(limit, Limit::Fairness { .. }))
            && self.coverage == narrowed(Coverage::Exhaustive, &narrowing)
    }

    /// Adds the report of a search in which only every one of `yields` yields counts, rather than of `before`. If that
    /// is complete or found an error, it replaces this one, and `true` is returned; otherwise it is noted.
    pub(crate) fn take_with_more_yields(&mut self, mut next: Report, yields: u32, before: u32) -> bool {
        next.elapsed_seconds += self.elapsed_seconds;
        next.earlier = self.earlier;
        if next.errors().next().is_some() {
            next.note(&format!(
                "with `fair_yields={before}` no error was found: {}",
                count(self.executions, "execution")
            ));
            next.note_settled(self.settled, &format!(" with `fair_yields={before}`"));
            if let Some(kind) = &next.passed_over {
                let note = format!(
                    "with `fair_yields={yields}`, an execution did not end ({kind}), which is not an error with more yields"
                );
                next.note(&note);
            }
            // There are only warnings among them.
            next.take_unknown(std::mem::take(&mut self.findings));
            self.replace_by(next);
            return true;
        }
        if next.verdict == Verdict::Pass && next.passed_over.is_none() && next.is_complete_but_for_fairness()
        {
            // Its schedules include those of this report.
            self.replace_by(next);
            return true;
        }
        self.elapsed_seconds = next.elapsed_seconds;
        self.note_settled(next.settled, &format!(" with `fair_yields={yields}`"));
        // Warnings.
        self.take_unknown(std::mem::take(&mut next.findings));
        if let Some(kind) = &next.passed_over {
            self.note(&format!(
                "with `fair_yields={yields}`, {} were run, and one did not end ({kind}), which is not an error with more yields",
                count(next.executions, "execution"),
            ));
        }
        match next.verdict {
            _ if interrupted() => self.undecide(&format!("it was interrupted with `fair_yields={yields}`")),
            _ if next.cut_off_failed => self.undecide(&format!(
                "with `fair_yields={yields}`, an execution that was cut off had failed"
            )),
            _ if next.passed_over.is_some() => {}
            Verdict::Pass => {
                // The limits are what others left, so their numbers would say nothing.
                if let Coverage::Bounded { reason, .. } = &mut next.coverage {
                    *reason = None;
                }
                self.note(&format!(
                    "with `fair_yields={yields}`, which leaves out fewer schedules, the search did not end within the limits: \
                     {}, {}",
                    count(next.executions, "execution"),
                    next.coverage
                ));
            }
            _ => self.note(&format!(
                "with `fair_yields={yields}`, no execution came to its end"
            )),
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Environment;

    #[test]
    fn notes_on_files_and_processes_stay() {
        let report = || {
            Report::new(
                ("test".into(), Default::default()),
                Environment::calm(),
                "auto".into(),
                0,
            )
        };
        let (mut first, mut second) = (report(), report());
        first.note_for_good("an earlier run ended");
        first.note("of the first search");
        second.note("of the second");
        first.replace_by(second);
        assert_eq!(first.notes(), ["of the second", "an earlier run ended"]);
        first.replace_by(report());
        assert_eq!(first.notes(), ["an earlier run ended"]);
    }
}
