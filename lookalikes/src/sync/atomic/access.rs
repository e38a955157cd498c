//! Accesses of tasks to the value of an atomic.
//!
//! A task alone runs, but a thread that is not controlled may use the value at the same time. So tasks access it by
//! atomic instructions, with the orders that cost least on common processors.

use super::memory_order;
use super::primitive::Primitive;
use intermezzo_engine::memory_model::MemoryOp;
use intermezzo_engine::runtime::{Access, Engine};
use intermezzo_sdk::SyncVarOp;
use std::sync::atomic::Ordering;

/// Loads the value for a task.
#[inline(always)]
pub(super) fn look<T: Primitive>(value: *mut T) -> T {
    // SAFETY: the value exists as long as the atomic, and all access is atomic.
    unsafe { T::look(value) }
}

/// Stores a value for a task.
#[inline(always)]
pub(super) fn put<T: Primitive>(value: *mut T, new: T) {
    // SAFETY: as above.
    unsafe { T::put(value, new) }
}

/// Compares and exchanges for a task.
#[inline(always)]
pub(super) fn exchange<T: Primitive>(value: *mut T, current: T, new: T) -> Result<T, T> {
    // SAFETY: as above.
    unsafe { T::replace(value, current, new) }
}

/// Records an exchange that failed because a thread that is not controlled was faster. A function of its own, so that its
/// values are not in the frame of the test's own loop.
#[cold]
#[inline(never)]
pub(super) fn overtaken<T: Primitive>(
    engine: Engine,
    access: Access,
    failure: Ordering,
    now: T,
) -> Result<T, T> {
    let failed = Access {
        op: SyncVarOp::AtomicRmwFailed,
        order: memory_order(failure),
        ..access
    };
    engine.commit(failed, now.bits(), 0);
    engine.changed_nothing(failed, now.bits());
    Err(now)
}

/// The operations if a memory model says what they read. They are functions of their own, so that those without a model
/// stay small enough to be inlined.
pub(super) mod by_model {
    use super::{Access, Engine, MemoryOp, Ordering, Primitive, SyncVarOp, look, memory_order, put};

    /// Returns the value that the announced operation reads.
    fn read<T: Primitive>(engine: Engine, kind: MemoryOp, value: *mut T) -> T {
        T::of_bits(engine.reads(kind, look(value).bits()))
    }

    /// Performs the store of the announced operation, unless another store is newer.
    fn write<T: Primitive>(engine: Engine, kind: MemoryOp, value: *mut T, new: T) {
        if engine.stores(kind, look(value).bits(), new.bits()) {
            put(value, new);
        }
    }

    #[cold]
    #[inline(never)]
    pub(in super::super) fn load<T: Primitive>(engine: Engine, value: *mut T) -> T {
        let read = read(engine, MemoryOp::Load, value);
        engine.commit_announced(read.bits(), 0);
        read
    }

    #[cold]
    #[inline(never)]
    pub(in super::super) fn store<T: Primitive>(engine: Engine, value: *mut T, new: T) {
        write(engine, MemoryOp::Store, value, new);
        engine.commit_announced(0, new.bits());
    }

    /// Returns the values before and after.
    #[cold]
    #[inline(never)]
    pub(in super::super) fn modify<T: Primitive>(
        engine: Engine,
        value: *mut T,
        f: impl Fn(T) -> T,
    ) -> (T, T) {
        let before = read(engine, MemoryOp::Modify, value);
        let after = f(before);
        write(engine, MemoryOp::Modify, value, after);
        engine.commit_announced(before.bits(), after.bits());
        (before, after)
    }

    #[cold]
    #[inline(never)]
    pub(in super::super) fn exchange<T: Primitive>(
        engine: Engine,
        access: Access,
        value: *mut T,
        (current, new): (T, T),
        failure: Ordering,
        weak: bool,
    ) -> Result<T, T> {
        let failed = Access {
            op: SyncVarOp::AtomicRmwFailed,
            order: memory_order(failure),
            ..access
        };
        let failure = engine.raised(failed);
        let kind = MemoryOp::Exchange {
            expected: current.bits(),
            failure,
            weak,
        };
        let before = read(engine, kind, value);
        let fails = before == current && weak && engine.weak_exchange_fails();
        if weak && before == current {
            engine.settle_exchange(kind, failure, fails);
        }
        if before != current || fails {
            let failed = Access {
                order: failure,
                ..failed
            };
            engine.commit_by_model(failed, before.bits(), u64::from(fails));
            return Err(before);
        }
        write(engine, kind, value, new);
        engine.commit_announced(before.bits(), new.bits());
        Ok(before)
    }
}
