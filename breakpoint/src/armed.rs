//! Functions with which a program arms, disarms and queries breakpoints itself.

use crate::arming::{ArmError, Arming, Armings};
use crate::statistics::Statistics;
use crate::{control, real, switch, variable};

/// Arms breakpoints, as the variable `INTERMEZZO_BREAKPOINTS` does: names with commas between, each with its
/// refinements. Inside an exploration it does nothing, because there the exploration's settings arm.
///
/// # Errors
/// If an entry is invalid, or by places in the source, which only explorations have; nothing is armed then.
pub fn arm(text: &str) -> Result<(), ArmError> {
    let armings: Armings = text.parse()?;
    variable::read();
    match control::in_charge() {
        Some(controller) => controller.arming(),
        None => {
            armings.check_for_real_time()?;
            real::add(armings);
        }
    }
    Ok(())
}

/// Disarms a breakpoint, and forgets its figures. Does nothing if it is not armed, and inside an exploration.
pub fn disarm(name: &str) {
    disarm_where(|arming| arming.place.to_string() == name);
}

/// Disarms all, and forgets their figures. Does nothing inside an exploration.
pub fn disarm_all() {
    disarm_where(|_| true);
}

fn disarm_where(which: impl Fn(&Arming) -> bool) {
    variable::read();
    if let Some(controller) = control::in_charge() {
        return controller.arming();
    }
    real::disarm_where(which);
}

/// `true` if a breakpoint of this name is armed for the caller.
pub fn is_armed(name: &str) -> bool {
    if switch::is_off() {
        return false;
    }
    variable::read();
    match control::in_charge() {
        Some(controller) => controller.armed(name),
        None => real::is_armed(name),
    }
}

/// Returns the figures of the armed breakpoints so far, in real time, in the order in which they were armed. The
/// reports of explorations have their own.
pub fn statistics() -> Vec<Statistics> {
    variable::read();
    real::statistics()
}
