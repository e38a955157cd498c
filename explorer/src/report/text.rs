//! A report in words.

use super::{
    BreakpointFigures, Coverage, Finding, FindingEvent, Replays, Report, SuggestedBreakpoint, SuggestedPlace,
    Verdict,
};
use crate::environment::Environment;
use crate::estimate::Estimate;
use std::fmt;

/// Events shown of a failing execution; the first ones are left out of a longer one.
const EVENTS_SHOWN: usize = 60;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, finding) in self.findings.iter().enumerate() {
            write!(f, "{finding}")?;
            for reproduction in self.reproductions.iter().filter(|known| known.finding == at) {
                match &reproduction.breakpoint {
                    Ok(breakpoint) => {
                        let reduction = match self.reduction {
                            "none" => "",
                            _ => "INTERMEZZO_REDUCTION=none ",
                        };
                        write!(f, "{breakpoint}")?;
                        writeln!(f, "  {reduction}INTERMEZZO_BREAKPOINTS=\"{}\"", breakpoint.armed)?;
                    }
                    Err(reason) => writeln!(f, "no breakpoint reproduces it: {reason}")?,
                }
            }
            writeln!(f)?;
        }
        let outcome = match self.verdict {
            Verdict::Pass => "passed",
            Verdict::Fail => "failed",
            Verdict::Inconclusive => "is inconclusive",
        };
        write!(
            f,
            "{} {outcome}: {} {}",
            self.program,
            self.executions,
            plural(self.executions, "execution")
        )?;
        if let Some(first) = self.first_failure {
            write!(f, ", first found in number {first}")?;
        }
        if self.strategy == "replay" {
            writeln!(f, "; the schedule was replayed")?;
        } else {
            writeln!(f, "; {}", self.coverage)?;
        }
        if self.errors().next().is_none() {
            writeln!(f, "  environment: {}", Bounds(&self.environment))?;
            if let Some(estimate) = &self.estimate {
                writeln!(f, "  estimate: {estimate}")?;
            }
        }
        if let Some(iroots) = &self.iroots {
            writeln!(f, "  iRoots: {iroots}")?;
        }
        for figures in &self.breakpoints {
            writeln!(f, "  breakpoint {figures}")?;
        }
        for note in &self.notes {
            writeln!(f, "  note: {note}")?;
        }
        Ok(())
    }
}

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

impl fmt::Display for SuggestedBreakpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "breakpoint that reproduces it without the tool, each line right before its place:"
        )?;
        let widest = self
            .places
            .iter()
            .map(|place| place.site.len())
            .max()
            .unwrap_or(0);
        for SuggestedPlace { site, code } in &self.places {
            writeln!(f, "  {site:widest$}  {code}")?;
        }
        if self.in_vain > 0 {
            let times = plural(self.in_vain, "time");
            writeln!(
                f,
                "  (before it is hit, somebody waits in vain {} {times})",
                self.in_vain
            )?;
        }
        writeln!(f, "or in an exploration, the code as it is:")
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
        }
    }
}

/// The environment's bounds in words.
struct Bounds<'a>(&'a Environment);

impl fmt::Display for Bounds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Environment {
            spurious_wakeups,
            timeouts,
            weak_failures,
            try_lock_failures,
            notify_any,
            arc_counts,
            ..
        } = *self.0;
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

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_error() {
            f.write_str("warning: ")?;
        }
        writeln!(f, "{}: {}", self.kind, self.message)?;
        if let Some(suggestion) = &self.suggestion {
            writeln!(f, "suggestion: {suggestion}")?;
        }
        if !self.events.is_empty() {
            writeln!(f, "the execution:")?;
            let left_out = self.events.len().saturating_sub(EVENTS_SHOWN);
            if left_out > 0 {
                writeln!(f, "  ({left_out} events before these are left out)")?;
            }
            let shown = &self.events[left_out..];
            let widest = shown
                .iter()
                .map(|event| event.task.chars().count())
                .max()
                .unwrap_or(0);
            let what: Vec<String> = shown.iter().map(describe).collect();
            let what_widest = what.iter().map(|text| text.chars().count()).max().unwrap_or(0);
            let mut before = "";
            for (event, what) in shown.iter().zip(&what) {
                let task = if event.task == before { "" } else { &event.task };
                before = &event.task;
                let line = format!("  {task:widest$}  {what:what_widest$}  {}", event.site);
                writeln!(f, "{}", line.trim_end())?;
            }
        }
        if let Some(Replays { shown, all }) = self.replays {
            let or = if self.monitor == "engine" {
                ""
            } else {
                ", or the monitor goes by more than one execution"
            };
            writeln!(
                f,
                "not reproduced by its schedule ({shown} of {all} replays): the test does something that the schedule does \
                 not determine{or}"
            )?;
        }
        if let Some(strategy) = &self.found_by {
            writeln!(f, "found by {strategy}")?;
        }
        writeln!(f, "replay it:")?;
        writeln!(f, "  INTERMEZZO_REPLAY={}", self.schedule.token())
    }
}

/// An event without its task and place: `store atomic 0.1 = 1 (SeqCst)`.
fn describe(event: &FindingEvent) -> String {
    let mut text = event.op.clone();
    if !event.var.is_empty() {
        text.push(' ');
        text.push_str(&event.var);
    }
    match (event.read, event.written) {
        (Some(read), Some(written)) => text.push_str(&format!(" {read} -> {written}")),
        (Some(read), None) => text.push_str(&format!(" -> {read}")),
        (None, Some(written)) => text.push_str(&format!(" = {written}")),
        (None, None) => {}
    }
    if let Some(order) = &event.order {
        text.push_str(&format!(" ({order})"));
    }
    text
}

pub(super) fn plural(count: u64, word: &str) -> String {
    if count == 1 {
        word.to_owned()
    } else {
        format!("{word}s")
    }
}
