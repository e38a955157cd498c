//! `corpus list`: the programs, their parameters, and their expected verdicts.

use crate::args::ListArgs;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use intermezzo_corpus::{Program, programs};
use serde::Serialize;
use std::collections::BTreeMap;

/// A program in JSON.
#[derive(Serialize)]
struct Listed {
    name: &'static str,
    about: &'static str,
    expected: String,
    parameters: Vec<ListedParameter>,
    settings: BTreeMap<&'static str, &'static str>,
}

#[derive(Serialize)]
struct ListedParameter {
    name: &'static str,
    default: u64,
    least: u64,
    most: u64,
    about: &'static str,
}

impl Listed {
    fn of(program: &Program) -> Listed {
        let parameters = program.parameters.iter().map(|parameter| {
            let (least, most) = parameter.range;
            ListedParameter {
                name: parameter.name,
                default: parameter.default,
                least,
                most,
                about: parameter.about,
            }
        });
        Listed {
            name: program.name,
            about: program.about,
            expected: program.expected.to_string(),
            parameters: parameters.collect(),
            settings: program.settings.iter().copied().collect(),
        }
    }
}

/// Lists the programs.
pub(crate) fn run(args: ListArgs) -> Result<Exit, Problem> {
    if args.json {
        output::json(&programs().iter().map(Listed::of).collect::<Vec<_>>())?;
    } else {
        let title = ["PROGRAM", "PARAMETERS", "EXPECTED", "ABOUT"]
            .map(str::to_owned)
            .to_vec();
        let rows: Vec<Vec<String>> = std::iter::once(title).chain(programs().iter().map(row)).collect();
        output::text(&output::table(&rows))?;
    }
    Ok(Exit::Pass)
}

fn row(program: &Program) -> Vec<String> {
    let parameters = program
        .parameters
        .iter()
        .map(|parameter| format!("{}={}", parameter.name, parameter.default));
    let parameters = parameters.collect::<Vec<_>>().join(" ");
    vec![
        program.name.into(),
        parameters,
        program.expected.to_string(),
        program.about.into(),
    ]
}
