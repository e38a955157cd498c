//! Tests that are expected to panic: the panic is among the findings, and the test passes.

use super::{Finding, Report, Verdict};
use intermezzo_sdk::FindingKind;

impl Report {
    /// Settles the verdict of a test that is expected to panic in some execution, with a message that contains
    /// `expected`. It passes if it does so and nothing else is wrong, and fails if no execution panics.
    pub(crate) fn settle_expected_panic(&mut self, expected: &str) {
        let is_expected = |finding: &Finding| {
            matches!(finding.kind, FindingKind::Assertion | FindingKind::Panic)
                && finding.message.contains(expected)
        };
        let with = match expected {
            "" => String::new(),
            expected => format!(" with {expected:?} in its message"),
        };
        match self.verdict {
            Verdict::Fail if self.errors().all(is_expected) => {
                (self.verdict, self.expected_panic) = (Verdict::Pass, true);
                self.note(&format!("the panic was expected: the test should panic{with}"));
            }
            Verdict::Fail => self.note(&format!(
                "the test should panic{with}: what was found is something else"
            )),
            Verdict::Pass => {
                self.verdict = Verdict::Fail;
                self.note(&format!("the test should panic{with}, and no execution did"));
            }
            Verdict::Inconclusive => {}
        }
    }
}
