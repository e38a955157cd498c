//! What a report without recordings knows of an execution, in the shape of a recording.

use super::model::FindingFile;
use intermezzo::recording::{RECORDING_FORMAT, RecordedEvent, RecordedTask, RecordedVar, Recording};
use std::collections::HashMap;

/// More tasks than any execution has: a number beyond is a mistake in the file.
const TASKS_MAX: usize = 1 << 16;

/// The execution of a finding, as far as its list of events tells.
///
/// # Errors
/// An event's id is none, or not the next of its task.
pub(super) fn recording(finding: &FindingFile) -> Result<Recording, String> {
    let mut recording = Recording {
        format: RECORDING_FORMAT.into(),
        program: String::new(),
        schedule: finding.schedule.clone(),
        complete: false,
        tasks: Vec::new(),
        vars: Vec::new(),
        sites: Vec::new(),
        events: Vec::new(),
        data: Vec::new(),
        operations: Vec::new(),
        said: Vec::new(),
    };
    let (mut vars, mut sites) = (HashMap::new(), HashMap::new());
    let mut last: Vec<u32> = Vec::new();
    for (at, event) in finding.events.iter().enumerate() {
        let wrong = |why: &str| format!("events[{at}].id is {:?}: {why}", event.id);
        let (task, index) = event
            .id
            .split_once('.')
            .and_then(|(task, index)| Some((task.parse::<usize>().ok()?, index.parse::<u32>().ok()?)))
            .ok_or_else(|| wrong("it should be the task's number, a dot, and the event's"))?;
        if task >= TASKS_MAX {
            return Err(wrong("there are never so many tasks"));
        }
        if last.len() <= task {
            last.resize(task + 1, 0);
        }
        if index != last[task] + 1 {
            return Err(wrong(&format!("the task's next event is {}", last[task] + 1)));
        }
        last[task] = index;
        while recording.tasks.len() <= task {
            let name = format!("task {}", recording.tasks.len());
            recording.tasks.push(RecordedTask { name });
        }
        recording.tasks[task].name.clone_from(&event.task);
        let var = (!event.var.is_empty()).then(|| {
            *vars.entry(event.var.as_str()).or_insert_with(|| {
                let kind = event.var.split(' ').next().unwrap_or_default();
                recording.vars.push(RecordedVar {
                    name: event.var.clone(),
                    kind: kind.to_owned(),
                });
                recording.vars.len() - 1
            })
        });
        let site = (!event.site.is_empty()).then(|| {
            *sites.entry(event.site.as_str()).or_insert_with(|| {
                recording.sites.push(event.site.clone());
                recording.sites.len() - 1
            })
        });
        recording.events.push(RecordedEvent {
            task,
            index,
            op: event.op.clone(),
            order: event.order.clone(),
            var,
            read: event.read,
            written: event.written,
            site,
            concerned: event.concerned,
            ..RecordedEvent::default()
        });
    }
    Ok(recording)
}
