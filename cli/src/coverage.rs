//! Coverage, as it is read from reports.

use intermezzo::{Coverage, RankBound, WeakMemory};
use serde::Deserialize;

/// Coverage as reports have it.
#[derive(Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum CoverageJson {
    Exhaustive,
    Bounded {
        preemptions: Option<u32>,
        delays: Option<u32>,
        depth: Option<u32>,
        rank: Option<RankBound>,
        reason: Option<String>,
    },
    Sampled {
        executions: u64,
    },
    Replayed {
        as_recorded: bool,
    },
}

/// The executions under a memory model that followed others, as reports have them.
#[derive(Clone, Deserialize)]
pub(crate) struct WeakMemoryJson {
    stale_reads: u32,
    executions: u64,
    coverage: CoverageJson,
}

impl From<WeakMemoryJson> for WeakMemory {
    fn from(part: WeakMemoryJson) -> WeakMemory {
        WeakMemory {
            stale_reads: part.stale_reads,
            executions: part.executions,
            coverage: part.coverage.into(),
        }
    }
}

impl From<CoverageJson> for Coverage {
    fn from(coverage: CoverageJson) -> Coverage {
        match coverage {
            CoverageJson::Exhaustive => Coverage::Exhaustive,
            CoverageJson::Bounded {
                preemptions,
                delays,
                depth,
                rank,
                reason,
            } => Coverage::Bounded {
                preemptions,
                delays,
                depth,
                rank,
                reason,
            },
            CoverageJson::Sampled { executions } => Coverage::Sampled { executions },
            CoverageJson::Replayed { as_recorded } => Coverage::Replayed { as_recorded },
        }
    }
}
