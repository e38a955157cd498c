//! Whether anything is armed at all: what a place looks at first, and all that it costs when nothing is.

use crate::arming::{ArmError, Armings};
use crate::{log, real};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

/// The environment variable that arms breakpoints: names with commas between, each with what refines it.
pub const VARIABLE: &str = "INTERMEZZO_BREAKPOINTS";

/// The environment variable that names a file for what comes of breakpoints: a line for each hit and each wait in vain.
pub const LOG_VARIABLE: &str = "INTERMEZZO_BREAKPOINTS_LOG";

/// Whether a runtime is in control of some tasks, so that it never is all off.
static CONTROLLED: AtomicBool = AtomicBool::new(false);

/// Nobody has looked at the environment yet.
const UNREAD: u8 = 0;
/// Nothing is armed, and nobody is in control.
const OFF: u8 = 1;
/// Something may be.
const ON: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNREAD);
static PROBLEM: OnceLock<Option<ArmError>> = OnceLock::new();

/// Whether nothing is armed. Relaxed: who arms while others run cannot expect them to see it at once.
#[inline(always)]
pub(crate) fn is_off() -> bool {
    STATE.load(Relaxed) == OFF
}

/// Takes up what the environment says, the first time; whether something may be armed then.
#[cold]
pub(crate) fn is_on_after_reading() -> bool {
    read();
    STATE.load(Relaxed) == ON
}

/// Takes up what the environment says, the first time.
pub(crate) fn read() {
    PROBLEM.get_or_init(|| {
        let problem = arm_by_variable().err();
        if let Some(problem) = &problem {
            log::problem(problem);
        }
        // Only now: who comes to a place meanwhile waits for this, and does not pass as if nothing were armed.
        let _ = STATE.compare_exchange(UNREAD, OFF, Relaxed, Relaxed);
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

/// Something is armed.
pub(crate) fn on() {
    STATE.store(ON, Relaxed);
}

/// A runtime is in control of some tasks: places have to ask whose they are.
pub(crate) fn controlled() {
    CONTROLLED.store(true, Relaxed);
    on();
}

/// Nothing is armed any more.
pub(crate) fn off() {
    if !CONTROLLED.load(Relaxed) {
        STATE.store(OFF, Relaxed);
    }
}

/// What is wrong with the environment variable [`VARIABLE`]; nothing is armed by it then. Programs do not stop because of
/// it: ask here, or look into the file that [`LOG_VARIABLE`] names.
pub fn variable_problem() -> Option<ArmError> {
    read();
    PROBLEM.get().cloned().flatten()
}
