//! Maps and sets, with two keys, so that tasks use the same key.

use crossbeam_skiplist::SkipMap;
use dashmap::DashMap;
use linearizability::{Refinement, Row, one_of, refine, scenarios};
use std::collections::BTreeMap;

type Model = BTreeMap<u8, u8>;

/// The entries that are inserted.
const ENTRIES: [(u8, u8); 4] = [(1, 1), (1, 2), (2, 1), (2, 2)];
const KEYS: [u8; 2] = [1, 2];

// The specification of the operations of most maps.

fn insert(model: &mut Model, (key, value): &(u8, u8)) -> Option<u8> {
    model.insert(*key, *value)
}

/// The specification of `insert` for maps that do not return the previous value.
fn put(model: &mut Model, entry: &(u8, u8)) {
    insert(model, entry);
}

fn remove(model: &mut Model, key: &u8) -> Option<u8> {
    model.remove(key)
}

fn get(model: &mut Model, key: &u8) -> Option<u8> {
    model.get(key).copied()
}

fn len(model: &mut Model, (): &()) -> usize {
    model.len()
}

#[test]
fn dash_map() {
    let subject = || {
        let map = refine(|| DashMap::<u8, u8>::with_shard_amount(2))
            .op("insert", one_of(ENTRIES), |map, (key, value)| {
                map.insert(key, value)
            })
            .op("remove", one_of(KEYS), |map, key| {
                map.remove(&key).map(|(_, value)| value)
            })
            .op("get", one_of(KEYS), |map, key| map.get(&key).map(|value| *value));
        scenarios(map, 60)
    };
    let model = subject()
        .spec(Model::new)
        .means("insert", insert)
        .means("remove", remove)
        .means("get", get);
    Row::new("`DashMap`", "dashmap", "insert, remove, get")
        .itself(subject().run())
        .model(model.run())
        .linearizable();
}

/// Tries first to add a key and to remove another one, during an operation that looks at all: for one of these pairs
/// they are in different shards.
fn across_shards(map: Refinement<DashMap<u8, u8>>, all: &str) -> Refinement<DashMap<u8, u8>> {
    let keys = || 1..=8u8;
    let pairs = keys().flat_map(|added| keys().map(move |removed| (added, removed)));
    pairs
        .filter(|(added, removed)| added != removed)
        .fold(map, |map, (added, removed)| {
            map.pin(|s| {
                s.init("insert", (removed, 1u8))
                    .task(|t| t.op(all, ()))
                    .task(|t| t.op("insert", (added, 1u8)).op("remove", removed))
            })
        })
}

fn dash_map_with_len() -> Refinement<DashMap<u8, u8>> {
    let map = refine(|| DashMap::<u8, u8>::with_shard_amount(2))
        .op("insert", one_of(ENTRIES), |map, (key, value)| {
            map.insert(key, value)
        })
        .op("remove", one_of(KEYS), |map, key| {
            map.remove(&key).map(|(_, value)| value)
        })
        .op("len", (), |map, ()| map.len());
    scenarios(across_shards(map, "len"), 8).explorer(|explorer| explorer.preemptions(1))
}

#[test]
fn dash_map_len() {
    let model = dash_map_with_len()
        .spec(Model::new)
        .means("insert", insert)
        .means("remove", remove)
        .means("len", len);
    Row::new("`DashMap`, counted", "dashmap", "insert, remove, len")
        .itself(dash_map_with_len().run())
        .model(model.run())
        .not_linearizable(
            &["insert((7, 1)); { len() } ‖ { insert((1, 1)); remove(7) }"],
            "`len` locks one shard after the other, and adds up their entries.\n\
             It misses a key that is inserted into a shard that it has left, and a key that is removed from a shard that it has not reached.\n\
             The documentation of `len` does not say so.",
        );
}

#[test]
fn dash_map_iterated() {
    let subject = || {
        let map = refine(|| DashMap::<u8, u8>::with_shard_amount(4))
            .op("insert", one_of(ENTRIES), |map, (key, value)| {
                map.insert(key, value)
            })
            .op("remove", one_of(KEYS), |map, key| {
                map.remove(&key).map(|(_, value)| value)
            })
            .op("iter", (), |map, ()| {
                let entries = map.iter().map(|entry| (*entry.key(), *entry.value()));
                entries.collect::<BTreeMap<u8, u8>>()
            });
        scenarios(across_shards(map, "iter"), 8).explorer(|explorer| explorer.preemptions(1))
    };
    let model = subject()
        .spec(Model::new)
        .means("insert", insert)
        .means("remove", remove)
        .means("iter", |model: &mut Model, ()| model.clone());
    Row::new("`DashMap`, iterated", "dashmap", "insert, remove, iter")
        .itself(subject().run())
        .model(model.run())
        .not_linearizable(
            &["insert((7, 1)); { iter() } ‖ { insert((1, 1)); remove(7) }"],
            "`iter` keeps the lock of a shard only until it has the next one.\n\
             So it sees the shards at different times: here it finds nothing, although one of the keys was always there.\n\
             With two shards it holds both for a moment, and no error is found; the map has four here.\n\
             The documentation of `iter` does not say so.",
        );
}

#[test]
fn papaya_map() {
    let subject = || {
        let map = refine(papaya::HashMap::<u8, u8>::new)
            .op("insert", one_of(ENTRIES), |map, (key, value)| {
                map.pin().insert(key, value).copied()
            })
            .op("remove", one_of(KEYS), |map, key| map.pin().remove(&key).copied())
            .op("get", one_of(KEYS), |map, key| map.pin().get(&key).copied());
        scenarios(map, 40)
    };
    let model = subject()
        .spec(Model::new)
        .means("insert", insert)
        .means("remove", remove)
        .means("get", get);
    Row::new("`papaya::HashMap`", "papaya", "insert, remove, get")
        .itself(subject().run())
        .model(model.run())
        .linearizable();
}

#[test]
fn papaya_len() {
    let subject = || {
        let map = refine(papaya::HashMap::<u8, u8>::new)
            .op("insert", one_of(ENTRIES), |map, (key, value)| {
                map.pin().insert(key, value).copied()
            })
            .op("remove", one_of(KEYS), |map, key| map.pin().remove(&key).copied())
            .op("len", (), |map, ()| map.pin().len());
        let pinned = map.pin(|s| {
            s.task(|t| t.op("insert", (1u8, 1u8)))
                .task(|t| t.op("insert", (1u8, 2u8)).op("len", ()))
        });
        scenarios(pinned, 30)
    };
    let model = subject()
        .spec(Model::new)
        .means("insert", insert)
        .means("remove", remove)
        .means("len", len);
    Row::new("`papaya::HashMap`, counted", "papaya", "insert, remove, len")
        .itself(subject().run())
        .model(model.run())
        .not_linearizable(
            &[
                "{ insert((1, 1)) } ‖ { insert((1, 1)); len() }",
                "{ insert((1, 1)) } ‖ { insert((1, 2)); len() }",
            ],
            "An `insert` first inserts the entry, and then counts it.\n\
             In between, another task finds the entry, and `len` does not count it.\n\
             The documentation of `len` says only that it returns the number of entries.",
        );
}

#[test]
fn scc_map() {
    let subject = || {
        let map = refine(scc::HashMap::<u8, u8>::new)
            .op("upsert", one_of(ENTRIES), |map, (key, value)| {
                map.upsert(key, value)
            })
            .op("remove", one_of(KEYS), |map, key| {
                map.remove(&key).map(|(_, value)| value)
            })
            .op("read", one_of(KEYS), |map, key| map.read(&key, |_, value| *value));
        scenarios(map, 8)
    };
    let model = subject()
        .spec(Model::new)
        .means("upsert", insert)
        .means("remove", remove)
        .means("read", get);
    Row::new("`scc::HashMap`", "scc", "upsert, remove, read")
        .itself(subject().run())
        .model(model.run())
        .linearizable();
}

#[test]
fn skip_map() {
    let subject = || {
        let map = refine(SkipMap::<u8, u8>::new)
            .op("insert", one_of(ENTRIES), |map, (key, value)| {
                map.insert(key, value);
            })
            .op("remove", one_of(KEYS), |map, key| {
                map.remove(&key).map(|entry| *entry.value())
            })
            .op("get", one_of(KEYS), |map, key| {
                map.get(&key).map(|entry| *entry.value())
            });
        let pinned = map.pin(|s| {
            s.init("insert", (1u8, 1u8))
                .task(|t| t.op("insert", (1u8, 2u8)))
                .task(|t| t.op("get", 1u8))
        });
        scenarios(pinned, 10).explorer(|explorer| explorer.preemptions(1))
    };
    let model = subject()
        .spec(Model::new)
        .means("insert", put)
        .means("remove", remove)
        .means("get", get);
    Row::new("`SkipMap`", "crossbeam-skiplist", "insert, remove, get")
        .itself(subject().run())
        .model(model.run())
        .not_linearizable(
            &["insert((1, 1)); { insert((1, 1)) } ‖ { get(1) }", "insert((1, 1)); { insert((1, 2)) } ‖ { get(1) }"],
            "An `insert` of a key that exists marks the old entry as removed, and then links the new one.\n\
             In between, a `get` finds neither, although the key was never removed.\n\
             The documentation of `insert` says so: \"If there is an existing entry with this key, it will be removed before inserting the new one.\"",
        );
}

#[test]
fn skip_map_len() {
    let subject = || {
        let map = refine(SkipMap::<u8, u8>::new)
            .op("insert", one_of(KEYS), |map, key| {
                map.insert(key, 0);
            })
            .op("remove", one_of(KEYS), |map, key| map.remove(&key).is_some())
            .op("contains_key", one_of(KEYS), |map, key| map.contains_key(&key))
            .op("len", (), |map, ()| map.len());
        let pinned = map.pin(|s| {
            s.init("insert", 1u8)
                .task(|t| t.op("insert", 1u8))
                .task(|t| t.op("len", ()))
        });
        scenarios(pinned, 10)
    };
    let model = subject()
        .spec(Model::new)
        .means("insert", |model: &mut Model, key: &u8| {
            model.insert(*key, 0);
        })
        .means("remove", |model: &mut Model, key: &u8| {
            model.remove(key).is_some()
        })
        .means("contains_key", |model: &mut Model, key: &u8| {
            model.contains_key(key)
        })
        .means("len", len);
    Row::new("`SkipMap`, counted", "crossbeam-skiplist", "insert, remove, contains_key, len")
        .itself(subject().run())
        .model(model.run())
        .not_linearizable(
            &["insert(1); { insert(1) } ‖ { len() }"],
            "The number of entries goes down before it goes up again.\n\
             Its documentation says so: \"If the map is being concurrently modified, consider the returned number just an approximation without any guarantees.\"",
        );
}

#[test]
fn quick_cache() {
    let subject = || {
        let cache = refine(|| quick_cache::sync::Cache::<u8, u8>::new(100))
            .op("insert", one_of(ENTRIES), |cache, (key, value)| {
                cache.insert(key, value);
            })
            .op("remove", one_of(KEYS), |cache, key| {
                cache.remove(&key).map(|(_, value)| value)
            })
            .op("get", one_of(KEYS), |cache, key| cache.get(&key))
            .op("len", (), |cache, ()| cache.len());
        scenarios(cache, 40)
    };
    let model = subject()
        .spec(Model::new)
        .means("insert", put)
        .means("remove", remove)
        .means("get", get)
        .means("len", len);
    Row::new("`quick_cache::sync::Cache` of 100", "quick_cache", "insert, remove, get, len")
        .itself(subject().run())
        .model(model.run())
        .linearizable();
}

#[test]
fn moka() {
    let subject = || {
        let cache = refine(|| moka::sync::Cache::<u8, u8>::new(100))
            .op("insert", one_of(ENTRIES), |cache, (key, value)| {
                cache.insert(key, value);
            })
            .op("remove", one_of(KEYS), |cache, key| cache.remove(&key))
            .op("get", one_of(KEYS), |cache, key| cache.get(&key));
        scenarios(cache, 20)
    };
    let model = subject()
        .spec(Model::new)
        .means("insert", put)
        .means("remove", remove)
        .means("get", get);
    Row::new("`moka::sync::Cache` of 100", "moka", "insert, remove, get")
        .itself(subject().run())
        .model(model.run())
        .linearizable();
}
