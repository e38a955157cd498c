//! The footprint of an event, and which footprints commute.

use crate::record::VARS_MAX;
use crate::serial::{Deserialize, Serialize};
pub use intermezzo_sdk::Class;
use intermezzo_sdk::{SyncVar, SyncVarOp};

/// An element of a footprint: one aspect of a variable, or something that all tasks share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key(u32);

impl Key {
    /// Virtual time.
    pub const CLOCK: Key = Key(0);
    /// The early time-outs that are left to the execution for time that passed before a task was found ended.
    pub const TIMEOUTS: Key = Key(1);
    /// The number of keys that belong to no variable.
    const SHARED: u32 = 2;
    /// The mark of keys that are not known exactly. Such a key has the lowest number that the variable may have, and
    /// above it the number of steps since another step accessed it.
    const UNKNOWN: u32 = 1 << 31;
    const FIRST: u32 = VARS_MAX as u32 - 1;

    /// Returns the key that an operation on a variable accesses. A task's park token has a key of its own: leaving the
    /// token does not depend on whether the task has ended.
    #[inline(always)]
    pub fn of(op: SyncVarOp, var: u32) -> Key {
        let token = matches!(op, SyncVarOp::Park | SyncVarOp::Unpark);
        Key(Key::SHARED + 2 * var + u32::from(token))
    }

    /// Returns the key of an unknown variable, whose number is `first` or higher because it was first used later. If
    /// `back` is given, it is the variable that the step `back` steps before accessed.
    pub fn unknown(first: u32, back: Option<usize>) -> Key {
        let back = back.filter(|&back| back < (Key::UNKNOWN / VARS_MAX as u32) as usize);
        let above = back.unwrap_or(0) as u32 * VARS_MAX as u32;
        Key(Key::UNKNOWN | first.min(Key::FIRST) | above)
    }

    /// Returns the lowest number that the variable may have, if the key is not known exactly.
    #[inline(always)]
    pub fn unknown_from(self) -> Option<u32> {
        (self.0 & Key::UNKNOWN != 0).then_some(self.0 & Key::FIRST)
    }

    /// Returns the number of steps since another step accessed the variable, if the key is not known exactly and that
    /// was given.
    pub fn back(self) -> Option<usize> {
        let back = (self.0 & !Key::UNKNOWN) / VARS_MAX as u32;
        (self.0 & Key::UNKNOWN != 0 && back > 0).then_some(back as usize)
    }

    /// Returns the key with this index in a table.
    pub(super) fn at(index: usize) -> Key {
        Key(index as u32)
    }

    /// Returns the index of the key in a table.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the variable, if the key belongs to one.
    #[inline(always)]
    pub fn var(self) -> Option<u32> {
        self.0.checked_sub(Key::SHARED).map(|aspect| aspect / 2)
    }
}

/// Returns the class of an operation on its variable; `None` if it has no variable, or leaves no trace.
#[inline(always)]
pub fn class_of(op: SyncVarOp, var: u32, environment_wake: bool) -> Option<Class> {
    if var == SyncVar::NONE.0 {
        return None;
    }
    Class::of(op, environment_wake)
}

/// One access in the footprint of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepAccess {
    /// The key that is accessed.
    pub key: Key,
    /// The class of the access.
    pub class: Class,
}

impl StepAccess {
    /// Returns `true` if the two are dependent: their order makes a difference.
    #[inline(always)]
    pub fn conflicts(self, other: StepAccess) -> bool {
        self.key == other.key && !self.class.commutes(other.class)
    }
}

/// Returns `true` if two steps with these footprints are dependent.
#[inline(always)]
pub fn conflict(a: &[StepAccess], b: &[StepAccess]) -> bool {
    match (a, b) {
        // Usually both are one access, for which no loop is needed.
        ([x], [y]) => x.conflicts(*y),
        _ => a.iter().any(|x| b.iter().any(|y| x.conflicts(*y))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_hold_what_is_known_of_them() {
        let known = Key::of(SyncVarOp::AtomicLoad, VARS_MAX as u32 - 1);
        assert_eq!((known.unknown_from(), known.back()), (None, None));
        for first in [0, 1, 77, VARS_MAX as u32 - 1] {
            for back in [None, Some(1), Some(511)] {
                let key = Key::unknown(first, back);
                assert_eq!((key.unknown_from(), key.back()), (Some(first), back));
            }
            assert_eq!(Key::unknown(first, Some(512)), Key::unknown(first, None));
        }
        assert_eq!(
            Key::unknown(VARS_MAX as u32, None).unknown_from(),
            Some(VARS_MAX as u32 - 1)
        );
    }
}
