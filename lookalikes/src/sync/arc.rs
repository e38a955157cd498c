//! `std::sync::Arc` and `Weak`: std's own, with the changes of their counts made visible.
//!
//! A handle is std's `Arc` and, next to it, a share in an object that the engine knows (`share.rs`); values, counts and
//! memory are left to std. Some of std's abilities are not available to other crates on stable Rust:
//!
//! - `Arc<X>` does not coerce to `Arc<dyn Trait>`. Convert one of std's with [`Arc::from_std`], as in
//!   `Arc::from_std(std::sync::Arc::new(x) as std::sync::Arc<dyn Trait>)`, or change one by [`Arc::coerce`].
//! - A method cannot take `self: Arc<Self>`; nor does an `Arc<impl Wake>` become a `Waker`.
//!
//! If the counts are of no interest, std's own `Arc` can be used in an exploration as well.

mod convert;
mod live;
mod share;

use crate::name::{Nameable, named_by};
use intermezzo_engine::site::Site;
use intermezzo_sdk::{MemoryOrder, SyncVarOp};
use share::{STRONG, Share, Unborn, WEAK};
use std::any::Any;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::pin::Pin;

/// A handle on a value that lives as long as any of its handles: `std::sync::Arc`.
pub struct Arc<T: ?Sized> {
    // The order matters: the value is dropped, and the test's code runs, after the count has gone down.
    share: Share<STRONG>,
    inner: std::sync::Arc<T>,
}

/// A handle that does not keep the value alive: `std::sync::Weak`.
pub struct Weak<T: ?Sized> {
    share: Share<WEAK>,
    inner: std::sync::Weak<T>,
}

impl<T: Nameable + ?Sized> Nameable for Arc<T> {
    fn give_name(&self, name: &str) {
        self.share.give_name(name);
        (**self).give_name(name);
    }
}

named_by! { [T: ?Sized] Weak<T>: share; }

impl<T> Arc<T> {
    /// Returns a handle on a value.
    #[track_caller]
    pub fn new(data: T) -> Arc<T> {
        Arc::from_std(std::sync::Arc::new(data))
    }

    /// Returns a handle on a value that may keep a weak handle on itself.
    #[track_caller]
    pub fn new_cyclic<F: FnOnce(&Weak<T>) -> T>(data_fn: F) -> Arc<T> {
        let site = Site::caller();
        let (unborn, weak) = Unborn::new(std::mem::needs_drop::<T>(), site);
        let mut turn = None;
        let inner = std::sync::Arc::new_cyclic(|inner| {
            let weak = Weak {
                share: weak,
                inner: inner.clone(),
            };
            let data = data_fn(&weak);
            // The value is there when this closure returns.
            let Weak { share, inner } = weak;
            drop(inner);
            turn = Some(unborn.turn(share, site));
            data
        });
        let turn = turn.expect("the closure has returned");
        let arc = Arc {
            share: unborn.born(turn, site),
            inner,
        };
        arc.note_place();
        arc
    }

    /// Returns a handle on a value that stays where it is.
    #[track_caller]
    pub fn pin(data: T) -> Pin<Arc<T>> {
        // SAFETY: the value is behind the handle and never moves.
        unsafe { Pin::new_unchecked(Arc::new(data)) }
    }

    /// Returns a handle on memory without a value.
    #[track_caller]
    pub fn new_uninit() -> Arc<MaybeUninit<T>> {
        Arc::around(std::sync::Arc::new_uninit(), std::mem::needs_drop::<T>())
    }

    /// Returns the value, if this is the only handle that keeps it alive.
    ///
    /// # Errors
    /// If there is another handle. The error holds this handle.
    #[track_caller]
    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        let turn = this.share.turn(SyncVarOp::CountDown, Site::caller());
        let Arc { share, inner } = this;
        match std::sync::Arc::try_unwrap(inner) {
            Ok(value) => {
                share.retire(turn);
                Ok(value)
            }
            Err(inner) => {
                turn.fails();
                turn.looked(std::sync::Arc::strong_count(&inner));
                Err(Arc { share, inner })
            }
        }
    }

    /// Gives the handle up; returns the value if it was the last handle that kept it alive.
    #[track_caller]
    pub fn into_inner(this: Self) -> Option<T> {
        let turn = this.share.turn(SyncVarOp::CountDown, Site::caller());
        let Arc { share, inner } = this;
        share.retire(turn);
        std::sync::Arc::into_inner(inner)
    }

    /// Returns the value, or a clone of it if other handles keep it alive.
    #[track_caller]
    pub fn unwrap_or_clone(this: Self) -> T
    where
        T: Clone,
    {
        Arc::try_unwrap(this).unwrap_or_else(|arc| (*arc).clone())
    }
}

impl<T> Arc<[T]> {
    /// Returns a handle on uninitialised memory for this many values.
    #[track_caller]
    pub fn new_uninit_slice(len: usize) -> Arc<[MaybeUninit<T>]> {
        Arc::around(std::sync::Arc::new_uninit_slice(len), std::mem::needs_drop::<T>())
    }
}

impl<T> Arc<MaybeUninit<T>> {
    /// Returns the same handle, now that there is a value.
    ///
    /// # Safety
    /// There is one.
    #[track_caller]
    pub unsafe fn assume_init(self) -> Arc<T> {
        self.note_destructor::<T>(Site::caller());
        // SAFETY: as the caller says.
        self.map(|inner| unsafe { inner.assume_init() })
    }
}

impl<T> Arc<[MaybeUninit<T>]> {
    /// Returns the same handle, now that there are values.
    ///
    /// # Safety
    /// There are.
    #[track_caller]
    pub unsafe fn assume_init(self) -> Arc<[T]> {
        self.note_destructor::<T>(Site::caller());
        // SAFETY: as the caller says.
        self.map(|inner| unsafe { inner.assume_init() })
    }
}

impl Arc<dyn Any + Send + Sync> {
    /// Returns the same handle, if the value is of this type.
    ///
    /// # Errors
    /// If there is another handle. The error holds this handle.
    pub fn downcast<T: Any + Send + Sync>(self) -> Result<Arc<T>, Self> {
        let Arc { share, inner } = self;
        match inner.downcast() {
            Ok(inner) => Ok(Arc { share, inner }),
            Err(inner) => Err(Arc { share, inner }),
        }
    }
}

impl<T: ?Sized> Arc<T> {
    /// Returns a handle made from one of std's: the way to an `Arc<dyn Trait>`. Not in std.
    ///
    /// Other std handles on the same value count as usual; their operations are not visible.
    #[track_caller]
    pub fn from_std(inner: std::sync::Arc<T>) -> Arc<T> {
        Arc::around(inner, std::mem::needs_drop::<T>())
    }

    /// Returns the first handle on a value; `drops` is `true` if dropping it runs code, now or once it is initialised.
    #[track_caller]
    fn around(inner: std::sync::Arc<T>, drops: bool) -> Arc<T> {
        let share = Share::with_counts(1, 0, drops, Site::caller());
        let arc = Arc { share, inner };
        arc.note_place();
        arc
    }

    /// Notes that the value is one of type `U` from now on, or several.
    fn note_destructor<U>(&self, site: Site) {
        if std::mem::needs_drop::<U>() {
            self.share.has_destructor(site);
        }
    }

    /// Notes the address of the value, because this is its first handle.
    fn note_place(&self) {
        let address = std::sync::Arc::as_ptr(&self.inner).cast::<u8>().addr();
        self.share.lies_at(address, size_of_val(&*self.inner));
    }

    /// Returns the same handle after a coercion of std's, as in `Arc::coerce(arc, |arc| arc as std::sync::Arc<dyn
    /// Trait>)`. Not in std.
    pub fn coerce<U: ?Sized>(
        this: Self,
        coercion: impl FnOnce(std::sync::Arc<T>) -> std::sync::Arc<U>,
    ) -> Arc<U> {
        this.map(coercion)
    }

    fn map<U: ?Sized>(self, map: impl FnOnce(std::sync::Arc<T>) -> std::sync::Arc<U>) -> Arc<U> {
        let Arc { share, inner } = self;
        Arc {
            share,
            inner: map(inner),
        }
    }

    /// Returns the number of handles that keep the value alive.
    #[must_use]
    #[track_caller]
    pub fn strong_count(this: &Self) -> usize {
        let turn = this.share.turn_of_borrower(SyncVarOp::CountRead, Site::caller());
        let count = std::sync::Arc::strong_count(&this.inner);
        turn.looked(count);
        count
    }

    /// Returns the number of weak handles.
    #[must_use]
    #[track_caller]
    pub fn weak_count(this: &Self) -> usize {
        let turn = this.share.turn_of_borrower(SyncVarOp::CountRead, Site::caller());
        let count = std::sync::Arc::weak_count(&this.inner);
        turn.looked(count);
        count
    }

    /// Returns a weak handle on the same value.
    #[must_use = "this returns a new `Weak` pointer, without modifying the original `Arc`"]
    #[track_caller]
    pub fn downgrade(this: &Self) -> Weak<T> {
        let site = Site::caller();
        let turn = this.share.turn_of_borrower(SyncVarOp::CountUp, site);
        Weak {
            share: this.share.one_more(turn, site),
            inner: std::sync::Arc::downgrade(&this.inner),
        }
    }

    /// Returns the value, if this is the only handle of any kind.
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        let turn = this.share.turn(SyncVarOp::CountRead, Site::caller());
        let strong = std::sync::Arc::strong_count(&this.inner);
        let value = std::sync::Arc::get_mut(&mut this.inner);
        match value {
            Some(_) => turn.alone(),
            None => turn.looked(strong),
        }
        value
    }

    /// Returns the value after making it this handle's own: it is cloned if others keep it alive, or moved away from
    /// the weak handles on it.
    #[track_caller]
    pub fn make_mut(this: &mut Self) -> &mut T
    where
        T: MakeMut,
    {
        let site = Site::caller();
        let turn = this.share.turn(SyncVarOp::CountRead, site);
        let strong = std::sync::Arc::strong_count(&this.inner);
        let moves = strong == 1 && std::sync::Arc::weak_count(&this.inner) > 0;
        if moves {
            let share = std::mem::replace(
                &mut this.share,
                Share::with_counts(1, 0, std::mem::needs_drop::<T>(), site),
            );
            share.retire(turn);
            // Only weak handles are left: std moves the value to memory of its own here.
            T::make_mut(&mut this.inner);
            this.note_place();
        } else if strong == 1 {
            turn.fails();
            turn.alone();
        } else {
            turn.fails();
            turn.looked(strong);
        }
        if strong != 1 {
            let own = T::cloned(&this.inner);
            *this = Arc {
                share: Share::with_counts(1, 0, std::mem::needs_drop::<T>(), site),
                inner: own,
            };
            this.note_place();
        }
        T::make_mut(&mut this.inner)
    }

    /// Returns `true` if both are handles on one value.
    #[must_use]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        std::sync::Arc::ptr_eq(&this.inner, &other.inner)
    }

    /// Returns the address of the value.
    #[must_use]
    pub fn as_ptr(this: &Self) -> *const T {
        std::sync::Arc::as_ptr(&this.inner)
    }

    /// Returns the address of the value; the handle still counts, but no longer exists.
    #[must_use = "losing the pointer will leak memory"]
    pub fn into_raw(this: Self) -> *const T {
        let Arc { share, inner } = this;
        let pointer = std::sync::Arc::into_raw(inner);
        share.keep(pointer.addr());
        pointer
    }

    /// Returns the handle that was turned into this pointer.
    ///
    /// # Safety
    /// The pointer came from `into_raw`, of this type or one with the same layout, or from `as_ptr` of a handle that was
    /// forgotten. Each such handle is restored at most once.
    #[track_caller]
    pub unsafe fn from_raw(ptr: *const T) -> Arc<T> {
        let site = Site::caller();
        // SAFETY: as the caller says.
        let inner = unsafe { std::sync::Arc::from_raw(ptr) };
        let share = Share::kept(ptr.addr(), site).unwrap_or_else(|| {
            let (strong, weak) = (
                std::sync::Arc::strong_count(&inner),
                std::sync::Arc::weak_count(&inner),
            );
            let share = Share::with_counts(strong, weak, std::mem::needs_drop::<T>(), site);
            share.has_address(ptr.addr());
            share
        });
        let arc = Arc { share, inner };
        // The pointer may be to another type than before.
        if std::mem::needs_drop::<T>() {
            arc.share.has_destructor(site);
        }
        arc
    }

    /// Counts one more handle on the value at this address.
    ///
    /// # Safety
    /// The pointer came from `into_raw`, and the value is alive.
    #[track_caller]
    pub unsafe fn increment_strong_count(ptr: *const T) {
        // SAFETY: as the caller says; both handles are turned into pointers again.
        let known = unsafe { Arc::from_raw(ptr) };
        let more = known.clone();
        let _ = (Arc::into_raw(known), Arc::into_raw(more));
    }

    /// Counts one less handle on the value at this address; drops the value if it was the last.
    ///
    /// # Safety
    /// The pointer came from `into_raw`, and counts for a handle.
    #[track_caller]
    pub unsafe fn decrement_strong_count(ptr: *const T) {
        // SAFETY: as the caller says.
        drop(unsafe { Arc::from_raw(ptr) });
    }
}

/// A value that [`Arc::make_mut`] can clone: values, slices and strings.
pub trait MakeMut {
    /// Returns a clone with a handle of its own.
    fn cloned(&self) -> std::sync::Arc<Self>;
    /// Calls std's `make_mut`.
    fn make_mut(this: &mut std::sync::Arc<Self>) -> &mut Self;
}

impl<T: Clone> MakeMut for T {
    fn cloned(&self) -> std::sync::Arc<T> {
        std::sync::Arc::new(self.clone())
    }
    fn make_mut(this: &mut std::sync::Arc<T>) -> &mut T {
        std::sync::Arc::make_mut(this)
    }
}

impl<T: Clone> MakeMut for [T] {
    fn cloned(&self) -> std::sync::Arc<[T]> {
        std::sync::Arc::from(self)
    }
    fn make_mut(this: &mut std::sync::Arc<[T]>) -> &mut [T] {
        std::sync::Arc::make_mut(this)
    }
}

impl MakeMut for str {
    fn cloned(&self) -> std::sync::Arc<str> {
        std::sync::Arc::from(self)
    }
    fn make_mut(this: &mut std::sync::Arc<str>) -> &mut str {
        std::sync::Arc::make_mut(this)
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Arc<T> {
        let site = Site::caller();
        let turn = self.share.turn_of_borrower(SyncVarOp::CountUp, site);
        Arc {
            share: self.share.one_more(turn, site),
            inner: self.inner.clone(),
        }
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> Weak<T> {
    /// Returns a handle on nothing.
    #[must_use]
    #[track_caller]
    pub const fn new() -> Weak<T> {
        Weak {
            share: Share::nowhere(Site::caller()),
            inner: std::sync::Weak::new(),
        }
    }
}

impl<T: ?Sized> Weak<T> {
    /// Returns a handle that keeps the value alive, if it still is alive.
    #[must_use = "this returns a new `Arc`, without modifying the original weak pointer"]
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let site = Site::caller();
        // A clone commutes with the end of another handle, and samples pass it. This does not: it looks first.
        let turn = self.share.turn_of_borrower(SyncVarOp::CountRead, site);
        match self.inner.upgrade() {
            Some(inner) => {
                turn.decides();
                // What came before the value was there, and before other handles went, is known now.
                let turn = turn.ordered(MemoryOrder::Acquire);
                Some(Arc {
                    share: self.share.one_more(turn, site),
                    inner,
                })
            }
            None => {
                turn.fails();
                turn.looked(0);
                None
            }
        }
    }

    /// Returns the number of handles that keep the value alive.
    #[must_use]
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        let turn = self.share.turn_of_borrower(SyncVarOp::CountRead, Site::caller());
        let count = self.inner.strong_count();
        turn.looked(count);
        count
    }

    /// Returns the number of weak handles; 0 once the value is dropped.
    #[must_use]
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        let turn = self.share.turn_of_borrower(SyncVarOp::CountRead, Site::caller());
        let count = self.inner.weak_count();
        turn.looked(count);
        count
    }

    /// Returns `true` if both are handles on one value, or on nothing.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.inner.ptr_eq(&other.inner)
    }

    /// Returns the present or former address of the value.
    #[must_use]
    pub fn as_ptr(&self) -> *const T {
        self.inner.as_ptr()
    }

    /// Returns the present or former address of the value; the handle still counts, but no longer exists.
    #[must_use = "losing the pointer will leak memory"]
    pub fn into_raw(self) -> *const T {
        let Weak { share, inner } = self;
        let pointer = inner.into_raw();
        share.keep(pointer.addr());
        pointer
    }

    /// Returns the handle that was turned into this pointer.
    ///
    /// # Safety
    /// The pointer came from `into_raw`, or from `as_ptr` of a handle that was forgotten. Each such handle is restored at
    /// most once.
    #[track_caller]
    pub unsafe fn from_raw(ptr: *const T) -> Weak<T> {
        let site = Site::caller();
        // SAFETY: as the caller says.
        let inner = unsafe { std::sync::Weak::from_raw(ptr) };
        Weak {
            share: Share::kept(ptr.addr(), site).unwrap_or(Share::nowhere(site)),
            inner,
        }
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Weak<T> {
        let site = Site::caller();
        let turn = self.share.turn_of_borrower(SyncVarOp::CountUp, site);
        Weak {
            share: self.share.one_more(turn, site),
            inner: self.inner.clone(),
        }
    }
}
