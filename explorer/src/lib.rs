//! Explorations of intermezzo, from settings to a report: the builder, the driver, findings, replay and monitors from
//! plugins.
//!
//! A test written against the look-alikes ([`sync`], [`thread`], ..) is run by an [`Explorer`], once per
//! schedule. Data flows one way:
//!
//! ```text
//! test -> look-alikes -> runtime -> events -> monitors -> findings -> Report
//!                           ^
//! Strategy <- choices ------+
//! ```
#![cfg_attr(
    not(feature = "files"),
    allow(dead_code, reason = "used only by serde's attributes, or only in files")
)]

pub mod baseline;
mod classify;
mod determinism;
mod driver;
mod explore;
mod files;
mod guarded;
mod listening;
mod minimise;
mod orderings;
mod passing_on;
mod plugin;
pub mod recording;
pub mod report;
mod retry;
pub mod settings;
mod stop_before;

/// Schedules: the decisions of an execution, as tokens and as files.
pub mod schedule {
    pub use intermezzo_engine::schedule::{Carrier, Choice, ChoiceKind, Schedule, ScheduleError, TestBinary};
}

/// Strategies, which decide the schedule that is run next.
pub mod search {
    #[cfg(feature = "all-searches")]
    pub use crate::explore::Within;
    pub use intermezzo_engine::site::{Place, Site};
    #[cfg(feature = "all-searches")]
    pub use intermezzo_search::{
        BestFirst, BuiltIn, DepthBounded, IterativeDelayBounding, Prefix, Priorities, Priority, PriorityKind,
        PrioritySpec, Ranked, ThreadBound,
    };
    pub use intermezzo_search::{
        ChoicePoint, CompletedExecution, DepthFirst, FallbackReason, Idle, Interesting,
        IterativePreemptionBounding, Needs, Operation, Parallel, Plan, Remaining, Replay, Resumable,
        SearchPosition, SearchState, SoFar, Status, Strategy, WorkHandle,
    };
}

/// The happens-before relation of an execution.
pub mod trace {
    pub use intermezzo_engine::trace::{Analysis, Trace};
}

/// Concurrent breakpoints: two places in the code at which two tasks meet, and the one that continues first. In an
/// exploration the setting `breakpoints` arms them, and no task waits in real time.
pub use intermezzo_breakpoint as breakpoint;
#[doc(hidden)]
pub use intermezzo_engine::foreign;

/// The parts that the overlays of std need besides the look-alikes.
#[doc(hidden)]
#[cfg(feature = "unmodified")]
pub mod unmodified {
    pub use intermezzo_engine::runtime::arena::{Arena, outside};
    pub use intermezzo_engine::runtime::panics::panic_at;
    pub use intermezzo_engine::runtime::races::{see_counts, watch_memory};
    pub use intermezzo_engine::runtime::{around_executions, keep_statics, lay_over_std};
    pub use intermezzo_lookalikes::alloc::OfProgram;
    #[cfg(target_arch = "x86_64")]
    pub use intermezzo_lookalikes::assembly::x86_64::{__rdtscp, _mm_mfence, _rdtsc, cmpxchg16b};
    pub use intermezzo_lookalikes::assembly::{Assembly, assembly};
    pub use intermezzo_lookalikes::panic_hook::{set_hook, take_hook};
    pub use intermezzo_lookalikes::{TRANSPARENT, process, streams};
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    pub use intermezzo_lookalikes::{c_io, c_random, c_semaphores, c_time, futex};

    /// The directories of the sources that are compiled into the crates that use them.
    pub const SOURCES: [&str; 2] = [
        concat!(env!("CARGO_MANIFEST_DIR"), "/src"),
        intermezzo_lookalikes::SOURCES,
    ];
}

pub use driver::{CheckpointError, CheckpointProblem, ExploreError, OnFound, Progress};
pub use explore::{Explorer, Strategy};
pub use guarded::StrategyError;
pub use intermezzo_engine::environment::Environment;
pub use intermezzo_engine::runtime::Inspection;
#[doc(hidden)]
pub use intermezzo_engine::runtime::arena::outside;
#[doc(hidden)]
pub use intermezzo_engine::runtime::is_laid_over_std;
pub use intermezzo_engine::runtime::journal::{Damaged, Unfinished, unfinished};
#[doc(hidden)]
pub use intermezzo_engine::runtime::races::{is_memory_watched, is_order_seen};
pub use intermezzo_engine::schedule::{Schedule, ScheduleError, TestBinary};
pub use intermezzo_engine::scope::Scope;
pub use intermezzo_engine::sites::Sites;
pub use intermezzo_engine::strategy::Partition;
pub use intermezzo_lookalikes::*;
pub use intermezzo_search::classic::maple::{IRootCoverage, IRootId, MemoError};
#[cfg(feature = "all-searches")]
pub use intermezzo_search::classic::maple::{
    IRootsExposed, MemoProblem, MergedMemo, StoredIRoot, StoredMemo, StoredTest,
};
pub use intermezzo_search::estimate::Estimate;
pub use plugin::bring as bring_monitors;
pub use plugin::{Brought, ByName, Plugin, PluginError, PluginProblem, Tried};
pub use report::{
    Awaited, BreakpointFigures, Coverage, Effect, EndlessCause, Expected, Figure, Finding, FindingDeed,
    FindingDetail, FindingEvent, FoundBy, Growth, HangState, Limit, LoopStep, NamedPlace, OrderingAdvice,
    PlainAccesses, RankBound, ReplayedBy, Replays, Report, Reproduction, Reversal, Share, StrongerOrdering,
    SuggestedBreakpoint, SuggestedPlace, TaskLoop, TaskPanic, TextStyle, TurningPoint, Verbosity, Verdict,
    WaitingTask, WeakMemory,
};
pub use settings::{
    Arrays, AutoOptions, BestFirstOptions, DepthFirstBounds, Epsilon, IRootOptions, MonitorRequest,
    RankedOptions, Reduction, SettingError, Settings, SpinLoops, StrategyKind, VariableSets,
};
pub use stop_before::{StopPoint, Stopped};
