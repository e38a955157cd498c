//! The execution of a finding in a report without recordings, as far as the report has it, in the form of a recording.

use super::model::{FindingFile, ShownDeed, ShownExecution};
use intermezzo::recording::{RECORDING_FORMAT, RecordedEvent, RecordedTask, RecordedVar, Recording};
use std::collections::HashMap;

/// More tasks than any execution has. A larger number is an error in the file.
const TASKS_MAX: usize = 1 << 16;

/// Returns the execution of a finding, as far as its events and deeds describe it.
///
/// # Errors
/// If an event's id is not an id or not the next one of its task, or if the event before a deed does not exist.
pub(super) fn execution(finding: &FindingFile) -> Result<ShownExecution, String> {
    let mut recording = recording(finding)?;
    let deeds = deeds(finding, &mut recording)?;
    Ok(ShownExecution {
        passes: false,
        partial: true,
        recording,
        deeds,
    })
}

/// Returns the finding's actions between events.
fn deeds(finding: &FindingFile, recording: &mut Recording) -> Result<Vec<ShownDeed>, String> {
    let mut deeds = Vec::new();
    for (number, deed) in finding.deeds.iter().enumerate() {
        let event = finding.events.iter().position(|event| event.id == deed.after);
        let event = event.ok_or_else(|| {
            format!(
                "deeds[{number}].after is {:?}, but no event has that id",
                deed.after
            )
        })?;
        // A deed at the place of the event is the event itself.
        if finding.events[event].site == deed.site {
            continue;
        }
        let known = recording.sites.iter().position(|site| *site == deed.site);
        let site = known.unwrap_or_else(|| {
            recording.sites.push(deed.site.clone());
            recording.sites.len() - 1
        });
        deeds.push(ShownDeed {
            task: recording.events[event].task,
            at: event + 1,
            what: deed.what.clone(),
            site,
        });
    }
    Ok(deeds)
}

fn recording(finding: &FindingFile) -> Result<Recording, String> {
    let mut recording = Recording {
        format: RECORDING_FORMAT.into(),
        program: String::new(),
        schedule: finding.schedule.clone(),
        complete: false,
        tasks: Vec::new(),
        vars: Vec::new(),
        sites: Vec::new(),
        functions: Vec::new(),
        stacks: Vec::new(),
        events: Vec::new(),
        data: Vec::new(),
        operations: Vec::new(),
        said: Vec::new(),
    };
    let (mut vars, mut sites) = (HashMap::new(), HashMap::new());
    let ids = finding.events.iter().map(|event| event.id.as_str());
    let places: HashMap<&str, usize> = ids.zip(0..).collect();
    let mut last: Vec<u32> = Vec::new();
    for (at, event) in finding.events.iter().enumerate() {
        let wrong = |why: &str| format!("events[{at}].id is {:?}: {why}", event.id);
        let (task, index) = event
            .id
            .split_once('.')
            .and_then(|(task, index)| Some((task.parse::<usize>().ok()?, index.parse::<u32>().ok()?)))
            .ok_or_else(|| wrong("it should be the task's number, a dot, and the event's"))?;
        if task >= TASKS_MAX {
            return Err(wrong("no execution has so many tasks"));
        }
        if last.len() <= task {
            last.resize(task + 1, 0);
        }
        let is_next = index == last[task] + 1 || finding.events_left_out > 0 && index > last[task];
        if !is_next {
            return Err(wrong(&format!("the task's next event is {}", last[task] + 1)));
        }
        last[task] = index;
        while recording.tasks.len() <= task {
            let name = format!("task {}", recording.tasks.len());
            recording.tasks.push(RecordedTask { name, function: None });
        }
        recording.tasks[task].name.clone_from(&event.task);
        recording.tasks[task].function = finding.functions.get(&event.task).cloned();
        let var = (!event.var.is_empty()).then(|| {
            *vars.entry(event.var.as_str()).or_insert_with(|| {
                let kind = event.var.split(' ').next().unwrap_or_default();
                recording.vars.push(RecordedVar {
                    source_name: None,
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
            effect: event.effect,
            from: event
                .from
                .as_ref()
                .and_then(|id| places.get(id.as_str()))
                .copied(),
            newer: event
                .newer
                .iter()
                .filter_map(|id| places.get(id.as_str()))
                .copied()
                .collect(),
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
