//! `std`, with intermezzo's look-alikes where there are any. A crate that gets this as its `std` (a dependency
//! `std = { package = "intermezzo-std", .. }` in its manifest) runs under intermezzo with not a line of its own
//! changed. `docs/LOOM.md` lists the parts that are not covered.

pub use ::std::*;
pub use intermezzo::{cell, sync, thread, thread_local};

/// `std::hint`, controlled.
pub mod hint {
    pub use ::std::hint::*;
    pub use intermezzo::hint::spin_loop;
}

/// `std::time`, on the virtual clock.
pub mod time {
    pub use ::std::time::*;
    pub use intermezzo::time::{Instant, SystemTime};
}
