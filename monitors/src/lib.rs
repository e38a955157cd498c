//! The monitors that ship with intermezzo. Each is a module of its own, which states its source, its blind spots, and
//! whether it is reduction compatible; none uses another.
//!
//! Each can be made by `new`, or by `with_arguments` from a text: `name=value`, with commas between.

mod arguments;
pub mod atomicity;
mod by_name;
pub mod contention;
pub mod data_race;
pub mod event_log;
pub mod happens_before_counter;
mod held;
pub mod leak;
pub mod lock_order;
mod log_file;
pub mod misuse;
mod order;
pub mod stale_load;
pub mod statistics;

pub use atomicity::Atomicity;
pub use by_name::{SHIPPED, Shipped, by_name, names};
pub use contention::Contention;
pub use data_race::DataRaces;
pub use event_log::EventLog;
pub use happens_before_counter::HappensBeforeCounter;
pub use leak::Leaks;
pub use lock_order::LockOrder;
pub use log_file::{LogFile, event_log};
pub use misuse::Misuses;
pub use stale_load::StaleLoads;
pub use statistics::Statistics;
