//! A program whose task does nothing visible for too long.

use super::Case;
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};

pub(crate) const CASES: &[Case] = &[Case {
    name: "hang",
    settings: &[("hang", "0.2")],
    body: sleeps_too_long,
}];

/// Sleeps by std for longer than the limit.
fn sleeps_too_long() {
    let n = AtomicUsize::new(0);
    n.fetch_add(1, SeqCst);
    std::thread::sleep(std::time::Duration::from_secs(3_600));
}
