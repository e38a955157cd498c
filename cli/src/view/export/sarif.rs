//! A SARIF 2.1.0 log (OASIS): one run, a rule for each kind of finding, and the failing execution as a code flow with a
//! thread flow for each task.

use super::words;
use crate::view::model::{Shown, ShownFinding, ShownReport};
use intermezzo::recording::Recording;
use intermezzo::report::source;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The number of steps of an execution in a code flow: the last ones. Code hosts refuse files with more.
const STEPS_MAX: usize = 5_000;

#[derive(Serialize)]
struct Log {
    version: &'static str,
    #[serde(rename = "$schema")]
    schema: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    column_kind: &'static str,
    results: Vec<Finding>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
struct Rule {
    id: String,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding {
    rule_id: String,
    rule_index: usize,
    level: &'static str,
    message: Message,
    locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    code_flows: Vec<CodeFlow>,
    partial_fingerprints: BTreeMap<&'static str, String>,
    properties: Properties,
}

#[derive(Serialize)]
struct Properties {
    program: String,
    schedule: String,
    monitor: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    physical_location: Option<Physical>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<Logical>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Logical {
    fully_qualified_name: String,
    kind: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CodeFlow {
    message: Message,
    thread_flows: Vec<ThreadFlow>,
}

#[derive(Serialize)]
struct ThreadFlow {
    id: String,
    locations: Vec<Step>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    location: Location,
    execution_order: usize,
    importance: &'static str,
}

/// Returns the log of all findings.
pub(in crate::view) fn log(shown: &Shown) -> String {
    let kinds: BTreeSet<&str> = shown
        .findings()
        .map(|(_, finding)| finding.said.kind.as_str())
        .collect();
    let kinds: Vec<&str> = kinds.into_iter().collect();
    let results = shown
        .findings()
        .map(|(report, finding)| result(report, finding, &kinds));
    let log = Log {
        version: "2.1.0",
        schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: "intermezzo",
                    version: env!("CARGO_PKG_VERSION"),
                    rules: kinds.iter().map(|&kind| Rule { id: kind.to_owned() }).collect(),
                },
            },
            column_kind: "unicodeCodePoints",
            results: results.collect(),
        }],
    };
    let mut text = serde_json::to_string_pretty(&log).expect("a log has text for keys");
    text.push('\n');
    text
}

fn result(report: &ShownReport, finding: &ShownFinding, kinds: &[&str]) -> Finding {
    let said = &finding.said;
    let mut text = format!("{}: {}", report.program, said.message);
    for remark in said.remarks() {
        text.push_str(&format!("\n{remark}"));
    }
    let test = Logical {
        fully_qualified_name: report.program.clone(),
        kind: "function",
    };
    let place = finding.place();
    let flow = finding.failing().map(|execution| code_flow(&execution.recording));
    Finding {
        rule_index: kinds
            .iter()
            .position(|kind| *kind == said.kind)
            .expect("every kind has a rule"),
        rule_id: said.kind.clone(),
        level: if said.severity == "warning" {
            "warning"
        } else {
            "error"
        },
        message: Message { text },
        locations: vec![Location {
            physical_location: place.and_then(physical),
            logical_locations: vec![test],
            message: None,
        }],
        related_locations: related(finding),
        code_flows: flow
            .into_iter()
            .filter(|flow| !flow.thread_flows.is_empty())
            .collect(),
        // The parts that stay the same for the same failure in another run. A schedule would change with the search.
        partial_fingerprints: BTreeMap::from([(
            "intermezzo/v1",
            format!("{} {} {}", said.kind, report.program, place.unwrap_or_default()),
        )]),
        properties: Properties {
            program: report.program.clone(),
            schedule: said.schedule.clone(),
            monitor: said.monitor.clone(),
        },
    }
}

/// Returns the places where tasks wait, and where the locks for which they wait were taken.
fn related(finding: &ShownFinding) -> Vec<Location> {
    let mut related = Vec::new();
    for waiting in &finding.said.waiting {
        let mut add = |site: &str, text: String| {
            related.push(Location {
                physical_location: physical(site),
                logical_locations: Vec::new(),
                message: Some(Message { text }),
            });
        };
        add(
            &waiting.site,
            format!("{} waits: {} {}", waiting.task, waiting.op, waiting.var),
        );
        if let (Some(by), Some(since)) = (&waiting.held_by, &waiting.held_since) {
            add(since, format!("{by} took {} here", waiting.var));
        }
    }
    related.retain(|location| location.physical_location.is_some());
    related
}

fn code_flow(recording: &Recording) -> CodeFlow {
    let from = recording.events.len().saturating_sub(STEPS_MAX);
    let thread = |task: usize| {
        let own = recording.events.iter().enumerate().skip(from);
        let own = own.filter(|(_, event)| event.task == task);
        let locations = own.map(|(at, event)| Step {
            location: Location {
                physical_location: words::site(recording, event).and_then(physical),
                logical_locations: Vec::new(),
                message: Some(Message {
                    text: words::event(recording, event),
                }),
            },
            execution_order: at + 1,
            importance: if event.concerned { "essential" } else { "important" },
        });
        ThreadFlow {
            id: recording.tasks[task].name.clone(),
            locations: locations.collect(),
        }
    };
    let left_out = match from {
        0 => String::new(),
        from => format!(", without its first {from} steps"),
    };
    CodeFlow {
        message: Message {
            text: format!("the failing execution{left_out}"),
        },
        thread_flows: (0..recording.tasks.len())
            .map(thread)
            .filter(|flow| !flow.locations.is_empty())
            .collect(),
    }
}

fn physical(site: &str) -> Option<Physical> {
    let (file, start_line, _) = source::parts(site)?;
    Some(Physical {
        artifact_location: Artifact { uri: uri(file) },
        region: Region { start_line },
    })
}

/// Returns a path as a URI reference (RFC 3986).
fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut uri = String::new();
    if path.starts_with('/') {
        uri.push_str("file://");
    } else if path.as_bytes().get(1) == Some(&b':') {
        uri.push_str("file:///");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b':' => {
                uri.push(byte.into());
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_references() {
        for (path, reference) in [
            ("src/a b.rs", "src/a%20b.rs"),
            ("/ü/a.rs", "file:///%C3%BC/a.rs"),
            ("C:\\a\\b.rs", "file:///C:/a/b.rs"),
        ] {
            assert_eq!(uri(path), reference);
        }
    }
}
