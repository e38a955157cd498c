//! Bytes: accesses that meet, blocks as a whole, the memory of atomics.

use super::*;
use intermezzo_sdk::testing::Event;
use intermezzo_sdk::{BlockKind, DataVarAccess};

#[test]
fn reads_do_not_race() {
    let mut scene = Scene::new();
    scene.script.read(scene.a, scene.cell).read(scene.b, scene.cell);
    assert_eq!(reports(&scene.script), []);
    scene.script.write(scene.b, scene.cell);
    assert_eq!(reports(&scene.script).len(), 1);
}

/// Performs each access to these bytes by `a`, then one by `b`. Returns how many of the first race with it.
#[track_caller]
fn racing(earlier: &[(u32, u32)], later: (u32, u32)) -> usize {
    let mut scene = Scene::new();
    let Scene { script, a, b, cell } = &mut scene;
    for (offset, size) in earlier {
        script.write_part(*a, *cell, *offset, *size);
    }
    script.write_part(*b, *cell, later.0, later.1);
    reports(script).len()
}

#[test]
fn only_bytes_in_common_race() {
    for (earlier, later, races) in [
        (&[(0, 4)][..], (4, 4), 0),
        (&[(4, 4)], (0, 4), 0),
        (&[(0, 4)], (3, 4), 1),
        (&[(3, 4)], (0, 4), 1),
        (&[(0, 8)], (2, 2), 1),
        (&[(2, 2)], (0, 8), 1),
        (&[(0, 2), (4, 2)], (1, 4), 2),
        (&[(0, 2), (4, 2)], (2, 2), 0),
        (&[(0, 8), (2, 2)], (3, 1), 2),
        (&[(0, 8), (2, 2)], (0, 1), 1),
        (&[(0, 1), (1, 1), (2, 1)], (0, 3), 3),
        (&[(0, 0)], (0, 8), 0),
        (&[(8, 1), (0, 16)], (4, 8), 2),
        (&[(u32::MAX, 4)], (u32::MAX, 1), 1),
    ] {
        assert_eq!(racing(earlier, later), races, "{earlier:?} and {later:?}");
    }
}

/// All races are found, whatever came in between: also those that FastTrack would have forgotten.
#[test]
fn every_pair_of_places_is_found() {
    let mut scene = Scene::new();
    let Scene { script, a, b, cell } = &mut scene;
    script.write(*a, *cell).read(*a, *cell).write(*a, *cell);
    script.read(*b, *cell).write(*b, *cell);
    // Read against two writes, write against all three.
    assert_eq!(reports(script).len(), 5);
}

/// The earlier of two accesses at one place is ordered, the later is not.
#[test]
fn the_last_access_of_a_place_counts() {
    let mut scene = Scene::new();
    let Scene { script, a, b, cell } = &mut scene;
    let flag = script.var("flag");
    let access = DataVarAccess {
        after: script.last(*a),
        location: *cell,
        offset: 0,
        size: 8,
        is_write: true,
        by_pointer: false,
        frees: false,
        order: MemoryOrder::None,
        var: SyncVar::NONE,
        site: intermezzo_sdk::SiteId(1000),
    };
    script.push(Event::Data(access));
    script.store(*a, flag, Release, 1);
    script.load(*b, flag, Acquire, 1);
    let after = script.last(*a);
    script.push(Event::Data(DataVarAccess { after, ..access }));
    script.read(*b, *cell);
    assert_eq!(reports(script).len(), 1);
}

#[test]
fn giving_back_is_a_write_to_all() {
    for (joined, races) in [(true, 0), (false, 1)] {
        let mut script = Script::new();
        let block = script.allocate(MAIN, "block", BlockKind::Heap, 64);
        let child = script.fork(MAIN);
        script.read_part(child, block, 40, 4);
        if joined {
            script.join(MAIN, child);
        }
        script.release(MAIN, block);
        assert_eq!(reports(&script).len(), races);
    }
}

#[test]
fn use_of_a_block_is_after_its_beginning() {
    for (order, races) in [(Release, 0), (Relaxed, 1)] {
        let mut scene = Scene::new();
        let Scene { script, a, b, .. } = &mut scene;
        let pointer = script.var("pointer");
        let block = script.allocate(*a, "block", BlockKind::Heap, 64);
        script.store(*a, pointer, order, 1);
        script.load(*b, pointer, Acquire, 1);
        script.read_part(*b, block, 8, 8);
        assert_eq!(reports(script).len(), races);
    }
}

/// An access to the memory of an atomic that is none of its operations.
fn to_atomic(scene: &mut Scene, task: TaskId, var: SyncVar, is_write: bool, order: MemoryOrder) {
    let access = DataVarAccess {
        after: scene.script.last(task),
        location: scene.cell,
        offset: 0,
        size: 8,
        is_write,
        by_pointer: false,
        frees: false,
        order,
        var,
        site: intermezzo_sdk::SiteId(1000 + task.0),
    };
    scene.script.push(Event::Data(access));
}

#[test]
fn plain_accesses_to_an_atomic_race_with_its_operations() {
    for order in [Relaxed, SeqCst] {
        for (plain_writes, store, races) in [
            (true, true, 1),
            (true, false, 1),
            (false, true, 1),
            (false, false, 0),
        ] {
            for plain_first in [true, false] {
                let mut scene = Scene::new();
                let var = scene.var("atomic");
                let (a, b) = (scene.a, scene.b);
                if plain_first {
                    to_atomic(&mut scene, b, var, plain_writes, MemoryOrder::None);
                }
                match store {
                    true => scene.script.store(a, var, order, 1),
                    false => scene.script.load(a, var, order, 0),
                };
                if !plain_first {
                    to_atomic(&mut scene, b, var, plain_writes, MemoryOrder::None);
                }
                let found = reports(&scene.script);
                assert_eq!(
                    found.len(),
                    races,
                    "{plain_writes} {store} {plain_first}: {found:#?}"
                );
            }
        }
    }
}

/// A release and an acquire of the atomic itself order accesses.
#[test]
fn an_atomic_can_order_plain_accesses_to_its_own_memory() {
    for (store, races) in [(Release, 0), (Relaxed, 1)] {
        let mut scene = Scene::new();
        let var = scene.var("atomic");
        let (a, b) = (scene.a, scene.b);
        scene.script.store(a, var, store, 1);
        scene.script.load(b, var, Acquire, 1);
        to_atomic(&mut scene, b, var, true, MemoryOrder::None);
        assert_eq!(reports(&scene.script).len(), races);
    }
}

#[test]
fn accesses_that_are_atomic_do_not_race_with_each_other() {
    for (first, second, races) in [
        (Relaxed, Relaxed, 0),
        (Relaxed, MemoryOrder::None, 1),
        (MemoryOrder::None, SeqCst, 1),
        (MemoryOrder::None, MemoryOrder::None, 1),
    ] {
        let mut scene = Scene::new();
        let (a, b) = (scene.a, scene.b);
        to_atomic(&mut scene, a, SyncVar::NONE, true, first);
        to_atomic(&mut scene, b, SyncVar::NONE, true, second);
        assert_eq!(reports(&scene.script).len(), races, "{first:?} {second:?}");
    }
}
