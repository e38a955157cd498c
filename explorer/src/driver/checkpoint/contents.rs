//! What is in a checkpoint: which search it is, what came of it so far, and what is left of it.

use super::super::finding_set::Listed;
use super::super::shared::{Results, Workers};
use super::super::span_totals::Counts;
use super::Restored;
use super::error::CheckpointProblem;
use crate::report::{Finding, FindingDetail, FindingEvent, FoundBy, severity_from_name, severity_name};
use crate::settings::Settings;
use intermezzo_engine::described::{FindingDeed, NamedPlace};
use intermezzo_engine::schedule::Schedule;
use intermezzo_engine::strategy::{SearchPosition, SearchState};
use intermezzo_engine::trace::{Fingerprints, SoundReduction};
use intermezzo_sdk::FindingKind;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::OnceLock;
use std::time::Duration;

/// Which search it is: what must be the same for it to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Identity {
    program: String,
    build: Build,
    /// Where the test's code is in the executable: two tests may have the same name.
    body: i64,
    /// Names and values of the settings that change what the search comes to.
    settings: Vec<(String, String)>,
}

/// The executable, by its contents: another one may do something else under the same schedule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Build {
    bytes: u64,
    checksum: u32,
}

impl Identity {
    /// The search of this program, whose code is at this address, with these settings and monitors.
    ///
    /// # Errors
    /// The executable cannot be read.
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

impl Build {
    /// The executable that runs. It is read once, however many searches are kept.
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

/// Why a search ended that would end so again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum Ending {
    /// At the first finding, as it should.
    Finding,
    /// The process may be damaged.
    Crash,
    /// So, and before there was any search.
    EarlyCrash,
    /// A task hung, and was ended.
    Hang,
    /// The test did not do the same thing twice.
    Divergence,
}

/// What came of the search so far.
#[derive(Serialize, Deserialize)]
pub(in super::super) struct Contents {
    identity: Identity,
    /// How long it ran, in all processes together.
    pub(in super::super) elapsed: Duration,
    /// Whether what is left is in the order of the search: only one worker was ever at it.
    pub(in super::super) alone: bool,
    /// Whether several workers were at it.
    pub(in super::super) several: bool,
    /// If it is over: nothing is left to do.
    pub(in super::super) ending: Option<Ending>,
    /// What a program may do for the reduction at work to suit it: a weaker one than was asked for may be.
    pub(in super::super) planned: SoundReduction,
    /// Why a weaker one is at work, if one is: a note for the report.
    gave_way: Option<String>,
    redundant: u64,
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
        books: &Results,
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

    /// Whether what is counted leaves room to count on: no search comes to half of what there are numbers for.
    fn can_go_on(&self) -> bool {
        let spans = self.spans.iter().flat_map(|(_, tally)| tally.counts());
        let findings = self.findings.iter().map(|finding| finding.count);
        let others = self.others.values().copied();
        let of_all = [self.redundant, self.elapsed.as_secs()];
        let counts = spans.chain(findings).chain(others).chain(of_all);
        counts.map(u128::from).sum::<u128>() < u128::from(u64::MAX / 2)
    }

    /// Takes over what was run and found.
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

/// The text of a checkpoint: a line for each part.
pub(super) fn text(contents: &Contents, state: &SearchState) -> String {
    let mut text = serde_json::to_string(contents).expect("keys are texts or numbers");
    for line in [&state.shared].into_iter().chain(&state.hands) {
        text.push('\n');
        text.push_str(line);
    }
    text
}

/// What such a text says, if it is of this search.
pub(super) fn parse(text: &str, identity: &Identity) -> Result<Restored, CheckpointProblem> {
    let unintelligible = |reason: &dyn std::fmt::Display| CheckpointProblem::Unintelligible {
        reason: reason.to_string(),
    };
    let mut lines = text.split('\n');
    let contents: Contents =
        serde_json::from_str(lines.next().unwrap_or_default()).map_err(|error| unintelligible(&error))?;
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
