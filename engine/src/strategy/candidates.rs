//! The tasks among which a decision chooses.

use intermezzo_sdk::TaskId;

/// The tasks behind the alternatives of a decision.
#[derive(Clone, Copy)]
pub enum Candidates<'a> {
    /// The alternatives are not tasks.
    None,
    /// The default, if it continues; then the tasks of `others` in cyclic order after `after`.
    Word {
        /// The task that continues by default, if it can.
        default: Option<u32>,
        /// The other tasks, one bit each.
        others: u64,
        /// The task after which the cyclic order begins.
        after: u32,
    },
    /// The tasks in this order.
    List(&'a [u32]),
}

impl Candidates<'_> {
    /// Returns the task behind an alternative.
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

    /// Returns the only alternative, if it is one enabled task.
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

    /// Returns `true` if all of them are enabled without a time-out.
    #[inline(always)]
    pub fn are_enabled(self) -> bool {
        matches!(self, Candidates::Word { .. })
    }

    /// Calls `each` with the task behind each alternative, in order.
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
