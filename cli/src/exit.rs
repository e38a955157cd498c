//! Exit codes.

use intermezzo::Verdict;
use std::process::ExitCode;

/// The exit codes of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Nothing was found.
    Pass = 0,
    /// Something was found, a test failed, or a program of the corpus did not meet its expected verdict.
    Findings = 1,
    /// The request cannot be carried out; another command line or a repaired build would help.
    Usage = 2,
    /// There is no verdict: no execution was complete, a replay diverged, or nothing was explored.
    Inconclusive = 3,
    /// A bug in intermezzo.
    Internal = 4,
}

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Exit {
        match verdict {
            Verdict::Pass => Exit::Pass,
            Verdict::Fail => Exit::Findings,
            Verdict::Inconclusive => Exit::Inconclusive,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_documented() {
        let all = [
            Exit::Pass,
            Exit::Findings,
            Exit::Usage,
            Exit::Inconclusive,
            Exit::Internal,
        ];
        assert_eq!(all.map(|exit| exit as u8), [0, 1, 2, 3, 4]);
    }
}
