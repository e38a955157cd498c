//! The programs of the corpus, by name.

use crate::program::{ArgumentError, Arguments, Program};
use crate::programs::ALL;

/// Every program, in order of name.
pub fn programs() -> &'static [Program] {
    ALL
}

/// The program of that name.
pub fn find(name: &str) -> Option<&'static Program> {
    programs().iter().find(|program| program.name == name)
}

/// The program and the values that a schedule's program name says: the inverse of [`Program::full_name`].
///
/// # Errors
/// The name is not a corpus program's, or its values do not fit.
pub fn parse_full_name(name: &str) -> Result<(&'static Program, Arguments), ArgumentError> {
    let mut parts = name.strip_prefix("corpus::").unwrap_or(name).split(',');
    let program = parts.next().and_then(find);
    let program = program.ok_or_else(|| ArgumentError(format!("there is no corpus program `{name}`")))?;
    let sets: Vec<&str> = parts.collect();
    Ok((program, program.arguments(&sets)?))
}
