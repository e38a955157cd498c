//! Parts of a report in words: coverage, estimates, bounds, figures.

use super::plural;
use crate::environment::Environment;
use crate::estimate::Estimate;
use crate::report::{BreakpointFigures, Coverage};
use std::fmt;

impl fmt::Display for BreakpointFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BreakpointFigures {
            name,
            visits,
            skipped,
            hits,
            timeouts,
            unordered,
            executions_hit,
        } = self;
        if *visits == 0 {
            return write!(f, "{name}: nobody came to a place of it");
        }
        write!(
            f,
            "{name}: hit in {executions_hit} {} ({visits} {}, {skipped} skipped, {hits} {}, {timeouts} in vain",
            plural(*executions_hit, "execution"),
            plural(*visits, "visit"),
            plural(*hits, "hit"),
        )?;
        match unordered {
            0 => f.write_str(")"),
            _ => write!(f, ", {unordered} out of order)"),
        }
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Estimate {
            share,
            executions_expected,
            ..
        } = self;
        // Two digits are as much as an estimate is good for.
        let percent = share * 100.0;
        match percent {
            10.0.. => write!(f, "{percent:.0} %")?,
            0.01.. => write!(f, "{percent:.2} %")?,
            _ => write!(f, "{percent:.1e} %")?,
        }
        match *executions_expected {
            u64::MAX => f.write_str(" of more executions than can be counted"),
            1_000_000.. => write!(f, " of some {:.1e} executions", *executions_expected as f64),
            _ => write!(f, " of some {executions_expected} executions"),
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

impl Coverage {
    /// In words, beside findings or the lack of them: of a replay it is told what came of it.
    pub fn with_findings(&self, any: bool) -> String {
        match self {
            Coverage::Replayed { .. } if !any => format!("{self}, and nothing was found"),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Environment {
            spurious_wakeups,
            timeouts,
            weak_failures,
            try_lock_failures,
            notify_any,
            arc_counts,
            ..
        } = *self;
        write!(
            f,
            "per execution at most {spurious_wakeups} spurious {}, {timeouts} early {}, {weak_failures} weak compare-exchange \
             {}, {try_lock_failures} try_lock {}",
            plural(spurious_wakeups.into(), "wake-up"),
            plural(timeouts.into(), "time-out"),
            plural(weak_failures.into(), "failure"),
            plural(try_lock_failures.into(), "failure"),
        )?;
        f.write_str(if notify_any {
            "; notify_one wakes any waiter"
        } else {
            "; notify_one wakes the first waiter"
        })?;
        if !arc_counts {
            f.write_str("; reference counts are no schedule points")?;
        }
        Ok(())
    }
}
