//! `std::process`, as far as it ends the process.

use intermezzo_engine::runtime::{Engine, Site};

/// Ends the process: `std::process::exit`. Inside an exploration that is reported: the other executions could not be run.
#[track_caller]
pub fn exit(code: i32) -> ! {
    match Engine::current() {
        Some(engine) => engine.misuse(format!(
            "the test ends the process, with the code {code}, at {}: explore what comes before it, in a test of its own",
            Site::caller()
        )),
        None => std::process::exit(code),
    }
}
