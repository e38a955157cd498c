//! The script of an iRoot: its accesses in an order in which they can happen, each with its task and its variable.

use crate::classic::maple::IRoot;

/// An access that an attempt wants to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WantedAccess {
    /// Its place, by number.
    pub(super) place: u32,
    /// The task that makes it: 0 or 1.
    pub(super) who: usize,
    /// The variable that it accesses: 0 or 1.
    pub(super) what: usize,
}

/// The accesses of an iRoot, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Script {
    pub(super) wanted: Vec<WantedAccess>,
    /// The dependencies: pairs of accesses of which the second has to depend directly on the first.
    pub(super) dependencies: &'static [(usize, usize)],
    /// Pairs of accesses of one task between which the task must access neither variable.
    pub(super) clean: &'static [(usize, usize)],
}

impl Script {
    /// Returns the script of an iRoot. An iRoot of idiom 5 has two: `other` selects the one in which its second task
    /// begins.
    pub(super) fn of(iroot: &IRoot, other: bool) -> Script {
        let place = iroot.places();
        let wanted = |parts: &[(usize, usize, usize)]| {
            let each = parts.iter().map(|&(at, who, what)| WantedAccess {
                place: place[at],
                who,
                what,
            });
            each.collect()
        };
        let (wanted, dependencies, clean): (Vec<WantedAccess>, &[_], &[_]) = match iroot.idiom {
            1 => (wanted(&[(0, 0, 0), (1, 1, 0)]), &[(0, 1)], &[]),
            2 => (
                wanted(&[(0, 0, 0), (1, 1, 0), (2, 0, 0)]),
                &[(0, 1), (1, 2)],
                &[(0, 2)],
            ),
            3 => (
                wanted(&[(0, 0, 0), (1, 1, 0), (2, 1, 0), (3, 0, 0)]),
                &[(0, 1), (2, 3)],
                &[(0, 3)],
            ),
            4 => (
                wanted(&[(0, 0, 0), (1, 1, 0), (2, 1, 1), (3, 0, 1)]),
                &[(0, 1), (2, 3)],
                &[(0, 3)],
            ),
            // Both tasks make their first accesses; then each continues to its second one.
            _ if other => (
                wanted(&[(2, 1, 1), (0, 0, 0), (3, 0, 1), (1, 1, 0)]),
                &[(0, 2), (1, 3)],
                &[(0, 3), (1, 2)],
            ),
            _ => (
                wanted(&[(0, 0, 0), (2, 1, 1), (1, 1, 0), (3, 0, 1)]),
                &[(0, 2), (1, 3)],
                &[(0, 3), (1, 2)],
            ),
        };
        Script {
            wanted,
            dependencies,
            clean,
        }
    }

    /// Returns the places at which a task has to stop and wait for the other one: those of the first two accesses.
    pub(super) fn candidates(&self) -> [u32; 2] {
        [self.wanted[0].place, self.wanted[1].place]
    }
}
