//! The progress of a running exploration.

use crate::report::Report;
use crate::settings::ProgressLines;
use intermezzo_search::estimate::Estimate;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The progress of an exploration.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Executions so far.
    pub executions: u64,
    /// Different findings so far.
    pub findings: usize,
    /// Time so far.
    pub elapsed: Duration,
    /// The progress of the search, if it can be estimated. It cannot with several workers or with a checkpoint.
    pub estimate: Option<Estimate>,
    /// The number of executions that replayed and minimised findings after the search; `None` while the search runs.
    pub minimising: Option<u64>,
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.elapsed.as_secs_f64();
        let pace = if seconds > 0.0 {
            self.executions as f64 / seconds
        } else {
            0.0
        };
        let plural = if self.findings == 1 { "" } else { "s" };
        write!(
            f,
            "{} executions, {pace:.0}/s, {seconds:.0} s, {} finding{plural}",
            self.executions, self.findings
        )?;
        match (self.minimising, &self.estimate) {
            (Some(executions), _) => write!(f, "; making them smaller: {executions} executions more"),
            (None, Some(estimate)) => write!(f, "; about {estimate}"),
            (None, None) => Ok(()),
        }
    }
}

/// A callback that is called from time to time while an exploration runs.
pub(crate) type OnProgress = Arc<Mutex<dyn FnMut(&Progress) + Send>>;

impl Report {
    /// Returns a callback for a search that follows, whose progress is that of all searches. So far there were this many
    /// executions, and the first one in this process began at `began`.
    pub(crate) fn continues(&self, call: OnProgress, executions: u64, began: Instant) -> OnProgress {
        // The time of a search does not include that of making its findings smaller, but its progress does.
        let (findings, elapsed) = (self.findings.len(), self.earlier + began.elapsed());
        Arc::new(Mutex::new(move |now: &Progress| {
            let mut call = call.lock().unwrap_or_else(PoisonError::into_inner);
            call(&Progress {
                executions: executions + now.executions,
                // Those so far are mostly found again.
                findings: findings.max(now.findings),
                elapsed: elapsed + now.elapsed,
                estimate: now.estimate.map(|estimate| estimate.after(executions)),
                minimising: now.minimising,
            });
        }))
    }
}

impl ProgressLines {
    /// Returns a function that says which line to show at a moment, if any; `None` if there are no lines.
    pub fn watch(self) -> Option<impl FnMut(&Progress) -> Option<String> + Send + use<>> {
        let (every, from) = (self.every?, self.from);
        let mut next = Duration::ZERO;
        Some(move |progress: &Progress| {
            let is_due = progress.executions >= from && progress.elapsed >= next;
            if is_due {
                next = progress.elapsed + every;
            }
            is_due.then(|| progress.to_string())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn at(executions: u64, seconds: u64) -> Progress {
        Progress {
            executions,
            findings: 1,
            elapsed: Duration::from_secs(seconds),
            estimate: None,
            minimising: None,
        }
    }

    #[test]
    fn lines_begin_and_come_as_often_as_is_asked() {
        assert!(Settings::default().progress.watch().is_none());
        let mut settings = Settings::default();
        settings.set("progress", "5,from=1000").unwrap();
        let mut line = settings.progress.watch().unwrap();
        let shown = [(10, 7), (1_000, 8), (1_100, 9), (2_000, 13), (2_100, 14)]
            .map(|(executions, seconds)| line(&at(executions, seconds)));
        assert_eq!(shown[0], None);
        assert_eq!(
            shown[1].as_deref(),
            Some("1000 executions, 125/s, 8 s, 1 finding")
        );
        assert_eq!(shown[2], None);
        assert!(shown[3].as_ref().unwrap().starts_with("2000 executions, "));
        assert_eq!(shown[4], None);
    }
}
