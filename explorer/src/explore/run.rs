//! The run of an explorer: settings are checked, the search runs, and its report is completed.

use super::Explorer;
use super::more_actions::MoreActions;
use super::more_yields::MoreYields;
use super::weak_memory::SecondPart;
use crate::determinism::DefaultExecution;
use crate::driver::{Exploration, ExploreError};
use crate::files::checkpoint_in;
use crate::guarded::{self, Watch};
use crate::listening::Listening;
use crate::orderings;
use crate::plugin;
use crate::recording;
use crate::report::source::Search;
use crate::report::{Limit, Report};
use crate::settings::{SettingError, Settings};
use intermezzo_engine::memory_model::RaisedOrders;
use intermezzo_engine::runtime::arena::{REUSES_ADDRESSES, Shortage, shortage};
use intermezzo_engine::runtime::races::{is_memory_watched, is_order_seen};
use intermezzo_engine::runtime::{is_laid_over_std, statics_are_restored};
use std::mem;
use std::sync::Arc;
use std::time::Instant;

impl Explorer {
    /// Explores the test of this name, whose code is at this address. Compiled once, and not for each test.
    pub(super) fn explore_body(
        mut self,
        program: String,
        body: usize,
        test: &(dyn Fn() + Sync),
    ) -> Result<Report, ExploreError> {
        let watch = self.watch_search();
        let settled = self.settle_settings(&program);
        watch.as_deref().map_or(Ok(()), Watch::check)?;
        settled?;
        let named = plugin::attach(
            &self.settings.monitors,
            &self.known,
            &self.monitors,
            self.settings.jobs,
        );
        let named = named.map_err(|problem| SettingError::new("monitors", problem))?;
        self.monitors.extend(named);
        let expected = mem::take(&mut self.expected);
        #[cfg(feature = "files")]
        let reports = self.reports.clone();
        let mut by_default = match self.deterministic {
            true => Some(DefaultExecution::of(self.bare_exploration(&program, body), test)?),
            false => None,
        };
        self.monitors
            .extend(by_default.as_ref().and_then(DefaultExecution::comparison));
        let is_replay = self.replay.is_some();
        let records = self.record;
        let sources = self.sources.get_or_insert_with(Search::here).clone();
        let mut apart = recording::Apart {
            settings: self.settings.clone(),
            sources: sources.clone(),
            program: program.clone(),
            body,
            makes: self.monitors.iter().filter_map(Listening::make).collect(),
        };
        let mut live = None;
        if is_replay {
            self.custom = None;
            live = records.then(recording::Live::default);
            self.monitors.extend(live.as_ref().map(recording::Live::listener));
            let stopper = self.stopper.take();
            self.monitors
                .extend(stopper.map(|stopper| Listening::One(Box::new(stopper))));
        }
        let damaged = by_default.as_mut().and_then(DefaultExecution::take_if_damaged);
        let mut report = match damaged {
            Some(report) => report,
            None => {
                let began = Instant::now();
                let more = MoreYields::of(&self, &program, body, &expected);
                let actions = MoreActions::of(&self, &program, body);
                let second = SecondPart::of(&mut self, &program, body);
                let mut first = self.exploration(&program, body);
                first.is_followed = second.is_some();
                let mut report = first.run_apart(test)?;
                watch
                    .as_deref()
                    .map_or(Ok(()), |watch| watch.check_report(&report))?;
                let rest = second.is_some();
                let before = more.run(&mut report, &mut apart.settings, rest, began, test)?;
                if let Some(second) = second {
                    second.run(&mut report, &mut apart.settings, (before, began), test)?;
                }
                actions.run(&mut report, &mut apart.settings, (before, began), test)?;
                report
            }
        };
        if let Some(by_default) = by_default {
            by_default.settle(&mut report, is_replay);
        }
        if apart.settings.environment.has_memory_model() && apart.settings.minimise > 0 && !is_replay {
            orderings::advise(&mut report, &apart, test);
        }
        report.name_variables(&sources);
        if records {
            recording::record(&mut report, &apart, live.as_ref(), test);
            report.name_recorded(&sources);
        }
        if is_laid_over_std() {
            report.limit_unmodified();
        }
        report.settle_expected(&expected);
        #[cfg(feature = "files")]
        if let Some(directory) = reports {
            report.write_into(&directory);
        }
        Ok(report)
    }

    /// Watches the search, if it is the user's own and decides about executions.
    fn watch_search(&mut self) -> Option<Arc<Watch>> {
        let (search, watch) = guarded::watched(self.custom.take()?);
        self.custom = Some(search);
        Some(watch)
    }

    /// Completes the settings for the test of this name, and checks them.
    fn settle_settings(&mut self, program: &str) -> Result<(), ExploreError> {
        if is_laid_over_std() {
            self.binary = mem::take(&mut self.binary).unmodified(is_memory_watched());
        }
        if let Some(schedule) = &self.replay {
            schedule
                .for_test(program, &self.binary)
                .map_err(ExploreError::Schedule)?;
        }
        self.settle_checkpoint(program);
        match &mut self.custom {
            None => self.settings.check(),
            Some(search) => self.settings.check_custom(&mut **search),
        }?;
        if self.settings.partition.is_some() && !self.expected.is_empty() {
            let problem = "the test declares what its exploration shows, and a share need not show it: explore it whole, \
                           and leave it out of runs in shares";
            return Err(SettingError::new("partition", problem).into());
        }
        if self.settings.environment.address_reuse > 0 && !REUSES_ADDRESSES {
            return Err(SettingError::new(
                "environment",
                "executions have no memory of their own here, so no address can be used again: `address_reuse` is for \
                 `cargo intermezzo test --unmodified`, on Unix",
            )
            .into());
        }
        if self.binary.is_unmodified() && self.settings.jobs > 1 {
            let problem = "the statics of unmodified code are there once in a process: give 1";
            return Err(SettingError::new("jobs", problem).into());
        }
        if self.binary.is_unmodified() && self.settings.schedule_points_at.is_all() {
            let problem = "in unmodified code some accesses within an operation of a lock or a barrier would be schedule \
                           points, too, and right tests would fail: give `races`, or places in the source";
            return Err(SettingError::new("data_points", problem).into());
        }
        Ok(())
    }

    /// Sets the checkpoint that the test has in a directory, if there is one. A replay shares and keeps nothing.
    fn settle_checkpoint(&mut self, program: &str) {
        if self.replay.is_some() {
            // One execution: there is nothing to share, and nothing to keep.
            (self.settings.jobs, self.settings.checkpoint) = (1, None);
            self.settings.partition = None;
        } else if let Some(directory) = &self.checkpoints
            && self.settings.checkpoint.is_none()
            && self.custom.is_none()
        {
            self.settings.checkpoint = Some(checkpoint_in(directory, program));
        }
    }

    /// Returns an exploration of the same test with the same settings, and nothing attached to it.
    fn bare_exploration(&self, program: &str, body: usize) -> Exploration {
        let mut bare = Explorer::with_settings(self.settings.clone());
        // Every share compares with one execution, or replays one.
        bare.settings.partition = None;
        (bare.binary, bare.sources) = (self.binary.clone(), self.sources.clone());
        bare.exploration(program, body)
    }

    /// Returns an explorer of the same test with these settings, for a search that follows. Returns `None` if there can be
    /// none: if another search was requested, or if a setting or a monitor does not allow it.
    pub(super) fn again(&self, settings: Settings) -> Option<Explorer> {
        let is_another = self.custom.is_some()
            || self.replay.is_some()
            // A share that had no part in the first search may have one in the next, and does not know of it.
            || self.settings.partition.is_some();
        if is_another || settings.check().is_err() {
            return None;
        }
        let monitors: Option<Vec<_>> = self.monitors.iter().map(Listening::make).collect();
        let mut again = Explorer::with_settings(settings);
        again.monitors = monitors?.into_iter().map(Listening::Each).collect();
        again.binary = self.binary.clone();
        again.replay_with.clone_from(&self.replay_with);
        again.sources.clone_from(&self.sources);
        again.progress.clone_from(&self.progress);
        again.decide.clone_from(&self.decide);
        Some(again)
    }

    /// Returns the exploration of the test of this name, whose code is at this address.
    pub(super) fn exploration(self, program: &str, body: usize) -> Exploration {
        let Explorer {
            settings,
            binary,
            replay_with,
            custom,
            replay,
            monitors,
            progress,
            decide,
            inspector,
            sources,
            ..
        } = self;
        Exploration {
            settings,
            program: program.to_owned(),
            binary,
            replay_with,
            body,
            custom,
            replay,
            monitors,
            progress,
            decide,
            passes_over: Vec::new(),
            inspector,
            raised: RaisedOrders::default(),
            is_followed: false,
            sources: sources.unwrap_or_else(Search::here),
        }
    }
}

impl Report {
    /// Adds the limits of code that was not written for intermezzo, and removes those that these include.
    fn limit_unmodified(&mut self) {
        let differ = addresses_differ();
        // Only memory of an execution's own is.
        let watched = is_memory_watched() && differ.is_none();
        self.limits
            .retain(|limit| !matches!(limit, Limit::PlainMemory { .. }));
        if !is_order_seen() && !self.limits.contains(&Limit::ArcCounts) {
            self.limits.push(Limit::ArcCounts);
        }
        self.limits.push(Limit::Unmodified {
            statics_stay: !statics_are_restored(),
            watched,
        });
        self.limits.extend(differ);
    }
}

/// Returns the limit of executions whose memory has other addresses each time, if it has.
fn addresses_differ() -> Option<Limit> {
    let because = match shortage()? {
        Shortage::NotInstalled => "the program has a global allocator of its own",
        Shortage::NoRange => "the system has no range of addresses for them",
        Shortage::Full => "one needed more memory than there is for them",
        Shortage::InUse => "several workers ran them",
    };
    Some(Limit::Addresses {
        because: because.into(),
    })
}
