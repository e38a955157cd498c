//! `std::sync::OnceLock`. Its value is inside the object, so that a static one is empty in every execution.

use super::once::{Initialisation, Poison};
use crate::name::named_by;
use intermezzo_engine::site::Site;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// A cell that is written once: `std::sync::OnceLock`.
pub struct OnceLock<T> {
    /// `Some` once it is complete.
    initialisation: Initialisation<Option<T>>,
}

named_by! { [T] OnceLock<T>: initialisation; }

// SAFETY: the one initialising call writes the value, maybe on another thread than where it is dropped (`Send`); it is
// shared from then on (`Sync`).
unsafe impl<T: Sync + Send> Sync for OnceLock<T> {}
impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}
impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// Returns an empty cell.
    pub const fn new() -> OnceLock<T> {
        OnceLock {
            initialisation: Initialisation::new(None),
        }
    }

    /// Returns the value, if it is there.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        let value = self.initialisation.look(Site::caller())?;
        Some(self.ready(value))
    }

    /// Returns the value of a cell that is not shared, if it is there.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.initialisation.get_mut().as_mut()
    }

    /// Returns the value; waits until another task has stored it.
    #[track_caller]
    pub fn wait(&self) -> &T {
        let value = self.initialisation.wait(Site::caller(), Poison::Ignored);
        self.ready(value)
    }

    /// Stores a value.
    ///
    /// # Errors
    /// If there is one already. The error contains the new one.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.initialisation
            .call(Site::caller(), Poison::Ignored, |_, place| {
                // SAFETY: only the initialising call accesses the place.
                unsafe { *place = value.take() };
            });
        match value {
            None => Ok(()),
            Some(value) => Err(value),
        }
    }

    /// Returns the value; `f` creates it if there is none. Waits if another task is creating it. If `f` itself calls this
    /// function, it waits for ever.
    ///
    /// # Panics
    /// If `f` panics. The cell then stays empty.
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
        let value = self
            .initialisation
            .call(Site::caller(), Poison::Ignored, |_, place| {
                let value = Some(f());
                // SAFETY: only the initialising call accesses the place.
                unsafe { *place = value };
            });
        self.ready(value)
    }

    /// Returns the value.
    pub fn into_inner(self) -> Option<T> {
        self.initialisation.into_inner()
    }

    /// Returns the value and leaves the cell empty.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        let value = self.initialisation.get_mut().take();
        if value.is_some() {
            self.initialisation.reset();
        }
        value
    }

    /// Returns the value of a cell that is complete.
    fn ready(&self, value: *mut Option<T>) -> &T {
        // SAFETY: once it is complete, the value is shared for as long as the cell is.
        unsafe { &*value }.as_ref().expect("a complete cell has a value")
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        OnceLock::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        OnceLock {
            initialisation: Initialisation::complete(Some(value)),
        }
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.get().cloned().map_or_else(OnceLock::new, OnceLock::from)
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple("OnceLock");
        match self.get() {
            Some(value) => shown.field(value),
            None => shown.field(&format_args!("<uninit>")),
        };
        shown.finish()
    }
}
