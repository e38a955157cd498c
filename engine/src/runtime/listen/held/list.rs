//! The accesses that are kept for some memory, in a list.

use crate::site::Site;
use smallvec::SmallVec;

/// An access to some bytes of a piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) site: Site,
    pub(super) task: u32,
    /// The last event of its task.
    pub(super) after: u32,
    /// The bytes, with a bit for each.
    pub(super) bytes: u8,
    pub(super) is_write: bool,
    pub(super) frees: bool,
}

impl Held {
    /// Returns `true` if both are of the same kind, task and place.
    #[inline]
    pub(super) fn is_like(&self, other: &Held) -> bool {
        self.task == other.task
            && self.site.is_same_word(other.site)
            && (self.is_write, self.frees) == (other.is_write, other.frees)
    }

    /// Returns the runs of adjacent bytes: the first of each, and the one after its last.
    pub(super) fn runs(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let mut rest = u32::from(self.bytes);
        std::iter::from_fn(move || {
            let from = (rest != 0).then(|| rest.trailing_zeros())?;
            let to = from + (rest >> from).trailing_ones();
            rest &= u32::MAX << to;
            Some((from, to))
        })
    }
}

/// Accesses in the order in which they are published. This is the order in which they happened, as far as it matters:
/// an access that was published before one that it knows of would seem to race with it.
///
/// As in monitors, each byte has the last access of each task, place and kind.
pub(super) type List = SmallVec<[Held; 4]>;

/// Adds an access to a list. Returns `false` if all of it is there already, since the same event.
pub(super) fn add(list: &mut List, access: &Held) -> bool {
    let is_same = |known: &Held| known.after == access.after && known.is_like(access);
    if list
        .iter()
        .any(|known| is_same(known) && access.bytes & !known.bytes == 0)
    {
        return false;
    }
    list.retain(|known| {
        if known.after != access.after && known.is_like(access) {
            known.bytes &= !access.bytes;
        }
        known.bytes != 0
    });
    match list.iter_mut().find(|known| is_same(known)) {
        Some(known) => known.bytes |= access.bytes,
        None => list.push(*access),
    }
    true
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a write of these bytes by a task, after an event.
    pub(in super::super) fn write(task: u32, after: u32, bytes: u8) -> Held {
        Held {
            site: Site::instruction(64),
            task,
            after,
            bytes,
            is_write: true,
            frees: false,
        }
    }

    #[test]
    fn a_list_has_the_last_access_of_each_kind_to_each_byte() {
        let mut list = List::new();
        assert!(add(&mut list, &write(0, 1, 0b0001)));
        assert!(add(&mut list, &write(0, 1, 0b0010)));
        assert!(!add(&mut list, &write(0, 1, 0b0011)));
        assert_eq!(list[..], [write(0, 1, 0b0011)]);
        let read = Held {
            is_write: false,
            ..write(0, 1, 0b0011)
        };
        assert!(add(&mut list, &read));
        assert!(add(&mut list, &write(0, 2, 0b0110)));
        assert_eq!(list[..], [write(0, 1, 0b0001), read, write(0, 2, 0b0110)]);
        assert!(add(&mut list, &write(1, 2, 0b0110)));
        assert!(add(&mut list, &write(0, 3, 0xff)));
        assert_eq!(list[..], [read, write(1, 2, 0b0110), write(0, 3, 0xff)]);
        assert!(!add(&mut list, &write(0, 3, 0b1000)));
    }

    #[test]
    fn bytes_form_runs() {
        let runs = |bytes| write(0, 0, bytes).runs().collect::<Vec<_>>();
        assert_eq!(runs(0xff), [(0, 8)]);
        assert_eq!(runs(0b0110_1001), [(0, 1), (3, 4), (5, 7)]);
        assert_eq!(runs(0b1000_0000), [(7, 8)]);
        assert_eq!(runs(0), []);
    }
}
