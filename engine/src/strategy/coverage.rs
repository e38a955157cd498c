//! Coverage: the executions that a search has run, which determine what a pass means.

use super::RankBound;
use crate::serial::{Deserialize, Serialize};
use crate::words::plural;
use std::fmt;

/// The executions that were run, which determine what a pass means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Coverage {
    /// Every schedule of the stated environment. `Report::limits` lists what that leaves out.
    Exhaustive,
    /// Every execution within all the bounds that are given. If none is given, `reason` tells why executions were left
    /// out.
    Bounded {
        /// Every execution with at most this many preemptions was run.
        #[serde(skip_serializing_if = "Option::is_none")]
        preemptions: Option<u32>,
        /// Every execution with at most this many delays was run.
        #[serde(skip_serializing_if = "Option::is_none")]
        delays: Option<u32>,
        /// Every execution that takes the default at each choice after this many was run.
        #[serde(skip_serializing_if = "Option::is_none")]
        depth: Option<u32>,
        /// Every execution within these bounds of a ranked search was run, if that adds anything to the other bounds.
        #[serde(skip_serializing_if = "Option::is_none")]
        rank: Option<RankBound>,
        /// The reason why the search ended there, if it did not end by itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Some executions, drawn at random or given.
    Sampled {
        /// The number of executions.
        executions: u64,
    },
    /// The execution of a given schedule, and no other.
    Replayed {
        /// `true` if it made each choice as recorded.
        as_recorded: bool,
    },
}

impl Coverage {
    /// Returns the coverage of a search that was stopped before it had completed anything.
    pub fn stopped() -> Coverage {
        Coverage::unbounded("stopped before every execution was run")
    }

    /// Returns the coverage of a search that completed nothing, for this reason.
    pub fn unbounded(reason: impl Into<String>) -> Coverage {
        Coverage::Bounded {
            preemptions: None,
            delays: None,
            depth: None,
            rank: None,
            reason: Some(reason.into()),
        }
    }

    /// Returns the coverage of every execution within the rank and, if a number is given, with at most this many
    /// preemptions.
    pub fn within_rank(
        preemptions: Option<u32>,
        rank: Option<RankBound>,
        reason: Option<String>,
    ) -> Coverage {
        Coverage::Bounded {
            preemptions,
            delays: None,
            depth: None,
            rank,
            reason,
        }
    }

    /// Returns the coverage of every execution with at most this many preemptions.
    pub fn within_preemptions(bound: u32, reason: Option<String>) -> Coverage {
        Coverage::within_rank(Some(bound), None, reason)
    }

    /// Returns the coverage of every execution with at most this many delays.
    pub fn within_delays(bound: u32, reason: Option<String>) -> Coverage {
        Coverage::Bounded {
            preemptions: None,
            delays: Some(bound),
            depth: None,
            rank: None,
            reason,
        }
    }

    /// Returns this coverage if only the first `most` choices of an execution were varied.
    pub fn within_depth(self, most: u32) -> Coverage {
        match self {
            Coverage::Exhaustive => Coverage::Bounded {
                preemptions: None,
                delays: None,
                depth: Some(most),
                rank: None,
                reason: None,
            },
            // Without any bound, nothing was completed at any depth.
            Coverage::Bounded {
                preemptions,
                delays,
                depth: None,
                rank,
                reason,
            } if preemptions.is_some() || delays.is_some() => Coverage::Bounded {
                preemptions,
                delays,
                depth: Some(most),
                rank,
                reason,
            },
            other => other,
        }
    }

    /// Returns the same coverage, cut short for this reason. If it already has a reason, that one is kept.
    pub fn because(self, why: &str) -> Coverage {
        match self {
            Coverage::Exhaustive => Coverage::unbounded(why),
            Coverage::Bounded {
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
                reason: reason.or_else(|| Some(why.into())),
            },
            Coverage::Sampled { .. } | Coverage::Replayed { .. } => self,
        }
    }

    /// Returns the coverage in words, to be shown with findings or their absence. For a replay without a finding, the
    /// text says so.
    pub fn with_findings(&self, any: bool) -> String {
        match self {
            Coverage::Replayed { .. } if !any => format!("{self}, and nothing was found"),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Coverage::Exhaustive => f.write_str("every schedule was run"),
            Coverage::Bounded {
                preemptions: None,
                delays: None,
                depth: None,
                rank: None,
                reason,
            } => {
                write!(
                    f,
                    "not every schedule was run: {}",
                    reason.as_deref().unwrap_or("the search was cut short")
                )
            }
            Coverage::Bounded {
                preemptions,
                delays,
                depth,
                rank,
                reason,
            } => {
                let most = |bound: u32, word| format!("at most {bound} {}", plural(bound.into(), word));
                let bounds = [
                    preemptions.map(|bound| most(bound, "preemption")),
                    delays.map(|bound| most(bound, "delay")),
                    depth.map(|bound| {
                        let choices = plural(bound.into(), "choice");
                        format!("nothing but the default after its first {bound} {choices}")
                    }),
                ];
                let bounds: Vec<String> = bounds.into_iter().flatten().collect();
                let bounds = [
                    (!bounds.is_empty()).then(|| bounds.join(" and ")),
                    rank.map(|rank| rank.to_string()),
                ];
                let bounds: Vec<String> = bounds.into_iter().flatten().collect();
                write!(
                    f,
                    "every schedule with {} was run",
                    bounds.join(", and every one with ")
                )?;
                match (reason, preemptions, delays, depth) {
                    (Some(reason), ..) => write!(f, " ({reason})"),
                    (None, ..) if rank.is_some() => {
                        f.write_str(": a failure that is left is beyond these bounds")
                    }
                    (None, Some(bound), None, None) | (None, None, Some(bound), None) => {
                        write!(f, ": a failure that is left needs at least {}", bound + 1)
                    }
                    (None, ..) => f.write_str(": a failure that is left is beyond one of these bounds"),
                }
            }
            Coverage::Sampled { executions } => {
                write!(f, "{executions} {} sampled", plural(*executions, "schedule"))
            }
            Coverage::Replayed { as_recorded: true } => f.write_str("the schedule was replayed as recorded"),
            Coverage::Replayed { as_recorded: false } => {
                f.write_str("the schedule was replayed, and went another way than recorded")
            }
        }
    }
}
