//! `std::time`, on a virtual clock inside an exploration.
//!
//! Virtual time stands still while tasks run. It advances when a task sleeps or a wait times out. It also advances a
//! little at each read of the clock, by more and more while the task does nothing else: so a loop that waits for time
//! to pass ends.

use intermezzo_engine::runtime::{Engine, Site};
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::sync::OnceLock;

pub use super::system_time::{SystemTime, UNIX_EPOCH};
pub use crate::thread::sleep;
pub use std::time::{Duration, SystemTimeError, TryFromFloatSecsError};

/// The beginning of virtual time: late enough that a test may subtract from it.
const BEGINNING: Duration = Duration::from_secs(1 << 30);

/// A moment: `std::time::Instant`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(
    /// The time since an arbitrary beginning in this process.
    Duration,
);

impl Instant {
    /// Returns the present moment.
    #[must_use]
    #[track_caller]
    pub fn now() -> Instant {
        static ANCHOR: OnceLock<std::time::Instant> = OnceLock::new();
        let since = match Engine::current() {
            Some(engine) => Duration::from_nanos(engine.look_at_clock(Site::caller())),
            None => ANCHOR.get_or_init(std::time::Instant::now).elapsed(),
        };
        Instant(BEGINNING + since)
    }

    /// Returns the duration by which this moment is later; zero if it is earlier.
    #[must_use]
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.saturating_duration_since(earlier)
    }

    /// Returns the duration by which this moment is later; `None` if it is earlier.
    #[must_use]
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        self.0.checked_sub(earlier.0)
    }

    /// Returns the duration by which this moment is later; zero if it is earlier.
    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns the time that has passed since this moment.
    #[must_use]
    #[track_caller]
    pub fn elapsed(&self) -> Duration {
        Instant::now().duration_since(*self)
    }

    /// Returns the moment after this duration, if it can be represented.
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_add(duration).map(Instant)
    }

    /// Returns the moment before this duration, if it can be represented.
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_sub(duration).map(Instant)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    fn add(self, duration: Duration) -> Instant {
        self.checked_add(duration)
            .expect("overflow when adding duration to instant")
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;
    fn sub(self, duration: Duration) -> Instant {
        self.checked_sub(duration)
            .expect("overflow when subtracting duration from instant")
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

impl Sub<Instant> for Instant {
    type Output = Duration;
    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}
