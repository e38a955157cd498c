//! The facade with the explorer behind it.

#[doc(hidden)]
pub use intermezzo_explorer::foreign;
pub use intermezzo_explorer::thread_local_lookalike as thread_local;
#[doc(hidden)]
#[cfg(feature = "unmodified")]
pub use intermezzo_explorer::unmodified;
pub use intermezzo_explorer::{
    Arrays, Awaited, BestFirstOptions, BreakpointFigures, ByName, CheckpointError, CheckpointProblem,
    Coverage, DepthFirstBounds, Effect, EndlessCause, Environment, Epsilon, Estimate, ExploreError, Explorer,
    Finding, FindingDeed, FindingDetail, FindingEvent, FoundBy, HangState, IRootCoverage, IRootOptions,
    IRootsExposed, Limit, LoopStep, MemoError, MemoProblem, MonitorRequest, NamedPlace, PlainAccesses,
    Plugin, PluginError, PluginProblem, Progress, RankBound, RankedOptions, Reduction, ReplayedBy, Replays,
    Report, Reproduction, Schedule, ScheduleError, Scope, SettingError, Settings, Sites, SpinLoops, Strategy,
    StrategyKind, SuggestedBreakpoint, SuggestedPlace, TaskLoop, TaskPanic, TestBinary, TextStyle, Tried,
    Unfinished, VariableSets, Verbosity, Verdict, WaitingTask, unfinished,
};
pub use intermezzo_explorer::{
    alloc, breakpoint, cell, collections, future, hash, hint, ptr, rand, recording, report, schedule, search,
    settings, sync, task, thread, time, trace,
};
pub use intermezzo_explorer::{
    any_bool, atomically, attribute, choose, event, is_exploring, preemptions_off, preemptions_on,
};
/// The monitors that ship with it.
pub use intermezzo_monitors as monitors;
/// Refinement checks: concurrent objects against their sequential behaviour.
pub use intermezzo_refinement as refinement;
/// The Monitor contract: the events that a listener on executions receives, and its reports.
pub use intermezzo_sdk as sdk;
