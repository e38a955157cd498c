//! What reaches stdout and stderr.
//!
//! Everything goes through here, so that a closed pipe (`cargo intermezzo corpus list | head -1`) ends
//! nothing with a panic, and so that stdout holds one JSON value and nothing else where `--json` was given.

use crate::problem::Problem;
use anstyle::{AnsiColor, Style};
use intermezzo::Verdict;
use serde::Serialize;
use std::io::{self, IsTerminal, Write};

/// Prints text on stdout as it is.
pub(crate) fn text(text: &str) -> Result<(), Problem> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        // Who closed the pipe has seen enough; the exit code still tells the rest.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Problem::usage(format!(
            "cannot write to stdout ({error}): give it room or another place"
        ))),
        _ => Ok(()),
    }
}

/// Prints a value on stdout as JSON, ended by a line break.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Problem> {
    let mut json = serde_json::to_string_pretty(value).expect("the command line's values have text for keys");
    json.push('\n');
    text(&json)
}

/// Prints a remark or a problem on stderr. There is nobody to tell if that fails.
pub(crate) fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// A word for the verdict, as in JSON, padded to the longest of them.
pub(crate) fn verdict(verdict: Verdict) -> String {
    let (word, colour) = match verdict {
        Verdict::Pass => ("pass", AnsiColor::Green),
        Verdict::Fail => ("fail", AnsiColor::Red),
        Verdict::Inconclusive => ("inconclusive", AnsiColor::Yellow),
    };
    painted(&format!("{word:12}"), colour)
}

/// The text in bold and this colour, where stdout is a terminal that shows them.
pub(crate) fn painted(text: &str, colour: AnsiColor) -> String {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if plain || !io::stdout().is_terminal() {
        return text.to_owned();
    }
    let style = Style::new().bold().fg_color(Some(colour.into()));
    format!("{style}{text}{style:#}")
}

/// `1 execution`, `2 executions`.
pub(crate) fn count(number: u64, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

/// Rows in columns, two spaces apart, the last column as wide as it is.
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
    fn one_is_no_plural() {
        assert_eq!([count(1, "test"), count(0, "test")], ["1 test", "0 tests"]);
    }
}
