//! The tasks that a decision is among.

use intermezzo_sdk::TaskId;

/// The tasks behind the alternatives of a decision.
#[derive(Clone, Copy)]
pub enum Candidates<'a> {
    /// The alternatives are not tasks.
    None,
    /// The default, if it is continued; then the tasks of `others` in cyclic order after `after`.
    Word {
        /// The task that goes on by default, if it can.
        default: Option<u32>,
        /// The other tasks, one bit each.
        others: u64,
        /// The task after which the others come in turn.
        after: u32,
    },
    /// In this order.
    List(&'a [u32]),
}

impl Candidates<'_> {
    /// The task behind an alternative.
    #[inline]
    pub fn task(self, mut alternative: u32) -> Option<TaskId> {
        match self {
            Candidates::None => None,
            Candidates::List(tasks) => tasks.get(alternative as usize).map(|&task| TaskId(task)),
            Candidates::Word {
                default,
                others,
                after,
            } => {
                if let Some(default) = default {
                    if alternative == 0 {
                        return Some(TaskId(default));
                    }
                    alternative -= 1;
                }
                let mut rest = others.rotate_right(after + 1);
                for _ in 0..alternative {
                    rest &= rest.wrapping_sub(1);
                }
                (rest != 0).then(|| TaskId((rest.trailing_zeros() + after + 1) % 64))
            }
        }
    }

    /// The only task, where it is enabled and there is no other.
    #[inline(always)]
    pub fn only_enabled(self) -> Option<u32> {
        match self {
            Candidates::Word {
                default: Some(default),
                others: 0,
                ..
            } => Some(default),
            Candidates::Word {
                default: None,
                others,
                ..
            } if others.is_power_of_two() => Some(others.trailing_zeros()),
            _ => None,
        }
    }

    /// Whether all of them are enabled, and their time is not up.
    #[inline(always)]
    pub fn are_enabled(self) -> bool {
        matches!(self, Candidates::Word { .. })
    }

    /// Goes through the tasks behind all alternatives, in order.
    #[inline(always)]
    pub fn for_each(self, mut each: impl FnMut(TaskId)) {
        match self {
            Candidates::None => {}
            Candidates::List(tasks) => tasks.iter().for_each(|&task| each(TaskId(task))),
            Candidates::Word {
                default,
                others,
                after,
            } => {
                if let Some(default) = default {
                    each(TaskId(default));
                }
                let mut rest = others.rotate_right(after + 1);
                while rest != 0 {
                    each(TaskId((rest.trailing_zeros() + after + 1) % 64));
                    rest &= rest - 1;
                }
            }
        }
    }
}
