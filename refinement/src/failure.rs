//! A scenario in which the object did what it may not, for people.

mod timeline;

use crate::judge::{Against, Judge};
use crate::model::Model;
use crate::progress::Progress;
use crate::run::record::Mark;
use crate::scenario::Description;
use intermezzo_explorer::{Finding, Report, Schedule};
use intermezzo_sdk::FindingKind;
use std::fmt;

/// What is told of a history that is not allowed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    timeline: Option<String>,
    explanation: Option<String>,
}

impl Told {
    /// Of this history.
    pub(crate) fn new(judge: &Judge, marks: &[Mark], model: Option<&dyn Model>) -> Told {
        Told {
            timeline: Some(timeline::draw(judge, marks)),
            explanation: model.and_then(|model| explain(judge, marks, model)),
        }
    }
}

/// How far an order of the operations gets.
fn explain(judge: &Judge, marks: &[Mark], model: &dyn Model) -> Option<String> {
    let Against::Model(_) = judge.against else {
        return None;
    };
    let violation = judge.compare(model, marks).err()?;
    let history = judge.history(marks);
    let completed = history.filter(|operation| !operation.is_pending());
    let calls = |places: &[usize]| -> String {
        let call = |&at: &usize| judge.outcome(&completed.operations()[at]);
        let all: Vec<String> = places.iter().map(call).collect();
        all.join(", ")
    };
    let far = match violation.longest.is_empty() {
        true => "no operation can come first".to_owned(),
        false => format!(
            "an order of the operations can begin with {}",
            calls(&violation.longest)
        ),
    };
    Some(match violation.stuck.is_empty() {
        true => format!("{far}; what waits then would not have to"),
        false => format!("{far}; none of these can come next: {}", calls(&violation.stuck)),
    })
}

/// A scenario in which the object did what it may not.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// What kind of finding it is: `Refinement`, or what went wrong before a history was there.
    pub kind: FindingKind,
    /// What happened, in words.
    pub message: String,
    /// The demand that is not met, if operations do not come to their ends.
    pub progress: Option<Progress>,
    /// The scenario.
    pub scenario: Description,
    /// The operations as intervals, one line a task, if there is a history to draw.
    pub timeline: Option<String>,
    /// How far an order of the operations gets, if there is a model to say so.
    pub explanation: Option<String>,
    /// The execution's events, one a line.
    pub events: Vec<String>,
    /// What shows it again.
    pub schedule: Schedule,
    /// The exploration in which it was found last, with its executions recorded, if that was asked for.
    pub report: Option<Report>,
}

impl Failure {
    pub(crate) fn new(finding: &Finding, scenario: Description, told: Told) -> Failure {
        let events = finding.events.iter().map(|event| {
            let what = [event.op.as_str(), event.var.as_str()];
            let what: Vec<&str> = what.into_iter().filter(|word| !word.is_empty()).collect();
            format!("{:<10} {:<40} {}", event.task, what.join(" "), event.site)
        });
        Failure {
            kind: finding.kind.clone(),
            message: finding.message.clone(),
            progress: None,
            scenario,
            timeline: told.timeline,
            explanation: told.explanation,
            events: events.collect(),
            schedule: finding.schedule.clone(),
            report: None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.kind, self.message)?;
        writeln!(f)?;
        write!(f, "{}", self.scenario)?;
        if let Some(timeline) = &self.timeline {
            writeln!(f, "\n{timeline}")?;
        }
        if let Some(explanation) = &self.explanation {
            writeln!(f, "{explanation}\n")?;
        }
        for event in &self.events {
            writeln!(f, "  {event}")?;
        }
        Ok(())
    }
}
