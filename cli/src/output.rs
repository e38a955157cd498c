//! The output to stdout and stderr.
//!
//! All output goes through this module, so that a closed pipe (`cargo intermezzo corpus list | head -1`) does not cause a
//! panic, and so that stdout has exactly one JSON value with `--json`.

use crate::problem::Problem;
use anstyle::{AnsiColor, Style};
use intermezzo::report::lines;
use intermezzo::{TextStyle, Verdict};
use serde::Serialize;
use std::io::{self, Write};

/// Prints text for people on stdout. Control characters from a test, a monitor or a file are made visible.
pub(crate) fn text(text: &str) -> Result<(), Problem> {
    raw(&style().visible(text.to_owned()))
}

/// Prints text in a machine-readable format on stdout, unchanged.
pub(crate) fn raw(text: &str) -> Result<(), Problem> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        // A closed pipe means that the reader has seen enough; the exit code still gives the verdict.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Problem::usage(format!(
            "cannot write to stdout ({error}): make room, or redirect it elsewhere"
        ))),
        _ => Ok(()),
    }
}

/// Prints a value on stdout as JSON, ended by a line break.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Problem> {
    let mut json = serde_json::to_string_pretty(value).expect("the command line's values have text for keys");
    json.push('\n');
    raw(&json)
}

/// Prints a remark or a problem on stderr. A failure to do so cannot be reported.
pub(crate) fn complain(message: &str) {
    pass_on(&TextStyle::default().visible(message.to_owned()));
}

/// Prints the output of another program on stderr, unchanged.
pub(crate) fn pass_on(message: &str) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// Returns the style of text on stdout.
pub(crate) fn style() -> TextStyle {
    TextStyle::of_stdout()
}

/// Returns the verdict's word, as in JSON, and its colour.
pub(crate) fn word(verdict: Verdict) -> (&'static str, AnsiColor) {
    match verdict {
        Verdict::Pass => ("pass", AnsiColor::Green),
        Verdict::Fail => ("fail", AnsiColor::Red),
        Verdict::Inconclusive => ("inconclusive", AnsiColor::Yellow),
    }
}

/// Returns a word in this colour, followed by a text that begins in a fixed column.
pub(crate) fn beside((word, colour): (&str, AnsiColor), text: &str, style: &TextStyle) -> String {
    let lines = indented(&format!("{word:12}  {text}"), 0, style);
    lines.replacen(word, &painted(word, colour), 1)
}

/// The width of the longest verdict and two spaces: the column in which texts after a verdict begin.
pub(crate) const BESIDE: usize = 14;

/// Returns prose as lines. The first begins after `first` columns, the others in the column after the verdicts.
pub(crate) fn indented(text: &str, first: usize, style: &TextStyle) -> String {
    let mut lines = lines::wrap(text, style.columns(), first, BESIDE).join("\n");
    lines.push('\n');
    lines
}

/// Returns a command in the column after the verdicts, in the form that a shell reads.
pub(crate) fn command(command: &str, style: &TextStyle) -> String {
    let mut lines = lines::command(command, style.width, BESIDE).join("\n");
    lines.push('\n');
    lines
}

/// Returns the text in bold and this colour, if stdout shows them.
pub(crate) fn painted(text: &str, colour: AnsiColor) -> String {
    if !style().colour {
        return text.to_owned();
    }
    let style = Style::new().bold().fg_color(Some(colour.into()));
    format!("{style}{text}{style:#}")
}

/// Returns `1 execution`, `2 executions`.
pub(crate) fn count(number: u64, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

/// Returns rows in columns, two spaces apart. The last column is not padded.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let line: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, &width)| format!("{cell:width$}"))
            .collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [["a", "bcd", "e"], ["fgh", "", "ij"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows), "a    bcd  e\nfgh       ij\n");
    }

    #[test]
    fn only_one_is_singular() {
        assert_eq!([count(1, "test"), count(0, "test")], ["1 test", "0 tests"]);
    }
}
