//! Compares the monitor of stale loads with fully explored store buffers, and with published answers.

mod buffers;
#[path = "../common/by_workers.rs"]
mod by_workers;
mod program;
mod published;
mod random;
mod reports;
#[path = "../tables/mod.rs"]
mod tables;

use intermezzo::monitors::StaleLoads;
use intermezzo::{Explorer, Report};

/// Returns the explorer with the monitor, whose findings end the search and are not minimised.
fn watched(explorer: Explorer) -> Explorer {
    let monitor = StaleLoads::with_arguments("errors=true").expect("an argument it has");
    explorer.monitors("none").minimise(0).monitor(monitor)
}

/// `true` if the monitor found something.
fn is_stale(report: &Report) -> bool {
    let mut findings = report.findings().iter();
    findings.any(|finding| finding.kind.as_str() == "stale_load")
}
