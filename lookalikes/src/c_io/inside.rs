//! Descriptors that only the execution can make ready: counters, and pipes and pairs of sockets that it has made itself.
//!
//! Nothing from outside ends a wait for these alone, unless the process has children, which may have got the other end. In
//! a set of `epoll` all members count. Everything else may become ready by itself: sockets with addresses, signals,
//! changes of files (`inotify`), terminals.
//! A timer is a counter here (see `timers.rs`).
//!
//! A child that was there before the execution opened its first descriptor has got none of them. An execution that was
//! given up may have left it. A child that has ended counts like one that runs: what it started itself may run on.
//!
//! **Misses.** A process that a child has started, if the child has ended and was waited for.

use super::children::{children, has_children};
use super::left_open::{children_before, file, has_both_ends, is_opened};
use intermezzo_engine::runtime::Engine;
use intermezzo_engine::runtime::arena::outside;
use libc::c_int;
use std::fs;

/// The depth to which sets in sets are looked through: the system allows no more.
const DEPTH_MAX: u32 = 5;

/// Returns `true` if only the execution can make one of these descriptors ready.
pub(super) fn all_inside(engine: Engine, descriptors: impl IntoIterator<Item = c_int>) -> bool {
    let execution = engine.epoch();
    outside(|| {
        let descriptors = descriptors.into_iter().filter(|&descriptor| descriptor >= 0);
        let awaited: Vec<c_int> = descriptors.collect();
        let all = |is_opened_here| {
            let mut awaited = awaited.iter();
            awaited.all(|&descriptor| is_inside(descriptor, is_opened_here, DEPTH_MAX))
        };
        all(false) && (!has_children() || all(true) && all_children_are_older(execution))
    })
}

/// Returns `true` if each child of the process was there before this execution opened its first descriptor.
fn all_children_are_older(execution: u64) -> bool {
    let Some(before) = children_before(execution) else {
        return false;
    };
    children().is_some_and(|children| children.iter().all(|child| before.contains(child)))
}

/// Returns `true` if only this process and its children can make the descriptor ready. If it `is_opened_here`, it also has
/// to be one that the execution has opened itself.
fn is_inside(descriptor: c_int, is_opened_here: bool, depth: u32) -> bool {
    let Ok(kind) = fs::read_link(format!("/proc/self/fd/{descriptor}")) else {
        return false;
    };
    match kind.to_str() {
        Some("anon_inode:[eventfd]") => !is_opened_here || is_opened(descriptor),
        Some("anon_inode:[eventpoll]") => {
            let mut members = members(descriptor);
            depth > 0 && members.all(|member| is_inside(member, is_opened_here, depth - 1))
        }
        // All objects of this kind are one file to the system, so they must not be looked up as one.
        Some(kind) if kind.starts_with("anon_inode:") => false,
        // The execution has opened both ends.
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
