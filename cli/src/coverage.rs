//! Coverage, as it is read from reports.

use intermezzo::{Coverage, RankBound};
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
