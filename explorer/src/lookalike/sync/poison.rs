//! Looking at, and clearing, the poison of a lock: visible operations on its variable, because a panic elsewhere
//! may come before or after.

use crate::runtime::{Access, Engine, Site};
use intermezzo_sdk::SyncVarOp;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether the flag of the lock behind `var` is set.
pub(super) fn look(engine: Engine, var: u32, flag: &AtomicBool, site: Site) -> bool {
    let access = Access::new(SyncVarOp::PoisonCheck, var, site);
    engine.enter(access);
    let poisoned = flag.load(Relaxed);
    engine.commit(access, u64::from(poisoned), 0);
    poisoned
}

/// Clears the flag of the lock behind `var`.
pub(super) fn clear(engine: Engine, var: u32, flag: &AtomicBool, site: Site) {
    let access = Access::new(SyncVarOp::PoisonClear, var, site);
    engine.enter(access);
    flag.store(false, Relaxed);
    engine.commit(access, 0, 0);
}
