//! Reading and clearing the poison of a lock: visible operations on its variable, because a panic elsewhere may come
//! before or after.

use intermezzo_engine::runtime::{Access, Body, Engine, Object, Site};
use intermezzo_sdk::SyncVarOp;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The body of a lock that can be poisoned.
pub(super) trait Poison: Body {
    /// Returns the address of the flag. (No reference to the body is made, because a guard may borrow its data.)
    ///
    /// # Safety
    /// `this` points to a body.
    unsafe fn flag(this: *mut Self) -> *const AtomicBool;
}

/// Returns `true` if the flag is set, and `true` if the calling task is panicking. In unmodified code this and
/// [`is_panicking`] are calls: they are compiled with the layer over std, and so not among the operations on std's
/// atomics that are watched there.
#[cfg_attr(feature = "unmodified", inline(never))]
#[cfg_attr(not(feature = "unmodified"), inline)]
pub(super) fn state(flag: &AtomicBool) -> (bool, bool) {
    (flag.load(Relaxed), std::thread::panicking())
}

/// Returns `true` if the calling task is panicking.
#[cfg_attr(feature = "unmodified", inline(never))]
#[cfg_attr(not(feature = "unmodified"), inline)]
pub(super) fn is_panicking() -> bool {
    std::thread::panicking()
}

/// Returns `true` if the calling task unwinds because it was withdrawn, which is no panic.
#[cold]
pub(super) fn is_withdrawn() -> bool {
    Engine::current().is_some_and(Engine::is_withdrawn)
}

/// Returns `true` if a task panicked while it held the lock.
pub(super) fn look<B: Poison + ?Sized>(lock: &Object<B>, site: Site) -> bool {
    perform(lock, SyncVarOp::PoisonCheck, site, |flag| flag.load(Relaxed))
}

/// Clears the mark that a task panicked while it held the lock.
pub(super) fn clear<B: Poison + ?Sized>(lock: &Object<B>, site: Site) {
    perform(lock, SyncVarOp::PoisonClear, site, |flag| {
        flag.store(false, Relaxed);
        false
    });
}

fn perform<B: Poison + ?Sized>(
    lock: &Object<B>,
    op: SyncVarOp,
    site: Site,
    act: impl FnOnce(&AtomicBool) -> bool,
) -> bool {
    let Some(engine) = Engine::current() else {
        // SAFETY: the body exists as long as the lock; the flag is shared.
        return act(unsafe { &*B::flag(lock.outside(site)) });
    };
    let (var, body) = lock.inside(engine, site);
    let access = Access::new(op, var, site);
    engine.enter(access);
    // SAFETY: as above.
    let poisoned = act(unsafe { &*B::flag(body) });
    engine.commit(access, u64::from(poisoned), 0);
    if poisoned {
        engine.note_look(access.order);
    }
    poisoned
}
