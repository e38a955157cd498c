//! The monitors that ship with intermezzo. Each is a file of its own, which says where it comes from, what it does not
//! see, and whether it is reduction compatible; none uses another.

pub mod stale_load;

pub use stale_load::StaleLoads;
