//! The monitor of stale loads against store buffers tried out in full, and against published answers.

mod buffers;
mod program;
mod published;
mod random;
mod reports;
#[path = "../tables/mod.rs"]
mod tables;

use intermezzo::monitors::StaleLoads;
use intermezzo::{Explorer, Report};

/// The explorer with the monitor, whose findings end the search and stay as they are found.
fn watched(explorer: Explorer) -> Explorer {
    let monitor = StaleLoads::with_arguments("errors=true").expect("an argument it has");
    explorer.monitors("none").minimise(0).monitor(monitor)
}

/// Whether the monitor found something.
fn is_stale(report: &Report) -> bool {
    let mut findings = report.findings().iter();
    findings.any(|finding| finding.kind.as_str() == "stale_load")
}
