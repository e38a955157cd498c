//! `loom::lazy_static`: the types behind the macro of that name.

pub use intermezzo::thread::{AccessError, panicking, yield_now};

use intermezzo::sync::LazyLock;

/// A value made at its first use in each execution.
#[derive(Debug)]
pub struct Lazy<T>(LazyLock<T>);

impl<T: 'static> Lazy<T> {
    /// Creates a value that this function will make.
    pub const fn new(init: fn() -> T) -> Lazy<T> {
        Lazy(LazyLock::new(init))
    }

    /// Returns the value; made now if this is its first use.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        LazyLock::force(&self.0)
    }
}
