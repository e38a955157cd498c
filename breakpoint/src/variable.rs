//! The environment variable that arms breakpoints, read once, when the first place or the first caller needs it.

use crate::arming::{ArmError, Armings};
use crate::{log, real, switch};
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
        let problem = arm_by_variable().err();
        if let Some(problem) = &problem {
            log::problem(problem);
        }
        // Only now: a task that reaches a place meanwhile waits for this, and does not pass as if nothing were armed.
        switch::was_read();
        problem
    });
}

fn arm_by_variable() -> Result<(), ArmError> {
    let Some(text) = std::env::var_os(VARIABLE) else {
        return Ok(());
    };
    let text = text.to_str().ok_or_else(|| ArmError {
        entry: text.to_string_lossy().into_owned(),
        problem: "it is not UTF-8".into(),
    })?;
    real::add(text.parse::<Armings>()?);
    Ok(())
}

/// Returns the problem of the environment variable [`VARIABLE`], if it is invalid; it arms nothing then. Programs do
/// not stop because of it: ask here, or look into the file that [`LOG_VARIABLE`](crate::LOG_VARIABLE) names.
pub fn variable_problem() -> Option<ArmError> {
    read();
    PROBLEM.get().cloned().flatten()
}
