//! The operations of atomics. Under sequential consistency all orderings behave alike; they are recorded
//! for the monitors. A compare-exchange that fails is a read.

use super::access::{by_model, exchange, look, overtaken, put};
use super::memory_order;
use super::primitive::{Bitwise, Integer, Primitive};
use crate::name::named_by;
use intermezzo_engine::runtime::{
    Access, Body, DataAccess, Does, Embedded, Engine, Gates, Identity, Object, Owner, Site, VarKind,
};
use intermezzo_sdk::SyncVarOp;
use std::fmt;
use std::panic::RefUnwindSafe;
use std::sync::atomic::Ordering;

#[repr(transparent)]
struct Value<T>(T);

impl<T: Primitive> Body for Value<T> {
    const KIND: VarKind = if T::IS_POINTER {
        VarKind::Pointer
    } else {
        VarKind::Atomic
    };
    fn gates(&self) -> Gates {
        0
    }
}

/// An atomic value; std's names are aliases of this. `I` is its identity.
#[repr(transparent)]
pub struct Atomic<T, I = Embedded> {
    object: Object<Value<T>, I>,
}

// SAFETY: all shared access is atomic. (A raw pointer in an atomic is as `Send` and `Sync` as in std's `AtomicPtr`.)
unsafe impl<T: Primitive, I: Identity + Send> Send for Atomic<T, I> {}
// SAFETY: as above.
unsafe impl<T: Primitive, I: Identity + Sync> Sync for Atomic<T, I> {}
impl<T: Primitive, I: Identity> RefUnwindSafe for Atomic<T, I> {}

named_by! { [T: Primitive, I: Identity] Atomic<T, I>: object; }

impl<T, I: Identity> Atomic<T, I> {
    /// Returns an atomic with this value.
    #[inline]
    pub const fn new(value: T) -> Atomic<T, I> {
        Atomic {
            object: Object::new(Value(value)),
        }
    }
}

impl<T: Primitive> Atomic<T> {
    /// Returns the value.
    #[inline]
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.note_plain_read();
        self.object.into_inner().0
    }

    /// Returns a pointer to the value.
    #[track_caller]
    pub fn as_ptr(&self) -> *mut T {
        let value = match Engine::current() {
            Some(engine) => {
                let (var, value) = self.object.inside(engine, Site::caller());
                engine.lies_at(Owner::Atomic(var), value.addr(), size_of::<T>());
                value
            }
            None => self.object.outside(Site::caller()),
        };
        value.cast()
    }
}

impl<T, I: Identity> Atomic<T, I> {
    /// `true` if it may be part of code that was not written for intermezzo. Its address then identifies it.
    const MAY_BE_UNMODIFIED: bool = size_of::<I>() == 0;

    /// Returns a pointer to the value where the atomic is: a static may have another value in the execution.
    #[inline]
    pub(super) const fn value_in_place(&self) -> *mut T {
        self.object.body_in_place().cast()
    }
}

#[cfg(feature = "unmodified")]
impl<T: Primitive, I: Identity> Atomic<T, I> {
    /// Returns the variable, and the address of the value.
    pub(crate) fn inside(&self, engine: Engine, site: Site) -> (u32, *mut T) {
        let (var, value) = self.object.inside(engine, site);
        (var, value.cast())
    }

    /// Returns the variable, if it was used in this execution.
    pub(crate) fn known(&self, engine: Engine) -> Option<u32> {
        self.object
            .known(engine)
            .or_else(|| I::find(&self.object, engine))
    }
}

impl<T: Primitive, I: Identity> Atomic<T, I> {
    /// Publishes a non-atomic access to the value.
    #[inline]
    fn plain_access(&self, engine: Engine, var: u32, does: Does, site: Site) {
        engine.data_access(DataAccess {
            owner: Owner::Atomic(var),
            address: self.object.body_address(),
            size: size_of::<T>(),
            does,
            site,
        });
    }

    /// Publishes a read of the value that is not atomic, unless the atomic was never used. For drop-ins of other tools.
    #[doc(hidden)]
    #[inline]
    #[track_caller]
    pub fn note_plain_read(&self) {
        if let Some(engine) = Engine::current()
            && let Some(var) = self.object.known(engine)
        {
            self.plain_access(engine, var, Does::Read, Site::caller());
        }
    }

    /// Publishes the creation of the atomic, as a write that is not atomic: it races with uses by other tasks that it does
    /// not happen before. The identity moves with the atomic. For drop-ins of other tools, whose constructors are not
    /// `const`.
    #[doc(hidden)]
    #[inline]
    #[track_caller]
    pub fn note_made(&self) {
        if let Some(engine) = Engine::current()
            && engine.may_be_raced()
        {
            let site = Site::caller();
            let (var, _) = self.object.inside(engine, site);
            self.plain_access(engine, var, Does::Write, site);
        }
    }

    /// Returns the value of an atomic that is not shared.
    #[inline]
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        if let Some(engine) = Engine::current() {
            let site = Site::caller();
            // If this use makes it a variable, other tasks may use it later, and must then know of this access.
            let var = match self.object.known(engine) {
                None if self.object.is_unused() && !engine.in_teardown() => {
                    Some(self.object.inside(engine, site).0)
                }
                known => known,
            };
            if let Some(var) = var {
                self.plain_access(engine, var, Does::Write, site);
            }
        }
        // SAFETY: `&mut self` guarantees that it is not shared.
        unsafe { &mut (*self.object.get_mut()).0 }
    }
}

#[inline(always)]
pub(crate) fn check_load(order: Ordering) {
    match order {
        Ordering::Release => panic!("there is no such thing as a release load"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release load"),
        _ => {}
    }
}

#[inline(always)]
fn check_store(order: Ordering) {
    match order {
        Ordering::Acquire => panic!("there is no such thing as an acquire store"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release store"),
        _ => {}
    }
}

#[inline(always)]
fn check_failure(order: Ordering) {
    match order {
        Ordering::Release => panic!("there is no such thing as a release failure ordering"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release failure ordering"),
        _ => {}
    }
}

/// Returns the strongest ordering that a failed compare-exchange may have with this success ordering.
fn failure_of(order: Ordering) -> Ordering {
    match order {
        Ordering::Release => Ordering::Relaxed,
        Ordering::AcqRel => Ordering::Acquire,
        order => order,
    }
}

// Loads and stores are inlined: a call would cost more than all else that they do here. Not in builds for debugging, nor in
// unmodified code, whatever profile that has: the values of an operation would lie in the frame of the test's own loop. It
// does more in the first round, if that uses the atomic first, so the rounds would look different.
impl<T: Primitive, I: Identity> Atomic<T, I> {
    /// Returns the address of the value, outside an exploration.
    #[inline]
    fn place(&self, site: Site) -> *mut T {
        self.object.outside(site).cast()
    }

    /// Notes that this thread has written the value outside an exploration, because loops of tasks may wait for it.
    #[inline]
    fn written_outside(&self) {
        self.object.opened_outside(0);
    }

    /// Waits for permission to take a step on this atomic; returns the address of the value.
    #[inline(always)]
    fn enter(&self, engine: Engine, op: SyncVarOp, order: Ordering, site: Site) -> (Access, *mut T) {
        let (var, value) = self.object.inside(engine, site);
        let access = Access {
            op,
            order: memory_order(order),
            var,
            site,
        };
        engine.enter(access);
        (access, value.cast())
    }

    /// Loads the value.
    ///
    /// # Panics
    /// If the ordering is `Release` or `AcqRel`.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(all(debug_assertions, not(feature = "unmodified")), inline)]
    #[cfg_attr(not(any(debug_assertions, feature = "unmodified")), inline(always))]
    #[track_caller]
    pub fn load(&self, order: Ordering) -> T {
        let Some(engine) = Engine::current() else {
            // SAFETY: outside an exploration all access is atomic.
            return unsafe { T::std_load(self.place(Site::caller()), order) };
        };
        check_load(order);
        let (access, value) = self.enter(engine, SyncVarOp::AtomicLoad, order, Site::caller());
        if engine.has_memory_model() {
            let read = by_model::load(engine, value);
            if Self::MAY_BE_UNMODIFIED {
                engine.changed_nothing(access, read.bits());
            }
            return read;
        }
        engine.note_order(access.order);
        let read = look(value);
        engine.commit(access, read.bits(), 0);
        if Self::MAY_BE_UNMODIFIED {
            engine.changed_nothing(access, read.bits());
        }
        read
    }

    /// Stores a value.
    ///
    /// # Panics
    /// If the ordering is `Acquire` or `AcqRel`.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(all(debug_assertions, not(feature = "unmodified")), inline)]
    #[cfg_attr(not(any(debug_assertions, feature = "unmodified")), inline(always))]
    #[track_caller]
    pub fn store(&self, new: T, order: Ordering) {
        let Some(engine) = Engine::current() else {
            // SAFETY: outside an exploration all access is atomic.
            unsafe { T::std_store(self.place(Site::caller()), new, order) };
            return self.written_outside();
        };
        check_store(order);
        let (access, value) = self.enter(engine, SyncVarOp::AtomicStore, order, Site::caller());
        if engine.has_memory_model() {
            return by_model::store(engine, value, new);
        }
        engine.note_order(access.order);
        put(value, new);
        engine.commit(access, 0, new.bits());
    }

    /// Replaces the value by the result of `f` for it, and returns the value before.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    #[track_caller]
    fn modify(&self, order: Ordering, f: impl Fn(T) -> T) -> T {
        let Some(engine) = Engine::current() else {
            return self.modify_outside(order, f, Site::caller());
        };
        let (access, value) = self.enter(engine, SyncVarOp::AtomicRmw, order, Site::caller());
        if engine.has_memory_model() {
            let (before, after) = by_model::modify(engine, value, f);
            if Self::MAY_BE_UNMODIFIED && before == after {
                engine.changed_nothing(access, before.bits());
            }
            return before;
        }
        engine.note_order(access.order);
        let mut before = look(value);
        let after = loop {
            let after = f(before);
            match exchange(value, before, after) {
                Ok(_) => break after,
                // A thread that is not controlled was faster.
                Err(now) => before = now,
            }
        };
        engine.commit(access, before.bits(), after.bits());
        if Self::MAY_BE_UNMODIFIED && before == after {
            engine.changed_nothing(access, before.bits());
        }
        before
    }

    fn modify_outside(&self, order: Ordering, f: impl Fn(T) -> T, site: Site) -> T {
        let place = self.place(site);
        // SAFETY: outside an exploration all access is atomic.
        let mut before = unsafe { T::std_load(place, Ordering::Relaxed) };
        loop {
            // SAFETY: as above.
            match unsafe { T::std_exchange(place, before, f(before), order, failure_of(order), true) } {
                Ok(before) => {
                    self.written_outside();
                    return before;
                }
                Err(now) => before = now,
            }
        }
    }

    /// Stores a value, and returns the value before.
    #[inline]
    #[track_caller]
    pub fn swap(&self, new: T, order: Ordering) -> T {
        if Engine::current().is_none() {
            // SAFETY: outside an exploration all access is atomic.
            let before = unsafe { T::std_swap(self.place(Site::caller()), new, order) };
            self.written_outside();
            return before;
        }
        self.modify(order, |_| new)
    }

    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    fn exchange(
        &self,
        current: T,
        new: T,
        (success, failure): (Ordering, Ordering),
        weak: bool,
        site: Site,
    ) -> Result<T, T> {
        let Some(engine) = Engine::current() else {
            // SAFETY: outside an exploration all access is atomic.
            let exchanged =
                unsafe { T::std_exchange(self.place(site), current, new, success, failure, weak) };
            self.written_outside();
            return exchanged;
        };
        check_failure(failure);
        let (access, value) = self.enter(engine, SyncVarOp::AtomicRmw, success, site);
        if engine.has_memory_model() {
            let exchanged = by_model::exchange(engine, access, value, (current, new), failure, weak);
            if Self::MAY_BE_UNMODIFIED
                && let Err(before) = exchanged
            {
                engine.changed_nothing(access, before.bits());
            }
            return exchanged;
        }
        engine.note_order(access.order);
        let before = look(value);
        if before != current || weak && engine.weak_exchange_fails() {
            let failed = Access {
                op: SyncVarOp::AtomicRmwFailed,
                order: memory_order(failure),
                ..access
            };
            engine.note_order(failed.order);
            engine.commit(failed, before.bits(), u64::from(before == current));
            if Self::MAY_BE_UNMODIFIED {
                engine.changed_nothing(failed, before.bits());
            }
            return Err(before);
        }
        if let Err(now) = exchange(value, current, new) {
            return overtaken(engine, access, failure, now);
        }
        engine.commit(access, before.bits(), new.bits());
        Ok(before)
    }

    /// Stores `new` if the value is `current`, and returns the value before. If that was another, it is in the error.
    ///
    /// # Errors
    /// If the value is not `current`.
    ///
    /// # Panics
    /// If `failure` is `Release` or `AcqRel`.
    #[inline]
    #[track_caller]
    pub fn compare_exchange(&self, current: T, new: T, success: Ordering, failure: Ordering) -> Result<T, T> {
        self.exchange(current, new, (success, failure), false, Site::caller())
    }

    /// Like `compare_exchange`, but may fail although the value is `current`.
    ///
    /// # Errors
    /// If the value is not `current`, or the exchange failed spuriously.
    ///
    /// # Panics
    /// If `failure` is `Release` or `AcqRel`.
    #[inline]
    #[track_caller]
    pub fn compare_exchange_weak(
        &self,
        current: T,
        new: T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<T, T> {
        self.exchange(current, new, (success, failure), true, Site::caller())
    }

    /// Stores `new` if the value is `current`, and returns the value before in any case.
    #[deprecated(
        since = "1.50.0",
        note = "use `compare_exchange` or `compare_exchange_weak` instead"
    )]
    #[track_caller]
    pub fn compare_and_swap(&self, current: T, new: T, order: Ordering) -> T {
        match self.exchange(current, new, (order, failure_of(order)), false, Site::caller()) {
            Ok(before) | Err(before) => before,
        }
    }

    /// Loads the value, and stores the result of `f` for it; repeats that until nothing came in between or `f` returns
    /// `None`.
    ///
    /// # Errors
    /// If `f` returned `None`; the value is in the error.
    #[track_caller]
    pub fn fetch_update<F: FnMut(T) -> Option<T>>(
        &self,
        set_order: Ordering,
        fetch_order: Ordering,
        f: F,
    ) -> Result<T, T> {
        self.try_update(set_order, fetch_order, f)
    }

    /// Does the same as `fetch_update`, by its newer name.
    ///
    /// # Errors
    /// If `f` returned `None`; the value is in the error.
    #[track_caller]
    pub fn try_update(
        &self,
        set_order: Ordering,
        fetch_order: Ordering,
        mut f: impl FnMut(T) -> Option<T>,
    ) -> Result<T, T> {
        let mut before = self.load(fetch_order);
        while let Some(after) = f(before) {
            match self.compare_exchange_weak(before, after, set_order, fetch_order) {
                Ok(before) => return Ok(before),
                Err(now) => before = now,
            }
        }
        Err(before)
    }

    /// Replaces the value by the result of `f` for it; repeats that until nothing came in between. Returns the value
    /// before.
    #[track_caller]
    pub fn update(&self, set_order: Ordering, fetch_order: Ordering, mut f: impl FnMut(T) -> T) -> T {
        let mut before = self.load(fetch_order);
        loop {
            match self.compare_exchange_weak(before, f(before), set_order, fetch_order) {
                Ok(before) => return before,
                Err(now) => before = now,
            }
        }
    }
}

impl<T: Integer, I: Identity> Atomic<T, I> {
    /// Adds, wrapping, and returns the value before.
    #[inline]
    #[track_caller]
    pub fn fetch_add(&self, value: T, order: Ordering) -> T {
        self.modify(order, |before| before.add(value))
    }

    /// Subtracts, wrapping, and returns the value before.
    #[inline]
    #[track_caller]
    pub fn fetch_sub(&self, value: T, order: Ordering) -> T {
        self.modify(order, |before| before.sub(value))
    }

    /// Stores the greater of the two, and returns the value before.
    #[inline]
    #[track_caller]
    pub fn fetch_max(&self, value: T, order: Ordering) -> T {
        self.modify(order, |before| before.max(value))
    }

    /// Stores the lesser of the two, and returns the value before.
    #[inline]
    #[track_caller]
    pub fn fetch_min(&self, value: T, order: Ordering) -> T {
        self.modify(order, |before| before.min(value))
    }
}

impl<T: Bitwise, I: Identity> Atomic<T, I> {
    /// Stores the bitwise and, and returns the value before.
    #[inline]
    #[track_caller]
    pub fn fetch_and(&self, value: T, order: Ordering) -> T {
        self.modify(order, |before| before.and(value))
    }

    /// Stores the bitwise nand, and returns the value before.
    #[inline]
    #[track_caller]
    pub fn fetch_nand(&self, value: T, order: Ordering) -> T {
        self.modify(order, |before| before.and(value).not())
    }

    /// Stores the bitwise or, and returns the value before.
    #[inline]
    #[track_caller]
    pub fn fetch_or(&self, value: T, order: Ordering) -> T {
        self.modify(order, |before| before.or(value))
    }

    /// Stores the bitwise xor, and returns the value before.
    #[inline]
    #[track_caller]
    pub fn fetch_xor(&self, value: T, order: Ordering) -> T {
        self.modify(order, |before| before.xor(value))
    }
}

impl<I: Identity> Atomic<bool, I> {
    /// Negates the value, and returns the value before.
    #[inline]
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.modify(order, |before| !before)
    }
}

impl<T, I: Identity> Atomic<*mut T, I> {
    /// Adds this many elements, wrapping, and returns the pointer before.
    #[track_caller]
    pub fn fetch_ptr_add(&self, count: usize, order: Ordering) -> *mut T {
        self.modify(order, |before| before.wrapping_add(count))
    }

    /// Subtracts this many elements, wrapping, and returns the pointer before.
    #[track_caller]
    pub fn fetch_ptr_sub(&self, count: usize, order: Ordering) -> *mut T {
        self.modify(order, |before| before.wrapping_sub(count))
    }

    /// Adds this many bytes, wrapping, and returns the pointer before.
    #[track_caller]
    pub fn fetch_byte_add(&self, count: usize, order: Ordering) -> *mut T {
        self.modify(order, |before| before.wrapping_byte_add(count))
    }

    /// Subtracts this many bytes, wrapping, and returns the pointer before.
    #[track_caller]
    pub fn fetch_byte_sub(&self, count: usize, order: Ordering) -> *mut T {
        self.modify(order, |before| before.wrapping_byte_sub(count))
    }

    /// Stores the bitwise or of the address, and returns the pointer before.
    #[track_caller]
    pub fn fetch_or(&self, value: usize, order: Ordering) -> *mut T {
        self.modify(order, |before| before.map_addr(|address| address | value))
    }

    /// Stores the bitwise and of the address, and returns the pointer before.
    #[track_caller]
    pub fn fetch_and(&self, value: usize, order: Ordering) -> *mut T {
        self.modify(order, |before| before.map_addr(|address| address & value))
    }

    /// Stores the bitwise xor of the address, and returns the pointer before.
    #[track_caller]
    pub fn fetch_xor(&self, value: usize, order: Ordering) -> *mut T {
        self.modify(order, |before| before.map_addr(|address| address ^ value))
    }
}

impl<T: Bitwise + Default, I: Identity> Default for Atomic<T, I> {
    fn default() -> Self {
        Atomic::new(T::default())
    }
}

impl<T, I: Identity> Default for Atomic<*mut T, I> {
    fn default() -> Self {
        Atomic::new(std::ptr::null_mut())
    }
}

impl<T: Primitive, I: Identity> From<T> for Atomic<T, I> {
    fn from(value: T) -> Self {
        Atomic::new(value)
    }
}

impl<T: Primitive + fmt::Debug, I: Identity> fmt::Debug for Atomic<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.load(Ordering::Relaxed).fmt(f)
    }
}

impl<T, I: Identity> fmt::Pointer for Atomic<*mut T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.load(Ordering::Relaxed).fmt(f)
    }
}
