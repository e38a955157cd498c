//! The part of `std::process` that ends the process.

use intermezzo_engine::runtime::{Engine, Site};

/// Ends the process: `std::process::exit`. Inside an exploration of a program, ends the execution; a code other than 0 is
/// a failure. Inside a test, it is a finding: the harness could not run the other tests.
#[track_caller]
pub fn exit(code: i32) -> ! {
    let site = Site::caller();
    match Engine::current() {
        Some(engine) if engine.is_program() => {
            // That is all that a parent process gets on Unix.
            let code = if cfg!(unix) { code & 0xff } else { code };
            let failure = (code != 0).then(|| format!("the program exits with the code {code}, at {site}"));
            engine.end_program(failure, site)
        }
        Some(engine) => engine.misuse(format!(
            "the test ends the process, with the code {code}, at {site}: explore what comes before it, in a test of its own"
        )),
        None => std::process::exit(code),
    }
}

/// Ends the program with this failure: what its `main` returned.
///
/// # Panics
/// If called outside an execution.
#[track_caller]
pub fn fail(failure: String) -> ! {
    let engine = Engine::current().expect("programs fail inside an execution");
    engine.end_program(Some(failure), Site::caller())
}
