//! JUnit XML as CI servers read it: a suite for each crate, a case for each explored test, a failure with its execution.

use super::words;
use crate::view::model::{Shown, ShownFinding, ShownReport};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::collections::BTreeMap;
use std::io;

/// Events listed below a failure: the last ones.
const EVENTS_MAX: usize = 200;

/// Returns the suites of all reports.
///
/// # Errors
/// None but those of writing into memory.
pub(in crate::view) fn suites(shown: &Shown) -> io::Result<String> {
    let mut suites: BTreeMap<&str, Vec<&ShownReport>> = BTreeMap::new();
    for report in &shown.reports {
        suites.entry(split(&report.program).0).or_default().push(report);
    }
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let all: Vec<&ShownReport> = shown.reports.iter().collect();
    writer
        .create_element("testsuites")
        .with_attribute(("name", "intermezzo"))
        .with_attributes(counts(&all).iter().map(|(name, value)| (*name, value.as_str())))
        .write_inner_content(|writer| {
            for (name, reports) in &suites {
                suite(writer, name, reports)?;
            }
            Ok(())
        })?;
    let mut text = String::from_utf8(writer.into_inner()).expect("XML is written as UTF-8");
    text.push('\n');
    Ok(text)
}

fn suite(writer: &mut Writer<Vec<u8>>, name: &str, reports: &[&ShownReport]) -> io::Result<()> {
    writer
        .create_element("testsuite")
        .with_attribute(("name", allowed(name).as_str()))
        .with_attributes(
            counts(reports)
                .iter()
                .map(|(name, value)| (*name, value.as_str())),
        )
        .write_inner_content(|writer| reports.iter().try_for_each(|report| case(writer, report)))?;
    Ok(())
}

/// Returns an element's counts of its cases.
fn counts(reports: &[&ShownReport]) -> [(&'static str, String); 4] {
    let of = |verdict: &str| {
        let same = reports.iter().filter(|report| report.verdict == verdict);
        same.count().to_string()
    };
    let seconds: f64 = reports.iter().map(|report| report.elapsed_seconds).sum();
    [
        ("tests", reports.len().to_string()),
        ("failures", of("fail")),
        ("errors", of("inconclusive")),
        ("time", format!("{seconds:.3}")),
    ]
}

fn case(writer: &mut Writer<Vec<u8>>, report: &ShownReport) -> io::Result<()> {
    let (class, name) = split(&report.program);
    let seconds = format!("{:.3}", report.elapsed_seconds);
    writer
        .create_element("testcase")
        .with_attribute(("name", allowed(name).as_str()))
        .with_attribute(("classname", allowed(class).as_str()))
        .with_attribute(("time", seconds.as_str()))
        .write_inner_content(|writer| {
            let errors = report
                .findings
                .iter()
                .filter(|finding| finding.said.severity != "warning");
            // Many readers take only one element a case: the first finding is its failure.
            let tag = match report.verdict.as_str() {
                "pass" => None,
                "fail" => Some("failure"),
                _ => Some("error"),
            };
            if let Some(tag) = tag {
                let first = errors.clone().next();
                let (kind, message) = match first {
                    Some(finding) => (finding.said.kind.as_str(), finding.said.message.as_str()),
                    None => ("inconclusive", "no execution was complete"),
                };
                let text = first.map(describe).unwrap_or_default();
                writer
                    .create_element(tag)
                    .with_attribute(("type", allowed(kind).as_str()))
                    .with_attribute(("message", allowed(message).as_str()))
                    .write_text_content(BytesText::new(&allowed(&text)))?;
            }
            let mut out = format!(
                "{}: {} executions; {}\n",
                report.verdict, report.executions, report.coverage
            );
            for note in &report.notes {
                out.push_str(&format!("note: {note}\n"));
            }
            let first = usize::from(tag.is_some());
            let warnings = report
                .findings
                .iter()
                .filter(|finding| finding.said.severity == "warning");
            for finding in errors.skip(first).chain(warnings) {
                out.push_str(&describe(finding));
            }
            writer
                .create_element("system-out")
                .write_text_content(BytesText::new(&allowed(&out)))?;
            Ok(())
        })?;
    Ok(())
}

fn describe(finding: &ShownFinding) -> String {
    let said = &finding.said;
    let mut text = format!("{}: {}\n", said.kind, said.message);
    if let Some(suggestion) = &said.suggestion {
        text.push_str(&format!("{suggestion}\n"));
    }
    if let Some(execution) = finding.failing() {
        let recording = &execution.recording;
        let from = recording.events.len().saturating_sub(EVENTS_MAX);
        if from > 0 {
            text.push_str(&format!("  ({from} events before these)\n"));
        }
        for event in &recording.events[from..] {
            let task = &recording.tasks[event.task].name;
            let site = words::site(recording, event).unwrap_or_default();
            text.push_str(&format!(
                "  {task:<12} {:<40} {site}\n",
                words::event(recording, event)
            ));
        }
    }
    text.push_str(&format!("cargo intermezzo replay {}\n", said.schedule));
    text
}

/// Returns the crate or module of a test, and its name.
fn split(program: &str) -> (&str, &str) {
    program.rsplit_once("::").unwrap_or(("", program))
}

/// Returns the text without the characters that no XML document may hold, in whatever way they are written.
fn allowed(text: &str) -> String {
    let allowed = |c: char| match c {
        '\t' | '\n' | '\r' => true,
        '\u{FFFE}' | '\u{FFFF}' => false,
        c => c >= ' ',
    };
    text.chars()
        .map(|c| if allowed(c) { c } else { '\u{FFFD}' })
        .collect()
}
