//! Catches panics of this program, which are bugs in intermezzo.

use crate::exit::Exit;
use crate::output;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the command. If it panics, a text after the panic's message says that this is a bug in intermezzo.
pub(crate) fn guarded(command: impl FnOnce() -> Exit) -> Exit {
    catch_unwind(AssertUnwindSafe(command)).unwrap_or_else(|_| {
        let arguments: Vec<String> = std::env::args_os().map(|arg| format!("{arg:?}")).collect();
        output::complain(&format!(
            "internal error: this is a bug in intermezzo {}, not in the program under test.\n\
             Please report it with the message above and this command line:\n  {}",
            env!("CARGO_PKG_VERSION"),
            arguments.join(" "),
        ));
        Exit::Internal
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_ours_is_an_internal_error() {
        assert_eq!(guarded(|| panic!("on purpose")), Exit::Internal);
        assert_eq!(guarded(|| Exit::Inconclusive), Exit::Inconclusive);
    }
}
