//! A log for ShiViz: the regular expression of events, the one of lines between executions, and then two lines for each
//! event, with its description and its vector clock.

use super::words;
use crate::view::model::Shown;
use intermezzo::recording::Recording;
use serde_json::{Map, Value};
use std::fmt::Write;

/// The regular expression by which ShiViz finds events: a line with the text, then one with the task and the clock.
pub(in crate::view) const EVENTS: &str = r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})";

/// The regular expression by which ShiViz separates executions.
pub(in crate::view) const EXECUTIONS: &str = r"^=== intermezzo (?<trace>.*) ===$";

/// Returns the log of every recorded execution.
pub(in crate::view) fn log(shown: &Shown) -> String {
    let mut text = format!("{EVENTS}\n{EXECUTIONS}\n");
    for (number, (report, finding)) in shown.findings().enumerate() {
        for execution in &finding.executions {
            let which = match execution.passes {
                true => "nearest pass",
                false => finding.said.kind.as_str(),
            };
            let name = plain(&format!("{} {}: {which}", number + 1, report.program));
            let _ = writeln!(text, "=== intermezzo {name} ===");
            events(&execution.recording, &mut text);
        }
    }
    text
}

fn events(recording: &Recording, text: &mut String) {
    let hosts: Vec<String> = hosts(recording);
    for (event, clock) in recording.events.iter().zip(words::clocks(recording)) {
        let known = hosts.iter().zip(clock).filter(|(_, index)| *index > 0);
        let clock: Map<String, Value> = known.map(|(host, index)| (host.clone(), index.into())).collect();
        let site = words::site(recording, event).map_or_else(String::new, |site| format!(" at {site}"));
        let what = plain(&format!("{}{site}", words::event(recording, event)));
        let _ = writeln!(text, "{what}\n{} {}", hosts[event.task], Value::Object(clock));
    }
}

/// Returns the tasks' names as distinct words.
fn hosts(recording: &Recording) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    for (number, task) in recording.tasks.iter().enumerate() {
        let letter = |c: char| {
            if c.is_alphanumeric() || "_.-".contains(c) {
                c
            } else {
                '-'
            }
        };
        let mut host: String = task.name.chars().map(letter).collect();
        if host.is_empty() || hosts.contains(&host) {
            host = format!("{host}-{number}");
        }
        hosts.push(host);
    }
    hosts
}

/// Returns the text on one line, because an event's text must not have several.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
