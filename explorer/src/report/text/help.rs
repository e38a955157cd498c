//! Advice on a finding, if the monitor has not given any.

use crate::report::{Finding, FindingDetail, FoundBy, WaitingTask};
use intermezzo_sdk::FindingKind;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Returns the advice, if the kind of the finding is enough to give one.
pub(super) fn of(finding: &Finding) -> Option<Cow<'static, str>> {
    if finding.monitor != FoundBy::Engine {
        return None;
    }
    let waiting: &[WaitingTask] = match &finding.detail {
        FindingDetail::Blocked { waiting, .. } => waiting,
        _ => &[],
    };
    let schedule = &finding.schedule;
    let advice = match finding.kind {
        FindingKind::Deadlock => in_a_deadlock(waiting),
        FindingKind::Livelock if waiting.is_empty() => {
            "let one of the tasks wait for the other, instead of both giving way and trying again"
        }
        FindingKind::Livelock => {
            "no task is left to change what the loop waits for: the change came too early, or never comes"
        }
        FindingKind::UnfairSpin => {
            "call `thread::yield_now()` or `hint::spin_loop()` in the loop, so that others get their turn"
        }
        FindingKind::StepLimit => return Some(at_the_limit_of_steps(schedule.steps).into()),
        FindingKind::Hang if matches!(finding.detail, FindingDetail::TookTooLong { .. }) => {
            "an execution that is just long needs a higher limit: the setting `hang = \"execution=600\"`, or INTERMEZZO_HANG=execution=600"
        }
        // Code that was not written for intermezzo has them from it already.
        FindingKind::Hang if schedule.binary.is_unmodified() => {
            "work that takes long needs a higher limit: the setting `hang = 60`, or INTERMEZZO_HANG=60"
        }
        FindingKind::Hang => {
            "take locks, channels, sleeps and threads from `intermezzo`; work that takes long needs a higher limit: the setting `hang = 60`, or INTERMEZZO_HANG=60"
        }
        FindingKind::Crash => "the command below runs this execution alone: under a debugger, it shows where",
        _ => return None,
    };
    Some(advice.into())
}

fn at_the_limit_of_steps(limit: u64) -> String {
    let more = limit.saturating_mul(5);
    format!(
        "an execution that is just long needs a higher limit: the setting `steps = {more}`, or INTERMEZZO_STEPS={more}"
    )
}

fn in_a_deadlock(waiting: &[WaitingTask]) -> &'static str {
    let by_itself = |task: &WaitingTask| task.held_by.as_ref() == Some(&task.task);
    // Those that wait themselves.
    let holders: BTreeSet<&str> = waiting
        .iter()
        .filter_map(|task| task.held_by.as_deref())
        .filter(|holder| waiting.iter().any(|task| task.task == *holder))
        .collect();
    if waiting.iter().any(by_itself) {
        "a task cannot take a lock twice: drop the first guard before taking the lock again"
    } else if holders.len() >= 2 {
        "let all tasks take these locks in the same order, or hold one of them at a time"
    } else {
        "look for what should have woken them: a notification, a message or an unpark that came before the wait began, or never comes"
    }
}
