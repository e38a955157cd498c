//! Failures and reports in words, in the available columns.

use crate::failure::Failure;
use crate::report::RefinementReport;
use intermezzo_explorer::report::lines::width;
use intermezzo_explorer::report::unexplored;
use intermezzo_explorer::report::{INDENT, Part, Text, TextStyle, Verbosity, count, with_places};
use intermezzo_explorer::{Coverage, Verdict};
use std::fmt;

/// The number of scenarios not compared in full that a report lists.
const SHORT_SHOWN: usize = 3;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&TextStyle::default()))
    }
}

impl fmt::Display for RefinementReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&TextStyle::default()))
    }
}

impl Failure {
    /// Returns the failure in words, like `to_string`, in this style.
    pub fn text(&self, style: &TextStyle) -> String {
        let mut text = Text::new(style);
        let head = format!("error[{}]:", self.kind);
        let lines: Vec<&str> = self.lines.iter().map(|line| line.trim_start()).collect();
        let lines = lines.join("\n");
        if style.detail == Verbosity::Quiet {
            let first = lines.lines().next().unwrap_or_default();
            text.painted(&format!("{head} {first}"), &head, Part::Error);
            return style.visible(text.text);
        }
        let (said, places) = with_places(&lines, style);
        for (line, number) in said.lines().zip(0..) {
            match number {
                0 => text.painted(&format!("{head} {line}"), &head, Part::Error),
                _ => text.prose(line, INDENT, 2 * INDENT),
            }
        }
        text.section(&places);
        text.title("the operations, of which those of different tasks run at once:");
        for line in self.scenario.shortened().to_string().lines() {
            text.prose(line, 0, 8);
        }
        if let Some(timeline) = &self.timeline {
            text.title("when each began and ended, from left to right:");
            let bands = in_bands(timeline, style.columns());
            text.drawing(&bands);
        }
        if let Some(explanation) = &self.explanation {
            text.blank();
            for line in explanation.lines() {
                let indent = line.len() - line.trim_start().len();
                text.prose(line, 0, indent + INDENT);
            }
        }
        let interleaving = self.interleaving(style.columns());
        if !interleaving.is_empty() {
            text.title(match self.schedule.environment.has_memory_model() {
                false => "what happened, from top to bottom:",
                true => {
                    "what happened, from top to bottom; a stale load does not see the last store above it:"
                }
            });
            text.drawing(&interleaving);
        }
        style.visible(text.text)
    }
}

/// Returns a drawing of lines that begin with a name, cut into pieces one below the other where it is too wide.
fn in_bands(drawing: &str, columns: usize) -> String {
    /// The width of the names.
    const NAMES: usize = 8;
    if drawing.lines().all(|line| width(line) <= columns) {
        return drawing.to_owned();
    }
    let rows: Vec<(String, Vec<char>)> = drawing
        .lines()
        .map(|line| {
            let name = line.chars().take(NAMES).collect();
            (name, line.chars().skip(NAMES).collect())
        })
        .collect();
    let longest = rows.iter().map(|(_, row)| row.len()).max().unwrap_or(0);
    let room = columns.saturating_sub(NAMES).max(1);
    let mut text = String::new();
    for begin in (0..longest).step_by(room) {
        if begin > 0 {
            text.push('\n');
        }
        for (name, row) in &rows {
            let piece: String = row.iter().skip(begin).take(room).collect();
            text.push_str(format!("{name}{piece}").trim_end());
            text.push('\n');
        }
    }
    text
}

impl RefinementReport {
    /// Returns the report in words, like `to_string`, in this style.
    pub fn text(&self, style: &TextStyle) -> String {
        let mut text = Text::new(style);
        let quiet = style.detail == Verbosity::Quiet;
        if let Some(failure) = &self.failure {
            text.text.push_str(&failure.text(style));
            if let Some(pin) = self.pin.as_ref().filter(|_| !quiet) {
                text.title("to keep this scenario in the test, and try it first:");
                text.code(pin);
                self.say_how_to_replay(&failure.schedule.token(), &mut text);
                text.blank();
            }
        }
        self.say_verdict(&mut text);
        if quiet {
            return style.visible(text.text);
        }
        let shown = match style.detail {
            Verbosity::Verbose => self.short.len(),
            _ => SHORT_SHOWN,
        };
        for short in self.short.iter().take(shown) {
            text.prose(&format!("not in full: {short}"), INDENT, 2 * INDENT);
        }
        if self.short.len() > shown {
            let more = count((self.short.len() - shown) as u64, "scenario");
            text.prose(
                &format!("not in full: {more} more (INTERMEZZO_DETAIL=verbose lists them)"),
                INDENT,
                2 * INDENT,
            );
        }
        style.visible(text.text)
    }

    /// Adds the commands, if their test is known; otherwise the lines to write into the test.
    fn say_how_to_replay(&self, token: &str, text: &mut Text<'_>) {
        let Some(test) = &self.test else {
            text.title("to replay this execution alone, with that:");
            text.command(&format!(".replay(\"{token}\")"), 0);
            text.title("to look at it, event by event, on a page:");
            text.code("  cargo intermezzo test --view page.html");
            return;
        };
        text.title("to replay this execution alone, with that or without:");
        text.command(
            &format!("INTERMEZZO_REPLAY={token} cargo test {test} -- --exact"),
            INDENT,
        );
        text.title("or look at it, event by event, on a page:");
        let replay = format!("cargo intermezzo replay {token} --view page.html -- {test} -- --exact");
        text.command(&replay, INDENT);
    }

    fn say_verdict(&self, text: &mut Text<'_>) {
        let (outcome, part) = match self.verdict() {
            Verdict::Pass => ("passed", Part::Pass),
            Verdict::Fail => ("failed", Part::Error),
            Verdict::Inconclusive => ("is inconclusive", Part::Warning),
        };
        if self.replayed {
            let what = self.coverage().with_findings(self.failure.is_some());
            text.painted(&format!("{} {outcome}: {what}", self.program), outcome, part);
            return;
        }
        let mut line = format!(
            "{} {outcome}: {}, {}, {}",
            self.program,
            count(self.scenarios, "scenario"),
            count(self.executions, "execution"),
            count(self.traces, "trace"),
        );
        match self.histories {
            1 => line.push_str(", 1 history"),
            histories => line.push_str(&format!(", {histories} histories")),
        }
        if self.by_happens_before {
            line.push_str(" by happens-before");
        }
        if self.orders > 0 {
            line.push_str(&format!(", {} run on demand", count(self.orders, "order")));
        }
        if self.solo_runs > 0 {
            line.push_str(&format!(", {}", count(self.solo_runs, "solo run")));
        }
        if !matches!(self.coverage(), Coverage::Exhaustive) && !self.short.is_empty() {
            line.push_str(&format!("; {} not in full", self.short.len()));
        }
        if self.verdict().is_pass() {
            line.push_str(&unexplored(&self.limits));
        }
        text.painted(&line, outcome, part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_drawing_goes_on_below() {
        let drawing = "main      |-a-|\ntask 1            |-b-|\n";
        assert_eq!(in_bands(drawing, 80), drawing);
        assert_eq!(
            in_bands(drawing, 16),
            "main      |-a-|\ntask 1\n\nmain\ntask 1    |-b-|\n"
        );
    }
}
