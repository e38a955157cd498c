//! `loom::sync`: std's, and `Notify`.

pub mod atomic;
mod notify;

pub use intermezzo::sync::{
    Arc, Barrier, Condvar, LockResult, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    TryLockResult, WaitTimeoutResult, mpsc,
};
pub use notify::Notify;
