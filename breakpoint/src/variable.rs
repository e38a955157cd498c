//! The environment variable that arms breakpoints, read once, when the first place or the first caller needs it.

use crate::arming::{ArmError, Armings};
use crate::{control, log, real, switch};
use std::sync::OnceLock;

/// The environment variable that arms breakpoints: names with commas between, each with its refinements.
pub const VARIABLE: &str = "INTERMEZZO_BREAKPOINTS";

static PROBLEM: OnceLock<Option<ArmError>> = OnceLock::new();

/// Applies the environment variable, the first time. `true` if something may be armed afterwards.
#[cold]
pub(crate) fn is_on_after_reading() -> bool {
    read();
    switch::is_on()
}

/// Applies the environment variable, the first time.
pub(crate) fn read() {
    PROBLEM.get_or_init(|| {
        let problem = match arm_by_variable() {
            Err(problem) => Some(problem),
            // The explorations of this process take these.
            Ok(()) if control::is_any() => None,
            Ok(()) => armings().and_then(|armings| armings.check_for_real_time()).err(),
        };
        if let Some(problem) = &problem {
            log::problem(problem);
        }
        // Only now: a task that reaches a place meanwhile waits for this, and does not pass as if nothing were armed.
        switch::was_read();
        problem
    });
}

fn arm_by_variable() -> Result<(), ArmError> {
    armings().map(real::add)
}

/// Returns the breakpoints of the environment variable.
fn armings() -> Result<Armings, ArmError> {
    let Some(text) = std::env::var_os(VARIABLE) else {
        return Ok(Armings::default());
    };
    let text = text.to_str().ok_or_else(|| ArmError {
        entry: text.to_string_lossy().into_owned(),
        problem: "it is not UTF-8".into(),
    })?;
    text.parse()
}

/// Returns the problem of the environment variable [`VARIABLE`], if there is one. An invalid value arms nothing. If the
/// process has no explorations, breakpoints by places are a problem, too: they have no effect, and the others are armed.
/// Programs do not stop because of a problem. It is also written to the file that [`LOG_VARIABLE`](crate::LOG_VARIABLE)
/// names.
pub fn variable_problem() -> Option<ArmError> {
    read();
    let problem = PROBLEM.get().cloned().flatten();
    // Explorations may have begun since.
    problem.filter(|_| !control::is_any() || armings().is_err())
}
