//! The execution of a finding: the events that matter, the preemptions, and the source lines next to them.

use super::style::{Part, TextStyle};
use super::{count, describe};
use crate::report::lines::{cut, path, width, wrap};
use crate::report::source::Sources;
use crate::report::{Finding, FindingEvent};
use crate::settings::Verbosity;
use intermezzo_sdk::{FindingKind, SyncVarOp};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The largest number of events of an execution that is shown as a whole.
const WHOLE: usize = 24;

/// In longer executions, the number of steps shown of each task after a context switch and before the next one.
const FIRST: usize = 2;
const LAST: usize = 3;

/// The largest number of events shown of a long execution: those at the end.
const SHOWN: usize = 48;

/// The smallest width in which a piece of source is shown.
const SOURCE_MIN: usize = 16;

/// Returns the execution, ended by a line break. Empty if there is none.
pub(super) fn show(finding: &Finding, style: &TextStyle, sources: &mut Sources) -> String {
    let events = &finding.events;
    if events.is_empty() {
        return String::new();
    }
    let shown = match style.detail {
        Verbosity::Verbose => (0..events.len()).collect(),
        _ => that_matter(events),
    };
    let mut text = String::new();
    let mut title = "what happened, in this order".to_owned();
    if shown.len() < events.len() {
        write!(title, " ({} of {} events)", shown.len(), events.len()).expect("a string takes everything");
    }
    if let Some((var, task, ordinal)) = shown.iter().find_map(|&at| named_by_use(events, &events[at])) {
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
            let gap = format!("  ... {}", count((at - next) as u64, "event"));
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
    text
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
        what: describe(event),
        site: &event.site,
        preempts: event.preempts,
        marked: !itself.is_empty(),
    };
    let after = after.into_iter().map(|deed| Row {
        task: &deed.task,
        what: deed.what.clone(),
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

/// Returns the events to show of an execution: those around context switches, and those that the finding is about.
fn that_matter(events: &[FindingEvent]) -> Vec<usize> {
    if events.len() <= WHOLE {
        return (0..events.len()).collect();
    }
    let mut matter = BTreeSet::new();
    let mut begin = 0;
    for part in events.chunk_by(|one, next| one.task == next.task) {
        let end = begin + part.len();
        // A gap takes a line as well.
        if part.len() <= FIRST + LAST + 1 {
            matter.extend(begin..end);
        } else {
            matter.extend((begin..begin + FIRST).chain(end - LAST..end));
        }
        begin = end;
    }
    let concerned: Vec<usize> = (0..events.len()).filter(|&at| events[at].concerned).collect();
    matter.extend(concerned.iter().copied());
    let too_many = matter.len().saturating_sub(SHOWN);
    let mut left: Vec<usize> = matter.into_iter().collect();
    // Events that the finding is about are kept, however far back they are.
    left = left
        .iter()
        .enumerate()
        .filter(|(rank, at)| *rank >= too_many || concerned.contains(at))
        .map(|(_, &at)| at)
        .collect();
    left
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
        let source = |sources: &mut Sources, room: usize| match sources.line(row.site) {
            Some((source, _)) if room >= SOURCE_MIN => cut(&source.trim().replace('\t', " "), room),
            _ => String::new(),
        };
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
        let source = source(sources, columns.saturating_sub(used));
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
        assert!(lines[event].contains("store atomic 0.1 = 1"), "{text}");
        assert!(
            after == event + 1 && lines[after].contains("read cell 0.2"),
            "{text}"
        );
    }
}
