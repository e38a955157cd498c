//! Prints what intermezzo, loom and shuttle need to exhaust the same programs.
//!
//! ```text
//! intermezzo-peers [--json] [--csv FILE] [--cap SECONDS] [FILTER..]
//! ```
//!
//! It prints a Markdown table, or JSON; FILE gets the figures as CSV too. A FILTER keeps the cases whose name contains it;
//! of several, one is enough. Exit codes: 0 measured, 1 the tools contradict each other about what a program can do, 2
//! usage error, or FILE cannot be written.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what this binary is for"
)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use std::{env, fs};

use intermezzo_peers::table::{self, Row};
use intermezzo_peers::{Case, Measurement, Tool, disagreements, measure};
use serde_json::{Value, json};

/// The longest time that a user is likely to wait.
const CAP_DEFAULT: Duration = Duration::from_secs(60);

struct Arguments {
    json: bool,
    cap: Duration,
    csv: Option<PathBuf>,
    filters: Vec<String>,
}

fn main() -> ExitCode {
    let arguments = match parse(env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}\nusage: intermezzo-peers [--json] [--csv FILE] [--cap SECONDS] [FILTER..]");
            return ExitCode::from(2);
        }
    };
    let mut rows: Vec<Row> = Vec::new();
    let mut contradictions = Vec::new();
    if !arguments.json {
        println!("{}", table::HEADER);
    }
    let chosen = |case: &Case| {
        let name = case.to_string();
        arguments.filters.is_empty() || arguments.filters.iter().any(|filter| name.contains(filter))
    };
    for case in Case::ALL.into_iter().filter(chosen) {
        let figures = measure(case, arguments.cap);
        let known: Vec<Measurement> = figures.iter().flatten().cloned().collect();
        contradictions.extend(disagreements(&known));
        rows.push((case, figures));
        if !arguments.json {
            print!("{}", table::rows(&rows[rows.len() - 1]));
        }
    }
    if arguments.json {
        let figures = rows.iter().flat_map(|(case, figures)| {
            let row = |(tool, own): (Tool, &Option<Measurement>)| {
                json_row(*case, tool, own.as_ref(), figures[0].as_ref())
            };
            Tool::ALL.into_iter().zip(figures).map(row).collect::<Vec<_>>()
        });
        let report = json!({
            "format": "intermezzo-peers/2",
            "cap_seconds": arguments.cap.as_secs_f64(),
            "rows": figures.collect::<Vec<_>>(),
            "disagreements": contradictions,
        });
        println!("{report:#}");
    } else {
        println!("{}\n\n{}", table::LEGEND, table::beside_loom(&rows));
    }
    if let Some(file) = &arguments.csv
        && let Err(error) = fs::write(file, table::csv(&rows))
    {
        eprintln!("{}: {error}", file.display());
        return ExitCode::from(2);
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
        csv: None,
        filters: Vec::new(),
    };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => arguments.json = true,
            "--csv" => arguments.csv = Some(words.next().ok_or("--csv needs a file")?.into()),
            "--cap" => {
                let seconds = words.next().ok_or("--cap needs a number of seconds")?;
                arguments.cap = seconds
                    .parse()
                    .ok()
                    .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                    .ok_or(format!("--cap: {seconds} is not a number of seconds"))?;
            }
            flag if flag.starts_with('-') => return Err(format!("unknown flag {flag}")),
            filter => arguments.filters.push(filter.to_owned()),
        }
    }
    Ok(arguments)
}

/// Returns the table's row as JSON; every figure is null if the tool cannot run the case.
fn json_row(case: Case, tool: Tool, own: Option<&Measurement>, reference: Option<&Measurement>) -> Value {
    let ratio = own
        .zip(reference)
        .and_then(|(own, reference)| own.time_ratio(reference));
    json!({
        "kernel": case.kernel.to_string(),
        "a": case.a,
        "b": case.b,
        "like_for_like": case.kernel.is_like_for_like(),
        "tool": tool,
        "outcomes": own.map(|own| &own.outcomes),
        "executions": own.map(|own| own.executions),
        "exhausted": own.map(|own| own.exhausted),
        "seconds": own.map(|own| own.took.wall.as_secs_f64()),
        "processor_seconds": own.map(|own| own.took.cpu.as_secs_f64()),
        "executions_per_second": own.map(Measurement::rate),
        "executions_per_processor_second": own.map(Measurement::cpu_rate),
        "time_ratio_to_dpor": ratio,
    })
}
