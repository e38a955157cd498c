//! Prints what intermezzo, loom and shuttle need to exhaust the same programs.
//!
//! ```text
//! intermezzo-peers [--json] [--cap SECONDS] [FILTER]
//! ```
//!
//! FILTER keeps the cases whose name contains it. Exit codes: 0 measured, 1 the tools contradict
//! each other about what a program can do, 2 usage error.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what this binary is for"
)]

use std::env;
use std::process::ExitCode;
use std::time::Duration;

use intermezzo_peers::{Case, Measurement, Tool, disagreements, measure};
use serde_json::{Value, json};

/// Long enough for a rate that does not move any more.
const CAP_DEFAULT: Duration = Duration::from_secs(20);

struct Arguments {
    json: bool,
    cap: Duration,
    filter: String,
}

fn main() -> ExitCode {
    let arguments = match parse(env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}\nusage: intermezzo-peers [--json] [--cap SECONDS] [FILTER]");
            return ExitCode::from(2);
        }
    };
    let mut rows = Vec::new();
    let mut contradictions = Vec::new();
    if !arguments.json {
        println!("{HEADER}");
    }
    for case in Case::ALL
        .into_iter()
        .filter(|case| case.to_string().contains(&arguments.filter))
    {
        let mut measurements: Vec<Measurement> = Vec::new();
        for tool in Tool::ALL {
            let measurement = measure(tool, case, arguments.cap);
            let reference = measurements.first().or(measurement.as_ref());
            if arguments.json {
                rows.push(json_row(case, tool, measurement.as_ref(), reference));
            } else {
                println!("{}", table_row(case, tool, measurement.as_ref(), reference));
            }
            measurements.extend(measurement);
        }
        contradictions.extend(disagreements(&measurements));
    }
    if arguments.json {
        let report = json!({
            "format": "intermezzo-peers/1",
            "cap_seconds": arguments.cap.as_secs_f64(),
            "rows": rows,
            "disagreements": contradictions,
        });
        println!("{report:#}");
    } else {
        println!("{LEGEND}");
    }
    for contradiction in &contradictions {
        eprintln!("disagreement: {contradiction}");
    }
    if contradictions.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = Arguments {
        json: false,
        cap: CAP_DEFAULT,
        filter: String::new(),
    };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => arguments.json = true,
            "--cap" => {
                let seconds = words.next().ok_or("--cap needs a number of seconds")?;
                arguments.cap = seconds
                    .parse()
                    .ok()
                    .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                    .ok_or(format!("--cap: {seconds} is not a number of seconds"))?;
            }
            flag if flag.starts_with('-') => return Err(format!("unknown flag {flag}")),
            filter => arguments.filter = filter.to_owned(),
        }
    }
    Ok(arguments)
}

const HEADER: &str = "\
kernel              tool        outcomes  executions      seconds  executions/s  time / intermezzo
------------------  ----------  --------  ------------  ---------  ------------  -----------------";

const LEGEND: &str = "
>  the cap came first: the tool would need more, and the ratio is a lower bound.
<  the cap came first for intermezzo: the ratio is an upper bound.
-  the program has more threads than the tool can hold; or both were cut, so that no ratio is known.
Times below some milliseconds are mostly a tool's setting up.
Loom may show more outcomes than the others: it treats SeqCst as AcqRel.";

fn table_row(case: Case, tool: Tool, own: Option<&Measurement>, reference: Option<&Measurement>) -> String {
    let kernel = case.to_string();
    let Some(own) = own else {
        return format!(
            "{kernel:<18}  {tool:<10}  {0:>8}  {0:>12}  {0:>9}  {0:>12}  {0:>17}",
            "-"
        );
    };
    let cut = if own.exhausted { "" } else { ">" };
    let ratio = match reference.and_then(|reference| own.time_ratio(reference)) {
        Some(ratio) if reference.is_some_and(|reference| !reference.exhausted) => {
            format!("<{}", short(ratio))
        }
        Some(ratio) => format!("{cut}{}", short(ratio)),
        None => "-".to_owned(),
    };
    format!(
        "{kernel:<18}  {tool:<10}  {:>8}  {:>12}  {:>9}  {:>12.0}  {ratio:>17}",
        own.outcomes.len(),
        format!("{cut}{}", own.executions),
        format!("{cut}{:.4}", own.time.as_secs_f64()),
        own.rate(),
    )
}

/// Ratios span six orders of magnitude; what matters of each is its first digits.
fn short(ratio: f64) -> String {
    if ratio < 10.0 {
        format!("{ratio:.3}")
    } else {
        format!("{ratio:.0}")
    }
}

/// Like the table's row; every figure is null where the tool cannot run the case.
fn json_row(case: Case, tool: Tool, own: Option<&Measurement>, reference: Option<&Measurement>) -> Value {
    let ratio = own
        .zip(reference)
        .and_then(|(own, reference)| own.time_ratio(reference));
    json!({
        "kernel": case.kernel.to_string(),
        "a": case.a,
        "b": case.b,
        "tool": tool,
        "outcomes": own.map(|own| &own.outcomes),
        "executions": own.map(|own| own.executions),
        "exhausted": own.map(|own| own.exhausted),
        "seconds": own.map(|own| own.time.as_secs_f64()),
        "executions_per_second": own.map(Measurement::rate),
        "time_ratio_to_intermezzo": ratio,
    })
}
