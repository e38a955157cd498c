//! The execution of a finding: the events that matter, the preemptions, and the source lines next to them.

use super::columns::{Columns, MARK, Row, line};
use super::style::{Part, TextStyle};
use super::{describe, relevance};
use crate::report::lines::{cut, wrap};
use crate::report::names::in_row;
use crate::report::source::Sources;
use crate::report::{Finding, FindingEvent, TurningPoint};
use crate::settings::Verbosity;
use intermezzo_sdk::FindingKind;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Returns the execution, ended by a line break. Empty if there is none.
pub(super) fn show(
    finding: &Finding,
    turning_point: Option<&TurningPoint>,
    style: &TextStyle,
    sources: &mut Sources,
) -> String {
    let events = &finding.events;
    if events.is_empty() {
        return String::new();
    }
    let is_verbose = style.detail == Verbosity::Verbose;
    let shown = match is_verbose {
        true => (0..events.len()).collect(),
        false => relevance::shown(finding, turning_point),
    };
    let mut text = String::new();
    let mut title = "what happened, in this order".to_owned();
    if shown.len() < events.len() {
        let round = match !is_verbose && relevance::one_round(finding).is_some() {
            true => "one round of each loop, ",
            false => "",
        };
        write!(title, " ({round}{} of {} events)", shown.len(), events.len())
            .expect("a string takes everything");
    }
    if is_verbose {
        let named = explained(finding);
        if !named.is_empty() {
            write!(title, "; {named}").expect("a string takes everything");
        }
    }
    let rows: Vec<(usize, Row<'_>)> = shown
        .iter()
        .flat_map(|&at| {
            rows_of(finding, at, sources)
                .into_iter()
                .map(move |row| (at, row))
        })
        .collect();
    let rows = in_calls(rows, sources);
    if rows.iter().any(|(_, row)| row.marked) {
        write!(title, "; {MARK} marks {}", marked(finding)).expect("a string takes everything");
    }
    for heading in wrap(&format!("{title}:"), style.columns(), 0, 2) {
        line(&mut text, &style.paint(Part::Heading, &heading));
    }
    let all: Vec<&Row<'_>> = rows.iter().map(|(_, row)| row).collect();
    let columns = Columns::new(&all, &tasks(events), &finding.functions, style);
    columns.head(&mut text);
    let mut next = 0;
    let mut before: Option<&str> = None;
    for (at, row) in &rows {
        if *at > next {
            let gap = relevance::gap(finding, next..*at, style.columns(), sources);
            gap.iter()
                .for_each(|gap| line(&mut text, &cut(gap, style.columns())));
        }
        let is_first_of_event = *at >= next;
        next = at + 1;
        let switch = |words: &str| {
            let lines = wrap(words, style.columns(), 2, 5).into_iter();
            let painted = lines.map(|words| style.paint(Part::Switch, &words) + "\n");
            painted.collect::<String>()
        };
        if is_first_of_event && let Some(preempted) = preempted(events, *at) {
            let words = format!(
                "-- {preempted} could have continued, but {} runs first --",
                row.task
            );
            text.push_str(&switch(&words));
            before = None;
        }
        if is_first_of_event && turning_point.is_some_and(|point| point.from == events[*at].id && *at > 0) {
            text.push_str(&switch("-- from here on every order of the tasks fails --"));
            before = None;
        }
        columns.write(&mut text, row, before == Some(row.task), sources);
        before = Some(row.task);
    }
    if next < events.len() {
        let gap = relevance::gap(finding, next..events.len(), style.columns(), sources);
        gap.iter()
            .for_each(|gap| line(&mut text, &cut(gap, style.columns())));
    }
    text
}

/// Puts rows of a task that have the place of one call below a row for the call, and indents them. A function with
/// `#[track_caller]` leads to such rows. Rounds of a loop around the call are not distinguished, for all have its place.
fn in_calls<'f>(rows: Vec<(usize, Row<'f>)>, sources: &mut Sources) -> Vec<(usize, Row<'f>)> {
    let mut inside = Vec::with_capacity(rows.len());
    // The place of the call that each task is in.
    let mut current: BTreeMap<&str, &str> = BTreeMap::new();
    for (at, (event, row)) in rows.iter().enumerate() {
        let is_same = |(_, other): &&(usize, Row<'_>)| other.site == row.site;
        let of_task = |(_, other): &&(usize, Row<'_>)| other.task == row.task;
        let goes_on = rows[at + 1..]
            .iter()
            .find(of_task)
            .is_some_and(|next| is_same(&next));
        let continues = current.get(row.task) == Some(&row.site);
        let call = (goes_on || continues)
            .then(|| sources.boundary(row.site))
            .flatten();
        let Some(call) = call else {
            current.remove(row.task);
            inside.push((*event, row.clone()));
            continue;
        };
        if !continues {
            current.insert(row.task, row.site);
            let head = Row {
                what: call,
                marked: false,
                ..row.clone()
            };
            inside.push((*event, head));
        }
        let step = Row {
            what: format!("  {}", row.what),
            site: "",
            ..row.clone()
        };
        inside.push((*event, step));
    }
    inside
}

/// Returns the tasks in order of appearance.
fn tasks(events: &[FindingEvent]) -> Vec<&str> {
    let mut tasks: Vec<&str> = Vec::new();
    for event in events {
        if tasks.last() != Some(&&*event.task) && !tasks.contains(&&*event.task) {
            tasks.push(&event.task);
        }
    }
    tasks
}

/// Returns the task that could have continued where this event comes instead.
fn preempted(events: &[FindingEvent], at: usize) -> Option<&str> {
    let event = events.get(at).filter(|event| event.preempts)?;
    // The beginning of a task comes right after its creation, whichever task goes then.
    let before = events[..at].iter().rev().map(|event| event.task.as_str());
    before.into_iter().find(|&task| task != event.task)
}

/// Returns the identities of the variables that are shown by name: `tail is atomic 0.1`.
fn explained(finding: &Finding) -> String {
    let mut explained: Vec<String> = Vec::new();
    for var in finding.events.iter().map(|event| &event.var) {
        let Some(name) = finding.names.get(var) else {
            continue;
        };
        let said = format!("{name} is {var}");
        if !explained.contains(&said) {
            explained.push(said);
        }
    }
    explained.join(", ")
}

/// Returns only the rows that this finding is about, for an execution that was shown already. Empty if they are nothing
/// but events.
pub(super) fn show_deeds(finding: &Finding, style: &TextStyle, sources: &mut Sources) -> String {
    let mut text = String::new();
    if finding.deeds.is_empty() {
        return text;
    }
    let mut rows: Vec<Row<'_>> = Vec::new();
    for at in 0..finding.events.len() {
        rows.extend(rows_of(finding, at, sources).into_iter().filter(|row| row.marked));
    }
    let rows_shown: Vec<&Row<'_>> = rows.iter().collect();
    let columns = Columns::new(&rows_shown, &tasks(&finding.events), &finding.functions, style);
    columns.head(&mut text);
    for row in &rows {
        columns.write(&mut text, row, false, sources);
    }
    text
}

/// Returns the words for the marked rows of a finding.
pub(super) fn marked(finding: &Finding) -> &'static str {
    match finding.kind {
        FindingKind::DataRace => "the two ends of the race",
        _ => "what it is about",
    }
}

/// Returns the event, and the actions of its task before the next event that the finding is about.
fn rows_of<'f>(finding: &'f Finding, at: usize, sources: &mut Sources) -> Vec<Row<'f>> {
    let event = &finding.events[at];
    let deeds = finding.deeds.iter().filter(|deed| deed.after == event.id);
    let (itself, after): (Vec<_>, Vec<_>) = deeds.partition(|deed| deed.site == event.site);
    let event = Row {
        task: &event.task,
        what: describe(finding, event, sources.method(&event.site)),
        site: &event.site,
        marked: !itself.is_empty(),
    };
    let after = after.into_iter().map(|deed| Row {
        task: &deed.task,
        what: in_row(&deed.what, &finding.names),
        site: &deed.site,
        marked: true,
    });
    std::iter::once(event).chain(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::FindingDeed;
    use crate::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    /// In a race between an atomic access and a plain one, the first access is an event.
    #[test]
    fn what_a_finding_is_about_is_marked_where_it_was_done() {
        let report = crate::Explorer::new().explore(|| {
            let n = AtomicUsize::new(0);
            n.store(1, SeqCst);
            panic!("so that there is a finding");
        });
        let mut finding = report.findings()[0].clone();
        let store = finding.events.iter().find(|event| event.op == "store").unwrap();
        let deed = |site: &str, what: &str| FindingDeed {
            after: store.id.clone(),
            task: store.task.clone(),
            what: what.into(),
            site: site.into(),
        };
        finding.deeds = vec![
            deed(&store.site, "store it"),
            deed("src/x.rs:1:2", "read cell 0.2"),
        ];
        let style = TextStyle::default();
        let text = show(&finding, None, &style, &mut Sources::of(&style));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("; > marks what"), "{text}");
        let marked: Vec<usize> = (0..lines.len())
            .filter(|&at| lines[at].starts_with('>'))
            .collect();
        let [event, after] = marked[..] else {
            panic!("{text}")
        };
        assert!(lines[event].contains("store n = 1"), "{text}");
        assert!(
            after == event + 1 && lines[after].contains("read cell 0.2"),
            "{text}"
        );
    }
}
