//! Sleeping tasks: the executions that their next step could begin were seen.

use intermezzo_engine::trace::{Class, Key, Touch};
use smallvec::SmallVec;

/// The footprint of a step: mostly one variable.
pub(super) type Touches = SmallVec<[Touch; 2]>;

/// Copies a footprint. Mostly it has one access, and is copied without a call; and it is never copied access by access,
/// as a clone would be.
#[inline(always)]
pub(super) fn as_touches(touches: &[Touch]) -> Touches {
    match touches {
        [only] => Touches::from_buf_and_len([*only; 2], 1),
        several => Touches::from_slice(several),
    }
}

/// A task whose next step was tried, and the footprint of that step.
#[derive(Debug)]
pub(super) struct Sleeper {
    pub(super) task: u32,
    pub(super) touches: Touches,
    /// `true` if a failed round is involved: the step tried belonged to one, or would have been woken by one.
    pub(super) across_elided: bool,
    /// `true` if it still slept where no plan was left to follow, or where a part of the plan was lost: not everything
    /// that it leads to is planned.
    pub(super) overslept: bool,
}

impl Clone for Sleeper {
    fn clone(&self) -> Sleeper {
        Sleeper {
            touches: as_touches(&self.touches),
            ..*self
        }
    }
}

/// Returns the footprint of the wake-up by the environment of a task that waits for this key: the key, the
/// environment's remaining bounds, and time.
pub(super) fn environment_wake(key: Key) -> [Touch; 4] {
    [key, Key::TIMEOUTS, Key::SPURIOUS, Key::CLOCK].map(|key| Touch {
        key,
        class: Class::Write,
    })
}

/// A footprint, each access with the number of its class, to be saved.
pub(super) type SavedTouches = Vec<(Key, u8)>;

/// Returns a footprint, to be saved.
pub(super) fn saved_touches(touches: &[Touch]) -> SavedTouches {
    let saved = touches.iter().map(|touch| (touch.key, touch.class as u8));
    saved.collect()
}

/// Restores a saved footprint; `None` if it is malformed.
pub(super) fn restored_touches(saved: &SavedTouches) -> Option<Touches> {
    let touch = |&(key, class): &(Key, u8)| {
        let class = *Class::ALL.get(usize::from(class))?;
        Some(Touch { key, class })
    };
    saved.iter().map(touch).collect()
}
