//! Exit codes, and the last line of defence against our own bugs.

use crate::output;
use intermezzo::Verdict;
use std::panic::{AssertUnwindSafe, catch_unwind};
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

/// Runs the command; a panic in it is a bug of ours and says so, below the panic's own message.
pub(crate) fn guarded(command: impl FnOnce() -> Exit) -> Exit {
    catch_unwind(AssertUnwindSafe(command)).unwrap_or_else(|_| {
        let arguments: Vec<String> = std::env::args_os().map(|arg| format!("{arg:?}")).collect();
        output::complain(&format!(
            "internal error: this is a bug in intermezzo {}, not in the program under test.\n\
             Please report it with the message above and this command line:\n  {}",
            env!("CARGO_PKG_VERSION"),
            arguments.join(" "),
        ));
        Exit::Internal
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_ours_is_an_internal_error() {
        assert_eq!(guarded(|| panic!("on purpose")), Exit::Internal);
        assert_eq!(guarded(|| Exit::Inconclusive), Exit::Inconclusive);
    }

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
