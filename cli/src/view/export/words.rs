//! Descriptions of events for all formats, and the vector clocks that some need.

use intermezzo::recording::{RecordedEvent, Recording};

/// Describes an event: `store(Release) atomic 0.1 = 3`.
pub(super) fn event(recording: &Recording, event: &RecordedEvent) -> String {
    let mut text = event.op.clone();
    if let Some(order) = &event.order {
        text.push_str(&format!("({order})"));
    }
    if let Some(var) = event.var {
        text.push(' ');
        text.push_str(&recording.vars[var].name);
    }
    match (event.read, event.written) {
        (None, None) => {}
        (Some(read), None) => text.push_str(&format!(" -> {read}")),
        (None, Some(written)) => text.push_str(&format!(" = {written}")),
        (Some(read), Some(written)) => text.push_str(&format!(" {read} -> {written}")),
    }
    if let Some(effect) = event.effect {
        text.push_str(&format!(", {effect}"));
    }
    text
}

/// Returns the vector clock of each event: for each task, the index of its last event that happens before or is this one.
pub(super) fn clocks(recording: &Recording) -> Vec<Vec<u32>> {
    let mut last: Vec<Option<usize>> = vec![None; recording.tasks.len()];
    let mut clocks: Vec<Vec<u32>> = Vec::with_capacity(recording.events.len());
    for (at, event) in recording.events.iter().enumerate() {
        let mut clock = last[event.task].map_or_else(|| vec![0; last.len()], |own| clocks[own].clone());
        for &before in &event.after {
            let known = clock.iter_mut().zip(&clocks[before]);
            known.for_each(|(own, theirs)| *own = (*own).max(*theirs));
        }
        clock[event.task] = event.index;
        last[event.task] = Some(at);
        clocks.push(clock);
    }
    clocks
}

/// Returns the place of an event in the source, if it has one.
pub(super) fn site<'a>(recording: &'a Recording, event: &RecordedEvent) -> Option<&'a str> {
    event.site.map(|site| recording.sites[site].as_str())
}
