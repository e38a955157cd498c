//! Descriptors that only the execution can make ready: counters, and pipes and pairs of sockets that it has made itself.
//!
//! Nothing from outside ends a wait for these alone, unless the process has children, which may have got the other end. In
//! a set of `epoll` all members count. Everything else may become ready by itself: sockets with addresses, timers, signals,
//! terminals.

use super::left_open::{file, has_both_ends};
use intermezzo_engine::runtime::arena::outside;
use libc::c_int;
use std::fs;
use std::mem::MaybeUninit;

/// The depth to which sets in sets are looked through: the system allows no more.
const DEPTH_MAX: u32 = 5;

/// Returns `true` if only the execution can make one of these descriptors ready.
pub(super) fn all_inside(descriptors: impl IntoIterator<Item = c_int>) -> bool {
    outside(|| {
        let mut awaited = descriptors.into_iter().filter(|&descriptor| descriptor >= 0);
        awaited.all(|descriptor| is_inside(descriptor, DEPTH_MAX)) && !has_children()
    })
}

fn is_inside(descriptor: c_int, depth: u32) -> bool {
    let Ok(kind) = fs::read_link(format!("/proc/self/fd/{descriptor}")) else {
        return false;
    };
    match kind.to_str() {
        Some("anon_inode:[eventfd]") => true,
        Some("anon_inode:[eventpoll]") => {
            depth > 0 && members(descriptor).all(|member| is_inside(member, depth - 1))
        }
        _ => file(descriptor).is_some_and(has_both_ends),
    }
}

/// Returns the members of a set of `epoll`: see proc(5).
fn members(epoll: c_int) -> impl Iterator<Item = c_int> {
    // A member that cannot be read counts as one from outside.
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{epoll}")).unwrap_or("tfd: -1".into());
    let members: Vec<c_int> = text
        .lines()
        .filter_map(|line| line.strip_prefix("tfd:")?.split_whitespace().next())
        .map(|number| number.parse().unwrap_or(-1))
        .collect();
    members.into_iter()
}

/// Returns `true` if the process has children.
fn has_children() -> bool {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the place for the result is there. The child stays to be waited for.
    let found = unsafe {
        libc::waitid(
            libc::P_ALL,
            0,
            info.as_mut_ptr(),
            libc::WEXITED | libc::WNOHANG | libc::WNOWAIT,
        )
    };
    found == 0
}
