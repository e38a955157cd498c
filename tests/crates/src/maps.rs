//! Maps, sets, slabs and caches.

use crate::both;

mod dashmap {
    use super::*;
    use ::dashmap::DashMap;

    #[test]
    fn entries() {
        let map = DashMap::with_shard_amount(2);
        let add = || *map.entry(1).or_insert(0) += 1;
        both(add, add);
        assert_eq!(*map.get(&1).unwrap(), 2);
    }

    #[test]
    fn insertion_and_removal() {
        let map = DashMap::with_shard_amount(2);
        let (_, removed) = both(|| map.insert(1, 1), || map.remove(&1));
        assert_eq!(map.contains_key(&1), removed.is_none());
    }
}

mod papaya {
    use super::*;
    use ::papaya::HashMap;

    #[test]
    fn updates() {
        let map = HashMap::new();
        let add = || _ = map.pin().update_or_insert(1, |n| n + 1, 1);
        both(add, add);
        assert_eq!(map.pin().get(&1), Some(&2));
    }
}

mod scc {
    use super::*;
    use ::scc::HashMap;

    #[test]
    fn insertions() {
        let map = HashMap::new();
        let (one, two) = both(|| map.insert(1, 1).is_ok(), || map.insert(1, 2).is_ok());
        assert!(one ^ two);
    }
}

mod crossbeam_skiplist {
    use super::*;
    use ::crossbeam_skiplist::SkipMap;

    #[test]
    fn insertion_and_removal() {
        let map = SkipMap::new();
        map.insert(1, 1);
        let (removed, ()) = both(|| map.remove(&1).is_some(), || _ = map.insert(2, 2));
        assert!(removed);
        assert!(map.contains_key(&2) && !map.contains_key(&1));
    }
}

mod sharded_slab {
    use super::*;
    use ::sharded_slab::Slab;

    #[test]
    fn insertion_and_removal() {
        let slab = Slab::new();
        let key = slab.insert(1).unwrap();
        let (seen, removed) = both(|| slab.get(key).map(|value| *value), || slab.remove(key));
        assert!(removed);
        assert!(seen.is_none_or(|value| value == 1));
        assert!(slab.get(key).is_none());
    }
}

mod moka {
    use super::*;
    use ::moka::sync::Cache;

    #[test]
    fn a_value_is_made_once() {
        let cache = Cache::new(10);
        let (one, two) = both(|| cache.get_with(1, || 1), || cache.get_with(1, || 2));
        assert_eq!(one, two);
    }
}

mod quick_cache {
    use super::*;
    use ::quick_cache::sync::Cache;

    #[test]
    fn a_value_is_made_once() {
        let cache = Cache::new(10);
        let make = |value| cache.get_or_insert_with(&1, || Ok::<_, ()>(value));
        let (one, two) = both(|| make(1), || make(2));
        assert_eq!(one, two);
    }
}

mod left_right {
    use super::*;
    use ::left_right::{Absorb, ReadHandle, WriteHandle};

    #[derive(Default)]
    struct Sum(u32);
    struct Add(u32);

    impl Absorb<Add> for Sum {
        fn absorb_first(&mut self, add: &mut Add, _: &Sum) {
            self.0 += add.0;
        }

        fn sync_with(&mut self, first: &Sum) {
            self.0 = first.0;
        }
    }

    #[test]
    fn a_reader_sees_what_was_published() {
        let (mut writer, reader): (WriteHandle<Sum, Add>, ReadHandle<Sum>) = ::left_right::new();
        let ((), seen) = both(
            || {
                writer.append(Add(1));
                writer.publish();
            },
            move || reader.enter().map_or(0, |sum| sum.0),
        );
        assert!(seen <= 1);
    }
}

mod flurry {
    use super::*;
    use ::flurry::HashMap;

    #[test]
    fn insertions() {
        let map = HashMap::new();
        let insert = |key| _ = map.pin().insert(key, key);
        both(|| insert(1), || insert(2));
        assert_eq!((map.pin().get(&1), map.pin().get(&2)), (Some(&1), Some(&2)));
    }
}

mod evmap {
    use super::*;

    #[test]
    fn a_reader_sees_what_was_published() {
        let (mut writer, reader) = ::evmap::new();
        let publish = || {
            writer.insert(1, 7);
            writer.publish();
        };
        let (seen, ()) = both(move || reader.get_one(&1).map(|value| *value), publish);
        assert!(seen.is_none() || seen == Some(7));
    }
}

mod lockfree {
    use super::*;
    use ::lockfree::map::Map;

    #[test]
    fn insertion_and_removal() {
        let map = Map::new();
        let insert_and_remove = || {
            map.insert(1, 1);
            map.remove(&1);
        };
        both(insert_and_remove, || _ = map.insert(1, 2));
        assert!(map.get(&1).is_none_or(|entry| *entry.val() == 2));
    }
}
