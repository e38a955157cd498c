//! A trace in Chrome's JSON format, which ui.perfetto.dev reads: tasks as threads, steps as slices, happens-before as
//! flows.
//!
//! Source: "Trace Event Format" (Google). An execution has no times, only an order of its steps: each step is given a
//! millisecond, which the viewers show best.

use super::words;
use crate::view::model::Shown;
use intermezzo::recording::Recording;
use serde::Serialize;
use serde_json::{Value, json};

/// The duration of a step in the trace, in microseconds.
const STEP_US: usize = 1000;

/// The duration of a step's slice. The rest is a gap before the next slice.
const SLICE_US: usize = 900;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Trace {
    // The first field, so that the mark of `view` is near the beginning of the file.
    other_data: Value,
    display_time_unit: &'static str,
    trace_events: Vec<Event>,
}

#[derive(Default, Serialize)]
struct Event {
    name: String,
    /// The phase: `X` a slice, `M` a name, `i` a moment, `s` and `f` the ends of an arrow.
    ph: &'static str,
    pid: usize,
    tid: usize,
    ts: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<usize>,
    #[serde(skip_serializing_if = "str::is_empty")]
    cat: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    /// The slice to which the end of an arrow is bound: `e` for the one around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'static str>,
    /// The scope of a moment: `t` for its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    #[serde(skip_serializing_if = "Value::is_null")]
    args: Value,
}

/// Returns the trace of every execution of every finding, each as a process.
pub(in crate::view) fn trace(shown: &Shown) -> String {
    let mut events = Vec::new();
    let mut arrows = 0;
    let executions = shown
        .findings()
        .flat_map(|(report, finding)| finding.executions.iter().map(move |one| (report, finding, one)));
    for ((report, finding, execution), pid) in executions.zip(1..) {
        let which = match execution.passes {
            true => "nearest pass",
            false => finding.said.kind.as_str(),
        };
        let named = |name: &str, tid, text: &str| Event {
            name: name.into(),
            ph: "M",
            pid,
            tid,
            args: json!({ "name": text }),
            ..Event::default()
        };
        events.push(named("process_name", 0, &format!("{}: {which}", report.program)));
        for (tid, task) in execution.recording.tasks.iter().enumerate() {
            events.push(named("thread_name", tid, &task.label()));
        }
        steps(&execution.recording, pid, &mut arrows, &mut events);
    }
    let trace = Trace {
        other_data: json!({ "made_by": "cargo intermezzo view" }),
        display_time_unit: "ms",
        trace_events: events,
    };
    let mut text = serde_json::to_string(&trace).expect("a trace has text for keys");
    text.push('\n');
    text
}

fn steps(recording: &Recording, pid: usize, arrows: &mut usize, events: &mut Vec<Event>) {
    let count = recording.events.len();
    for operation in &recording.operations {
        let end = operation
            .ret
            .map_or(count * STEP_US, |ret| ret * STEP_US + SLICE_US);
        let start = operation.call * STEP_US;
        events.push(Event {
            name: operation.name.clone(),
            ph: "X",
            pid,
            tid: operation.task,
            ts: start,
            dur: Some(end.saturating_sub(start)),
            cat: "operation",
            args: json!({ "returned": operation.result }),
            ..Event::default()
        });
    }
    for (at, event) in recording.events.iter().enumerate() {
        let here = |ph, cat| Event {
            name: words::event(recording, event),
            ph,
            pid,
            tid: event.task,
            ts: at * STEP_US,
            cat,
            ..Event::default()
        };
        if event.preempts {
            let before = recording.events[at - 1].task;
            events.push(Event {
                name: format!("{} is preempted", recording.tasks[before].name),
                tid: before,
                s: Some("t"),
                ..here("i", "preemption")
            });
        }
        let about = if event.concerned { "finding" } else { "step" };
        events.push(Event {
            dur: Some(SLICE_US),
            args: json!({
                "event": format!("{}.{}", event.task, event.index),
                "step": at + 1,
                "site": words::site(recording, event),
            }),
            ..here("X", about)
        });
        for &before in &event.after {
            *arrows += 1;
            let arrow = |ph, bp, at: usize, task| Event {
                name: "happens before".into(),
                tid: task,
                ts: at * STEP_US + SLICE_US / 2,
                id: Some(*arrows),
                bp,
                ..here(ph, "happens-before")
            };
            events.push(arrow("s", None, before, recording.events[before].task));
            events.push(arrow("f", Some("e"), at, event.task));
        }
    }
}
