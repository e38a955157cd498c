//! A line on stderr while an exploration runs, if stderr is a terminal: the executions so far, their share of the
//! whole, and the time that is left.

use crate::output;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use intermezzo::settings::ProgressLines;
use intermezzo::{self as imz, Explorer};
use std::io::{self, IsTerminal};
use std::time::Duration;

/// The number of parts into which the bar is divided.
const PARTS: u64 = 1_000;

/// A longer remaining time is not shown.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// A progress line, which disappears when it is dropped. Empty if stderr is not a terminal.
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// Creates a line for the program of this name.
    pub(crate) fn of(name: &str) -> Progress {
        if !io::stderr().is_terminal() {
            return Progress(None);
        }
        let style = ProgressStyle::with_template("{spinner} {prefix}: [{bar:20}] {msg}")
            .expect("the template is well-formed")
            .progress_chars("=> ");
        let line = ProgressBar::with_draw_target(Some(PARTS), ProgressDrawTarget::stderr()).with_style(style);
        Progress(Some(line.with_prefix(name.to_owned())))
    }

    /// Returns the explorer, set to show its progress in this line. With `lines`, each message has a line of its own, even
    /// if stderr is not a terminal.
    pub(crate) fn watch(&self, explorer: Explorer, lines: ProgressLines) -> Explorer {
        if let Some(mut shown) = lines.watch() {
            return explorer.on_progress(move |progress| {
                shown(progress).iter().for_each(|line| output::complain(line));
            });
        }
        let Some(line) = self.0.clone() else {
            return explorer;
        };
        explorer.on_progress(move |progress| {
            let share = progress.estimate.map_or(0.0, |estimate| estimate.share);
            line.set_position((share * PARTS as f64) as u64);
            line.set_message(message(progress));
            line.tick();
        })
    }
}

/// Describes the progress of an exploration in a line.
fn message(progress: &imz::Progress) -> String {
    let seconds = progress.elapsed.as_secs_f64();
    let pace = if seconds > 0.0 {
        progress.executions as f64 / seconds
    } else {
        0.0
    };
    let mut text = format!(
        "{} executions, {pace:.0}/s, {seconds:.0} s, {} findings",
        progress.executions, progress.findings
    );
    if let Some(executions) = progress.minimising {
        text.push_str(&format!("; making them smaller: {executions} executions more"));
    } else if let Some(estimate) = progress.estimate {
        text.push_str(&format!("; about {estimate}"));
        if estimate.time_left < LONGEST {
            text.push_str(&format!(", {} left", HumanDuration(estimate.time_left)));
        }
    }
    text
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(line) = &self.0 {
            line.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use intermezzo::Estimate;

    #[test]
    fn a_message_says_how_far_it_is() {
        let mut progress = imz::Progress {
            executions: 500,
            findings: 1,
            elapsed: Duration::from_secs(2),
            estimate: None,
            minimising: None,
        };
        assert_eq!(message(&progress), "500 executions, 250/s, 2 s, 1 findings");
        for (share, time_left, says) in [
            (
                0.25,
                Duration::from_secs(6),
                "; about 25 % of some 2000 executions, 6 seconds left",
            ),
            (
                1e-30,
                Duration::MAX,
                "; about 1.0e-28 % of more executions than can be counted",
            ),
        ] {
            progress.estimate = Some(Estimate {
                share,
                executions_expected: (500.0 / share) as u64,
                time_left,
            });
            assert!(message(&progress).ends_with(says), "{}", message(&progress));
        }
    }
}
