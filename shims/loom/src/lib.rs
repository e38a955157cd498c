//! loom's API (0.7), over intermezzo: with `[patch.crates-io] loom = { path = ".../shims/loom" }`, a crate with a
//! switch for loom runs under intermezzo. `docs/LOOM.md` lists the differences.

pub mod alloc;
pub mod cell;
#[cfg(feature = "futures")]
pub mod future;
pub mod hint;
pub mod lazy_static;
pub mod model;
pub mod sync;
pub mod thread;

#[doc(inline)]
pub use crate::model::model;
pub use intermezzo::thread_local;

/// Most threads of a model in loom. Here there is no such limit.
pub const MAX_THREADS: usize = 5;

/// Does nothing. In loom, schedules are explored again from here on; here they always are.
pub fn explore() {}

/// Does nothing. In loom, no other schedules are explored from here on; here they are, which covers more.
pub fn stop_exploring() {}

/// Does nothing. In loom, no other schedules of the rest of this execution are explored; here they are, which covers
/// more.
pub fn skip_branch() {}

/// Declares statics that are made at their first use in each execution: `lazy_static::lazy_static!`.
#[macro_export]
macro_rules! lazy_static {
    () => {};
    ($(#[$attribute:meta])* static ref $name:ident : $value:ty = $init:expr; $($rest:tt)*) => {
        $crate::lazy_static!(@one ($(#[$attribute])*) () $name, $value, $init);
        $crate::lazy_static!($($rest)*);
    };
    ($(#[$attribute:meta])* pub static ref $name:ident : $value:ty = $init:expr; $($rest:tt)*) => {
        $crate::lazy_static!(@one ($(#[$attribute])*) (pub) $name, $value, $init);
        $crate::lazy_static!($($rest)*);
    };
    ($(#[$attribute:meta])* pub ($($visible:tt)+) static ref $name:ident : $value:ty = $init:expr; $($rest:tt)*) => {
        $crate::lazy_static!(@one ($(#[$attribute])*) (pub($($visible)+)) $name, $value, $init);
        $crate::lazy_static!($($rest)*);
    };
    (@one ($(#[$attribute:meta])*) ($($visible:tt)*) $name:ident, $value:ty, $init:expr) => {
        #[allow(non_camel_case_types, dead_code)]
        $(#[$attribute])*
        $($visible)* struct $name {
            __private_field: (),
        }
        #[doc(hidden)]
        $($visible)* static $name: $name = $name { __private_field: () };
        impl ::core::ops::Deref for $name {
            type Target = $value;
            #[track_caller]
            fn deref(&self) -> &$value {
                static LAZY: $crate::lazy_static::Lazy<$value> = $crate::lazy_static::Lazy::new(|| $init);
                LAZY.get()
            }
        }
    };
}
