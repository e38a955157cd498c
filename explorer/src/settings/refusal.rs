//! A test that cannot be run as it is set, told to the command line.

use crate::files::write_beside;
use serde::Serialize;
use std::path::Path;

/// The version of what is written.
const FORMAT: &str = "intermezzo-refusal/1";

#[derive(Serialize)]
struct RefusalJson<'a> {
    format: &'static str,
    program: &'a str,
    reason: &'a str,
}

/// If reports are asked for by `INTERMEZZO_REPORTS`, writes there why the test of this name cannot be run with its settings:
/// it will have no report, and its failure says as much only to people.
pub fn tell_refusal(program: &str, reason: &str) {
    let Some(directory) = std::env::var_os("INTERMEZZO_REPORTS") else {
        return;
    };
    let json = serde_json::to_string_pretty(&RefusalJson {
        format: FORMAT,
        program,
        reason,
    });
    write_beside(
        Path::new(&directory),
        program,
        &json.expect("text has a JSON form"),
    );
}
