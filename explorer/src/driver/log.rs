//! The log of the tool itself: the beginning, the findings, the restarts and the end of an exploration, each with its
//! time; and how much time the test, the search and the monitors took.
//!
//! Each line is one write to the end of the file, so that the explorations of several threads and processes may share it.
//! Without a log nothing is measured, and a monitor is called without a wrapper.
//!
//! Blind spots: the choices that a search makes in the middle of an execution count as the test's time, and so do the
//! switches between tasks. Warm-up executions are part of the rest.

use super::worker_loop::Done;
use crate::passing_on::passes_on;
use crate::report::{Finding, Report, TextStyle};
use crate::settings::{SettingError, Settings};
use intermezzo_engine::runtime::TimeSpent;
use intermezzo_sdk::Monitor;
use std::fmt::{self, Display};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The log of an exploration.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    program: String,
    began: Instant,
    /// The time in calls of monitors, in nanoseconds.
    monitors: Arc<AtomicU64>,
}

impl Log {
    /// Returns the log that the settings request.
    ///
    /// # Errors
    /// If its file cannot be written.
    pub(super) fn open(settings: &Settings, program: &str) -> Result<Option<Log>, SettingError> {
        let Some(path) = &settings.log else {
            return Ok(None);
        };
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| {
            let problem = format!(
                "`{}` cannot be written ({error}): give a file in a directory that exists, or `none`",
                path.display()
            );
            SettingError::new("log", problem)
        })?;
        Ok(Some(Log {
            file,
            program: program.to_owned(),
            began: Instant::now(),
            monitors: Arc::default(),
        }))
    }

    /// Writes a line. If it cannot be written, the exploration continues.
    pub(super) fn say(&self, what: impl Display) {
        let seconds = self.began.elapsed().as_secs_f64();
        let line = format!("{seconds:9.3} s  {}: {what}\n", self.program);
        let _ = (&self.file).write_all(line.as_bytes());
    }

    /// Returns these monitors, with their calls measured.
    pub(super) fn timed(&self, monitors: Vec<Box<dyn Monitor>>) -> Vec<Box<dyn Monitor>> {
        let timed = |monitor| -> Box<dyn Monitor> {
            Box::new(Timed {
                monitor,
                spent: Arc::clone(&self.monitors),
            })
        };
        monitors.into_iter().map(timed).collect()
    }

    /// Writes the findings of an execution of a worker.
    pub(super) fn found(&self, worker: usize, execution: u64, found: &[Finding]) {
        for finding in found {
            let (kind, message) = (&finding.kind, finding.message.lines().next().unwrap_or_default());
            let line = format!("worker {worker}, execution {execution}: {kind}: {message}");
            self.say(TextStyle::default().visible(line));
        }
    }

    /// Writes that the search is over, and how its time was spent.
    pub(super) fn searched(&self, done: &[Done], elapsed: Duration) {
        self.say("the search has ended");
        let spent: Vec<TimeSpent> = done.iter().filter_map(|done| done.spent).collect();
        let monitors = Duration::from_nanos(self.monitors.load(Relaxed));
        self.say(Profile::new(&spent, monitors, elapsed));
    }

    /// Writes the end of the exploration.
    pub(super) fn ends(&self, report: &Report) {
        let (executions, findings) = (report.executions, report.findings.len());
        self.say(format_args!(
            "ends: executions: {executions}, findings: {findings}"
        ));
    }
}

/// The times of all workers together.
#[derive(Debug, PartialEq, Eq)]
struct Profile {
    test: Duration,
    search: Duration,
    monitors: Duration,
    /// Setting up, reporting, waiting for other workers.
    rest: Duration,
}

impl Profile {
    /// Returns the profile of workers that spent these times within `elapsed`.
    fn new(spent: &[TimeSpent], monitors: Duration, elapsed: Duration) -> Profile {
        let search = spent.iter().map(|spent| spent.search).sum();
        let running: Duration = spent.iter().map(|spent| spent.running).sum();
        let all = elapsed * spent.len() as u32;
        Profile {
            test: running.saturating_sub(monitors),
            search,
            monitors,
            rest: all.saturating_sub(running + search),
        }
    }
}

impl Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("the test", self.test),
            ("the search", self.search),
            ("monitors", self.monitors),
            ("the rest", self.rest),
        ];
        let all: Duration = parts.iter().map(|(_, time)| *time).sum();
        f.write_str("profile: ")?;
        for (at, (name, time)) in parts.into_iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            let percent = 100.0 * time.as_secs_f64() / all.as_secs_f64().max(f64::MIN_POSITIVE);
            write!(f, "{comma}{name} {:.3} s ({percent:.0} %)", time.as_secs_f64())?;
        }
        Ok(())
    }
}

/// A monitor whose calls are measured.
struct Timed {
    monitor: Box<dyn Monitor>,
    spent: Arc<AtomicU64>,
}

impl Timed {
    fn measure(&mut self, call: impl FnOnce(&mut dyn Monitor)) {
        let begin = Instant::now();
        call(&mut *self.monitor);
        let nanoseconds = begin.elapsed().as_nanos().try_into().unwrap_or(u64::MAX);
        self.spent.fetch_add(nanoseconds, Relaxed);
    }
}

passes_on!(Timed, measure);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_workers_are_added() {
        let ms = Duration::from_millis;
        let spent = |search, running| TimeSpent {
            search: ms(search),
            running: ms(running),
        };
        let profile = Profile::new(&[spent(100, 500), spent(50, 300)], ms(200), ms(1000));
        assert_eq!(
            profile.to_string(),
            "profile: the test 0.600 s (30 %), the search 0.150 s (8 %), monitors 0.200 s (10 %), \
             the rest 1.050 s (52 %)"
        );
    }
}
