//! Maps and sets, with two keys, so that tasks meet at one.

use crossbeam_skiplist::SkipMap;
use dashmap::DashMap;
use linearizability::{Refinement, Row, one_of, refine, scenarios};
use std::collections::BTreeMap;

type Model = BTreeMap<u8, u8>;

/// The entries that are put in.
const ENTRIES: [(u8, u8); 4] = [(1, 1), (1, 2), (2, 1), (2, 2)];
const KEYS: [u8; 2] = [1, 2];

#[test]
fn dash_map() {
    let subject = || {
        let map = refine(|| DashMap::<u8, u8>::with_shard_amount(2))
            .op("insert", one_of(ENTRIES), |map, (key, value)| map.insert(key, value))
            .op("remove", one_of(KEYS), |map, key| map.remove(&key).map(|(_, value)| value))
            .op("get", one_of(KEYS), |map, key| map.get(&key).map(|value| *value));
        scenarios(map, 60)
    };
    let model = subject()
        .spec(Model::new)
        .means("insert", |model: &mut Model, (key, value): &(u8, u8)| model.insert(*key, *value))
        .means("remove", |model: &mut Model, key: &u8| model.remove(key))
        .means("get", |model: &mut Model, key: &u8| model.get(key).copied());
    Row::new("`DashMap`", "dashmap", "insert, remove, get")
        .itself(subject().run())
        .model(model.run())
        .linearizable();
}

fn dash_map_with_len() -> Refinement<DashMap<u8, u8>> {
    let map = refine(|| DashMap::<u8, u8>::with_shard_amount(2))
        .op("insert", one_of(ENTRIES), |map, (key, value)| map.insert(key, value))
        .op("remove", one_of(KEYS), |map, key| map.remove(&key).map(|(_, value)| value))
        .op("len", (), |map, ()| map.len());
    scenarios(map, 60)
}

#[test]
fn dash_map_len() {
    let model = dash_map_with_len()
        .spec(Model::new)
        .means("insert", |model: &mut Model, (key, value): &(u8, u8)| model.insert(*key, *value))
        .means("remove", |model: &mut Model, key: &u8| model.remove(key))
        .means("len", |model: &mut Model, ()| model.len());
    Row::new("`DashMap`, counted", "dashmap", "insert, remove, len")
        .itself(dash_map_with_len().run())
        .model(model.run())
        .linearizable();
}

#[test]
fn dash_map_iterated() {
    let subject = || {
        let map = refine(|| DashMap::<u8, u8>::with_shard_amount(2))
            .op("insert", one_of(ENTRIES), |map, (key, value)| map.insert(key, value))
            .op("remove", one_of(KEYS), |map, key| map.remove(&key).map(|(_, value)| value))
            .op("iter", (), |map, ()| {
                let entries = map.iter().map(|entry| (*entry.key(), *entry.value()));
                entries.collect::<BTreeMap<u8, u8>>()
            });
        scenarios(map, 60)
    };
    let model = subject()
        .spec(Model::new)
        .means("insert", |model: &mut Model, (key, value): &(u8, u8)| model.insert(*key, *value))
        .means("remove", |model: &mut Model, key: &u8| model.remove(key))
        .means("iter", |model: &mut Model, ()| model.clone());
    Row::new("`DashMap`, iterated", "dashmap", "insert, remove, iter")
        .itself(subject().run())
        .model(model.run())
        .linearizable();
}

#[test]
fn papaya_map() {
    let subject = || {
        let map = refine(papaya::HashMap::<u8, u8>::new)
            .op("insert", one_of(ENTRIES), |map, (key, value)| map.pin().insert(key, value).copied())
            .op("remove", one_of(KEYS), |map, key| map.pin().remove(&key).copied())
            .op("get", one_of(KEYS), |map, key| map.pin().get(&key).copied());
        scenarios(map, 40)
    };
    let model = subject()
        .spec(Model::new)
        .means("insert", |model: &mut Model, (key, value): &(u8, u8)| model.insert(*key, *value))
        .means("remove", |model: &mut Model, key: &u8| model.remove(key))
        .means("get", |model: &mut Model, key: &u8| model.get(key).copied());
    Row::new("`papaya::HashMap`", "papaya", "insert, remove, get")
        .itself(subject().run())
        .model(model.run())
        .linearizable();
}

#[test]
fn papaya_len() {
    let subject = || {
        let map = refine(papaya::HashMap::<u8, u8>::new)
            .op("insert", one_of(ENTRIES), |map, (key, value)| map.pin().insert(key, value).copied())
            .op("remove", one_of(KEYS), |map, key| map.pin().remove(&key).copied())
            .op("len", (), |map, ()| map.pin().len());
        scenarios(map, 40)
    };
    let model = subject()
        .spec(Model::new)
        .means("insert", |model: &mut Model, (key, value): &(u8, u8)| model.insert(*key, *value))
        .means("remove", |model: &mut Model, key: &u8| model.remove(key))
        .means("len", |model: &mut Model, ()| model.len());
    Row::new("`papaya::HashMap`, counted", "papaya", "insert, remove, len")
        .itself(subject().run())
        .model(model.run())
        .linearizable();
}

#[test]
fn scc_map() {
    let subject = || {
        let map = refine(scc::HashMap::<u8, u8>::new)
            .op("upsert", one_of(ENTRIES), |map, (key, value)| map.upsert(key, value))
            .op("remove", one_of(KEYS), |map, key| map.remove(&key).map(|(_, value)| value))
            .op("read", one_of(KEYS), |map, key| map.read(&key, |_, value| *value));
        scenarios(map, 30)
    };
    let model = subject()
        .spec(Model::new)
        .means("upsert", |model: &mut Model, (key, value): &(u8, u8)| model.insert(*key, *value))
        .means("remove", |model: &mut Model, key: &u8| model.remove(key))
        .means("read", |model: &mut Model, key: &u8| model.get(key).copied());
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
            .op("remove", one_of(KEYS), |map, key| map.remove(&key).map(|entry| *entry.value()))
            .op("get", one_of(KEYS), |map, key| map.get(&key).map(|entry| *entry.value()));
        scenarios(map, 30)
    };
    let model = subject()
        .spec(Model::new)
        .means("insert", |model: &mut Model, (key, value): &(u8, u8)| {
            model.insert(*key, *value);
        })
        .means("remove", |model: &mut Model, key: &u8| model.remove(key))
        .means("get", |model: &mut Model, key: &u8| model.get(key).copied());
    Row::new("`SkipMap`", "crossbeam-skiplist", "insert, remove, get")
        .itself(subject().run())
        .model(model.run())
        .linearizable();
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
        scenarios(map, 30)
    };
    let model = subject()
        .spec(Model::new)
        .means("insert", |model: &mut Model, key: &u8| {
            model.insert(*key, 0);
        })
        .means("remove", |model: &mut Model, key: &u8| model.remove(key).is_some())
        .means("contains_key", |model: &mut Model, key: &u8| model.contains_key(key))
        .means("len", |model: &mut Model, ()| model.len());
    Row::new("`SkipMap`, counted", "crossbeam-skiplist", "insert, remove, contains_key, len")
        .itself(subject().run())
        .model(model.run())
        .linearizable();
}
