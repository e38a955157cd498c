//! Accesses to plain memory that are schedule points: at places in the source that the settings name, and at places of
//! data races that a monitor has reported.
//!
//! Two accesses race in either order, but the program's behaviour may depend on the order. So the places of a race are
//! made schedule points, and the search restarts, as in CHESS (Musuvathi et al., OSDI 2008, section 4.4). An access
//! there is a visible operation on the variable of the cell, or on a variable for the block or the piece of memory. The
//! access itself is part of the step that it begins.
//!
//! Misses: an access to the same memory at another place is not an operation, so a reduction does not know of it until
//! it is found to race.

use super::Runtime;
use super::listen::Memory;
use crate::site::Site;
use crate::sites::Sites;
use intermezzo_sdk::{FindingKind, SiteId};
use std::collections::{BTreeSet, HashMap};

/// The accesses that are schedule points.
pub(super) struct DataPoints {
    /// The places that the settings name.
    given: Sites,
    /// The places of races, or of the execution that is replayed, by their hashes.
    places: BTreeSet<u64>,
    /// `true` if races add places.
    learns: bool,
    /// For each known place, `true` if it is a schedule point, and its hash.
    known: HashMap<Site, (bool, u64)>,
    /// Some of the places that are not schedule points, by address; bits of the address choose the slot. Nothing is at
    /// address 0.
    others: [usize; OTHERS],
    /// The schedule points that the execution reached.
    met: BTreeSet<u64>,
    /// The variables of memory that has none of its own, in the current execution.
    pub(super) vars: HashMap<Memory, u32>,
}

impl Default for DataPoints {
    fn default() -> DataPoints {
        DataPoints {
            given: Sites::default(),
            places: BTreeSet::new(),
            learns: false,
            known: HashMap::new(),
            others: [0; OTHERS],
            met: BTreeSet::new(),
            vars: HashMap::new(),
        }
    }
}

/// The number of slots for places that are not schedule points; a power of two.
const OTHERS: usize = 256;

/// Returns a number for a place that is the same in every process (FNV-1a).
fn hash(site: Site) -> u64 {
    let name = super::naming::site_name(site);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl DataPoints {
    /// Returns schedule points at the given places and, if it `learns`, at those of races.
    pub(super) fn new(given: Sites, learns: bool) -> DataPoints {
        DataPoints {
            given,
            learns,
            ..DataPoints::default()
        }
    }

    /// Returns schedule points at the places with these hashes, and nowhere else.
    pub(super) fn only(places: &[u64]) -> DataPoints {
        DataPoints {
            places: places.iter().copied().collect(),
            ..DataPoints::default()
        }
    }

    /// Resets the state for a new execution.
    pub(super) fn begin(&mut self) {
        self.met.clear();
        self.vars.clear();
    }

    /// Returns `true` if no place is a schedule point.
    pub(super) fn are_none(&self) -> bool {
        self.places.is_empty() && self.given.is_empty()
    }

    /// Returns `true` if an access at this place is a schedule point.
    #[inline]
    pub(super) fn is_point(&mut self, site: Site) -> bool {
        let address = site.word();
        let at = address / Site::APART % OTHERS;
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
            (places.contains(&hash) || given.hold(site.place()), hash)
        });
        if is_point {
            self.met.insert(hash);
        }
        is_point
    }

    /// Returns the schedule points that the execution reached.
    pub(super) fn met(&self) -> Vec<u64> {
        self.met.iter().copied().collect()
    }

    /// Returns the number of places of races.
    pub(super) fn learned(&self) -> usize {
        if self.learns { self.places.len() } else { 0 }
    }

    /// Notes that a race was found at a place. Returns `true` if that is new.
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
    /// Adds the places of the execution's races. Returns `true` if there is a new one, for which the search has to
    /// restart.
    #[cold]
    #[inline(never)]
    pub(super) fn learn_data_points(&mut self) -> bool {
        let Some(mut points) = self.constraints.data_points.take() else {
            return false;
        };
        let races = self.monitors.listeners.reported.iter();
        let races = races.filter(|reported| reported.report.kind == FindingKind::DataRace);
        let sites: Vec<SiteId> = races.flat_map(|reported| reported.report.sites.clone()).collect();
        let mut learned = false;
        for site in sites {
            learned |= self
                .monitors
                .listeners
                .site(site)
                .is_some_and(|site| points.learn(site));
        }
        self.constraints.data_points = Some(points);
        learned
    }
}
