//! Recordings for the findings of a report, made by more executions of the test.

use super::nearest::{self, Continued, Made};
use super::recorder::{Heard, Recorded as Slot, Recorder};
use super::{Recorded, RecordedEvent, Recording};
use crate::driver::Exploration;
use crate::listening::{Listening, Make};
use crate::report::source::Search;
use crate::report::{Finding, FoundBy, Report};
use crate::settings::{MonitorRequest, Settings, SpinLoops};
use hashbrown::HashMap;
use intermezzo_engine::memory_model::RaisedOrders;
use intermezzo_engine::schedule::{Choice, Schedule, TestBinary};
use intermezzo_engine::sites::Sites;
use intermezzo_engine::strategy::Strategy;
use intermezzo_sdk::{FindingKind, Monitor};
use std::sync::PoisonError;

/// The largest number of findings that are recorded. A page with more would be too long to read.
const FINDINGS_RECORDED: usize = 12;

/// The largest number of steps, in all executions together, that are run to find one that passes.
const STEPS_TRIED: u64 = 200_000;

/// Everything that further executions need, except the test.
pub(crate) struct Apart {
    pub(crate) settings: Settings,
    /// The finder of source files.
    pub(crate) sources: Search,
    pub(crate) program: String,
    /// The address of the test's code.
    pub(crate) body: usize,
    /// The factories of the monitors that can be made again.
    pub(crate) makes: Vec<Make>,
}

/// Sets what a replay of the schedule needs: its environment, its limit of steps, its treatment of loops that wait, and
/// its monitors, followed by others that are set.
pub(crate) fn settings_of_replay(settings: &mut Settings, schedule: &Schedule) {
    settings.steps = schedule.steps;
    settings.environment = schedule.environment;
    settings.fair_yields = schedule.fair_yields;
    settings.warm_up = settings.warm_up.max(schedule.warm_up);
    if !schedule.monitors.is_empty() {
        settings.monitors = MonitorRequest::and_others(&schedule.monitors, &settings.monitors);
    }
    settings.spin_loops = match (schedule.awaits, schedule.known_loops.is_empty()) {
        (false, _) => SpinLoops::Run,
        (true, false) => SpinLoops::Assume,
        (true, true) => SpinLoops::Park,
    };
    settings.schedule_points_at = Sites::default();
    settings.preempt_at_races = false;
}

/// A slot filled by a recorder that runs with a replay. Nothing else can record a crash, since no execution may follow
/// one in this process.
#[derive(Default)]
pub(crate) struct Live(Slot);

impl Live {
    /// Returns the recorder, as a monitor. It notes stacks, which are needed if the execution crashes.
    pub(crate) fn listener(&self) -> Listening {
        Listening::One(Box::new(Recorder::with_stacks(&self.0)))
    }

    /// Takes the recording of the last execution.
    fn heard(&self) -> Option<Recording> {
        let heard = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        heard.map(Heard::finish)
    }
}

/// Records the executions of a report's findings, each with the nearest one that passes. The crash of a replay was
/// recorded by `live`.
pub(crate) fn record(report: &mut Report, apart: &Apart, live: Option<&Live>, test: &(dyn Fn() + Sync)) {
    let mut recordings = Vec::new();
    for (number, finding) in report.findings.iter().enumerate() {
        let mut recorded = Recorded {
            finding: number,
            execution: None,
            nearest_pass: None,
            notes: Vec::new(),
        };
        let crashed = finding.kind == FindingKind::Crash;
        let heard = live.filter(|_| crashed).and_then(Live::heard);
        match (why_not(number, finding), heard) {
            (_, Some(heard)) => apart.take_crash(finding, heard, &mut recorded),
            (Some(why), None) => recorded.notes.push(why.to_owned()),
            (None, None) => apart.record_one(finding, &mut recorded, test),
        }
        recordings.push(recorded);
    }
    report.recordings = recordings;
}

fn why_not(number: usize, finding: &Finding) -> Option<&'static str> {
    match finding.kind {
        _ if number >= FINDINGS_RECORDED => Some("not recorded: there are many findings, and the first are"),
        FindingKind::Crash => Some(
            "not recorded: a crash may have damaged the process that explored; a replay of its schedule records it",
        ),
        FindingKind::Hang => Some("not recorded: the execution would hang again"),
        FindingKind::Divergence => {
            Some("not recorded: an execution that departs from its schedule has no replay")
        }
        _ if finding.events.is_empty() => Some("not recorded: the finding is of no single execution"),
        _ => None,
    }
}

/// The result of one more execution.
struct Again {
    report: Report,
    recording: Option<Recording>,
}

impl Apart {
    /// Takes the recording of an execution that crashed.
    fn take_crash(&self, finding: &Finding, mut heard: Recording, recorded: &mut Recorded) {
        heard.program.clone_from(&self.program);
        heard.schedule = finding.schedule.token();
        mark(&mut heard, finding);
        recorded.execution = Some(heard);
        recorded
            .notes
            .push("no passing execution was looked for: a crash may have damaged the process".into());
    }

    fn record_one(&self, finding: &Finding, recorded: &mut Recorded, test: &(dyn Fn() + Sync)) {
        let again = self.run(finding, &finding.schedule, None, test);
        let shown = again.report.findings.iter().any(|other| other.says(finding));
        let engine = finding.monitor == FoundBy::Engine;
        match again.recording {
            Some(mut recording) if shown || !engine && self.monitor(finding).is_none() => {
                mark(&mut recording, finding);
                recording.schedule = finding.schedule.token();
                recorded.execution = Some(recording);
            }
            _ => {
                recorded.notes.push(
                    "not recorded: a replay did not show it again; does the test do something that the schedule does \
                     not determine?"
                        .to_owned(),
                );
                return;
            }
        }
        if !engine && self.monitor(finding).is_none() {
            recorded.notes.push(format!(
                "no passing execution was looked for: there is only one of the monitor `{}`, attached with `monitor`",
                finding.monitor
            ));
            return;
        }
        let beginnings = nearest::beginnings(&finding.schedule.choices);
        let all = beginnings.len();
        let (mut steps, mut tries) = (0, 0);
        for (beginning, tried) in beginnings.into_iter().zip(1..) {
            let common = beginning.len() - 1;
            let made = Made::default();
            let again = self.run(finding, &finding.schedule, Some((beginning, &made)), test);
            (steps, tries) = (steps + again.report.steps, tried);
            if let Some(mut recording) = again.recording
                && again.report.verdict.is_pass()
                && again.report.findings.is_empty()
            {
                let choices = made.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let schedule = Schedule {
                    choices,
                    ..finding.schedule.clone()
                };
                // Runs it again to note its stacks. Noting them in every execution that is tried would take too long.
                let again = self.run(finding, &schedule, None, test);
                let passes = again.report.verdict.is_pass() && again.report.findings.is_empty();
                match again.recording {
                    Some(with_stacks) if passes && is_same_execution(&with_stacks, &recording) => {
                        recording = with_stacks;
                    }
                    _ => recorded.notes.push(
                        "the passing execution has no stacks: a replay of it was another one".to_owned(),
                    ),
                }
                recording.schedule = schedule.token();
                recorded.nearest_pass = Some(recording);
                let of = finding.schedule.choices.len();
                recorded.notes.push(format!(
                    "the passing execution makes the same first {common} of {of} choices; {tried} of {all} near ones were tried"
                ));
                return;
            }
            if steps > STEPS_TRIED {
                break;
            }
        }
        recorded.notes.push(match tries {
            0 => "there is no other execution: nothing is chosen in this one".to_owned(),
            tries => format!("no execution that passes is near: all {tries} that were tried fail"),
        });
    }

    /// Returns an exploration of the test with these settings, whose report is not shown.
    pub(crate) fn exploration(
        &self,
        settings: Settings,
        binary: TestBinary,
        monitors: Vec<Listening>,
    ) -> Exploration {
        Exploration {
            settings,
            program: self.program.clone(),
            binary,
            replay_with: Vec::new(),
            body: self.body,
            custom: None,
            replay: None,
            monitors,
            progress: None,
            decide: None,
            passes_over: Vec::new(),
            inspector: None,
            raised: RaisedOrders::default(),
            is_followed: false,
            sources: self.sources.clone(),
        }
    }

    /// Makes another one of the monitor that reported the finding, if that is possible.
    pub(crate) fn monitor(&self, finding: &Finding) -> Option<Box<dyn Monitor>> {
        let mut made = self.makes.iter().map(|make| make());
        made.find(|monitor| finding.monitor == monitor.name())
    }

    /// Runs a schedule with the monitor that reported the finding, and notes stacks. With a `beginning`, runs the
    /// execution that begins so instead, and notes none.
    fn run(
        &self,
        finding: &Finding,
        schedule: &Schedule,
        beginning: Option<(Vec<Choice>, &Made)>,
        test: &(dyn Fn() + Sync),
    ) -> Again {
        let slot = Slot::default();
        let recorder = match beginning {
            Some(_) => Recorder::new(&slot),
            None => Recorder::with_stacks(&slot),
        };
        let mut monitors = vec![Listening::One(Box::new(recorder))];
        monitors.extend(self.monitor(finding).map(Listening::One));
        let mut settings = self.settings.clone();
        settings_of_replay(&mut settings, schedule);
        (settings.jobs, settings.checkpoint) = (1, None);
        (settings.executions, settings.time) = (None, None);
        let custom = beginning.map(|(beginning, made)| {
            let continued: Box<dyn Strategy> = Box::new(Continued::new(beginning, made));
            continued
        });
        let exploration = Exploration {
            custom,
            replay: Some(schedule.clone()),
            ..self.exploration(settings, schedule.binary.clone(), monitors)
        };
        let report = exploration
            .run_apart(test)
            .expect("one execution without a checkpoint is refused by nothing");
        let heard = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut recording = heard.map(Heard::finish);
        if let Some(recording) = &mut recording {
            recording.program.clone_from(&self.program);
        }
        Again { report, recording }
    }
}

/// Returns `true` if two recordings are of the same execution, with stacks or without.
fn is_same_execution(one: &Recording, other: &Recording) -> bool {
    let step = |event: &RecordedEvent| RecordedEvent {
        stack: None,
        ..event.clone()
    };
    let steps = |recording: &Recording| recording.events.iter().map(step).collect::<Vec<_>>();
    steps(one) == steps(other)
}

/// Marks the events that a finding is about, and adds the effects and the stores that the finding knows of.
fn mark(recording: &mut Recording, finding: &Finding) {
    let ids = recording
        .events
        .iter()
        .map(|event| format!("{}.{}", event.task, event.index));
    let places: HashMap<String, usize> = ids.zip(0..).collect();
    for event in &mut recording.events {
        event.concerned = false;
    }
    for marked in &finding.events {
        let Some(&at) = places.get(&marked.id) else {
            continue;
        };
        let event = &mut recording.events[at];
        event.concerned = marked.concerned;
        event.effect = marked.effect;
        event.from = marked.from.as_ref().and_then(|id| places.get(id)).copied();
        event.newer = marked
            .newer
            .iter()
            .filter_map(|id| places.get(id))
            .copied()
            .collect();
    }
}
