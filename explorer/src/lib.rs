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
mod coverage;
mod described;
mod driver;
mod environment;
mod estimate;
mod explore;
mod files;
#[doc(hidden)]
pub mod foreign;
mod judge;
mod listening;
mod lookalike;
mod minimise;
mod monitors;
mod plugin;
mod record;
pub mod recording;
pub mod report;
mod runtime;
pub mod schedule;
mod scope;
pub mod search;
pub mod settings;
mod sites;
mod source;
mod strategy;
mod suggest;
pub mod trace;
mod words;

/// Concurrent breakpoints: places in the code at which two tasks meet, and which of them goes first. Inside an exploration
/// the setting `breakpoints` arms them, and nobody waits in real time.
pub use intermezzo_breakpoint as breakpoint;

pub use coverage::{IRootCoverage, IRootsExposed, MemoError, MemoProblem};
pub use driver::{CheckpointError, CheckpointProblem, ExploreError, Progress};
pub use environment::Environment;
pub use estimate::Estimate;
pub use explore::{Explorer, Strategy};
pub use lookalike::*;
pub use plugin::bring as bring_monitors;
pub use plugin::{Brought, ByName, Plugin, PluginError, PluginProblem, Tried};
pub use report::{
    BreakpointFigures, Coverage, Detail, Evidence, Finding, FindingDeed, FindingEvent, Limit, NamedPlace,
    PlainAccesses, RankBound, ReplayedBy, Replays, Report, Reproduction, SuggestedBreakpoint, SuggestedPlace,
    TextStyle, Verdict, WaitingTask,
};
pub use runtime::Glance;
pub use runtime::journal::{Unfinished, unfinished};
pub use schedule::{Schedule, ScheduleError, TestBinary};
pub use scope::Scope;
pub use settings::{Arrays, Epsilon, Reduction, SettingError, Settings, StrategyKind, VariableSets, Wanted};
pub use sites::Sites;
