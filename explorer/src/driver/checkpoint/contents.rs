//! The contents of a checkpoint: the identity of the search, its results so far, and its remaining work.

use super::super::finding_set::Listed;
use super::super::shared::{Results, Workers};
use super::super::span_totals::Counts;
use super::Restored;
use super::error::CheckpointProblem;
use crate::report::{
    Finding, FindingDetail, FindingEvent, FoundBy, VarNames, severity_from_name, severity_name,
};
use crate::retry::Departed;
use crate::settings::Settings;
use intermezzo_engine::described::{FindingDeed, NamedPlace};
use intermezzo_engine::runtime::Layout;
use intermezzo_engine::schedule::Schedule;
use intermezzo_engine::serial::{Deserialize, Serialize};
use intermezzo_engine::strategy::{SearchPosition, SearchState};
use intermezzo_engine::trace::{Fingerprints, SoundReduction};
use intermezzo_sdk::FindingKind;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::OnceLock;
use std::time::Duration;

/// The identity of a search: everything that must be the same to continue it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Identity {
    program: String,
    build: Build,
    /// The offset of the test's code in the executable, because two tests may have the same name.
    body: i64,
    /// Names and values of the settings that change the results of the search.
    settings: Vec<(String, String)>,
}

/// The contents of the executable: another one may behave differently under the same schedule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Build {
    bytes: u64,
    checksum: u32,
}

impl Identity {
    /// Returns the identity of the search of this program, whose code is at this address, with these settings and monitors.
    ///
    /// # Errors
    /// If the executable cannot be read.
    pub(in super::super) fn new(
        program: &str,
        body: usize,
        settings: &Settings,
        monitors: &[String],
    ) -> std::io::Result<Identity> {
        let mut monitors = monitors.join(", ");
        for named in settings
            .monitors
            .iter()
            .filter(|named| !named.arguments.is_empty())
        {
            monitors.push_str(&format!("; {named}"));
        }
        let mut compared: Vec<(String, String)> = settings
            .in_checkpoints()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        compared.push(("every_operation".into(), settings.every_operation.to_string()));
        compared.push(("long_allowed".into(), settings.long_allowed.to_string()));
        compared.push(("reads_once".into(), settings.reads_once.to_string()));
        compared.push(("keeps_objects".into(), settings.keeps_objects.to_string()));
        compared.push(("monitors".into(), monitors));
        Ok(Identity {
            program: program.to_owned(),
            build: Build::this()?,
            body: body.wrapping_sub(Build::this as *const () as usize) as i64,
            settings: compared,
        })
    }

    /// Checks that `found` is the same search.
    fn check(&self, found: &Identity) -> Result<(), CheckpointProblem> {
        if self.program != found.program {
            return Err(CheckpointProblem::OtherProgram {
                wanted: self.program.clone(),
                found: found.program.clone(),
            });
        }
        if self.build != found.build {
            return Err(CheckpointProblem::OtherBuild);
        }
        if self.body != found.body {
            return Err(CheckpointProblem::OtherBody);
        }
        for ((name, wanted), (_, found)) in self.settings.iter().zip(&found.settings) {
            if wanted != found {
                return Err(CheckpointProblem::OtherSetting {
                    name: name.clone(),
                    wanted: wanted.clone(),
                    found: found.clone(),
                });
            }
        }
        if self == found {
            Ok(())
        } else {
            Err(CheckpointProblem::Unintelligible {
                reason: "other settings than there are".into(),
            })
        }
    }
}

impl Identity {
    /// Returns the identity of the code, as text: the contents of the executable, and the test's place in it.
    pub(in super::super) fn code(&self) -> String {
        let Build { bytes, checksum } = self.build;
        format!("{bytes}-{checksum:08x}-{:x}", self.body)
    }

    /// Returns the names and values of the settings that change the results of the search.
    pub(in super::super) fn settings(&self) -> &[(String, String)] {
        &self.settings
    }
}

impl Build {
    /// Returns the contents of the running executable, which is read only once.
    fn this() -> std::io::Result<Build> {
        static THIS: OnceLock<Build> = OnceLock::new();
        if let Some(build) = THIS.get() {
            return Ok(*build);
        }
        let mut file = std::fs::File::open(std::env::current_exe()?)?;
        let mut hasher = crc32fast::Hasher::new();
        let mut buffer = vec![0; 1 << 20];
        let mut bytes = 0;
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            hasher.update(&buffer[..read]);
            bytes += read as u64;
        }
        let build = Build {
            bytes,
            checksum: hasher.finalize(),
        };
        Ok(*THIS.get_or_init(|| build))
    }
}

/// The reason why a search ended, if continuing it would end it for the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum Ending {
    /// It stopped at the first finding, as requested.
    Finding,
    /// The process may be damaged.
    Crash,
    /// The process may be damaged, and crashed before the search began.
    EarlyCrash,
    /// A task hung, and was ended.
    Hang,
    /// The test did not always behave the same.
    Divergence,
}

/// The results of the search so far.
#[derive(Serialize, Deserialize)]
pub(in super::super) struct Contents {
    identity: Identity,
    /// The time that it ran, in all processes together.
    pub(in super::super) elapsed: Duration,
    /// `true` if only one worker ever ran it, so that the remaining work is in the order of the search.
    pub(in super::super) alone: bool,
    /// `true` if several workers ran it.
    pub(in super::super) several: bool,
    /// The reason for its end; `None` if there is remaining work.
    pub(in super::super) ending: Option<Ending>,
    /// The strongest reduction that is sound for the operations so far; it may be weaker than the requested one.
    pub(in super::super) planned: SoundReduction,
    /// A note for the report on why a weaker one is used, if one is.
    gave_way: Option<String>,
    redundant: u64,
    /// All executions, and those that departed.
    departed: Departed,
    /// Threads that are not controlled but used objects of executions.
    other_threads: BTreeSet<String>,
    unfitted: Vec<String>,
    traces: String,
    spans: Vec<(SearchPosition, Counts)>,
    findings: Vec<SavedFinding>,
    others: BTreeMap<u64, u64>,
}

#[derive(Serialize, Deserialize)]
struct SavedFinding {
    rank: SearchPosition,
    at: usize,
    kind: String,
    severity: String,
    monitor: FoundBy,
    message: String,
    suggestion: Option<String>,
    tasks: Vec<String>,
    events: Vec<FindingEvent>,
    places: Vec<NamedPlace>,
    #[serde(default)]
    deeds: Vec<FindingDeed>,
    schedule: String,
    count: u64,
    #[serde(default)]
    found_by: Option<String>,
    /// The names that the test gave.
    #[serde(default)]
    names: VarNames,
    #[serde(default)]
    layout: Layout,
    detail: FindingDetail,
}

impl SavedFinding {
    fn of(listed: &Listed) -> SavedFinding {
        let finding = &listed.finding;
        SavedFinding {
            rank: listed.place.0.clone(),
            at: listed.place.1,
            kind: finding.kind.to_string(),
            severity: severity_name(finding.severity).to_owned(),
            monitor: finding.monitor.clone(),
            message: finding.message.clone(),
            suggestion: finding.suggestion.clone(),
            tasks: finding.tasks.clone(),
            events: finding.events.clone(),
            places: finding.places.clone(),
            deeds: finding.deeds.clone(),
            schedule: finding.schedule.token(),
            count: finding.count,
            found_by: finding.found_by.clone(),
            names: finding.names.clone(),
            layout: finding.layout.clone(),
            detail: finding.detail.clone(),
        }
    }

    fn listed(self) -> Result<Listed, String> {
        let schedule = Schedule::from_token(&self.schedule).map_err(|error| error.to_string())?;
        let kind = FindingKind::from_name(&self.kind).ok_or("a finding of an unknown kind")?;
        let severity = severity_from_name(&self.severity).ok_or("a finding of an unknown severity")?;
        Ok(Listed {
            place: (self.rank, self.at),
            finding: Finding {
                kind,
                severity,
                monitor: self.monitor,
                message: self.message,
                suggestion: self.suggestion,
                tasks: self.tasks,
                events: self.events,
                schedule,
                count: self.count,
                found_by: self.found_by,
                replays: None,
                places: self.places,
                deeds: self.deeds,
                names: self.names,
                functions: BTreeMap::new(),
                layout: self.layout,
                // A replay finds it again.
                graph: None,
                detail: self.detail,
            },
        })
    }
}

impl Contents {
    pub(in super::super) fn new(
        identity: &Identity,
        elapsed: Duration,
        Workers { alone, several }: Workers,
        ending: Option<Ending>,
        (books, departed): (&Results, Departed),
        traces: &Fingerprints<()>,
    ) -> Contents {
        let Results {
            ledger, catalogue, ..
        } = books;
        Contents {
            identity: identity.clone(),
            elapsed,
            alone,
            several,
            ending,
            planned: books.planned,
            gave_way: books.gave_way.clone(),
            redundant: books.redundant(),
            departed,
            other_threads: books.touchers.clone(),
            unfitted: books.unfitted(),
            traces: traces.saved(),
            spans: ledger
                .spans()
                .map(|(begin, tally)| (begin.clone(), tally.clone()))
                .collect(),
            findings: catalogue.listed.iter().map(SavedFinding::of).collect(),
            others: catalogue.others.clone(),
        }
    }

    /// `true` if the counts can be continued without overflow: no search reaches half of the range of the numbers.
    fn can_go_on(&self) -> bool {
        let spans = self.spans.iter().flat_map(|(_, tally)| tally.counts());
        let findings = self.findings.iter().map(|finding| finding.count);
        let others = self.others.values().copied();
        let Departed { executions, departed } = self.departed;
        // The check on the share of departures multiplies them.
        let departed = departed.saturating_mul(16);
        let of_all = [self.redundant, executions, departed, self.elapsed.as_secs()];
        let counts = spans.chain(findings).chain(others).chain(of_all);
        counts.map(u128::from).sum::<u128>() < u128::from(u64::MAX / 2)
    }

    /// Moves the executions and findings of earlier processes into `results`.
    pub(in super::super) fn take(
        &mut self,
        books: &mut Results,
        traces: &Fingerprints<()>,
    ) -> Result<(), CheckpointProblem> {
        let Results {
            ledger, catalogue, ..
        } = books;
        if !self.can_go_on() {
            return Err(CheckpointProblem::Unintelligible {
                reason: "more was counted than any search comes to".into(),
            });
        }
        for (begin, tally) in self.spans.drain(..) {
            ledger.add(&begin, &tally);
        }
        for finding in self.findings.drain(..) {
            let listed = finding.listed();
            catalogue
                .listed
                .push(listed.map_err(|reason| CheckpointProblem::Unintelligible { reason })?);
        }
        catalogue.others = std::mem::take(&mut self.others);
        (books.planned, books.redundant) = (self.planned, self.redundant);
        books.departed_before = self.departed;
        books.touchers = std::mem::take(&mut self.other_threads);
        books.gave_way = self.gave_way.take();
        books.unfitted = Some(std::mem::take(&mut self.unfitted));
        if traces.restore(&self.traces) {
            Ok(())
        } else {
            Err(CheckpointProblem::Unintelligible {
                reason: "traces that cannot be".into(),
            })
        }
    }
}

/// Returns the text of a checkpoint: a line for each part.
pub(super) fn text(contents: &Contents, state: &SearchState) -> String {
    let mut text = intermezzo_engine::serial::to_string(contents).expect("keys are texts or numbers");
    for line in [&state.shared].into_iter().chain(&state.hands) {
        text.push('\n');
        text.push_str(line);
    }
    text
}

/// Parses the text of a checkpoint of this search.
pub(super) fn parse(text: &str, identity: &Identity) -> Result<Restored, CheckpointProblem> {
    let unintelligible = |reason: &dyn std::fmt::Display| CheckpointProblem::Unintelligible {
        reason: reason.to_string(),
    };
    let mut lines = text.split('\n');
    let contents: Contents = intermezzo_engine::serial::from_str(lines.next().unwrap_or_default())
        .map_err(|error| unintelligible(&error))?;
    identity.check(&contents.identity)?;
    let shared = lines
        .next()
        .ok_or_else(|| unintelligible(&"nothing of the search itself"))?;
    let state = SearchState {
        shared: shared.to_owned(),
        hands: lines.map(str::to_owned).collect(),
    };
    Ok(Restored { contents, state })
}
