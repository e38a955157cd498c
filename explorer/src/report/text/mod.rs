//! A report in words: enough to understand a failure and to continue from there, but no manual.

mod columns;
mod execution;
mod finding;
mod help;
mod places;
mod relevance;
mod style;
mod turning;
mod visible;
mod writer;

pub use finding::{TOKEN_MAX, replay_command};
pub use places::with_places;
pub use style::{Part, ReplayedBy, TextStyle};
pub use writer::{INDENT, Text};

use super::lines::wrap;
use super::{Coverage, Finding, FindingEvent, PlainAccesses, Report, Verdict, count, covered};
use crate::settings::Verbosity;
use intermezzo_sdk::SyncVarOp;
use std::fmt;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&TextStyle::default()))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let style = TextStyle::default();
        let text = finding::show(self, finding::FindingContext::default(), &style);
        f.write_str(&style.visible(text))
    }
}

impl Report {
    /// Returns the report in words, as `to_string` does, in the given style.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::{Explorer, TextStyle, Verbosity};
    ///
    /// let report = Explorer::new().explore(|| panic!("no"));
    /// let quiet = report.text(&TextStyle::default().detail(Verbosity::Quiet));
    /// assert!(quiet.contains("main panicked") && quiet.len() < report.to_string().len());
    /// ```
    pub fn text(&self, style: &TextStyle) -> String {
        let mut text = String::new();
        let reduced = self.reduction != "none";
        for (at, found) in self.findings.iter().enumerate() {
            let reproduction = self.reproductions.iter().find(|known| known.finding == at);
            let shown = self.findings[..at].iter();
            let again = shown
                .enumerate()
                .find(|(_, other)| other.schedule == found.schedule);
            let context = finding::FindingContext {
                reproduction,
                turning_point: self.turning_points.iter().find(|point| point.finding == at),
                expected: self.is_expected,
                reduced,
                replay_with: &self.replay_with,
                like: again.map(|(at, _)| at + 1),
            };
            text.push_str(&finding::show(found, context, style));
            if style.detail != Verbosity::Quiet {
                text.push('\n');
            }
        }
        self.say_verdict(style, &mut text);
        if style.detail != Verbosity::Quiet {
            for remark in self.remarks(style.detail) {
                say(&remark, style, &mut text);
            }
        }
        style.visible(text)
    }

    fn say_verdict(&self, style: &TextStyle, text: &mut String) {
        let (outcome, part) = match self.verdict {
            Verdict::Pass => ("passed", Part::Pass),
            Verdict::Fail => ("failed", Part::Error),
            Verdict::Inconclusive => ("is inconclusive", Part::Warning),
        };
        let mut line = format!("{} {outcome}: ", self.program);
        if !matches!(self.coverage, Coverage::Replayed { .. }) {
            line.push_str(&count(self.executions, "execution"));
            if let Some(first) = self.first_failure {
                line.push_str(&format!(", first failure in execution {first}"));
            }
            line.push_str("; ");
        }
        let passes = self.verdict.is_pass();
        line.push_str(&covered(
            &self.coverage,
            self.weak_memory(),
            &self.limits,
            !self.findings.is_empty(),
            passes,
        ));
        for line in wrap(&line, style.columns(), 0, 2) {
            let painted = line.replacen(outcome, &style.paint(part, outcome), 1);
            text.push_str(&painted);
            text.push('\n');
        }
    }

    /// Returns the remarks below the verdict.
    fn remarks(&self, detail: Verbosity) -> Vec<String> {
        let mut remarks = Vec::new();
        let passes = self.errors().next().is_none();
        if self.verdict == Verdict::Inconclusive && passes && !self.any_complete {
            remarks.push(
                "help: no execution came to its end, so nothing can be said: raise `executions`, `time` or `steps`".into(),
            );
        }
        if detail == Verbosity::Verbose {
            remarks.push(format!(
                "search: strategy {}, reduction {}, seed {}; {}, {}, at most {} in an execution",
                self.strategy,
                self.reduction,
                self.seed,
                count(self.steps, "step"),
                count(self.context_switches, "context switch"),
                count(self.max_tasks.into(), "task"),
            ));
        }
        let shows_all = passes || detail == Verbosity::Verbose;
        if shows_all {
            remarks.push(format!("environment: {}", self.environment));
            remarks.push(match &*self.monitors {
                [] => "monitors: none".into(),
                monitors => format!("monitors: {}", monitors.join(", ")),
            });
            let PlainAccesses { seen, watched } = self.plain_accesses;
            if seen > 0 {
                remarks.push(format!(
                    "plain memory: {}, {}",
                    match seen {
                        1 => "1 access".into(),
                        seen => format!("{seen} accesses"),
                    },
                    match watched {
                        true => "watched for data races",
                        false => "not watched: no monitor looked for data races, nor was the order of accesses explored",
                    }
                ));
            }
        }
        if passes && let Some(estimate) = &self.estimate {
            remarks.push(format!("estimate: {estimate}"));
        }
        let iroots = self.iroots.iter().map(|iroots| format!("iRoots: {iroots}"));
        remarks.extend(iroots);
        let breakpoints = self.breakpoints.iter();
        remarks.extend(breakpoints.map(|figures| format!("breakpoint {figures}")));
        let shown = |note: &&String| shows_all || !self.on_samples.contains(note);
        let notes = self.notes.iter().filter(shown);
        remarks.extend(notes.map(|note| format!("note: {note}")));
        remarks
    }
}

fn say(remark: &str, style: &TextStyle, text: &mut String) {
    for line in wrap(remark, style.columns(), 2, 4) {
        text.push_str(&line);
        text.push('\n');
    }
}

/// Returns an event without its task and place: `store tail = 1`. A method that reads and writes has its own name,
/// if it is known: `fetch_add count 1 -> 2`. `SeqCst` is left out.
fn describe(finding: &Finding, event: &FindingEvent, method: Option<&str>) -> String {
    let is_any = |ops: &[SyncVarOp]| ops.iter().any(|op| op.name() == event.op);
    let own = method.filter(|_| is_any(&[SyncVarOp::AtomicRmw, SyncVarOp::AtomicRmwFailed]));
    let mut text = own.unwrap_or(&event.op).to_owned();
    if !event.var.is_empty() {
        text.push(' ');
        text.push_str(finding.name_of(&event.var));
    }
    match (event.read.map(number), event.written.map(number)) {
        (Some(read), Some(written)) => text.push_str(&format!(" {read} -> {written}")),
        (Some(read), None) if own.is_some() => text.push_str(&format!(" -> Err({read})")),
        (Some(read), None) => text.push_str(&format!(" -> {read}")),
        (None, Some(written)) => text.push_str(&format!(" = {written}")),
        (None, None) => {}
    }
    if let Some(order) = event.order.as_ref().filter(|order| *order != "SeqCst") {
        text.push_str(&format!(" ({order})"));
    }
    if let Some(effect) = event.effect {
        text.push_str(&format!(", {effect}"));
    }
    text
}

/// Returns a value: the largest ones as Rust writes them for every type, `!0` for `usize::MAX` and for -1.
pub(crate) fn number(value: u64) -> String {
    const FEW: u64 = 16;
    match !value < FEW {
        true => format!("!{}", !value),
        false => value.to_string(),
    }
}
