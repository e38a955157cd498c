//! `std::sync::LazyLock`. Closure and value are inside the object, so that a static one is fresh in every execution.

use super::once::{Initialisation, Poison};
use crate::name::named_by;
use intermezzo_engine::site::Site;
use std::fmt;
use std::mem::replace;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};

/// The content of a lazy value.
enum Lazy<T, F> {
    Closure(F),
    Value(T),
    /// The closure runs, or has panicked.
    Spent,
}

/// A value made at its first use: `std::sync::LazyLock`.
pub struct LazyLock<T, F = fn() -> T> {
    initialisation: Initialisation<Lazy<T, F>>,
}

named_by! { [T, F] LazyLock<T, F>: initialisation; }

// SAFETY: the closure is only called, by one task, maybe on another thread (`Send`); the value is shared.
unsafe impl<T: Sync + Send, F: Send> Sync for LazyLock<T, F> {}
impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}
impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}

const POISONED: &str = "LazyLock instance has previously been poisoned";

#[cold]
#[track_caller]
fn poisoned() -> ! {
    panic!("{POISONED}");
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Returns a lazy value that this closure will make.
    pub const fn new(f: F) -> LazyLock<T, F> {
        LazyLock {
            initialisation: Initialisation::new(Lazy::Closure(f)),
        }
    }

    /// Returns the value; made now if this is its first use. Waits if another task is making it.
    ///
    /// # Panics
    /// If the closure panics, or panicked before.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        let poison = Poison::Panics(POISONED);
        let value = this.initialisation.call(Site::caller(), poison, |_, lazy| {
            // SAFETY: only the initialising call accesses the closure and the place; no reference is held while the
            // closure runs.
            let Lazy::Closure(f) = (unsafe { replace(&mut *lazy, Lazy::Spent) }) else {
                poisoned()
            };
            let value = Lazy::Value(f());
            // SAFETY: as above.
            unsafe { *lazy = value };
        });
        this.ready(value)
    }

    /// Returns the value of a lazy value that is not shared; it is made now if this is its first use.
    ///
    /// # Panics
    /// If the closure panics, or panicked before.
    #[track_caller]
    pub fn force_mut(this: &mut LazyLock<T, F>) -> &mut T {
        if let Lazy::Closure(_) = this.initialisation.get_mut() {
            this.initialisation.settle_by(|lazy| {
                if let Lazy::Closure(f) = replace(lazy, Lazy::Spent) {
                    *lazy = Lazy::Value(f());
                }
            });
        }
        match this.initialisation.get_mut() {
            Lazy::Value(value) => value,
            _ => poisoned(),
        }
    }
}

impl<T, F> LazyLock<T, F> {
    /// Returns the value, if it was made.
    #[track_caller]
    pub fn get(this: &LazyLock<T, F>) -> Option<&T> {
        let value = this.initialisation.look(Site::caller())?;
        Some(this.ready(value))
    }

    /// Returns the value of a lazy value that is not shared, if it was made.
    pub fn get_mut(this: &mut LazyLock<T, F>) -> Option<&mut T> {
        match this.initialisation.get_mut() {
            Lazy::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value, which is complete.
    #[track_caller]
    fn ready(&self, value: *mut Lazy<T, F>) -> &T {
        // SAFETY: once it is complete, the value is shared for as long as the lazy value is.
        match unsafe { &*value } {
            Lazy::Value(value) => value,
            _ => poisoned(),
        }
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;
    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        LazyLock::force_mut(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    fn default() -> Self {
        LazyLock::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple("LazyLock");
        match LazyLock::get(self) {
            Some(value) => shown.field(value),
            None => shown.field(&format_args!("<uninit>")),
        };
        shown.finish()
    }
}
