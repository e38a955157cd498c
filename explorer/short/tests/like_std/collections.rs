//! Hash tables, and the wall clock.

use super::subject::collections::{BTreeMap, HashMap, HashSet, hash_map};
use super::subject::hash::{BuildHasher, RandomState};
use super::subject::time::{Duration, SystemTime, UNIX_EPOCH};

fn maps_are_maps() {
    let mut map = HashMap::from([(1, "one"), (2, "two")]);
    assert_eq!(map.insert(2, "zwei"), Some("two"));
    match map.entry(3) {
        hash_map::Entry::Vacant(vacant) => _ = vacant.insert("drei"),
        hash_map::Entry::Occupied(_) => unreachable!(),
    }
    map.extend([(4, "vier")]);
    assert_eq!((map.len(), map[&4], map.get(&5)), (4, "vier", None));
    for value in map.values_mut() {
        *value = &value[..2];
    }
    map.retain(|&key, _| key > 1);
    assert_eq!(map, [(4, "vi"), (3, "dr"), (2, "zw")].into());
    let sorted: BTreeMap<_, _> = map.clone().into_iter().collect();
    assert_eq!(sorted.into_keys().collect::<Vec<_>>(), [2, 3, 4]);
    let mut keys: Vec<i32> = map.iter().map(|(&key, _)| key).collect();
    keys.sort_unstable();
    assert_eq!(keys, [2, 3, 4]);
    assert_eq!(map.into_values().map(str::len).sum::<usize>(), 6);
    let mut none: HashMap<u8, u8> = HashMap::with_capacity(8);
    assert!(none.capacity() >= 8 && none.is_empty() && format!("{none:?}") == "{}");
    none.extend([(1, 2)]);
    none.values_mut().for_each(|value| *value += 1);
    for (key, value) in &none {
        assert_eq!((*key, *value), (1, 3));
    }
    none.clear();
    let mut pairs = HashMap::from([(1, 10), (2, 20), (3, 30)]);
    let taken: Vec<_> = HashMap::extract_if(&mut pairs, |&key, _| key == 2).collect();
    assert_eq!(taken, [(2, 20)]);
    if let [Some(one), Some(three), None] = HashMap::get_disjoint_mut(&mut pairs, [&1, &3, &2]) {
        std::mem::swap(one, three);
    }
    assert_eq!(pairs, [(1, 30), (3, 10)].into());
    let hashed: HashMap<u8, u8, RandomState> = HashMap::with_hasher(RandomState::new());
    assert_eq!(hashed, HashMap::new());
}

fn sets_are_sets() {
    let one: HashSet<u32> = (1..=3).collect();
    let other = HashSet::from([3, 4]);
    assert_eq!(&one & &other, [3].into());
    assert_eq!(&one | &other, (1..=4).collect());
    assert_eq!(&one - &other, [1, 2].into());
    assert_eq!(&one ^ &other, [1, 2, 4].into());
    assert!(!one.is_subset(&other) && one.union(&other).count() == 4);
    let mut more = one.clone();
    more.extend(&[7, 8]);
    assert_eq!((more.len(), more.take(&7), more.len()), (5, Some(7), 4));
    let odd: HashSet<_> = more.extract_if(|&n| n % 2 == 1).collect();
    assert_eq!((odd, more), ([1, 3].into(), [2, 8].into()));
    assert_eq!(other.into_iter().sum::<u32>(), 7);
    assert_eq!(format!("{:?}", HashSet::from(['a'])), "{'a'}");
}

fn equal_keys_hash_alike() {
    let keys = RandomState::new();
    assert_eq!(keys.hash_one("a"), keys.hash_one("a"));
    assert_ne!(keys.hash_one("a"), keys.hash_one("b"));
}

fn the_wall_clock_goes_on() {
    let now = SystemTime::now();
    let year = Duration::from_secs(365 * 24 * 3600);
    assert!(now.duration_since(UNIX_EPOCH).unwrap() > 50 * year);
    assert!(SystemTime::now() >= now && now.elapsed().is_ok());
    let mut later = now + year;
    assert_eq!(now.duration_since(later).unwrap_err().duration(), year);
    later -= year;
    assert_eq!(
        now.checked_add(year).and_then(|later| later.checked_sub(year)),
        Some(later)
    );
    assert_eq!(SystemTime::UNIX_EPOCH, UNIX_EPOCH);
}

cases! { maps_are_maps sets_are_sets equal_keys_hash_alike the_wall_clock_goes_on }
