//! What comes of breakpoints, line by line into a file: there whatever becomes of the process.

use crate::arming::ArmError;
use crate::statistics::Statistics;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::OnceLock;

/// The environment variable that names a file for what comes of breakpoints: a line for each hit and each wait in vain.
pub const LOG_VARIABLE: &str = "INTERMEZZO_BREAKPOINTS_LOG";

static FILE: OnceLock<Option<File>> = OnceLock::new();

/// Adds a line. A file that cannot be written is let be: a program does not fail because of it.
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

/// Something became of a breakpoint at that place.
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

/// What the environment variable says cannot be.
pub(crate) fn problem(error: &ArmError) {
    line(format_args!("refused: {error}"));
}
