//! A set in shards, each under a lock: `is_empty` needs all locks at once.
//!
//! If it checks one shard after the other, a set that is never empty may seem empty.

use super::{Against, Effort, Object, models, refuted};
use intermezzo::refinement::{RefinementReport, one_of, refine};
use intermezzo::sync::{Mutex, MutexGuard};
use std::collections::BTreeSet;

/// The initial value: in the second shard.
const AT_FIRST: u8 = 1;

struct Set {
    shards: [Mutex<BTreeSet<u8>>; 2],
    one_by_one: bool,
}

impl Set {
    fn shard(&self, key: u8) -> MutexGuard<'_, BTreeSet<u8>> {
        self.shards[usize::from(key) % self.shards.len()].lock().unwrap()
    }

    fn is_empty(&self) -> bool {
        if self.one_by_one {
            return self.shards.iter().all(|shard| shard.lock().unwrap().is_empty());
        }
        let all = self.shards.each_ref().map(|shard| shard.lock().unwrap());
        all.iter().all(|shard| shard.is_empty())
    }
}

fn run(one_by_one: bool, against: Against, effort: Effort) -> RefinementReport {
    let keys = || one_of([1u8, 2]);
    let test = refine(move || Set {
        shards: [BTreeSet::new(), BTreeSet::from([AT_FIRST])].map(Mutex::new),
        one_by_one,
    })
    .op("add", keys(), |set: &Set, key| set.shard(key).insert(key))
    .op("remove", keys(), |set, key| set.shard(key).remove(&key))
    .op("is_empty", (), |set, ()| set.is_empty())
    .threads(2..=2)
    .init(0..=0)
    .post(0..=0);
    let test = effort.of(400, test);
    match against {
        Against::Itself => test.run(),
        Against::Model => models::set(test, &[AT_FIRST])
            .means("is_empty", |set, (): &()| set.is_empty())
            .run(),
    }
}

/// The value in the second shard is moved to the first.
pub(super) const ONE_BY_ONE: Object = Object {
    name: "shards_one_by_one",
    about: "a set in shards that checks one shard after the other to decide whether it is empty",
    outcomes: &refuted(3),
    run: |against, effort| run(true, against, effort),
};

/// All locks at once.
pub(super) const CORRECT: Object = Object {
    name: "shards_correct",
    about: "a set in shards that locks all of them to decide whether it is empty",
    outcomes: super::CORRECT,
    run: |against, effort| run(false, against, effort),
};
