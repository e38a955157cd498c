//! The execution of a finding: what of it matters, who was preempted where, and the lines of the source beside it.

use super::style::{Detail, Part, TextStyle};
use super::{count, describe};
use crate::report::lines::{cut, path, width, wrap};
use crate::report::source::Sources;
use crate::report::{Finding, FindingEvent};
use std::collections::BTreeSet;
use std::fmt::Write;

/// An execution of so many events is shown as a whole.
const WHOLE: usize = 24;

/// Of a longer one what each task did first and last before another went on.
const FIRST: usize = 2;
const LAST: usize = 3;

/// Most events that are shown of it: those at the end.
const SHOWN: usize = 48;

/// There is no point in a piece of source shorter than this.
const SOURCE_MIN: usize = 16;

/// The execution, ended by a line break; nothing if there is none.
pub(super) fn show(finding: &Finding, style: &TextStyle, sources: &mut Sources) -> String {
    let events = &finding.events;
    if events.is_empty() {
        return String::new();
    }
    let shown = match style.detail {
        Detail::Verbose => (0..events.len()).collect(),
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
    for heading in wrap(&format!("{title}:"), style.columns(), 0, 2) {
        line(&mut text, &style.paint(Part::Heading, &heading));
    }
    let rows = Rows::new(events, &shown, style.columns());
    let mut next = 0;
    let mut before: Option<&FindingEvent> = None;
    for &at in &shown {
        if at > next {
            let gap = format!("  ... {}", count((at - next) as u64, "event"));
            line(&mut text, &cut(&gap, style.columns()));
        }
        next = at + 1;
        let event = &events[at];
        if event.preempts && at > 0 {
            let words = format!(
                "-- {} could have gone on, but {} goes first --",
                events[at - 1].task,
                event.task
            );
            for words in wrap(&words, style.columns(), 2, 5) {
                line(&mut text, &style.paint(Part::Switch, &words));
            }
        }
        let same = before.is_some_and(|before| before.task == event.task && !event.preempts);
        rows.write(&mut text, event, same, sources);
        before = Some(event);
    }
    text
}

/// The parts of a variable's name, for who has never seen one: `atomic 1.2` is the second that task 1 used first.
fn named_by_use<'a>(
    events: &'a [FindingEvent],
    event: &'a FindingEvent,
) -> Option<(&'a str, &'a str, &'a str)> {
    let (_, numbers) = event.var.rsplit_once(' ')?;
    let (task, ordinal) = numbers.split_once('.')?;
    ordinal.parse::<u32>().ok()?;
    let of_task = |other: &&FindingEvent| other.id.split_once('.').is_some_and(|(number, _)| number == task);
    Some((&event.var, &events.iter().find(of_task)?.task, ordinal))
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{}", line.trim_end()).expect("a string takes everything");
}

/// Which events to show of an execution: those around switches, and those that the finding is about.
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
    // What the finding is about stays, however far back it is.
    left = left
        .iter()
        .enumerate()
        .filter(|(rank, at)| *rank >= too_many || concerned.contains(at))
        .map(|(_, &at)| at)
        .collect();
    left
}

/// Events in columns: who, what, where, and the source if there is room for it.
struct Rows {
    columns: usize,
    task: usize,
    what: usize,
    place: usize,
    /// Whether places stand below what happened there.
    below: bool,
}

/// Between two columns, and before the first.
const GAP: usize = 2;

impl Rows {
    fn new(events: &[FindingEvent], shown: &[usize], columns: usize) -> Rows {
        let widest = |of: &dyn Fn(&FindingEvent) -> usize| {
            let widths = shown.iter().map(|&at| of(&events[at]));
            widths.max().unwrap_or(0)
        };
        let task = widest(&|event| width(&event.task)).min(columns / 4);
        let what = widest(&|event| width(&describe(event))).min(columns - task - 2 * GAP);
        let used = 3 * GAP + task + what;
        let place = widest(&|event| width(&event.site));
        // A path may lose its folders before it has to go below.
        let name = widest(&|event| width(event.site.rsplit(['/', '\\']).next().unwrap_or_default()) + 2);
        let below = used + name.min(place) > columns;
        Rows {
            columns,
            task,
            what,
            place: if below { place } else { place.min(columns - used) },
            below,
        }
    }

    fn write(&self, text: &mut String, event: &FindingEvent, same: bool, sources: &mut Sources) {
        let Rows {
            columns,
            task,
            what,
            place,
            below,
        } = *self;
        let who = cut(if same { "" } else { &event.task }, task);
        let deed = cut(&describe(event), what);
        let mut row = format!("  {who:task$}  {deed}");
        if event.site.is_empty() {
            return line(text, &row);
        }
        let source = |sources: &mut Sources, room: usize| match sources.line(&event.site) {
            Some((source, _)) if room >= SOURCE_MIN => cut(&source.trim().replace('\t', " "), room),
            _ => String::new(),
        };
        if below {
            line(text, &row);
            let indent = " ".repeat((2 * GAP + task).min(columns / 4));
            line(
                text,
                &format!("{indent}{}", path(&event.site, columns - indent.len())),
            );
            return;
        }
        row.push_str(&" ".repeat(what - width(&deed)));
        let site = path(&event.site, place);
        let pad = " ".repeat(place - width(&site));
        let used = 3 * GAP + task + what + place + GAP;
        let source = source(sources, columns.saturating_sub(used));
        line(text, &format!("{row}  {site}{pad}  {source}"));
    }
}
