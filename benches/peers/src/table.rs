//! The figures as a Markdown table and as CSV.

use std::fmt::Write;

use crate::{Case, Measurement, Tool};

/// One case's figures, by tool.
pub type Row = (Case, [Option<Measurement>; Tool::ALL.len()]);

/// The least processor time of loom, in seconds, for a meaningful comparison with it. Shorter times consist mostly of
/// the set-up.
const LOOM_LONG: f64 = 0.1;

/// The head of the table.
pub const HEADER: &str = "\
| kernel | tool | executions | seconds | processor seconds | executions a second | a processor second | times dpor | outcomes |
|---|---|---:|---:|---:|---:|---:|---:|---:|";

/// The meaning of the marks in the table.
pub const LEGEND: &str = "
`*`: not like for like: loom also branches on the old values that a plain load may read, and shows more outcomes; \
`not finished`: the cap came first, and the ratio (of processor times to exhaust) is a lower bound; \
`<`: it came first for `intermezzo dpor`; `-`: more threads than the tool can hold, or no ratio is known. \
Times below some milliseconds are mostly a tool's setting up.";

/// Returns the lines of one case.
pub fn rows(row: &Row) -> String {
    let (case, figures) = row;
    let mark = if case.kernel.is_like_for_like() { "" } else { " *" };
    let mut text = String::new();
    for (tool, own) in Tool::ALL.iter().zip(figures) {
        let line = match own {
            None => format!("| {case}{mark} | {tool} | - | - | - | - | - | - | - |"),
            Some(own) => format!(
                "| {case}{mark} | {tool} | {} | {} | {:.4} | {:.0} | {:.0} | {} | {} |",
                own.executions,
                if own.exhausted {
                    format!("{:.4}", own.took.wall.as_secs_f64())
                } else {
                    "not finished".into()
                },
                own.took.cpu.as_secs_f64(),
                own.rate(),
                own.cpu_rate(),
                ratio(own, figures[0].as_ref()),
                own.outcomes.len(),
            ),
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Returns the ratio of one tool's time to that of the first tool, as far as it is known.
fn ratio(own: &Measurement, first: Option<&Measurement>) -> String {
    let Some((first, ratio)) = first.and_then(|first| Some((first, own.time_ratio(first)?))) else {
        return "-".into();
    };
    let mark = match (first.exhausted, own.exhausted) {
        (false, _) => "<",
        (true, false) => ">",
        (true, true) => "",
    };
    // Ratios span six orders of magnitude; only the first digits of each matter.
    let digits = if ratio < 10.0 { 2 } else { 0 };
    format!("{mark}{ratio:.digits$}")
}

/// Returns the comparison with loom for the cases in which it took long enough, a line each.
pub fn beside_loom(rows: &[Row]) -> String {
    let mut text = String::new();
    for (case, figures) in rows {
        let of = |tool: Tool| figures[Tool::ALL.iter().position(|&one| one == tool).unwrap_or(0)].as_ref();
        let (Some(dpor), Some(loom)) = (of(Tool::IntermezzoDpor), of(Tool::Loom)) else {
            continue;
        };
        if loom.took.cpu.as_secs_f64() > LOOM_LONG && loom.time_ratio(dpor).is_some() {
            let mark = if case.kernel.is_like_for_like() { "" } else { " *" };
            let ratio = ratio(loom, Some(dpor));
            let _ = writeln!(
                text,
                "- {case}{mark}: loom took {ratio} times as long to exhaust as dpor"
            );
        }
    }
    text
}

/// Returns all figures, one line for each case and tool; empty if a tool cannot hold the case.
pub fn csv(rows: &[Row]) -> String {
    let mut text = String::from(
        "kernel,a,b,like_for_like,tool,executions,exhausted,seconds,processor_seconds,executions_per_second,\
         executions_per_processor_second,time_ratio_to_dpor,outcomes\n",
    );
    for (case, figures) in rows {
        let (kernel, like) = (case.kernel, case.kernel.is_like_for_like());
        for (tool, own) in Tool::ALL.iter().zip(figures) {
            let _ = write!(text, "{kernel},{},{},{like},{tool},", case.a, case.b);
            let line = own.as_ref().map_or(",,,,,,,".into(), |own| {
                let ratio = figures[0].as_ref().and_then(|first| own.time_ratio(first));
                format!(
                    "{},{},{:.6},{:.6},{:.0},{:.0},{},{}",
                    own.executions,
                    own.exhausted,
                    own.took.wall.as_secs_f64(),
                    own.took.cpu.as_secs_f64(),
                    own.rate(),
                    own.cpu_rate(),
                    ratio.map_or(String::new(), |ratio| format!("{ratio:.4}")),
                    own.outcomes.len(),
                )
            });
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}
