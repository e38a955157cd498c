//! The events of breakpoints, line by line into a file, which remains whatever happens to the process.

use crate::arming::ArmError;
use crate::statistics::Statistics;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::OnceLock;

/// The environment variable that names a file for the events of breakpoints: a line for each hit and each timeout.
pub const LOG_VARIABLE: &str = "INTERMEZZO_BREAKPOINTS_LOG";

static FILE: OnceLock<Option<File>> = OnceLock::new();

/// Adds a line. A file that cannot be written is ignored: a program does not fail because of it.
fn line(text: std::fmt::Arguments<'_>) {
    let file = FILE.get_or_init(|| {
        let path = std::env::var_os(LOG_VARIABLE)?;
        OpenOptions::new().create(true).append(true).open(path).ok()
    });
    if let Some(mut file) = file.as_ref() {
        // In one piece, so that several processes may share the file.
        let _ = file.write_all(format!("{text}\n").as_bytes());
    }
}

/// Logs an event of a breakpoint at that place.
pub(crate) fn event(what: &str, site: &std::panic::Location<'_>, so_far: &Statistics) {
    let Statistics {
        name,
        visits,
        skipped,
        hits,
        timeouts,
        unordered,
    } = so_far;
    line(format_args!(
        "{what} {name} at {site}: {visits} visits, {skipped} skipped, {hits} hits, {timeouts} timeouts, \
         {unordered} unordered"
    ));
}

/// Logs that the environment variable is invalid.
pub(crate) fn problem(error: &ArmError) {
    line(format_args!("refused: {error}"));
}
