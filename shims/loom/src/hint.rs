//! `loom::hint`.

pub use intermezzo::hint::{spin_loop, unreachable_unchecked};
