//! The rows of an execution in columns: one for each task if there is room for all of them, or else one for the task and
//! one for what it does; then the place, and the source line if it fits.

use super::style::{Part, TextStyle};
use crate::report::lines::{cut, path, width};
use crate::report::source::Sources;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The mark before a row that belongs to the finding.
pub(super) const MARK: char = '>';

/// The width of the gap between two columns, and before the first.
const GAP: usize = 2;

/// The largest number of tasks that have columns of their own.
const LANES_MAX: usize = 6;

/// The fewest columns for a source line next to columns of tasks.
const SOURCE_MIN: usize = 12;

/// A line of the execution: an event, or an action of the finding between two events.
#[derive(Clone)]
pub(super) struct Row<'a> {
    pub(super) task: &'a str,
    pub(super) what: String,
    pub(super) site: &'a str,
    pub(super) marked: bool,
}

/// Rows in columns.
pub(super) struct Columns<'s> {
    style: &'s TextStyle,
    layout: Layout,
}

enum Layout {
    /// The task, the operation, the place, and the source line if there is room for it.
    List {
        task: usize,
        what: usize,
        place: usize,
        /// `true` if each place is on a line of its own below the operation.
        below: bool,
    },
    /// A column for each task, by its name and its width; then the file and the line.
    Lanes {
        lanes: Vec<(String, usize)>,
        /// The headings of the columns.
        heads: Vec<String>,
        place: usize,
    },
}

pub(super) fn line(text: &mut String, line: &str) {
    writeln!(text, "{}", line.trim_end()).expect("a string takes everything");
}

/// Returns a place without its column, because the rows of tasks show the code.
fn without_column(site: &str) -> &str {
    site.rsplit_once(':').map_or(site, |(place, _)| place)
}

fn file_name(site: &str) -> &str {
    site.rsplit(['/', '\\']).next().unwrap_or_default()
}

impl Columns<'_> {
    /// Makes the columns for these rows; those of tasks are in the order of `tasks`.
    /// A task that runs one of these functions has its name in the heading, if there is room.
    pub(super) fn new<'s>(
        rows: &[&Row<'_>],
        tasks: &[&str],
        functions: &BTreeMap<String, String>,
        style: &'s TextStyle,
    ) -> Columns<'s> {
        let layout =
            lanes(rows, tasks, functions, style.columns()).unwrap_or_else(|| list(rows, style.columns()));
        Columns { style, layout }
    }

    /// Writes the names of the tasks, if they have columns.
    pub(super) fn head(&self, text: &mut String) {
        let Layout::Lanes { lanes, heads, .. } = &self.layout else {
            return;
        };
        let mut head = String::new();
        for (name, (_, wide)) in heads.iter().zip(lanes) {
            head.push_str(&format!("  {name:wide$}"));
        }
        line(text, &self.style.paint(Part::Heading, head.trim_end()));
    }

    /// Writes a row. `same` is `true` if the row before is of the same task.
    pub(super) fn write(&self, text: &mut String, row: &Row<'_>, same: bool, sources: &mut Sources) {
        let mark = match row.marked {
            true => self.style.paint(Part::Mark, &MARK.to_string()),
            false => " ".into(),
        };
        let columns = self.style.columns();
        let (task, what, place, below) = match &self.layout {
            Layout::Lanes { lanes, place, .. } => {
                let mut begin = mark;
                for (task, wide) in lanes {
                    let deed = if task == row.task { &row.what } else { "" };
                    begin.push_str(&format!(
                        " {deed}{} ",
                        " ".repeat(wide.saturating_sub(width(deed)))
                    ));
                }
                let used: usize = lanes.iter().map(|(_, wide)| wide + GAP).sum();
                let site = path(without_column(row.site), *place);
                let room = columns.saturating_sub(used + GAP + place + GAP);
                let source = match room >= SOURCE_MIN {
                    true => sources.piece(row.site, room).unwrap_or_default(),
                    false => String::new(),
                };
                let pad = " ".repeat(place.saturating_sub(width(&site)));
                return line(text, &format!("{begin} {site}{pad}  {source}"));
            }
            &Layout::List {
                task,
                what,
                place,
                below,
            } => (task, what, place, below),
        };
        let style = self.style;
        let name = cut(if same { "" } else { row.task }, task);
        let mut begin = format!("{mark} {name:task$}  {}", row.what);
        if row.site.is_empty() {
            // In a narrow terminal a step of a call is not indented.
            if width(&begin) > columns {
                begin = format!("{mark} {name:task$}  {}", row.what.trim_start());
            }
            return line(text, &cut(&begin, columns));
        }
        if below || width(&row.what) > what {
            line(text, &begin);
            let indent = " ".repeat((2 * GAP + task).min(columns / 4));
            line(
                text,
                &format!("{indent}{}", path(row.site, columns - indent.len())),
            );
            return;
        }
        begin.push_str(&" ".repeat(what - width(&row.what)));
        let site = path(row.site, place);
        let pad = " ".repeat(place - width(&site));
        let used = 3 * GAP + task + what + place + GAP;
        // An expression is shown as a whole or not at all.
        let source = sources
            .piece(row.site, style.columns().saturating_sub(used))
            .unwrap_or_default();
        line(text, &format!("{begin}  {site}{pad}  {source}"));
    }
}

/// Returns a column for each task, if all fits: nothing is cut.
fn lanes(
    rows: &[&Row<'_>],
    tasks: &[&str],
    functions: &BTreeMap<String, String>,
    columns: usize,
) -> Option<Layout> {
    let mut lanes: Vec<(String, usize)> = Vec::new();
    for row in rows {
        let wide = width(&row.what).max(width(row.task));
        match lanes.iter().position(|(task, _)| task == row.task) {
            Some(lane) => lanes[lane].1 = wide.max(lanes[lane].1),
            None if lanes.len() == LANES_MAX => return None,
            None => lanes.push((row.task.to_owned(), wide)),
        }
    }
    lanes.sort_by_key(|(task, _)| tasks.iter().position(|of| of == task));
    let widest = |of: fn(&str) -> &str| {
        let sites = rows.iter().map(|row| width(of(without_column(row.site))));
        sites.max().unwrap_or_default()
    };
    let used: usize = lanes.iter().map(|(_, wide)| wide + GAP).sum();
    let room = columns.checked_sub(used + GAP)?;
    let (name, whole) = (widest(file_name), widest(|site| site));
    // A path that is cut has an ellipsis and a slash.
    let needed = (name + 2).min(whole);
    if lanes.len() < 2 || needed > room {
        return None;
    }
    let place = whole.min(room);
    // No place is cut for a heading.
    let mut room = room - place;
    let heads = lanes.iter_mut().map(|(task, wide)| {
        let with_function = functions.get(task).map(|function| format!("{task} ({function})"));
        let fits = with_function.filter(|head| width(head).saturating_sub(*wide) <= room);
        let head = fits.unwrap_or_else(|| task.clone());
        room -= width(&head).saturating_sub(*wide);
        *wide = width(&head).max(*wide);
        head
    });
    let heads = heads.collect();
    Some(Layout::Lanes { lanes, heads, place })
}

fn list(rows: &[&Row<'_>], columns: usize) -> Layout {
    let widest = |of: &dyn Fn(&Row<'_>) -> usize| rows.iter().map(|row| of(row)).max().unwrap_or(0);
    let task = widest(&|row| width(row.task)).min(columns / 4);
    let what = widest(&|row| width(&row.what)).min(columns - task - 2 * GAP);
    let used = 3 * GAP + task + what;
    let place = widest(&|row| width(row.site));
    // A path is shortened to its file name before it moves to a line of its own.
    let name = widest(&|row| width(file_name(row.site)) + 2);
    let below = used + name.min(place) > columns;
    Layout::List {
        task,
        what,
        place: if below { place } else { place.min(columns - used) },
        below,
    }
}
