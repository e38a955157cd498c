//! Tests that fail with these versions.
#![cfg(test)]

#[path = "../../../src/known_bugs/tokio_oneshot.rs"]
mod tokio_oneshot;
