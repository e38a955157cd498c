//! Tests of a project that could not be run with their settings.

use crate::output;
use crate::problem::Problem;
use serde::{Deserialize, Serialize};

/// The format of refusals that can be read.
const FORMAT: &str = "intermezzo-refusal/1";

/// A test that was not explored, because its settings are invalid.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Refusal {
    #[serde(skip_serializing)]
    format: String,
    pub(super) program: String,
    pub(super) reason: String,
}

impl Refusal {
    /// Reads a test's refusal, if the text is one.
    pub(super) fn read(text: &str) -> Option<Refusal> {
        let refusal: Refusal = serde_json::from_str(text).ok()?;
        (refusal.format == FORMAT).then_some(refusal)
    }
}

/// Reports the tests that could not be run.
///
/// # Errors
/// If there are some.
pub(super) fn none_of(refusals: &[Refusal]) -> Result<(), Problem> {
    if refusals.is_empty() {
        return Ok(());
    }
    let mut message = format!(
        "{} cannot be run with the given settings (`cargo intermezzo config` shows where each came from)",
        output::count(refusals.len() as u64, "explored test")
    );
    for Refusal { program, reason, .. } in refusals {
        message.push_str(&format!("\n  {program}: {reason}"));
    }
    Err(Problem::usage(message))
}

/// Reports the reason why a program could not be explored.
///
/// # Errors
/// If there is one.
pub(super) fn not_of_program(refusals: &[Refusal]) -> Result<(), Problem> {
    match refusals.first() {
        None => Ok(()),
        Some(Refusal { program, reason, .. }) => {
            Err(Problem::usage(format!("{program} cannot be explored: {reason}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_is_reported_with_its_reason() {
        let text = r#"{"format":"intermezzo-refusal/1","program":"a::b","reason":"it cannot be"}"#;
        let refusal = Refusal::read(text).unwrap();
        let message = none_of(&[refusal]).unwrap_err().to_string();
        assert!(
            message.starts_with("error: 1 explored test cannot be run"),
            "{message}"
        );
        assert!(message.ends_with("\n  a::b: it cannot be"), "{message}");
        assert!(none_of(&[]).is_ok() && not_of_program(&[]).is_ok());
        let refusal = Refusal::read(text).unwrap();
        let message = not_of_program(&[refusal]).unwrap_err().to_string();
        assert_eq!(message, "error: a::b cannot be explored: it cannot be");
        assert!(Refusal::read(&text.replace("refusal/1", "report/1")).is_none());
        assert!(Refusal::read(&text[..20]).is_none());
    }
}
