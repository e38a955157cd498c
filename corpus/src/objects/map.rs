//! A map under a lock for many readers: `put` and `load_or_store` in one section, or in two.

use super::{Against, Effort, Object, models, refuted};
use intermezzo::refinement::{RefinementReport, fresh, one_of, refine};
use intermezzo::sync::RwLock;
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Correct,
    /// `put` reads the previous value, releases the lock, and stores.
    Put,
    /// `load_or_store` checks, releases the lock, and stores if there was nothing.
    LoadOrStore,
}

struct Map {
    values: RwLock<BTreeMap<u8, u8>>,
    version: Version,
}

impl Map {
    fn get(&self, key: u8) -> Option<u8> {
        self.values.read().unwrap().get(&key).copied()
    }

    /// Stores a value. Returns the value before.
    fn put(&self, key: u8, value: u8) -> Option<u8> {
        if self.version != Version::Put {
            return self.values.write().unwrap().insert(key, value);
        }
        let before = self.get(key);
        self.values.write().unwrap().insert(key, value);
        before
    }

    /// Returns the value that is there now, and `true` if it was there before.
    fn load_or_store(&self, key: u8, value: u8) -> (u8, bool) {
        if let Some(there) = self.get(key) {
            return (there, true);
        }
        let mut values = self.values.write().unwrap();
        match values.get(&key) {
            Some(&there) if self.version != Version::LoadOrStore => (there, true),
            _ => {
                values.insert(key, value);
                (value, false)
            }
        }
    }
}

fn run(version: Version, against: Against, effort: Effort) -> RefinementReport {
    let pairs = || (one_of([1u8, 2]), fresh::<u8>());
    let test = refine(move || Map {
        values: RwLock::default(),
        version,
    })
    .op("get", one_of([1u8, 2]), |map: &Map, key| map.get(key))
    .op("put", pairs(), |map, (key, value)| map.put(key, value))
    .op("load_or_store", pairs(), |map, (key, value)| {
        map.load_or_store(key, value)
    })
    .threads(2..=2);
    let test = effort.of(60, test);
    match against {
        Against::Itself => test.run(),
        Against::Model => models::map(test)
            .means("load_or_store", |map, &(key, value): &(u8, u8)| {
                match map.get(&key) {
                    Some(&there) => (there, true),
                    None => {
                        map.insert(key, value);
                        (value, false)
                    }
                }
            })
            .run(),
    }
}

/// Two tasks each say that there was nothing before.
pub(super) const PUT: Object = Object {
    name: "map_put",
    about: "a map whose put reads the previous value in a separate section",
    outcomes: &refuted(2),
    run: |against, effort| run(Version::Put, against, effort),
};

/// Two tasks each say that theirs was stored.
pub(super) const LOAD_OR_STORE: Object = Object {
    name: "map_load_or_store",
    about: "a map whose load_or_store checks and stores in two sections",
    outcomes: &refuted(2),
    run: |against, effort| run(Version::LoadOrStore, against, effort),
};

/// In one section, or with a second check.
pub(super) const CORRECT: Object = Object {
    name: "map_correct",
    about: "a map whose load_or_store checks again before it stores",
    outcomes: super::CORRECT,
    run: |against, effort| run(Version::Correct, against, effort),
};
