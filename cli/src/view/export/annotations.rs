//! Annotations of GitHub: workflow commands, a line for each finding, which the host shows next to the line of source.

use super::junit::{Ended, Unexplored};
use crate::view::model::{Shown, ShownFinding, ShownReport};
use intermezzo::report::{TOKEN_MAX, source};

/// Returns the annotations of all findings, of tests without a verdict, and of failed tests without a report.
pub(crate) fn lines(shown: &Shown, others: &[Unexplored]) -> String {
    let mut text = String::new();
    for report in &shown.reports {
        for finding in &report.findings {
            text.push_str(&of_finding(report, finding));
        }
        if report.verdict == "inconclusive" && report.findings.is_empty() {
            let message = format!("{}: {}", report.program, report.coverage);
            text.push_str(&line("warning", &[("title", "inconclusive")], &message));
        }
    }
    for test in others {
        let (title, message) = match test.ended {
            Ended::Passed | Ended::Ignored => continue,
            Ended::Failed => ("test failed", test.program.clone()),
            Ended::Refused => (
                "not run",
                format!(
                    "{} cannot be run with its settings: {}",
                    test.program, test.output
                ),
            ),
        };
        text.push_str(&line("error", &[("title", title)], &message));
    }
    text
}

fn of_finding(report: &ShownReport, finding: &ShownFinding) -> String {
    let said = &finding.said;
    let level = match said.severity.as_str() {
        "warning" => "warning",
        _ => "error",
    };
    let title = format!("{} in {}", said.kind, report.program);
    let mut properties = vec![("title", title)];
    if let Some((file, line, column)) = finding.place().and_then(source::parts) {
        properties.push(("file", file.replace('\\', "/")));
        properties.push(("line", line.to_string()));
        properties.push(("col", column.to_string()));
    }
    let properties: Vec<(&str, &str)> = properties
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let mut message = said.message.trim_end().to_owned();
    for remark in said.remarks() {
        message.push_str(&format!("\n{remark}"));
    }
    if let Some(command) = finding
        .replay
        .as_ref()
        .filter(|_| said.schedule.len() <= TOKEN_MAX)
    {
        message.push_str(&format!("\n{command}"));
    }
    line(level, &properties, &message)
}

fn line(level: &str, properties: &[(&str, &str)], message: &str) -> String {
    let properties: Vec<String> = properties
        .iter()
        .map(|(name, value)| {
            format!(
                "{name}={}",
                escaped(value).replace(':', "%3A").replace(',', "%2C")
            )
        })
        .collect();
    format!("::{level} {}::{}\n", properties.join(","), escaped(message))
}

/// Returns the text on one line, as the host reads it.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_one_line() {
        assert_eq!(
            line(
                "error",
                &[("title", "a: b, c"), ("line", "3")],
                "100 %\nof it: all"
            ),
            "::error title=a%3A b%2C c,line=3::100 %25%0Aof it: all\n"
        );
    }
}
