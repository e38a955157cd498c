//! Sleeping tasks: the executions that their next step could begin were seen.
//!
//! If the environment may let the operation of a step fail that could succeed, there are two such steps: one in which
//! it succeeds, and one in which it fails. They access different things, so they sleep and are woken one by one.

use super::values::Fate;
use intermezzo_engine::trace::{Class, Key, StepAccess};
use smallvec::SmallVec;

/// The footprint of a step: mostly one variable.
pub(super) type Footprint = SmallVec<[StepAccess; 2]>;

/// Copies a footprint. Mostly it has one access, and is copied without a call; and it is never copied access by access,
/// as a clone would be.
#[inline(always)]
pub(super) fn as_footprint(footprint: &[StepAccess]) -> Footprint {
    match footprint {
        [only] => Footprint::from_buf_and_len([*only; 2], 1),
        several => Footprint::from_slice(several),
    }
}

/// A task whose next step was tried, and the footprint of that step.
#[derive(Debug)]
pub(super) struct Sleeper {
    pub(super) task: u32,
    pub(super) footprint: Footprint,
    /// The fate of the step's operation, if its other fate does not sleep with it.
    pub(super) fate: Option<Fate>,
    /// `true` if a failed round is involved: the step tried belonged to one, or would have been woken by one.
    pub(super) across_elided: bool,
    /// `true` if it still slept where no plan was left to follow, or where a part of the plan was lost: not everything
    /// that it leads to is planned.
    pub(super) overslept: bool,
}

impl Clone for Sleeper {
    fn clone(&self) -> Sleeper {
        Sleeper {
            footprint: as_footprint(&self.footprint),
            ..*self
        }
    }
}

/// Returns `true` if a task sleeps among these whatever the fate of its next operation.
#[inline(always)]
pub(super) fn is_asleep(sleepers: &[Sleeper], task: u32) -> bool {
    match sleepers.iter().find(|sleeper| sleeper.task == task) {
        Some(sleeper) if sleeper.fate.is_some() => Fate::BOTH
            .into_iter()
            .all(|fate| is_asleep_with(sleepers, task, fate)),
        first => first.is_some(),
    }
}

/// Returns `true` if a task sleeps among these if its next operation has this fate.
pub(super) fn is_asleep_with(sleepers: &[Sleeper], task: u32, fate: Fate) -> bool {
    let mut own = sleepers.iter().filter(|sleeper| sleeper.task == task);
    own.any(|sleeper| sleeper.fate.is_none_or(|own| own == fate))
}

/// Returns the footprint of a time-out of a task that waits for this key: the key, time, and the execution's rest of
/// early time-outs.
pub(super) fn environment_wake(key: Key) -> [StepAccess; 3] {
    [key, Key::TIMEOUTS, Key::CLOCK].map(|key| StepAccess {
        key,
        class: Class::Write,
    })
}

/// A footprint, each access with the number of its class, to be saved.
pub(super) type SavedFootprint = Vec<(Key, u8)>;

/// Returns a footprint, to be saved.
pub(super) fn saved_footprint(footprint: &[StepAccess]) -> SavedFootprint {
    let saved = footprint.iter().map(|access| (access.key, access.class as u8));
    saved.collect()
}

/// Restores a saved footprint; `None` if it is malformed.
pub(super) fn restored_footprint(saved: &SavedFootprint) -> Option<Footprint> {
    let access = |&(key, class): &(Key, u8)| {
        let class = *Class::ALL.get(usize::from(class))?;
        Some(StepAccess { key, class })
    };
    saved.iter().map(access).collect()
}
