//! Sleeping tasks: the executions that their next step could begin have been explored.
//!
//! A step that chooses values is a different step for each of them. If it was planned with certain values, it was tried
//! only with these, so it sleeps only with these.
//!
//! The same holds for a step whose operation the environment may let fail. Success and failure have different
//! footprints, so they are also woken separately.

use super::values::{Fate, Values};
use intermezzo_engine::trace::{Class, Key, StepAccess, Trace, conflict};
use smallvec::SmallVec;

/// The footprint of a step; usually it is one variable.
pub(super) type Footprint = SmallVec<[StepAccess; 2]>;

/// Copies a footprint. Usually it has one access, and is copied without a call. Unlike a clone, it is never copied
/// access by access.
#[inline(always)]
pub(super) fn as_footprint(footprint: &[StepAccess]) -> Footprint {
    match footprint {
        [only] => Footprint::from_buf_and_len([*only; 2], 1),
        several => Footprint::from_slice(several),
    }
}

/// Returns the lowest number that the first variable of a footprint that is not known exactly may have.
#[inline(always)]
pub(super) fn first_unknown(footprint: &[StepAccess]) -> Option<u32> {
    footprint.iter().find_map(|access| access.key.unknown_from())
}

/// Returns the number of counts that a step makes: its accesses of the class `Add`.
#[inline(always)]
pub(super) fn counts(footprint: &[StepAccess]) -> usize {
    let is_count = |access: &&StepAccess| access.class == Class::Add;
    match footprint {
        [only] => usize::from(is_count(&only)),
        several => several.iter().filter(is_count).count(),
    }
}

/// Returns the key of the footprint, if that is one key.
#[inline(always)]
pub(super) fn only_key(footprint: &[StepAccess]) -> Option<Key> {
    match footprint {
        [access] if access.key.unknown_from().is_none() => Some(access.key),
        _ => None,
    }
}

/// A task whose next step was tried, and the footprint of that step.
#[derive(Debug)]
pub(super) struct Sleeper {
    pub(super) task: u32,
    pub(super) footprint: Footprint,
    /// The beginning of the values with which the step was tried; with others it does not sleep.
    pub(super) values: Values,
    /// `true` if its step may release a share of a value whose destructor runs code: it is woken by a step that leaves
    /// one share.
    pub(super) gives_up: bool,
    /// `true` if a failed round is involved: the step tried belonged to one, or would have been woken by one.
    pub(super) across_elided: bool,
    /// `true` if it was still asleep where no plan was left to follow, or where a part of the plan was lost. Then not
    /// everything that it leads to is planned.
    pub(super) overslept: bool,
}

impl Clone for Sleeper {
    fn clone(&self) -> Sleeper {
        Sleeper {
            footprint: as_footprint(&self.footprint),
            // Usually there are none, and no function is called.
            values: match self.values.is_empty() {
                true => Values::new(),
                false => Values::from_slice(&self.values),
            },
            ..*self
        }
    }
}

impl Sleeper {
    /// Returns `true` if a step of an execution with this footprint wakes it.
    #[inline(always)]
    pub(super) fn is_woken(&self, trace: &Trace, step: usize, footprint: &[StepAccess]) -> bool {
        conflict(&self.footprint, footprint) || self.gives_up && trace.makes_last(step, &self.footprint)
    }

    /// Returns the fate of the step's operation, if the other fate does not sleep with it.
    pub(super) fn fate(&self) -> Option<Fate> {
        Fate::among(&self.values)
    }
}

/// Returns `true` if a task sleeps among these whatever values its next step chooses.
#[inline(always)]
pub(super) fn is_asleep(sleepers: &[Sleeper], task: u32) -> bool {
    match sleepers.iter().find(|sleeper| sleeper.task == task) {
        Some(sleeper) if !sleeper.values.is_empty() => is_asleep_by_parts(sleepers, task),
        first => first.is_some(),
    }
}

#[cold]
fn is_asleep_by_parts(sleepers: &[Sleeper], task: u32) -> bool {
    let asleep = |fate: Fate| is_asleep_with(sleepers, task, &[fate.value()]);
    is_asleep_with(sleepers, task, &[]) || Fate::BOTH.into_iter().all(asleep)
}

/// Returns `true` if a task sleeps among these if its next step chooses values that begin with these.
pub(super) fn is_asleep_with(sleepers: &[Sleeper], task: u32, values: &[u32]) -> bool {
    let mut own = sleepers.iter().filter(|sleeper| sleeper.task == task);
    own.any(|sleeper| values.starts_with(&sleeper.values))
}

/// Returns the footprint of the time-out of a task that waits for this key: the key, and virtual time.
pub(super) fn time_out(key: Key) -> [StepAccess; 2] {
    [key, Key::CLOCK].map(|key| StepAccess {
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
