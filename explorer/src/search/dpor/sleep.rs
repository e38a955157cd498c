//! Tasks that sleep: what their next step could start was seen.

use crate::trace::{Class, Key, Touch};
use smallvec::SmallVec;

/// What a step touches: mostly one variable.
pub(super) type Touches = SmallVec<[Touch; 2]>;

/// A task whose next step was tried, and what that touched.
#[derive(Debug)]
pub(super) struct Sleeper {
    pub(super) task: u32,
    pub(super) touches: Touches,
    /// Whether a round of a loop in vain has to do with it: the step tried belonged to one, or would have been woken by one.
    pub(super) over_void: bool,
}

impl Clone for Sleeper {
    fn clone(&self) -> Sleeper {
        Sleeper {
            // One copy: a clone would go touch by touch.
            touches: Touches::from_slice(&self.touches),
            ..*self
        }
    }
}

/// What the unasked waking of a task touches that waits for this key: besides that, what is left of the environment's
/// bounds, and time.
pub(super) fn unasked(key: Key) -> [Touch; 4] {
    [key, Key::TIMEOUTS, Key::SPURIOUS, Key::CLOCK].map(|key| Touch {
        key,
        class: Class::Write,
    })
}
