//! The monitors that ship with intermezzo. Each is a module of its own, which states its source, its blind spots, and
//! whether it is reduction compatible; none uses another.
//!
//! Each can be made by `new`, or by `with_arguments` from a text: `name=value`, with commas between.

mod arguments;
#[cfg(feature = "all")]
pub mod atomicity;
mod by_name;
#[cfg(feature = "all")]
pub mod contention;
pub mod data_race;
#[cfg(feature = "all")]
pub mod event_log;
#[cfg(feature = "all")]
pub mod happens_before_counter;
mod held;
pub mod leak;
#[cfg(feature = "all")]
pub mod lock_order;
#[cfg(feature = "all")]
mod log_file;
pub mod misuse;
mod order;
#[cfg(feature = "all")]
pub mod stale_load;
#[cfg(feature = "all")]
pub mod statistics;

#[cfg(feature = "all")]
pub use atomicity::Atomicity;
pub use by_name::{SHIPPED, Shipped, by_name, names};
#[cfg(feature = "all")]
pub use contention::Contention;
pub use data_race::DataRaces;
#[cfg(feature = "all")]
pub use event_log::EventLog;
#[cfg(feature = "all")]
pub use happens_before_counter::HappensBeforeCounter;
pub use leak::Leaks;
#[cfg(feature = "all")]
pub use lock_order::LockOrder;
#[cfg(feature = "all")]
pub use log_file::{LogFile, event_log};
pub use misuse::Misuses;
#[cfg(feature = "all")]
pub use stale_load::StaleLoads;
#[cfg(feature = "all")]
pub use statistics::Statistics;
