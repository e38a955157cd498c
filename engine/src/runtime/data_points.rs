//! Accesses to plain memory that are schedule points: at places in the source that the settings name, and at those of
//! data races that a monitor has reported.
//!
//! Whatever the order of two accesses that race, there is a race; what becomes of the program may depend on it. So the
//! places of a race are made schedule points, and the search starts anew (CHESS does so, Musuvathi et al., OSDI 2008,
//! section 4.4). An access there is a visible operation on the variable of the cell, or on one for the block or the
//! piece of memory; the access itself is part of the step that it begins.
//!
//! Misses: an access at another place to the same memory is no operation, so that a reduction knows nothing of it, until
//! it is found to race.

use super::Runtime;
use super::listen::Memory;
use crate::record::Site;
use crate::sites::Sites;
use intermezzo_sdk::{FindingKind, SiteId};
use std::collections::{BTreeSet, HashMap};

/// Which accesses are schedule points.
#[derive(Default)]
pub(super) struct DataPoints {
    /// Places that the settings name.
    given: Sites,
    /// Places of races, or of the execution that is replayed, by their hashes.
    places: BTreeSet<u64>,
    /// Whether races add to them.
    learns: bool,
    /// Whether a place is one, and its hash.
    known: HashMap<Site, (bool, u64)>,
    /// Some of the places that are none, by address: each where its bits say. Nothing is at address 0.
    others: [usize; OTHERS],
    /// Those that the execution came to.
    met: BTreeSet<u64>,
    /// Variables of memory that has none of its own, in the execution that runs.
    pub(super) vars: HashMap<Memory, u32>,
}

/// Number of places that are known at once to be no schedule points; a power of two.
const OTHERS: usize = 32;

/// A place as a number that is the same in each process (FNV-1a).
fn hash(site: Site) -> u64 {
    let name = super::naming::site_name(site);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl DataPoints {
    /// Schedule points at the places given; and at those of races, if it `learns`.
    pub(super) fn new(given: Sites, learns: bool) -> DataPoints {
        DataPoints {
            given,
            learns,
            ..DataPoints::default()
        }
    }

    /// Schedule points at places of these hashes, and nowhere else.
    pub(super) fn only(places: &[u64]) -> DataPoints {
        DataPoints {
            places: places.iter().copied().collect(),
            ..DataPoints::default()
        }
    }

    /// An execution begins.
    pub(super) fn begin(&mut self) {
        self.met.clear();
        self.vars.clear();
    }

    /// Whether an access at this place is a schedule point.
    #[inline]
    pub(super) fn is_point(&mut self, site: Site) -> bool {
        let address = std::ptr::from_ref(site).addr();
        let at = address / align_of_val(site) % OTHERS;
        if self.others[at] == address {
            return false;
        }
        let is_point = self.look_up(site);
        if !is_point {
            self.others[at] = address;
        }
        is_point
    }

    #[inline(never)]
    fn look_up(&mut self, site: Site) -> bool {
        let DataPoints { given, places, .. } = self;
        let (is_point, hash) = *self.known.entry(site).or_insert_with(|| {
            let hash = hash(site);
            (places.contains(&hash) || given.hold(site), hash)
        });
        if is_point {
            self.met.insert(hash);
        }
        is_point
    }

    /// The places that the execution came to.
    pub(super) fn met(&self) -> Vec<u64> {
        self.met.iter().copied().collect()
    }

    /// How many places of races there are.
    pub(super) fn learned(&self) -> usize {
        if self.learns { self.places.len() } else { 0 }
    }

    /// A race was found there: whether that is new.
    fn learn(&mut self, site: Site) -> bool {
        let new = self.learns && self.places.insert(hash(site));
        if new {
            self.known.clear();
            self.others = [0; OTHERS];
        }
        new
    }
}

impl Runtime {
    /// The execution is over: takes up the places of its races. Whether there is a new one, for which the search has to start
    /// anew.
    #[cold]
    #[inline(never)]
    pub(super) fn learn_data_points(&mut self) -> bool {
        let Some(mut points) = self.data_points.take() else {
            return false;
        };
        let races = self.listeners.reported.iter();
        let races = races.filter(|reported| reported.report.kind == FindingKind::DataRace);
        let sites: Vec<SiteId> = races.flat_map(|reported| reported.report.sites.clone()).collect();
        let mut learned = false;
        for site in sites {
            learned |= self.listeners.site(site).is_some_and(|site| points.learn(site));
        }
        self.data_points = Some(points);
        learned
    }
}
