//! The programs, by kind.

mod counter;
mod work_stealing_queue;

use crate::Program;

/// Every program, in order of name.
pub(crate) const ALL: &[Program] = &[
    counter::COUNTER,
    work_stealing_queue::BROKEN,
    work_stealing_queue::FIXED,
];
