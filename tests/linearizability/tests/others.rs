//! Registers, semaphores, and vectors that only grow.

use arc_swap::ArcSwap;
use linearizability::{Row, block_on, fresh, one_of, refine, scenarios};
use parking_lot::{Mutex, RwLock};
use sharded_slab::Slab;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Semaphore;

#[test]
fn arc_swap() {
    let subject = || {
        let register = refine(|| ArcSwap::from_pointee(0u8))
            .op("load", (), |register, ()| **register.load())
            .op("store", fresh::<u8>(), |register, value| {
                register.store(Arc::new(value))
            })
            .op("swap", fresh::<u8>(), |register, value| {
                *register.swap(Arc::new(value))
            })
            .op("rcu", (), |register, ()| *register.rcu(|value| **value + 10));
        scenarios(register, 40)
    };
    let model = subject()
        .spec(|| 0u8)
        .means("load", |model: &mut u8, ()| *model)
        .means("store", |model: &mut u8, value: &u8| *model = *value)
        .means("swap", |model: &mut u8, value: &u8| {
            std::mem::replace(model, *value)
        })
        .means("rcu", |model: &mut u8, ()| {
            let before = *model;
            *model += 10;
            before
        });
    Row::new("`ArcSwap`", "arc-swap", "load, store, swap, rcu")
        .itself(subject().run())
        .model(model.run())
        .linearizable();
}

#[test]
fn tokio_semaphore() {
    let subject = || {
        let semaphore = refine(|| Semaphore::new(1))
            .op("acquire", (), |semaphore, ()| {
                block_on(semaphore.acquire()).unwrap().forget()
            })
            .op("try_acquire", (), |semaphore, ()| match semaphore.try_acquire() {
                Ok(permit) => {
                    permit.forget();
                    true
                }
                Err(_) => false,
            })
            .op("add_permits", (), |semaphore, ()| semaphore.add_permits(1))
            .op("available_permits", (), |semaphore, ()| {
                semaphore.available_permits()
            });
        scenarios(semaphore, 40)
    };
    let model = subject()
        .spec(|| 1usize)
        .means("acquire", |model: &mut usize, ()| *model -= 1)
        .waits("acquire", |model: &usize, ()| *model == 0)
        .means("try_acquire", |model: &mut usize, ()| {
            let taken = *model > 0;
            *model -= usize::from(taken);
            taken
        })
        .means("add_permits", |model: &mut usize, ()| *model += 1)
        .means("available_permits", |model: &mut usize, ()| *model);
    Row::new(
        "`tokio::sync::Semaphore`",
        "tokio",
        "acquire, try_acquire, add_permits, available_permits",
    )
    .itself(subject().run())
    .model(model.run())
    .linearizable();
}

#[test]
fn parking_lot_rw_lock() {
    let subject = || {
        let register = refine(|| RwLock::new(0u8))
            .op("read", (), |register, ()| *register.read())
            .op("write", fresh::<u8>(), |register, value| {
                *register.write() = value
            })
            .op("add", (), |register, ()| {
                let mut value = register.write();
                *value += 10;
                *value
            });
        scenarios(register, 30)
    };
    let model = subject()
        .spec(|| 0u8)
        .means("read", |model: &mut u8, ()| *model)
        .means("write", |model: &mut u8, value: &u8| *model = *value)
        .means("add", |model: &mut u8, ()| {
            *model += 10;
            *model
        });
    Row::new(
        "`parking_lot::RwLock`",
        "parking_lot",
        "read, write, add, of a value in it",
    )
    .itself(subject().run())
    .model(model.run())
    .linearizable();
}

#[test]
fn parking_lot_mutex() {
    let subject = || {
        let register = refine(|| Mutex::new(0u8))
            .op("read", (), |register, ()| *register.lock())
            .op("write", fresh::<u8>(), |register, value| *register.lock() = value)
            .op("add", (), |register, ()| {
                let mut value = register.lock();
                *value += 10;
                *value
            });
        scenarios(register, 30)
    };
    let model = subject()
        .spec(|| 0u8)
        .means("read", |model: &mut u8, ()| *model)
        .means("write", |model: &mut u8, value: &u8| *model = *value)
        .means("add", |model: &mut u8, ()| {
            *model += 10;
            *model
        });
    Row::new(
        "`parking_lot::Mutex`",
        "parking_lot",
        "read, write, add, of a value in it",
    )
    .itself(subject().run())
    .model(model.run())
    .linearizable();
}

#[test]
fn boxcar_vec() {
    let subject = || {
        let vec = refine(boxcar::Vec::<u8>::new)
            .op("push", fresh::<u8>(), |vec, value| vec.push(value))
            .op("get", one_of([0, 1]), |vec, at| vec.get(at).copied());
        scenarios(vec, 30)
    };
    let model = subject()
        .spec(Vec::new)
        .means("push", |model: &mut Vec<u8>, value| {
            model.push(*value);
            model.len() - 1
        })
        .means("get", |model: &mut Vec<u8>, at: &usize| model.get(*at).copied());
    Row::new("`boxcar::Vec`", "boxcar", "push, get")
        .itself(subject().run())
        .model(model.run())
        .not_linearizable(
            &["{ push(1); get(0) } ‖ { push(2) }"],
            "A `push` first reserves an index, and then writes the value.\n\
             So a later index can have a value before an earlier one.\n\
             The documentation of `count` says so: it is not guaranteed that all elements below it are initialised.",
        );
}

#[test]
fn boxcar_count() {
    let subject = || {
        let vec = refine(boxcar::Vec::<u8>::new)
            .op("push", fresh::<u8>(), |vec, value| vec.push(value))
            .op("get", one_of([0, 1]), |vec, at| vec.get(at).copied())
            .op("count", (), |vec, ()| vec.count());
        scenarios(vec, 30)
    };
    let model = subject()
        .spec(Vec::new)
        .means("push", |model: &mut Vec<u8>, value| {
            model.push(*value);
            model.len() - 1
        })
        .means("get", |model: &mut Vec<u8>, at: &usize| model.get(*at).copied())
        .means("count", |model: &mut Vec<u8>, ()| model.len());
    Row::new("`boxcar::Vec`, counted", "boxcar", "push, get, count")
        .itself(subject().run())
        .model(model.run())
        .not_linearizable(
            &["{ get(0); count() } ‖ { push(1) }"],
            "The value can be read before it is counted.\n\
             The documentation of `count` says only that there may be fewer elements than it counts; this is the converse.",
        );
}

/// The slab chooses its own keys, which depend on the thread: they are compared by the values to which they lead.
#[test]
fn slab() {
    struct Kept {
        slab: Slab<u8>,
        keys: [std::sync::atomic::AtomicUsize; 256],
    }
    use std::sync::atomic::Ordering::SeqCst;
    impl Kept {
        fn key(&self, value: u8) -> Option<usize> {
            self.keys[usize::from(value)].load(SeqCst).checked_sub(1)
        }
    }
    let subject = || {
        let make = || Kept {
            slab: Slab::new(),
            keys: [const { std::sync::atomic::AtomicUsize::new(0) }; 256],
        };
        let slab = refine(make)
            .op("insert", fresh::<u8>(), |kept: &Kept, value| {
                let key = kept.slab.insert(value).unwrap();
                kept.keys[usize::from(value)].store(key + 1, SeqCst);
            })
            .op("get", one_of([1u8, 2]), |kept: &Kept, value| {
                kept.key(value)
                    .and_then(|key| kept.slab.get(key).map(|entry| *entry))
            })
            .op("take", one_of([1u8, 2]), |kept: &Kept, value| {
                kept.key(value).and_then(|key| kept.slab.take(key))
            });
        scenarios(slab, 30)
    };
    type Model = BTreeMap<u8, u8>;
    let model = subject()
        .spec(Model::new)
        .means("insert", |model: &mut Model, value: &u8| {
            model.insert(*value, *value);
        })
        .means("get", |model: &mut Model, value: &u8| model.get(value).copied())
        .means("take", |model: &mut Model, value: &u8| model.remove(value));
    Row::new("`sharded_slab::Slab`", "sharded-slab", "insert, get, take")
        .itself(subject().run())
        .model(model.run())
        .linearizable();
}
