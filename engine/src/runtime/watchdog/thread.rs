//! The kernel's information about a thread.

use std::fs;
use std::time::Duration;

/// The system calls that may wait for long, by number, with the names of the corresponding functions of the C library.
const CALLS: &[(libc::c_long, &str)] = &[
    (libc::SYS_futex, "futex"),
    (libc::SYS_read, "read"),
    (libc::SYS_readv, "readv"),
    (libc::SYS_pread64, "pread"),
    (libc::SYS_write, "write"),
    (libc::SYS_writev, "writev"),
    (libc::SYS_pwrite64, "pwrite"),
    (libc::SYS_recvfrom, "recvfrom"),
    (libc::SYS_recvmsg, "recvmsg"),
    (libc::SYS_recvmmsg, "recvmmsg"),
    (libc::SYS_sendto, "sendto"),
    (libc::SYS_sendmsg, "sendmsg"),
    (libc::SYS_accept, "accept"),
    (libc::SYS_accept4, "accept"),
    (libc::SYS_connect, "connect"),
    (libc::SYS_ppoll, "poll"),
    (libc::SYS_pselect6, "select"),
    (libc::SYS_epoll_pwait, "epoll_wait"),
    (libc::SYS_epoll_pwait2, "epoll_wait"),
    (libc::SYS_wait4, "wait"),
    (libc::SYS_waitid, "waitid"),
    (libc::SYS_nanosleep, "nanosleep"),
    (libc::SYS_clock_nanosleep, "clock_nanosleep"),
    (libc::SYS_flock, "flock"),
    (libc::SYS_fcntl, "fcntl"),
    (libc::SYS_openat, "open"),
    (libc::SYS_splice, "splice"),
    (libc::SYS_rt_sigtimedwait, "sigwait"),
    (libc::SYS_rt_sigsuspend, "sigsuspend"),
    (libc::SYS_io_uring_enter, "io_uring_enter"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_poll, "poll"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_select, "select"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_epoll_wait, "epoll_wait"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, "open"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_pause, "pause"),
];

/// Returns the name of a system call, if it is one that may wait for long.
pub(super) fn name(call: i64) -> Option<&'static str> {
    CALLS
        .iter()
        .find(|(number, _)| *number == call)
        .map(|(_, name)| *name)
}

/// Returns `true` if this is the system call that waits for another thread: all locks of std use it.
pub(super) fn waits_for_another(call: i64) -> bool {
    call == libc::SYS_futex
}

/// Returns `true` if a signal ends this system call, even if the signal's handler makes others resume: see signal(7).
fn is_ended_by_signals(call: i64) -> bool {
    matches!(
        name(call),
        Some("epoll_wait" | "poll" | "select" | "sigwait" | "sigsuspend" | "pause" | "io_uring_enter")
    )
}

/// A wait in a system call that a signal would end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    /// The number of the call.
    pub(super) call: i64,
    /// The number of times that the thread has given up its processor. If it changes, the wait is another one.
    switches: u64,
}

/// Returns the wait of this thread of the process, if it is in a system call that a signal would end.
pub(super) fn wait(thread: i32) -> Option<Wait> {
    let call = state(thread).call.filter(|&call| is_ended_by_signals(call))?;
    let status = fs::read_to_string(format!("/proc/self/task/{thread}/status")).ok()?;
    let switches = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    Some(Wait {
        call,
        switches: switches.trim().parse().ok()?,
    })
}

/// The state of a thread at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// `true` if it runs, or would if it had a processor.
    pub(super) runs: bool,
    /// The number of the system call that it is in, unless it runs.
    pub(super) call: Option<i64>,
    /// The processor time that it has used so far.
    pub(super) used: Duration,
}

/// Returns the state of this thread of the process. A thread that has ended, or cannot be read, does not run.
pub(super) fn state(thread: i32) -> State {
    let read = |what: &str| fs::read_to_string(format!("/proc/self/task/{thread}/{what}"));
    let Some((runs, ticks)) = read("stat").ok().and_then(|stat| parse(&stat)) else {
        return State::default();
    };
    let call = read("syscall").ok();
    let number = call.and_then(|call| call.split(' ').next()?.parse().ok());
    State {
        runs,
        // -1 stands for none.
        call: number.filter(|&number| !runs && number >= 0),
        used: Duration::from_millis(1_000 * ticks / super::signal::ticks_per_second()),
    }
}

/// Returns the kernel's numbers of the threads of the process.
pub(super) fn all() -> Vec<i32> {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else {
        return Vec::new();
    };
    let number = |entry: std::io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    tasks.filter_map(number).collect()
}

/// Returns `true` if the thread runs, and its ticks on a processor, from a line described in proc(5).
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
        assert_eq!(state(super::super::thread_id()).call, None);
        assert_eq!((name(libc::SYS_read), name(-1)), (Some("read"), None));
        assert_eq!(wait(super::super::thread_id()), None);
        let other = std::thread::spawn(|| (super::super::thread_id(), all()));
        let (other, all_then) = other.join().unwrap();
        assert!(all_then.contains(&other) && all_then.contains(&super::super::thread_id()));
    }
    #[test]
    fn a_wait_that_a_signal_ends_is_one_until_it_ends() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let (number, told) = std::sync::mpsc::channel();
        let other = std::thread::spawn(move || {
            number.send(super::super::thread_id()).unwrap();
            let mut at = libc::pollfd {
                fd: std::os::fd::AsRawFd::as_raw_fd(&reader),
                events: libc::POLLIN,
                revents: 0,
            };
            for _ in 0..2 {
                // SAFETY: one entry is there.
                assert_eq!(unsafe { libc::poll(&raw mut at, 1, -1) }, 1);
                std::io::Read::read_exact(&mut reader, &mut [0]).unwrap();
            }
        });
        let other_id = told.recv().unwrap();
        let seen = |besides: Option<Wait>| loop {
            match wait(other_id) {
                Some(wait) if Some(wait) != besides => return wait,
                _ => std::thread::yield_now(),
            }
        };
        let first = seen(None);
        assert_eq!((wait(other_id), name(first.call)), (Some(first), Some("poll")));
        std::io::Write::write_all(&mut &writer, &[1]).unwrap();
        assert_eq!(name(seen(Some(first)).call), Some("poll"));
        std::io::Write::write_all(&mut &writer, &[1]).unwrap();
        other.join().unwrap();
    }
}
