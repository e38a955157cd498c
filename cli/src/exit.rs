//! Exit codes.

use intermezzo::Verdict;
use std::process::ExitCode;

/// What the command line ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Nothing was found.
    Pass = 0,
    /// Something was found, a test failed, or a program of the corpus did not meet its expected verdict.
    Findings = 1,
    /// What was asked cannot be done; saying it differently, or repairing the project's build, would help.
    Usage = 2,
    /// Nothing can be said: no execution came to its end, a replay diverged, or nothing was explored.
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
