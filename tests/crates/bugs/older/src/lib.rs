//! Tests that fail with these versions.
#![cfg(test)]

#[path = "../../../src/known_bugs/spin_rwlock.rs"]
mod spin_rwlock;
#[path = "../../../src/known_bugs/thread_local.rs"]
mod thread_local;
#[path = "../../../src/known_bugs/tokio_oneshot.rs"]
mod tokio_oneshot;
