//! SURW compared with its published figures.
//!
//! The published figures do not count the execution that SURW learns from. So there are two means here: one of all
//! executions, and one of the executions drawn after learning, over the seeds with which the learning executions did not
//! find the bug.

use super::{Page, figures, markdown, ours};
use crate::tune::advice::number;
use crate::tune::cells::Cell;
use crate::tune::work::Item;
use intermezzo_corpus::bugs::Published;

/// The largest ratio to the published executions that needs no remark.
const RATIO_MAX: f64 = 1.5;

/// Remarks about programs on which SURW takes more executions than published. The mean of 20 trials is only known to about
/// a quarter.
const REMARKS: &[(&str, &str)] = &[
    (
        "deadlock01_bad",
        "2.45 over 400 seeds with the executions to learn from, a ratio of 1.36",
    ),
    (
        "reorder_3_bad,setters=3",
        "10.3 over 400 seeds with the executions to learn from, a ratio of 1.41",
    ),
    (
        "safestack",
        "the published search had no limit of executions. With up to 3,000,000 of them, `surw(all)` found the bug here \
         with 12 of 13 seeds, after 852,467 on average (ratio 2.31), at some 50,000 a second on an idle core",
    ),
];

/// Means over several runs.
struct Means {
    /// The mean of all executions.
    all: f64,
    /// The mean of the executions drawn after learning, and the number of runs.
    drawn: Option<(f64, usize)>,
}

impl Means {
    /// Returns the means of a search that found the program's bug with every seed; `None` if it did not. The first
    /// `learned_from` executions are those to learn from.
    fn of(
        cell: &Cell,
        (program, search): (usize, usize),
        learned_from: u64,
        items: &[Item],
    ) -> Option<Means> {
        let figures = figures(cell).filter(|figures| figures.found == figures.runs)?;
        let all = figures.to_failure?;
        let here = items
            .iter()
            .filter(|item| (item.program, item.search) == (program, search));
        let failures = here.flat_map(|item| item.runs.iter().filter_map(|run| run.failure));
        let drawn: Vec<u64> = failures
            .filter_map(|failure| failure.checked_sub(learned_from + 1))
            .collect();
        let mean = || drawn.iter().map(|before| before + 1).sum::<u64>() as f64 / drawn.len() as f64;
        Some(Means {
            all,
            drawn: (!drawn.is_empty()).then(|| (mean(), drawn.len())),
        })
    }

    /// Returns the mean to compare with the published one. If the learning executions always find the bug, there is only
    /// the mean of all.
    fn comparable(&self) -> f64 {
        self.drawn.map_or(self.all, |(drawn, _)| drawn)
    }
}

impl Page<'_> {
    /// Shows the ratio of SURW's executions to the published ones, with the reason where it is high.
    pub(super) fn ratios(&self, items: &[Item]) -> String {
        let strategies = self.strategies();
        let Some(search) = strategies.iter().position(|(_, tool)| *tool == Some("surw")) else {
            return "It was not run.\n".into();
        };
        let (mut rows, mut remarks) = (Vec::new(), Vec::new());
        let (mut within, mut within_drawn) = (0, 0);
        for (program, (cells, bug)) in self.rows().enumerate() {
            let Some(Published::Found { executions, .. }) = bug.map(|bug| bug.published("surw")) else {
                continue;
            };
            let cell = &cells[search];
            let learned_from = cell.search.learned_from();
            let means = Means::of(cell, (program, search), learned_from, items);
            let ratio = means.as_ref().map(|means| means.all / executions);
            let ratio_drawn = means.as_ref().map(|means| means.comparable() / executions);
            let is_within = |ratio: Option<f64>| ratio.is_some_and(|ratio| ratio <= RATIO_MAX);
            within += usize::from(is_within(ratio));
            within_drawn += usize::from(is_within(ratio_drawn));
            let shown = |ratio: Option<f64>| ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
            rows.push(vec![
                format!("`{}`", cell.program),
                number(executions),
                means
                    .as_ref()
                    .map_or_else(|| ours(cell), |means| number(means.all)),
                shown(ratio),
                match means.as_ref().and_then(|means| means.drawn) {
                    Some((drawn, runs)) => format!("{} ({runs})", number(drawn)),
                    None => "-".into(),
                },
                shown(ratio_drawn.filter(|_| means.is_some_and(|means| means.drawn.is_some()))),
            ]);
            if let Some((_, remark)) = REMARKS.iter().find(|(name, _)| *name == cell.program) {
                remarks.push(format!("- `{}`: {remark}\n", cell.program));
            }
        }
        let titles = [
            "program",
            "published",
            "all executions",
            "ratio",
            "drawn (seeds)",
            "ratio",
        ];
        let table = markdown(titles.map(str::to_owned).to_vec(), rows.iter().cloned());
        format!(
            "The published figures do not count the execution that SURW learns from.\n\
             The column `drawn` does not count such executions either: it is the mean over the seeds with which they did not \
             find the bug.\n\n\
             {within_drawn} of {} programs take at most {RATIO_MAX} times the published executions, or {within} if the \
             executions to learn from are counted.\n\n{table}\n{}",
            rows.len(),
            remarks.concat()
        )
    }
}
