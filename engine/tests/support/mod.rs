//! Parts that several tests of the engine share.

use intermezzo_engine::runtime::Limits;

/// Returns limits for small programs whose loops do not wait.
pub(crate) fn limits() -> Limits {
    Limits {
        steps: 500,
        tasks: 8,
        stack_bytes: 1 << 18,
        forgotten_bytes: 0,
        fair_yields: 1,
        awaits: false,
        deadlocks_allowed: false,
        long_allowed: false,
        reads_once: false,
        keeps_objects: false,
        unmodified: false,
        is_program: false,
        every_operation: false,
        hang: None,
        execution: None,
    }
}
