//! `shuttle::lazy_static`: the types behind the macro of that name, and the macro.

#[doc(hidden)]
pub use core::ops::Deref as __Deref;

pub use crate::lazy_static;

use intermezzo::sync::LazyLock;

/// A value made at its first use in each execution, and dropped at its end.
#[derive(Debug)]
pub struct Lazy<T: Sync>(LazyLock<T>);

impl<T: Sync + 'static> Lazy<T> {
    /// Returns the value; made now if this is its first use.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        LazyLock::force(&self.0)
    }
}

impl<T: Sync> Lazy<T> {
    /// Creates a value that this function will make.
    pub const fn new(init: fn() -> T) -> Lazy<T> {
        Lazy(LazyLock::new(init))
    }
}

/// A static of the macro.
pub trait LazyStatic {
    #[doc(hidden)]
    fn initialize(lazy: &Self);
}

/// Makes the value of a static of the macro, unless that has been done.
pub fn initialize<T: LazyStatic>(lazy: &T) {
    LazyStatic::initialize(lazy);
}
