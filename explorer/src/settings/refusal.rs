//! A report to the command line that a test cannot be run with its settings.

use crate::files::write_asked_for;
use intermezzo_engine::serial::Serialize;

/// The name and version of the format.
const FORMAT: &str = "intermezzo-refusal/1";

#[derive(Serialize)]
struct RefusalJson<'a> {
    format: &'static str,
    program: &'a str,
    reason: &'a str,
}

/// If `INTERMEZZO_REPORTS` names a directory, writes there why the test of this name cannot be run with its settings. Such
/// a test has no report, and its failure is text for people.
pub fn tell_refusal(program: &str, reason: &str) {
    let refusal = RefusalJson {
        format: FORMAT,
        program,
        reason,
    };
    write_asked_for("INTERMEZZO_REPORTS", program, &refusal);
}
