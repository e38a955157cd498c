//! Notes of a report on preemptions that the settings and the test ruled out.

use crate::settings::Settings;
use intermezzo_engine::runtime::Scoping;
use intermezzo_engine::strategy::Coverage;

/// Returns the report's notes on preemptions that were left out, and on regions or scopes that were ignored.
pub(super) fn of_scoping(scoping: Scoping, settings: &Settings) -> Vec<String> {
    let mut notes = Vec::new();
    if scoping.by_scope {
        let Settings {
            preempt_in,
            preempt_not_in,
            ..
        } = settings;
        let place = match (preempt_in.is_empty(), preempt_not_in.is_empty()) {
            (true, _) => format!("in {preempt_not_in}"),
            (false, true) => format!("anywhere but in {preempt_in}"),
            (false, false) => format!("anywhere but in {preempt_in}, or in {preempt_not_in}"),
        };
        notes.push(format!(
            "scope: schedules are left out in which a task is preempted {place}"
        ));
    }
    if scoping.by_region {
        notes.push(
            "preemptions_off: schedules are left out in which a task is preempted in such a region".into(),
        );
    }
    if scoping.region_unheeded {
        notes.push(
            "preemptions_off: ignored, because a reduction relies on the orders of all operations".into(),
        );
    }
    if scoping.by_breakpoint {
        notes.push(
            "breakpoints: schedules are left out in which a task leaves an armed one without its partner although \
             another task could continue"
                .into(),
        );
    }
    if scoping.arming_unheeded {
        notes.push(
            "breakpoint::arm: ignored, because in an exploration only the setting `breakpoints` arms".into(),
        );
    }
    notes
}

/// Returns the coverage that remains if schedule points were closed.
pub(super) fn limit(scoping: Scoping, coverage: Coverage) -> Coverage {
    if scoping.by_scope || scoping.by_region {
        coverage.because("preemptions out of scope are left out")
    } else if scoping.by_breakpoint {
        coverage.because("breakpoints are armed")
    } else {
        coverage
    }
}
