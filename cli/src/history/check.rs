//! `history check`: checks whether a recorded history is linearizable. If it is not, shows the longest linearizable order
//! of some of its operations.

use super::intervals;
use crate::args::CheckArgs;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use anstyle::AnsiColor;
use intermezzo::foreign;
use intermezzo::refinement::history::formats::{Answer, Format, FormatError, Named, Recorded};
use intermezzo::refinement::history::{History, Operation};
use intermezzo::refinement::recorded::{Judgement, Object, Outcome, Refutation, judge};
use intermezzo::settings::did_you_mean;
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// The greatest number of operations of a list that are shown, so that the lists fit a screen.
const SHOWN_MAX: usize = 12;

/// The answer in JSON.
#[derive(Serialize)]
struct Said<'a> {
    file: &'a Path,
    format: &'static str,
    spec: &'static str,
    operations: usize,
    verdict: &'static str,
    checker: &'static str,
    #[serde(flatten)]
    refuted: Option<SaidRefuted<'a>>,
}

#[derive(Serialize)]
struct SaidRefuted<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    why: &'a Option<String>,
    longest: Vec<SaidOperation>,
    stuck: Vec<SaidOperation>,
    concerned: Vec<SaidOperation>,
}

#[derive(Serialize)]
struct SaidOperation {
    place: usize,
    process: u64,
    call: String,
    returned: Option<String>,
    called_in: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    returned_in: Option<String>,
}

/// Judges the history.
pub(crate) fn run(args: CheckArgs) -> Result<Exit, Problem> {
    let bytes = foreign::read(&args.file)
        .map_err(|error| Problem::file("read", &args.file, &error, "give the path of a history"))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        Problem::usage(format!(
            "{:?} is not text: byte {} is not UTF-8",
            args.file,
            error.utf8_error().valid_up_to()
        ))
    })?;
    let format = match &args.format {
        Some(name) => format_named(name)?,
        None => Format::guess(&args.file, &text),
    };
    let wrong = |error: FormatError| {
        let guessed = match args.format {
            Some(_) => String::new(),
            None => format!(" (taken for {format}: --format says otherwise)"),
        };
        Problem::usage(format!("{:?}, {error}{guessed}", args.file))
    };
    let (events, said) = format.read(&text).map_err(wrong)?;
    let object = object(args.spec.as_deref().or(said.as_deref()), &args.file)?;
    let recorded = Recorded::pair(events).map_err(wrong)?;
    let until = Instant::now().checked_add(args.time);
    let judgement = judge(&recorded, object, args.states, until).map_err(wrong)?;
    if args.json {
        output::json(&said_of(&args.file, format, object, &judgement))?;
    } else {
        output::text(&answer_text(object, &judgement, &args))?;
    }
    Ok(match judgement.outcome {
        Outcome::Linearizable => Exit::Pass,
        Outcome::NotLinearizable(_) => Exit::Findings,
        Outcome::Unknown { .. } => Exit::Inconclusive,
    })
}

fn format_named(name: &str) -> Result<Format, Problem> {
    let found = Format::ALL.into_iter().find(|format| format.name() == name);
    found.ok_or_else(|| {
        let names = Format::ALL.map(Format::name);
        Problem::usage(format!(
            "there is no format {name:?}: {}the formats are {}",
            did_you_mean(name, names.into_iter()),
            names.join(", ")
        ))
    })
}

fn object(name: Option<&str>, file: &Path) -> Result<Object, Problem> {
    let names = Object::ALL.map(Object::name);
    let Some(name) = name else {
        return Err(Problem::usage(format!(
            "{file:?} does not name the object of the history: name it by --spec, as one of {}",
            names.join(", ")
        )));
    };
    name.parse().map_err(|error| {
        let near = did_you_mean(name, names.into_iter());
        Problem::usage(format!("{error}. {near}").trim_end().to_owned())
    })
}

fn verdict(outcome: &Outcome) -> (&'static str, &'static str, AnsiColor) {
    match outcome {
        Outcome::Linearizable => ("linearizable", "linearizable", AnsiColor::Green),
        Outcome::NotLinearizable(_) => ("not_linearizable", "not linearizable", AnsiColor::Red),
        Outcome::Unknown { .. } => ("inconclusive", "inconclusive", AnsiColor::Yellow),
    }
}

fn said_of<'a>(file: &'a Path, format: Format, object: Object, judgement: &'a Judgement) -> Said<'a> {
    let operations = |places: &[usize]| {
        let one = |&at: &usize| said_operation(&judgement.history, at);
        places.iter().map(one).collect()
    };
    Said {
        file,
        format: format.name(),
        spec: object.name(),
        operations: judgement.history.len(),
        verdict: verdict(&judgement.outcome).0,
        checker: if judgement.fast { "fast" } else { "general" },
        refuted: match &judgement.outcome {
            Outcome::NotLinearizable(refuted) => Some(SaidRefuted {
                why: &refuted.why,
                longest: operations(&refuted.longest),
                stuck: operations(&refuted.stuck),
                concerned: operations(&refuted.concerned),
            }),
            _ => None,
        },
    }
}

fn said_operation(history: &History<Named, Answer>, at: usize) -> SaidOperation {
    let operation = &history.operations()[at];
    SaidOperation {
        place: at,
        process: operation.call.process,
        call: operation.call.to_string(),
        returned: operation.returned.as_ref().map(answer),
        called_in: operation.call.called.to_string(),
        returned_in: operation.call.returned.map(|place| place.to_string()),
    }
}

fn answer(answer: &Answer) -> String {
    match answer {
        Answer::Ok(value) => value.to_string(),
        Answer::Failed => "failed".to_owned(),
    }
}

fn answer_text(object: Object, judgement: &Judgement, args: &CheckArgs) -> String {
    let (_, word, colour) = verdict(&judgement.outcome);
    let operations = output::count(judgement.history.len() as u64, "operation");
    let mut text = format!("{}: {operations} of a {object}\n", output::painted(word, colour));
    match &judgement.outcome {
        Outcome::Linearizable => {}
        Outcome::Unknown { states } if *states <= args.states => text.push_str(&format!(
            "The check gave up after {} seconds: --time allows more, and a shorter part of the history needs less\n",
            args.time.as_secs_f64()
        )),
        Outcome::Unknown { states } => text.push_str(&format!(
            "The check gave up after {states} states: --states allows more, and a shorter part of the history needs \
             fewer\n"
        )),
        Outcome::NotLinearizable(refuted) => push_refutation(&mut text, &judgement.history, refuted),
    }
    text
}

fn push_refutation(text: &mut String, history: &History<Named, Answer>, refuted: &Refutation) {
    if let Some(why) = &refuted.why {
        text.push_str(&format!("\n{why}\n"));
    }
    let concerned = refuted.concerned.len();
    if concerned < history.len() {
        let operations = output::count(concerned as u64, "operation");
        text.push_str(&format!(
            "\nThe cause is among {operations}: even these alone have no valid order.\n"
        ));
    }
    // Without a search for an order there is no longest order to show.
    let (longest, stuck) = (&refuted.longest, &refuted.stuck);
    let mut shown: Vec<usize> = Vec::new();
    if !stuck.is_empty() {
        let last = &longest[longest.len().saturating_sub(SHOWN_MAX)..];
        text.push_str(&match longest.len() {
            0 => "\nNone of the operations can be the first.\n".to_owned(),
            all if all == last.len() => "\nThe longest order:\n".to_owned(),
            all => format!(
                "\nThe longest order is one of {all} operations; the last {} of them:\n",
                last.len()
            ),
        });
        push_operations(text, history, last);
        text.push_str("\nOne of these would have to come next, and none of them can:\n");
        let first: Vec<usize> = stuck.iter().copied().take(SHOWN_MAX).collect();
        push_operations(text, history, &first);
        if first.len() < stuck.len() {
            text.push_str(&format!("and {} more\n", stuck.len() - first.len()));
        }
        shown.extend(last.iter().chain(&first));
    }
    if stuck.is_empty() || concerned <= SHOWN_MAX {
        let others = refuted.concerned.iter().copied().filter(|at| !shown.contains(at));
        let others: Vec<usize> = others.take(SHOWN_MAX).collect();
        if !others.is_empty() {
            text.push_str(if stuck.is_empty() {
                "\nThe operations:\n"
            } else {
                "\nThe others:\n"
            });
            push_operations(text, history, &others);
            shown.extend(others);
        }
    }
    text.push_str("\nWhen they ran, time to the right:\n");
    let rows: Vec<(String, &Operation<Named, Answer>)> = shown
        .iter()
        .map(|&at| (format!("#{at}"), &history.operations()[at]))
        .collect();
    text.push_str(&intervals::drawn(&rows));
}

fn push_operations(text: &mut String, history: &History<Named, Answer>, places: &[usize]) {
    let rows: Vec<Vec<String>> = places
        .iter()
        .map(|&at| {
            let said = said_operation(history, at);
            let returned = said.returned.map_or("unknown".to_owned(), |value| value);
            let until = said
                .returned_in
                .map_or(String::new(), |place| format!(" to {place}"));
            vec![
                format!("  #{at}"),
                format!("process {}", said.process),
                format!("{} -> {returned}", said.call),
                format!("{}{until}", said.called_in),
            ]
        })
        .collect();
    text.push_str(&output::table(&rows));
}
