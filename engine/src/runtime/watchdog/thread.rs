//! The kernel's information about a thread.

use std::fs;
use std::time::Duration;

/// The number of the system call that waits for another thread: all locks of std use it.
const FUTEX: &str = if cfg!(target_arch = "x86_64") { "202" } else { "98" };

/// The state of a thread at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// `true` if it runs, or would if it had a processor.
    pub(super) runs: bool,
    /// `true` if it waits for another thread.
    pub(super) waits_for_another: bool,
    /// The processor time that it has used so far.
    pub(super) used: Duration,
}

/// Returns the state of this thread of the process. A thread that is gone, or cannot be read, does not run.
pub(super) fn state(thread: i32) -> State {
    let read = |what: &str| fs::read_to_string(format!("/proc/self/task/{thread}/{what}"));
    let Some((runs, ticks)) = read("stat").ok().and_then(|stat| parse(&stat)) else {
        return State::default();
    };
    let call = read("syscall").unwrap_or_default();
    State {
        runs,
        waits_for_another: !runs && call.split(' ').next() == Some(FUTEX),
        used: Duration::from_millis(1_000 * ticks / super::signal::ticks_per_second()),
    }
}

/// Returns the threads of the process, as the kernel numbers them.
pub(super) fn all() -> Vec<i32> {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else {
        return Vec::new();
    };
    let number = |entry: std::io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    tasks.filter_map(number).collect()
}

/// Returns whether it runs, and its ticks on a processor, from a line described in proc(5).
fn parse(stat: &str) -> Option<(bool, u64)> {
    // The name before it may hold anything, parentheses too.
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some((fields[0] == "R", number(11)? + number(12)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read() {
        let stat = "7 (a) b) R 1 7 7 0 -1 4194304 99 0 0 0 12 30 0 0 20 0 2 0 1 2 3";
        assert_eq!(parse(stat), Some((true, 42)));
        assert_eq!(parse("7 (a) S 1 7 7 0 -1 4 9 0 0 0 1 2 0"), Some((false, 3)));
        assert_eq!(parse("7 (a"), None);
        // This thread runs, because it is reading.
        assert!(state(super::super::thread_id()).runs);
        assert!(!state(i32::MAX).runs);
        let other = std::thread::spawn(|| (super::super::thread_id(), all()));
        let (other, all_then) = other.join().unwrap();
        assert!(all_then.contains(&other) && all_then.contains(&super::super::thread_id()));
    }
}
