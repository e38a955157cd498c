//! The standard streams. They are std's own, but their locks outlive an execution, so the engine has to know of their use.

use intermezzo_engine::runtime::Engine;
use std::io::{Stderr, Stdin, Stdout};

fn note_use() {
    if let Some(engine) = Engine::current() {
        engine.use_stream();
    }
}

/// As in [`std::io`].
pub fn stdin() -> Stdin {
    note_use();
    std::io::stdin()
}

/// As in [`std::io`].
pub fn stdout() -> Stdout {
    note_use();
    std::io::stdout()
}

/// As in [`std::io`].
pub fn stderr() -> Stderr {
    note_use();
    std::io::stderr()
}
