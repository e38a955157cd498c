//! Tasks that sleep: what their next step could start was seen.

use intermezzo_engine::trace::{Class, Key, Touch};
use smallvec::SmallVec;

/// What a step touches: mostly one variable.
pub(super) type Touches = SmallVec<[Touch; 2]>;

/// Returns the same touches. Mostly it is one, and no call; and never touch by touch, as a clone would be.
#[inline(always)]
pub(super) fn as_touches(touches: &[Touch]) -> Touches {
    match touches {
        [only] => Touches::from_buf_and_len([*only; 2], 1),
        several => Touches::from_slice(several),
    }
}

/// A task whose next step was tried, and what that touched.
#[derive(Debug)]
pub(super) struct Sleeper {
    pub(super) task: u32,
    pub(super) touches: Touches,
    /// `true` if a round of a loop in vain has to do with it: the step tried belonged to one, or would have been woken
    /// by one.
    pub(super) across_elided: bool,
    /// `true` if it still slept where nothing particular was to be tried any more, or where some of that was lost: what
    /// it leads to is not all planned.
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

/// What the unasked waking of a task touches that waits for this key: besides that, what is left of the environment's
/// bounds, and time.
pub(super) fn environment_wake(key: Key) -> [Touch; 4] {
    [key, Key::TIMEOUTS, Key::SPURIOUS, Key::CLOCK].map(|key| Touch {
        key,
        class: Class::Write,
    })
}

/// What a step touches, each with the number of its class, to be saved.
pub(super) type SavedTouches = Vec<(Key, u8)>;

/// What is touched, to be saved.
pub(super) fn saved_touches(touches: &[Touch]) -> SavedTouches {
    let saved = touches.iter().map(|touch| (touch.key, touch.class as u8));
    saved.collect()
}

/// What was saved; `None` if that cannot be.
pub(super) fn restored_touches(saved: &SavedTouches) -> Option<Touches> {
    let touch = |&(key, class): &(Key, u8)| {
        let class = *Class::ALL.get(usize::from(class))?;
        Some(Touch { key, class })
    };
    saved.iter().map(touch).collect()
}
