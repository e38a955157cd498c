//! The execution of a finding: the events that matter, the preemptions, and the source lines next to them.

use super::style::{Part, TextStyle};
use super::{describe, relevance};
use crate::report::lines::{cut, path, width, wrap};
use crate::report::names::in_row;
use crate::report::source::Sources;
use crate::report::{Finding, FindingEvent};
use crate::settings::Verbosity;
use intermezzo_sdk::{FindingKind, SyncVarOp};
use std::fmt::Write;

/// The largest number of variables whose identities the heading gives.
const EXPLAINED: usize = 3;

/// Returns the execution, ended by a line break. Empty if there is none.
pub(super) fn show(finding: &Finding, style: &TextStyle, sources: &mut Sources) -> String {
    let events = &finding.events;
    if events.is_empty() {
        return String::new();
    }
    let shown = match style.detail {
        Verbosity::Verbose => (0..events.len()).collect(),
        _ => relevance::shown(finding),
    };
    let mut text = String::new();
    let mut title = "what happened, in this order".to_owned();
    if shown.len() < events.len() {
        write!(title, " ({} of {} events)", shown.len(), events.len()).expect("a string takes everything");
    }
    let named = explained(finding, &shown);
    if !named.is_empty() {
        write!(title, "; {named}").expect("a string takes everything");
    }
    let nameless = |at: &usize| !finding.names.contains_key(&events[*at].var);
    let nameless = shown.iter().filter(|at| nameless(at));
    if let Some((var, task, ordinal)) = nameless.clone().find_map(|&at| named_by_use(events, &events[at])) {
        write!(
            title,
            "; {var} is variable {ordinal} of those that {task} used first"
        )
        .expect("a string takes everything");
    }
    let rows: Vec<(usize, Row<'_>)> = shown
        .iter()
        .flat_map(|&at| rows_of(finding, at).into_iter().map(move |row| (at, row)))
        .collect();
    if rows.iter().any(|(_, row)| row.marked) {
        write!(title, "; {MARK} marks {}", marked(finding)).expect("a string takes everything");
    }
    for heading in wrap(&format!("{title}:"), style.columns(), 0, 2) {
        line(&mut text, &style.paint(Part::Heading, &heading));
    }
    let columns = Columns::new(rows.iter().map(|(_, row)| row), style);
    let mut next = 0;
    let mut before: Option<&Row<'_>> = None;
    for (at, row) in &rows {
        if *at > next {
            let gap = relevance::gap(finding, next..*at, style.columns());
            line(&mut text, &cut(&gap, style.columns()));
        }
        next = at + 1;
        if row.preempts && *at > 0 {
            let words = format!(
                "-- {} could have gone on, but {} goes first --",
                events[at - 1].task,
                row.task
            );
            for words in wrap(&words, style.columns(), 2, 5) {
                line(&mut text, &style.paint(Part::Switch, &words));
            }
        }
        let same = before.is_some_and(|before| before.task == row.task && !row.preempts);
        columns.write(&mut text, row, same, sources);
        before = Some(row);
    }
    if next < events.len() {
        let gap = relevance::gap(finding, next..events.len(), style.columns());
        line(&mut text, &cut(&gap, style.columns()));
    }
    text
}

/// Returns the identities of the first variables that are shown by name: `tail is atomic 0.1`.
fn explained(finding: &Finding, shown: &[usize]) -> String {
    let mut explained: Vec<String> = Vec::new();
    for var in shown.iter().map(|&at| &finding.events[at].var) {
        let Some(name) = finding.names.get(var) else {
            continue;
        };
        let said = format!("{name} is {var}");
        if explained.contains(&said) {
            continue;
        }
        if explained.len() == EXPLAINED {
            explained.push("and so on".to_owned());
            break;
        }
        explained.push(said);
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
    let rows: Vec<Row<'_>> = (0..finding.events.len())
        .flat_map(|at| rows_of(finding, at))
        .filter(|row| row.marked)
        .collect();
    let columns = Columns::new(rows.iter(), style);
    for row in &rows {
        columns.write(&mut text, row, false, sources);
    }
    text
}

/// The mark in front of a row that the finding is about.
const MARK: char = '>';

/// Returns the words for the marked rows of a finding.
pub(super) fn marked(finding: &Finding) -> &'static str {
    match finding.kind {
        FindingKind::DataRace => "the two ends of the race",
        _ => "what it is about",
    }
}

/// A line of the execution: an event, or an action between two events that the finding is about.
struct Row<'a> {
    task: &'a str,
    what: String,
    site: &'a str,
    /// `true` if the task of the event before could have continued.
    preempts: bool,
    marked: bool,
}

/// Returns the event, and the actions of its task before the next event that the finding is about.
fn rows_of(finding: &Finding, at: usize) -> Vec<Row<'_>> {
    let event = &finding.events[at];
    let deeds = finding.deeds.iter().filter(|deed| deed.after == event.id);
    let (itself, after): (Vec<_>, Vec<_>) = deeds.partition(|deed| deed.site == event.site);
    let event = Row {
        task: &event.task,
        what: describe(finding, event),
        site: &event.site,
        preempts: event.preempts,
        marked: !itself.is_empty(),
    };
    let after = after.into_iter().map(|deed| Row {
        task: &deed.task,
        what: in_row(&deed.what, &finding.names),
        site: &deed.site,
        preempts: false,
        marked: true,
    });
    std::iter::once(event).chain(after).collect()
}

/// Returns the parts of a variable's name, to explain it: `atomic 1.2` is the second variable that task 1 used first.
fn named_by_use<'a>(
    events: &'a [FindingEvent],
    event: &'a FindingEvent,
) -> Option<(&'a str, &'a str, &'a str)> {
    let (_, numbers) = event.var.rsplit_once(' ')?;
    let (task, ordinal) = numbers.split_once('.')?;
    ordinal.parse::<u32>().ok()?;
    let of_main = |event: &&FindingEvent| event.id.starts_with("0.");
    // The number is that of a task among those of the first task, which has created them in this order.
    let user = match task.parse::<usize>().ok()? {
        0 => &events.iter().find(of_main)?.task,
        number => {
            let spawns = events.iter().filter(of_main);
            let mut spawns = spawns.filter(|event| event.op == SyncVarOp::TaskFork.name());
            &spawns.nth(number - 1)?.var
        }
    };
    Some((&event.var, user, ordinal))
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{}", line.trim_end()).expect("a string takes everything");
}

/// Rows in columns: the task, the operation, the place, and the source line if there is room for it.
struct Columns<'s> {
    style: &'s TextStyle,
    task: usize,
    what: usize,
    place: usize,
    /// `true` if each place is on a line of its own below the operation.
    below: bool,
}

/// The width of the gap between two columns, and before the first.
const GAP: usize = 2;

impl Columns<'_> {
    fn new<'r>(rows: impl Iterator<Item = &'r Row<'r>> + Clone, style: &TextStyle) -> Columns<'_> {
        let columns = style.columns();
        let widest = |of: &dyn Fn(&Row<'_>) -> usize| rows.clone().map(of).max().unwrap_or(0);
        let task = widest(&|row| width(row.task)).min(columns / 4);
        let what = widest(&|row| width(&row.what)).min(columns - task - 2 * GAP);
        let used = 3 * GAP + task + what;
        let place = widest(&|row| width(row.site));
        // A path is shortened to its file name before it moves to a line of its own.
        let name = widest(&|row| width(row.site.rsplit(['/', '\\']).next().unwrap_or_default()) + 2);
        let below = used + name.min(place) > columns;
        Columns {
            style,
            task,
            what,
            place: if below { place } else { place.min(columns - used) },
            below,
        }
    }

    fn write(&self, text: &mut String, row: &Row<'_>, same: bool, sources: &mut Sources) {
        let Columns {
            style,
            task,
            what,
            place,
            below,
        } = *self;
        let columns = style.columns();
        let mark = match row.marked {
            true => style.paint(Part::Mark, &MARK.to_string()),
            false => " ".into(),
        };
        let who = cut(if same { "" } else { row.task }, task);
        let deed = cut(&row.what, what);
        let mut begin = format!("{mark} {who:task$}  {deed}");
        if row.site.is_empty() {
            return line(text, &begin);
        }
        if below {
            line(text, &begin);
            let indent = " ".repeat((2 * GAP + task).min(columns / 4));
            line(
                text,
                &format!("{indent}{}", path(row.site, columns - indent.len())),
            );
            return;
        }
        begin.push_str(&" ".repeat(what - width(&deed)));
        let site = path(row.site, place);
        let pad = " ".repeat(place - width(&site));
        let used = 3 * GAP + task + what + place + GAP;
        // An expression is shown as a whole or not at all.
        let source = sources
            .piece(row.site, columns.saturating_sub(used))
            .unwrap_or_default();
        line(text, &format!("{begin}  {site}{pad}  {source}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::FindingDeed;
    use crate::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    /// A task's number in a variable's name is not its number in the execution if its creator's tasks have tasks of their
    /// own.
    #[test]
    fn the_first_user_of_a_variable_is_named() {
        let named = |name: &str| crate::thread::Builder::new().name(name.into());
        let report = crate::Explorer::new().explore(|| {
            let first = named("first").spawn(move || {
                let grandchild = named("grandchild").spawn(|| {}).unwrap();
                grandchild.join().unwrap();
            });
            first.unwrap().join().unwrap();
            // A temporary value has no name.
            let second = named("second").spawn(|| AtomicUsize::new(0).store(1, SeqCst));
            second.unwrap().join().unwrap();
            panic!("so that there is a finding");
        });
        let finding = &report.findings()[0];
        let style = TextStyle::default();
        let text = show(finding, &style, &mut Sources::of(&style));
        assert!(
            text.contains("atomic 2.1 is variable 1 of those that second used first"),
            "{text}"
        );
    }

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
        let text = show(&finding, &style, &mut Sources::of(&style));
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
