//! JUnit XML as CI servers read it: a suite for each module, a case for each test, a failure with its execution.

use super::words;
use crate::view::model::{Shown, ShownFinding, ShownReport};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::collections::BTreeMap;
use std::io;

/// The number of events listed below a failure: the last ones.
const EVENTS_MAX: usize = 200;

/// A test without a report.
pub(crate) struct Unexplored {
    /// The test's path, with its crate.
    pub(crate) program: String,
    pub(crate) ended: Ended,
    /// The output of a failed test, or the reason for a refusal.
    pub(crate) output: String,
}

/// The end of a test without a report.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Passed,
    Failed,
    Ignored,
    /// It cannot be run with its settings.
    Refused,
}

/// A case of a suite.
enum Case<'a> {
    Explored(&'a ShownReport),
    Unexplored(&'a Unexplored),
}

impl Case<'_> {
    fn program(&self) -> &str {
        match self {
            Case::Explored(report) => &report.program,
            Case::Unexplored(test) => &test.program,
        }
    }

    fn seconds(&self) -> f64 {
        match self {
            Case::Explored(report) => report.elapsed_seconds,
            Case::Unexplored(_) => 0.0,
        }
    }

    /// Returns the element that says that it did not pass.
    fn tag(&self) -> Option<&'static str> {
        match self {
            Case::Explored(report) => match report.verdict.as_str() {
                "pass" => None,
                "fail" => Some("failure"),
                _ => Some("error"),
            },
            Case::Unexplored(test) => match test.ended {
                Ended::Passed => None,
                Ended::Failed => Some("failure"),
                Ended::Ignored => Some("skipped"),
                Ended::Refused => Some("error"),
            },
        }
    }
}

/// Returns the suites of all reports, and of tests that have none.
///
/// # Errors
/// Only those of writing into memory.
pub(crate) fn suites(shown: &Shown, others: &[Unexplored]) -> io::Result<String> {
    let explored = shown.reports.iter().map(Case::Explored);
    let all: Vec<Case<'_>> = explored.chain(others.iter().map(Case::Unexplored)).collect();
    let mut suites: BTreeMap<&str, Vec<&Case<'_>>> = BTreeMap::new();
    for case in &all {
        suites.entry(split(case.program()).0).or_default().push(case);
    }
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let all: Vec<&Case<'_>> = all.iter().collect();
    writer
        .create_element("testsuites")
        .with_attribute(("name", "intermezzo"))
        .with_attributes(counts(&all).iter().map(|(name, value)| (*name, value.as_str())))
        .write_inner_content(|writer| {
            for (name, cases) in &suites {
                suite(writer, name, cases)?;
            }
            Ok(())
        })?;
    let mut text = String::from_utf8(writer.into_inner()).expect("XML is written as UTF-8");
    text.push('\n');
    Ok(text)
}

fn suite(writer: &mut Writer<Vec<u8>>, name: &str, cases: &[&Case<'_>]) -> io::Result<()> {
    writer
        .create_element("testsuite")
        .with_attribute(("name", allowed(name).as_str()))
        .with_attributes(counts(cases).iter().map(|(name, value)| (*name, value.as_str())))
        .write_inner_content(|writer| {
            cases.iter().try_for_each(|case| match case {
                Case::Explored(report) => explored(writer, report, case.tag()),
                Case::Unexplored(test) => unexplored(writer, test, case.tag()),
            })
        })?;
    Ok(())
}

/// Returns the attributes with which an element counts its cases.
fn counts(cases: &[&Case<'_>]) -> [(&'static str, String); 5] {
    let of = |tag: &str| {
        let same = cases.iter().filter(|case| case.tag() == Some(tag));
        same.count().to_string()
    };
    let seconds: f64 = cases.iter().map(|case| case.seconds()).sum();
    [
        ("tests", cases.len().to_string()),
        ("failures", of("failure")),
        ("errors", of("error")),
        ("skipped", of("skipped")),
        ("time", format!("{seconds:.3}")),
    ]
}

fn unexplored(writer: &mut Writer<Vec<u8>>, test: &Unexplored, tag: Option<&'static str>) -> io::Result<()> {
    let (class, name) = split(&test.program);
    let element = writer
        .create_element("testcase")
        .with_attribute(("name", allowed(name).as_str()))
        .with_attribute(("classname", allowed(class).as_str()));
    let Some(tag) = tag else {
        element.write_empty()?;
        return Ok(());
    };
    let message = match test.ended {
        Ended::Refused => "it cannot be run with its settings",
        Ended::Ignored => "it has #[ignore]",
        Ended::Passed | Ended::Failed => "it failed; it was not explored",
    };
    element.write_inner_content(|writer| {
        writer
            .create_element(tag)
            .with_attribute(("message", message))
            .write_text_content(BytesText::new(&allowed(&test.output)))?;
        Ok(())
    })?;
    Ok(())
}

fn explored(writer: &mut Writer<Vec<u8>>, report: &ShownReport, tag: Option<&'static str>) -> io::Result<()> {
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
            // Many readers accept only one such element in a case, so only the first finding is its failure.
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
    for remark in said.remarks() {
        text.push_str(&format!("{remark}\n"));
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
    if let Some(command) = &finding.replay {
        text.push_str(&format!("{command}\n"));
    }
    text
}

/// Returns the crate or module of a test, and its name. A test in documentation is named by its file and its item:
/// `src/lib.rs - Queue::push (line 4)`.
fn split(program: &str) -> (&str, &str) {
    let path = program.split_once(" - ").map_or(program, |(path, _)| path);
    match path.rfind("::") {
        Some(at) => (&program[..at], &program[at + 2..]),
        None => ("", program),
    }
}

/// Replaces the characters that XML does not allow, not even as character references.
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
