//! The happens-before graph for Graphviz: a column for each task, and an arrow from each direct predecessor.

use super::words;
use crate::view::model::{Shown, ShownExecution};
use intermezzo::recording::Recording;
use std::fmt::Write;

/// The number of events of an execution that are drawn: the last ones. Graphviz takes minutes for thousands.
const EVENTS_MAX: usize = 400;

/// Returns the graph of the findings' executions, each in a box.
pub(in crate::view) fn graph(shown: &Shown) -> String {
    let mut text = String::from(
        "// made by cargo intermezzo view\n\
         digraph happens_before {\n  \
           rankdir=TB; newrank=true; compound=true; fontname=\"sans-serif\";\n  \
           node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\", fontsize=10];\n  \
           edge [color=\"#555555\", arrowsize=0.6];\n",
    );
    let mut executions = 0;
    for (report, finding) in shown.findings() {
        for ShownExecution {
            passes, recording, ..
        } in &finding.executions
        {
            executions += 1;
            let which = match passes {
                true => "nearest pass",
                false => finding.said.kind.as_str(),
            };
            let left_out = recording.events.len().saturating_sub(EVENTS_MAX);
            let note = match left_out {
                0 => String::new(),
                left_out => format!(" (the first {left_out} events are left out)"),
            };
            let label = quoted(&format!("{}: {which}{note}", report.program));
            let _ = writeln!(text, "  subgraph cluster_{executions} {{\n    label={label};");
            execution(executions, recording, left_out, &mut text);
            text.push_str("  }\n");
        }
    }
    text.push_str("}\n");
    text
}

fn execution(number: usize, recording: &Recording, from: usize, text: &mut String) {
    let node = |at: usize| format!("e{number}_{at}");
    let mut last: Vec<Option<usize>> = vec![None; recording.tasks.len()];
    let mut arrows = String::new();
    for (at, event) in recording.events.iter().enumerate().skip(from) {
        let site = words::site(recording, event).map_or_else(String::new, |site| format!("\n{site}"));
        let task = &recording.tasks[event.task].name;
        let label = quoted(&format!(
            "{} {task}\n{}{site}",
            at + 1,
            words::event(recording, event)
        ));
        let about = if event.concerned {
            ", fillcolor=\"#ffd9d6\", color=\"#b3261e\", penwidth=2"
        } else if event.preempts {
            ", fillcolor=\"#fff1cc\""
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "    {} [label={label}, group=t{number}_{}{about}];",
            node(at),
            event.task
        );
        if let Some(own) = last[event.task] {
            let _ = writeln!(arrows, "    {} -> {} [weight=8];", node(own), node(at));
        }
        for &before in event.after.iter().filter(|&&before| before >= from) {
            let _ = writeln!(
                arrows,
                "    {} -> {} [color=\"#1a56c4\", style=dashed];",
                node(before),
                node(at)
            );
        }
        last[event.task] = Some(at);
    }
    text.push_str(&arrows);
}

/// Returns a string of the DOT language.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
