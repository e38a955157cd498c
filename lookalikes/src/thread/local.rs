//! `std::thread_local!` and its keys.
//!
//! Inside an execution each task has its own values, kept in the task's entry. Outside, the values are std's: the macro
//! declares a thread-local of std, with the key around it.
//!
//! As in std, a key is a constant, so it can be copied into other constants and statics, and into values. A declaration
//! has one hidden static, with std's key. All copies of the key refer to it, and its address identifies the values.
//!
//! As in std, a value is created at its first use. Values with a destructor are dropped at the end of the task, in the
//! reverse order of their creation. Once its destructor begins, a value can no longer be accessed.

use crate::cell::Cell as OwnCell;
use crate::traits::opaque;
use intermezzo_engine::runtime::{Engine, Local};
use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt;
use std::mem::needs_drop;

/// Declares thread-local keys: `std::thread_local!`, with the same syntax.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::thread::thread_local;
/// use std::cell::{Cell, RefCell};
///
/// thread_local! {
///     /// Names seen on this thread.
///     pub static NAMES: RefCell<Vec<String>> = RefCell::new(Vec::new());
///     static COUNT: Cell<u32> = const { Cell::new(0) };
/// }
///
/// COUNT.set(COUNT.get() + 1);
/// NAMES.with_borrow_mut(|names| names.push("Ada".into()));
/// assert_eq!((COUNT.get(), NAMES.take()), (1, vec!["Ada".to_string()]));
/// ```
#[macro_export]
macro_rules! thread_local_lookalike {
    () => {};

    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $value:ty = const $init:block $(; $($rest:tt)*)?) => {
        $(#[$attribute])*
        $visibility const $name: $crate::thread::LocalKey<$value> = {
            #[allow(clippy::declare_interior_mutable_const, reason = "each thread gets its own")]
            const INTERMEZZO_INIT: $value = $init;
            $crate::real_std::thread_local! {
                static INTERMEZZO_OUTSIDE: $value = const { INTERMEZZO_INIT };
            }
            static INTERMEZZO_KEY: $crate::real_std::thread::LocalKey<$value> = INTERMEZZO_OUTSIDE;
            $crate::thread::LocalKey::new(&INTERMEZZO_KEY, || INTERMEZZO_INIT)
        };
        $($crate::thread_local_lookalike! { $($rest)* })?
    };

    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $value:ty = $init:expr $(; $($rest:tt)*)?) => {
        $(#[$attribute])*
        $visibility const $name: $crate::thread::LocalKey<$value> = {
            fn intermezzo_init() -> $value {
                $init
            }
            $crate::real_std::thread_local! {
                static INTERMEZZO_OUTSIDE: $value = intermezzo_init();
            }
            static INTERMEZZO_KEY: $crate::real_std::thread::LocalKey<$value> = INTERMEZZO_OUTSIDE;
            $crate::thread::LocalKey::new(&INTERMEZZO_KEY, intermezzo_init)
        };
        $($crate::thread_local_lookalike! { $($rest)* })?
    };
}

/// A key to a value of which each thread has its own: `std::thread::LocalKey`. Created by
/// [`thread_local!`](crate::thread_local_lookalike).
pub struct LocalKey<T: 'static> {
    /// The hidden static of the declaration. Its address is the same for all copies of the key; that of a copy is not,
    /// because the compiler makes as many of a constant as it likes.
    outside: &'static std::thread::LocalKey<T>,
    init: fn() -> T,
}

/// An access to the value of a thread-local key while, or after, it was dropped: `std::thread::AccessError`.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AccessError;

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessError").finish()
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl Error for AccessError {}

#[cold]
#[track_caller]
fn inaccessible(error: AccessError) -> ! {
    panic!("cannot access a Thread Local Storage value during or after destruction: {error:?}")
}

impl<T: 'static> LocalKey<T> {
    /// Returns a key; for `thread_local!` only.
    #[doc(hidden)]
    pub const fn new(outside: &'static std::thread::LocalKey<T>, init: fn() -> T) -> LocalKey<T> {
        LocalKey { outside, init }
    }

    /// Returns the current task's value. If there is none yet, it is created from `given` if that is `Some`, and otherwise
    /// by the key's initialiser.
    fn inside(&'static self, engine: Engine, given: &mut Option<T>) -> Result<*const T, AccessError> {
        let key = std::ptr::from_ref(self.outside).addr();
        let task = engine.task();
        let known = engine.with_task(task, |entry| {
            let local = entry.locals.iter().find(|local| local.key == key)?;
            Some(local.value.as_deref().map(value_of))
        });
        if let Some(value) = known {
            return value.ok_or(AccessError);
        }
        // The initialiser is the test's code: the engine is not in use while it runs.
        let value = Box::new(given.take().unwrap_or_else(self.init));
        let pointer = &raw const *value;
        let earlier = engine.with_task(task, |entry| {
            match entry.locals.iter_mut().find(|local| local.key == key) {
                // It has initialised this very key. The later value stays, as in std.
                Some(local) => local.value.replace(value),
                None => {
                    entry.locals.push(Local {
                        key,
                        has_destructor: needs_drop::<T>(),
                        value: Some(value),
                    });
                    None
                }
            }
        });
        drop(earlier);
        Ok(pointer)
    }

    /// Calls the closure with this thread's value, which is made first if there is none yet.
    ///
    /// # Errors
    /// If the value is being dropped, or was dropped.
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        match Engine::current() {
            // SAFETY: the value is dropped at the end of the task, when this call has ended.
            Some(engine) => Ok(f(unsafe { &*self.inside(engine, &mut None)? })),
            None => self.outside.try_with(f).map_err(|_| AccessError),
        }
    }

    /// Calls the closure with this thread's value, which is made first if there is none yet.
    ///
    /// # Panics
    /// If the value is being dropped, or was dropped.
    #[track_caller]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        match self.try_with(f) {
            Ok(result) => result,
            Err(error) => inaccessible(error),
        }
    }

    /// Creates the current task's value from `given`, or stores `given` if there is a value already.
    #[track_caller]
    fn put_inside(&'static self, engine: Engine, given: T, store: impl FnOnce(&T, T)) {
        let mut given = Some(given);
        match self.inside(engine, &mut given) {
            Ok(value) => {
                if let Some(given) = given {
                    // SAFETY: as in `try_with`.
                    store(unsafe { &*value }, given);
                }
            }
            Err(error) => inaccessible(error),
        }
    }
}

fn value_of<T: 'static>(value: &(dyn std::any::Any + 'static)) -> *const T {
    let value: &T = value.downcast_ref().expect("a key's values are of its type");
    value
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Stores a value. The initialiser does not run.
    ///
    /// # Panics
    /// If this thread's cell is being dropped, or was dropped.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        match Engine::current() {
            Some(engine) => self.put_inside(engine, Cell::new(value), |cell, given| {
                cell.set(given.into_inner())
            }),
            None => self.outside.set(value),
        }
    }
}

impl<T: 'static> LocalKey<OwnCell<T>> {
    /// Stores a value. Inside an exploration the initialiser does not run.
    ///
    /// # Panics
    /// If this thread's cell is being dropped, or was dropped.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        match Engine::current() {
            Some(engine) => {
                let store = |cell: &OwnCell<T>, given: OwnCell<T>| cell.set(given.into_inner());
                self.put_inside(engine, OwnCell::new(value), store);
            }
            None => self.with(|cell| cell.set(value)),
        }
    }
}

/// Implements for keys to a type of cell what std's keys to cells have, except `set`.
macro_rules! of_cells {
    ($($cell:ident),*) => {$(
        impl<T: 'static> LocalKey<$cell<T>> {
            /// Returns a copy of the value.
            ///
            /// # Panics
            /// If this thread's cell is being dropped, or was dropped.
            #[track_caller]
            pub fn get(&'static self) -> T
            where
                T: Copy,
            {
                self.with($cell::get)
            }

            /// Returns the value, and leaves the default in its place.
            ///
            /// # Panics
            /// If this thread's cell is being dropped, or was dropped.
            #[track_caller]
            pub fn take(&'static self) -> T
            where
                T: Default,
            {
                self.with($cell::take)
            }

            /// Stores a value, and returns the value before.
            ///
            /// # Panics
            /// If this thread's cell is being dropped, or was dropped.
            #[track_caller]
            pub fn replace(&'static self, value: T) -> T {
                self.with(|cell| cell.replace(value))
            }
        }
    )*};
}

of_cells!(Cell, OwnCell);

impl<T: 'static> LocalKey<RefCell<T>> {
    /// Calls the closure with the value, borrowed.
    ///
    /// # Panics
    /// If the value is mutably borrowed, or this thread's cell is being dropped or was dropped.
    #[track_caller]
    pub fn with_borrow<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| f(&cell.borrow()))
    }

    /// Calls the closure with the value, mutably borrowed.
    ///
    /// # Panics
    /// If the value is borrowed, or this thread's cell is being dropped or was dropped.
    #[track_caller]
    pub fn with_borrow_mut<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// Stores a value. The initialiser does not run.
    ///
    /// # Panics
    /// If the value is borrowed, or this thread's cell is being dropped or was dropped.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        match Engine::current() {
            Some(engine) => {
                self.put_inside(engine, RefCell::new(value), |cell, given| {
                    *cell.borrow_mut() = given.into_inner()
                });
            }
            None => self.outside.set(value),
        }
    }

    /// Returns the value, and leaves the default in its place.
    ///
    /// # Panics
    /// If the value is borrowed, or this thread's cell is being dropped or was dropped.
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// Stores a value, and returns the value before.
    ///
    /// # Panics
    /// If the value is borrowed, or this thread's cell is being dropped or was dropped.
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

opaque! { [T: 'static] LocalKey<T>; }
