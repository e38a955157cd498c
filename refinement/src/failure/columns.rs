//! The relevant steps, in columns: one for each task, and one for the object's state.
//!
//! The layout depends on the width: places in the source are next to the steps, or below them, or all tasks share one
//! column.

use super::steps::{CALL, RETURN, Steps, ToldStep, place_of};
use crate::scenario::shortened;
use intermezzo_explorer::Effect;
use intermezzo_explorer::report::VarNames;
use std::fmt::Write;

/// Between two columns.
const BETWEEN: &str = " | ";

/// The smallest width of a state that is shown in part.
const STATE_MIN: usize = 20;

/// A step as it is shown.
struct Row {
    column: usize,
    what: String,
    place: String,
    state: Option<String>,
}

/// Draws the relevant steps within `width` characters; nothing if there are none.
pub(super) fn draw(steps: &Steps, names: &VarNames, width: usize) -> String {
    let shown: Vec<&ToldStep> = steps.of_tasks().filter(|step| step.matters).collect();
    let mut columns: Vec<usize> = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    let file = only_file(&shown);
    let mut state: Option<&str> = None;
    for step in shown {
        let known = columns.iter().position(|&column| column == step.column);
        let column = known.unwrap_or_else(|| {
            columns.push(step.column);
            columns.len() - 1
        });
        let now = step.state.as_deref();
        let changed = now.is_some() && now != state;
        state = now.or(state);
        rows.push(Row {
            column,
            what: what(steps, names, step),
            place: match (place(step), file) {
                (None, _) => String::new(),
                (Some((_, line)), Some(_)) => format!(":{line}"),
                (Some((file, line)), None) => format!("{file}:{line}"),
            },
            state: now.filter(|_| changed).map(str::to_owned),
        });
    }
    // In the order of the tasks, and not of their first steps.
    let mut sorted = columns.clone();
    sorted.sort_by_key(|&column| &steps.columns[column]);
    for row in &mut rows {
        let column = columns[row.column];
        row.column = sorted.iter().position(|&other| other == column).unwrap_or(0);
    }
    let names: Vec<&str> = sorted
        .iter()
        .map(|&column| steps.columns[column].as_str())
        .collect();
    let mut text = outside(steps, |first| first == Outside::Before);
    if !rows.is_empty() {
        let table = [Shape::Beside, Shape::Below]
            .into_iter()
            .find_map(|shape| table(&names, &rows, shape, width));
        text += &table.unwrap_or_else(|| list(&names, &rows, width));
        if let Some(file) = file {
            writeln!(text, "(lines are of {file})").expect("a string takes everything");
        }
    }
    text += &outside(steps, |first| first == Outside::After);
    text
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outside {
    Before,
    After,
}

/// Returns the operations before or after the tasks, one on each line.
fn outside(steps: &Steps, which: impl Fn(Outside) -> bool) -> String {
    let begins = steps.operations.iter().filter(|operation| operation.task != 0);
    let first = begins.filter_map(|operation| operation.first_step).min();
    let mut text = String::new();
    for operation in steps.operations.iter().filter(|operation| operation.task == 0) {
        let Some(begins) = operation.first_step else {
            continue;
        };
        let when = match first.is_some_and(|first| begins > first) {
            true => Outside::After,
            false => Outside::Before,
        };
        if !which(when) {
            continue;
        }
        let name = if when == Outside::Before {
            "before"
        } else {
            "after"
        };
        let returned = match operation.returned.as_deref() {
            Some("()") => String::new(),
            Some(returned) => format!(" = {}", shortened(returned)),
            None => " does not return".into(),
        };
        let last = operation.last_step.and_then(|last| steps.steps.get(last));
        let state = last.and_then(|step| step.state.as_deref());
        let state = state.map_or(String::new(), |state| format!("   state: {}", shortened(state)));
        writeln!(text, "{name:<8}{}{returned}{state}", shortened(&operation.call))
            .expect("a string takes everything");
    }
    text
}

fn what(steps: &Steps, names: &VarNames, step: &ToldStep) -> String {
    let operation = place_of(step).and_then(|place| steps.operations.get(place.index()));
    match (step.event.op.as_str(), operation) {
        (CALL, Some(operation)) => shortened(&operation.call),
        (RETURN, Some(operation)) => match operation.returned.as_deref() {
            Some("()") | None => "returns".into(),
            Some(returned) => format!("returns {}", shortened(returned)),
        },
        _ => {
            let event = &step.event;
            let value = match (event.read, event.written) {
                (Some(read), Some(written)) => format!(": {read} -> {written}"),
                (Some(value), None) | (None, Some(value)) => format!(": {value}"),
                (None, None) => String::new(),
            };
            let var = names.get(&event.var).unwrap_or(&event.var);
            let what = format!("{} {var}", event.op);
            let effect = match event.effect {
                Some(effect @ (Effect::Stale | Effect::Overwritten)) => format!(", {effect}"),
                _ => String::new(),
            };
            format!("  {}{value}{effect}", what.trim_end())
        }
    }
}

/// Returns the file and the line, without directories; nothing for calls and returns.
fn place(step: &ToldStep) -> Option<(&str, &str)> {
    if matches!(step.event.op.as_str(), CALL | RETURN) {
        return None;
    }
    let site = step.event.site.rsplit(['/', '\\']).next()?;
    let mut parts = site.rsplitn(3, ':').skip(1);
    let line = parts.next()?;
    Some((parts.next()?, line))
}

/// Returns the file that all places are in, if it is one: then only their lines are shown.
fn only_file<'a>(steps: &[&'a ToldStep]) -> Option<&'a str> {
    let mut files = steps.iter().filter_map(|step| Some(place(step)?.0));
    let file = files.next()?;
    files.all(|other| other == file).then_some(file)
}

/// The position of places in the source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Beside,
    Below,
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Returns the text cut to `room`, with a mark if it was cut.
fn cut(text: &str, room: usize) -> String {
    // A line break would break the table.
    let line = text.replace('\n', " ");
    match length(&line) > room {
        true => line
            .chars()
            .take(room.saturating_sub(2))
            .chain("..".chars())
            .collect(),
        false => line,
    }
}

/// Returns the table, if there is room for it.
fn table(names: &[&str], rows: &[Row], shape: Shape, width: usize) -> Option<String> {
    let cell = |row: &Row| match shape {
        Shape::Beside if !row.place.is_empty() => length(&row.what) + 2 + length(&row.place),
        Shape::Beside => length(&row.what),
        Shape::Below => length(&row.what).max(4 + length(&row.place)),
    };
    let mut widths: Vec<usize> = names.iter().map(|name| length(name)).collect();
    for row in rows {
        widths[row.column] = widths[row.column].max(cell(row));
    }
    let taken = widths.iter().sum::<usize>() + BETWEEN.len() * (widths.len() - 1);
    let longest = rows
        .iter()
        .filter_map(|row| row.state.as_deref())
        .map(length)
        .max();
    let wanted = longest.map_or(0, |longest| BETWEEN.len() + longest.min(STATE_MIN));
    if taken + wanted > width {
        return None;
    }
    let room = width - taken - if longest.is_some() { BETWEEN.len() } else { 0 };
    let mut text = String::new();
    let mut line = |cells: Vec<String>, state: &str| {
        let mut line = String::new();
        for (at, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            if at > 0 {
                line += BETWEEN;
            }
            line += cell;
            line.extend(std::iter::repeat_n(' ', width - length(cell)));
        }
        if longest.is_some() {
            line += BETWEEN;
            line += &cut(state, room);
        }
        writeln!(text, "{}", line.trim_end()).expect("a string takes everything");
    };
    let blank = || vec![String::new(); names.len()];
    line(names.iter().map(|&name| name.to_owned()).collect(), "state");
    line(widths.iter().map(|&width| "-".repeat(width)).collect(), "-----");
    for row in rows {
        let mut cells = blank();
        cells[row.column] = match shape {
            Shape::Beside => {
                let room = widths[row.column] - length(&row.place);
                format!("{:<room$}{}", row.what, row.place)
            }
            Shape::Below => row.what.clone(),
        };
        line(cells, row.state.as_deref().unwrap_or_default());
        if shape == Shape::Below && !row.place.is_empty() {
            let mut cells = blank();
            cells[row.column] = format!("    {}", row.place);
            line(cells, "");
        }
    }
    Some(text)
}

/// Lists one step after the other.
fn list(names: &[&str], rows: &[Row], width: usize) -> String {
    let name = names.iter().map(|name| length(name)).max().unwrap_or(0);
    let mut text = String::new();
    let mut before = usize::MAX;
    for row in rows {
        let who = if row.column == before {
            ""
        } else {
            names[row.column]
        };
        before = row.column;
        writeln!(text, "{who:<name$}  {}  {}", row.what, row.place).expect("a string takes everything");
        if let Some(state) = &row.state {
            let state = cut(state, width.saturating_sub(name + 11).max(STATE_MIN));
            writeln!(text, "{:<name$}    state: {state}", "").expect("a string takes everything");
        }
    }
    text.lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}
