//! `shuttle::Config` and its parts.

use std::path::PathBuf;
use std::time::Duration;

/// The most steps of an execution, unless set otherwise.
const STEPS: usize = 1_000_000;

/// Settings of a run: shuttle's names. Those that have no meaning here are kept and ignored.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The least size of each task's stack, in bytes. A smaller one than intermezzo's own is not heeded.
    pub stack_size: usize,
    /// The place for the schedule of an execution that fails.
    pub failure_persistence: FailurePersistence,
    /// The most steps of an execution, and what happens to one that takes more.
    pub max_steps: MaxSteps,
    /// The time after which no further execution begins.
    pub max_time: Option<Duration>,
    /// Ignored: nothing is said.
    pub silence_warnings: bool,
    /// Ignored: there are no spans.
    pub record_steps_in_span: bool,
    /// Ignored: an execution that fails ends at once, and the tasks that are left are forgotten.
    pub ungraceful_shutdown_config: UngracefulShutdownConfig,
}

impl Config {
    /// Returns the default settings.
    pub fn new() -> Config {
        Config {
            stack_size: 0xf000,
            failure_persistence: FailurePersistence::Print,
            max_steps: MaxSteps::FailAfter(STEPS),
            max_time: None,
            silence_warnings: false,
            record_steps_in_span: false,
            ungraceful_shutdown_config: UngracefulShutdownConfig::new(),
        }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config::new()
    }
}

/// The place for the schedule of an execution that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailurePersistence {
    /// Nowhere.
    None,
    /// The message of the panic.
    Print,
    /// A file in this directory; in the current one if there is none.
    File(Option<PathBuf>),
}

/// The most steps of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MaxSteps {
    /// There is no limit.
    None,
    /// An execution that takes more has failed.
    FailAfter(usize),
    /// An execution that takes more is given up, and the next one begins.
    ContinueAfter(usize),
}

/// The treatment of an execution that fails. Ignored.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct UngracefulShutdownConfig {
    /// `true` to end the execution before the panic has unwound.
    pub immediately_return_on_panic: bool,
    /// The treatment of what unfinished tasks own.
    pub continuation_function_behavior: ContinuationFunctionBehavior,
}

impl UngracefulShutdownConfig {
    /// Returns the default treatment.
    pub const fn new() -> UngracefulShutdownConfig {
        UngracefulShutdownConfig {
            immediately_return_on_panic: false,
            continuation_function_behavior: ContinuationFunctionBehavior::Leak,
        }
    }
}

/// The treatment of what unfinished tasks own after a failure. Ignored: they are forgotten.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum ContinuationFunctionBehavior {
    /// It is dropped.
    Drop,
    /// It is leaked.
    #[default]
    Leak,
}

impl ContinuationFunctionBehavior {
    /// Returns the default treatment.
    pub const fn new() -> ContinuationFunctionBehavior {
        ContinuationFunctionBehavior::Leak
    }
}
