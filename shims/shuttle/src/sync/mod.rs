//! `shuttle::sync`: std's, and so intermezzo's. `Arc` is std's own.

pub mod atomic;
pub mod mpsc;
mod wide;

pub use crate::signature::{ResourceSignature, ResourceType};
pub use intermezzo::sync::{
    Barrier, BarrierWaitResult, Condvar, LockResult, Mutex, MutexGuard, Once, OnceState, PoisonError, RwLock,
    RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult, WaitTimeoutResult,
};
pub use std::sync::{Arc, Weak};
