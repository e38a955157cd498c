//! The facade with the explorer behind it.

pub use intermezzo_explorer::thread_local_lookalike as thread_local;
pub use intermezzo_explorer::{
    Arrays, AutoOptions, Awaited, BestFirstOptions, BreakpointFigures, ByName, CheckpointError,
    CheckpointProblem, Coverage, DepthFirstBounds, Effect, EndlessCause, Environment, Epsilon, Estimate,
    Expected, ExploreError, Explorer, Figure, Finding, FindingDeed, FindingDetail, FindingEvent, FoundBy,
    Growth, HangState, IRootCoverage, IRootId, IRootOptions, Limit, LoopStep, MemoError, MonitorRequest,
    NamedPlace, OnFound, OrderingAdvice, Partition, PlainAccesses, Plugin, PluginError, PluginProblem,
    Progress, RankBound, RankedOptions, Reduction, ReplayedBy, Replays, Report, Reproduction, Reversal,
    Schedule, ScheduleError, Scope, SettingError, Settings, Share, Sites, SpinLoops, StopPoint, Stopped,
    Strategy, StrategyError, StrategyKind, StrongerOrdering, SuggestedBreakpoint, SuggestedPlace, TaskLoop,
    TaskPanic, TestBinary, TextStyle, Tried, TurningPoint, Unfinished, VariableSets, Verbosity, Verdict,
    WaitingTask, WeakMemory, unfinished,
};
#[cfg(feature = "all-searches")]
pub use intermezzo_explorer::{IRootsExposed, MemoProblem, MergedMemo, StoredIRoot, StoredMemo, StoredTest};
pub use intermezzo_explorer::{
    Nameable, any_bool, atomically, attribute, choices, choose, event, is_exploring, name, preemptions_off,
    preemptions_on, preemptions_preferred, quiesce, schedule_point, state,
};
pub use intermezzo_explorer::{
    alloc, baseline, breakpoint, cell, collections, future, hash, hint, primitive, ptr, rand, recording,
    report, schedule, search, settings, sync, task, thread, time, trace,
};
#[doc(hidden)]
pub use intermezzo_explorer::{
    end_withdrawal, foreign, hold, is_laid_over_std, is_memory_watched, is_order_seen, is_withdrawal,
    on_switch, point, reset_step_count, steps, withdraw,
};
/// The monitors that ship with it.
pub use intermezzo_monitors as monitors;
/// Refinement checks: concurrent objects against their sequential behaviour.
#[cfg(feature = "refinement")]
pub use intermezzo_refinement as refinement;
/// The Monitor contract: the events that a listener on executions receives, and its reports.
pub use intermezzo_sdk as sdk;

/// The parts that the overlays of std need besides the look-alikes.
#[doc(hidden)]
#[cfg(feature = "unmodified")]
pub mod unmodified {
    pub use intermezzo_explorer::unmodified::*;
    pub use intermezzo_macros::global_allocator;
    use std::path::PathBuf;

    /// Notes that this test binary was compiled so that the counts of `Arc` are seen. `overlays` is the directory of their
    /// sources, and `root` the one in which the compiler was run.
    pub fn see_counts(overlays: &str, root: Option<PathBuf>) {
        let here = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        let others = [here, intermezzo_refinement::SOURCES, overlays];
        // The global allocator passes on what it is asked for, too.
        let allocator = format!("{overlays}/arena");
        intermezzo_explorer::unmodified::see_counts(
            &[&SOURCES[..], &others].concat(),
            &[TRANSPARENT, &allocator],
            root,
        );
    }
}
