//! What a report notes beside its findings, in words.

/// What a report notes where fairness kept schedules out.
pub(super) const UNFAIR_LEFT_OUT: &str = "fair scheduling: schedules are left out in which a task that yields again and again \
                               keeps others from running for ever";

/// What a report notes where tasks were parked.
pub(super) const PARKED: &str = "awaits: a task whose loop only waits goes on when a variable that it read changes; only variables, \
                      registers and the task's own stack are compared, so what such a loop does because of other \
                      memory (a count in the heap, in a thread-local, in a frame of another task) may be missed: \
                      `awaits=false` plays such loops round by round";

/// What a report notes where wakeup trees were given up.
pub(super) const NO_WAKEUP_TREES: &str = "reduction: wakeup trees miss traces where tasks are parked, so the search began again with \
                               `source-dpor` when the first one was";

/// What a report notes where a parked task went on because of something that is not compared.
pub(super) const UNSEEN_CHANGE: &str = "awaits: a loop that seemed to wait ended because of memory that is not compared; what it does \
                             before nobody else can go on is missed: set `awaits=false`";

/// What a report notes where loops were assumed to wait.
pub(super) fn assumed_note(loops: usize, restarts: u32, given_up: u64) -> String {
    let loops = match loops {
        1 => "one loop is".to_owned(),
        loops => format!("{loops} loops are"),
    };
    let restarts = match restarts {
        0 => String::new(),
        1 => format!("; the search started anew once, after {given_up} executions that are not counted"),
        times => format!(
            "; the search started anew {times} times, after {given_up} executions that are not counted"
        ),
    };
    format!(
        "assume_awaits: {loops} assumed to only wait from the first round on, for a later round was seen to{restarts}; what \
         such a loop does before its state repeats may be missed"
    )
}
