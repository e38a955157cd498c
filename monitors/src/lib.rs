//! The monitors that ship with intermezzo. Each is a module of its own, which says where it comes from, what it does not
//! see, and whether it is reduction compatible; none uses another.

mod arguments;
pub mod data_race;
pub mod stale_load;

pub use data_race::DataRaces;
pub use stale_load::StaleLoads;
