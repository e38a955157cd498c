//! Numbers of places in the source, for monitors.

use crate::site::Site;
use hashbrown::HashMap;
use intermezzo_sdk::SiteId;

/// The numbers of all places that were reached. A place keeps its number in later executions.
#[derive(Default)]
pub(super) struct SiteNumbers {
    by_place: HashMap<Site, SiteId>,
    /// The numbers by address, which is faster: one place may have several addresses.
    by_address: HashMap<usize, SiteId>,
    recent: Recent,
    list: Vec<Site>,
}

/// The number of places that are found at once; a power of two.
const RECENT: usize = 64;

/// Some of the addresses; the bits of an address choose its slot. Few are in use at a time, and each recurs often.
struct Recent([(usize, SiteId); RECENT]);

impl Default for Recent {
    fn default() -> Recent {
        // Nothing is at address 0.
        Recent([(0, SiteId(0)); RECENT])
    }
}

impl SiteNumbers {
    /// Returns the number of a place.
    #[inline]
    pub(super) fn number(&mut self, site: Site) -> SiteId {
        let address = site.word();
        let at = address / Site::APART % RECENT;
        if self.recent.0[at].0 != address {
            self.recent.0[at] = (address, self.look_up(site, address));
        }
        self.recent.0[at].1
    }

    #[inline(never)]
    fn look_up(&mut self, site: Site, address: usize) -> SiteId {
        if let Some(&known) = self.by_address.get(&address) {
            return known;
        }
        let number = *self.by_place.entry(site).or_insert_with(|| {
            self.list.push(site);
            SiteId(self.list.len() as u32 - 1)
        });
        self.by_address.insert(address, number);
        number
    }

    /// Returns the place with a number.
    pub(super) fn get(&self, number: SiteId) -> Option<Site> {
        self.list.get(number.0 as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;

    /// More places than are found at once, in one array, so that they displace each other.
    #[test]
    fn a_place_keeps_its_number() {
        let here = *Location::caller();
        let other = *Location::caller();
        let places: &'static [Location<'static>] = Box::leak(
            (0..3 * RECENT)
                .map(|n| if n % 2 == 0 { here } else { other })
                .collect::<Vec<_>>()
                .into_boxed_slice(),
        );
        let mut numbers = SiteNumbers::default();
        for _ in 0..2 {
            for place in places {
                let number = numbers.number(place.into());
                assert_eq!(numbers.get(number), Some(place.into()));
                assert_eq!(number, SiteId(u32::from(*place != here)));
            }
        }
        assert_eq!(numbers.get(SiteId(2)), None);
    }
}
