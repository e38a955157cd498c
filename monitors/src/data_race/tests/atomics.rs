//! Atomics and fences: release sequences, and the cases that do not continue one.

use super::*;

/// A store, a load that reads it.
fn message(store: MemoryOrder, load: MemoryOrder) -> impl FnOnce(&mut Scene) {
    move |scene| {
        let flag = scene.var("flag");
        scene.script.store(scene.a, flag, store, 1);
        scene.script.load(scene.b, flag, load, 1);
    }
}

#[test]
fn a_release_store_orders_before_an_acquire_load_of_it() {
    for store in [Release, SeqCst] {
        for load in [Acquire, SeqCst] {
            check(false, message(store, load));
        }
    }
    for (store, load) in [
        (Relaxed, Acquire),
        (Release, Relaxed),
        (Relaxed, Relaxed),
        (Relaxed, SeqCst),
    ] {
        check(true, message(store, load));
    }
}

#[test]
fn a_load_orders_nothing_after_a_load() {
    check(true, |scene| {
        let flag = scene.var("flag");
        scene.script.load(scene.a, flag, SeqCst, 0);
        scene.script.load(scene.b, flag, SeqCst, 0);
    });
}

#[test]
fn an_acquire_before_the_release_orders_nothing() {
    check(true, |scene| {
        let flag = scene.var("flag");
        scene.script.load(scene.b, flag, Acquire, 0);
        scene.script.store(scene.a, flag, Release, 1);
    });
}

/// A release store by `a`, something by a third task, an acquire load by `b`.
fn sequence(continued: impl FnOnce(&mut Script, TaskId, SyncVar)) -> impl FnOnce(&mut Scene) {
    |scene| {
        let flag = scene.var("flag");
        let third = scene.script.fork(MAIN);
        scene.script.store(scene.a, flag, Release, 1);
        continued(&mut scene.script, third, flag);
        scene.script.load(scene.b, flag, Acquire, 2);
    }
}

#[test]
fn read_modify_writes_go_on_with_a_release_sequence() {
    for order in [Relaxed, Acquire, Release, AcqRel, SeqCst] {
        check(
            false,
            sequence(|script, third, flag| {
                script.rmw(third, flag, order, 1, 2);
            }),
        );
    }
}

#[test]
fn other_stores_end_a_release_sequence() {
    for order in [Relaxed, Release, SeqCst] {
        check(
            true,
            sequence(|script, third, flag| {
                script.store(third, flag, order, 2);
            }),
        );
    }
}

/// C++17 continued it.
#[test]
fn a_relaxed_store_of_the_same_task_ends_a_release_sequence() {
    check(true, |scene| {
        let flag = scene.var("flag");
        scene.script.store(scene.a, flag, Release, 1);
        scene.script.store(scene.a, flag, Relaxed, 2);
        scene.script.load(scene.b, flag, Acquire, 2);
    });
}

#[test]
fn a_failed_compare_exchange_reads_by_its_failure_ordering() {
    for (order, races) in [(Acquire, false), (SeqCst, false), (Relaxed, true)] {
        check(races, |scene| {
            let flag = scene.var("flag");
            scene.script.store(scene.a, flag, Release, 1);
            scene
                .script
                .sync(scene.b, SyncVarOp::AtomicRmwFailed, flag, order, 1, 0);
        });
    }
}

/// A failed compare-exchange does not release what it would have written with.
#[test]
fn a_failed_compare_exchange_releases_nothing() {
    check(true, |scene| {
        let flag = scene.var("flag");
        scene
            .script
            .sync(scene.a, SyncVarOp::AtomicRmwFailed, flag, SeqCst, 1, 0);
        scene.script.load(scene.b, flag, Acquire, 1);
    });
}

#[test]
fn read_modify_writes_acquire_and_release_by_halves() {
    for (first, second, races) in [
        (Release, Acquire, false),
        (AcqRel, AcqRel, false),
        (Acquire, Acquire, true),
        (Release, Release, true),
        (Relaxed, AcqRel, true),
    ] {
        check(races, |scene| {
            let flag = scene.var("flag");
            scene.script.rmw(scene.a, flag, first, 0, 1);
            scene.script.rmw(scene.b, flag, second, 1, 2);
        });
    }
}

#[test]
fn fences_order_what_relaxed_accesses_carry() {
    for (release, acquire, races) in [
        (Some(Release), Some(Acquire), false),
        (Some(SeqCst), Some(SeqCst), false),
        (Some(AcqRel), Some(AcqRel), false),
        (Some(Release), Some(Release), true),
        (Some(Acquire), Some(Acquire), true),
        (None, Some(SeqCst), true),
        (Some(SeqCst), None, true),
    ] {
        check(races, |scene| {
            let flag = scene.var("flag");
            if let Some(order) = release {
                scene.script.fence(scene.a, order);
            }
            scene.script.store(scene.a, flag, Relaxed, 1);
            scene.script.load(scene.b, flag, Relaxed, 1);
            if let Some(order) = acquire {
                scene.script.fence(scene.b, order);
            }
        });
    }
}

#[test]
fn fences_pair_with_stronger_accesses_too() {
    check(false, |scene| {
        let flag = scene.var("flag");
        scene.script.fence(scene.a, Release);
        scene.script.store(scene.a, flag, Relaxed, 1);
        scene.script.load(scene.b, flag, Acquire, 1);
    });
    check(false, |scene| {
        let flag = scene.var("flag");
        scene.script.store(scene.a, flag, Release, 1);
        scene.script.load(scene.b, flag, Relaxed, 1);
        scene.script.fence(scene.b, Acquire);
    });
}

/// An access after the fence is not in what it releases, and a load after the fence is not in what it acquires.
#[test]
fn fences_are_about_one_side_of_them() {
    let mut scene = Scene::new();
    let flag = scene.var("flag");
    scene.script.fence(scene.a, Release);
    scene.script.write(scene.a, scene.cell);
    scene.script.store(scene.a, flag, Relaxed, 1);
    scene.script.load(scene.b, flag, Acquire, 1);
    scene.script.write(scene.b, scene.cell);
    assert_eq!(reports(&scene.script).len(), 1);
    check(true, |scene| {
        let flag = scene.var("flag");
        scene.script.store(scene.a, flag, Release, 1);
        scene.script.fence(scene.b, Acquire);
        scene.script.load(scene.b, flag, Relaxed, 1);
    });
}

#[test]
fn fences_alone_order_nothing() {
    check(true, |scene| {
        scene.script.fence(scene.a, SeqCst);
        scene.script.fence(scene.b, SeqCst);
    });
}

/// By way of a third task, whose own orderings count.
#[test]
fn order_is_transitive() {
    for (pass, races) in [(Release, false), (Relaxed, true)] {
        check(races, |scene| {
            let (one, two) = (scene.var("one"), scene.var("two"));
            let third = scene.script.fork(MAIN);
            scene.script.store(scene.a, one, Release, 1);
            scene.script.load(third, one, Acquire, 1);
            scene.script.store(third, two, pass, 1);
            scene.script.load(scene.b, two, Acquire, 1);
        });
    }
}
