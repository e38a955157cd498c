//! The settings of a test.

use crate::history::Same;
use intermezzo_explorer::Explorer;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The runs with which an object is compared when it is compared with itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Granularity {
    /// One operation at a time. If an operation waits, the execution ends.
    #[default]
    Serial,
    /// Operations without preemption; if one must wait, others continue.
    Coarse,
    /// All executions. Nothing fails then. For sets of observations that are saved and compared.
    All,
}

/// The progress property that operations must have when other tasks stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Progress {
    /// An operation returns when, from any moment on, its task continues alone (Herlihy, Luchangco & Moir, ICDCS
    /// 2003).
    ObstructionFree,
    /// Whichever task stops for ever inside an operation, and in whatever turns the others continue, some operation
    /// returns. In a scenario, which has a fixed number of operations: all the others' do.
    LockFree,
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Progress::ObstructionFree => "obstruction-free",
            Progress::LockFree => "lock-free",
        })
    }
}

/// A function that configures the exploration of a scenario.
type Configure = Arc<dyn Fn(Explorer) -> Explorer + Send + Sync>;

/// Steps within which an operation must return when no other task disturbs it.
const SOLO_STEPS: u64 = 1_000;

/// See the builder's methods of the same names.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) threads: RangeInclusive<usize>,
    pub(crate) ops: RangeInclusive<usize>,
    pub(crate) init: RangeInclusive<usize>,
    pub(crate) post: RangeInclusive<usize>,
    pub(crate) scenarios: usize,
    pub(crate) executions: u64,
    pub(crate) orders: u64,
    pub(crate) seed: u64,
    pub(crate) same: Same,
    pub(crate) granularity: Granularity,
    pub(crate) explorer: Option<Configure>,
    pub(crate) progress: Option<Progress>,
    pub(crate) solo_steps: u64,
    pub(crate) solo_preemptions: u32,
    /// The list of monitors.
    pub(crate) monitors: String,
    /// `true` if a failure comes with the report of its executions, recorded.
    pub(crate) record: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            threads: 2..=3,
            ops: 1..=2,
            init: 0..=2,
            post: 0..=1,
            scenarios: 60,
            executions: 20_000,
            orders: 10_000,
            seed: 0,
            same: Same::Linearizable,
            granularity: Granularity::Serial,
            explorer: None,
            progress: None,
            solo_steps: SOLO_STEPS,
            solo_preemptions: 1,
            monitors: "default".into(),
            record: false,
        }
    }
}

/// The maximum number of sequential executions of one scenario, unless more orders must be run first.
const SERIAL_EXECUTIONS: u64 = 50_000;

impl Settings {
    /// Returns the maximum number of sequential executions of one scenario.
    pub(crate) fn serial_executions(&self) -> u64 {
        self.orders.max(SERIAL_EXECUTIONS)
    }

    /// Sets the maximum number of executions of a scenario, if the environment variable is set.
    ///
    /// # Panics
    /// If the variable's value is invalid.
    pub(crate) fn override_executions(&mut self) {
        let Ok(value) = std::env::var("INTERMEZZO_EXECUTIONS") else {
            return;
        };
        let mut settings = intermezzo_explorer::Settings::default();
        if let Err(error) = settings.set("executions", &value) {
            panic!("INTERMEZZO_EXECUTIONS: {}", error.problem);
        }
        self.executions = settings.executions.unwrap_or(u64::MAX);
    }

    /// Returns the explorer for executions with all tasks at once, as the test configures it.
    pub(crate) fn configure(&self, explorer: Explorer) -> Explorer {
        let explorer = match &self.explorer {
            Some(configure) => configure(explorer.monitors(&self.monitors)),
            None => explorer.monitors(&self.monitors),
        };
        let explorer = match std::env::var("INTERMEZZO_ENVIRONMENT") {
            Ok(changes) => explorer.set("environment", changes),
            Err(_) => explorer,
        };
        match std::env::var("INTERMEZZO_MONITORS") {
            Ok(list) => explorer.monitors(&list),
            Err(_) => explorer,
        }
    }
}
