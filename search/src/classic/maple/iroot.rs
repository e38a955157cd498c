//! Interleaving roots: patterns of one or two dependencies between static places of two tasks. After Maple, section
//! 2.1. `A => B` means that `B`, which is of another task than `A`, comes after `A` and depends on it directly: both
//! access the same variable and do not commute, and no access between them is one with which neither of them commutes.
//! The six idioms, with the tasks and variables of their accesses:
//!
//! | idiom | first task | second task | dependencies |
//! |---|---|---|---|
//! | 1 | A on x | B on x | A => B |
//! | 2 | A, then D on x | B on x | A => B => D |
//! | 3 | A, then D on x | B, then C on x | A => B, C => D |
//! | 4 | A on x, then D on y | B on x, then C on y | A => B, C => D |
//! | 5 | A on x, then D on y | C on y, then B on x | A => B, C => D |
//! | 6 | A on x, then C on y | B on x, then D on y | A => B, C => D |
//!
//! Two accesses of one task are at most a *vulnerability window* of its events apart. In idioms 2 to 5, the first task
//! accesses neither variable between its two accesses; in idiom 5, the same holds for the second task. Differs: the
//! paper has "immediate dependencies", and counts its window in instructions. With the definition above, the iRoots of
//! an execution depend only on its trace, so no reduction hides any.

use super::access::Places;
use intermezzo_engine::serial::{Deserialize, Serialize};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

/// The number of idioms.
pub(crate) const IDIOMS: usize = 6;

/// The last idiom that is searched for: no bug of the paper's study needed the sixth.
pub(crate) const SEARCHED: u8 = 5;

/// The maximum number of places of an iRoot.
const PLACES: usize = 4;

/// A pattern of one or two dependencies: its idiom, and its places in the order A, B, C, D, or A, B, D in idiom 2.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct IRoot {
    /// The idiom, 1 to 6.
    pub(crate) idiom: u8,
    /// The places. If the idiom has fewer, the last one is repeated.
    places: [u32; PLACES],
}

impl Hash for IRoot {
    /// Hashes two numbers at a time, because an execution looks up each of its iRoots.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [a, b, c, d] = self.places.map(u64::from);
        state.write_u64(a | b << 32);
        state.write_u64(c | d << 32);
        state.write_u8(self.idiom);
    }
}

impl IRoot {
    /// Returns an iRoot of this idiom with these places; `None` if it has another number of places.
    pub(crate) fn new(idiom: u8, places: &[u32]) -> Option<IRoot> {
        let count = match idiom {
            1 => 2,
            2 => 3,
            3..=6 => 4,
            _ => return None,
        };
        if places.len() != count {
            return None;
        }
        let mut all = [places[count - 1]; PLACES];
        all[..count].copy_from_slice(places);
        if idiom == 5 {
            // Its two tasks are interchangeable, so they are ordered by the numbers of their places.
            all = all.min([all[2], all[3], all[0], all[1]]);
        }
        Some(IRoot { idiom, places: all })
    }

    /// Returns its places, in order.
    pub(crate) fn places(&self) -> &[u32] {
        let count = match self.idiom {
            1 => 2,
            2 => 3,
            _ => 4,
        };
        &self.places[..count]
    }

    /// Returns its name, which is the same in every execution, process and build of one source.
    pub(crate) fn name(&self, places: &Places) -> String {
        let idiom = self.idiom;
        let [a, b, c, d] = self.places.map(|place| places.name(place));
        match idiom {
            1 => format!("{idiom}: {a} => {b}"),
            2 => format!("{idiom}: {a} => {b} => {c}"),
            // The numbers of places may have another order in another exploration, so the names determine the order.
            5 if (c, d) < (a, b) => format!("{idiom}: {c} => {d}, {a} => {b}"),
            _ => format!("{idiom}: {a} => {b}, {c} => {d}"),
        }
    }

    /// Returns its identity.
    pub(crate) fn id(&self, places: &Places) -> IRootId {
        IRootId(crc32fast::hash(self.name(places).as_bytes()))
    }
}

/// The identity of an iRoot, by which settings and commands refer to it: the CRC-32 of its name. It is the same in
/// every execution, process and build of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IRootId(pub u32);

impl fmt::Display for IRootId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

impl FromStr for IRootId {
    type Err = String;

    fn from_str(text: &str) -> Result<IRootId, String> {
        let digits = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = digits.then(|| u32::from_str_radix(text, 16).ok()).flatten();
        number.map(IRootId).ok_or_else(|| {
            format!(
                "`{text}` is not an iRoot: give the eight digits that `cargo intermezzo memo show` has, as in 1f0c93ab"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_shapes() {
        let mut places = Places::default();
        for name in ["a", "b", "c", "d"] {
            places.number(name.into());
        }
        let name = |idiom, of: &[u32]| IRoot::new(idiom, of).unwrap().name(&places);
        assert_eq!(name(1, &[1, 0]), "1: b => a");
        assert_eq!(name(2, &[0, 1, 0]), "2: a => b => a");
        assert_eq!(name(4, &[3, 1, 2, 0]), "4: d => b, c => a");
        for either in [[3, 1, 2, 0], [2, 0, 3, 1]] {
            assert_eq!(name(5, &either), "5: c => a, d => b");
        }
        for either in [[1, 3, 1, 2], [1, 2, 1, 3]] {
            assert_eq!(name(5, &either), "5: b => c, b => d");
        }
        let id = IRoot::new(4, &[3, 1, 2, 0]).unwrap().id(&places);
        assert_eq!(id, IRootId(crc32fast::hash(b"4: d => b, c => a")));
        for (idiom, of) in [(0, &[0][..]), (1, &[0]), (2, &[0; 4]), (4, &[0; 2]), (7, &[0; 4])] {
            assert_eq!(IRoot::new(idiom, of), None);
        }
    }

    /// Names and identities do not depend on the order in which places are seen first.
    #[test]
    fn numbers_of_places_do_not_show() {
        let mut orders = [["a", "b", "c", "d"], ["d", "c", "b", "a"], ["c", "a", "d", "b"]].map(|names| {
            let mut places = Places::default();
            for name in names {
                places.number(name.into());
            }
            places
        });
        for number in 0..4usize.pow(4) {
            let names = [1, 4, 16, 64].map(|part| ["a", "b", "c", "d"][number / part % 4]);
            for (idiom, count) in [(1, 2), (2, 3), (3, 4), (4, 4), (5, 4), (6, 4)] {
                let shown = orders.each_mut().map(|places| {
                    let of = names[..count].iter().map(|&name| places.number(name.into()));
                    let iroot = IRoot::new(idiom, &of.collect::<Vec<_>>()).unwrap();
                    (iroot.name(places), iroot.id(places))
                });
                assert!(shown.iter().all(|other| *other == shown[0]), "{shown:?}");
                let [a, b, c, d] = names;
                if idiom != 5 {
                    let of_names = match idiom {
                        1 => format!("1: {a} => {b}"),
                        2 => format!("2: {a} => {b} => {c}"),
                        _ => format!("{idiom}: {a} => {b}, {c} => {d}"),
                    };
                    assert_eq!(shown[0].0, of_names);
                }
            }
        }
    }
}
