//! The controlled runtime, the `std` look-alikes, the search and the replay of intermezzo.
//!
//! A test written against the look-alikes ([`sync`], [`thread`], ..) is run by an [`Explorer`], once per
//! schedule. Data flows one way:
//!
//! ```text
//! test -> look-alikes -> runtime -> events -> monitors -> findings -> Report
//!                           ^
//! Strategy <- choices ------+
//! ```

mod attempts;
mod driver;
mod environment;
mod estimate;
mod explore;
mod judge;
mod lookalike;
mod minimise;
mod plugin;
pub mod recording;
pub mod report;
mod runtime;
pub mod schedule;
mod scope;
pub mod search;
mod settings;
mod sites;
pub mod trace;

pub use driver::{CheckpointError, CheckpointProblem};
pub use environment::Environment;
pub use estimate::Estimate;
pub use explore::{ExploreError, Explorer, Progress, Strategy};
pub use lookalike::*;
pub use plugin::{ByName, Plugin, PluginError, PluginProblem, Tried};
pub use report::{Coverage, Evidence, Finding, FindingEvent, Replays, Report, Verdict, WaitingTask};
pub use schedule::{Schedule, ScheduleError};
pub use scope::Scope;
pub use settings::{Reduction, SettingError, Settings, StrategyKind, Wanted};
pub use sites::Sites;
