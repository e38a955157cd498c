//! shuttle's API (0.9), over intermezzo: with `[patch.crates-io] shuttle = { path = ".../shims/shuttle" }`, a crate that is
//! tested with shuttle runs under intermezzo. `docs/SHUTTLE.md` lists the differences.

pub mod annotations;
mod check;
mod clock;
mod clocks;
mod config;
pub mod current;
mod failure;
pub mod future;
pub mod hint;
mod labels;
pub mod lazy_static;
mod left;
mod portfolio;
pub mod rand;
mod runner;
pub mod scheduler;
mod signature;
mod spans;
mod state;
pub mod sync;
mod tag;
mod task;
mod task_id;
mod teardown;
pub mod thread;

#[cfg(feature = "annotation")]
pub use check::annotate_replay;
pub use check::{
    check, check_dfs, check_pct, check_random, check_random_with_seed, check_uncontrolled_nondeterminism,
    check_urw, replay, replay_from_file,
};
pub use config::{
    Config, ContinuationFunctionBehavior, FailurePersistence, MaxSteps, UngracefulShutdownConfig,
};
pub use intermezzo::thread_local;
pub use portfolio::PortfolioRunner;
pub use runner::Runner;

/// The environment variable with which shuttle shows where each task waits. Ignored: reports always do.
pub const CAPTURE_BACKTRACE: &str = "SHUTTLE_CAPTURE_BACKTRACE";

/// The environment variable with which shuttle is silent about what it may miss. Ignored: nothing is said.
pub const SILENCE_WARNINGS: &str = "SHUTTLE_SILENCE_WARNINGS";

/// The environment variable with the file for an annotated schedule. Ignored: none is written.
pub const ANNOTATION_FILE: &str = "SHUTTLE_ANNOTATION_FILE";

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
        #[allow(non_camel_case_types, missing_copy_implementations, dead_code)]
        $(#[$attribute])*
        $($visible)* struct $name {
            __private_field: (),
        }
        #[doc(hidden)]
        $($visible)* static $name: $name = $name { __private_field: () };
        impl ::core::ops::Deref for $name {
            type Target = $value;
            fn deref(&self) -> &$value {
                static LAZY: $crate::lazy_static::Lazy<$value> = $crate::lazy_static::Lazy::new(|| $init);
                LAZY.get()
            }
        }
        impl $crate::lazy_static::LazyStatic for $name {
            fn initialize(lazy: &Self) {
                let _ = &**lazy;
            }
        }
    };
}
