//! The places of an execution's variables in memory, relative to each other.
//!
//! Elements of an array, and fields of one object, keep their distances in every execution, while addresses differ
//! between processes. So a layout has no addresses. A variable's place is where it was at its first use, even if the
//! object moves later.

use crate::serial::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The distance from which on two variables are assumed to be in different arrays or objects. Arrays with larger
/// elements are rare.
const DISTANCE_MAX: usize = 4096;

/// The place of a variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The number of the region that it is in. The distance between variables of different regions is not known.
    pub region: usize,
    /// Its distance from the first variable of its region, in bytes.
    pub offset: usize,
    /// Its size in bytes.
    pub size: usize,
}

/// The places of variables, by their identities.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Layout(BTreeMap<String, Place>);

/// All layouts are equal, because two executions are the same wherever their variables are in memory.
impl PartialEq for Layout {
    fn eq(&self, _: &Layout) -> bool {
        true
    }
}

impl Eq for Layout {}

impl Layout {
    /// Makes the layout of variables at these addresses, with their sizes.
    pub fn new(vars: impl IntoIterator<Item = (String, usize, usize)>) -> Layout {
        let vars: Vec<_> = vars.into_iter().collect();
        let mut addresses: Vec<usize> = vars.iter().map(|(_, address, _)| *address).collect();
        addresses.sort_unstable();
        // The first address of each region, in order.
        let mut firsts: Vec<usize> = Vec::new();
        let mut last = None;
        for address in addresses {
            if last.is_none_or(|last| address - last >= DISTANCE_MAX) {
                firsts.push(address);
            }
            last = Some(address);
        }
        // The order of regions in memory is accidental, so they are numbered in the order of their variables.
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        let placed = vars.into_iter().map(|(var, address, size)| {
            let first = firsts[firsts.partition_point(|first| *first <= address) - 1];
            let next = numbers.len();
            let region = *numbers.entry(first).or_insert(next);
            let offset = address - first;
            (var, Place { region, offset, size })
        });
        Layout(placed.collect())
    }

    /// Returns the place of a variable, if it is known.
    pub fn place(&self, var: &str) -> Option<Place> {
        self.0.get(var).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_known_within_a_region() {
        let vars = [
            ("b", 0x9000, 8),
            ("a", 0x1010, 16),
            ("c", 0x1000, 16),
            ("d", 0x9FFF, 1),
        ];
        let layout = Layout::new(vars.map(|(var, at, size)| (var.to_owned(), at, size)));
        let place = |var| {
            layout
                .place(var)
                .map(|place| (place.region, place.offset, place.size))
        };
        assert_eq!(place("c"), Some((1, 0, 16)));
        assert_eq!(place("a"), Some((1, 16, 16)));
        assert_eq!(place("b"), Some((0, 0, 8)));
        assert_eq!(place("d"), Some((0, 0xFFF, 1)));
        assert_eq!(place("e"), None);
    }
}
