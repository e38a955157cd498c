//! Checks that reports are those of all shares of one search, and combines them into one report.

use super::cover;
use super::read::ReadReport;
use crate::output::count;
use intermezzo::report::united_traces;
use intermezzo::{Coverage, Partition, Share};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Figures that are added up.
const SUMS: [&str; 6] = [
    "executions",
    "redundant",
    "blocked",
    "steps",
    "context_switches",
    "elapsed_seconds",
];

/// Figures of which the largest is taken.
const MAXIMA: [&str; 2] = ["max_steps", "max_tasks"];

/// Lists whose entries refer to a finding by its number.
const ABOUT_FINDINGS: [&str; 3] = ["reproductions", "turning_points", "recordings"];

/// Returns the report of the search of which these are all shares. Shares that were `dropped` have no report, because
/// another one had failed.
///
/// # Errors
/// If a share is missing, occurs twice, or belongs to another search. Each error names the files.
pub(crate) fn combined(reports: &[ReadReport], dropped: &[Partition]) -> Result<String, Vec<String>> {
    let shares: Vec<(&ReadReport, &Share)> = reports
        .iter()
        .filter_map(|report| Some((report, report.head.share.as_ref()?)))
        .collect();
    let whole = reports.iter().find(|report| report.head.share.is_none());
    match (whole, shares.first()) {
        // The test is not divided: each process explored the whole test.
        (Some(_), None) => {
            let worst = reports.iter().min_by_key(|report| report.head.verdict);
            let fields = worst.map(|report| Value::Object(report.fields.clone()));
            Ok(fields.unwrap_or_default().to_string())
        }
        (Some(whole), Some((share, part))) => Err(vec![format!(
            "{} reports on the whole search, and {} on share {}",
            whole.name, share.name, part.share
        )]),
        (None, None) => Err(vec!["there is no report".into()]),
        (None, Some(_)) => {
            let problems = problems(&shares, dropped);
            match problems.is_empty() {
                true => merged(&shares, dropped).map_err(|problem| vec![problem]),
                false => Err(problems),
            }
        }
    }
}

/// Returns the reasons why these are not the shares of one search, each exactly once.
fn problems(shares: &[(&ReadReport, &Share)], dropped: &[Partition]) -> Vec<String> {
    let Some(&(first, part)) = shares.first() else {
        return vec!["there is no report".into()];
    };
    let mut problems = Vec::new();
    let mut by_share: BTreeMap<Partition, &ReadReport> = BTreeMap::new();
    for &(report, other) in shares {
        let both = format!("{} and {}", first.name, report.name);
        let differs = if part.version != other.version {
            Some(format!(
                "{both} were written by different versions of intermezzo, {:?} and {:?}",
                part.version, other.version
            ))
        } else if part.code != other.code {
            Some(format!(
                "{both} are of different code: the executables differ, or the tests in them"
            ))
        } else {
            other_setting(part, other).map(|name| {
                let value = |part: &Share| part.settings.get(&name).cloned().unwrap_or_default();
                format!(
                    "{both} have different settings: `{name}` is {:?} and {:?}",
                    value(part),
                    value(other)
                )
            })
        };
        if let Some(problem) = differs {
            problems.push(problem);
        } else if let Some(twice) = by_share.insert(other.share, report) {
            problems.push(format!(
                "share {} occurs twice: {} and {}",
                other.share, twice.name, report.name
            ));
        }
    }
    if problems.is_empty() {
        let all = by_share.keys().chain(dropped).copied().collect();
        problems.extend(cover::problem(&all, |share| match by_share.get(share) {
            Some(report) => report.name.clone(),
            None => "a share that was dropped".to_owned(),
        }));
    }
    problems
}

/// Returns the name of the first setting that differs.
fn other_setting(one: &Share, other: &Share) -> Option<String> {
    let names = one.settings.keys().chain(other.settings.keys());
    names
        .filter(|name| one.settings.get(*name) != other.settings.get(*name))
        .min()
        .cloned()
}

/// Combines the shares, which are all shares of one search.
fn merged(shares: &[(&ReadReport, &Share)], dropped: &[Partition]) -> Result<String, String> {
    let traces = united_traces(shares.iter().map(|(_, share)| &*share.traces));
    let traces = traces.map_err(|at| match shares.get(at) {
        Some((report, _)) => format!("the traces in {} are damaged", report.name),
        None => "the traces are damaged".to_owned(),
    })?;
    let mut shares = shares.to_vec();
    shares.sort_by_key(|(_, share)| share.share);
    let reports: Vec<&ReadReport> = shares.iter().map(|(report, _)| *report).collect();
    let mut fields = reports[0].fields.clone();
    for name in SUMS {
        fields.insert(
            name.into(),
            sum(reports.iter().filter_map(|report| report.fields.get(name))),
        );
    }
    for name in MAXIMA {
        let most = reports
            .iter()
            .filter_map(|report| report.fields.get(name)?.as_u64());
        fields.insert(name.into(), most.max().into());
    }
    fields.insert("traces".into(), traces.into());
    // Executions of different shares have no order, so none of them is the first failure.
    fields.insert("first_failure".into(), Value::Null);
    for name in ["estimate", "share"] {
        fields.remove(name);
    }
    if let Some(accesses) = fields.get_mut("plain_accesses").and_then(Value::as_object_mut) {
        let seen = reports
            .iter()
            .filter_map(|report| report.fields.get("plain_accesses")?.get("seen"));
        accesses.insert("seen".into(), sum(seen));
    }
    insert_breakpoints(&mut fields, &reports);
    insert_findings(&mut fields, &reports);
    let mut limits = different(reports.iter().flat_map(|report| list(&report.fields, "limits")));
    let fields_of_each: Vec<_> = reports.iter().map(|report| &report.fields).collect();
    limits.retain(|limit| holds_of_all(limit, &fields_of_each));
    fields.insert("limits".into(), limits.into());
    let mut notes = different(reports.iter().flat_map(|report| list(&report.fields, "notes")));
    notes.push(note_on_shares(&shares).into());
    let (verdict, mut coverage) = verdict_and_coverage(&shares, &mut notes);
    if let Some(first) = dropped.iter().min() {
        let shares = match dropped.len() - 1 {
            0 => format!("share {first} was"),
            others => format!("share {first} and {} were", count(others as u64, "other")),
        };
        let why = format!("{shares} not run, because another one had failed");
        coverage = united(coverage, Coverage::unbounded(why));
    }
    fields.insert("notes".into(), notes.into());
    fields.insert("verdict".into(), verdict.into());
    let coverage = serde_json::to_value(coverage).map_err(|error| error.to_string())?;
    fields.insert("coverage".into(), coverage);
    Ok(Value::Object(fields).to_string())
}

/// Returns the verdict on the whole search, and its coverage.
fn verdict_and_coverage(
    shares: &[(&ReadReport, &Share)],
    notes: &mut Vec<Value>,
) -> (&'static str, Coverage) {
    let mut verdicts = shares
        .iter()
        .map(|(report, _)| report.head.verdict)
        .collect::<Vec<_>>();
    verdicts.sort();
    let reduction = |report: &ReadReport| report.head.reduction.clone();
    let frontier = |report: &ReadReport| report.head.reduction.contains("dpor");
    let (first, _) = shares[0];
    let other = shares
        .iter()
        .find(|(report, _)| frontier(report) != frontier(first));
    if let Some((other, part)) = other {
        // They are parts of different trees, so together they need not be the whole search.
        let why = format!(
            "shares were explored by different reductions, {} by {} and {} by {}: run all of them with the weaker one",
            shares[0].1.share,
            reduction(first),
            part.share,
            reduction(other)
        );
        notes.push(why.clone().into());
        let verdict = match verdicts[0] {
            super::read::VerdictJson::Fail => "fail",
            _ => "inconclusive",
        };
        return (verdict, Coverage::unbounded(why));
    }
    let coverage = shares.iter().fold(None, |all: Option<Coverage>, (_, share)| {
        let covers = match share.covers.clone() {
            // A share that did not end did not cover everything, whatever a damaged or foreign report says.
            covers if share.ended || matches!(covers, Coverage::Sampled { .. }) => covers,
            covers => covers.because("it did not end"),
        };
        let covers = named(covers, share);
        Some(match all {
            None => covers,
            Some(all) => united(all, covers),
        })
    });
    (verdicts[0].word(), coverage.unwrap_or_else(Coverage::stopped))
}

/// Adds the name of the share to the reason in the coverage.
fn named(covers: Coverage, part: &Share) -> Coverage {
    match covers {
        Coverage::Bounded {
            preemptions,
            delays,
            depth,
            rank,
            reason: Some(reason),
        } => Coverage::Bounded {
            preemptions,
            delays,
            depth,
            rank,
            reason: Some(format!("share {}: {reason}", part.share)),
        },
        other => other,
    }
}

/// Returns the coverage of two shares together: the weaker of both.
fn united(one: Coverage, other: Coverage) -> Coverage {
    match (one, other) {
        (Coverage::Exhaustive, other) | (other, Coverage::Exhaustive) => other,
        (Coverage::Sampled { executions }, Coverage::Sampled { executions: more }) => Coverage::Sampled {
            executions: executions.saturating_add(more),
        },
        (
            Coverage::Bounded {
                preemptions, reason, ..
            },
            Coverage::Bounded {
                preemptions: other,
                reason: other_reason,
                ..
            },
        ) => Coverage::Bounded {
            preemptions: preemptions.zip(other).map(|(one, other)| one.min(other)),
            delays: None,
            depth: None,
            rank: None,
            reason: match (reason, other_reason) {
                (Some(one), Some(other)) => Some(format!("{one}; {other}")),
                (one, other) => one.or(other),
            },
        },
        (other, _) => Coverage::unbounded(format!("shares cover different things: {other}")),
    }
}

/// Returns a note on the numbers of executions of the shares.
fn note_on_shares(shares: &[(&ReadReport, &Share)]) -> String {
    let executions: Vec<u64> = shares.iter().map(|(report, _)| report.head.executions).collect();
    let (least, most) = (executions.iter().min(), executions.iter().max());
    let elsewhere = shares
        .iter()
        .fold(0_u64, |all, (_, share)| all.saturating_add(share.elsewhere));
    format!(
        "merged from {}, of {} to {}; to find their own executions, they also ran {} of other shares",
        count(shares.len() as u64, "share"),
        least.copied().unwrap_or_default(),
        count(most.copied().unwrap_or_default(), "execution"),
        count(elsewhere, "execution"),
    )
}

/// Adds up figures.
fn sum<'a>(values: impl Iterator<Item = &'a Value>) -> Value {
    values.fold(json!(0), |all, value| match (all.as_u64(), value.as_u64()) {
        (Some(all), Some(value)) => all.saturating_add(value).into(),
        _ => json!(all.as_f64().unwrap_or_default() + value.as_f64().unwrap_or_default()),
    })
}

fn list<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    fields
        .get(name)
        .and_then(Value::as_array)
        .map_or(&[], |list| list)
}

/// Returns the distinct values, in order.
fn different<'a>(values: impl Iterator<Item = &'a Value>) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for value in values {
        if !all.contains(value) {
            all.push(value.clone());
        }
    }
    all
}

/// Returns `false` if another share disproves the limit. That tasks share nothing must hold in each share with several
/// tasks, and that there was one task must hold in every share.
fn holds_of_all(limit: &Value, shares: &[&Map<String, Value>]) -> bool {
    let tasks = |share: &Map<String, Value>| share.get("max_tasks").and_then(Value::as_u64);
    let mut with_several = shares.iter().filter(|share| tasks(share) > Some(1));
    match limit["kind"].as_str() {
        Some("nothing_shared") => with_several.all(|share| list(share, "limits").contains(limit)),
        Some("one_task") => with_several.next().is_none(),
        _ => true,
    }
}

/// Inserts the sums of the figures of the armed breakpoints.
fn insert_breakpoints(fields: &mut Map<String, Value>, reports: &[&ReadReport]) {
    let mut all: Vec<Map<String, Value>> = Vec::new();
    for figures in reports
        .iter()
        .flat_map(|report| list(&report.fields, "breakpoints"))
    {
        let Some(figures) = figures.as_object() else {
            continue;
        };
        match all
            .iter_mut()
            .find(|known| known.get("name") == figures.get("name"))
        {
            None => all.push(figures.clone()),
            Some(known) => {
                for (name, value) in known {
                    if let (true, Some(more)) = (value.is_u64(), figures.get(name)) {
                        *value = sum([&*value, more].into_iter());
                    }
                }
            }
        }
    }
    if !all.is_empty() {
        fields.insert("breakpoints".into(), all.into());
    }
}

/// Inserts the findings, each once: of several equal ones, the one with the smallest execution is kept.
fn insert_findings(fields: &mut Map<String, Value>, reports: &[&ReadReport]) {
    // Each finding with the index of its report, and its number in that report.
    let mut all: Vec<(Value, usize, usize)> = Vec::new();
    for (at, report) in reports.iter().enumerate() {
        for (number, finding) in list(&report.fields, "findings").iter().enumerate() {
            match all
                .iter_mut()
                .find(|(known, ..)| identity(known) == identity(finding))
            {
                None => all.push((finding.clone(), at, number)),
                Some((known, of, known_number)) => {
                    let counts = sum([&*known, finding].into_iter().filter_map(|one| one.get("count")));
                    if size(finding) < size(known) {
                        (*known, *of, *known_number) = (finding.clone(), at, number);
                    }
                    if let Some(known) = known.as_object_mut() {
                        known.insert("count".into(), counts);
                    }
                }
            }
        }
    }
    for name in ABOUT_FINDINGS {
        let mut kept = Vec::new();
        for (new, (_, at, number)) in all.iter().enumerate() {
            for entry in list(&reports[*at].fields, name) {
                let is_of =
                    |entry: &Value| entry.get("finding").and_then(Value::as_u64) == Some(*number as u64);
                if let Some(entry) = entry.as_object().filter(|_| is_of(entry)) {
                    let mut entry = entry.clone();
                    entry.insert("finding".into(), new.into());
                    kept.push(Value::Object(entry));
                }
            }
        }
        fields.remove(name);
        if !kept.is_empty() {
            fields.insert(name.into(), kept.into());
        }
    }
    let findings: Vec<Value> = all.into_iter().map(|(finding, ..)| finding).collect();
    fields.insert("findings".into(), findings.into());
}

/// Returns the parts of a finding by which it is compared with others. The way in which an execution diverged is left out,
/// because it depends on chance.
fn identity(finding: &Value) -> (Option<&Value>, Option<&Value>, Option<&Value>) {
    let kind = finding.get("kind");
    let message = finding.get("message");
    let is_chance = kind.and_then(Value::as_str) == Some("divergence");
    (kind, finding.get("severity"), message.filter(|_| !is_chance))
}

/// Returns the size of a finding's execution: its events, then its schedule.
fn size(finding: &Value) -> (u64, usize) {
    let events = finding
        .get("events")
        .and_then(Value::as_array)
        .map_or(0, Vec::len) as u64;
    let left_out = finding
        .get("events_left_out")
        .and_then(Value::as_u64)
        .unwrap_or_default();
    let schedule = finding
        .get("schedule")
        .and_then(Value::as_str)
        .unwrap_or_default();
    (events.saturating_add(left_out), schedule.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn another_share_can_disprove_a_limit() {
        let [alone, apart, together] = [(1, "one_task"), (2, "nothing_shared"), (2, "fairness")]
            .map(|(tasks, kind)| json!({ "max_tasks": tasks, "limits": [{ "kind": kind }] }));
        let empty = json!({ "max_tasks": 0, "limits": [] });
        let holds = |kind: &str, shares: &[&Value]| {
            let shares: Vec<_> = shares.iter().filter_map(|share| share.as_object()).collect();
            holds_of_all(&json!({ "kind": kind }), &shares)
        };
        assert!(holds("nothing_shared", &[&apart, &alone, &empty]));
        assert!(!holds("nothing_shared", &[&apart, &together]));
        assert!(holds("one_task", &[&alone, &empty]));
        assert!(!holds("one_task", &[&alone, &apart]));
        assert!(holds("fairness", &[&alone, &apart, &together]));
    }
}
