//! The programs of the corpus, by name.

use crate::program::{ArgumentError, Arguments, Program};
use crate::programs::ALL;

/// Returns every program, in order of name.
pub fn programs() -> &'static [Program] {
    ALL
}

/// Returns the program of that name.
pub fn find(name: &str) -> Option<&'static Program> {
    programs().iter().find(|program| program.name == name)
}

/// Returns the program and the values in a schedule's program name: the inverse of [`Program::full_name`].
///
/// # Errors
/// If the name is not a corpus program's, or its values do not fit.
pub fn parse_full_name(name: &str) -> Result<(&'static Program, Arguments), ArgumentError> {
    let mut parts = name.strip_prefix("corpus::").unwrap_or(name).split(',');
    let program = parts.next().and_then(find);
    let program = program.ok_or_else(|| ArgumentError(format!("there is no corpus program `{name}`")))?;
    let sets: Vec<&str> = parts.collect();
    Ok((program, program.arguments(&sets)?))
}
