//! Checks a recording's indexes into its tables, so that the code that reads it can rely on them.

use intermezzo::recording::{RECORDING_FORMAT, Recorded, Recording};

/// Checks both recordings of a finding.
///
/// # Errors
/// Describes the error, beginning with its place: `execution.events[3].task is 9, but there are 2`.
pub(super) fn recorded(recorded: &Recorded) -> Result<(), String> {
    let both = [
        ("execution", &recorded.execution),
        ("nearest_pass", &recorded.nearest_pass),
    ];
    for (name, one) in both {
        if let Some(one) = one {
            recording(one).map_err(|why| format!("{name}.{why}"))?;
        }
    }
    Ok(())
}

fn recording(recording: &Recording) -> Result<(), String> {
    let Recording {
        format,
        tasks,
        vars,
        sites,
        functions,
        stacks,
        events,
        data,
        operations,
        said,
        ..
    } = recording;
    if format != RECORDING_FORMAT {
        return Err(format!(
            "format is {format:?}, but {RECORDING_FORMAT:?} is needed"
        ));
    }
    for (at, function) in functions.iter().enumerate() {
        below(format!("functions[{at}].site"), function.site, sites.len())?;
    }
    for (at, stack) in stacks.iter().enumerate() {
        for (place, &function) in stack.iter().enumerate() {
            below(format!("stacks[{at}][{place}]"), function, functions.len())?;
        }
    }
    let mut last = vec![0_u32; tasks.len()];
    for (at, event) in events.iter().enumerate() {
        let here = |field: &str| format!("events[{at}].{field}");
        below(here("task"), event.task, tasks.len())?;
        let tables = [
            ("var", event.var, vars.len()),
            ("site", event.site, sites.len()),
            ("stack", event.stack, stacks.len()),
        ];
        for (field, place, most) in tables {
            place.map_or(Ok(()), |place| below(here(field), place, most))?;
        }
        for (field, set) in [("enabled", &event.enabled), ("disabled", &event.disabled)] {
            let mut set = set.iter().flatten();
            set.try_for_each(|&task| below(here(field), task, tasks.len()))?;
        }
        let mut before = event.after.iter();
        before.try_for_each(|&before| below(here("after"), before, at))?;
        let mut stores = event.newer.iter().map(|store| ("newer", store));
        let mut stores = event.from.iter().map(|store| ("from", store)).chain(&mut stores);
        stores.try_for_each(|(field, &store)| below(here(field), store, at))?;
        if event.index != last[event.task] + 1 {
            let next = last[event.task] + 1;
            return Err(format!(
                "{} is {}, but the next of its task is {next}",
                here("index"),
                event.index
            ));
        }
        last[event.task] = event.index;
    }
    for (at, access) in data.iter().enumerate() {
        below(format!("data[{at}].task"), access.task, tasks.len())?;
        below(format!("data[{at}].at"), access.at, events.len() + 1)?;
        if let Some(site) = access.site {
            below(format!("data[{at}].site"), site, sites.len())?;
        }
        if let Some(stack) = access.stack {
            below(format!("data[{at}].stack"), stack, stacks.len())?;
        }
    }
    for (at, operation) in operations.iter().enumerate() {
        below(format!("operations[{at}].task"), operation.task, tasks.len())?;
        below(format!("operations[{at}].call"), operation.call, events.len())?;
        if let Some(ret) = operation.ret {
            below(format!("operations[{at}].ret"), ret, events.len())?;
            if ret < operation.call {
                return Err(format!("operations[{at}].ret is before its call"));
            }
        }
    }
    for (at, said) in said.iter().enumerate() {
        below(format!("said[{at}].task"), said.task, tasks.len())?;
        below(format!("said[{at}].at"), said.at, events.len() + 1)?;
    }
    Ok(())
}

fn below(what: String, place: usize, most: usize) -> Result<(), String> {
    if place < most {
        return Ok(());
    }
    Err(format!("{what} is {place}, but there are only {most}"))
}
