//! Synchronisation that `std` does not have: semaphores, events, waits for several objects, a thread pool and timers; and
//! threads that run copies of one closure.
//!
//! Each object is a [`Primitive`](crate::primitive::Primitive) in one state, so an operation on it is one step: it happens as
//! a whole, or its task waits and is not enabled. Only `wait_all` also has a step for each time that it finds an object
//! missing. A deadlock names the object. Pools and timers are tasks like any other.
//! Outside an exploration, and without the feature `explore`, the same types work with threads and in real time.
//!
//! ```
//! # #[cfg(feature = "explore")] {
//! use intermezzo::extras::{Event, Semaphore};
//! use intermezzo::{Explorer, thread};
//!
//! let report = Explorer::new().explore(|| {
//!     let (slots, ready) = (Semaphore::new(1), Event::auto_reset(false));
//!     thread::scope(|scope| {
//!         scope.spawn(|| {
//!             slots.acquire();
//!             ready.set();
//!         });
//!         ready.wait();
//!         assert!(!slots.try_acquire());
//!         slots.release();
//!     });
//! });
//! assert!(report.verdict().is_pass(), "{report}");
//! # }
//! ```

mod objects;
mod pool;
mod state;
mod symmetric;
mod timer;

pub use objects::{Event, Semaphore, WaitSet, Waitable};
pub use pool::{Job, ThreadPool};
pub use symmetric::{SymmetricThreads, spawn_symmetric};
pub use timer::Timer;
