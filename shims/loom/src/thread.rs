//! `loom::thread`: all of it is std's, so all of it is intermezzo's.

pub use intermezzo::thread::*;
